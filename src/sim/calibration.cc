#include "sim/calibration.h"

#include <algorithm>
#include <map>
#include <vector>

#include "sim/run_times.h"

namespace berth {
namespace {

struct Told {
  Time p10, p50, p90;
};

Told told_by(const StartForecast& forecast, Time latest) {
  const auto at = [&](int percent) { return forecast.quantile(percent).value_or(latest); };
  return {at(10), at(50), at(90)};
}

Duration median(std::vector<Duration> lengths) {
  if (lengths.empty()) return {};
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

// What was told to jobs, by number, until they start.
class Answers {
 public:
  void tell(WorkloadId job, const Told& told) { told_.emplace(job, told); }

  void started(WorkloadId job, Time start) {
    const auto found = told_.find(job);
    if (found == told_.end()) return;
    const Told& told = found->second;
    ++quality_.asked;
    ++(start < told.p10 ? quality_.before : start <= told.p90 ? quality_.within : quality_.after);
    widths_.push_back(told.p90 - told.p10);
    beyond_.push_back(std::max(told.p10 - start, start - told.p90));
    errors_.push_back(start < told.p50 ? told.p50 - start : start - told.p50);
    told_.erase(found);
  }

  ForecastQuality quality() {
    quality_.median_width = median(widths_);
    quality_.median_error = median(errors_);
    if (beyond_.empty()) return quality_;
    const auto fifths = beyond_.begin() + static_cast<std::ptrdiff_t>((beyond_.size() * 4 + 4) / 5 - 1);
    std::ranges::nth_element(beyond_, fifths);
    const Duration more = *fifths;
    quality_.width_that_holds = std::max(Duration{0}, quality_.median_width + more + more);
    return quality_;
  }

 private:
  std::map<WorkloadId, Told> told_;
  ForecastQuality quality_;
  std::vector<Duration> widths_;
  std::vector<Duration> errors_;
  std::vector<Duration> beyond_;  // how far outside its range each start was; inside it, negative
};

class Asking {
 public:
  Asking(const Trace& trace, const RunOptions& run, const CalibrationOptions& options)
      : trace_(trace), options_(options) {
    forecast_.seed = run.seed;
    forecast_.samples = options.samples;
    for (std::size_t row = 0; row < trace.jobs.size(); ++row) arrivals_.push_back(row);
    std::ranges::stable_sort(arrivals_, {}, [&](std::size_t row) { return trace.jobs[row].submit; });
  }

  RunWatch watch() {
    return {.submitted = [this](const State& state, std::span<const WorkloadId> waiting,
                                Time now) { ask(state, waiting, now); },
            .started = [this](WorkloadId job, Time now) { started(job, now); },
            .ended = [this](const State& state, WorkloadId job,
                            Duration ran) { run_times_.ended(run_of(state, job), ran); }};
  }

  Calibration result() {
    calibration_.jobs = std::ssize(trace_.jobs);
    calibration_.learned = learned_.quality();
    calibration_.from_limits = from_limits_.quality();
    return calibration_;
  }

 private:
  RunOf run_of(const State& state, WorkloadId job) const {
    const TraceJob& one = trace_.jobs[arrivals_[job.index()]];
    return {one.user, queue_name(one), one.pods * one.gpus * std::int64_t{one.gpu_milli}, limit_of(state, job)};
  }
  static std::optional<Duration> limit_of(const State& state, WorkloadId job) {
    return state.shape(state.workload(job).shape).terms.run_limit;
  }

  void ask(const State& state, std::span<const WorkloadId> waiting, Time now) {
    for (const WorkloadId job : waiting) {
      ++calibration_.waited;
      Rng rng(forecast_.seed, job.value());
      if (rng.below(static_cast<std::uint64_t>(options_.every)) != 0) continue;
      const auto by_ended = [&](const State& then, WorkloadId id, Duration so_far, RunQuantile quantile) {
        return run_times_.quantile(run_of(then, id), so_far, quantile);
      };
      const auto by_limit = [&](const State& then, WorkloadId id, Duration so_far, RunQuantile quantile) {
        return quantile_of_limit(limit_of(then, id), so_far, quantile);
      };
      const Time latest = now + forecast_.horizon;
      learned_.tell(job, told_by(forecast_start(state, job, now, by_ended, forecast_), latest));
      // Who has learned nothing knows of nothing that kinds have in common.
      ForecastOptions each_by_itself = forecast_;
      each_by_itself.alike = Alike::kNot;
      from_limits_.tell(job, told_by(forecast_start(state, job, now, by_limit, each_by_itself), latest));
    }
  }

  void started(WorkloadId job, Time now) {
    learned_.started(job, now);
    from_limits_.started(job, now);
  }

  const Trace& trace_;
  const CalibrationOptions options_;
  ForecastOptions forecast_;
  std::vector<std::size_t> arrivals_;  // rows, by number
  RunTimes run_times_;
  Answers learned_, from_limits_;
  Calibration calibration_;
};

}  // namespace

Result<Calibration> calibrate(const Trace& trace, RunOptions run, const CalibrationOptions& options,
                              const std::string& source,
                              const std::function<void(std::int64_t, std::int64_t)>& progress) {
  Asking asking(trace, run, options);
  run.watch = asking.watch();
  const Result<ClusterRun> done = run_cluster(trace, run, source, nullptr, progress);
  if (!done) return done.error();
  return asking.result();
}

}  // namespace berth
