#include "cycle/slices_free.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <set>

#include "fairness/gates.h"
#include "fairness/rights.h"
#include "model/gpu_hardware.h"

namespace berth {
namespace {

// A slice is of flavors that agree about its shape.
const Flavor& flavor_of(const State& state, const PodRequest& slice) {
  return state.flavors()[static_cast<std::size_t>(std::countr_zero(slice.flavors.bits()))];
}

// `places`: as many as there are for the shape.
void add_device(SlicesFree& free, const MigGeometry& mig, MigPlaceSet layout, std::size_t shape, int places) {
  if (layout.meets(mig.rivals_of(shape))) return;
  const SliceShape& asked = mig.shapes()[shape];
  std::int32_t compute = mig.compute_slices();
  layout.for_each([&](std::size_t place) { compute -= mig.shapes()[mig.places()[place].shape].compute_slices; });
  const std::int32_t memory = mig.memory_slices() - std::popcount(mig.memory_of(layout));
  free.memory_slices += memory;
  free.compute_slices += compute;
  free.places += places;
  const bool enough = memory >= asked.memory_slices && compute >= asked.compute_slices;
  if (enough && places == 0) ++free.gpus_in_pieces;
}

// What is free of other slices there is of no use: nothing is cut anew.
void add_fixed(SlicesFree& free, const MigGeometry& mig, MigPlaceSet layout, MigPlaceSet fixed, std::size_t shape) {
  const int places = mig.room_for(shape, layout, fixed);
  free.places += places;
  free.fixed_free += places;
  free.fixed += fixed.common_with(mig.places_of(shape)).size();
}

Time rested_at(const State& state, Device device) {
  const auto found = std::ranges::find(state.resting(), device, &std::pair<Time, Device>::second);
  return found == state.resting().end() ? kForever : found->first;
}

bool is_of(const Node& type, const PodRequest& slice) {
  return type.may_be(Sharing::kMig) && slice.flavors.contains(type.flavor);
}

}  // namespace

SlicesFree slices_free(const State& state, const PodRequest& slice) {
  SlicesFree free;
  const Ledger& ledger = state.ledger();
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    const NodeFree& node = ledger.node(NodeId(i));
    if (!node.open || node.gpus == 0 || !node.suits(Sharing::kMig) || !node.has_flavor_of(slice.flavors)) continue;
    if (!ledger.matches().allows(slice.constraints, NodeId(i))) continue;
    const MigPlaceSet fixed = ledger.fixed_slices(NodeId(i));
    for (std::size_t gpu = 0; gpu < node.gpus; ++gpu) {
      const MigPlaceSet layout = ledger.layouts(NodeId(i))[gpu];
      if (fixed.empty()) {
        const int places = ledger.room_for_slices(NodeId(i), gpu, slice.slice);
        add_device(free, node.geometry(), layout, slice.slice, places);
        const GpuCut* const cut = ledger.cut_of(NodeId(i), gpu);
        const bool would_be_cut = places == 0 && node.geometry().room_for(slice.slice, layout) > 0;
        if (cut == nullptr || !would_be_cut) continue;
        if (!cut->stays()) {
          const Node& whole = state.node(NodeId(i));
          free.gpus_held += most_slices(whole, node.geometry(), slice.slice) > 0 ? 1 : 0;
          continue;
        }
        ++free.gpus_that_rest;
        free.rested_at = std::min(free.rested_at, rested_at(state, {NodeId(i), static_cast<std::int32_t>(gpu)}));
      } else {
        add_fixed(free, node.geometry(), layout, fixed, slice.slice);
      }
    }
  }
  return free;
}

bool fails_by_geometry(const State& state, const std::vector<NumberedPodSet>& way) {
  return std::ranges::any_of(way, [&](const NumberedPodSet& set) {
    const PodRequest& request = state.request(set.request);
    if (!request.is_slice()) return false;
    const SlicesFree free = slices_free(state, request);
    return free.places < set.count && free.gpus_in_pieces > 0;
  });
}

namespace {

// The slices of all who are there but for these.
MigPlaceSet taken_without(const State& state, Device device, const std::set<WorkloadId>& gone) {
  MigPlaceSet taken;
  for (const Pod& pod : state.pods()) {
    const bool is_there = !pod.workload.is_none() && pod.node == device.node && pod.gpus.contains(device.gpu);
    if (!is_there || gone.contains(pod.workload)) continue;
    const MigGeometry& mig = state.ledger().node(device.node).geometry();
    taken = taken.with(*mig.find_place(state.request(pod.request).slice, pod.slice_start));
  }
  return taken;
}

// Its slice would have to be cut first out of what those leave.
bool would_be_cut_for(const State& state, Device device, const PodRequest& slice, const std::set<WorkloadId>& gone) {
  const NodeFree& node = state.ledger().node(device.node);
  if (!slice.is_slice() || !node.open || !node.has_flavor_of(slice.flavors)) return false;
  if (!state.ledger().matches().allows(slice.constraints, device.node)) return false;
  const MigPlaceSet there = state.ledger().cut_of(device.node, static_cast<std::size_t>(device.gpu))->slices;
  const MigPlaceSet taken = taken_without(state, device, gone);
  return node.geometry().room_for(slice.slice, taken, there) == 0 && node.geometry().room_for(slice.slice, taken) > 0;
}

}  // namespace

std::optional<Time> rested_for_who_takes(const State& state, WorkloadId id) {
  if (state.resting().empty()) return std::nullopt;
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    const AmountList asked = asked_by(state, workload.queue, shape, way);
    std::set<WorkloadId> gone;
    for (const Victim& each : victims_of(state, {id, workload.queue, shape.terms, asked, state.clock()}).takeable)
      gone.insert(each.workload);
    for (const auto& [until, device] : state.resting()) {
      const bool rests_for_it = std::ranges::any_of(shape.ways[way], [&](const NumberedPodSet& set) {
        return would_be_cut_for(state, device, state.request(set.request), gone);
      });
      if (rests_for_it && !gone.empty()) return until;
    }
  }
  return std::nullopt;
}

bool slices_are_free_in_sum(const State& state, const std::vector<NumberedPodSet>& way) {
  struct Needed {
    FlavorSet flavors;
    std::int64_t memory_slices = 0;
    std::int64_t compute_slices = 0;
  };
  std::vector<Needed> needed;  // sets of the same flavors take from the same GPUs
  for (const NumberedPodSet& set : way) {
    const PodRequest& request = state.request(set.request);
    if (!request.is_slice()) continue;
    auto at = std::ranges::find(needed, request.flavors, &Needed::flavors);
    if (at == needed.end()) at = needed.insert(at, {request.flavors});
    const SliceShape& asked = mig_of(flavor_of(state, request))->shapes()[request.slice];
    const SlicesFree free = slices_free(state, request);
    const std::int64_t to_cut = std::max<std::int64_t>(0, set.count - free.fixed_free);
    at->memory_slices += to_cut * asked.memory_slices;
    at->compute_slices += to_cut * asked.compute_slices;
    if (free.memory_slices < at->memory_slices || free.compute_slices < at->compute_slices) return false;
  }
  return true;
}

bool can_be_cut(const State& state, const std::vector<NumberedPodSet>& way) {
  return std::ranges::all_of(way, [&](const NumberedPodSet& set) {
    const PodRequest& request = state.request(set.request);
    return !request.is_slice() || std::ranges::any_of(state.node_types().nodes.values(), [&](const Node& type) {
      return is_of(type, request) && most_slices(type, *state.geometry_of(type), request.slice) > 0;
    });
  });
}

std::string fixed_profiles(const State& state, const PodRequest& slice) {
  const GpuHardware& hardware = *hardware_of(flavor_of(state, slice));
  std::string names;
  for (std::size_t shape = hardware.mig_profiles.size(); shape-- > 0;) {
    const bool there = std::ranges::any_of(state.node_types().nodes.values(), [&](const Node& type) {
      return is_of(type, slice) && type.lasting_slices().meets(state.geometry_of(type)->places_of(shape));
    });
    if (there) names += (names.empty() ? "" : ", ") + std::string(hardware.mig_profiles[shape].name);
  }
  return names;
}

std::string name_of_slice(const State& state, const PodRequest& slice) {
  return std::string(hardware_of(flavor_of(state, slice))->mig_profiles[slice.slice].name);
}

}  // namespace berth
