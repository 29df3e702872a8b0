// What one pod asks of one node.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "model/flavor.h"
#include "model/gpu.h"
#include "model/ids.h"
#include "model/node.h"

namespace berth {

// Whole GPUs or parts of them, as they are.
inline constexpr std::uint8_t kNoSlice = 0xff;

// A server of MPS has at most 48 clients on a device (the documentation of MPS; more in the newest drivers, fewer on
// slices). With shares of 3 % and more there are never more than 33 pods on one, which leaves some a second process.
inline constexpr std::int32_t kMpsMilliMin = 30;

// INVARIANT: amounts >= 0; 0 <= gpus <= kGpusPerNodeMax; gpu_milli is 0 without GPUs, kMilliPerGpu for several, and
// 1..kMilliPerGpu for one; flavors is not empty when gpus > 0 and all() when it asks none. Without GPUs `sharing` is
// kExclusive, and in every other mode gpus is 1. Of a slice gpu_milli is its share of the device's processors, and all flavors
// are cut into it; of a share of MPS it is kMpsMilliMin or more; of a replica it is a GPU's, as it may use all of one in its
// turn: what it takes, its node says (NodeFree::milli_of). Of a vGPU it is its part of the device, by which the profiles of a
// model are told apart; it has as large a part of the memory, and all flavors have such a profile.
struct PodRequest {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t gpus = 0;            // devices
  std::int32_t gpu_milli = 0;       // thousandths of each
  std::int64_t gpu_memory_mib = 0;  // of each, at least; 0 = as much as its share of the device
  FlavorSet flavors = FlavorSet::all();
  Sharing sharing = Sharing::kExclusive;  // of its node
  std::uint8_t slice = kNoSlice;          // its shape in the geometry of its flavors' family (model/mig_geometry.h)
  NodeConstraintsId constraints{0};       // numbered by the state (state/node_matches.h); in events a pod set has them
  NeighboursId neighbours{0};             // numbered by the state (state/neighbourhood.h); in events a pod set has them
  SharerId sharer = {};                   // of a fraction: by the state, which knows whose it is; in events none
  ExclusiveId exclusive = {};  // numbered by the state (state/exclusive_domains.h); in events a pod set has it
  bool in_extra = false;  // it may have what nodes promise beyond what they have; it asks CPUs or memory as best effort

  constexpr bool is_slice() const { return sharing == Sharing::kMig; }
  constexpr bool is_mps() const { return sharing == Sharing::kMps; }
  constexpr bool is_replica() const { return sharing == Sharing::kTimeslice; }
  constexpr bool is_vgpu() const { return sharing == Sharing::kVgpu; }
  // It is on one device with others, of which none has a place of its own.
  constexpr bool is_fraction() const {
    return gpus == 1 && !is_slice() && (gpu_milli < kMilliPerGpu || sharing != Sharing::kExclusive);
  }
  constexpr bool is_whole_gpu() const { return gpus == 1 && !is_slice() && !is_fraction(); }
  constexpr std::int64_t gpu_milli_total() const { return std::int64_t{gpus} * gpu_milli; }

  void add_to(Hasher& hasher) const {
    hasher.add(cpu_milli).add(memory_bytes).add(gpus).add(gpu_milli).add(gpu_memory_mib).add(flavors.bits());
    hasher.add(constraints.value()).add(neighbours.value()).add(std::uint64_t{slice}).add(sharer.value());
    hasher.add(static_cast<std::uint64_t>(sharing));
    if (!exclusive.is_none()) hasher.add(exclusive.value());
    if (in_extra) hasher.add(std::uint64_t{1});
  }
  friend bool operator==(const PodRequest&, const PodRequest&) = default;
};

}  // namespace berth
