// What the policy fgd-balanced looks at beside fragmentation, and fragmentation does not see until it is too late: GPUs
// that a node's CPUs cannot serve, and types of GPUs that are sought more than others. In integers, as fragmentation is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/flavor.h"
#include "model/policy.h"

namespace berth {

// INVARIANT: what it tells is at most kGpusPerNodeMax x kMilliPerGpu, and kScarcityMax.
class Balance {
 public:
  static constexpr std::int64_t kScarcityMean = 1000;
  static constexpr std::int64_t kScarcityMax = 8 * kScarcityMean;

  // By flavor: how many GPUs there are.
  Balance(std::span<const TypicalPod> pods, std::span<const std::int64_t> gpus_of_flavor);

  // The free thousandths of a node's GPUs beyond those for which its free CPUs would do, if each were used with as many
  // CPUs as the typical pods use with theirs.
  std::int64_t stranded(std::int64_t cpu_free_milli, std::int64_t gpu_free_milli) const;

  // How much is asked of each GPU of a flavor, if every typical pod is spread evenly over the GPUs that it accepts: in
  // thousandths of what is asked of a GPU in the mean. 0 where nobody asks for a GPU, or nobody could have one.
  std::int64_t scarcity(FlavorId flavor) const { return scarcity_[flavor.index()]; }

 private:
  std::int64_t gpu_per_cpu_ = 0;  // in 2^-20; 0: the typical pods ask no CPUs with their GPUs
  std::vector<std::int64_t> scarcity_;
};

}  // namespace berth
