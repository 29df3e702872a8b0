#include "apiserver/pod_actions.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/commit.h"
#include "apiserver/decoding.h"
#include "apiserver/deleting.h"
#include "apiserver/presentation.h"
#include "base/wording.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

ApiError binding_conflict(const Route& route, std::string_view why) {
  ApiError error = conflict(*route.kind, route.name, why);
  error.kind = "pods/binding";
  error.message = "Operation cannot be fulfilled on pods/binding \"" + route.name + "\": " + std::string(why);
  return error;
}

std::optional<ApiError> check_binding(const Route& route, const Value& pod, const Value& binding) {
  const std::string_view uid = binding["metadata"]["uid"].text();
  const std::string_view has_uid = pod["metadata"]["uid"].text();
  if (!uid.empty() && uid != has_uid) {
    return conflict(*route.kind, route.name,
                    "Precondition failed: UID in precondition: " + std::string(uid) +
                        ", UID in object meta: " + std::string(has_uid));
  }
  if (!pod["metadata"]["deletionTimestamp"].is_empty()) {
    return binding_conflict(route, "pod " + route.name + " is being deleted, cannot be assigned to a host");
  }
  const std::string_view node = pod["spec"]["nodeName"].text();
  if (!node.empty()) {
    return binding_conflict(route, "pod " + route.name + " is already assigned to node \"" + std::string(node) + "\"");
  }
  if (!pod["spec"]["schedulingGates"].is_empty()) {
    return binding_conflict(route, "pod " + route.name + " has non-empty .spec.schedulingGates");
  }
  return std::nullopt;
}

void merge_texts(const Value& from, Value& metadata, std::string_view field, bool (*may)(std::string_view key)) {
  for (const Value::Member& each : from[field].members()) {
    if (may(each.key)) metadata.at(field).set(each.key, each.value);
  }
}

void set_scheduled(Value& status, Time now) {
  Value condition = Value::map_of({{"type", "PodScheduled"},
                                   {"status", "True"},
                                   {"lastProbeTime", nullptr},
                                   {"lastTransitionTime", format_timestamp(now)}});
  for (Value& each : status.at("conditions").edit_items()) {
    if (each["type"].text() != "PodScheduled") continue;
    if (each["status"].text() == "True") condition.set("lastTransitionTime", each["lastTransitionTime"]);
    each = std::move(condition);
    return;
  }
  status.at("conditions").push_back(std::move(condition));
}

std::expected<Prepared, ApiError> prepare_binding(const Route& route, const Value& binding, const RecordPtr& before,
                                                  Time now) {
  if (!before) return std::unexpected(not_found(*route.kind, route.name));
  Prepared prepared;
  prepared.key = before->key;
  prepared.before = kept_value(*before);
  prepared.object = prepared.before;
  Value& pod = prepared.object;
  if (auto refused = check_binding(route, pod, binding)) return std::unexpected(*std::move(refused));
  pod.at("spec").set("nodeName", binding["target"]["name"]);
  Value& metadata = pod.at("metadata");
  merge_texts(binding["metadata"], metadata, "annotations",
              [](std::string_view key) { return key != kUserAnnotation; });
  // As in Kubernetes: of labels only those that say where a node stands.
  merge_texts(binding["metadata"], metadata, "labels", [](std::string_view key) {
    return key == "topology.kubernetes.io/zone" || key == "topology.kubernetes.io/region";
  });
  Value& status = pod.at("status");
  status.erase("nominatedNodeName");
  set_scheduled(status, now);
  if (auto causes = check_metadata(*route.kind, pod); !causes.empty()) {
    return std::unexpected(invalid(*route.kind, route.name, std::move(causes)));
  }
  return prepared;
}

// The body of a pod's subresource, checked against its own kind. `name` is the path's, empty where the body names the pod.
std::expected<Value, ApiError> action_body(Exchange& exchange, const KindInfo& kind, std::string_view name) {
  auto body = decode_object(exchange, kind);
  if (!body) return std::unexpected(std::move(body.error()));
  const auto options = read_write_options(exchange.request);
  if (!options) return std::unexpected(options.error());
  if (auto wrong = settle_fields(kind, body->value, body->duplicates, options->validation, exchange.warnings)) {
    return std::unexpected(*std::move(wrong));
  }
  const Value& metadata = body->value["metadata"];
  const std::string_view given = metadata["name"].text();
  if (!name.empty() && !given.empty() && given != name) {
    return std::unexpected(bad_request("the name of the object (" + quote(given) +
                                       ") does not match the name on the URL (" + quote(name) + ")"));
  }
  if (name.empty() && given.empty()) return std::unexpected(bad_request("metadata.name: name the pod to bind"));
  const std::string_view name_space = metadata["namespace"].text();
  if (!name_space.empty() && name_space != exchange.route.name_space) {
    return std::unexpected(
        bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  }
  return std::move(body->value);
}

const KindInfo& binding_kind() { return *find_served("", "v1", "bindings"); }

const KindInfo& eviction_kind() {
  static const KindInfo kind = [] {
    KindInfo made;
    made.group = "policy";
    made.version = "v1";
    made.kind = "Eviction";
    made.plural = "evictions";
    made.type = &type_named("Eviction");
    return made;
  }();
  return kind;
}

}  // namespace

void bind_pod(const ServerParts& parts, const ExchangePtr& exchange) {
  auto binding = action_body(*exchange, binding_kind(), exchange->route.name);
  if (!binding) return answer_error(*exchange, binding.error());
  const auto options = read_write_options(exchange->request);
  if (!options) return answer_error(*exchange, options.error());
  const Value& target = (*binding)["target"];
  if (target["name"].text().empty() || (!target["kind"].text().empty() && target["kind"].text() != "Node")) {
    return answer_error(*exchange, invalid(binding_kind(), exchange->route.name,
                                           {required_value("target.name", "name the node, with target.kind Node")}));
  }
  Route& route = exchange->route;
  route.kind = find_served("", "v1", "pods");
  route.subresource = "binding";
  if (route.name.empty()) route.name = (*binding)["metadata"]["name"].text();
  Commit commit;
  commit.exchange = exchange;
  commit.dry_run = options->dry_run;
  commit.key = route.key();
  commit.prepare = [&parts, exchange, binding = *std::move(binding)](const RecordPtr& before) {
    return prepare_binding(exchange->route, binding, before, parts.now());
  };
  commit.reply = [](Exchange& to, const Prepared&) { answer_value(to, 201, success_status(201)); };
  carry_out(parts, std::move(commit));
}

void evict_pod(const ServerParts& parts, const ExchangePtr& exchange) {
  auto eviction = action_body(*exchange, eviction_kind(), exchange->route.name);
  if (!eviction) return answer_error(*exchange, eviction.error());
  auto options = read_delete_options(exchange->request, (*eviction)["deleteOptions"]);
  if (!options) return answer_error(*exchange, options.error());
  Commit commit = commit_of_deletion(parts, exchange, *std::move(options));
  commit.check = [&parts](Prepared& prepared, Transaction& transaction) {
    return admit_eviction(prepared.before, transaction, parts.now());
  };
  commit.reply = [](Exchange& to, const Prepared&) { answer_value(to, 201, success_status(201)); };
  carry_out(parts, std::move(commit));
}

}  // namespace berth
