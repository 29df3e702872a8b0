#include "sim/forecast.h"

#include <algorithm>

namespace berth {

std::optional<Time> StartForecast::quantile(int percent) const {
  const std::int64_t at_percent = std::clamp<std::int64_t>(percent * (samples + 1), 100, 100 * samples);
  const auto below = static_cast<std::size_t>(at_percent / 100 - 1);
  const std::int64_t rest = at_percent % 100;
  if (below + (rest > 0 ? 1 : 0) >= starts.size()) return std::nullopt;
  if (rest == 0) return starts[below];
  return starts[below] + Duration{(starts[below + 1] - starts[below]).ms / 100 * rest};
}

StartForecast forecast_start(const State& state, WorkloadId workload, Time now, const DrawRun& draw,
                             const ForecastOptions& options) {
  StartForecast forecast{.asked_at = now, .samples = options.samples};
  for (std::int64_t sample = 0; sample < options.samples; ++sample) {
    Rng rng(options.seed, static_cast<std::uint64_t>(sample));
    RunAhead ahead(state, now, [&](const State& then, WorkloadId id) {
      const Workload& one = then.workload(id);
      // Who runs at the beginning has run for a while; who begins later has not.
      const Duration so_far = one.started < now ? now - one.started : Duration{0};
      return draw(then, id, so_far, rng);
    });
    if (const auto start = ahead.start_of(workload, now + options.horizon)) forecast.starts.push_back(*start);
  }
  std::ranges::sort(forecast.starts);
  forecast.started = std::ssize(forecast.starts);
  return forecast;
}

}  // namespace berth
