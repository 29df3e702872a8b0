#include "placement/zone_choice.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/assert.h"
#include "placement/near_gpus.h"

namespace berth {
namespace {

using FreeInZones = std::array<FreeInZone, kNumaZonesMax>;

// The fullest of those zones that `will_do`.
template <class WillDo>
std::optional<std::size_t> fullest_zone(const FreeInZones& free, WillDo will_do) {
  std::optional<std::size_t> best;
  for (std::size_t zone = 0; zone < free.size(); ++zone) {
    if (!will_do(free[zone])) continue;
    const auto fuller = [&](const FreeInZone& a, const FreeInZone& b) {
      return a.gpus != b.gpus ? a.gpus < b.gpus : a.cpu_milli < b.cpu_milli;
    };
    if (!best || fuller(free[zone], free[*best])) best = zone;
  }
  return best;
}

}  // namespace

GpuSet gpus_by_zone(const NodeView& node, const PodRequest& request) {
  FreeInZones free = node.free_in_zones(request);
  const GpuSet usable = node.free_and_clean_gpus(request);
  GpuSet gpus;
  const auto take_of = [&](std::size_t zone, std::int64_t count) {
    GpuSet in_zone;
    usable.for_each([&](int gpu) {
      if (node.zone_of(gpu) == static_cast<int>(zone)) in_zone.add(gpu);
    });
    nearest_gpus(in_zone, static_cast<int>(count), node.links()).for_each([&](int gpu) { gpus.add(gpu); });
    free[zone].gpus = 0;
  };
  const auto with_cpus = fullest_zone(
      free, [&](const FreeInZone& zone) { return zone.gpus >= request.gpus && zone.cpu_milli >= request.cpu_milli; });
  if (with_cpus) {
    take_of(*with_cpus, request.gpus);
    return gpus;
  }
  while (gpus.size() < request.gpus) {
    const std::int64_t left = request.gpus - gpus.size();
    if (const auto enough = fullest_zone(free, [&](const FreeInZone& zone) { return zone.gpus >= left; })) {
      take_of(*enough, left);
      continue;
    }
    const auto emptiest = std::ranges::max_element(free, {}, &FreeInZone::gpus);
    BERTH_ASSERT(emptiest->gpus > 0);
    take_of(static_cast<std::size_t>(emptiest - free.begin()), emptiest->gpus);
  }
  return gpus;
}

}  // namespace berth
