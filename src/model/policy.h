// Where a pod goes among the nodes that fit it: the names of the score tables (src/placement/scores.h has the formulas).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/flavor.h"

namespace berth {

enum class PlacementPolicy : std::uint8_t {
  kFgd,
  kBestFit,
  kGpuPacking,
  kGpuClustering,
  kDotProduct,
  kRandom,
  kSpread,
  kFgdBalanced,
};

inline constexpr std::string_view kPlacementPolicyNames[] = {"fgd",         "best-fit", "gpu-packing", "gpu-clustering",
                                                             "dot-product", "random",   "spread",      "fgd-balanced"};

constexpr std::string_view name_of(PlacementPolicy policy) {
  return kPlacementPolicyNames[static_cast<std::size_t>(policy)];
}
// Whether it measures by what is usually asked for (TypicalPod).
constexpr bool needs_typical_pods(PlacementPolicy policy) {
  return policy == PlacementPolicy::kFgd || policy == PlacementPolicy::kFgdBalanced;
}
std::optional<PlacementPolicy> find_placement_policy(std::string_view name);

// A pod that is often asked for: what fragmentation is measured against (Weng et al., "Beware of Fragmentation",
// USENIX ATC 2023). INVARIANT: weight > 0; otherwise as PodRequest.
struct TypicalPod {
  std::int64_t cpu_milli = 0;
  std::int32_t gpus = 0;
  std::int32_t gpu_milli = 0;
  FlavorSet flavors = FlavorSet::all();
  std::int64_t weight = 1;  // how many of the pods looked at were like this one

  friend bool operator==(const TypicalPod&, const TypicalPod&) = default;
};

// Keep products of weights and free thousandths inside 64 bits.
inline constexpr std::int64_t kTypicalWeightMax = 1'000'000'000;
inline constexpr std::size_t kTypicalPodsMax = 4096;

}  // namespace berth
