#include "placement/balance.h"

#include <algorithm>

#include "base/wide.h"
#include "model/gpu.h"

namespace berth {
namespace {

constexpr int kFractionBits = 20;

std::int64_t gpu_milli_of(const TypicalPod& pod) { return std::int64_t{pod.gpus} * pod.gpu_milli; }

// The thousandths of GPUs that are asked for with one CPU thousandth.
std::int64_t asked_per_cpu(std::span<const TypicalPod> pods) {
  Wide gpu = 0;
  Wide cpu = 0;
  for (const TypicalPod& pod : pods) {
    if (pod.gpus == 0) continue;
    gpu += Wide{gpu_milli_of(pod)} * pod.weight;
    cpu += Wide{pod.cpu_milli} * pod.weight;
  }
  if (cpu == 0) return 0;
  // Above this one thousandth of a CPU is enough for all GPUs of a node.
  constexpr Wide kEnough = Wide{kGpusPerNodeMax * kMilliPerGpu} << kFractionBits;
  return static_cast<std::int64_t>(std::clamp<Wide>(((gpu << kFractionBits) + cpu - 1) / cpu, 1, kEnough));
}

// By flavor: what is asked of it in all, in thousandths of GPUs times weight. A pod is spread over all that it accepts in
// the proportion of their GPUs.
std::vector<Wide> asked_of(std::span<const TypicalPod> pods, std::span<const std::int64_t> gpus_of_flavor) {
  std::vector<Wide> asked(gpus_of_flavor.size(), 0);
  for (const TypicalPod& pod : pods) {
    Wide accepted = 0;
    for (std::size_t flavor = 0; flavor < gpus_of_flavor.size(); ++flavor) {
      if (pod.flavors.contains(FlavorId(flavor))) accepted += gpus_of_flavor[flavor];
    }
    if (accepted == 0) continue;
    for (std::size_t flavor = 0; flavor < gpus_of_flavor.size(); ++flavor) {
      if (!pod.flavors.contains(FlavorId(flavor))) continue;
      asked[flavor] += Wide{gpu_milli_of(pod)} * pod.weight * gpus_of_flavor[flavor] / accepted;
    }
  }
  return asked;
}

}  // namespace

Balance::Balance(std::span<const TypicalPod> pods, std::span<const std::int64_t> gpus_of_flavor)
    : gpu_per_cpu_(asked_per_cpu(pods)), scarcity_(gpus_of_flavor.size(), 0) {
  const std::vector<Wide> asked = asked_of(pods, gpus_of_flavor);
  Wide asked_in_all = 0;
  Wide gpus_in_all = 0;
  for (std::size_t flavor = 0; flavor < asked.size(); ++flavor) {
    asked_in_all += asked[flavor];
    gpus_in_all += gpus_of_flavor[flavor];
  }
  if (asked_in_all == 0) return;
  for (std::size_t flavor = 0; flavor < asked.size(); ++flavor) {
    if (gpus_of_flavor[flavor] == 0) continue;
    const Wide scarcity = asked[flavor] * gpus_in_all * kScarcityMean / (asked_in_all * gpus_of_flavor[flavor]);
    scarcity_[flavor] = static_cast<std::int64_t>(std::min<Wide>(scarcity, kScarcityMax));
  }
}

std::int64_t Balance::stranded(std::int64_t cpu_free_milli, std::int64_t gpu_free_milli) const {
  if (gpu_per_cpu_ == 0) return 0;
  const Wide served = (Wide{cpu_free_milli} * gpu_per_cpu_) >> kFractionBits;
  return served >= gpu_free_milli ? 0 : gpu_free_milli - static_cast<std::int64_t>(served);
}

}  // namespace berth
