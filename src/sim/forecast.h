// When who waits will start: the cluster is run forward many times, each time with other run times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
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

// Whether runs of one kind have something in common.
enum class Alike : std::uint8_t { kNot, kByKind };

struct ForecastOptions {
  Seed seed;
  std::int64_t samples = 30;
  Duration horizon{std::int64_t{60} * 86'400'000};
  Alike alike = Alike::kByKind;
};

// A run of an attempt of the workload: that of all that are longer than `so_far`.
using QuantileOfRun =
    std::function<Duration(const State& state, WorkloadId workload, Duration so_far, RunQuantile quantile)>;

// Which of its lengths the run of each attempt has in each of n samples: of another n-th each time, in an order of its own (Latin
// hypercube sampling: McKay, Beckman, Conover, Technometrics 21, 1979): of few samples the extremes then are nearly those of many.
// Runs of one kind, a user, a queue and a size, have something in common that nobody knows before they end: by chance one of
// kAlikeOneIn has in a sample what was drawn there for its kind. What each draws by itself averages out where one waits for many.
class EvenDraws {
 public:
  // So are two of a kind correlated by a ninth; on Philly's cluster those are by a seventh that come within an hour of each other.
  static constexpr std::uint64_t kAlikeOneIn = 3;

  EvenDraws(Seed seed, std::int64_t samples, Alike alike = Alike::kByKind)
      : seed_(seed), samples_(static_cast<std::size_t>(samples)), alike_(alike) {}

  // Of the workload's present attempt, or the next one. PRE: 0 <= sample < samples.
  RunQuantile of(const State& state, WorkloadId workload, std::int64_t sample);

 private:
  using Kind = std::tuple<UserId, QueueId, int>;

  const std::vector<RunQuantile>& of_kind(const Kind& kind);
  std::vector<RunQuantile> draw(Rng& rng) const;

  Seed seed_;
  std::size_t samples_;
  Alike alike_;
  std::map<std::pair<WorkloadId, std::uint32_t>, std::vector<RunQuantile>> drawn_;
  std::map<Kind, std::vector<RunQuantile>> of_kinds_;
};

// Runs are drawn by EvenDraws.
// PRE: it waits. The state has come to rest at `now`.
StartForecast forecast_start(const State& state, WorkloadId workload, Time now, const QuantileOfRun& run,
                             const ForecastOptions& options);

}  // namespace berth
