// Every set of victims, said plainly: what claim_room() is compared with. For tests only: nothing that is shipped includes
// this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "cycle/deliverable.h"
#include "cycle/engine.h"
#include "fairness/gates.h"
#include "fairness/rights.h"
#include "placement/place.h"
#include "state/trial.h"

namespace berth {

class PlainClaim {
 public:
  using Cost = std::tuple<std::size_t, std::int64_t, std::size_t>;  // highest claim, lost work, number
  using Set = std::vector<std::size_t>;                             // of victims, by claim

  // `only`: of the victims those by this rule.
  PlainClaim(Engine& engine, const Claimant& claimant, std::optional<EvictionRule> only = std::nullopt,
             OwnerOf owner = OwnerOf::kFloorThen)
      : engine_(engine),
        claimant_(claimant),
        mixture_(mixture_of(engine.state, claimant.queue,
                            engine.state.shape(engine.state.workload(claimant.workload).shape), 0)),
        victims_(victims_of(engine.state, claimant, owner).takeable) {
    std::erase_if(victims_, [&](const Victim& each) { return only && each.rule != *only; });
  }

  const std::vector<Victim>& victims() const { return victims_; }
  bool has(const Eviction& eviction) const {
    return std::ranges::any_of(
        victims_, [&](const Victim& each) { return each.workload == eviction.workload && each.rule == eviction.rule; });
  }

  std::optional<Cost> cheapest() {
    std::optional<Cost> best;
    for (std::uint32_t bits = 1; bits < std::uint32_t{1} << victims_.size(); ++bits) {
      Set set;
      for (std::size_t i = 0; i < victims_.size(); ++i) {
        if (((bits >> i) & 1) != 0) set.push_back(i);
      }
      if (says_it_twice(set)) continue;
      const Cost cost = cost_of(set);
      if ((!best || cost < *best) && fits_without(set)) best = cost;
    }
    return best;
  }

  // Lower claims come first in the list, so the last of the set is the highest, or as high as any.
  Cost cost_of(const Set& set) const {
    const auto same_claim = [&](const Victim& each) { return each.claim == victims_[set.back()].claim; };
    const auto highest = std::find_if(victims_.begin(), victims_.end(), same_claim) - victims_.begin();
    // Pods that run beside each other restart once, whoever of them goes.
    std::map<WorkloadId, std::int64_t> lost_of;
    std::size_t stopped = 0;
    for (const std::size_t each : set) {
      const WorkloadId id = victims_[each].workload;
      std::int64_t& most = lost_of[engine_.state.minimum_of(id)];
      most = std::max(most, victims_[each].lost_gpu_s);
      stopped += all_with(id).size();
    }
    std::int64_t lost = 0;
    for (const auto& [minimum, most] : lost_of) lost += most;
    return {static_cast<std::size_t>(highest), lost, stopped};
  }

  bool fits_without(const Set& set) {
    State& state = engine_.state;
    Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
    Time gone = claimant_.now;
    std::set<WorkloadId> taken;
    std::vector<const Victim*> all;
    for (const std::size_t each : set) {
      if (!still_takeable(state, victims_[each])) return false;
      gone = std::max(gone, victims_[each].stop_by);
      all.push_back(&victims_[each]);
      for (const WorkloadId id : all_with(victims_[each].workload)) {
        if (!taken.insert(id).second) continue;
        for_each_pod(state, id, [&](const Pod& pod) {
          trial.depart(move_of(state.request(pod.request), pod.place(), Move::Direction::kGive),
                       Emptied::kCountsAsScrubbed);
        });
        trial.remove(state.workload(id).unit);
      }
    }
    if (!shares_allow(state, claimant_, all)) return false;
    const UserId user = state.shape(state.workload(claimant_.workload).shape).user;
    if (quota_refusal(state.quotas(), claimant_.queue, user, claimant_.terms, claimant_.asked)) return false;
    const QuotaTree& tree = state.quotas().tree();
    const QueueId then =
        state.quotas().would_be_covered_at(claimant_.queue, claimant_.asked, state.quotas().end_of(claimant_.terms));
    for (const std::size_t each : set) {
      const Victim& victim = victims_[each];
      if (victim.claim.coverage > coverage_of(tree, then)) return false;
      if (victim.rule == EvictionRule::kReclaim && !is_covered(tree, then, victim.claimants_side.queue)) return false;
    }
    Rng rng(state.seed(), claimant_.workload.value());
    const auto outcome = place_in_way(state, trial, engine_.index, claimant_.workload, 0, rng, &mixture_);
    const Start* const start = std::get_if<Start>(&outcome);
    const Shape& shape = state.shape(state.workload(claimant_.workload).shape);
    return start != nullptr && amounts_held(state, shape, *start) == claimant_.asked &&  // all of it are GPUs
           leaves_floors_whole(state, trial, *start, gone);
  }

 private:
  // With a minimum go its steps, and before it: who comes into a floor that comes free depends on the order.
  std::vector<WorkloadId> all_with(WorkloadId id) const {
    std::vector<WorkloadId> all;
    for (const WorkloadId step : engine_.state.steps_of(id)) {
      if (engine_.state.workload(step).phase == Phase::kRunning) all.push_back(step);
    }
    all.push_back(id);
    return all;
  }
  bool says_it_twice(const Set& set) const {
    std::set<WorkloadId> ids;
    for (const std::size_t each : set) ids.insert(victims_[each].workload);
    return std::ranges::any_of(ids, [&](WorkloadId id) {
      const WorkloadId minimum = engine_.state.minimum_of(id);
      return minimum != id && ids.contains(minimum);
    });
  }

  Engine& engine_;
  const Claimant& claimant_;
  Mixture mixture_;
  std::vector<Victim> victims_;
};

}  // namespace berth
