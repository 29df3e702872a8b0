// What PodGroups say, in three dialects: the coscheduling plugin's, Volcano's and Kubernetes' own; and which of them a pod names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/queue_spec.h"
#include "manifest/value.h"
#include "model/topology.h"

namespace berth {

inline constexpr std::string_view kCoschedulingGroups = "podgroups.scheduling.x-k8s.io";
inline constexpr std::string_view kVolcanoGroups = "podgroups.scheduling.volcano.sh";
inline constexpr std::string_view kKubernetesGroups = "podgroups.scheduling.k8s.io";

// A PodGroup of the pod's own namespace.
struct PodGroupName {
  std::string_view qualified;  // one of the three
  std::string name;
  std::string task = {};  // Volcano's word for whose part the pod is

  friend bool operator==(const PodGroupName&, const PodGroupName&) = default;
};
// None: it names none, or a group in Berth's own words or Kueue's, which go before.
std::optional<PodGroupName> pod_group_named_by(const Value& pod);

struct PodGroupSpec {
  std::int64_t at_least = 1;                     // so many of its pods start together; 1: each by itself
  std::map<std::string, std::int64_t> of_tasks;  // among them so many of each of these
  std::string queue;                             // of Volcano, for pods that name none
  Topology topology;                             // for pods that ask for none

  friend bool operator==(const PodGroupSpec&, const PodGroupSpec&) = default;
};

struct PodGroupReading {
  PodGroupSpec spec;  // without what is wrong
  std::vector<SpecMistake> mistakes;
  std::vector<SpecMistake> not_followed;  // kept as it is, and nothing follows from it
};
PodGroupReading read_pod_group(const Value& object);

}  // namespace berth
