#include "sim/forecast.h"

#include <algorithm>
#include <span>
#include <utility>

namespace berth {

std::optional<Time> StartForecast::quantile(int percent) const {
  const std::int64_t at_percent = std::clamp<std::int64_t>(percent * (samples + 1), 100, 100 * samples);
  const auto below = static_cast<std::size_t>(at_percent / 100 - 1);
  const std::int64_t rest = at_percent % 100;
  if (below + (rest > 0 ? 1 : 0) >= starts.size()) return std::nullopt;
  if (rest == 0) return starts[below];
  return starts[below] + Duration{(starts[below + 1] - starts[below]).ms / 100 * rest};
}

RunQuantile EvenDraws::of(const State& state, WorkloadId id, std::int64_t sample) {
  const Workload& workload = state.workload(id);
  std::vector<RunQuantile>& drawn = drawn_[{id, workload.attempts}];
  if (drawn.empty()) {
    Rng rng(Seed{Rng(seed_, id.value()).next()}, workload.attempts);
    drawn = draw(rng);
    if (alike_ == Alike::kByKind) {
      const std::int64_t gpu_milli = state.shape(workload.shape).gpu_milli;
      const std::vector<RunQuantile>& common = of_kind({workload.user, workload.queue, size_class(gpu_milli)});
      for (std::size_t i = 0; i < samples_; ++i) {
        if (rng.below(kAlikeOneIn) == 0) drawn[i] = common[i];
      }
    }
  }
  return drawn[static_cast<std::size_t>(sample)];
}

// No workload's stream is a kind's.
const std::vector<RunQuantile>& EvenDraws::of_kind(const Kind& kind) {
  std::vector<RunQuantile>& drawn = of_kinds_[kind];
  if (!drawn.empty()) return drawn;
  const auto& [user, queue, size] = kind;
  const Seed of_user{Rng(Seed{~seed_.value}, user.value()).next()};
  const Seed of_queue{Rng(of_user, queue.value()).next()};
  Rng rng(of_queue, static_cast<std::uint64_t>(size));
  drawn = draw(rng);
  return drawn;
}

std::vector<RunQuantile> EvenDraws::draw(Rng& rng) const {
  std::vector<RunQuantile> drawn;
  for (std::uint64_t i = 0; i < samples_; ++i) {
    const std::uint64_t within = rng.next() >> 32;
    drawn.push_back(static_cast<RunQuantile>(((i << 32) + within) / samples_));
  }
  rng.shuffle(std::span(drawn));
  return drawn;
}

StartForecast forecast_start(const State& state, WorkloadId workload, Time now, const QuantileOfRun& run,
                             const ForecastOptions& options) {
  StartForecast forecast{.asked_at = now, .samples = options.samples};
  // One answer's draws are not another's.
  EvenDraws draws(Seed{Rng(options.seed, workload.value()).next()}, options.samples, options.alike);
  for (std::int64_t sample = 0; sample < options.samples; ++sample) {
    RunAhead ahead(state, now, [&](const State& then, WorkloadId id) {
      const Workload& one = then.workload(id);
      // Who runs at the beginning has run for a while; who begins later has not.
      const Duration so_far = one.started < now ? now - one.started : Duration{0};
      return run(then, id, so_far, draws.of(then, id, sample));
    });
    ahead.decide();  // who has just come may start at once
    if (const auto start = ahead.start_of(workload, now + options.horizon)) forecast.starts.push_back(*start);
  }
  std::ranges::sort(forecast.starts);
  forecast.started = std::ssize(forecast.starts);
  return forecast;
}

}  // namespace berth
