// How much of what is free is of no use to the pods that are usually asked for. The measure, and the score made from it:
// Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX
// ATC 2023. All in integers: a node whose fragmentation does not change must score exactly the middle.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/flavor.h"
#include "model/gpu.h"
#include "model/policy.h"

namespace berth {

// INVARIANT: every amount below is in thousandths of a GPU times weight, and at most
// kGpusPerNodeMax x kMilliPerGpu x kTypicalWeightMax, far inside 64 bits.
class Fragmentation {
 public:
  Fragmentation(std::span<const TypicalPod> pods, std::size_t flavors);

  // The sum of the weights.
  std::int64_t weight() const { return weight_; }

  // Over the typical pods, weighted: the free thousandths of a node that such a pod cannot use. That is all of them if
  // it asks no GPU, another type, more CPU than is free, or more or larger pieces than there are; otherwise what is free
  // on GPUs that have less than one piece. PRE: the node has GPUs, of this flavor.
  std::int64_t unusable(FlavorId flavor, std::int64_t cpu_free_milli,
                        std::span<const std::int16_t> gpu_free_milli) const;

  // floor(100 x sigmoid(x)), where x is by how many GPUs the weighted mean fragmentation falls: 50 for no change.
  int score(std::int64_t unusable_before, std::int64_t unusable_after) const;

 private:
  // What the pods that a node's type and free CPU admit sum up to. Pieces are ranked by size; a rank is how many sizes
  // are not above it.
  struct Admitted {
    std::int64_t weight_unusable = 0;    // pods that cannot use the node whatever its GPUs
    std::vector<std::int64_t> by_piece;  // by rank: weight of pods for one piece of at most that size
    std::vector<std::int64_t> by_whole;  // by count: weight of pods for 2..count whole GPUs
  };

  std::size_t cpu_level(std::int64_t cpu_free_milli) const;
  void index_pieces(std::span<const TypicalPod> pods);
  Admitted admitted_by(std::span<const TypicalPod> pods, FlavorId flavor, std::int64_t cpu_free_milli) const;

  std::int64_t weight_ = 0;
  std::vector<std::int64_t> cpu_levels_;                // distinct CPU requests, ascending
  std::array<std::uint16_t, kMilliPerGpu + 1> rank_{};  // of free thousandths
  std::size_t ranks_ = 1;
  std::vector<Admitted> admitted_;             // by flavor, then CPU level
  std::array<std::int64_t, 99> thresholds_{};  // the fall from which on the score is 1, 2, ... 99
};

}  // namespace berth
