#include "state/zones.h"

#include <algorithm>

namespace berth {
namespace {

bool is_strict(NumaPolicy policy) { return policy == NumaPolicy::kRestricted || policy == NumaPolicy::kSingleNumaNode; }

// How many GPUs each zone has, free or not.
std::array<int, kNumaZonesMax> gpus_of_zones(const NodeFree& node, int zones) {
  std::array<int, kNumaZonesMax> gpus{};
  for (int gpu = 0; gpu < node.gpus; ++gpu) ++gpus[static_cast<std::size_t>(zone_of_gpu(gpu, node.gpus, zones))];
  return gpus;
}

bool fits_one_idle_zone(const NodeZones& zones, const std::array<int, kNumaZonesMax>& gpus, const PodRequest& request) {
  for (int zone = 0; zone < zones.zones; ++zone) {
    if (gpus[static_cast<std::size_t>(zone)] >= request.gpus &&
        even_part(zones.cpu_milli_in_all, zone, zones.zones) >= request.cpu_milli) {
      return true;
    }
  }
  return false;
}

// Without any one of the zones it would not fit the idle node.
bool needs_every_zone(const NodeFree& node, const NodeZones& zones, const std::array<int, kNumaZonesMax>& gpus,
                      const PodRequest& request) {
  for (int zone = 0; zone < zones.zones; ++zone) {
    const std::int64_t cpu_milli = even_part(zones.cpu_milli_in_all, zone, zones.zones);
    if (node.gpus - gpus[static_cast<std::size_t>(zone)] >= request.gpus &&
        zones.cpu_milli_in_all - cpu_milli >= request.cpu_milli) {
      return false;
    }
  }
  return true;
}

// Wherever its GPUs are, it has no more zones than it must have.
bool has_fewest_anywhere(const NodeFree& node, const NodeZones& zones, const std::array<int, kNumaZonesMax>& gpus,
                         const PodRequest& request) {
  return *std::ranges::max_element(gpus) <= 1 || needs_every_zone(node, zones, gpus, request);
}

}  // namespace

InZones in_zones(const Ledger& ledger, NodeId id, const PodRequest& request) {
  const NodeFree& node = ledger.node(id);
  if (!is_strict(node.numa) || !node.counts_by_zone(request)) return InZones::kAnywhere;
  const NodeZones& zones = ledger.zones(id);
  const auto gpus = gpus_of_zones(node, zones.zones);
  if (fits_one_idle_zone(zones, gpus, request)) return InZones::kOne;
  const bool fewest = node.numa == NumaPolicy::kRestricted && has_fewest_anywhere(node, zones, gpus, request);
  return fewest ? InZones::kAnywhere : InZones::kNever;
}

std::array<FreeInZone, kNumaZonesMax> free_in_zones(const Ledger& ledger, NodeId id, const PodRequest& request) {
  const NodeFree& node = ledger.node(id);
  const NodeZones& zones = ledger.zones(id);
  const auto milli = ledger.gpu_milli(id);
  std::array<FreeInZone, kNumaZonesMax> free{};
  for (std::size_t zone = 0; zone < zones.zones; ++zone) free[zone].cpu_milli = zones.cpu_milli[zone];
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    if (milli[at] != kMilliPerGpu || !ledger.is_clean_for(id, at, request)) continue;
    ++free[static_cast<std::size_t>(zone_of_gpu(gpu, node.gpus, zones.zones))].gpus;
  }
  return free;
}

std::int64_t room_in_zones(const Ledger& ledger, NodeId id, const PodRequest& request) {
  std::int64_t room = 0;
  for (const FreeInZone& zone : free_in_zones(ledger, id, request)) {
    const std::int64_t by_gpus = zone.gpus / request.gpus;
    const std::int64_t by_cpus =
        request.cpu_milli > 0 ? std::max<std::int64_t>(0, zone.cpu_milli) / request.cpu_milli : by_gpus;
    room += std::min(by_gpus, by_cpus);
  }
  return room;
}

bool suits_zones(const Ledger& ledger, const PodRequest& request, const PodPlacement& place) {
  const InZones where = in_zones(ledger, place.node, request);
  if (where != InZones::kOne) return where == InZones::kAnywhere;
  const NodeFree& node = ledger.node(place.node);
  const NodeZones& zones = ledger.zones(place.node);
  int first = -1;
  bool together = true;
  place.gpus.for_each([&](int gpu) {
    const int zone = zone_of_gpu(gpu, node.gpus, zones.zones);
    if (first < 0) first = zone;
    together = together && zone == first;
  });
  return together && (request.cpu_milli == 0 || zones.cpu_milli[static_cast<std::size_t>(first)] >= request.cpu_milli);
}

}  // namespace berth
