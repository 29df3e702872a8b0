#include "sim/asked_kinds.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "base/wide.h"

namespace berth {
namespace {

// The weight of the most frequent kind. What is asked less than once where that is asked so often has none, and is left out.
constexpr std::int64_t kWeightMax = 4096;

// The nearest number whose binary digits after the first three are zero.
std::int64_t to_a_quarter(std::int64_t weight) {
  const auto digits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(weight)));
  const std::int64_t step = std::int64_t{1} << std::max(0, digits - 3);
  return (weight + step / 2) / step * step;
}

}  // namespace

AskedKind kind_of(const PodRequest& request, FlavorSet flavors) {
  return {.cpu_milli = request.cpu_milli,
          .gpus = request.gpus,
          .gpu_milli = request.gpu_milli,
          .flavors = request.gpus == 0 ? FlavorSet::all().bits() : flavors.bits()};
}

void AskedKinds::add(const AskedKind& kind, std::int64_t pods) {
  pods_of_[kind] += pods;
  changed_ = true;
}

void AskedKinds::remove(const AskedKind& kind, std::int64_t pods) {
  const auto at = pods_of_.find(kind);
  BERTH_ASSERT(at != pods_of_.end() && at->second >= pods);
  at->second -= pods;
  if (at->second == 0) pods_of_.erase(at);
  changed_ = true;
}

void AskedKinds::clear() {
  pods_of_.clear();
  changed_ = true;
}

const std::vector<TypicalPod>& AskedKinds::typical_pods() {
  if (!std::exchange(changed_, false)) return typical_;
  std::vector<std::pair<std::int64_t, AskedKind>> kinds;
  std::int64_t most = 0, all = 0;
  for (const auto& [kind, pods] : pods_of_) most = std::max(most, pods);
  for (const auto& [kind, pods] : pods_of_) {
    const std::int64_t weight = to_a_quarter(static_cast<std::int64_t>(Wide{pods} * kWeightMax / most));
    kinds.emplace_back(weight, kind);
    all += weight;
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(), &std::pair<std::int64_t, AskedKind>::first);
  typical_.clear();
  std::int64_t covered = 0;
  for (const auto& [weight, kind] : kinds) {
    const bool enough = covered * 100 >= all * 95 && weight < typical_.back().weight;
    if (enough || typical_.size() == kKindsMax) break;
    covered += weight;
    typical_.push_back({.cpu_milli = kind.cpu_milli,
                        .gpus = kind.gpus,
                        .gpu_milli = kind.gpu_milli,
                        .flavors = FlavorSet::from_bits(kind.flavors),
                        .weight = weight});
  }
  return typical_;
}

}  // namespace berth
