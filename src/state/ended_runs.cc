#include "state/ended_runs.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace berth {

EndedRuns::Key EndedRuns::key_of(const RunKind& kind) {
  return {kind.queue, kind.user, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(kind.gpu_milli)))};
}

void EndedRuns::add(const RunKind& kind, Duration took) {
  Known& known = known_[key_of(kind)];
  known.as_they_ended.push_back(took);
  known.ascending.insert(std::ranges::upper_bound(known.ascending, took), took);
  if (known.as_they_ended.size() <= kRememberedMax) return;
  known.ascending.erase(std::ranges::lower_bound(known.ascending, known.as_they_ended.front()));
  known.as_they_ended.pop_front();
}

std::optional<Duration> EndedRuns::foretell(const RunKind& kind, std::int32_t percent) const {
  BERTH_ASSERT(percent >= 1 && percent <= 100);
  const auto found = known_.find(key_of(kind));
  if (found == known_.end() || found->second.ascending.size() < kEndedMin) return std::nullopt;
  const std::vector<Duration>& runs = found->second.ascending;
  const std::size_t enough = (runs.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return runs[enough - 1];
}

std::optional<Duration> EndedRuns::half_of_those_beyond(const RunKind& kind, Duration ran) const {
  const auto found = known_.find(key_of(kind));
  const bool has_enough = found != known_.end() && found->second.ascending.size() >= kEndedMin;
  if (!has_enough) return std::nullopt;
  const std::vector<Duration>& runs = found->second.ascending;
  const auto first = static_cast<std::size_t>(std::ranges::upper_bound(runs, ran) - runs.begin());
  const std::size_t longer = runs.size() - first;
  if (longer == 0) return std::nullopt;
  return runs[first + (longer + 1) / 2 - 1];
}

}  // namespace berth
