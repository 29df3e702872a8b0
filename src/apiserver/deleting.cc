#include "apiserver/deleting.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/decoding.h"
#include "apiserver/held_writes.h"
#include "apiserver/other_views.h"
#include "apiserver/presentation.h"
#include "apiserver/reading.h"
#include "apiserver/selection.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::int64_t kPodGrace_s = 30;
// How many objects of a collection go in one transaction: everyone's writes wait for it.
constexpr std::size_t kBatch = 100;

bool is_core(const KindInfo& kind, std::string_view plural) { return kind.group.empty() && kind.plural == plural; }

// The one conflict that names the kind where others name the resource.
ApiError wrong_precondition(const KindInfo& kind, std::string_view name, const std::string& why) {
  ApiError error = conflict(kind, name, why);
  error.kind = kind.kind;
  error.message = "Operation cannot be fulfilled on " + kind.kind + (kind.group.empty() ? "" : "." + kind.group) +
                  " \"" + std::string(name) + "\": " + why;
  return error;
}

std::optional<ApiError> check_preconditions(const KindInfo& kind, const DeleteOptions& options, const Value& object) {
  const Value& metadata = object["metadata"];
  const std::string_view name = metadata["name"].text();
  const std::string_view uid = metadata["uid"].text();
  if (!options.uid.empty() && options.uid != uid) {
    return wrong_precondition(kind, name,
                              "the UID in the precondition (" + options.uid + ") does not match the UID in record (" +
                                  std::string(uid) + "). The object might have been deleted and then recreated");
  }
  const std::string_view revision = metadata["resourceVersion"].text();
  if (!options.revision.empty() && options.revision != revision) {
    return wrong_precondition(kind, name,
                              "the ResourceVersion in the precondition (" + options.revision +
                                  ") does not match the ResourceVersion in record (" + std::string(revision) +
                                  "). The object might have been modified");
  }
  return std::nullopt;
}

// Namespaces that everything else relies on.
bool is_immortal(const KindInfo& kind, std::string_view name) {
  constexpr std::array<std::string_view, 3> kImmortal = {"default", "kube-system", "kube-public"};
  return is_core(kind, "namespaces") && std::ranges::find(kImmortal, name) != kImmortal.end();
}

// A pod on a node is given time to end; one that never ran, or is over, needs none.
std::int64_t grace_of(const KindInfo& kind, const DeleteOptions& options, const Value& object) {
  if (!is_core(kind, "pods") || object["spec"]["nodeName"].text().empty()) return 0;
  const std::string_view phase = object["status"]["phase"].text();
  if (phase == "Succeeded" || phase == "Failed") return 0;
  return options.grace_s.value_or(
      std::max<std::int64_t>(0, object["spec"]["terminationGracePeriodSeconds"].integer(kPodGrace_s)));
}

void mark(const KindInfo& kind, Value& object, std::int64_t grace_s, Time now) {
  Value& metadata = object.at("metadata");
  const bool first = metadata["deletionTimestamp"].is_empty();
  metadata.set("deletionTimestamp", format_timestamp(now + seconds(grace_s)));
  // A namespace has no time to end in: it goes when it is empty.
  if (!is_core(kind, "namespaces")) metadata.set("deletionGracePeriodSeconds", grace_s);
  if (first && kind.has_generation) metadata.set("generation", metadata["generation"].integer() + 1);
  if (is_core(kind, "namespaces")) object.at("status").set("phase", "Terminating");
}

void add_propagation(const DeleteOptions& options, Value& object) {
  if (options.propagation == Propagation::kForeground) add_finalizer(object, "foregroundDeletion");
  if (options.propagation == Propagation::kOrphan) add_finalizer(object, "orphan");
}

// What is being deleted already may be hurried, never given more time.
void hurry(const KindInfo& kind, const DeleteOptions& options, Prepared& prepared, Time now) {
  const std::int64_t grace_s = grace_of(kind, options, prepared.object);
  const Value& left = prepared.object["metadata"]["deletionGracePeriodSeconds"];
  const bool sooner = grace_s < left.integer();
  if (grace_s == 0 && !has_finalizers(kind, prepared.object)) {
    prepared.removes = true;
  } else if (sooner && (options.grace_s || grace_s == 0)) {
    mark(kind, prepared.object, grace_s, now);
  } else {
    prepared.unchanged = same_content(prepared.before, prepared.object);
  }
}

// A collection that is being deleted, a batch at a time. The answer shows it as it was, and is written beforehand: the
// store's thread has better things to do.
struct Sweep {
  const ServerParts& parts;
  ExchangePtr exchange;
  DeleteOptions options;
  std::vector<RecordPtr> records;
  HttpReply reply;
  std::size_t next = 0;
  std::optional<ApiError> refused;

  void batch(Transaction& transaction);
  std::optional<ApiError> remove(Transaction& transaction, const std::string& key);
};

std::optional<ApiError> Sweep::remove(Transaction& transaction, const std::string& key) {
  const RecordPtr record = transaction.find(key);
  if (!record) return std::nullopt;  // somebody else's deletion is as good
  auto prepared = prepare_deletion(*exchange->route.kind, options, *record, parts.now());
  if (!prepared) return std::move(prepared.error());
  if (prepared->unchanged) return std::nullopt;
  HeldWrites draft(transaction);
  if (auto wrong = write_prepared(parts, *exchange, Operation::kDelete, *prepared, draft)) return wrong;
  if (!options.dry_run) draft.keep();
  return std::nullopt;
}

void Sweep::batch(Transaction& transaction) {
  const std::size_t end = std::min(records.size(), next + kBatch);
  for (; next < end && !refused; ++next) refused = remove(transaction, records[next]->key);
}

void go_on(const std::shared_ptr<Sweep>& sweep) {
  const bool begun = sweep->parts.store.transact([sweep](Transaction& transaction) { sweep->batch(transaction); },
                                                 [sweep](CommitOutcome outcome) {
                                                   Exchange& exchange = *sweep->exchange;
                                                   if (const auto failed = failure_of(outcome))
                                                     return answer_error(exchange, *failed);
                                                   if (sweep->refused) return answer_error(exchange, *sweep->refused);
                                                   if (sweep->next < sweep->records.size()) return go_on(sweep);
                                                   answer(exchange, std::move(sweep->reply));
                                                 },
                                                 sweep->exchange->user.name);
  if (!begun) answer_error(*sweep->exchange, store_is_busy());
}

std::expected<DeleteOptions, ApiError> options_of(const HttpRequest& request) {
  Value body;
  if (!request.body.empty()) {
    auto decoded = decode_request(request);
    if (!decoded) return std::unexpected(std::move(decoded.error()));
    body = std::move(decoded->value);
  }
  return read_delete_options(request, body);
}

}  // namespace

std::expected<Prepared, ApiError> prepare_deletion(const KindInfo& kind, const DeleteOptions& options,
                                                   const Record& before, Time now) {
  Prepared prepared;
  prepared.key = before.key;
  prepared.before = as_shown(kind, kept_value(before));
  prepared.object = prepared.before;
  Value& object = prepared.object;
  if (auto wrong = check_preconditions(kind, options, object)) return std::unexpected(*std::move(wrong));
  const std::string_view name = prepared.before["metadata"]["name"].text();
  if (is_immortal(kind, name)) return std::unexpected(forbidden(kind, name, "this namespace may not be deleted"));
  if (!object["metadata"]["deletionTimestamp"].is_empty()) {
    hurry(kind, options, prepared, now);
    return prepared;
  }
  add_propagation(options, object);
  const std::int64_t grace_s = grace_of(kind, options, object);
  if (grace_s > 0 || has_finalizers(kind, object)) {
    mark(kind, object, grace_s, now);
  } else {
    prepared.removes = true;
  }
  return prepared;
}

void answer_deletion(const ServerParts& parts, Exchange& exchange, const Prepared& done) {
  const KindInfo& kind = *exchange.route.kind;
  if (!done.removes || is_core(kind, "pods")) return answer_object(parts, exchange, 200, done);
  Value status =
      Value::map_of({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Value::map()}, {"status", "Success"}});
  Value& details = status.set("details", Value::map_of({{"name", done.object["metadata"]["name"]}}));
  if (!kind.group.empty()) details.set("group", kind.group);
  details.set("kind", kind.plural);
  details.set("uid", done.object["metadata"]["uid"]);
  answer_value(exchange, 200, status);
}

Commit commit_of_deletion(const ServerParts& parts, const ExchangePtr& exchange, DeleteOptions options) {
  Commit commit;
  commit.exchange = exchange;
  commit.operation = Operation::kDelete;
  commit.dry_run = options.dry_run;
  commit.key = exchange->route.key();
  commit.prepare = [&parts, exchange,
                    options = std::move(options)](const RecordPtr& before) -> std::expected<Prepared, ApiError> {
    const Route& route = exchange->route;
    if (!before) return std::unexpected(not_found(*route.kind, route.name));
    return prepare_deletion(*route.kind, options, *before, parts.now());
  };
  return commit;
}

void delete_object(const ServerParts& parts, const ExchangePtr& exchange) {
  auto options = options_of(exchange->request);
  if (!options) return answer_error(*exchange, options.error());
  Commit commit = commit_of_deletion(parts, exchange, *std::move(options));
  commit.reply = [&parts](Exchange& to, const Prepared& done) { answer_deletion(parts, to, done); };
  carry_out(parts, std::move(commit));
}

void delete_collection(const ServerParts& parts, const ExchangePtr& exchange) {
  auto options = options_of(exchange->request);
  if (!options) return answer_error(*exchange, options.error());
  const auto which = read_list_options(exchange->request, exchange->route);
  if (!which) return answer_error(*exchange, which.error());
  const auto presentation = Presentation::negotiate(exchange->request, *exchange->route.kind);
  if (!presentation) return answer_error(*exchange, presentation.error());
  const auto selection = Selection::make(exchange->route, *which);
  if (!selection) return answer_error(*exchange, selection.error());
  auto page = page_of(parts.store, *which, *selection);
  if (!page) return answer_error(*exchange, page.error());
  HttpReply reply = page_reply(*exchange->route.kind, *presentation, *page, selection->prefix(), parts.now());
  go_on(std::make_shared<Sweep>(parts, exchange, *std::move(options), std::move(page->records), std::move(reply)));
}

}  // namespace berth
