#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/object_meta.h"
#include "apiserver/pod_facts.h"
#include "apiserver/validation.h"
#include "manifest/circle_spec.h"
#include "manifest/defragmentation_spec.h"
#include "manifest/queue_spec.h"
#include "manifest/reservation_spec.h"
#include "model/flavor.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {

namespace {

constexpr std::size_t kDataBytesMax = 1U << 20U;
constexpr std::size_t kHardMax = 1'000;

bool is_update(const AdmissionRequest& request) {
  return request.operation == Operation::kUpdate && request.before != nullptr;
}

bool is_data_key(std::string_view key) {
  return !key.empty() && key.size() <= 253 && key != "." && !key.starts_with("..") &&
         std::ranges::all_of(key, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

// Adds up the bytes of keys and values.
void check_data(const Value& data, const std::string& path, std::set<std::string_view>& keys, std::size_t& bytes,
                Causes& causes) {
  for (const Value::Member& member : data.members()) {
    bytes += member.key.size() + member.value.text().size();
    if (!is_data_key(member.key)) {
      causes.push_back(
          invalid_value(path + "[" + member.key.substr(0, 60) + "]", member.key,
                        "a key consists of letters, digits, '-', '_' and '.', at most 253, and is not \"..\""));
    } else if (!keys.insert(member.key).second) {
      causes.push_back(invalid_value(path + "[" + member.key + "]", member.key, "stands in data and binaryData both"));
    }
  }
}

void check_size(std::size_t bytes, Causes& causes) {
  if (bytes <= kDataBytesMax) return;
  causes.push_back(
      {"FieldValueTooLong", "Too long: may not be more than " + std::to_string(kDataBytesMax) + " bytes", "data"});
}

// base64 as RFC 4648 has it, with its padding.
bool is_base64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return std::ranges::all_of(text.substr(0, text.size() - padding), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

void check_bytes(const Value& data, const std::string& path, Causes& causes) {
  for (const Value::Member& member : data.members()) {
    if (is_base64(member.value.text())) continue;
    causes.push_back(invalid_value(path + "[" + member.key.substr(0, 60) + "]", "(not shown)", "must be base64"));
  }
}

void check_frozen(const AdmissionRequest& request, std::initializer_list<std::string_view> fields, Causes& causes) {
  if (!is_update(request) || !(*request.before)["immutable"].truth()) return;
  const Value& before = *request.before;
  const Value& after = *request.object;
  if (!after["immutable"].truth()) {
    causes.push_back(forbidden_value("immutable", "field is immutable when `immutable` is set"));
  }
  for (const std::string_view field : fields) {
    if (before[field] == after[field]) continue;
    causes.push_back(forbidden_value(std::string(field), "field is immutable when `immutable` is set"));
  }
}

bool is_quota_name(std::string_view name) {
  static constexpr std::string_view kKnownResources[] = {"pods",
                                                         "configmaps",
                                                         "secrets",
                                                         "resourcequotas",
                                                         "cpu",
                                                         "requests.cpu",
                                                         "limits.cpu",
                                                         "memory",
                                                         "requests.memory",
                                                         "limits.memory",
                                                         "ephemeral-storage",
                                                         "requests.ephemeral-storage",
                                                         "limits.ephemeral-storage"};
  if (std::ranges::find(kKnownResources, name) != std::end(kKnownResources)) return true;
  if (name.starts_with("count/")) return is_dns_subdomain(name.substr(6));
  if (!name.starts_with("requests.")) return false;
  const std::string_view resource = name.substr(9);
  return resource.starts_with("hugepages-") ||
         (resource.find('/') != std::string_view::npos && is_qualified_name(resource));
}

bool is_count(std::string_view name) {
  return name == "pods" || name == "configmaps" || name == "secrets" || name == "resourcequotas" ||
         name.starts_with("count/") || name.find("requests.nvidia.com/") == 0;
}

void check_limit_item(const Value& item, const std::string& path, Causes& causes) {
  const std::string_view type = item["type"].text();
  if (type != "Container" && type != "Pod") {
    causes.push_back(unsupported_value(path + ".type", item["type"], {"Container", "Pod"}));
  }
  if (!item["maxLimitRequestRatio"].is_empty()) {
    causes.push_back(
        forbidden_value(path + ".maxLimitRequestRatio", "is not supported; bound requests and limits by min and max"));
  }
  for (const std::string_view field : {"max", "min", "default", "defaultRequest"}) {
    const std::string at = path + "." + std::string(field);
    if (!check_count(item[field].members().size(), kResourceNamesMax, at, causes)) return;
    check_not_negative(item[field], at, causes);
    if (type == "Pod" && field.starts_with("default") && !item[field].is_empty()) {
      causes.push_back(forbidden_value(at, "may not be specified when `type` is 'Pod'"));
    }
  }
  const auto check_order = [&](std::string_view low, std::string_view high) {
    for (const Value::Member& member : item[low].members()) {
      const std::optional<Quantity> smaller = quantity_of(member.value);
      const std::optional<Quantity> larger = quantity_of(item[high][member.key]);
      if (!smaller || !larger || !(*smaller > *larger)) continue;
      causes.push_back(invalid_value(
          path + "." + std::string(low) + "[" + member.key + "]", member.value,
          std::string(low) + " value is greater than " + std::string(high) + " value " + larger->to_string()));
    }
  };
  check_order("min", "max");
  check_order("defaultRequest", "default");
  check_order("default", "max");
  check_order("min", "defaultRequest");
}

// An amount of pods: a count, or a share from 0% to 100%.
void check_share(const Value& value, const std::string& path, Causes& causes) {
  if (value.is_null()) return;
  if (value.is_integer()) return check_integer(value, 0, std::numeric_limits<std::int32_t>::max(), path, causes);
  const std::string_view text = value.text();
  if (!text.ends_with('%') || !parse_integer(text.substr(0, text.size() - 1), 0, 100)) {
    causes.push_back(invalid_value(path, value, "must be a count (2) or a share from 0% to 100% (\"50%\")"));
  }
}

void check_rule(const Value& rule, bool everywhere, const std::string& path, Causes& causes) {
  if (rule["verbs"].is_empty())
    causes.push_back(required_value(path + ".verbs", "verbs must contain at least one value"));
  if (!rule["nonResourceURLs"].is_empty()) {
    if (!everywhere) {
      causes.push_back(invalid_value(path + ".nonResourceURLs", rule["nonResourceURLs"],
                                     "namespaced rules cannot apply to non-resource URLs"));
    }
    if (!rule["apiGroups"].is_empty() || !rule["resources"].is_empty() || !rule["resourceNames"].is_empty()) {
      causes.push_back(invalid_value(path + ".nonResourceURLs", rule["nonResourceURLs"],
                                     "rules cannot apply to both regular resources and non-resource URLs"));
    }
    for (const Value& url : rule["nonResourceURLs"].items()) {
      const std::size_t star = url.text().find('*');
      if (star == std::string_view::npos || star + 1 == url.text().size()) continue;
      causes.push_back(invalid_value(path + ".nonResourceURLs", url, "'*' may stand at the end only"));
    }
    return;
  }
  if (rule["apiGroups"].is_empty()) {
    causes.push_back(required_value(path + ".apiGroups", "resource rules must supply at least one api group"));
  }
  if (rule["resources"].is_empty()) {
    causes.push_back(required_value(path + ".resources", "resource rules must supply at least one resource"));
  }
}

void check_subject(const Value& subject, bool everywhere, const std::string& path, Causes& causes) {
  const std::string_view kind = subject["kind"].text();
  if (subject["name"].is_empty()) causes.push_back(required_value(path + ".name"));
  if (kind == "ServiceAccount") {
    if (everywhere && subject["namespace"].is_empty()) causes.push_back(required_value(path + ".namespace"));
    if (!subject["apiGroup"].is_empty())
      causes.push_back(unsupported_value(path + ".apiGroup", subject["apiGroup"], {""}));
  } else if (kind == "User" || kind == "Group") {
    if (subject["apiGroup"].text() != "rbac.authorization.k8s.io") {
      causes.push_back(unsupported_value(path + ".apiGroup", subject["apiGroup"], {"rbac.authorization.k8s.io"}));
    }
  } else {
    causes.push_back(unsupported_value(path + ".kind", subject["kind"], {"ServiceAccount", "User", "Group"}));
  }
}

}  // namespace

void check_config_map(const AdmissionRequest& request, Causes& causes) {
  const Value& map = *request.object;
  std::set<std::string_view> keys;
  std::size_t bytes = 0;
  check_data(map["data"], "data", keys, bytes, causes);
  check_data(map["binaryData"], "binaryData", keys, bytes, causes);
  check_bytes(map["binaryData"], "binaryData", causes);
  check_size(bytes, causes);
  check_frozen(request, {"data", "binaryData"}, causes);
}

// What a type of secret promises to whoever reads it.
void check_secret_type(const Value& secret, Causes& causes) {
  struct Needed {
    std::string_view type, key;
  };
  constexpr Needed kNeeded[] = {{"kubernetes.io/tls", "tls.crt"},
                                {"kubernetes.io/tls", "tls.key"},
                                {"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
                                {"kubernetes.io/dockercfg", ".dockercfg"},
                                {"kubernetes.io/ssh-auth", "ssh-privatekey"}};
  for (const auto& [type, key] : kNeeded) {
    if (secret["type"].text() == type && secret["data"].find(key) == nullptr) {
      causes.push_back(required_value("data[" + std::string(key) + "]"));
    }
  }
}

void check_secret(const AdmissionRequest& request, Causes& causes) {
  const Value& secret = *request.object;
  std::set<std::string_view> keys;
  std::size_t bytes = 0;
  check_data(secret["data"], "data", keys, bytes, causes);
  check_bytes(secret["data"], "data", causes);
  check_secret_type(secret, causes);
  check_size(bytes / 4 * 3, causes);
  if (is_update(request)) check_immutable((*request.before)["type"], secret["type"], "type", causes);
  check_frozen(request, {"data"}, causes);
}

void check_node(const AdmissionRequest& request, Causes& causes) {
  const Value& node = *request.object;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < node["spec"]["taints"].items().size(); ++i) {
    const Value& taint = node["spec"]["taints"].items()[i];
    const std::string field = item_path("spec.taints", i);
    if (!is_qualified_name(taint["key"].text())) {
      causes.push_back(invalid_value(field + ".key", taint["key"], "must be a name such as example.com/name"));
    }
    if (!is_label_value(taint["value"].text()))
      causes.push_back(invalid_value(field + ".value", taint["value"], "must be a label value"));
    if (taint["effect"].is_empty()) causes.push_back(required_value(field + ".effect"));
    if (!seen.insert(std::string(taint["key"].text()) + "\n" + std::string(taint["effect"].text())).second) {
      causes.push_back(duplicate_value(field, taint));
    }
  }
  for (const char* const map : {"capacity", "allocatable"}) {
    check_not_negative(node["status"][map], std::string("status.") + map, causes);
    const std::optional<Quantity> gpus = quantity_of(node["status"][map][kGpuResource]);
    if (gpus && !gpus->is_negative() && parse_milli(gpus->to_string()).value_or(0) > kGpusPerNodeMax * 1'000) {
      causes.push_back(invalid_value(std::string("status.") + map + "[nvidia.com/gpu]",
                                     node["status"][map][kGpuResource],
                                     "a node has at most " + std::to_string(kGpusPerNodeMax) + " GPUs"));
    }
  }
}

void check_resource_quota(const AdmissionRequest& request, Causes& causes) {
  const Value& spec = (*request.object)["spec"];
  for (const char* const field : {"scopes", "scopeSelector"}) {
    if (spec[field].is_empty()) continue;
    causes.push_back(
        forbidden_value(std::string("spec.") + field,
                        "quotas count everything in the namespace; scopes are not supported, leave this out"));
  }
  if (!check_count(spec["hard"].members().size(), kHardMax, "spec.hard", causes)) return;
  check_not_negative(spec["hard"], "spec.hard", causes);
  for (const Value::Member& member : spec["hard"].members()) {
    const std::string field = "spec.hard[" + member.key + "]";
    if (!is_quota_name(member.key)) {
      causes.push_back(
          invalid_value(field, member.key,
                        "is nothing that a quota counts; write pods, count/jobs.batch, requests.cpu, limits.memory, "
                        "requests.nvidia.com/gpu, configmaps, secrets"));
      continue;
    }
    const std::optional<Quantity> amount = quantity_of(member.value);
    if (!amount || amount->is_negative() || !is_count(member.key)) continue;
    if (parse_milli(amount->to_string()).value_or(0) % 1'000 != 0) {
      causes.push_back(invalid_value(field, member.value, "must be an integer"));
    }
  }
}

void check_limit_range(const AdmissionRequest& request, Causes& causes) {
  const Value& limits = (*request.object)["spec"]["limits"];
  if (limits.is_empty()) causes.push_back(required_value("spec.limits"));
  if (!check_count(limits.items().size(), 100, "spec.limits", causes)) return;
  std::set<std::string_view> types;
  for (std::size_t i = 0; i < limits.items().size(); ++i) {
    const Value& item = limits.items()[i];
    const std::string field = item_path("spec.limits", i);
    if (!types.insert(item["type"].text()).second) causes.push_back(duplicate_value(field + ".type", item["type"]));
    check_limit_item(item, field, causes);
  }
}

void check_disruption_budget(const AdmissionRequest& request, Causes& causes) {
  if (!request.subresource.empty()) return;
  const Value& spec = (*request.object)["spec"];
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null()) {
    causes.push_back(invalid_value("spec", spec, "minAvailable and maxUnavailable cannot be both set"));
  }
  check_share(spec["minAvailable"], "spec.minAvailable", causes);
  check_share(spec["maxUnavailable"], "spec.maxUnavailable", causes);
  check_label_selector(spec["selector"], "spec.selector", causes);
}

void check_priority_class(const AdmissionRequest& request, Causes& causes) {
  constexpr std::int64_t kUsersMax = 1'000'000'000;
  const Value& priority = *request.object;
  if (priority["value"].is_null()) causes.push_back(required_value("value"));
  const std::string_view name = priority["metadata"]["name"].text();
  const std::int64_t value = priority["value"].integer();
  const bool known = (name == "system-node-critical" && value == 2'000'001'000) ||
                     (name == "system-cluster-critical" && value == 2'000'000'000);
  if (name.starts_with("system-") && !known) {
    causes.push_back(forbidden_value("metadata.name",
                                     "priority class names with 'system-' prefix are reserved for system use only"));
  } else if (value > kUsersMax) {
    if (!known) {
      causes.push_back(forbidden_value("value", "maximum allowed value of a user defined priority is 1000000000"));
    }
  } else {
    check_integer(priority["value"], std::numeric_limits<std::int32_t>::min(), kUsersMax, "value", causes);
  }
  if (!is_update(request)) return;
  if (!((*request.before)["value"] == priority["value"])) {
    causes.push_back(forbidden_value("value", "may not be changed in an update."));
  }
  check_immutable((*request.before)["preemptionPolicy"], priority["preemptionPolicy"], "preemptionPolicy", causes);
}

void check_lease(const AdmissionRequest& request, Causes& causes) {
  const Value& spec = (*request.object)["spec"];
  check_integer(spec["leaseDurationSeconds"], 1, std::numeric_limits<std::int32_t>::max(), "spec.leaseDurationSeconds",
                causes);
  check_integer(spec["leaseTransitions"], 0, std::numeric_limits<std::int32_t>::max(), "spec.leaseTransitions", causes);
  if (!spec["strategy"].is_empty()) {
    causes.push_back(forbidden_value("spec.strategy", "coordinated leader election is not supported"));
  }
}

void check_event(const AdmissionRequest& request, Causes& causes) {
  const Value& event = *request.object;
  const Value& about = event["involvedObject"];
  const std::string_view home = event["metadata"]["namespace"].text();
  if (!about["namespace"].is_empty() && about["namespace"].text() != home) {
    causes.push_back(invalid_value("involvedObject.namespace", about["namespace"], "does not match event.namespace"));
  }
  check_integer(event["count"], 0, std::numeric_limits<std::int32_t>::max(), "count", causes);
}

void check_newer_event(const AdmissionRequest& request, Causes& causes) {
  const Value& event = *request.object;
  if (event["eventTime"].is_null()) causes.push_back(required_value("eventTime"));
  const std::string_view type = event["type"].text();
  if (type != "Normal" && type != "Warning") {
    causes.push_back(invalid_value("type", type, "has invalid value: " + std::string(type.substr(0, 60))));
  }
  const auto check_text = [&](const char* field, std::size_t most, bool needed) {
    const Value& text = event[field];
    if (needed && text.is_empty()) causes.push_back(required_value(field));
    if (text.text().size() > most) {
      causes.push_back(invalid_value(field, "", "can have at most " + std::to_string(most) + " characters"));
    }
  };
  if (request.operation == Operation::kCreate) {
    check_text("reportingController", 253, true);
    check_text("reportingInstance", 128, true);
    check_text("action", 128, true);
    check_text("reason", 128, true);
  }
  check_text("note", 1'024, false);
}

void check_role(const AdmissionRequest& request, Causes& causes) {
  const Value& role = *request.object;
  if (!role["aggregationRule"].is_null()) {
    causes.push_back(
        forbidden_value("aggregationRule", "roles are not aggregated here; write the rules themselves under `rules`"));
  }
  for (std::size_t i = 0; i < role["rules"].items().size(); ++i) {
    check_rule(role["rules"].items()[i], !request.kind->namespaced, item_path("rules", i), causes);
  }
}

void check_role_binding(const AdmissionRequest& request, Causes& causes) {
  const Value& binding = *request.object;
  const bool everywhere = !request.kind->namespaced;
  const Value& role = binding["roleRef"];
  if (role["apiGroup"].text() != "rbac.authorization.k8s.io") {
    causes.push_back(unsupported_value("roleRef.apiGroup", role["apiGroup"], {"rbac.authorization.k8s.io"}));
  }
  const std::string_view kind = role["kind"].text();
  if (kind != "ClusterRole" && (everywhere || kind != "Role")) {
    causes.push_back(unsupported_value(
        "roleRef.kind", role["kind"],
        everywhere ? std::vector<std::string>{"ClusterRole"} : std::vector<std::string>{"Role", "ClusterRole"}));
  }
  if (role["name"].is_empty()) causes.push_back(required_value("roleRef.name"));
  for (std::size_t i = 0; i < binding["subjects"].items().size(); ++i) {
    check_subject(binding["subjects"].items()[i], everywhere, item_path("subjects", i), causes);
  }
  if (is_update(request) && !((*request.before)["roleRef"] == role)) {
    causes.push_back(invalid_value("roleRef", role, "cannot change roleRef"));
  }
}

void check_queue(const AdmissionRequest& request, Causes& causes) {
  const Value& queue = *request.object;
  const Value& spec = queue["spec"];
  // Pods name it in a label.
  if (queue["metadata"]["name"].text().size() > 63) {
    causes.push_back(invalid_value("metadata.name", queue["metadata"]["name"], "must be no more than 63 characters"));
  }
  // What the schema lists has been looked at.
  for (const SpecMistake& mistake : read_queue_spec(spec).mistakes) {
    if (std::ranges::find(causes, mistake.field, &ErrorCause::field) != causes.end()) continue;
    causes.push_back(invalid_value(mistake.field, mistake.value, mistake.text));
  }
  if (!spec["parent"].is_empty() && spec["parent"] == queue["metadata"]["name"]) {
    causes.push_back(invalid_value("spec.parent", spec["parent"], "a queue cannot be its own parent"));
  }
}

void check_resource_flavor(const AdmissionRequest& request, Causes& causes) {
  const Value& spec = (*request.object)["spec"];
  const Value& model = spec["gpuModel"];
  if (model.is_empty()) {
    causes.push_back(required_value("spec.gpuModel", "such as H100-SXM5-80GB or H100"));
  } else if (find_gpu_model(model.text()) == nullptr) {
    const std::string_view nearest = nearest_gpu_model(model.text());
    causes.push_back(invalid_value(
        "spec.gpuModel", model,
        nearest.empty() ? "is no GPU model that is known, such as H100-SXM5-80GB or H100"
                        : "is no GPU model that is known; did you mean \"" + std::string(nearest) + "\"?"));
  }
  check_integer(spec["memoryMiB"], 1, kGpuMemoryMibMax, "spec.memoryMiB", causes);
  check_integer(spec["weight"], 1, kFlavorWeightMax, "spec.weight", causes);
  for (const Value::Member& label : spec["nodeLabels"].members()) {
    if (is_qualified_name(label.key) && is_label_value(label.value.text())) continue;
    causes.push_back(invalid_value("spec.nodeLabels", label.key + "=" + std::string(label.value.text()),
                                   "must be a label such as example.com/name=value"));
  }
}

void check_reservation(const AdmissionRequest& request, Causes& causes) {
  const Value& spec = (*request.object)["spec"];
  const ReservationSpecReading reading = read_reservation_spec(spec);
  // What the schema lists has been looked at.
  for (const SpecMistake& mistake : reading.mistakes) {
    if (std::ranges::find(causes, mistake.field, &ErrorCause::field) != causes.end()) continue;
    causes.push_back(invalid_value(mistake.field, mistake.value, mistake.text));
  }
  // One that is over stays as it is, for everybody to read.
  const bool is_new = request.operation == Operation::kCreate;
  if (is_new && reading.mistakes.empty() && reading.spec.is_over(request.now))
    causes.push_back(invalid_value("spec.from", spec["from"], "it is over already; let it begin later"));
}

// Whether they are changes of anything that is there the scheduler says.
void check_what_if(const AdmissionRequest& request, Causes& causes) {
  constexpr std::size_t kChangesMax = 1'000;
  constexpr std::size_t kLengthMax = 4'096;
  const Value& changes = (*request.object)["spec"]["changes"];
  if (changes.items().empty() || changes.items().size() > kChangesMax) {
    causes.push_back(invalid_value("spec.changes", std::to_string(changes.items().size()),
                                   "must be 1 to 1000 changes, such as drain node n3"));
  }
  for (std::size_t i = 0; i < std::min(changes.items().size(), kChangesMax); ++i) {
    const std::string_view line = changes.items()[i].text();
    if (!line.empty() && line.size() <= kLengthMax && !line.contains('\n')) continue;
    causes.push_back(invalid_value("spec.changes[" + std::to_string(i) + "]", changes.items()[i],
                                   "must be one line of at most 4096 bytes, such as drain node n3"));
  }
}

void check_defragmentation(const AdmissionRequest& request, Causes& causes) {
  // What the schema lists has been looked at.
  for (const SpecMistake& mistake : read_defragmentation_spec((*request.object)["spec"]).mistakes) {
    if (std::ranges::find(causes, mistake.field, &ErrorCause::field) != causes.end()) continue;
    causes.push_back(invalid_value(mistake.field, mistake.value, mistake.text));
  }
}

void check_trust_circle(const AdmissionRequest& request, Causes& causes) {
  // What the schema lists has been looked at.
  for (const SpecMistake& mistake : read_circle_spec((*request.object)["spec"]).mistakes) {
    if (std::ranges::find(causes, mistake.field, &ErrorCause::field) != causes.end()) continue;
    causes.push_back(invalid_value(mistake.field, mistake.value, mistake.text));
  }
}

void check_workload(const AdmissionRequest& request, Causes& causes) {
  const Value& sets = (*request.object)["spec"]["podSets"];
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < sets.items().size(); ++i) {
    const Value& set = sets.items()[i];
    const std::string field = item_path("spec.podSets", i);
    if (set["name"].is_empty())
      causes.push_back(required_value(field + ".name"));
    else if (!names.insert(set["name"].text()).second)
      causes.push_back(duplicate_value(field + ".name", set["name"]));
    check_integer(set["count"], 0, kPodGroupSizeMax, field + ".count", causes);
    check_not_negative(set["requests"], field + ".requests", causes);
  }
}

}  // namespace berth
