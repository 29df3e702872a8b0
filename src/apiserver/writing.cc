#include "apiserver/writing.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/bodies.h"
#include "apiserver/completion.h"
#include "apiserver/decoding.h"
#include "apiserver/managed_fields.h"
#include "apiserver/other_views.h"
#include "apiserver/patches.h"
#include "apiserver/presentation.h"

namespace berth {
namespace {

enum class PatchKind : std::uint8_t { kJson, kMerge, kStrategic, kApply };

std::optional<PatchKind> patch_kind_of(const KindInfo& kind, std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type == "application/json-patch+json") return PatchKind::kJson;
  if (type == "application/merge-patch+json") return PatchKind::kMerge;
  if (type == "application/apply-patch+yaml") return PatchKind::kApply;
  if (type == "application/strategic-merge-patch+json" && !kind.custom) return PatchKind::kStrategic;
  return std::nullopt;
}

// kubectl falls back to a merge patch when it reads that a strategic one is not taken.
ApiError unknown_patch(const KindInfo& kind) {
  std::string types = "application/json-patch+json, application/merge-patch+json, ";
  if (!kind.custom) types += "application/strategic-merge-patch+json, ";
  return plain_error(415, "UnsupportedMediaType",
                     "the body of the request was in an unknown format - accepted media types include: " + types +
                         "application/apply-patch+yaml");
}

std::expected<Value, ApiError> patched(PatchKind how, const KindInfo& kind, const Value& object, const Value& patch) {
  switch (how) {
    case PatchKind::kJson:
      return apply_json_patch(object, patch);
    case PatchKind::kMerge:
      return apply_merge_patch(object, patch);
    case PatchKind::kStrategic:
    case PatchKind::kApply:
      break;
  }
  return apply_strategic_patch(*kind.type, object, patch);
}

struct Patch {
  PatchKind how = PatchKind::kMerge;
  DecodedBody body;
  WriteOptions options;
};

std::expected<Prepared, ApiError> prepare_patched(const ServerParts& parts, const Exchange& exchange,
                                                  const Patch& patch, const RecordPtr& before) {
  const KindInfo& kind = *exchange.route.kind;
  if (!before) return std::unexpected(not_found(kind, exchange.route.name));
  auto object = patched(patch.how, kind, as_shown(kind, kept_value(*before)), patch.body.value);
  if (!object) return std::unexpected(std::move(object.error()));
  return complete_change(parts, exchange, patch.options, *before,
                         {.object = *std::move(object), .duplicates = patch.body.duplicates});
}

std::expected<Prepared, ApiError> prepare_applied(const ServerParts& parts, const Exchange& exchange,
                                                  const Patch& patch, const RecordPtr& before) {
  const KindInfo& kind = *exchange.route.kind;
  if (!before && !exchange.route.subresource.empty()) return std::unexpected(not_found(kind, exchange.route.name));
  const Value live = before ? as_shown(kind, kept_value(*before)) : Value();
  const FieldManager manager{patch.options.field_manager, exchange.route.subresource, parts.now()};
  // Before the merge: an applied "0.5" and a stored "500m" are no conflict, and what the kind lacks owns nothing.
  Value wanted = patch.body.value;
  std::vector<std::string> warnings;
  if (auto wrong = settle_fields(kind, wanted, patch.body.duplicates, patch.options.validation, warnings)) {
    return std::unexpected(*std::move(wrong));
  }
  auto merged = server_side_apply(kind, live, wanted, manager, patch.options.force);
  if (!merged) return std::unexpected(std::move(merged.error()));
  Wish wish{.object = *std::move(merged), .duplicates = {}, .whole = false, .applied = true};
  auto prepared = before ? complete_change(parts, exchange, patch.options, *before, std::move(wish))
                         : complete_new(parts, exchange, patch.options, std::move(wish));
  if (prepared) prepared->warnings.insert(prepared->warnings.begin(), warnings.begin(), warnings.end());
  return prepared;
}

// The permission to patch does not include that to make something new.
std::optional<ApiError> may_create(const ServerParts& parts, const Exchange& exchange) {
  AccessQuestion question = exchange.question;
  question.verb = "create";
  if (parts.authorizer.decide(exchange.user, question).allowed) return std::nullopt;
  return forbidden(*exchange.route.kind, exchange.route.name,
                   "User \"" + exchange.user.name + "\" cannot create resource \"" + question.resource +
                       "\" in API group \"" + question.group + "\": there is no such object yet to patch");
}

std::optional<ApiError> wrong_apply(Exchange& exchange, Patch& patch) {
  if (!patch.options.field_manager_given) {
    return invalid_named("PatchOptions", "meta.k8s.io", "",
                         {required_value("fieldManager", "is required for apply patch")});
  }
  const Value& config = patch.body.value;
  if (config.is_map() && (config["apiVersion"].is_empty() || config["kind"].is_empty())) {
    return bad_request("an applied configuration says what it is: give apiVersion: " +
                       exchange.route.kind->api_version() + " and kind: " + exchange.route.kind->kind);
  }
  if (auto wrong = check_kind(*exchange.route.kind, patch.body.value)) return wrong;
  if (patch.body.value["metadata"]["managedFields"].is_empty()) return std::nullopt;
  return bad_request("metadata.managedFields must be nil");
}

}  // namespace

void create_object(const ServerParts& parts, const ExchangePtr& exchange) {
  auto options = read_write_options(exchange->request);
  if (!options) return answer_error(*exchange, options.error());
  auto body = decode_object(*exchange, *exchange->route.kind);
  if (!body) return answer_error(*exchange, body.error());
  exchange->request.body.clear();
  Commit commit;
  commit.exchange = exchange;
  commit.operation = Operation::kCreate;
  commit.dry_run = options->dry_run;
  commit.prepare = [&parts, exchange, options = *std::move(options), body = *std::move(body)](const RecordPtr&) {
    return complete_new(parts, *exchange, options, {.object = body.value, .duplicates = body.duplicates});
  };
  commit.reply = [&parts](Exchange& to, const Prepared& done) { answer_object(parts, to, 201, done); };
  carry_out(parts, std::move(commit));
}

void replace_object(const ServerParts& parts, const ExchangePtr& exchange) {
  auto options = read_write_options(exchange->request, "UpdateOptions");
  if (!options) return answer_error(*exchange, options.error());
  auto body = decode_object(*exchange, *exchange->route.kind);
  if (!body) return answer_error(*exchange, body.error());
  if (const auto wrong = settle_place(exchange->route, body->value)) return answer_error(*exchange, *wrong);
  exchange->request.body.clear();
  Commit commit;
  commit.exchange = exchange;
  commit.dry_run = options->dry_run;
  commit.key = exchange->route.key();
  commit.prepare = [&parts, exchange, options = *std::move(options),
                    body = *std::move(body)](const RecordPtr& before) -> std::expected<Prepared, ApiError> {
    if (!before) return std::unexpected(not_found(*exchange->route.kind, exchange->route.name));
    return complete_change(parts, *exchange, options, *before,
                           {.object = body.value, .duplicates = body.duplicates, .whole = true});
  };
  commit.reply = [&parts](Exchange& to, const Prepared& done) { answer_object(parts, to, 200, done); };
  carry_out(parts, std::move(commit));
}

void patch_object(const ServerParts& parts, const ExchangePtr& exchange) {
  const auto how = patch_kind_of(*exchange->route.kind, exchange->request.header("content-type"));
  if (!how) return answer_error(*exchange, unknown_patch(*exchange->route.kind));
  const bool apply = *how == PatchKind::kApply;
  if (!apply && exchange->request.parameter("force") != nullptr) {
    return answer_error(*exchange,
                        invalid_named("PatchOptions", "meta.k8s.io", "",
                                      {forbidden_value("force", "may not be specified for non-apply patch")}));
  }
  auto options = read_write_options(exchange->request, "PatchOptions");
  if (!options) return answer_error(*exchange, options.error());
  auto body = decode_body(apply ? "application/yaml" : "application/json", exchange->request.body);
  if (!body) return answer_error(*exchange, body.error());
  exchange->request.body.clear();
  auto patch = std::make_shared<Patch>(Patch{*how, *std::move(body), *std::move(options)});
  if (apply) {
    if (const auto wrong = wrong_apply(*exchange, *patch)) return answer_error(*exchange, *wrong);
  }
  Commit commit;
  commit.exchange = exchange;
  commit.dry_run = patch->options.dry_run;
  commit.key = exchange->route.key();
  commit.prepare = [&parts, exchange, patch](const RecordPtr& before) -> std::expected<Prepared, ApiError> {
    if (patch->how != PatchKind::kApply) return prepare_patched(parts, *exchange, *patch, before);
    if (!before) {
      if (auto refused = may_create(parts, *exchange)) return std::unexpected(*std::move(refused));
    }
    return prepare_applied(parts, *exchange, *patch, before);
  };
  commit.reply = [&parts](Exchange& to, const Prepared& done) {
    answer_object(parts, to, done.before.is_null() ? 201 : 200, done);
  };
  carry_out(parts, std::move(commit));
}

}  // namespace berth
