#include "state/found_refusals.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>

#include "model/gpu_hardware.h"

namespace berth {

namespace {

// Whether the devices and amounts that found pods hold are still free on their nodes, which may be closed.
class FoundPlaces {
 public:
  // `user` is whose they are; none: of somebody who was never there.
  FoundPlaces(const Ledger& ledger, UserId user) : ledger_(ledger), user_(user) {}

  // Those before it have their places.
  FactRefusal refusal_of_next(const PodRequest& request, const PodPlacement& place) {
    if (place.node.index() >= ledger_.nodes()) return "there is no such node";
    const NodeFree& free = ledger_.node(place.node);
    if (place.gpus.size() != request.gpus) return "a found pod names as many GPUs as it asks";
    if (request.gpus > 0 && !free.has_flavor_of(request.flavors)) return "its node's GPUs are of another type";
    const auto [at_node, is_first] = taken_.try_emplace(place.node);
    Taken& taken = at_node->second;
    if (is_first) {
      taken.left = {free.cpu_milli, free.memory_bytes};
      taken.extra = ledger_.extra(place.node).all;
    }
    if (request.gpus > 0) {
      const bool alike = !taken.mode || *taken.mode == request.sharing;
      if (!alike || !free.suits(request.sharing)) return "its node's GPUs are shared in another way";
      taken.mode = request.sharing;
    }
    move_amounts(taken.left, taken.extra, request, -1);
    ++taken.pods;
    bool gpus_free = true;
    bool welcome = true;
    bool alike = true;
    place.gpus.for_each([&](int gpu) {
      const auto at = static_cast<std::size_t>(gpu);
      taken.gpu_milli[at] += free.milli_of(request);
      taken.gpu_memory_mib[at] += gpu_memory_taken(request, free.gpu_memory_mib);
      gpus_free = gpus_free && gpu < free.gpus && ledger_.gpu_milli(place.node)[at] >= taken.gpu_milli[at] &&
                  ledger_.gpu_memory_mib(place.node)[at] >= taken.gpu_memory_mib[at];
      if (gpus_free && request.is_slice()) gpus_free = cuts(place, ledger_.layouts(place.node)[at], taken, request, at);
      welcome = welcome && (!gpus_free || !request.is_mps() || serves(place.node, at));
      alike = alike && (!gpus_free || !request.is_vgpu() || are_of_its_profile(place.node, at, taken, request));
    });
    return first_of([&] { return unless(gpus_free, "its GPUs are not free on that node"); },
                    [&] { return unless(welcome, "a server of MPS serves another user on its GPU"); },
                    [&] { return unless(alike, "its GPU has vGPUs of another profile"); },
                    [&] { return unless(taken.left.cpu_milli >= 0, "its node has too little free CPU"); },
                    [&] { return unless(taken.left.memory_bytes >= 0, "its node has too little free memory"); },
                    [&] { return unless(free.pods >= taken.pods, "its node has too many pods"); });
  }

 private:
  struct Taken {
    HostAmounts left, extra;
    std::int64_t pods = 0;
    std::optional<Sharing> mode;  // of its GPUs
    std::array<std::int64_t, kGpusPerNodeMax> gpu_milli{}, gpu_memory_mib{};
    std::array<MigPlaceSet, kGpusPerNodeMax> places{};
    std::array<std::int32_t, kGpusPerNodeMax> vgpu_milli{};
  };

  // Whether the server that is there, if one is, is the user's. Who trusts whom is not asked: they are there already.
  bool serves(NodeId node, std::size_t gpu) const {
    return std::ranges::all_of(ledger_.occupants(node, gpu),
                               [&](const Occupant& each) { return ledger_.trust()[each.sharer].user == user_; });
  }

  // Whether all vGPUs that are there, and those before it, are as large as this one.
  bool are_of_its_profile(NodeId node, std::size_t gpu, Taken& taken, const PodRequest& request) const {
    const std::int32_t before = std::exchange(taken.vgpu_milli[gpu], request.gpu_milli);
    if (before != 0 && before != request.gpu_milli) return false;
    return std::ranges::all_of(ledger_.occupants(node, gpu), [&](const Occupant& each) {
      return ledger_.trust()[each.sharer].vgpu_milli == request.gpu_milli;
    });
  }

  // Whether the slice can be cut there, or is there, beside those that are taken, and those before it.
  bool cuts(const PodPlacement& place, MigPlaceSet layout, Taken& taken, const PodRequest& request,
            std::size_t gpu) const {
    const MigGeometry& mig = ledger_.node(place.node).geometry();
    const auto found = mig.find_place(request.slice, place.slice_start);
    const MigPlaceSet before = layout.united_with(taken.places[gpu]);
    const GpuCut* const cut = ledger_.cut_of(place.node, gpu);
    // What is not there, or not yet, nobody is on.
    if (found && cut != nullptr && !cut->has(*found)) return false;
    if (!found || !mig.open_beside(before, ledger_.fixed_slices(place.node)).contains(*found)) return false;
    taken.places[gpu] = taken.places[gpu].with(*found);
    return true;
  }

  const Ledger& ledger_;
  UserId user_;
  std::map<NodeId, Taken> taken_;
};

// What is lost takes nothing anywhere, and counts as what such a node has.
FactRefusal refusal_of_lost(const State& state, const PodRequest& request, const PodPlacement& place) {
  if (place.node.index() >= state.nodes()) return "there is no such node";
  if (!place.gpus.empty()) return "who is lost has no GPUs";
  const bool suits = request.gpus == 0 || state.ledger().node(place.node).has_flavor_of(request.flavors);
  return unless(suits, "its node's GPUs are of another type");
}

}  // namespace

FactRefusal refusal_of_found(const State& state, const WorkloadFound& fact) {
  const auto& ways = fact.workload.shape.ways;
  if (ways.size() != 1) return "a found workload runs in one way";
  const bool has_shares = std::ranges::any_of(ways[0], [](const PodSet& set) { return set.request.is_mps(); });
  FoundPlaces places(state.ledger(), has_shares ? state.find_user(fact.workload.user) : UserId());
  std::span<const std::uint32_t> lost = fact.lost;
  std::size_t at = 0;
  for (const PodSet& set : ways[0]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) {
      if (at == fact.pods.size()) return "a found workload has a place for each of its pods";
      if (!lost.empty() && lost.front() == at) {
        lost = lost.subspan(1);
        if (auto refusal = refusal_of_lost(state, set.request, fact.pods[at])) return refusal;
        continue;
      }
      if (auto refusal = places.refusal_of_next(set.request, fact.pods[at])) return refusal;
    }
  }
  return unless(at == fact.pods.size(), "a found workload has a place for each of its pods");
}

// Ascending, so that what is left at the end is of no pod.
FactRefusal refusal_of_repair(const State& state, const WorkloadFound& fact) {
  if (fact.lost.empty()) return unless(fact.repair_until == Time{}, "who lacks nobody is not repaired");
  const bool in_order = std::ranges::adjacent_find(fact.lost, std::greater_equal()) == fact.lost.end();
  if (!in_order || fact.lost.back() >= fact.pods.size()) return "of a found workload each pod is lost once, in order";
  if (fact.lost.size() >= fact.pods.size()) return "of a found workload some pods are there";
  return unless(within(fact.repair_until.ms, state.clock().ms, kTimeMax.ms), "a repair ends later");
}

}  // namespace berth
