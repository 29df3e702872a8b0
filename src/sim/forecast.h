// When who waits will start: the cluster is run forward many times, each time with other run times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "model/ids.h"
#include "sim/run_ahead.h"
#include "sim/run_times.h"
#include "state/state.h"

namespace berth {

// Of one who waits. Those runs of the cluster in which it does not start before the horizon count as later than all others.
struct StartForecast {
  Time asked_at;
  std::int64_t samples = 0;
  std::int64_t started = 0;       // in so many of them
  std::vector<Time> starts = {};  // of these, in order

  // Below which so many percent of all starts are believed to be: between samples, at percent x (samples + 1) of them (type 6 of
  // Hyndman and Fan, The American Statistician 50, 1996), so that a few samples say no less than they know. None: too few have a
  // start before the horizon.
  std::optional<Time> quantile(int percent) const;
};

struct ForecastOptions {
  Seed seed;
  std::int64_t samples = 30;
  Duration horizon{std::int64_t{60} * 86'400'000};
};

// A run of an attempt of the workload: that of all that are longer than `so_far`.
using QuantileOfRun =
    std::function<Duration(const State& state, WorkloadId workload, Duration so_far, RunQuantile quantile)>;

// Which of its lengths the run of each attempt has in each of n samples: of another n-th each time, in an order of its own (Latin
// hypercube sampling: McKay, Beckman, Conover, Technometrics 21, 1979): of few samples the extremes then are nearly those of many.
class EvenDraws {
 public:
  EvenDraws(Seed seed, std::int64_t samples) : seed_(seed), samples_(static_cast<std::size_t>(samples)) {}

  // PRE: 0 <= sample < samples.
  RunQuantile of(WorkloadId workload, std::uint32_t attempt, std::int64_t sample);

 private:
  std::vector<RunQuantile> draw(Rng rng) const;

  Seed seed_;
  std::size_t samples_;
  std::map<std::pair<WorkloadId, std::uint32_t>, std::vector<RunQuantile>> drawn_;
};

// Runs are drawn by EvenDraws.
// PRE: it waits. The state has come to rest at `now`.
StartForecast forecast_start(const State& state, WorkloadId workload, Time now, const QuantileOfRun& run,
                             const ForecastOptions& options);

}  // namespace berth
