#include "apiserver/commit.h"

#include <string>
#include <utility>

#include "apiserver/held_writes.h"
#include "apiserver/other_views.h"
#include "apiserver/presentation.h"
#include "manifest/json.h"

namespace berth {
namespace {

bool is_same(const RecordPtr& a, const RecordPtr& b) {
  if (!a || !b) return a == b;
  return a->revision == b->revision;
}

// A commit on its way; shared by the store's two callbacks.
struct Journey {
  const ServerParts& parts;
  Commit commit;
  RecordPtr base;
  std::expected<Prepared, ApiError> prepared;

  void inside(Transaction& transaction);
  void after(CommitOutcome outcome);
  void prepare_again(Transaction& transaction);
};

// What is there is not what the change was prepared from: somebody was faster, or a name is taken.
void Journey::prepare_again(Transaction& transaction) {
  if (!commit.key.empty()) {
    base = transaction.find(commit.key);
    prepared = commit.prepare(base);
    return;
  }
  for (int tries = 1; prepared && transaction.find(prepared->key); ++tries) {
    if (!prepared->name_was_generated || tries == kGenerateNameTriesMax) {
      prepared =
          std::unexpected(already_exists(*commit.exchange->route.kind, prepared->object["metadata"]["name"].text()));
      return;
    }
    prepared = commit.prepare(nullptr);
  }
}

void Journey::inside(Transaction& transaction) {
  if (!is_same(transaction.find(prepared->key), base)) prepare_again(transaction);
  if (!prepared || prepared->unchanged) return;
  HeldWrites draft(transaction);
  std::optional<ApiError> refused;
  if (commit.check) refused = commit.check(*prepared, draft);
  // An apply makes what it does not find.
  const bool makes = commit.operation == Operation::kUpdate && prepared->before.is_null();
  const Operation operation = makes ? Operation::kCreate : commit.operation;
  if (!refused) refused = write_prepared(parts, *commit.exchange, operation, *prepared, draft);
  if (refused) {
    prepared = std::unexpected(*std::move(refused));
  } else if (!commit.dry_run) {
    draft.keep();
  } else {
    // Nothing was given a revision.
    prepared->written.clear();
    Value& metadata = prepared->object.at("metadata");
    const Value* const had = prepared->before["metadata"].find("resourceVersion");
    if (had != nullptr) {
      metadata.set("resourceVersion", *had);
    } else {
      metadata.erase("resourceVersion");
    }
  }
}

void Journey::after(CommitOutcome outcome) {
  Exchange& exchange = *commit.exchange;
  if (const auto failed = failure_of(outcome)) return answer_error(exchange, *failed);
  if (!prepared) return answer_error(exchange, prepared.error());
  exchange.warnings = std::move(prepared->warnings);
  commit.reply(exchange, *prepared);
}

}  // namespace

std::optional<ApiError> write_prepared(const ServerParts& parts, const Exchange& exchange, Operation operation,
                                       Prepared& prepared, Transaction& draft) {
  const KindInfo& kind = *exchange.route.kind;
  AdmissionRequest request;
  request.kind = &kind;
  request.operation = operation;
  request.subresource = exchange.route.subresource;
  request.user = exchange.user;
  request.now = parts.now();
  request.before = prepared.before.is_null() ? nullptr : &prepared.before;
  request.object = operation == Operation::kDelete ? nullptr : &prepared.object;
  if (auto refused = admit(request, draft, parts.authorizer)) return refused;
  prepared.warnings.insert(prepared.warnings.end(), request.warnings.begin(), request.warnings.end());

  prepared.object.at("metadata").set("resourceVersion", std::to_string(draft.next_revision()));
  std::string bytes = kind.other_view ? to_json(as_kept(kind, prepared.object)) : to_json(prepared.object);
  prepared.written = bytes;
  if (prepared.removes) {
    draft.erase(prepared.key, std::move(bytes));
    settle_after_end(draft, kind, prepared.object, request.now);
  } else {
    draft.put(prepared.key, std::move(bytes));
  }
  return std::nullopt;
}

void carry_out(const ServerParts& parts, Commit commit) {
  const RecordPtr base = commit.key.empty() ? nullptr : parts.store.find(commit.key);
  auto prepared = commit.prepare(base);
  const ExchangePtr exchange = commit.exchange;
  if (!prepared) return answer_error(*exchange, prepared.error());
  if (prepared->unchanged) {
    exchange->warnings = std::move(prepared->warnings);
    return commit.reply(*exchange, *prepared);
  }
  const auto journey = std::make_shared<Journey>(parts, std::move(commit), base, std::move(prepared));
  const bool begun =
      parts.store.transact([journey](Transaction& transaction) { journey->inside(transaction); },
                           [journey](CommitOutcome outcome) { journey->after(outcome); }, exchange->user.name);
  if (!begun) answer_error(*exchange, store_is_busy());
}

std::optional<ApiError> failure_of(CommitOutcome outcome) {
  switch (outcome) {
    case CommitOutcome::kDone:
      return std::nullopt;
    case CommitOutcome::kDiskFull: {
      ApiError error = plain_error(503, "ServiceUnavailable",
                                   "the disk that holds the API objects is full: nothing was written; free some space "
                                   "and try again");
      error.retry_after_s = 10;
      return error;
    }
    case CommitOutcome::kFailed:
      return internal_error(
          "the disk that holds the API objects failed: nothing was written; reads go on, and writes will when the "
          "server was started again on a sound disk");
    case CommitOutcome::kThrew:
      break;
  }
  return internal_error("the server ran out of memory or made a mistake: nothing was written");
}

ApiError store_is_busy() { return too_many_requests("too many writes are waiting, please try again later", 1); }

void answer_object(const ServerParts& parts, Exchange& exchange, int code, const Prepared& done) {
  const auto presentation = Presentation::negotiate(exchange.request, *exchange.route.kind);
  if (!presentation) return answer_value(exchange, code, done.object);
  if (presentation->as_kept() && !done.written.empty()) return answer_json(exchange, code, done.written);
  if (presentation->form() == Presentation::Form::kWhole) return answer_value(exchange, code, done.object);
  answer_value(exchange, code, presentation->object(as_kept(*exchange.route.kind, done.object), parts.now()));
}

}  // namespace berth
