// What one pod asks of one node.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "model/flavor.h"
#include "model/gpu.h"
#include "model/ids.h"

namespace berth {

// Whole GPUs or parts of them, as they are.
inline constexpr std::uint8_t kNoSlice = 0xff;

// INVARIANT: amounts >= 0; 0 <= gpus <= kGpusPerNodeMax; gpu_milli is 0 without GPUs, kMilliPerGpu for several, and
// 1..kMilliPerGpu for one; flavors is not empty when gpus > 0 and all() when it asks none. Of a slice gpus is 1, gpu_milli is
// its share of the device's processors, and all flavors are cut into it.
struct PodRequest {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t gpus = 0;            // devices
  std::int32_t gpu_milli = 0;       // thousandths of each
  std::int64_t gpu_memory_mib = 0;  // of each, at least; 0 = as much as its share of the device
  FlavorSet flavors = FlavorSet::all();
  std::uint8_t slice = kNoSlice;     // its shape in the geometry of its flavors' family (model/mig_geometry.h)
  NodeConstraintsId constraints{0};  // numbered by the state (state/node_matches.h); in events a pod set has them

  constexpr bool is_slice() const { return slice != kNoSlice; }
  constexpr bool is_fraction() const { return gpus == 1 && gpu_milli < kMilliPerGpu && !is_slice(); }
  constexpr std::int64_t gpu_milli_total() const { return std::int64_t{gpus} * gpu_milli; }

  void add_to(Hasher& hasher) const {
    hasher.add(cpu_milli).add(memory_bytes).add(gpus).add(gpu_milli).add(gpu_memory_mib).add(flavors.bits());
    hasher.add(constraints.value()).add(std::uint64_t{slice});
  }
  friend bool operator==(const PodRequest&, const PodRequest&) = default;
};

}  // namespace berth
