#include "fairness/measure.h"

#include <algorithm>
#include <functional>

#include "fairness/rights.h"

namespace berth {

Measure measure_of(const State& state) {
  Measure measure;
  const QuotaLedger& quotas = state.quotas();
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    const bool alive = workload.phase == Phase::kPending || has_room(workload.phase) || is_there(workload.phase);
    if (alive && !state.lost_to_a_share(id)) ++measure.may_lose_to_a_share;
    if (!has_room(workload.phase)) return;
    const Terms& terms = state.shape(workload.shape).terms;
    measure.held.push_back({coverage_of(quotas, workload), terms.priority});
  });
  std::sort(measure.held.begin(), measure.held.end(), std::greater<>());
  return measure;
}

}  // namespace berth
