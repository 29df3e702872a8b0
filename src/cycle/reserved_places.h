// Which devices a reservation has, and who has to leave them (docs/semantics.md, "Reservations").
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fairness/rights.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Who is on a device and is not told to stop, with the end of his that is enforced.
struct Stay {
  WorkloadId workload;
  Time end;

  friend bool operator==(const Stay&, const Stay&) = default;
};
using Stays = std::map<Device, std::vector<Stay>>;

// The ends that are enforced, and who is where, at the beginning of a cycle and after what the plan has decided so far.
class WhoStays {
 public:
  // `besides`: who goes, too.
  WhoStays(const State& state, const Plan& plan, const std::vector<Eviction>& besides = {});

  const Stays& by_device() const { return by_device_; }
  // Those with a pod on the node, with GPUs or without.
  const std::vector<Stay>& on(NodeId node) const;
  // Those who have a domain for themselves in which the node is.
  const std::vector<Stay>& alone_around(NodeId node) const;
  // Those who would keep away a pod from the node, as strangers that are too near.
  std::vector<Stay> strangers_around(const PodRequest& pod, NodeId node) const;

 private:
  const State& state_;
  Stays by_device_;
  std::map<NodeId, std::vector<Stay>> by_node_;
  std::map<NodeId, std::vector<Stay>> alone_around_;
  std::map<NodeId, std::vector<std::pair<Stay, RequestId>>>
      with_gpus_;  // where strangers are kept further away than from a device
  Time
      latest_leave_;  // by when all have left who were told to: who waits for them begins then, or when his slices are cut
};

// Whose room a reservation may take, and how weakly he holds it; none: nobody's who is guaranteed, or runs where the queue has
// no right.
class RightsOfReservation {
 public:
  RightsOfReservation(const State& state, const Trial& trial, const Reservation& reservation, Time then, Time now);

  struct Takeable {
    WorkloadId workload;
    Claim claim;
    std::int64_t lost_gpu_s = 0;  // with all that restarts for it
    QueueId own_side;  // in whose floor the reservation has to be; none: it counts for nothing, and goes in any case
  };
  std::optional<Takeable> of(WorkloadId workload) const;
  // How many whole GPUs more are inside the floor of the queue at that moment.
  std::int64_t gpus_inside(QueueId side) const;

 private:
  std::int64_t held_then(QueueId side, QueueId queue) const;

  const State& state_;
  const Trial& trial_;
  const Reservation& reservation_;
  Time then_;
  Time now_;
};

// What is chosen: first what nobody is in the way of at that moment, then what others were promised by backfill, then the room of
// those who may be taken, so that the weakest lose least. `taken`: what others have who are reserved for at the same time.
// PRE: it is no maintenance.
std::vector<GpusOfNode> choose_places(const State& state, const Trial& trial, const WhoStays& who, ReservationId id,
                                      const std::set<Device>& taken, Time now);

// Whether the workload is the reservation's own.
bool is_own(const State& state, const Reservation& reservation, WorkloadId workload);

}  // namespace berth
