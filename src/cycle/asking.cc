#include "cycle/asking.h"

#include <algorithm>
#include <utility>

#include "cycle/deliverable.h"
#include "cycle/for_each_place.h"
#include "placement/place_missing.h"

namespace berth {

AmountList held_when_repaired(const State& state, WorkloadId gang, const std::vector<PodPlacement>& places) {
  if (state.workload(gang).best_effort) return {};
  AmountsByDim sums(state.quotas().tree().dims());
  const auto add = [&](const PodRequest& request, NodeId node) {
    add_amounts(request, state.node(node).flavor, 1, sums);
  };
  for_each_pod(state, gang, [&](const Pod& pod) { add(state.request(pod.request), pod.node); });
  for_each_place(state, Repair{.workload = gang, .pods = places},
                 [&](const PodRequest& request, const PodPlacement& place) { add(request, place.node); });
  return amounts_of(sums);
}

Asking::Asking(const State& state, const Claimant& claimant, std::size_t way)
    : state_(state),
      claimant_(claimant),
      way_(way),
      shape_(state.shape(state.workload(claimant.workload).shape)),
      sets_(replaces() ? missing_sets(state, claimant.workload) : shape_.ways[way]) {
  if (is_repair()) return;
  mixes_freely_ = claimant.mixes_freely && leaves_flavors_open(state, sets_);
  if (mixes_freely_) {
    for (NumberedPodSet& set : sets_) set.in_first_flavor = set.request;
    return;
  }
  mixture_ = mixture_of(state, claimant.queue, shape_, way);
  // Who looks at one set alone sees the flavors that its pods are to be of.
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const auto is_first = [&](const PodsOfFlavor& each) {
      return state.request(sets_[i].in_first_flavor).flavors == FlavorSet::of(each.flavor);
    };
    if (std::ranges::all_of(mixture_[i], is_first)) continue;
    mixes_ = true;
    sets_[i].in_first_flavor = sets_[i].request;
  }
}

AmountList Asking::asked() const {
  return mixes_freely_ ? asked_by(state_, claimant_.queue, shape_, way_) : claimant_.asked;
}

std::optional<QuotaRefusal> Asking::refusal(const QuotaLedger& quotas, const AmountList& asked) const {
  if (is_repair()) return std::nullopt;
  return quota_refusal(quotas, claimant_.queue, shape_.user, claimant_.terms, asked);
}

// A stream of its own, so that the proof and the decision draw the same.
std::variant<Start, Unfit> Asking::place(Trial& trial, ScoreIndex& index) const {
  Rng rng(state_.seed(), claimant_.workload.value());
  if (!is_repair()) {
    const Mixture now = mixes_freely_ ? mixture_of(state_, claimant_.queue, shape_, way_) : Mixture();
    return place_in_way(state_, trial, index, claimant_.workload, way_, rng, mixes_freely_ ? &now : &mixture_);
  }
  if (claimant_.moves_whole) return place_in_way(state_, trial, index, claimant_.workload, way_, rng);
  auto places = place_missing(state_, trial, index, claimant_.workload, rng);
  if (const Unfit* const unfit = std::get_if<Unfit>(&places)) return *unfit;
  return Start{.workload = claimant_.workload, .way = 0, .pods = std::move(std::get<0>(places))};
}

std::variant<Start, Unfit> Asking::place_in(Trial& trial, ScoreIndex& index, const Mixture* mixture) const {
  Rng rng(state_.seed(), claimant_.workload.value());
  return place_in_way(state_, trial, index, claimant_.workload, way_, rng, mixture);
}

std::size_t Asking::first_alike(std::size_t set) const {
  // Of each others are left, who may be somewhere else.
  if (replaces()) return set;
  return static_cast<std::size_t>(std::ranges::find(sets_, sets_[set]) - sets_.begin());
}

std::variant<Start, Unfit> Asking::place_set(std::size_t which, Trial& trial, ScoreIndex& index) const {
  Rng rng(state_.seed(), claimant_.workload.value());
  NumberedPodSet set = sets_[which];
  set.request = set.in_first_flavor;
  auto places = replaces() ? place_missing_of_set(state_, trial, index, claimant_.workload, which, rng)
                           : place_sets(state_, trial, index, {set}, rng);
  if (const Unfit* const unfit = std::get_if<Unfit>(&places)) return *unfit;
  return Start{.workload = claimant_.workload, .way = 0, .pods = std::move(std::get<0>(places))};
}

// A right is to the GPUs that were asked for, mixed as they were where flavors were left open. What runs without GPUs may come
// to stand beside other ones than was assumed, if it may be counted there. A gang that is repaired stays where it is covered.
bool Asking::is_as_asked(Trial& trial, const Start& start, const AmountList& asked) const {
  const QuotaLedger& quotas = trial.quotas();
  const auto may_hold = [&](const AmountList& held) {
    return !quota_refusal(quotas, claimant_.queue, shape_.user, claimant_.terms, held);
  };
  const auto would_be_covered_at = [&](const AmountList& held) {
    return quotas.would_be_covered_at(claimant_.queue, held, quotas.end_of(claimant_.terms));
  };
  if (!is_repair()) {
    const AmountList held = held_by(start);
    return held == asked || (may_hold(held) && would_be_covered_at(held) == would_be_covered_at(asked));
  }
  // It holds there what it held; where a budget was gone, that counts for nothing.
  if (claimant_.moves_whole) {
    return state_.workload(claimant_.workload).best_effort ||
           amounts_held(state_, shape_, start) == quotas.held_by(unit());
  }
  const AmountList held = held_when_repaired(state_, claimant_.workload, start.pods);
  if (held == quotas.held_by(unit())) return true;
  const QueueId before = quotas.unit(unit()).covered_at;
  const Trial::Mark mark = trial.mark();
  trial.remove(unit());
  const bool fits = may_hold(held) && (before.is_none() || would_be_covered_at(held) == before);
  trial.rollback_to(mark);
  return fits;
}

bool Asking::leaves_floors_whole(Trial& trial, Start& start, Time gone) const {
  if (!is_repair()) return leaves_floors_whole_at_best(state_, trial, start, gone);
  if (claimant_.moves_whole) return leaves_floors_whole_elsewhere(state_, trial, start);
  return berth::leaves_floors_whole(state_, trial, Repair{.workload = start.workload, .pods = start.pods});
}

QueueId Asking::covered_at(const QuotaLedger& quotas, const AmountList& asked, Time end) const {
  if (is_repair()) return quotas.unit(unit()).covered_at;
  return quotas.would_be_covered_at(claimant_.queue, asked, end);
}

}  // namespace berth
