#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/object_meta.h"
#include "apiserver/pod_facts.h"
#include "apiserver/validation.h"
#include "manifest/parallelism.h"
#include "manifest/slice_resources.h"
#include "manifest/time_request.h"
#include "manifest/timestamp.h"
#include "manifest/topology_request.h"
#include "model/gpu.h"
#include "model/quantity.h"

namespace berth {

namespace {

constexpr const char* kNameRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kPodUpdateRule =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int32_t>::max();
// Tolerations, gates and the like of one pod; they are compared each with each.
constexpr std::size_t kTermsMax = 1'000;

bool is_native_resource(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
}

bool is_whole(const Quantity& quantity) {
  const Parsed<std::int64_t> milli = parse_milli(quantity.to_string());
  return !milli || *milli % 1000 == 0;
}

void check_resource_names(const Value& amounts, const std::string& path, Causes& causes) {
  for (const Value::Member& member : amounts.members()) {
    const std::string field = path + "[" + member.key + "]";
    if (is_native_resource(member.key)) continue;
    const bool extended = member.key.find('/') != std::string::npos && is_qualified_name(member.key);
    if (!extended) {
      causes.push_back(invalid_value(path, member.key,
                                     "must be cpu, memory, ephemeral-storage or a full name such as nvidia.com/gpu"));
      continue;
    }
    const std::optional<Quantity> quantity = quantity_of(member.value);
    if (quantity && !is_whole(*quantity)) {
      causes.push_back(invalid_value(
          field, member.value,
          member.key == kGpuResource
              ? "must be an integer; for a part of one GPU ask for 1 and say how much of it by the annotation "
                "berth.dev/gpu-milli: \"500\", or leave it out and write the annotation gpu-fraction: \"0.5\""
              : "must be an integer"));
    }
  }
}

void check_resources(const Value& resources, const std::string& path, Causes& causes) {
  const Value& limits = resources["limits"];
  const Value& requests = resources["requests"];
  if (!check_count(limits.members().size(), kResourceNamesMax, path + ".limits", causes)) return;
  if (!check_count(requests.members().size(), kResourceNamesMax, path + ".requests", causes)) return;
  check_resource_names(limits, path + ".limits", causes);
  check_resource_names(requests, path + ".requests", causes);
  check_not_negative(limits, path + ".limits", causes);
  check_not_negative(requests, path + ".requests", causes);
  for (const Value::Member& request : requests.members()) {
    const Value* const limit = limits.find(request.key);
    const bool overcommittable = request.key == "cpu" || request.key == "memory" || request.key == "ephemeral-storage";
    if (limit == nullptr) {
      if (!overcommittable) {
        causes.push_back(required_value(path + ".limits", "a limit of " + request.key + " equal to its request"));
      }
      continue;
    }
    const std::optional<Quantity> wanted = quantity_of(request.value);
    const std::optional<Quantity> most = quantity_of(*limit);
    if (!wanted || !most) continue;
    const std::string what = request.key + " limit of " + most->to_string();
    if (!overcommittable && *wanted != *most) {
      causes.push_back(invalid_value(path + ".requests", request.value, "must be equal to " + what));
    } else if (*wanted > *most) {
      causes.push_back(invalid_value(path + ".requests", request.value, "must be less than or equal to " + what));
    }
  }
}

void check_name(const Value& name, const std::string& path, std::set<std::string_view>& seen, Causes& causes) {
  if (name.is_empty()) return causes.push_back(required_value(path));
  if (!is_dns_label(name.text())) return causes.push_back(invalid_value(path, name, kNameRule));
  if (!seen.insert(name.text()).second) causes.push_back(duplicate_value(path, name));
}

void check_env(const Value& env, const std::string& path, Causes& causes) {
  for (std::size_t i = 0; i < env.items().size(); ++i) {
    const Value& variable = env.items()[i];
    const std::string field = item_path(path, i);
    const std::string_view name = variable["name"].text();
    const bool printable = std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '='; });
    if (name.empty()) {
      causes.push_back(required_value(field + ".name"));
    } else if (!printable) {
      causes.push_back(invalid_value(field + ".name", variable["name"],
                                     "a name of an environment variable is printable ASCII without '='"));
    }
    if (!variable["value"].is_empty() && !variable["valueFrom"].is_null()) {
      causes.push_back(
          invalid_value(field + ".valueFrom", variable["valueFrom"], "may not be specified when `value` is not empty"));
    }
  }
}

void check_ports(const Value& ports, const std::string& path, Causes& causes) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.items().size(); ++i) {
    const Value& port = ports.items()[i];
    const std::string field = item_path(path, i);
    if (port["containerPort"].is_null()) causes.push_back(required_value(field + ".containerPort"));
    check_integer(port["containerPort"], 1, 65'535, field + ".containerPort", causes);
    check_integer(port["hostPort"], 0, 65'535, field + ".hostPort", causes);
    const Value& name = port["name"];
    if (name.is_empty()) continue;
    if (name.text().size() > 15 || !is_dns_label(name.text())) {
      causes.push_back(invalid_value(field + ".name", name, "must be a DNS label of at most 15 characters"));
    } else if (!names.insert(name.text()).second) {
      causes.push_back(duplicate_value(field + ".name", name));
    }
  }
}

void check_mounts(const Value& mounts, const std::set<std::string_view>& volumes, const std::string& path,
                  Causes& causes) {
  std::set<std::string_view> paths;
  for (std::size_t i = 0; i < mounts.items().size(); ++i) {
    const Value& mount = mounts.items()[i];
    const std::string field = item_path(path, i);
    if (mount["name"].is_empty()) {
      causes.push_back(required_value(field + ".name"));
    } else if (!volumes.contains(mount["name"].text())) {
      causes.push_back(
          {"FieldValueNotFound", "Not found: \"" + std::string(mount["name"].text()) + "\"", field + ".name"});
    }
    if (mount["mountPath"].is_empty()) {
      causes.push_back(required_value(field + ".mountPath"));
    } else if (!paths.insert(mount["mountPath"].text()).second) {
      causes.push_back(invalid_value(field + ".mountPath", mount["mountPath"], "must be unique"));
    }
  }
}

void check_containers(const Value& spec, std::string_view list, const std::string& path,
                      const std::set<std::string_view>& volumes, std::set<std::string_view>& names, Causes& causes) {
  const Value& containers = spec[list];
  for (std::size_t i = 0; i < containers.items().size(); ++i) {
    const Value& container = containers.items()[i];
    const std::string field = item_path(path + "." + std::string(list), i);
    check_name(container["name"], field + ".name", names, causes);
    if (container["image"].is_empty()) causes.push_back(required_value(field + ".image"));
    check_resources(container["resources"], field + ".resources", causes);
    check_env(container["env"], field + ".env", causes);
    check_ports(container["ports"], field + ".ports", causes);
    check_mounts(container["volumeMounts"], volumes, field + ".volumeMounts", causes);
    const Value& restarts = container["restartPolicy"];
    if (!restarts.is_empty() && (list != "initContainers" || restarts.text() != "Always")) {
      causes.push_back(forbidden_value(
          field + ".restartPolicy",
          "only \"Always\" on an init container (a sidecar); the pod's own policy holds for the others"));
    }
  }
}

// No term at all would mean no node at all: a slip, not a wish.
void check_required_affinity(const Value& affinity, const std::string& path, Causes& causes) {
  const Value& required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  if (required.is_map() && required["nodeSelectorTerms"].is_empty()) {
    causes.push_back(
        required_value(path + ".nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
                       "must have at least one term"));
  }
}

void check_tolerations(const Value& tolerations, const std::string& path, Causes& causes) {
  for (std::size_t i = 0; i < tolerations.items().size(); ++i) {
    const Value& each = tolerations.items()[i];
    const std::string field = item_path(path, i);
    const std::string_view op = each["operator"].text();
    if (!each["key"].is_empty() && !is_qualified_name(each["key"].text())) {
      causes.push_back(
          invalid_value(field + ".key", each["key"], "must be the key of a taint, such as example.com/name"));
    }
    if (each["key"].is_empty() && op != "Exists") {
      causes.push_back(
          invalid_value(field + ".operator", each["operator"],
                        "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    }
    if (op == "Exists" && !each["value"].is_empty()) {
      causes.push_back(
          invalid_value(field + ".operator", each["value"], "value must be empty when `operator` is 'Exists'"));
    }
    if (!each["tolerationSeconds"].is_null() && each["effect"].text() != "NoExecute") {
      causes.push_back(invalid_value(field + ".effect", each["effect"],
                                     "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
  }
}

void check_scheduling(const Value& spec, const std::string& path, Causes& causes) {
  check_count(spec["nodeSelector"].members().size(), kTermsMax, path + ".nodeSelector", causes);
  check_count(spec["tolerations"].items().size(), kTermsMax, path + ".tolerations", causes);
  check_count(spec["schedulingGates"].items().size(), kTermsMax, path + ".schedulingGates", causes);
  for (const Value::Member& label : spec["nodeSelector"].members()) {
    if (!is_qualified_name(label.key) || !is_label_value(label.value.text())) {
      causes.push_back(invalid_value(path + ".nodeSelector", label.key + "=" + std::string(label.value.text()),
                                     "must be a label such as example.com/name=value"));
    }
  }
  check_tolerations(spec["tolerations"], path + ".tolerations", causes);
  check_required_affinity(spec["affinity"], path + ".affinity", causes);
  std::set<std::string_view> gates;
  for (std::size_t i = 0; i < spec["schedulingGates"].items().size(); ++i) {
    const Value& gate = spec["schedulingGates"].items()[i]["name"];
    const std::string field = item_path(path + ".schedulingGates", i);
    if (!is_qualified_name(gate.text())) {
      causes.push_back(invalid_value(field, gate, "must be a name such as example.com/gate"));
    } else if (!gates.insert(gate.text()).second) {
      causes.push_back(duplicate_value(field, gate));
    }
  }
  const Value& node = spec["nodeName"];
  if (!node.is_empty() && !is_dns_subdomain(node.text())) {
    causes.push_back(invalid_value(path + ".nodeName", node, "must be the name of a node"));
  }
  if (!node.is_empty() && !gates.empty()) {
    causes.push_back(forbidden_value(path + ".nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
}

// The spec with everything that an update may change put back to what it was.
Value without_allowed_changes(const Value& before, Value after) {
  for (const char* const list : {"containers", "initContainers"}) {
    if (!after[list].is_list() || after[list].items().size() != before[list].items().size()) continue;
    Value::List& items = after.at(list).edit_items();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Value& had = before[list].items()[i];
      if (items[i]["name"] == had["name"] && !items[i]["image"].is_empty()) items[i].set("image", had["image"]);
    }
  }
  const auto put_back = [&](std::string_view key) {
    if (const Value* const had = before.find(key))
      after.set(key, *had);
    else
      after.erase(key);
  };
  const Value& deadline = before["activeDeadlineSeconds"];
  const Value& new_deadline = after["activeDeadlineSeconds"];
  if (new_deadline.is_integer() && (deadline.is_null() || new_deadline.integer() <= deadline.integer())) {
    put_back("activeDeadlineSeconds");
  }
  if (before["terminationGracePeriodSeconds"].integer() < 0 && after["terminationGracePeriodSeconds"].integer() == 1) {
    put_back("terminationGracePeriodSeconds");
  }
  const auto contains_all = [](const Value& all, const Value& some) {
    return all.items().size() <= kTermsMax && std::ranges::all_of(some.items(), [&](const Value& each) {
             return std::ranges::find(all.items(), each) != all.items().end();
           });
  };
  if (contains_all(after["tolerations"], before["tolerations"])) put_back("tolerations");
  if (contains_all(before["schedulingGates"], after["schedulingGates"])) put_back("schedulingGates");
  // While it is gated nobody counts on where it could go, and it may be made choosier.
  const bool narrower = std::ranges::all_of(before["nodeSelector"].members(), [&](const Value::Member& label) {
    return after["nodeSelector"][label.key] == label.value;
  });
  if (!before["schedulingGates"].is_empty() && narrower) put_back("nodeSelector");
  return after;
}

// What the scheduler, quotas and agents have counted with since the pod was made.
void check_fixed_marks(const Value& before, const Value& after, Causes& causes) {
  const auto compare = [&](std::string_view map, std::string_view key, std::string_view why) {
    if (before["metadata"][map][key] == after["metadata"][map][key]) return;
    causes.push_back(forbidden_value("metadata." + std::string(map) + "[" + std::string(key) + "]", why));
  };
  for (const std::string_view label : {kGroupLabel, kKueueGroupLabel, kCoschedulingLabel}) {
    compare("labels", label, "a pod stays in the group that it was made for; make a new pod");
  }
  for (const std::string_view annotation :
       {kGroupSizeAnnotation, kGroupTaskSizeAnnotation, kGroupUidAnnotation, kKueueGroupSizeAnnotation,
        kVolcanoGroupAnnotation, kGpuMilliAnnotation, kGpuFractionAnnotation, kGpuMemoryAnnotation,
        kGpuFractionDevicesAnnotation, kGpuSharingAnnotation, kLatencyAnnotation, kGpuModelsAnnotation,
        kFlavorsAnnotation, kNeededMemoryAnnotation, kModelAnnotation, kSliceNeedAnnotation}) {
    compare("annotations", annotation,
            "may not be changed once the pod exists, as little as its resources; make a new pod");
  }
  if (!before["spec"]["nodeName"].is_empty()) {
    compare("annotations", kGpusAnnotation, "names the devices that the pod holds; only a binding sets it");
  }
}

// A deadline that was told may come sooner, never later or not at all.
bool check_deadline(const Value& before, const Value& after, Causes& causes) {
  const Value& had = before["spec"]["activeDeadlineSeconds"];
  const Value& has = after["spec"]["activeDeadlineSeconds"];
  if (had.is_null() || (has.is_integer() && has.integer() <= had.integer())) return true;
  causes.push_back(invalid_value("spec.activeDeadlineSeconds", has, "must be less than or equal to previous value"));
  return false;
}

void check_pod_update(const Value& before, const Value& after, Causes& causes) {
  if (!check_deadline(before, after, causes)) return;
  if (!(without_allowed_changes(before["spec"], after["spec"]) == before["spec"])) {
    causes.push_back(forbidden_value("spec", kPodUpdateRule));
  }
  check_fixed_marks(before, after, causes);
}

void check_pod_status(const Value& before, const Value& after, Causes& causes) {
  static const std::vector<std::string> kPhases = {"Pending", "Running", "Succeeded", "Failed", "Unknown"};
  const Value& phase = after["status"]["phase"];
  if (!phase.is_null() && std::ranges::find(kPhases, phase.text()) == kPhases.end()) {
    causes.push_back(unsupported_value("status.phase", phase, kPhases));
  }
  // Its GPUs and its part of the quota went to others.
  if (pod_has_ended(before) && !(before["status"]["phase"] == phase)) {
    causes.push_back(forbidden_value(
        "status.phase", "a pod that has ended (" + std::string(before["status"]["phase"].text()) + ") stays so"));
  }
}

void check_number_annotation(const Value& annotations, std::string_view key, std::int64_t low, std::int64_t high,
                             std::string_view what, const std::string& path, Causes& causes) {
  const Value* const value = annotations.find(key);
  if (value == nullptr || parse_integer(value->text(), low, high)) return;
  causes.push_back(invalid_value(path + ".annotations[" + std::string(key) + "]", *value,
                                 std::string(what) + " from " + std::to_string(low) + " to " + std::to_string(high)));
}

void check_gpu_models(const Value& models, const std::string& path, Causes& causes) {
  std::string_view left = models.text();
  while (true) {
    const std::size_t bar = std::min(left.find('|'), left.size());
    const std::string_view model = left.substr(0, bar);
    if (find_gpu_model(model) == nullptr) {
      const std::string_view nearest = nearest_gpu_model(model);
      causes.push_back(invalid_value(path, models,
                                     "knows no GPU model \"" + std::string(model.substr(0, 60)) + "\"" +
                                         (nearest.empty() ? "; write models as in H100|A100-80GB"
                                                          : "; did you mean \"" + std::string(nearest) + "\"?")));
      return;
    }
    if (bar == left.size()) return;
    left.remove_prefix(bar + 1);
  }
}

}  // namespace

void check_run_label(const Value& metadata, const std::string& path, Causes& causes) {
  const Value* const limit = metadata["labels"].find(kKueueMaxRunLabel);
  if (limit == nullptr || parse_integer(limit->text(), 1, kSecondsMax)) return;
  causes.push_back(invalid_value(path + ".labels[" + std::string(kKueueMaxRunLabel) + "]", *limit,
                                 "write how many seconds a run may take, 1 or more"));
}

void check_time_annotations(const Value& metadata, const std::string& path, Causes& causes) {
  const Value& annotations = metadata["annotations"];
  for (const TimeProblem& each : read_time_request(annotations).problems) {
    causes.push_back(invalid_value(path + ".annotations[" + std::string(each.annotation) + "]",
                                   annotations[each.annotation], each.why));
  }
}

void check_pod_annotations(const Value& metadata, const Value& spec, const std::string& path, Causes& causes) {
  check_run_label(metadata, path, causes);
  const Value& annotations = metadata["annotations"];
  const std::string at = path + ".annotations[";
  for (const GpuPartProblem& each : gpu_part_of(metadata, spec).problems) {
    // "spec.template.metadata" stands beside "spec.template.spec".
    const std::string beside = path.substr(0, path.size() - std::string_view("metadata").size());
    causes.push_back(each.annotation.empty() ? forbidden_value(beside + "spec.containers", each.why)
                                             : invalid_value(at + std::string(each.annotation) + "]",
                                                             annotations[each.annotation], each.why));
  }
  for (const GpuPartProblem& each : gpu_need_of(metadata, spec).problems) {
    causes.push_back(invalid_value(at + std::string(each.annotation) + "]", annotations[each.annotation], each.why));
  }
  check_time_annotations(metadata, path, causes);
  if (const Value* const models = annotations.find(kGpuModelsAnnotation)) {
    check_gpu_models(*models, at + std::string(kGpuModelsAnnotation) + "]", causes);
  }
  check_number_annotation(annotations, kExitCodeAnnotation, 0, 255, "an exit code", path, causes);
  for (const std::string_view annotation : {kRunForAnnotation, kStopAfterAnnotation, kRepairAnnotation}) {
    const Value* const length = annotations.find(annotation);
    if (length == nullptr) continue;
    const Parsed<std::int64_t> ms = parse_duration_ms(length->text());
    if (!ms) causes.push_back(invalid_value(at + std::string(annotation) + "]", *length, ms.error()));
  }
  for (const TopologyProblem& each : read_topology(annotations).problems) {
    causes.push_back(invalid_value(at + std::string(each.annotation) + "]", annotations[each.annotation], each.why));
  }
  if (const Value* const coverage = annotations.find(kCoverageAnnotation);
      coverage != nullptr && coverage->text() != "guaranteed" && coverage->text() != "best-effort") {
    causes.push_back(
        invalid_value(at + std::string(kCoverageAnnotation) + "]", *coverage, "write guaranteed or best-effort"));
  }
  if (const Value* const checkpoint = annotations.find(kCheckpointAnnotation);
      checkpoint != nullptr && !parse_timestamp(checkpoint->text())) {
    causes.push_back(invalid_value(at + std::string(kCheckpointAnnotation) + "]", *checkpoint,
                                   "write a time as in 2026-11-21T08:00:00Z"));
  }
  if (const Value* const movable = annotations.find(kMovableAnnotation);
      movable != nullptr && movable->text() != "true" && movable->text() != "false") {
    causes.push_back(unsupported_value(at + std::string(kMovableAnnotation) + "]", *movable, {"true", "false"}));
  }
  if (const Value* const parallel = annotations.find(kParallelismAnnotation)) {
    const auto sizes = parse_parallelism(parallel->text(), '=');
    if (!sizes) {
      causes.push_back(invalid_value(at + std::string(kParallelismAnnotation) + "]", *parallel, sizes.error()));
    }
  }
  for (const auto& [label, annotation] :
       {std::pair(kGroupLabel, kGroupSizeAnnotation), std::pair(kKueueGroupLabel, kKueueGroupSizeAnnotation)}) {
    check_number_annotation(annotations, annotation, 1, kPodGroupSizeMax, "how many pods the group has,", path, causes);
    if (metadata["labels"].find(label) != nullptr && annotations.find(annotation) == nullptr) {
      causes.push_back(
          required_value(at + std::string(annotation) + "]", "a pod of a group says how many pods the group has"));
    }
  }
}

void check_pod_spec(const Value& spec, const std::string& path, Causes& causes) {
  std::set<std::string_view> volumes;
  for (std::size_t i = 0; i < spec["volumes"].items().size(); ++i) {
    check_name(spec["volumes"].items()[i]["name"], item_path(path + ".volumes", i) + ".name", volumes, causes);
  }
  if (spec["containers"].is_empty()) causes.push_back(required_value(path + ".containers"));
  std::set<std::string_view> names;
  check_containers(spec, "initContainers", path, volumes, names, causes);
  check_containers(spec, "containers", path, volumes, names, causes);
  // Taken in silence they would be amounts that nobody counts, or promises that nobody keeps.
  constexpr std::pair<std::string_view, const char*> kNotSupported[] = {
      {"ephemeralContainers", "are not supported; start another pod to look around"},
      {"resources", "amounts of a whole pod are not supported; give them to its containers"},
      {"resourceClaims", "dynamic resource allocation is not supported; ask for GPUs by limits of nvidia.com/gpu"},
  };
  for (const auto& [field, why] : kNotSupported) {
    if (!spec[field].is_empty()) causes.push_back(forbidden_value(path + "." + std::string(field), why));
  }
  check_not_negative(spec["overhead"], path + ".overhead", causes);
  check_integer(spec["terminationGracePeriodSeconds"], 0, kSecondsMax, path + ".terminationGracePeriodSeconds", causes);
  check_integer(spec["activeDeadlineSeconds"], 1, kSecondsMax, path + ".activeDeadlineSeconds", causes);
  check_scheduling(spec, path, causes);
}

void check_slices(const Value& spec, const std::string& path, Causes& causes) {
  const std::map<std::string, std::int64_t> slices = slices_of(spec);
  for (const auto& [resource, count] : slices) {
    const auto profile = profile_of(resource);
    if (!profile) causes.push_back(invalid_value(path + ".containers", resource, profile.error()));
  }
  const std::string why = why_not_in_one_pod(slices, gpus_of(spec));
  if (!why.empty()) causes.push_back(forbidden_value(path + ".containers", why));
}

void check_pod(const AdmissionRequest& request, Causes& causes) {
  const Value& pod = *request.object;
  if (request.subresource == "status") {
    if (request.before == nullptr) return;
    check_pod_status(*request.before, pod, causes);
    check_fixed_marks(*request.before, pod, causes);
    const bool as_before = (*request.before)["metadata"]["labels"] == pod["metadata"]["labels"] &&
                           (*request.before)["metadata"]["annotations"] == pod["metadata"]["annotations"];
    if (!as_before) check_pod_annotations(pod["metadata"], pod["spec"], "metadata", causes);
    return;
  }
  check_pod_spec(pod["spec"], "spec", causes);
  if (request.operation == Operation::kCreate) {
    check_placing(pod["spec"], "spec", causes);
    check_slices(pod["spec"], "spec", causes);
  }
  check_pod_annotations(pod["metadata"], pod["spec"], "metadata", causes);
  if (request.operation == Operation::kUpdate && request.before != nullptr) {
    check_pod_update(*request.before, pod, causes);
  }
}

}  // namespace berth
