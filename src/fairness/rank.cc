#include "fairness/rank.h"

#include <utility>

#include "fairness/gates.h"

namespace berth {

Candidate candidate_of(const State& state, QueueId line, WorkloadId first) {
  const Shape& shape = state.shape(state.workload(first).shape);
  Candidate candidate{.workload = first, .asked = asked_by(state, line, shape, 0)};
  candidate.end = state.quotas().end_of(shape.terms);
  candidate.best_effort = shape.terms.best_effort;
  if (!state.quotas().tree().has_floors()) return candidate;
  const auto is_covered = [&](const AmountList& asked) {
    return !state.quotas().would_be_covered_at(line, asked, candidate.end).is_none();
  };
  if (is_covered(candidate.asked)) return candidate;
  for (std::size_t way = 1; way < shape.ways.size(); ++way) {
    AmountList asked = asked_by(state, line, shape, way);
    if (!is_covered(asked)) continue;
    candidate.asked = std::move(asked);
    break;
  }
  return candidate;
}

bool is_outside(const State& state, QueueId parent, QueueId child, const Candidate& candidate) {
  if (parent == child) return true;
  return !candidate.covered && !state.quotas().fits_floor(child, candidate.asked, candidate.end);
}

Fraction fraction_of(const State& state, QueueId parent, QueueId child, const Candidate& candidate, bool outside,
                     std::span<const std::int64_t> past) {
  const QuotaLedger& quotas = state.quotas();
  const More more{.asked = candidate.asked, .covered = false, .past = past};
  if (parent == child) return own_share_with(quotas, state.flavors(), parent, more);
  return outside ? share_with(quotas, state.flavors(), child, more) : use_of_floor(quotas, state.flavors(), child);
}

}  // namespace berth
