// What PodGroups say, in three dialects: the coscheduling plugin's, Volcano's and Kubernetes' own; and which of them a pod names.
// What other kinds say of the same (gang_owner.h) has the same form.
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

// A Job of which less than all of its pods may begin: how many is said on each of them, and it is asked for nothing.
inline constexpr std::string_view kPartialJobs = "jobs.batch";

// An object of the pod's own namespace.
struct PodGroupName {
  std::string_view qualified;  // one of the three, or of gang_owner_kinds(), or kPartialJobs, or kVolcanoJobs
  std::string name;
  std::string task = {};       // Volcano's word for whose part the pod is
  std::string replica = {};    // of an object with several groups: which
  std::int64_t size = 0;       // so many pods has the group, as the pod says itself; 0: as the object does
  std::int64_t task_size = 0;  // among them so many of its task, likewise

  // What users call the group: "train", "serve-0".
  std::string group() const { return replica.empty() ? name : name + "-" + replica; }

  friend bool operator==(const PodGroupName&, const PodGroupName&) = default;
};
// None: it names none, or a group in Berth's own words or Kueue's, which go before, unless these are those of an elastic Job of
// Volcano's. A PodGroup goes before what made the pod.
std::optional<PodGroupName> pod_group_named_by(const Value& pod);

struct PodGroupSpec {
  std::int64_t at_least = 1;                     // so many of its pods start together; 1: each by itself
  std::map<std::string, std::int64_t> of_tasks;  // among them so many of each of these
  // So many pods of each of these tasks are in no gang: each starts by itself, whenever it is made.
  std::map<std::string, std::int64_t> apart;
  std::string queue;           // of Volcano, for pods that name none
  std::string local_queue;     // of Kueue, likewise; goes before
  std::string priority_class;  // of Kueue, for pods that name none
  Topology topology;           // for pods that ask for none

  friend bool operator==(const PodGroupSpec&, const PodGroupSpec&) = default;
};

struct PodGroupReading {
  PodGroupSpec spec;  // without what is wrong
  std::vector<SpecMistake> mistakes;
  std::vector<SpecMistake> not_followed;  // kept as it is, and nothing follows from it
  std::vector<SpecMistake> advice;        // followed, and dear
};
// PRE: `qualified` is one of the three, or of gang_owner_kinds().
PodGroupReading read_pod_group(std::string_view qualified, const Value& object);

}  // namespace berth
