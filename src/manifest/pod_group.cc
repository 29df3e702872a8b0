#include "manifest/pod_group.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/wording.h"
#include "manifest/gang_owner.h"
#include "manifest/labels.h"
#include "manifest/topology_request.h"
#include "manifest/volcano_job.h"
#include "model/quantity.h"
#include "model/workload.h"

namespace berth {
namespace {

// The label of pods before the coscheduling plugin's objects moved to their present group.
constexpr std::string_view kOlderCoschedulingLabel = "pod-group.scheduling.sigs.k8s.io";
constexpr std::string_view kOlderVolcanoAnnotation = "scheduling.k8s.io/group-name";
constexpr const char* kOfPods = "give it to the pods: theirs alone counts";

class PodGroupReader {
 public:
  explicit PodGroupReader(const Value& object) : spec_(object["spec"]) {}

  PodGroupReading read(std::string_view qualified) && {
    if (qualified == kVolcanoGroups) {
      read_volcanos();
    } else if (qualified == kCoschedulingGroups) {
      read_coschedulings();
    } else {
      read_kubernetes();
    }
    return std::move(made_);
  }

 private:
  void complain(std::string field, const Value& value, std::string text) {
    made_.mistakes.push_back({std::move(field), value, std::move(text)});
  }
  void leave_out(std::string_view field, const char* why) {
    if (!spec_[field].is_empty()) made_.not_followed.push_back({"spec." + std::string(field), spec_[field], why});
  }
  void refuse(std::string_view field, const char* instead) {
    if (!spec_[field].is_empty()) complain("spec." + std::string(field), spec_[field], instead);
  }

  // How many; what is wrong counts as one.
  std::int64_t count_at(const Value& value, const std::string& field, std::int64_t low) {
    const std::int64_t count = value.integer(1);
    if (count >= low && count <= kPodsPerWorkloadMax) return std::max<std::int64_t>(count, 1);
    complain(field, value, "is no number of pods; write one from " + std::to_string(low) + " to 1,000,000");
    return 1;
  }

  void read_coschedulings() {
    made_.spec.at_least = count_at(spec_["minMember"], "spec.minMember", 0);
    leave_out("minResources", "what its pods request is counted");
    leave_out("scheduleTimeoutSeconds", "nothing is held for who waits, so nothing has to be given back");
  }

  void read_volcanos() {
    PodGroupSpec& spec = made_.spec;
    spec.at_least = count_at(spec_["minMember"], "spec.minMember", 0);
    std::int64_t of_tasks = 0;
    for (const Value::Member& each : spec_["minTaskMember"].members()) {
      const std::int64_t count = count_at(each.value, "spec.minTaskMember[" + each.key + "]", 0);
      if (each.value.integer() > 0) spec.of_tasks[each.key] = count;
      of_tasks += each.value.integer() > 0 ? count : 0;
    }
    spec.at_least = std::max(spec.at_least, of_tasks);
    spec.queue = spec_["queue"].text();
    refuse("subGroupPolicy", "is not followed; make a PodGroup of each part");
    leave_out("minResources", "what its pods request is counted");
    leave_out("priorityClassName", kOfPods);
    read_network_topology();
  }

  void read_network_topology() {
    const Value& asked = spec_["networkTopology"];
    if (asked.is_empty()) return;
    if (!asked["highestTierName"].is_empty()) {
      return complain("spec.networkTopology.highestTierName", asked["highestTierName"],
                      "is not followed; write the tier's number as highestTierAllowed");
    }
    Value annotations = Value::map_of({{std::string(kVolcanoTopologyModeAnnotation), asked["mode"].text("hard")}});
    if (asked["highestTierAllowed"].is_integer()) {
      annotations.set(kVolcanoHighestTierAnnotation, std::to_string(asked["highestTierAllowed"].integer()));
    }
    ReadTopology read = read_topology(annotations);
    for (const TopologyProblem& each : read.problems) complain("spec.networkTopology", asked, each.why);
    if (read.problems.empty()) made_.spec.topology = std::move(read.topology);
  }

  void read_kubernetes() {
    const Value& policy = spec_["schedulingPolicy"];
    const bool gang = policy.find("gang") != nullptr, basic = policy.find("basic") != nullptr;
    if (gang == basic) complain("spec.schedulingPolicy", policy, "is one of basic and gang; write one of them");
    if (gang && !basic) {
      made_.spec.at_least = count_at(policy["gang"]["minCount"], "spec.schedulingPolicy.gang.minCount", 1);
    }
    const Value& levels = spec_["schedulingConstraints"]["topology"];
    const std::string field = "spec.schedulingConstraints.topology";
    if (levels.items().size() > 1) complain(field, levels, "has several levels; write one");
    if (levels.items().size() == 1 && made_.spec.at_least > 1) {
      const std::string key(levels.items().front()["key"].text());
      ReadTopology read = read_topology(Value::map_of({{std::string(kTopologyAnnotation), "required:" + key}}));
      for (const TopologyProblem& each : read.problems) complain(field + "[0].key", key, each.why);
      if (read.problems.empty()) made_.spec.topology = std::move(read.topology);
    }
    refuse("resourceClaims", "dynamic resource allocation is not supported; ask for GPUs by limits of nvidia.com/gpu");
    refuse("parentCompositePodGroupName", "is not supported; make one PodGroup of all");
    if (spec_["disruptionMode"].find("single") != nullptr) {
      leave_out("disruptionMode", "who starts together is evicted together");
    }
    for (const char* const each : {"priorityClassName", "priority", "preemptionPolicy"}) leave_out(each, kOfPods);
  }

  const Value& spec_;
  PodGroupReading made_;
};

}  // namespace

namespace {

// The name of the Job that made it; empty: none did.
std::string_view maker_of(const Value& pod, std::string_view api_version) {
  for (const Value& owner : pod["metadata"]["ownerReferences"].items()) {
    const bool is_job = owner["kind"].text() == "Job" && owner["apiVersion"].text() == api_version;
    if (owner["controller"].truth() && is_job) return owner["name"].text();
  }
  return {};
}

std::optional<PodGroupName> partial_job_of(const Value& pod) {
  const auto size =
      parse_integer(pod["metadata"]["annotations"][kKueueMinParallelismAnnotation].text(), 1, kPodsPerWorkloadMax);
  const std::string_view job = maker_of(pod, "batch/v1");
  if (!size || job.empty()) return std::nullopt;
  return PodGroupName{.qualified = kPartialJobs, .name = std::string(job), .size = *size};
}

// A task that waits for others has a group of its own.
std::optional<PodGroupName> elastic_volcano_job_of(const Value& pod) {
  const Value& labels = pod["metadata"]["labels"];
  const Value& annotations = pod["metadata"]["annotations"];
  const auto of_task = parse_integer(annotations[kGroupTaskSizeAnnotation].text(), 0, kPodsPerWorkloadMax);
  const auto size = parse_integer(annotations[kGroupSizeAnnotation].text(), 1, kPodsPerWorkloadMax);
  const std::string_view job = maker_of(pod, kVolcanoJobApi);
  if (!of_task || !size || job.empty()) return std::nullopt;
  PodGroupName made{.qualified = kVolcanoJobs,
                    .name = std::string(job),
                    .task = std::string(labels[kVolcanoTaskAnnotation].text()),
                    .size = *size,
                    .task_size = *of_task};
  if (labels[kGroupLabel].text() != job) made.replica = made.task;
  return made;
}

}  // namespace

std::optional<PodGroupName> pod_group_named_by(const Value& pod) {
  const Value& labels = pod["metadata"]["labels"];
  const Value& annotations = pod["metadata"]["annotations"];
  if (!labels[kGroupLabel].is_empty()) return elastic_volcano_job_of(pod);
  if (!labels[kKueueGroupLabel].is_empty()) return std::nullopt;
  const auto named = [](std::string_view qualified, std::string_view name) {
    return PodGroupName{.qualified = qualified, .name = std::string(name)};
  };
  const std::string_view kubernetes = pod["spec"]["schedulingGroup"]["podGroupName"].text();
  if (!kubernetes.empty()) return named(kKubernetesGroups, kubernetes);
  for (const std::string_view label : {kCoschedulingLabel, kOlderCoschedulingLabel}) {
    if (!labels[label].is_empty()) return named(kCoschedulingGroups, labels[label].text());
  }
  for (const std::string_view annotation : {kVolcanoGroupAnnotation, kOlderVolcanoAnnotation}) {
    if (annotations[annotation].is_empty()) continue;
    PodGroupName made = named(kVolcanoGroups, annotations[annotation].text());
    made.task = annotations[kVolcanoTaskAnnotation].text(labels[kVolcanoTaskAnnotation].text());
    return made;
  }
  if (auto job = partial_job_of(pod)) return job;
  return gang_owner_named_by(pod);
}

PodGroupReading read_pod_group(std::string_view qualified, const Value& object) {
  const GangOwnerKind* const owner = find_gang_owner_kind(qualified);
  return owner != nullptr ? owner->read(object) : PodGroupReader(object).read(qualified);
}

}  // namespace berth
