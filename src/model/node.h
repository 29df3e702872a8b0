// A machine: what it has when nothing runs on it.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/gpu.h"
#include "model/gpu_links.h"
#include "model/ids.h"
#include "model/mig_geometry.h"
#include "model/node_constraints.h"
#include "model/numa.h"

namespace berth {

// The most that is believed of one machine and of one fleet. The fleet's sums stay inside 64 bits.
inline constexpr std::int64_t kNodesMax = 1 << 24;
inline constexpr std::int64_t kNodeCpuMilliMax = 50'000'000;                // 50,000 cores
inline constexpr std::int64_t kNodeMemoryBytesMax = std::int64_t{1} << 50;  // a PiB
inline constexpr std::int64_t kFleetMemoryBytesMax = std::int64_t{1} << 62;
inline constexpr std::int64_t kFleetCpuMilliMax = std::int64_t{1} << 43;  // shares are compared in 128 bits
inline constexpr std::int32_t kPodsUnbounded = std::numeric_limits<std::int32_t>::max();

// How pods may share a GPU of a node: not at all but by fractions that trust each other; cut into slices (MIG); in shares of
// one user, through a server of his (MPS); in turns, as so many replicas; or as vGPUs, which a hypervisor gives to virtual
// machines (model/vgpu_profiles.h). A node is of one mode whole, as the driver's is changed only where nothing runs: a node that
// may be of several is of the one that the first asks who comes, until all have left.
enum class Sharing : std::uint8_t { kExclusive, kMig, kMps, kTimeslice, kVgpu };
inline constexpr std::string_view kSharingNames[] = {"exclusive", "mig", "mps", "timeslice", "vgpu"};
constexpr std::string_view name_of(Sharing sharing) { return kSharingNames[static_cast<std::size_t>(sharing)]; }

// Some of these ways.
class SharingSet {
 public:
  constexpr SharingSet() = default;
  static constexpr SharingSet of(Sharing sharing) { return SharingSet(bit(sharing)); }
  static constexpr SharingSet from_bits(std::uint8_t bits) { return SharingSet(bits); }

  constexpr void add(Sharing sharing) { bits_ = static_cast<std::uint8_t>(bits_ | bit(sharing)); }
  constexpr bool contains(Sharing sharing) const { return (bits_ & bit(sharing)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::uint8_t bits() const { return bits_; }

  friend constexpr bool operator==(SharingSet, SharingSet) = default;

 private:
  explicit constexpr SharingSet(std::uint8_t bits) : bits_(bits) {}
  static constexpr std::uint8_t bit(Sharing sharing) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(sharing));
  }

  std::uint8_t bits_ = 0;
};

// What GPUs of a mode are, and others are not.
struct SharingWords {
  std::string_view is, is_not;
};
inline constexpr SharingWords kSharingWords[] = {{"not shared", "shared"},
                                                 {"cut into slices", "not cut into slices"},
                                                 {"shared by MPS", "not shared by MPS"},
                                                 {"time-sliced", "not time-sliced"},
                                                 {"shared as vGPUs", "not shared as vGPUs"}};
constexpr const SharingWords& words_of(Sharing sharing) { return kSharingWords[static_cast<std::size_t>(sharing)]; }

// Up to so many replicas a thousandth part of a GPU, rounded down, still makes exactly as many.
inline constexpr std::int32_t kReplicasMax = 32;
static_assert([] {
  for (std::int32_t replicas = 1; replicas <= kReplicasMax; ++replicas) {
    if (kMilliPerGpu / (kMilliPerGpu / replicas) != replicas) return false;
  }
  return true;
}());

// Longest that a GPU's slices may take to be cut anew. After it the GPU stays as it is for so many times as long: so it is without some of
// its slices for an eleventh of the time at most, however demand turns.
inline constexpr Duration kRecutMax = seconds(3600);
inline constexpr std::int64_t kRecutsOfRest = 10;

// Into so many layouts, one of them, all GPUs of a node may be cut at once.
inline constexpr std::size_t kNodeLayoutsMax = 16;

// CPUs and memory: what a machine has beside its GPUs.
struct HostAmounts {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;

  friend HostAmounts operator+(const HostAmounts& a, const HostAmounts& b) {
    return {a.cpu_milli + b.cpu_milli, a.memory_bytes + b.memory_bytes};
  }
  friend bool operator==(const HostAmounts&, const HostAmounts&) = default;
};

constexpr HostAmounts above_nothing(const HostAmounts& amounts) {
  return {amounts.cpu_milli > 0 ? amounts.cpu_milli : 0, amounts.memory_bytes > 0 ? amounts.memory_bytes : 0};
}

// A node promises to all its work together at most so many times what it has. The sums of a fleet that does stay inside 64 bits.
inline constexpr std::int64_t kOvercommitMax = 10;

// What a node of so much promises to best effort beyond that, where all its work together may ask `milli` thousandths of it: rounded down.
constexpr std::int64_t extra_of(std::int64_t has, std::int64_t milli) {
  const std::int64_t beyond = milli - 1000;
  return has / 1000 * beyond + has % 1000 * beyond / 1000;
}

// An image of containers, under one of its names.
struct NodeImage {
  std::string name;
  std::int64_t bytes = 0;

  friend bool operator==(const NodeImage&, const NodeImage&) = default;
};
inline constexpr std::size_t kImagesMax = 10'000;                      // of one node
inline constexpr std::int64_t kImageBytesMax = std::int64_t{1} << 40;  // of one, a TiB

// INVARIANT: amounts >= 0 and within the bounds above; 0 <= gpus <= kGpusPerNodeMax; `flavor` is none exactly when
// gpus == 0; without GPUs it is kExclusive; replicas is 2..kReplicasMax where they are time-sliced and 1 elsewhere;
// fixed slices are a layout of its GPUs' model, and empty where they are not cut; only what was cut beforehand is cut anew, in 0..kRecutMax, and only what is cut anew has layouts, kNodeLayoutsMax at most, each with some slice. The other modes are none of these: not the one
// that it has by itself, nor turns; and there are none where GPUs are time-sliced, or cut beforehand. What is kept for all GPUs is no
// more than the node has, and what is extra no more than kOvercommitMax - 1 times as much; it has 1..kNumaZonesMax zones, and a policy only where GPUs are kExclusive and nothing else.
struct Node {
  std::string name;
  FlavorId flavor;
  std::int32_t gpus = 0;
  std::int64_t gpu_memory_mib = 0;  // of each GPU; 0 = not known
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t pods_max = kPodsUnbounded;
  Labels labels = {};
  std::vector<Taint> taints = {};
  Sharing sharing = Sharing::kExclusive;  // kMig, kVgpu: with GPUs of a model that can be cut, or has vGPUs
  SharingSet other_modes = {};            // what it may be instead, as long as nobody has a GPU of it
  std::int32_t replicas = 1;              // as how many each GPU counts
  MigPlaceSet fixed_slices = {};          // into which each GPU was cut beforehand; empty: it is cut as pods ask
  Duration recut{0};                      // it takes so long to cut those anew that nobody has; none: they stay
  // Whatever tells a node how its GPUs are to be cut names one layout for all of them, while nobody is on any: one of these. None: each
  // GPU is cut by itself, around those who are there.
  std::vector<MigPlaceSet> layouts = {};
  HostAmounts kept_per_gpu = {};  // for each GPU, free or not, so much is for pods that ask GPUs
  HostAmounts extra = {};         // so much it promises to best effort beyond what it has
  std::int32_t numa_zones = 1;
  NumaPolicy numa_policy = NumaPolicy::kNone;
  GpuLinks links = {};                 // which of its GPUs are nearer to each other; with a policy, inside its zones
  bool spare = false;                  // nobody starts there: it is for those whom gangs have lost elsewhere
  std::vector<NodeImage> images = {};  // that it has, by their names, each once

  // Those that stay, whatever is asked: there is nothing else to be had of it.
  MigPlaceSet lasting_slices() const { return recut > Duration{0} ? MigPlaceSet() : fixed_slices; }
  bool may_be(Sharing mode) const { return sharing == mode || other_modes.contains(mode); }
  friend bool operator==(const Node&, const Node&) = default;
};

// Some of one node's GPUs, by their index there.
class GpuSet {
 public:
  constexpr GpuSet() = default;
  static constexpr GpuSet from_bits(std::uint64_t bits) { return GpuSet(bits); }

  constexpr void add(int gpu) { bits_ |= std::uint64_t{1} << gpu; }
  constexpr bool contains(int gpu) const { return ((bits_ >> gpu) & 1) != 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::uint64_t bits() const { return bits_; }

  // Calls visit(index) in ascending order.
  template <class Visit>
  constexpr void for_each(Visit visit) const {
    for (std::uint64_t left = bits_; left != 0; left &= left - 1) visit(std::countr_zero(left));
  }

  friend constexpr bool operator==(GpuSet, GpuSet) = default;

 private:
  explicit constexpr GpuSet(std::uint64_t bits) : bits_(bits) {}

  std::uint64_t bits_ = 0;
};

}  // namespace berth
