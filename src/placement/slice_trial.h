// A trial of rules that place slices, for tests and benchmarks only: requests come and go at random on GPUs that are all cut
// by demand; who does not fit on arrival is lost. What it measures is written down in docs/results.md.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "model/mig_geometry.h"
#include "placement/slice_choice.h"

namespace berth {

// Of an H100: 1g.10gb, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb and 7g.80gb.
inline constexpr std::array<std::size_t, 6> kTrialShapes = {0, 2, 3, 4, 5, 6};
inline constexpr std::array<std::int64_t, 6> kTrialSms = {16, 26, 32, 60, 64, 132};
inline constexpr std::int64_t kTrialSmsOfGpu = 132;

struct SliceMix {
  std::string_view name;
  std::array<std::int64_t, 6> parts;

  constexpr std::int64_t all() const {
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) sum += part;
    return sum;
  }
  // Of `all()` requests together.
  constexpr std::int64_t sms() const {
    std::int64_t sum = 0;
    for (std::size_t kind = 0; kind < parts.size(); ++kind) sum += parts[kind] * kTrialSms[kind];
    return sum;
  }
};

inline constexpr SliceMix kSliceMixes[] = {
    {"stated", {40, 10, 15, 20, 10, 5}}, {"even", {1, 1, 1, 1, 1, 1}}, {"small", {6, 5, 4, 3, 2, 1}},
    {"large", {1, 2, 3, 4, 5, 6}},       {"ends", {3, 2, 1, 1, 2, 3}},
};

enum class SliceRule : std::uint8_t { kFirstFit, kLeastCost, kFreeMoves };

struct SliceTrial {
  const SliceMix& mix;
  std::int64_t load_percent = 100;
  std::size_t gpus = 1000;
  std::int64_t warm_up = 50'000;  // arrivals
  std::int64_t measured = 200'000;
};

struct SliceWork {
  std::int64_t asked_sms = 0;
  std::int64_t taken_sms = 0;
};

inline std::optional<SliceChoice> first_fit(const MigGeometry& mig, std::size_t shape,
                                            std::span<const MigPlaceSet> layouts) {
  for (std::size_t device = 0; device < layouts.size(); ++device) {
    const MigPlaceSet open = mig.open_beside(layouts[device]).common_with(mig.places_of(shape));
    if (!open.empty()) return SliceChoice{device, static_cast<std::size_t>(std::countr_zero(open.bits()))};
  }
  return std::nullopt;
}

// Whether GPUs can hold so many slices of each kind, all of them free to move. A GPU that is no 7g has a left half for a 4g, a 3g,
// or two pairs of memory slices, and a right half for a 3g, or a pair and the last one, which no 2g and only one 1g can have.
inline bool can_be_packed(std::int64_t gpus, const std::array<std::int64_t, 6>& counts) {
  const auto [small, small_wide, two, three, four, seven] = counts;
  // A 3g takes less that is of use on the right.
  const std::int64_t three_right = std::min(std::max<std::int64_t>(gpus - seven, 0), three);
  const std::int64_t right = gpus - seven - three_right;
  const std::int64_t left = gpus - seven - four - (three - three_right);
  if (right < 0 || left < 0) return false;
  const std::int64_t last_wide = std::min(right, small_wide);
  const std::int64_t pairs = 2 * left + right - two - (small_wide - last_wide);
  return pairs >= 0 && small <= 2 * pairs + right - last_wide;
}

// The jumps of a Markov chain: next comes an arrival or an end, in proportion to how often they happen.
inline SliceWork try_slices(const SliceTrial& trial, SliceRule rule, Seed seed) {
  struct Slice {
    std::size_t device, place, kind;
  };
  static const SliceCosts costs(kMigOfA100);
  std::vector<MigPlaceSet> layouts(trial.gpus);
  std::vector<Slice> running;
  std::array<std::int64_t, 6> counts{};
  SliceWork work;
  Rng rng(seed);
  const auto gpus = static_cast<std::int64_t>(trial.gpus);
  const std::int64_t arrivals = trial.load_percent * kTrialSmsOfGpu * gpus * trial.mix.all();
  const std::int64_t ends = trial.mix.sms() * 100;
  for (std::int64_t arrived = 0; arrived < trial.warm_up + trial.measured;) {
    const std::int64_t all = arrivals + ends * static_cast<std::int64_t>(running.size());
    if (rng.between(0, all - 1) >= arrivals) {
      Slice& over = running[rng.below(running.size())];
      if (rule != SliceRule::kFreeMoves) layouts[over.device] = layouts[over.device].without(over.place);
      --counts[over.kind];
      over = running.back();
      running.pop_back();
      continue;
    }
    std::size_t kind = 0;
    for (std::int64_t part = rng.between(0, trial.mix.all() - 1); part >= trial.mix.parts[kind];)
      part -= trial.mix.parts[kind++];
    const bool counts_now = ++arrived > trial.warm_up;
    if (counts_now) work.asked_sms += kTrialSms[kind];
    std::optional<SliceChoice> choice;
    ++counts[kind];
    if (rule == SliceRule::kFirstFit) choice = first_fit(kMigOfA100, kTrialShapes[kind], layouts);
    if (rule == SliceRule::kLeastCost) choice = choose_slice(costs, kTrialShapes[kind], layouts);
    if (rule == SliceRule::kFreeMoves && can_be_packed(gpus, counts)) choice = SliceChoice{};
    if (!choice) {
      --counts[kind];
      continue;
    }
    if (rule != SliceRule::kFreeMoves) layouts[choice->device] = layouts[choice->device].with(choice->place);
    running.push_back({choice->device, choice->place, kind});
    if (counts_now) work.taken_sms += kTrialSms[kind];
  }
  return work;
}

}  // namespace berth
