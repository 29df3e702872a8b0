#include "placement/place.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "placement/in_domains.h"
#include "placement/in_network.h"
#include "placement/near_in_gang.h"
#include "placement/set_orders.h"
#include "placement/slice_choice.h"
#include "state/neighbour_check.h"
#include "state/room.h"

namespace berth {
namespace {

// Some pod sets, one after the other, in one order after the other.
class Placing {
 public:
  Placing(const State& state, Trial& trial, ScoreIndex& index, const std::vector<NumberedPodSet>& sets, Rng& rng,
          const Mixture* mixture, std::vector<std::int64_t> more = {})
      : state_(state), trial_(trial), index_(index), sets_(sets), rng_(rng), mixture_(mixture), more_(std::move(more)) {
    std::int64_t pods = 0;
    for (const NumberedPodSet& set : sets) pods += set.count;
    places_.resize(static_cast<std::size_t>(pods));
  }

  // How many pods' room is missing at the least; none: all are placed.
  std::int64_t run() {
    std::vector<Part> order = parts();
    const Trial::Mark mark = trial_.mark();
    for (std::size_t tries = 1;; ++tries) {
      const auto failed = place_in_order(order);
      if (!failed) {
        lay_slices_together(order, mark);
        return 0;
      }
      const bool is_last = failed->place == 0 || tries == kSetOrdersMax;
      trial_.rollback_to(mark);
      if (is_last && found_near_each_other(order, failed->place)) return 0;
      // With several sets one may have been crowded out by another, so nothing more is known than that something is missing.
      if (is_last) return sets_.size() == 1 ? failed->missing : 1;
      put_first(order, failed->place);
    }
  }

  std::vector<PodPlacement> places() && { return std::move(places_); }

 private:
  // One set, or those of its pods that are to be of a flavor; their places begin there.
  struct Part {
    RequestId id;
    const NumberedPodSet* set = nullptr;
    std::size_t first = 0;
    std::int64_t count = 0;
    std::optional<std::vector<NodeId>> nodes = {};  // on which they may be, of the others too; none: any
    std::optional<std::vector<NodeId>> near = {};   // with others of the gang; none: wherever these are

    void stay_near(std::vector<NodeId> where) {
      if (nodes) {
        std::erase_if(*nodes, [&](NodeId node) { return !std::ranges::binary_search(where, node); });
      } else {
        nodes = where;
      }
      near = std::move(where);
    }
  };

  std::vector<Part> parts() const {
    std::vector<Part> parts;
    std::size_t first = 0;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      const NumberedPodSet& set = sets_[i];
      const bool is_mixed = mixture_ != nullptr && !(*mixture_)[i].empty();
      if (!is_mixed) parts.push_back({set.request, &set, first, set.count});
      for (std::size_t at = first; const PodsOfFlavor& each : is_mixed ? (*mixture_)[i] : std::vector<PodsOfFlavor>()) {
        parts.push_back(of_flavor(set, each, at));
        at += static_cast<std::size_t>(each.pods);
      }
      first += static_cast<std::size_t>(set.count);
    }
    return parts;
  }

  Part of_flavor(const NumberedPodSet& set, const PodsOfFlavor& pods, std::size_t first) const {
    if (state_.request(set.in_first_flavor).flavors == FlavorSet::of(pods.flavor)) {
      return {set.in_first_flavor, &set, first, pods.pods};
    }
    std::vector<NodeId> nodes;
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      if (state_.node(NodeId(node)).flavor == pods.flavor) nodes.emplace_back(node);
    }
    return {set.request, &set, first, pods.pods, std::move(nodes)};
  }

  // The first that has no places: where it stands in the order, and how many of its pods have none.
  struct Failed {
    std::size_t place = 0;
    std::int64_t missing = 0;
  };

  std::optional<Failed> place_in_order(const std::vector<Part>& order) {
    std::vector<Failed> waiting;
    for (std::size_t at = 0; at < order.size(); ++at) {
      const std::int64_t missing = place(order[at]);
      if (missing == 0) continue;
      if (!looks_around(order[at])) return Failed{at, missing};
      waiting.push_back({at, missing});
    }
    // Those whom they are to be near may have been placed after them.
    for (bool found = order.size() > 1; found && !waiting.empty();) {
      found = std::erase_if(waiting, [&](const Failed& each) { return place(order[each.place]) == 0; }) > 0;
    }
    return waiting.empty() ? std::nullopt : std::optional(waiting.front());
  }

  const PodRequest& request(const Part& part) const { return state_.request(part.id); }
  bool looks_around(const Part& part) const {
    return state_.ledger().neighbourhood().refuses(request(part).neighbours);
  }

  // All its pods, and none is missing; or none.
  std::int64_t place(const Part& part) {
    const bool by_network = part.set->parallel.is_declared();
    if (by_network || part.set->asks_for_domains()) {
      NumberedPodSet set = *part.set;
      set.request = part.id;
      const std::int64_t more = more_.empty() ? 0 : more_[static_cast<std::size_t>(part.set - sets_.data())];
      const std::vector<NodeId>* const among = part.near ? &*part.near : nullptr;
      const auto places = by_network ? place_in_network(state_, trial_, index_, set, rng_, among)
                                     : place_in_domains(state_, trial_, index_, set, rng_, more, among);
      if (const std::int64_t* const missing = std::get_if<std::int64_t>(&places)) return *missing;
      std::ranges::copy(std::get<0>(places), places_.begin() + static_cast<std::ptrdiff_t>(part.first));
      return 0;
    }
    const Trial::Mark mark = trial_.mark();
    const std::int64_t missing = place_from(part, 0);
    if (missing == 0) return 0;
    trial_.rollback_to(mark);
    return looks_around(part) && found_elsewhere(part) ? 0 : missing;
  }

  // One after the other, until one finds no place: as many as there is room for, whatever their places.
  std::int64_t place_from(const Part& part, std::int64_t placed) {
    for (; placed < part.count; ++placed) {
      const std::optional<PodPlacement> place =
          part.nodes ? index_.best_among(state_, part.id, *part.nodes, rng_) : index_.best(state_, part.id, rng_);
      if (!place) return part.count - placed;
      put(part, placed, *place);
    }
    return 0;
  }

  void put(const Part& part, std::int64_t pod, const PodPlacement& place) {
    trial_.apply(move_of(request(part), place));
    places_[part.first + static_cast<std::size_t>(pod)] = place;
  }

  // Where the first of those goes who are to be near each other all have to go: it need not be where it fits best.
  bool found_elsewhere(const Part& part) {
    const auto groups = NeighbourCheck(state_.ledger(), request(part)).places_to_found(state_.nodes());
    return std::ranges::any_of(groups, [&](std::vector<NodeId> nodes) {
      if (part.nodes) std::erase_if(nodes, [&](NodeId node) { return !std::ranges::binary_search(*part.nodes, node); });
      std::int64_t room = 0;
      for (const NodeId node : nodes) room += std::min(part.count, room_for(state_.ledger(), node, request(part)));
      if (room < part.count) return false;
      const auto first = index_.best_among(state_, part.id, nodes, rng_);
      if (!first) return false;
      const Trial::Mark mark = trial_.mark();
      put(part, 0, *first);
      if (place_from(part, 1) == 0) return true;
      trial_.rollback_to(mark);
      return false;
    });
  }

  // Who is to be near others of its gang may find no room beside where these fit best. Then all of them go where each of them has
  // room, the tightest place first, and the rest of the gang where it finds room beside them.
  bool found_near_each_other(const std::vector<Part>& order, std::size_t failed) {
    std::size_t in_vain = 0;
    const Trial::Mark mark = trial_.mark();
    for (const std::vector<NodeId>& nodes : places_near_each_other(order, failed)) {
      Sides sides = near_and_others(order, failed, nodes);
      if (!place_in_order(sides.near)) {
        if (!place_in_order(sides.others)) {
          sides.near.insert(sides.near.end(), sides.others.begin(), sides.others.end());
          lay_slices_together(sides.near, mark);
          return true;
        }
        ++in_vain;
      }
      trial_.rollback_to(mark);
      if (in_vain == kSetOrdersMax) return false;
    }
    return false;
  }

  // Those who have to be near each other, and the others.
  struct Sides {
    std::vector<Part> near;
    std::vector<Part> others;
  };

  // With the one that failed on one of these nodes.
  Sides near_and_others(const std::vector<Part>& order, std::size_t failed, const std::vector<NodeId>& nodes) const {
    std::vector<Part> parts = order;
    bring_near(parts, failed, nodes);
    Sides sides;
    for (Part& part : parts) (part.near ? sides.near : sides.others).push_back(std::move(part));
    return sides;
  }

  // It, those whom it is to be near, those whom these are to be near, and so on.
  void bring_near(std::vector<Part>& parts, std::size_t at, std::vector<NodeId> nodes) const {
    parts[at].stay_near(std::move(nodes));
    for (std::size_t other = 0; other < parts.size(); ++other) {
      if (parts[other].near) continue;
      auto beside = nodes_beside(state_, request(parts[at]), request(parts[other]), *parts[at].near);
      if (beside) bring_near(parts, other, std::move(*beside));
    }
  }

  // Where each of them has room; none if it is to be near nobody of its gang.
  std::vector<std::vector<NodeId>> places_near_each_other(const std::vector<Part>& order, std::size_t failed) const {
    std::vector<std::pair<std::int64_t, std::vector<NodeId>>> places;
    for (std::vector<NodeId>& nodes : places_beside_others(state_, request(order[failed]))) {
      const Sides sides = near_and_others(order, failed, nodes);
      if (sides.near.size() == 1) return {};
      std::int64_t sum = 0;
      const bool has_room = std::ranges::all_of(sides.near, [&](const Part& part) {
        const std::int64_t room = room_near(part);
        sum += room;
        return room >= part.count;
      });
      if (has_room) places.emplace_back(sum, std::move(nodes));
    }
    std::ranges::stable_sort(places, {}, &decltype(places)::value_type::first);
    std::vector<std::vector<NodeId>> nodes;
    for (auto& each : places) nodes.push_back(std::move(each.second));
    return nodes;
  }

  std::int64_t room_near(const Part& part) const {
    std::int64_t room = 0;
    for (const NodeId node : *part.near) room += room_for(state_.ledger(), node, request(part));
    return room;
  }

  // Those that came to one device each took the best place for one.
  void lay_slices_together(const std::vector<Part>& order, Trial::Mark before) {
    std::map<Device, std::vector<PodPlacement*>> by_device;
    for (const Part& part : order) {
      if (!request(part).is_slice()) continue;
      for (PodPlacement& place : places_of(part)) {
        // What is there already is better than what is yet to be cut.
        const int gpu = std::countr_zero(place.gpus.bits());
        const bool is_cut = !trial_.ledger().fixed_slices(place.node).empty() ||
                            trial_.ledger().cut_of(place.node, static_cast<std::size_t>(gpu)) != nullptr;
        if (!is_cut) by_device[{place.node, gpu}].push_back(&place);
      }
    }
    bool changed = false;
    for (const auto& [device, slices] : by_device) changed = lay_together(device, slices) || changed;
    if (!changed) return;
    trial_.rollback_to(before);
    for (const Part& part : order) {
      for (const PodPlacement& place : places_of(part)) trial_.apply(move_of(request(part), place));
    }
  }

  bool lay_together(Device device, const std::vector<PodPlacement*>& slices) {
    if (slices.size() < 2) return false;
    const SliceCosts& costs = slice_costs_of(trial_.ledger().node(device.node).family);
    MigPlaceSet others = trial_.ledger().layouts(device.node)[static_cast<std::size_t>(device.gpu)];
    std::vector<std::size_t> places;
    for (const PodPlacement* const slice : slices) {
      others.for_each([&](std::size_t place) {
        if (costs.geometry().places()[place].start == slice->slice_start) places.push_back(place);
      });
      others = others.without(places.back());
    }
    const std::vector<std::size_t> best = best_together(costs, others, places);
    for (std::size_t i = 0; i < slices.size(); ++i) slices[i]->slice_start = costs.geometry().places()[best[i]].start;
    return best != places;
  }

  std::span<PodPlacement> places_of(const Part& part) {
    return std::span(places_).subspan(part.first, static_cast<std::size_t>(part.count));
  }

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const std::vector<NumberedPodSet>& sets_;
  Rng& rng_;
  const Mixture* mixture_;            // none: any of the flavors that are left open
  std::vector<std::int64_t> more_;    // pods that may come later, by set; empty: none
  std::vector<PodPlacement> places_;  // set by set
};

// All of them, or nothing is moved.
std::variant<std::vector<PodPlacement>, Unfit> place_all(Placing placing, Trial& trial) {
  const Trial::Mark mark = trial.mark();
  if (const std::int64_t missing = placing.run(); missing > 0) {
    trial.rollback_to(mark);
    return Unfit{missing};
  }
  return std::move(placing).places();
}

// Of each pod set of the way how many pods it may have above its minimum; empty: none has.
std::vector<std::int64_t> steps_by_set(const State& state, WorkloadId workload, std::size_t way) {
  const std::vector<WorkloadId>& steps = state.steps_of(workload);
  if (steps.empty()) return {};
  const auto& sets = state.shape(state.workload(workload).shape).ways[way];
  std::vector<std::int64_t> more(sets.size());
  for (const WorkloadId step : steps) {
    const NumberedPodSet& own = state.shape(state.workload(step).shape).ways[way].front();
    // Of sets that are alike each may have some.
    std::optional<std::size_t> fewest;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (sets[set].is_like(own) && (!fewest || more[set] < more[*fewest])) fewest = set;
    }
    if (fewest) ++more[*fewest];
  }
  return more;
}

}  // namespace

std::variant<Start, Unfit> place_in_way(const State& state, Trial& trial, ScoreIndex& index, WorkloadId workload,
                                        std::size_t way, Rng& rng, const Mixture* mixture) {
  const auto& sets = state.shape(state.workload(workload).shape).ways[way];
  auto places = place_all(Placing(state, trial, index, sets, rng, mixture, steps_by_set(state, workload, way)), trial);
  if (const Unfit* const unfit = std::get_if<Unfit>(&places)) return *unfit;
  return Start{.workload = workload, .way = static_cast<std::uint32_t>(way), .pods = std::move(std::get<0>(places))};
}

std::variant<std::vector<PodPlacement>, Unfit> place_sets(const State& state, Trial& trial, ScoreIndex& index,
                                                          const std::vector<NumberedPodSet>& sets, Rng& rng) {
  return place_all(Placing(state, trial, index, sets, rng, nullptr), trial);
}

std::variant<Start, Unfit> place_workload(const State& state, Trial& trial, ScoreIndex& index, WorkloadId workload,
                                          Rng rng) {
  const Shape& shape = state.shape(state.workload(workload).shape);
  Unfit unfit{std::numeric_limits<std::int64_t>::max()};
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    auto outcome = place_in_way(state, trial, index, workload, way, rng);
    if (std::holds_alternative<Start>(outcome)) return outcome;
    unfit.missing = std::min(unfit.missing, std::get<Unfit>(outcome).missing);
  }
  return unfit;
}

}  // namespace berth
