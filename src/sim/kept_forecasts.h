// When all who wait in a cluster will start, kept fresh while it changes: the cluster is run ahead again and again, each time once,
// from the moment that it is then and with other run times, and what is said of somebody is made of the last runs in which he waited.
// So each run makes what is said of everybody newer, whatever a run costs. No threads, clocks or files.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "model/ids.h"
#include "sim/forecast.h"
#include "state/state.h"

namespace berth {

// What is said of one who waits. Of moments that are none he starts after all runs were broken off, or never in them.
struct KeptForecast {
  std::string workload, queue;
  std::int64_t position = 1;            // in its line, from 1
  std::vector<std::string> ahead = {};  // of those before it the first few
  std::int64_t samples = 0;             // runs in which it waited
  std::optional<Time> p10 = {}, p50 = {}, p90 = {};
  std::optional<Time> promised = {};  // by backfill

  friend bool operator==(const KeptForecast&, const KeptForecast&) = default;
};

struct ForecastTable {
  Time asked_at;  // when the cluster was as the last run began
  Time oldest;    // the same of the first run that counts
  Time until;     // so far the last run went
  std::int64_t running = 0;
  std::int64_t ended_runs = 0;  // from whose lengths those of the others were drawn
  std::vector<KeptForecast> rows = {};

  friend bool operator==(const ForecastTable&, const ForecastTable&) = default;
};

class KeptForecasts {
 public:
  static constexpr std::int64_t kSamples = 20;  // so many runs count
  static constexpr Duration kOldest = seconds(60);
  static constexpr std::size_t kAheadMax = 5;  // of those ahead so many are named
  static constexpr Duration kHorizon{std::int64_t{60} * 86'400'000};
  // Ahead it is decided once in so long, and later once in a tenth of the wait: of ten thousand who wait each has an end and a start,
  // and to decide at each of these would take minutes. So a start is told so much late at most.
  static constexpr Duration kStep = seconds(30);
  static constexpr std::int64_t kStepsOfWait = 10;

  // Who waits, and how people call him.
  using Names = std::vector<std::pair<WorkloadId, std::string>>;

  explicit KeptForecasts(Seed seed) : seed_(seed) {}

  // One more run: until all of these have started, to the horizon, or until somebody says stop between two of its moments.
  // PRE: they wait. The state has come to rest.
  void run_ahead(const State& state, const Names& waiting, Time now, const RunTimes& run_times,
                 const std::function<bool()>& stop);
  // As they stand after the last run.
  const ForecastTable& table() const { return table_; }

 private:
  struct Told {
    Time asked_at;
    std::optional<Time> start;
  };

  void note(const State& state, const Names& waiting, const std::map<WorkloadId, Time>& starts, Time now);

  Seed seed_;
  std::uint64_t runs_ = 0;
  std::map<std::string, std::deque<Told>> told_;  // of who waits
  ForecastTable table_;
};

// As a file has it; "berth forecasts 1" and a line for each who waits.
std::string to_text(const ForecastTable& table);
// Those rows whose names are meant; a complaint about what is no such text, or of another version.
Result<ForecastTable> read_forecasts(const std::string& name, std::string_view text,
                                     const std::function<bool(std::string_view workload)>& is_meant);

}  // namespace berth
