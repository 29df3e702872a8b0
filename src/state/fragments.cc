#include "state/fragments.h"

#include <algorithm>
#include <span>

#include "model/gpu_hardware.h"
#include "state/room.h"

namespace berth {
namespace {

std::vector<Fragments::Slices> slices_of(const State& state, FlavorId flavor) {
  std::vector<Fragments::Slices> slices;
  const GpuHardware* const hardware = hardware_of(state.flavors()[flavor.index()]);
  if (hardware == nullptr) return slices;
  for (const MigProfile& profile : hardware->mig_profiles) {
    const auto slice = find_slice(state.flavors()[flavor.index()], profile.name);
    if (!slice) continue;
    PodRequest request{.gpus = 1, .gpu_milli = slice->gpu_milli, .flavors = FlavorSet::of(flavor)};
    request.sharing = Sharing::kMig;
    request.slice = slice->shape;
    std::int64_t count = 0;
    for (std::size_t node = 0; node < state.nodes(); ++node) count += room_for(state.ledger(), NodeId(node), request);
    slices.push_back({std::string(profile.name), count});
  }
  return slices;
}

}  // namespace

std::int64_t pods_that_fit(const State& state, std::int64_t gpus, FlavorId flavor) {
  std::int64_t pods = 0;
  for (std::size_t i = 0; i < state.ledger().nodes(); ++i) {
    const NodeFree& node = state.ledger().node(NodeId(i));
    if (gives_whole_gpus(node, flavor)) pods += node.whole_gpus / gpus;
  }
  return pods;
}

std::int64_t pods_that_could_fit(const State& state, std::int64_t gpus) {
  std::int64_t pods = 0;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    std::int64_t free_milli = 0;
    std::int64_t if_idle = 0;
    for (std::size_t i = 0; i < state.ledger().nodes(); ++i) {
      const NodeFree& node = state.ledger().node(NodeId(i));
      if (!gives_whole_gpus(node, FlavorId(flavor))) continue;
      free_milli += node.gpu_milli;
      if_idle += node.gpus / gpus;
    }
    pods += std::min(free_milli / (kMilliPerGpu * gpus), if_idle);
  }
  return pods;
}

std::vector<Fragments> fragments_of(const State& state) {
  std::vector<Fragments> all;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    Fragments found{.flavor = FlavorId(flavor), .sizes = {}, .slices = {}};
    bool cut = false;
    for (std::size_t i = 0; i < state.ledger().nodes(); ++i) {
      const NodeFree& node = state.ledger().node(NodeId(i));
      cut = cut || (node.open && node.gpus > 0 && node.suits(Sharing::kMig) && FlavorId(node.flavor) == found.flavor);
      if (!gives_whole_gpus(node, found.flavor)) continue;
      found.free_milli += node.gpu_milli;
      found.node_gpus = std::max<std::int64_t>(found.node_gpus, node.gpus);
    }
    for (std::int64_t gpus = 1; gpus < found.node_gpus; gpus *= 2) {
      found.sizes.push_back({gpus, pods_that_fit(state, gpus, found.flavor)});
    }
    if (found.node_gpus > 0) {
      const std::int64_t pods = pods_that_fit(state, found.node_gpus, found.flavor);
      found.sizes.push_back({found.node_gpus, pods});
      const std::int64_t of_use = pods * found.node_gpus * kMilliPerGpu;
      if (found.free_milli > 0) found.fragmented_permille = (found.free_milli - of_use) * 1000 / found.free_milli;
    }
    if (cut) found.slices = slices_of(state, found.flavor);
    if (found.node_gpus > 0 || cut) all.push_back(std::move(found));
  }
  return all;
}

}  // namespace berth
