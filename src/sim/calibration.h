// How good forecasts of starts are: a trace is run, now and then a job that has to wait asks when it will start, and what it was told
// is compared with what came.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "sim/cluster_run.h"
#include "sim/forecast.h"
#include "sim/trace.h"

namespace berth {

struct CalibrationOptions {
  std::int64_t every = 100;  // of so many jobs that have to wait one asks, drawn by the run's seed
  std::int64_t samples = 30;
};

// Of those who asked and started.
struct ForecastQuality {
  std::int64_t asked = 0;
  std::int64_t before = 0;  // started before the p10 that they were told
  std::int64_t within = 0;  // from p10 to p90
  std::int64_t after = 0;
  Duration median_width;  // from p10 to p90
  // The same if all ranges were longer at both ends by just so much that four fifths of the starts lie within, as should between a
  // p10 and a p90; or shorter. Two forecasts compare by this: to be narrow and miss is no merit (conformalized quantile regression:
  // Romano, Patterson, Candes, NeurIPS 2019).
  Duration width_that_holds;
  Duration median_error;  // between p50 and the start
};

struct Calibration {
  std::int64_t jobs = 0;
  std::int64_t waited = 0;      // had to wait when they came
  ForecastQuality learned;      // by what had ended before
  ForecastQuality from_limits;  // by run limits alone
};

// `progress(done, of)` counts submitted and ended jobs. PRE: the options name limits.
Result<Calibration> calibrate(const Trace& trace, RunOptions run, const CalibrationOptions& options,
                              const std::string& source,
                              const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace berth
