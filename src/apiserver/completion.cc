#include "apiserver/completion.h"

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/annotation_warnings.h"
#include "apiserver/decoding.h"
#include "apiserver/managed_fields.h"
#include "apiserver/node_amounts.h"
#include "apiserver/other_views.h"
#include "apiserver/policy_warnings.h"
#include "apiserver/presentation.h"
#include "apiserver/scheduler_warnings.h"

namespace berth {
namespace {

bool is_namespace(const KindInfo& kind) { return kind.group.empty() && kind.plural == "namespaces"; }
// A node is told by its agent what it has in the very request that creates it.
bool may_begin_with_status(const KindInfo& kind) {
  return !kind.has_subresource("status") || (kind.group.empty() && kind.plural == "nodes");
}

AdmissionRequest request_for(const ServerParts& parts, const Exchange& exchange, Operation operation, Value& object) {
  AdmissionRequest request;
  request.kind = exchange.route.kind;
  request.operation = operation;
  request.subresource = exchange.route.subresource;
  request.user = exchange.user;
  request.now = parts.now();
  request.object = &object;
  return request;
}

void add_causes(std::vector<ErrorCause>& causes, std::vector<ErrorCause> more) {
  causes.insert(causes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

FieldManager manager_of(const ServerParts& parts, const Exchange& exchange, const WriteOptions& options) {
  return {options.field_manager, exchange.route.subresource, parts.now()};
}

// `leases.coordination.k8s.io "l" is invalid: ...`: the one Invalid that names the resource.
ApiError revision_required(const KindInfo& kind, std::string_view name) {
  ApiError error =
      invalid(kind, name, {invalid_value("metadata.resourceVersion", 0, "must be specified for an update")});
  error.kind = kind.plural;
  error.message = kind.qualified() + " \"" + std::string(name) + "\" is invalid: " + error.causes[0].field + ": " +
                  error.causes[0].message;
  return error;
}

std::optional<ApiError> check_preconditions(const KindInfo& kind, const Value& before, const Wish& wish) {
  const Value& metadata = wish.object["metadata"];
  const Value& had = before["metadata"];
  const std::string_view name = had["name"].text();
  const std::string_view uid = metadata["uid"].text();
  if (!uid.empty() && uid != had["uid"].text()) {
    return conflict(kind, name,
                    "Precondition failed: UID in precondition: " + std::string(uid) +
                        ", UID in object meta: " + std::string(had["uid"].text()));
  }
  const std::string_view revision = metadata["resourceVersion"].text();
  if (revision.empty()) {
    if (wish.whole && kind.update_needs_revision) return revision_required(kind, name);
    return std::nullopt;
  }
  if (revision != had["resourceVersion"].text()) return stale_revision(kind, name);
  return std::nullopt;
}

void set_or_erase(Value& object, std::string_view field, const Value* value) {
  if (value != nullptr) {
    object.set(field, *value);
  } else {
    object.erase(field);
  }
}

// Of kinds that are Berth's own, as of custom resources, /status changes nothing of the metadata. Whose a pod is, is not
// for those to say who run it.
Value metadata_with_status(const KindInfo& kind, const Value& before, const Value& object) {
  Value metadata = kind.custom ? before["metadata"] : object["metadata"];
  if (kind.custom) {
    if (const Value* const managed = object["metadata"].find("managedFields"); managed != nullptr) {
      metadata.set("managedFields", *managed);
    }
  } else if (kind.group.empty() && kind.plural == "pods") {
    set_or_erase(metadata, "ownerReferences", before["metadata"].find("ownerReferences"));
  }
  return metadata;
}

// What the path does not speak of stays: /status changes status and metadata, everything else all but the status.
void keep_other_part(const Route& route, const Value& before, Value& object) {
  if (route.subresource == "status") {
    Value changed = before;
    set_or_erase(changed, "status", object.find("status"));
    changed.set("metadata", metadata_with_status(*route.kind, before, object));
    object = std::move(changed);
  } else if (route.kind->has_subresource("status")) {
    set_or_erase(object, "status", before.find("status"));
  }
}

bool goes_now(const KindInfo& kind, const Value& before, const Value& object) {
  if (before["metadata"]["deletionTimestamp"].is_empty() || has_finalizers(kind, object)) return false;
  return before["metadata"]["deletionGracePeriodSeconds"].integer() == 0;
}

std::optional<ApiError> settle_new_name(const ServerParts& parts, const Exchange& exchange, Value& object,
                                        bool& generated) {
  if (auto wrong = settle_place(exchange.route, object)) return wrong;
  Value& metadata = object.at("metadata");
  if (!metadata["resourceVersion"].text().empty()) {
    return bad_request("resourceVersion should not be set on objects to be created");
  }
  const std::string prefix(metadata["generateName"].text());
  generated = metadata["name"].text().empty() && !prefix.empty();
  if (generated) metadata.set("name", generated_name(prefix, parts.dice));
  return std::nullopt;
}

// Of what somebody says about queues; their statuses say nothing.
void add_policy_warnings(const ServerParts& parts, const KindInfo& kind, const Value& before, const Value& object,
                         std::vector<std::string>& warnings) {
  if (!kind.custom || before["spec"] == object["spec"]) return;
  for (std::string& warning : policy_warnings(parts.store, kind, object)) warnings.push_back(std::move(warning));
}

// To people: nobody reads what a controller is told.
void add_pod_warnings(const ServerParts& parts, const Exchange& exchange, const Value& object,
                      std::vector<std::string>& warnings) {
  if (exchange.user.name.starts_with("system:")) return;
  for (std::string& each : annotation_warnings(*exchange.route.kind, object)) warnings.push_back(std::move(each));
  for (std::string& each : scheduler_warnings(*exchange.route.kind, object)) warnings.push_back(std::move(each));
  for (std::string& each : parts.node_amounts.warnings(*exchange.route.kind, object, parts.now())) {
    warnings.push_back(std::move(each));
  }
}

}  // namespace

std::expected<Prepared, ApiError> complete_new(const ServerParts& parts, const Exchange& exchange,
                                               const WriteOptions& options, Wish wish) {
  const Route& route = exchange.route;
  const KindInfo& kind = *route.kind;
  Prepared prepared;
  Value& object = prepared.object;
  object = std::move(wish.object);
  if (auto wrong = settle_fields(kind, object, wish.duplicates, options.validation, prepared.warnings)) {
    return std::unexpected(*std::move(wrong));
  }
  if (auto wrong = settle_new_name(parts, exchange, object, prepared.name_was_generated)) {
    return std::unexpected(*std::move(wrong));
  }
  AdmissionRequest request = request_for(parts, exchange, Operation::kCreate, object);
  Value managed = object["metadata"]["managedFields"];
  begin_metadata(kind, object, parts.dice, request.now);
  if (wish.applied) object.at("metadata").set("managedFields", std::move(managed));
  if (!may_begin_with_status(kind)) object.erase("status");
  if (is_namespace(kind)) object.at("spec").set("finalizers", Value::list()).push_back("kubernetes");
  stamp_user(kind, {}, object, exchange.user);
  fill_defaults(request);

  std::vector<ErrorCause> causes = check_metadata(kind, object);
  add_causes(causes, validate(request));
  const std::string name(object["metadata"]["name"].text());
  if (!causes.empty()) return std::unexpected(invalid(kind, name, std::move(causes)));
  if (!wish.applied) note_write(kind, {}, object, manager_of(parts, exchange, options));
  prepared.warnings.insert(prepared.warnings.end(), request.warnings.begin(), request.warnings.end());
  prepared.key = key_word(kind) + "/" + route.name_space + "/" + name;
  add_policy_warnings(parts, kind, {}, object, prepared.warnings);
  add_pod_warnings(parts, exchange, object, prepared.warnings);
  return prepared;
}

std::expected<Prepared, ApiError> complete_change(const ServerParts& parts, const Exchange& exchange,
                                                  const WriteOptions& options, const Record& before, Wish wish) {
  const Route& route = exchange.route;
  const KindInfo& kind = *route.kind;
  Prepared prepared;
  prepared.key = before.key;
  prepared.before = as_shown(kind, kept_value(before));
  if (auto wrong = check_kind(kind, wish.object)) return std::unexpected(*std::move(wrong));
  if (auto wrong = settle_fields(kind, wish.object, wish.duplicates, options.validation, prepared.warnings)) {
    return std::unexpected(*std::move(wrong));
  }
  if (auto wrong = settle_place(route, wish.object)) return std::unexpected(*std::move(wrong));
  if (auto wrong = check_preconditions(kind, prepared.before, wish)) return std::unexpected(*std::move(wrong));

  Value& object = prepared.object;
  object = std::move(wish.object);
  keep_other_part(route, prepared.before, object);
  keep_metadata(prepared.before, object);
  stamp_user(kind, prepared.before, object, exchange.user);
  AdmissionRequest request = request_for(parts, exchange, Operation::kUpdate, object);
  request.before = &prepared.before;
  fill_defaults(request);
  count_generation(kind, prepared.before, object);

  std::vector<ErrorCause> causes = check_metadata(kind, object);
  if (!prepared.before["metadata"]["deletionTimestamp"].is_empty()) {
    add_causes(causes, check_no_new_finalizers(prepared.before, object));
  }
  add_causes(causes, validate(request));
  if (!causes.empty()) return std::unexpected(invalid(kind, route.name, std::move(causes)));
  if (!wish.applied) note_write(kind, prepared.before, object, manager_of(parts, exchange, options));
  prepared.warnings.insert(prepared.warnings.end(), request.warnings.begin(), request.warnings.end());
  object.at("metadata").set("resourceVersion", prepared.before["metadata"]["resourceVersion"]);
  prepared.removes = goes_now(kind, prepared.before, object);
  prepared.unchanged = !prepared.removes && same_content(prepared.before, object);
  add_policy_warnings(parts, kind, prepared.before, object, prepared.warnings);
  return prepared;
}

}  // namespace berth
