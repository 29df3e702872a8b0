// The exact optimum of the trial in slice_trial.h on one or two GPUs, for tests and benchmarks only: what share of the work the
// best rule takes that knows the mix and not the future. Relative value iteration over all layouts, in fixed point.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/wide.h"
#include "model/mig_geometry.h"
#include "placement/slice_choice.h"
#include "placement/slice_trial.h"

namespace berth {

enum class SliceAim : std::uint8_t {
  kFirstFit,
  kLeastCost,
  kBest,  // takes whoever fits
  kBestMayRefuse,
};

class SliceOptimum {
 public:
  // PRE: one GPU, or two.
  explicit SliceOptimum(std::size_t gpus);

  // Work taken, in millionths of what is asked for.
  std::int64_t taken_ppm(const SliceMix& mix, std::int64_t load_percent, SliceAim aim) const;

 private:
  // One SM.
  static constexpr std::int64_t kOne = std::int64_t{1} << 24;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

  // From one layout to others, by their numbers.
  struct Steps {
    std::array<std::vector<std::size_t>, 6> starts;  // by kind of slice, then by place
    std::array<std::size_t, 6> cheapest{};           // what least cost takes; only where there is one
    std::array<SliceCost, 6> cost{};
    std::vector<std::size_t> ends;
  };
  // The layouts of both GPUs; of one GPU, the first is always 0 and never steps.
  struct Pair {
    std::size_t first, second;
  };

  std::size_t gpus_;
  std::vector<MigPlaceSet> layouts_;
  std::vector<Steps> steps_;

  std::size_t number_of(Pair pair) const { return pair.first * layouts_.size() + pair.second; }
  void find_layouts(MigPlaceSet layout, std::size_t from);
  // The worth of the layouts after one more slice; kNever where it does not fit.
  std::int64_t best_start(const std::vector<std::int64_t>& worth, Pair pair, std::size_t kind, SliceAim aim) const;
  std::int64_t sum_of_ends(const std::vector<std::int64_t>& worth, Pair pair) const;
};

inline SliceOptimum::SliceOptimum(std::size_t gpus) : gpus_(gpus) {
  BERTH_ASSERT(gpus == 1 || gpus == 2);
  find_layouts({}, 0);
  std::map<std::uint32_t, std::size_t> numbers;
  for (std::size_t number = 0; number < layouts_.size(); ++number) numbers[layouts_[number].bits()] = number;
  const SliceCosts costs(kMigOfA100);
  for (const MigPlaceSet layout : layouts_) {
    Steps& steps = steps_.emplace_back();
    layout.for_each([&](std::size_t place) { steps.ends.push_back(numbers.at(layout.without(place).bits())); });
    for (std::size_t kind = 0; kind < kTrialShapes.size(); ++kind) {
      const MigPlaceSet places = kMigOfA100.places_of(kTrialShapes[kind]);
      kMigOfA100.open_beside(layout).common_with(places).for_each(
          [&](std::size_t place) { steps.starts[kind].push_back(numbers.at(layout.with(place).bits())); });
      const std::optional<SliceCosts::Cut> cut = costs.cheapest_cut(kTrialShapes[kind], layout);
      if (!cut) continue;
      steps.cheapest[kind] = numbers.at(layout.with(cut->place).bits());
      steps.cost[kind] = cut->cost;
    }
  }
}

inline void SliceOptimum::find_layouts(MigPlaceSet layout, std::size_t from) {
  layouts_.push_back(layout);
  kMigOfA100.open_beside(layout).for_each([&](std::size_t place) {
    const bool plain = kMigOfA100.shapes()[kMigOfA100.places()[place].shape].is_plain();
    if (place >= from && plain) find_layouts(layout.with(place), place + 1);
  });
}

inline std::int64_t SliceOptimum::best_start(const std::vector<std::int64_t>& worth, Pair pair, std::size_t kind,
                                             SliceAim aim) const {
  const Steps& first = steps_[pair.first];
  const Steps& second = steps_[pair.second];
  const bool on_first = gpus_ == 2 && !first.starts[kind].empty();
  const bool on_second = !second.starts[kind].empty();
  if (!on_first && !on_second) return kNever;
  if (aim == SliceAim::kFirstFit)
    return worth[on_first ? number_of({first.starts[kind][0], pair.second})
                          : number_of({pair.first, second.starts[kind][0]})];
  if (aim == SliceAim::kLeastCost) {
    const bool cheaper = on_first && (!on_second || first.cost[kind] <= second.cost[kind]);
    return worth[cheaper ? number_of({first.cheapest[kind], pair.second})
                         : number_of({pair.first, second.cheapest[kind]})];
  }
  std::int64_t best = kNever;
  if (on_first)
    for (const std::size_t to : first.starts[kind]) best = std::max(best, worth[number_of({to, pair.second})]);
  for (const std::size_t to : second.starts[kind]) best = std::max(best, worth[number_of({pair.first, to})]);
  return best;
}

inline std::int64_t SliceOptimum::sum_of_ends(const std::vector<std::int64_t>& worth, Pair pair) const {
  const std::int64_t here = worth[number_of(pair)];
  std::int64_t sum = 0;
  if (gpus_ == 2)
    for (const std::size_t to : steps_[pair.first].ends) sum += worth[number_of({to, pair.second})] - here;
  for (const std::size_t to : steps_[pair.second].ends) sum += worth[number_of({pair.first, to})] - here;
  return sum;
}

inline std::int64_t SliceOptimum::taken_ppm(const SliceMix& mix, std::int64_t load_percent, SliceAim aim) const {
  // How often what happens, as in the trial; `all` is enough for every arrival and as many ends as there can be.
  const auto gpus = static_cast<std::int64_t>(gpus_);
  const std::int64_t arrivals = load_percent * kTrialSmsOfGpu * gpus;  // for each part of the mix
  const std::int64_t ends = mix.sms() * 100;
  const std::int64_t all = arrivals * mix.all() + ends * 7 * gpus;
  const std::size_t firsts = gpus_ == 2 ? layouts_.size() : 1;
  std::vector<std::int64_t> worth(firsts * layouts_.size());
  std::vector<std::int64_t> next = worth;
  for (;;) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = kNever;
    for (Pair pair{0, 0}; pair.first < firsts; ++pair.first) {
      for (pair.second = 0; pair.second < layouts_.size(); ++pair.second) {
        const std::size_t here = number_of(pair);
        std::int64_t gain = ends * sum_of_ends(worth, pair);
        for (std::size_t kind = 0; kind < kTrialShapes.size(); ++kind) {
          const std::int64_t start = best_start(worth, pair, kind, aim);
          if (start == kNever) continue;
          const std::int64_t taken = kTrialSms[kind] * kOne + start - worth[here];
          if (taken > 0 || aim != SliceAim::kBestMayRefuse) gain += arrivals * mix.parts[kind] * taken;
        }
        gain /= all;
        next[here] = worth[here] + gain;
        least = std::min(least, gain);
        most = std::max(most, gain);
      }
    }
    const std::int64_t base = next[0];  // only differences count
    std::ranges::transform(next, worth.begin(), [base](std::int64_t value) { return value - base; });
    // SMs taken in a step, over those asked for in a step.
    if (most - least <= kOne / 2000)
      return static_cast<std::int64_t>(Wide{least + most} / 2 * 1'000'000 * all / (Wide{kOne} * arrivals * mix.sms()));
  }
}

}  // namespace berth
