#include "sim/run_times.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/wide.h"

namespace berth {
namespace {

std::int64_t part_of(std::int64_t whole, RunQuantile part) {
  return static_cast<std::int64_t>((Wide{whole} * part) >> 32);
}

// In one of the gaps that these leave between `shortest` and `longest`. The next is as likely to be in any of them, and there is one
// more of them than of lengths: so few say little of who is shorter or longer than all of them, and many say much.
std::int64_t between(std::vector<std::int64_t>& lengths, std::int64_t shortest, std::int64_t longest,
                     RunQuantile quantile) {
  const std::uint64_t at = std::uint64_t{quantile} * (lengths.size() + 1);
  const auto above = lengths.begin() + static_cast<std::ptrdiff_t>(at >> 32);
  if (above != lengths.end()) std::ranges::nth_element(lengths, above);
  const std::int64_t low = above == lengths.begin() ? shortest : *std::max_element(lengths.begin(), above);
  const std::int64_t high = above == lengths.end() ? longest : *above;
  return low + part_of(high - low, static_cast<RunQuantile>(at));
}

}  // namespace

RunOf run_of(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  return {state.user_name(workload.user), state.queues()[workload.queue.index()].name, shape.gpu_milli,
          shape.terms.run_limit};
}

int size_class(std::int64_t gpu_milli) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(gpu_milli)));
}

std::vector<RunTimes::Kind> RunTimes::kinds_of(const RunOf& run) {
  const int size = size_class(run.gpu_milli);
  // Who has a limit is told from it, others from each other: they are not of one kind.
  const int limited = run.limit ? 4 : 0;
  return {{limited + 3, run.queue, run.user, size},
          {limited + 2, run.queue, run.user, 0},
          {limited + 1, run.queue, "", 0},
          {limited, "", "", 0}};
}

// Rounded up, so that a whole limit stays one.
RunTimes::Ended RunTimes::measured(const RunOf& run, Duration took) {
  if (!run.limit) return {.limit = {}, .length = took.ms};
  const Wide limit = std::max<std::int64_t>(1, run.limit->ms);
  return {.limit = *run.limit,
          .length = static_cast<std::int64_t>((Wide{std::min(took, *run.limit).ms} * kWhole + limit - 1) / limit)};
}

Duration RunTimes::as_run(const RunOf& run, std::int64_t length) {
  return {run.limit ? static_cast<std::int64_t>(Wide{run.limit->ms} * length / kWhole) : length};
}

void RunTimes::ended(const RunOf& run, Duration took) {
  ++count_;
  const Ended one = measured(run, took);
  for (const Kind& kind : kinds_of(run)) {
    Known& known = kinds_[kind];
    known.as_they_ended.push_back(one);
    known.by_limit.insert(std::ranges::upper_bound(known.by_limit, one), one);
    if (known.as_they_ended.size() <= kRememberedMax) continue;
    known.by_limit.erase(std::ranges::lower_bound(known.by_limit, known.as_they_ended.front()));
    known.as_they_ended.pop_front();
  }
}

// Lengths of those of a kind that ran longer, and whose limit was at most so many times as long or as short.
std::vector<std::int64_t> RunTimes::longer(const Known& known, const RunOf& run, Duration so_far, Factor factor) {
  const std::int64_t limit = run.limit.value_or(Duration{}).ms;
  const auto low = static_cast<std::int64_t>(Wide{limit} * factor.below / factor.above);
  const auto high = static_cast<std::int64_t>(
      std::min<Wide>(Wide{limit} * factor.above / factor.below, std::numeric_limits<std::int64_t>::max()));
  std::vector<std::int64_t> lengths;
  for (auto at = std::ranges::lower_bound(known.by_limit, low, {}, [](const Ended& each) { return each.limit.ms; });
       at != known.by_limit.end() && at->limit.ms <= high; ++at) {
    if (as_run(run, at->length) > so_far) lengths.push_back(at->length);
  }
  return lengths;
}

// Who has no limit may run for ever; it is not foretold that he is longer than all before him.
Duration RunTimes::drawn(const RunOf& run, Duration so_far, std::vector<std::int64_t>& lengths, RunQuantile quantile) {
  const std::int64_t longest = run.limit ? kWhole : *std::ranges::max_element(lengths);
  const std::int64_t length = between(lengths, measured(run, so_far).length, longest, quantile);
  return std::max(so_far + Duration{1}, as_run(run, length));
}

Duration RunTimes::quantile(const RunOf& run, Duration so_far, RunQuantile quantile) const {
  // Whoever says much more than he needs has a large limit for it: of those with large ones the parts that they run are smaller,
  // and to mix them would foretell too much.
  constexpr Factor kFactors[] = {{7, 8}, {2, 3}, {1, 2}, {1, 1'000'000}};
  std::vector<std::int64_t> lengths;
  for (const Kind& kind : kinds_of(run)) {
    const auto known = kinds_.find(kind);
    if (known == kinds_.end() || known->second.by_limit.size() < kEndedMin) continue;
    for (const Factor factor : kFactors) {
      std::vector<std::int64_t> found = longer(known->second, run, so_far, factor);
      if (found.size() > lengths.size()) lengths = std::move(found);
      // Too few of its kind ran for so long: it is looked at among more.
      if (lengths.size() >= kEndedMin) return drawn(run, so_far, lengths, quantile);
    }
  }
  return lengths.empty() ? quantile_of_limit(run.limit, so_far, quantile) : drawn(run, so_far, lengths, quantile);
}

Duration quantile_of_limit(const std::optional<Duration>& limit, Duration so_far, RunQuantile quantile) {
  if (limit) return so_far + Duration{1 + part_of(std::max<std::int64_t>(1, (*limit - so_far).ms), quantile)};
  constexpr Duration kDay{86'400'000};
  return so_far + std::max(kDay, so_far);
}

}  // namespace berth
