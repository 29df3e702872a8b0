#include "sim/run_times.h"

#include <algorithm>
#include <bit>

#include "base/wide.h"

namespace berth {

RunOf run_of(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  return {state.user_name(workload.user), state.queues()[workload.queue.index()].name, shape.gpu_milli,
          shape.terms.run_limit};
}

// Sizes of one kind are within a factor of two of each other.
std::vector<RunTimes::Kind> RunTimes::kinds_of(const RunOf& run) {
  const auto size = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(run.gpu_milli)));
  // Who has a limit is told from it, others from each other: they are not of one kind.
  const int limited = run.limit ? 4 : 0;
  return {{limited + 3, run.queue, run.user, size},
          {limited + 2, run.queue, run.user, 0},
          {limited + 1, run.queue, "", 0},
          {limited, "", "", 0}};
}

void RunTimes::ended(const RunOf& run, Duration took) {
  ++count_;
  Ended one{.took = took};
  if (run.limit && run.limit->ms > 0) {
    one.of_limit = static_cast<std::int64_t>(Wide{std::min(took, *run.limit).ms} * kWhole / run.limit->ms);
  }
  for (const Kind& kind : kinds_of(run)) {
    std::deque<Ended>& known = kinds_[kind];
    known.push_back(one);
    if (known.size() > kRememberedMax) known.pop_front();
  }
}

Duration RunTimes::length_of(const Ended& ended, const RunOf& run) {
  if (!run.limit) return ended.took;
  return {static_cast<std::int64_t>((Wide{run.limit->ms} * ended.of_limit + kWhole - 1) / kWhole)};
}

Duration RunTimes::draw(const RunOf& run, Duration so_far, Rng& rng) const {
  for (const Kind& kind : kinds_of(run)) {
    const auto known = kinds_.find(kind);
    if (known == kinds_.end() || known->second.size() < kEndedMin) continue;
    std::vector<Duration> longer;
    for (const Ended& ended : known->second) {
      const Duration length = length_of(ended, run);
      if (length > so_far) longer.push_back(length);
    }
    // Nobody of its kind ran for so long: it is looked at among more.
    if (!longer.empty()) return longer[rng.below(longer.size())];
  }
  return draw_from_limit(run.limit, so_far, rng);
}

Duration draw_from_limit(const std::optional<Duration>& limit, Duration so_far, Rng& rng) {
  if (limit) return so_far + Duration{rng.between(1, std::max<std::int64_t>(1, (*limit - so_far).ms))};
  constexpr Duration kDay{86'400'000};
  return so_far + std::max(kDay, so_far);
}

}  // namespace berth
