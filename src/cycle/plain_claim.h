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
        shape_(engine.state.shape(engine.state.workload(claimant.workload).shape)),
        mixture_(mixture_of(engine.state, claimant.queue, shape_, 0)),
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
    if (!claimant_.mixes_freely || !leaves_flavors_open(state, shape_.ways[0])) {
      return fits(trial, set, all, gone, &mixture_, &claimant_.asked);
    }
    const Mixture mixture = mixture_of(state, claimant_.queue, shape_, 0);
    const AmountList asked = asked_by(state, claimant_.queue, shape_, 0);
    if (fits(trial, set, all, gone, &mixture, &asked) || fits(trial, set, all, gone, nullptr, nullptr)) return true;
    std::vector<Mixture> every = {Mixture()};
    for (const NumberedPodSet& each : shape_.ways[0]) every = with_one_more(every, mixtures_of(each));
    return std::ranges::any_of(every, [&](const Mixture& each) { return fits(trial, set, all, gone, &each, nullptr); });
  }

 private:
  // All there are; of a set that leaves no flavor open, that there is none.
  std::vector<std::vector<PodsOfFlavor>> mixtures_of(const NumberedPodSet& set) const {
    if (set.in_first_flavor == set.request) return {{}};
    std::vector<std::vector<PodsOfFlavor>> found;
    add_mixtures(set, 0, set.count, {}, found);
    return found;
  }
  void add_mixtures(const NumberedPodSet& set, std::size_t flavor, std::int64_t left,
                    const std::vector<PodsOfFlavor>& before, std::vector<std::vector<PodsOfFlavor>>& found) const {
    if (left == 0) return found.push_back(before);
    if (flavor == engine_.state.flavors().size()) return;
    add_mixtures(set, flavor + 1, left, before, found);
    if (!engine_.state.request(set.request).flavors.contains(FlavorId(flavor))) return;
    for (std::int64_t pods = 1; pods <= left; ++pods) {
      auto with = before;
      with.push_back({FlavorId(flavor), pods});
      add_mixtures(set, flavor + 1, left - pods, with, found);
    }
  }
  static std::vector<Mixture> with_one_more(const std::vector<Mixture>& all,
                                            const std::vector<std::vector<PodsOfFlavor>>& more) {
    std::vector<Mixture> found;
    for (const Mixture& each : all) {
      for (const std::vector<PodsOfFlavor>& set : more) {
        found.push_back(each);
        found.back().push_back(set);
      }
    }
    return found;
  }
  // In this mixture, or in any. PRE: these are gone in the trial.
  bool fits(Trial& trial, const Set& set, const std::vector<const Victim*>& all, Time gone, const Mixture* mixture,
            const AmountList* asked) {
    const State& state = engine_.state;
    const Trial::Mark mark = trial.mark();
    Rng rng(state.seed(), claimant_.workload.value());
    auto outcome = place_in_way(state, trial, engine_.index, claimant_.workload, 0, rng, mixture);
    const Start* const start = std::get_if<Start>(&outcome);
    bool fits = start != nullptr;
    if (fits) {
      const AmountList held = amounts_held(state, shape_, *start);
      fits = (asked == nullptr || held == *asked) &&  // all of it are GPUs
             may_take(set, all, held) && leaves_floors_whole(state, trial, *start, gone);
    }
    trial.rollback_to(mark);
    return fits;
  }
  bool may_take(const Set& set, const std::vector<const Victim*>& all, const AmountList& held) const {
    const State& state = engine_.state;
    const Claimant holding{claimant_.workload, claimant_.queue, claimant_.terms, held, claimant_.now};
    if (!shares_allow(state, holding, all)) return false;
    if (quota_refusal(state.quotas(), claimant_.queue, shape_.user, claimant_.terms, held)) return false;
    const QuotaTree& tree = state.quotas().tree();
    const QueueId then =
        state.quotas().would_be_covered_at(claimant_.queue, held, state.quotas().end_of(claimant_.terms));
    return std::ranges::all_of(set, [&](std::size_t each) {
      const Victim& victim = victims_[each];
      return victim.claim.coverage <= coverage_of(tree, then) &&
             (victim.rule != EvictionRule::kReclaim || is_covered(tree, then, victim.claimants_side.queue));
    });
  }
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
  const Shape shape_;
  Mixture mixture_;
  std::vector<Victim> victims_;
};

}  // namespace berth
