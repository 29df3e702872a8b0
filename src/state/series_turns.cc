#include "state/series_turns.h"

#include "base/assert.h"

namespace berth {

std::vector<WorkloadId> SeriesTurns::join(WorkloadId workload, SeriesId series, std::int32_t at_most) {
  Series& of = all_[series];
  of.at_most = at_most;
  of.waiting.insert(workload);
  return give_turns(of);
}

void SeriesTurns::take(WorkloadId workload, SeriesId series) {
  Series& of = all_.at(series);
  const std::size_t waited = of.waiting.erase(workload);
  BERTH_ASSERT(waited == 1);
  ++of.turns;
}

std::vector<WorkloadId> SeriesTurns::leave(WorkloadId workload, SeriesId series) {
  const auto found = all_.find(series);
  BERTH_ASSERT(found != all_.end());
  Series& of = found->second;
  if (of.waiting.erase(workload) == 0) {
    BERTH_ASSERT(of.turns > 0);
    --of.turns;
  }
  std::vector<WorkloadId> next = give_turns(of);
  if (of.turns == 0 && of.waiting.empty()) all_.erase(found);
  return next;
}

std::vector<WorkloadId> SeriesTurns::give_turns(Series& series) {
  std::vector<WorkloadId> next;
  while (!series.waiting.empty() && series.turns < static_cast<std::size_t>(series.at_most)) {
    next.push_back(*series.waiting.begin());
    series.waiting.erase(series.waiting.begin());
    ++series.turns;
  }
  return next;
}

}  // namespace berth
