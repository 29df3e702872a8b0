// Kueue's and Volcano's queues as queues of a LiveEngine. What single objects say is read by the readers of `berth policy`; the
// names that only they know (LocalQueues, WorkloadPriorityClasses) are looked up before the engine hears of a pod. No threads,
// clocks or sockets.
//
// In the engine a ClusterQueue is "clusterqueue/NAME", a Cohort "cohort/NAME", a queue of Volcano "volcano/NAME".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "manifest/value.h"
#include "policy/parts.h"
#include "policy/policy.h"
#include "service/live_engine.h"

namespace berth {

// What the scheduler watches, as qualified names.
inline constexpr std::string_view kOtherQueueKinds[] = {
    "topologies.kueue.x-k8s.io",   "resourceflavors.kueue.x-k8s.io", "workloadpriorityclasses.kueue.x-k8s.io",
    "cohorts.kueue.x-k8s.io",      "clusterqueues.kueue.x-k8s.io",   "localqueues.kueue.x-k8s.io",
    "queues.scheduling.volcano.sh"};

// How a queue stands, as its own users expect to read it.
struct OtherStatus {
  std::string qualified, name_space, name, uid;
  Value status;
};
// A condition as statuses have them: since when it is so stays what `object` says.
Value status_condition(const char* type, bool holds, const std::string& reason, const std::string& message,
                       const Value& object, Time now);
// Of the same object, and the same but for the time of its condition.
bool same_standing(const OtherStatus& a, const OtherStatus& b);

class OtherQueues {
 public:
  // PRE: the engine outlives it.
  explicit OtherQueues(LiveEngine& engine) : engine_(engine) {}

  void set(const std::string& qualified, const Value& object);
  void remove(const std::string& qualified, const Value& object);
  void set_pod(const PodFacts& pod);
  void remove_pod(const std::string& uid);
  // What has changed goes to the engine; before each decision.
  void settle();

  // Of all ClusterQueues, LocalQueues and queues of Volcano. PRE: the engine has decided since the last change.
  std::vector<OtherStatus> statuses(Time now) const;

 private:
  struct Held {
    Value object;
    PolicyParts parts;
  };
  // Where the work of a LocalQueue waits, and why it cannot.
  struct Door {
    std::string queue;
    Obstacle shut;
    std::string reason, message;  // of its condition Active, where that is False
  };
  using Key = std::pair<std::string, std::string>;  // qualified name, "NAMESPACE/NAME" or "NAME"

  void take_over(const Policy& policy, std::map<std::string, QueueFacts>& queues) const;
  std::string lacks_flavors(const PolicyParts& parts) const;
  std::string lacks_topologies(const PolicyParts& parts) const;
  const FlavorPart* flavor_part(const std::string& flavor) const;
  const TopologyPart* topology_of(const FlavorPart& flavor) const;
  void keep_to_topologies(PodFacts& pod) const;
  Door door_of(const QueueDoor& door, const Value& object) const;
  PodFacts resolved(const PodFacts& pod) const;
  OtherStatus cluster_queue_status(const Held& held, const std::map<std::string, Holding>& by_queue, Time now) const;
  OtherStatus local_queue_status(const Held& held, const std::map<std::string, Holding>& by_door, Time now) const;
  OtherStatus volcano_status(const Held& held, const std::map<std::string, Holding>& by_queue) const;
  Value usage(const std::string& cluster_queue, const AmountsByDim& amounts, bool with_borrowed) const;

  LiveEngine& engine_;
  std::map<Key, Held> objects_;
  std::map<std::string, QueueFacts> told_queues_;  // to the engine
  std::map<std::string, Door> doors_;              // by "NAMESPACE/NAME"
  std::map<std::string, std::int32_t> priorities_;
  std::map<std::string, PodFacts> pods_;  // that name a LocalQueue or a WorkloadPriorityClass, as they say it
  bool changed_ = false;
};

}  // namespace berth
