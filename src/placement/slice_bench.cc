// How much work slices take, by rule (the tables of docs/results.md), and what one choice costs. Long: name what you want, as
// docs/results.md does.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "placement/slice_choice.h"
#include "placement/slice_optimum.h"
#include "placement/slice_trial.h"

namespace berth {
namespace {

// 1,000 GPUs: percent of the work asked for, over the seeds from 42 on.
void slice_trial(benchmark::State& state) {
  const SliceMix& mix = kSliceMixes[state.range(0)];
  const SliceTrial trial{.mix = mix, .load_percent = state.range(1)};
  const auto percent_of = [&](SliceRule rule) {
    SliceWork sum;
    for (std::int64_t seed = 0; seed < state.range(2); ++seed) {
      const SliceWork work = try_slices(trial, rule, Seed{42 + static_cast<std::uint64_t>(seed)});
      sum.asked_sms += work.asked_sms;
      sum.taken_sms += work.taken_sms;
    }
    return 100.0 * static_cast<double>(sum.taken_sms) / static_cast<double>(sum.asked_sms);
  };
  for (auto _ : state) {
    const double first = percent_of(SliceRule::kFirstFit);
    const double ours = percent_of(SliceRule::kLeastCost);
    state.counters["first_fit"] = first;
    state.counters["ours"] = ours;
    state.counters["gain"] = 100 * (ours / first - 1);
    state.counters["free_moves"] = percent_of(SliceRule::kFreeMoves);
  }
  state.SetLabel(std::string(mix.name));
}
BENCHMARK(slice_trial)
    ->ArgNames({"mix", "load", "seeds"})
    ->ArgsProduct({{0}, {100, 110, 120, 130}, {10}})
    ->ArgsProduct({{1, 2, 3, 4}, {100, 110, 120, 130}, {2}})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

// One GPU or two: percent of the work asked for, exactly.
void slice_optimum(benchmark::State& state) {
  const SliceOptimum optimum(static_cast<std::size_t>(state.range(0)));
  const SliceMix& mix = kSliceMixes[state.range(1)];
  const auto percent_of = [&](SliceAim aim) {
    return static_cast<double>(optimum.taken_ppm(mix, state.range(2), aim)) / 10'000;
  };
  for (auto _ : state) {
    const double ours = percent_of(SliceAim::kLeastCost);
    const double best = percent_of(SliceAim::kBest);
    state.counters["first_fit"] = percent_of(SliceAim::kFirstFit);
    state.counters["ours"] = ours;
    state.counters["best"] = best;
    state.counters["of_best"] = 100 * ours / best;
    state.counters["may_refuse"] = percent_of(SliceAim::kBestMayRefuse);
  }
  state.SetLabel(std::string(mix.name));
}
BENCHMARK(slice_optimum)
    ->ArgNames({"gpus", "mix", "load"})
    ->ArgsProduct({{1}, {0, 1, 2, 3, 4}, {100, 110, 120, 130}})
    ->ArgsProduct({{2}, {0}, {100, 130}})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

// A 2g on a thousand GPUs, each with a slice or more.
void choose_among_1000(benchmark::State& state) {
  const SliceCosts costs(kMigOfA100);
  std::vector<MigPlaceSet> layouts(1000);
  Rng rng(Seed{1});
  for (MigPlaceSet& layout : layouts)
    layout = layout.with(costs.cheapest_cut(kTrialShapes[rng.below(kTrialShapes.size())], layout)->place);
  for (auto _ : state) benchmark::DoNotOptimize(choose_slice(costs, kTrialShapes[2], layouts));
}
BENCHMARK(choose_among_1000);

}  // namespace
}  // namespace berth
