#include "cycle/parting.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "cycle/taking_out.h"
#include "fairness/rights.h"

namespace berth {
namespace {

Claim claim_of(const State& state, const QuotaLedger& quotas, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const QuotaUnit& unit = quotas.unit(workload.unit);
  QueueId top = workload.queue;
  while (!state.queues()[top.index()].parent.is_none()) top = state.queues()[top.index()].parent;
  return {coverage_of(quotas, workload), unit.priority, share_of(quotas, state.flavors(), top)};
}

class Parting {
 public:
  Parting(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now)
      : state_(state), trial_(trial), now_(now) {
    for (const Eviction& eviction : leaving) note_gone(eviction.workload);
  }

  std::vector<Eviction> make() {
    for (const auto& [id, others] : state_.partings().all()) part(joined_to(id));
    return std::move(stopped_);
  }

 private:
  struct Neighbour {
    WorkloadId workload;
    Claim claim;
  };

  // Whether it has to part now from somebody of whom this holds.
  template <class IsOne>
  bool is_due(WorkloadId id, IsOne is_one) const {
    return std::ranges::any_of(state_.partings().of(id),
                               [&](const auto& each) { return each.second <= now_ && is_one(each.first); });
  }

  // Those who have to part now, as far as one is the other's stranger and so on, each once; in order.
  std::vector<WorkloadId> joined_to(WorkloadId first) {
    std::vector<WorkloadId> joined;
    const auto join = [&](WorkloadId id) {
      if (!gone_.contains(id) && seen_.insert(id).second) joined.push_back(id);
    };
    if (is_due(first, [&](WorkloadId other) { return !gone_.contains(other); })) join(first);
    for (std::size_t at = 0; at < joined.size(); ++at) {
      for (const auto& [other, by] : state_.partings().of(joined[at])) {
        if (by <= now_) join(other);
      }
    }
    std::ranges::sort(joined);
    return joined;
  }

  // The strongest claim first; of equal ones who came first. Who has to part from one who stays goes.
  void part(const std::vector<WorkloadId>& joined) {
    std::vector<Neighbour> neighbours;
    for (const WorkloadId id : joined) neighbours.push_back({id, claim_of(state_, trial_.quotas(), id)});
    std::ranges::stable_sort(neighbours, [](const Neighbour& a, const Neighbour& b) { return a.claim > b.claim; });
    std::set<WorkloadId> staying;
    for (const Neighbour& each : neighbours) {
      if (gone_.contains(each.workload)) continue;
      if (is_due(each.workload, [&](WorkloadId other) { return staying.contains(other); })) {
        stop(each.workload);
      } else {
        staying.insert(each.workload);
      }
    }
  }

  // Its steps go with it.
  void note_gone(WorkloadId id) {
    gone_.insert(id);
    const std::vector<WorkloadId>& steps = state_.steps_of(id);
    gone_.insert(steps.begin(), steps.end());
  }

  void stop(WorkloadId id) {
    note_gone(id);
    const Time stop_by = end_of_grace(state_, id, now_);
    stopped_.push_back({id, WorkloadId(), EvictionRule::kTrust, stop_by, lost_if_taken_gpu_s(state_, id, now_)});
    take_out(state_, trial_, id, Emptied::kIsToBeScrubbed);
  }

  const State& state_;
  Trial& trial_;
  Time now_;
  std::set<WorkloadId> gone_;
  std::set<WorkloadId> seen_;
  std::vector<Eviction> stopped_;
};

}  // namespace

std::vector<Eviction> stop_strangers(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now) {
  return Parting(state, trial, leaving, now).make();
}

}  // namespace berth
