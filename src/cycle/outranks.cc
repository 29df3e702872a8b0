#include "cycle/outranks.h"

#include <cstdint>

#include "cycle/terms_of.h"
#include "fairness/gates.h"
#include "fairness/meeting.h"
#include "fairness/rights.h"

namespace berth {
namespace {

// `by_priority`: whether it counts in its queue.
bool has_stronger_claim(const State& state, WorkloadId id, WorkloadId other, bool by_priority) {
  const Terms& own = terms_of(state, id);
  const Terms& others = terms_of(state, other);
  if (own.best_effort) return false;
  if (others.best_effort) return true;
  const QueueId queue = state.workload(id).queue;
  const QueueId of_other = state.workload(other).queue;
  if (queue == of_other) {
    return by_priority && own.priority > std::int64_t{others.priority} + state.workload(other).raised;
  }
  const QuotaTree& tree = state.quotas().tree();
  const QueueId meet = where_they_meet(tree, queue, of_other);
  const QueueId own_side = child_towards(tree, queue, meet);
  const QueueId side = child_towards(tree, of_other, meet);
  if (own_side.is_none() || !is_covered(tree, would_be_covered_at(state, id), own_side)) return false;
  return side.is_none() || !is_covered(tree, would_be_covered_at(state, other), side);
}

}  // namespace

QueueId would_be_covered_at(const State& state, WorkloadId id) {
  const Shape& shape = state.shape(state.workload(id).shape);
  if (shape.terms.best_effort) return {};
  const QuotaLedger& quotas = state.quotas();
  return quotas.would_be_covered_at(state.workload(id).queue, asked_by(state, state.workload(id).queue, shape, 0),
                                    quotas.end_of(shape.terms));
}

bool outranks(const State& state, WorkloadId id, WorkloadId other) {
  const QueueId queue = state.workload(id).queue;
  const bool preempts = state.queues()[queue.index()].quota.preempt != Preempt::kNever;
  return has_stronger_claim(state, id, other, preempts && terms_of(state, id).preempts);
}

bool takes_promises_of(const State& state, WorkloadId id, WorkloadId other) {
  // A step comes behind all who wait, and may have what it could take from who runs.
  const bool stands_ahead = state.workload(id).step_of.is_none();
  return stands_ahead ? has_stronger_claim(state, id, other, true) : outranks(state, id, other);
}

}  // namespace berth
