// RayCluster: its head and so many workers of each group start together as KubeRay makes at first; with autoscaling, as it keeps at
// least. A RayJob makes a RayCluster, and a pod that submits to it, which is in no gang.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "manifest/gang_reading.h"
#include "manifest/topology_request.h"

namespace berth {
namespace {

constexpr const char* kHeadGroup = "headgroup";  // as KubeRay calls it on its pods
constexpr const char* kVolcanoQueueLabel = "volcano.sh/queue-name";
constexpr std::string_view kVolcanoHighestTierLabel = "volcano.sh/network-topology-highest-tier-allowed";
constexpr const char* kVolcanoHighestTierDefault = "1";  // of Volcano's PodGroups
constexpr const char* kRayPriorityLabel = "ray.io/priority-class-name";
constexpr std::int64_t kReplicasMax = std::numeric_limits<std::int32_t>::max();

struct Workers {
  std::int64_t first = 0;  // that start with the head
  std::int64_t all = 0;    // that there are now
};

Workers workers_of(GangReading& reading, const Value& group, const std::string& field, bool autoscaled) {
  const std::int64_t least = reading.count_at(group["minReplicas"], field + ".minReplicas", 0, 0);
  std::int64_t most = reading.count_at(group["maxReplicas"], field + ".maxReplicas", kReplicasMax, 0, kReplicasMax);
  if (most < least) {
    reading.complain(field + ".maxReplicas", group["maxReplicas"], "is less than minReplicas; write as many or more");
    most = least;
  }
  const std::int64_t asked = reading.count_at(group["replicas"], field + ".replicas", least, 0);
  const std::int64_t hosts = reading.count_at(group["numOfHosts"], field + ".numOfHosts", 1, 1);
  if (group["suspend"].truth()) return {};
  const std::int64_t now = std::clamp(asked, least, most);
  return {.first = std::min((autoscaled ? least : now) * hosts, kPodsPerWorkloadMax + 1),
          .all = std::min(now * hosts, kPodsPerWorkloadMax + 1)};
}

void read_cluster(GangReading& reading, const Value& spec, const std::string& path) {
  const bool autoscaled = spec["enableInTreeAutoscaling"].truth();
  TaskCounts first = {{kHeadGroup, 1}}, all = first;
  const Value::List& groups = spec["workerGroupSpecs"].items();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string field = path + ".workerGroupSpecs[" + std::to_string(i) + "]";
    const std::string name = in_small_letters(groups[i]["groupName"].text());
    const Workers workers = workers_of(reading, groups[i], field, autoscaled);
    if (name.empty()) {
      reading.complain(field + ".groupName", groups[i]["groupName"], "is missing; give the group a name");
    } else if (!all.emplace(name, workers.all).second) {
      reading.complain(field + ".groupName", groups[i]["groupName"],
                       name == kHeadGroup ? "is the head's own; write another name"
                                          : "is the name of another group; write another name");
    } else {
      first.emplace(name, workers.first);
    }
  }
  reading.start_with(first, all, path + ".workerGroupSpecs");
  // With autoscaling more may come at any time, which are after these.
  if (autoscaled) reading.made.spec.of_tasks = first;
}

// KubeRay makes Volcano's networkTopology of them.
void read_network_topology(GangReading& reading, const Value& labels) {
  const Value& mode = labels[kVolcanoTopologyModeAnnotation];
  const Value& tier = labels[kVolcanoHighestTierLabel];
  if (mode.is_null() && tier.is_null()) return;
  ReadTopology read = read_topology(
      Value::map_of({{std::string(kVolcanoTopologyModeAnnotation), mode.text()},
                     {std::string(kVolcanoHighestTierAnnotation), tier.text(kVolcanoHighestTierDefault)}}));
  for (const TopologyProblem& each : read.problems) {
    const bool of_mode = each.annotation == kVolcanoTopologyModeAnnotation;
    const std::string_view label = of_mode ? kVolcanoTopologyModeAnnotation : kVolcanoHighestTierLabel;
    reading.complain("metadata.labels[" + std::string(label) + "]", of_mode ? mode : tier, each.why);
  }
  if (read.problems.empty()) reading.made.spec.topology = std::move(read.topology);
}

void read_labels(GangReading& reading, const Value& labels) {
  read_network_topology(reading, labels);
  if (!labels[kVolcanoQueueLabel].is_empty()) reading.made.spec.queue = labels[kVolcanoQueueLabel].text();
  reading.leave_out("metadata.labels[" + std::string(kRayPriorityLabel) + "]", labels[kRayPriorityLabel],
                    "write it as priorityClassName into the pod templates: theirs alone counts");
}

}  // namespace

PodGroupReading read_ray_cluster(const Value& object) {
  GangReading reading(object);
  read_labels(reading, object["metadata"]["labels"]);
  read_cluster(reading, object["spec"], "spec");
  return std::move(reading.made);
}

// What is wrong with the cluster that it would make.
PodGroupReading read_ray_job(const Value& object) {
  GangReading reading(object);
  read_labels(reading, object["metadata"]["labels"]);
  const Value& cluster = object["spec"]["rayClusterSpec"];
  if (!cluster.is_null()) read_cluster(reading, cluster, "spec.rayClusterSpec");
  return std::move(reading.made);
}

}  // namespace berth
