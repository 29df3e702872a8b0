#include "fairness/measure.h"

#include <algorithm>
#include <functional>

#include "fairness/rights.h"

namespace berth {

namespace {

bool lacks_somebody(const State& state, WorkloadId id) {
  const Repairing* const repairing = state.find_repairing(id);
  return repairing != nullptr && !repairing->lost.empty();
}

}  // namespace

Measure measure_of(const State& state) {
  Measure measure;
  const QuotaLedger& quotas = state.quotas();
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    const bool alive = workload.phase == Phase::kPending || has_room(workload.phase) || is_there(workload.phase);
    if (alive && !state.lost_to_a_share(id)) ++measure.may_lose_to_a_share;
    if (!has_room(workload.phase) || lacks_somebody(state, id)) return;
    const Terms& terms = state.shape(workload.shape).terms;
    // Who has a right to its minimum takes a step with it.
    const Workload& minimum = state.workload(state.minimum_of(id));
    const std::int32_t coverage = std::min(coverage_of(quotas, workload), coverage_of(quotas, minimum));
    measure.held.push_back({coverage, terms.priority});
  });
  std::sort(measure.held.begin(), measure.held.end(), std::greater<>());
  return measure;
}

}  // namespace berth
