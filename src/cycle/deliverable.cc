#include "cycle/deliverable.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "cycle/for_each_place.h"
#include "cycle/if_all_gave_back.h"
#include "cycle/promised_slices.h"
#include "cycle/recutting.h"
#include "fairness/gates.h"
#include "state/idle_room.h"

namespace berth {
namespace {

// Flavors in which somebody takes GPUs, and whether parts of some.
using Taken = std::map<FlavorId, bool>;

// Of a GPU that is shared by MPS or as vGPUs, or cut as pods ask; all of one is no part.
bool takes_a_part(const Ledger& ledger, const PodRequest& request, NodeId node) {
  const bool shared = request.is_slice() || request.is_mps() || request.is_vgpu();
  return shared && ledger.fixed_slices(node).empty() && request.gpu_milli < kMilliPerGpu;
}

// `covered_at`: where it would be covered, or is. Slices that are inside a floor by their profile are packed, and have no part of
// what is promised in GPUs.
template <class Placed>
Taken taken_by(const State& state, const Trial& trial, const Placed& placed, QueueId covered_at = {}) {
  Taken taken;
  const QuotaTree& tree = trial.quotas().tree();
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement& place) {
    const NodeFree& node = trial.ledger().node(place.node);
    if (place.gpus.empty()) return;
    if (!trial.ledger().may_be(place.node, Sharing::kExclusive)) {
      const bool by_profile =
          request.is_slice() && !covered_at.is_none() &&
          tree.is_floor_by_profile(covered_at, Dim::of_slices(FlavorId(node.flavor), request.slice));
      if (takes_a_part(trial.ledger(), request, place.node) && !by_profile) taken[FlavorId(node.flavor)] = true;
      return;
    }
    bool& parts = taken[FlavorId(node.flavor)];
    // Of a node that has turned for it no GPU is whole; and who has a domain for himself is in the way of more than he has.
    parts = parts || request.is_fraction() || node.sharing != Sharing::kExclusive ||
            trial.ledger().exclusives().is_exclusive(request.exclusive);
  });
  return taken;
}

template <class Placed>
std::vector<GpusOfNode> gpus_by_node(const State& state, const Placed& placed) {
  std::map<NodeId, std::uint64_t> by_node;
  for_each_place(state, placed, [&](const PodRequest&, const PodPlacement& place) {
    if (!place.gpus.empty()) by_node[place.node] |= place.gpus.bits();
  });
  std::vector<GpusOfNode> gpus;
  for (const auto& [node, bits] : by_node) gpus.push_back({node, GpuSet::from_bits(bits)});
  return gpus;
}

// And what nobody else may have as long as it is there.
template <class Placed>
std::vector<GpusOfNode> gpus_kept_by(const State& state, const Placed& placed) {
  std::vector<GpusOfNode> gpus = gpus_by_node(state, placed);
  const std::vector<GpusOfNode> own = own_domains_of(state, placed.workload, gpus);
  gpus.insert(gpus.end(), own.begin(), own.end());
  return gpus;
}

// Who comes, of whom nobody knows yet, and until when; and who is elsewhere from now on.
struct Change {
  QueueId queue;
  QueueId covered_at = {};  // to queues below it he gives back; none: to nobody
  AmountList holds = {};
  std::vector<GpusOfNode> comes = {};
  Time end = kForever;
  std::vector<PlacedGpus> moved = {};

  bool is_there(const FloorRise* rise) const { return rise == nullptr || end > rise->from; }
  std::int64_t gpu_milli(FlavorId flavor) const {
    const auto of_it = std::ranges::find(holds, Dim(flavor, Resource::kGpu), &Amount::dim);
    return of_it == holds.end() ? 0 : of_it->amount;
  }
  // Beside whose line all that is promised has to be left. Who is moved may be of any other.
  QueueId guarded(const IfAllGaveBack& then, FlavorId flavor, bool has_cells) const {
    if (covered_at.is_none() || !moved.empty()) return queue;
    if (!has_cells) return covered_at;
    const QueueId lowest = then.lowest_that_may_cover(queue, gpu_milli(flavor));
    return lowest.is_none() ? queue : lowest;
  }
};

// On which nobody is at all, and which somebody could have whole, or in shares or slices all of it.
std::int64_t idle_gpus(const Ledger& ledger, FlavorId flavor) {
  std::int64_t gpus = 0;
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    const NodeFree& node = ledger.node(NodeId(i));
    if (!node.is_up() || node.gpus == 0 || FlavorId(node.flavor) != flavor || node.sharing == Sharing::kTimeslice)
      continue;
    // What is free there is not for everybody.
    if (!ledger.exclusives().none() && !ledger.exclusives().owners_around(NodeId(i)).empty()) continue;
    const bool has_turned = node.sharing != Sharing::kExclusive && ledger.may_be(NodeId(i), Sharing::kExclusive);
    if (!has_turned && ledger.fixed_slices(NodeId(i)).empty()) gpus += node.whole_gpus;
  }
  return gpus;
}

// At which is asked; none: now.
using Hours = std::vector<const FloorRise*>;

Hours now_and_rises(const Trial& trial) {
  Hours hours = {nullptr};
  for (const FloorRise& rise : trial.quotas().rises()) hours.push_back(&rise);
  return hours;
}

// Now, or when floors have risen.
bool worsens_nothing_then(const State& state, const Trial& trial, FlavorId flavor, bool parts, const Change& change,
                          const FloorRise* rise) {
  const bool has_cells = state.flavors_with_cells().contains(flavor);
  const bool comes = change.is_there(rise);
  parts = parts && comes;
  if ((!has_cells && !parts) || (!comes && change.moved.empty())) return true;
  const std::int64_t promised = whole_gpus_promised_beside(trial.quotas(), change.queue, flavor, rise);
  if (!has_cells && promised <= idle_gpus(trial.ledger(), flavor)) return true;
  IfAllGaveBack then(state, trial, flavor, change.moved, rise);
  if (comes) then.add({change.queue, change.comes, change.gpu_milli(flavor)});
  then.give_cells();
  const QueueId guarded = change.guarded(then, flavor, has_cells);
  const std::int64_t missing = then.missing_beside(guarded, parts);
  if (missing == 0 && then.lacking_gpus() == 0) return true;
  IfAllGaveBack now(state, trial, flavor, {}, rise);
  now.give_cells();
  return then.lacking_gpus() <= now.lacking_gpus() && missing <= now.missing_beside(guarded, parts);
}

// What is covered stays to its end, and nobody could have it leave when floors rise before then: so each of these hours is asked by itself,
// with what it promises and those who will be there. Not the most of all hours at once: one queue's day and another's night are promised
// the same GPUs.
bool worsens_nothing(const State& state, const Trial& trial, const Taken& taken, const Change& change,
                     const Hours& hours) {
  return std::ranges::all_of(taken, [&](const auto& each) {
    const auto [flavor, parts] = each;
    return std::ranges::all_of(hours, [&](const FloorRise* rise) {
      const bool matters = rise == nullptr || rise->flavors.contains(flavor);
      return !matters || worsens_nothing_then(state, trial, flavor, parts, change, rise);
    });
  });
}

// Of one for whom the last has gone by then.
Time end_of(const State& state, const Start& start, Time gone) {
  return state.end_of(start.workload, begins_by(state, start, gone));
}

// None: it would not be.
QueueId would_be_covered_at(const State& state, const Trial& trial, const Start& start, Time end) {
  const Workload& workload = state.workload(start.workload);
  const Shape& shape = state.shape(workload.shape);
  if (shape.terms.best_effort || start.best_effort) return {};
  return trial.quotas().would_be_covered_at(workload.queue, amounts_held(state, shape, start), end);
}

// Of all that a start or a repair takes until then, if any profile is promised at all.
template <class Placed>
std::vector<TakenPlace> taken_places(const State& state, const Trial& trial, const Placed& placed, Time end) {
  std::vector<TakenPlace> taken;
  if (!trial.quotas().tree().has_floors_by_profile()) return taken;
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement& place) {
    if (!place.gpus.empty()) taken.push_back({request, place, end});
  });
  return taken;
}

// Where somebody is who moves, and stays inside a floor wherever he is.
void add_places_now(const State& state, const Trial& trial, WorkloadId id, std::vector<TakenPlace>& places) {
  const Time end = trial.quotas().unit(state.workload(id).unit).end;
  for_each_leaving_pod(state, id,
                       [&](const Pod& pod) { places.push_back({state.request(pod.request), pod.place(), end}); });
}

// Of those in the way of whom nothing can be, most of the time.
bool is_in_nobodys_way(const State& state, const Taken& taken) {
  return std::ranges::none_of(
      taken, [&](const auto& each) { return each.second || state.flavors_with_cells().contains(each.first); });
}

// On which somebody is, in the trial, who is inside that floor.
std::int64_t gpus_used_inside(const State& state, const Trial& trial, QueueId floor, FlavorId flavor) {
  const QuotaLedger& quotas = trial.quotas();
  std::map<NodeId, std::uint64_t> used;
  const auto use = [&](const GpusOfNode& each) {
    if (FlavorId(trial.ledger().node(each.node).flavor) == flavor) used[each.node] |= each.gpus.bits();
  };
  const auto is_inside = [&](const QuotaUnit& unit) {
    return !unit.covered_at.is_none() && state.is_below(unit.covered_at, floor);
  };
  for (std::size_t i = 0; i < state.queues().size(); ++i) {
    if (!state.is_below(QueueId(i), floor)) continue;
    for (const UnitId id : quotas.units_in(QueueId(i))) {
      if (!is_inside(quotas.unit(id))) continue;
      for_each_pod(state, quotas.unit(id).workload, [&](const Pod& pod) {
        if (!pod.gpus.empty()) use({pod.node, pod.gpus});
      });
    }
  }
  for (const PlacedGpus& each : trial.placed()) {
    const QuotaUnit& unit = quotas.unit(each.unit);
    if (each.moved || unit.workload != each.workload || !is_inside(unit)) continue;
    for (const GpusOfNode& gpus : each.gpus) use(gpus);
  }
  std::int64_t gpus = 0;
  for (const auto& [node, bits] : used) gpus += std::popcount(bits);
  return gpus;
}

// Who takes whole GPUs is in the way of others' floors as well where parts of GPUs that are inside his own leave too few whole ones for
// that. So a queue that broke up its own floor waits, and nobody else does.
void count_whole_beside_parts(const State& state, const Trial& trial, QueueId floor, const Start& start, Taken& taken) {
  const std::vector<GpusOfNode> comes = gpus_by_node(state, start);
  for (auto& [flavor, parts] : taken) {
    if (parts || trial.ledger().totals(flavor).are_whole() || state.flavors_with_cells().contains(flavor)) continue;
    std::int64_t gpus = gpus_used_inside(state, trial, floor, flavor);
    for (const GpusOfNode& each : comes) {
      gpus += FlavorId(trial.ledger().node(each.node).flavor) == flavor ? each.gpus.size() : 0;
    }
    parts = gpus * kMilliPerGpu > trial.quotas().tree().floor(floor)[Dim(flavor, Resource::kGpu).index()];
  }
}

// It is inside a floor, or may come there while it runs.
bool may_stay(const QuotaUnit& unit) { return !unit.covered_at.is_none() || unit.could_be_covered(); }

}  // namespace

std::vector<GpusOfNode> gpus_of(const State& state, const Start& start) { return gpus_by_node(state, start); }
std::vector<GpusOfNode> gpus_of(const State& state, const Repair& repair) { return gpus_by_node(state, repair); }

namespace {

bool leaves_floors_whole_at(const State& state, const Trial& trial, const Start& start, Time gone, const Hours& hours) {
  const Time end = end_of(state, start, gone);
  const std::vector<TakenPlace> places = taken_places(state, trial, start, end);
  const Taken all_taken = taken_by(state, trial, start);
  const bool beside_parts =
      std::ranges::any_of(all_taken, [&](const auto& each) { return !trial.ledger().totals(each.first).are_whole(); });
  if (is_in_nobodys_way(state, all_taken) && places.empty() && !beside_parts) return true;
  const QueueId covered_at = would_be_covered_at(state, trial, start, end);
  if (covered_at.is_none()) return true;
  if (!leaves_promised_slices(state, trial, covered_at, places, {}, hours)) return false;
  Taken taken = taken_by(state, trial, start, covered_at);
  count_whole_beside_parts(state, trial, covered_at, start, taken);
  if (is_in_nobodys_way(state, taken)) return true;
  const Workload& workload = state.workload(start.workload);
  return worsens_nothing(state, trial, taken,
                         {.queue = workload.queue,
                          .covered_at = covered_at,
                          .holds = amounts_held(state, state.shape(workload.shape), start),
                          .comes = gpus_kept_by(state, start),
                          .end = end},
                         hours);
}

}  // namespace

bool leaves_floors_whole(const State& state, const Trial& trial, const Start& start, Time gone) {
  return leaves_floors_whole_at(state, trial, start, gone, now_and_rises(trial));
}

bool leaves_floors_whole_at_best(const State& state, Trial& trial, Start& start, Time gone) {
  if (trial.quotas().tree().has_floors_by_profile()) {
    put_beside_promised(state, trial, start, would_be_covered_at(state, trial, start, end_of(state, start, gone)));
  }
  return leaves_floors_whole(state, trial, start, gone);
}

bool leaves_floors_whole_then(const State& state, const Trial& trial, const Start& start, Time then,
                              std::span<const FloorRise> hours) {
  Hours all;
  for (const FloorRise& each : hours) all.push_back(&each);
  return leaves_floors_whole_at(state, trial, start, then, all);
}

bool leaves_own_floor_whole(const State& state, const Trial& trial, const Start& start) {
  if (state.flavors_with_cells().empty()) return true;
  const Time end = end_of(state, start, trial.quotas().now());
  if (would_be_covered_at(state, trial, start, end).is_none()) return true;
  const QueueId queue = state.workload(start.workload).queue;
  std::map<FlavorId, std::int64_t> gpus;
  for_each_place(state, start, [&](const PodRequest&, const PodPlacement& place) {
    const FlavorId flavor(trial.ledger().node(place.node).flavor);
    if (state.flavors_with_cells().contains(flavor)) gpus[flavor] += place.gpus.size();
  });
  return std::ranges::all_of(gpus, [&](const auto& each) {
    const auto& [flavor, asked] = each;
    IfAllGaveBack then(state, trial, flavor);
    then.add({queue, gpus_kept_by(state, start), asked * kMilliPerGpu});
    then.give_cells();
    IfAllGaveBack now(state, trial, flavor);
    now.give_cells();
    return asked == 0 || then.missing_beyond(queue, asked) <= now.missing_beyond(queue, 0);
  });
}

bool leaves_floors_whole(const State& state, const Trial& trial, const Repair& repair) {
  const Workload& workload = state.workload(repair.workload);
  const QuotaUnit& unit = trial.quotas().unit(workload.unit);
  const Taken taken = taken_by(state, trial, repair, unit.covered_at);
  const Hours hours = now_and_rises(trial);
  if (!unit.covered_at.is_none() &&
      !leaves_promised_slices(state, trial, unit.covered_at, taken_places(state, trial, repair, unit.end), {}, hours)) {
    return false;
  }
  Taken of_it;
  for (const auto& [flavor, parts] : taken) {
    const bool counts = state.flavors_with_cells().contains(flavor) ? may_stay(unit) : !unit.covered_at.is_none();
    if (counts) of_it[flavor] = parts;
  }
  if (is_in_nobodys_way(state, of_it)) return true;
  return worsens_nothing(state, trial, of_it,
                         {.queue = workload.queue,
                          .covered_at = unit.covered_at,
                          .holds = trial.quotas().held_by(workload.unit),
                          .comes = gpus_kept_by(state, repair),
                          .end = unit.end},
                         hours);
}

bool leaves_floors_whole_elsewhere(const State& state, const Trial& trial, const Start& start) {
  const Workload& workload = state.workload(start.workload);
  const Taken taken = taken_by(state, trial, start, trial.quotas().unit(workload.unit).covered_at);
  if (!trial.quotas().unit(workload.unit).covered_at.is_none()) {
    std::vector<TakenPlace> left;
    add_places_now(state, trial, start.workload, left);
    const Time end = end_of(state, start, trial.quotas().now());
    const std::vector<TakenPlace> come = taken_places(state, trial, start, end);
    if (!leaves_promised_slices(state, trial, workload.queue, come, left, now_and_rises(trial))) return false;
  }
  if (is_in_nobodys_way(state, taken) || !may_stay(trial.quotas().unit(workload.unit))) return true;
  const PlacedGpus there{workload.unit, start.workload, gpus_by_node(state, start)};
  return worsens_nothing(state, trial, taken, {.queue = workload.queue, .moved = {there}}, now_and_rises(trial));
}

namespace {

// Of those who are moved only who is inside a floor stays; to the others all of these are one change.
bool leaves_promised_slices_with(const State& state, const Trial& trial, const Start& start, Time end, bool counts,
                                 const std::vector<Migration>& moved) {
  std::vector<TakenPlace> come;
  std::vector<TakenPlace> left;
  if (counts) come = taken_places(state, trial, start, end);
  for (const Migration& each : moved) {
    const UnitId unit = state.workload(each.start.workload).unit;
    if (trial.quotas().unit(unit).covered_at.is_none()) continue;
    const std::vector<TakenPlace> places =
        taken_places(state, trial, each.start, end_of(state, each.start, std::max(trial.quotas().now(), each.stop_by)));
    come.insert(come.end(), places.begin(), places.end());
    if (!places.empty()) add_places_now(state, trial, each.start.workload, left);
  }
  return leaves_promised_slices(state, trial, state.workload(start.workload).queue, come, left, now_and_rises(trial));
}

}  // namespace

bool leaves_floors_whole(const State& state, const Trial& trial, const Start& start,
                         const std::vector<Migration>& moved) {
  Taken taken;
  Time gone = trial.quotas().now();
  for (const Migration& each : moved) gone = std::max(gone, each.stop_by);
  const Time end = end_of(state, start, gone);
  const QueueId covered_at = would_be_covered_at(state, trial, start, end);
  const bool counts = !covered_at.is_none();
  if (counts) taken = taken_by(state, trial, start, covered_at);
  Change change{.queue = state.workload(start.workload).queue, .end = end};
  if (counts) change.comes = gpus_kept_by(state, start);
  for (const Migration& each : moved) {
    const UnitId unit = state.workload(each.start.workload).unit;
    // Of parts of GPUs only who starts is looked at.
    for (const auto& [flavor, parts] : taken_by(state, trial, each.start)) {
      if (state.flavors_with_cells().contains(flavor)) taken.try_emplace(flavor, false);
    }
    change.moved.push_back({unit, each.start.workload, gpus_by_node(state, each.start)});
  }
  if (!leaves_promised_slices_with(state, trial, start, end, counts, moved)) return false;
  return is_in_nobodys_way(state, taken) || worsens_nothing(state, trial, taken, change, now_and_rises(trial));
}

bool could_be_covered_there(const State& state, const Trial& trial, const Start& start, Time gone) {
  const Workload& workload = state.workload(start.workload);
  Taken taken = taken_by(state, trial, start);
  // Who has domains for himself would be in the way of others' floors there, with cells and without.
  const bool is_alone = !own_domains_of(state, start.workload, gpus_by_node(state, start)).empty();
  std::erase_if(taken, [&](const auto& each) { return !is_alone && !state.flavors_with_cells().contains(each.first); });
  if (taken.empty()) return true;
  return worsens_nothing(state, trial, taken,
                         {.queue = workload.queue,
                          .holds = amounts_held(state, state.shape(workload.shape), start),
                          .comes = gpus_kept_by(state, start),
                          .end = end_of(state, start, gone)},
                         now_and_rises(trial));
}

std::int64_t whole_gpus_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor,
                                        const FloorRise* rise) {
  const QuotaTree& tree = rise == nullptr ? quotas.tree() : *rise->tree;
  const Dim dim(flavor, Resource::kGpu);
  AmountsByDim covered_then;
  if (rise != nullptr) covered_then = quotas.covered_then(dim, rise->from);
  std::int64_t gpus = 0;
  for (QueueId own = queue; !own.is_none(); own = tree.parent(own)) {
    for (const QueueId other : tree.children(tree.parent(own))) {
      const std::int64_t has = rise == nullptr ? quotas.covered(other)[dim.index()] : covered_then[other.index()];
      const std::int64_t left = tree.floor(other)[dim.index()] - has;
      if (other != own && left > 0) gpus += left / kMilliPerGpu;
    }
  }
  return gpus;
}

std::map<std::string, std::int64_t> cells_beside(const State& state, QueueId queue, FlavorSet flavors,
                                                 const FloorRise* rise) {
  std::map<std::string, std::int64_t> by_level;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    if (!state.flavors_with_cells().contains(FlavorId(flavor)) || !flavors.contains(FlavorId(flavor))) continue;
    IfAllGaveBack given(state, FlavorId(flavor), rise);
    given.give_cells();
    for (const GivenCell& each : given.cells()) {
      if (given.is_above_or_same(each.queue, queue)) continue;
      ++by_level[state.queues()[each.queue.index()].quota.cells[each.of_cells].level];
    }
  }
  return by_level;
}

std::vector<CellsOfQueue> cells_of(const State& state, QueueId queue) {
  std::vector<CellsOfQueue> all;
  const std::vector<FloorCells>& written = state.queues()[queue.index()].quota.cells;
  for (std::size_t at = 0; at < written.size(); ++at) {
    IfAllGaveBack now(state, written[at].flavor);
    now.give_cells();
    const TopologyId level = state.levels_of_cells(queue)[at];
    CellsOfQueue found{.cells = written[at], .gpus = now.size_of_domain(level), .promised = now.promised(queue, at)};
    for (const GivenCell& each : now.cells()) {
      const bool is_its_own = now.is_above_or_same(queue, each.queue) &&
                              state.levels_of_cells(each.queue)[each.of_cells] == level &&
                              found.in_use + found.lent + found.free < found.promised;
      if (!is_its_own) continue;
      std::int64_t free = 0;
      for (const NodeId node : now.domains(each).nodes(each.domain)) free += state.ledger().node(node).whole_gpus;
      if (each.could_be_free < each.gpus) {
        ++found.in_use;
      } else if (free < each.gpus) {
        ++found.lent;
      } else {
        ++found.free;
      }
    }
    found.lacking = found.promised - found.in_use - found.lent - found.free;
    all.push_back(found);
  }
  return all;
}

}  // namespace berth
