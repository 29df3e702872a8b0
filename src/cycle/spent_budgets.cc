#include "cycle/spent_budgets.h"

#include <set>

#include "cycle/taking_out.h"
#include "fairness/rights.h"

namespace berth {

Unpaid stop_unpaid(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now) {
  Unpaid unpaid;
  const BudgetLedger& budgets = state.quotas().budgets();
  if (!budgets.has_any()) return unpaid;
  std::set<WorkloadId> decided;
  for (const Eviction& eviction : leaving) decided.insert(eviction.workload);
  // Children stand behind their parents.
  for (std::size_t i = state.queues().size(); i-- > 0;) {
    const QueueId queue(i);
    if (!budgets.may_run_out(queue)) continue;
    for (const WorkloadId id : budgets.unpaid(queue, [&](WorkloadId each) { return state.gpu_us_used_by(each); })) {
      const Workload& workload = state.workload(id);
      if (workload.phase != Phase::kRunning || !decided.insert(id).second) continue;
      const Shape& shape = state.shape(workload.shape);
      if (state.queues()[i].quota.budget_end == BudgetEnd::kBestEffort && !shape.insists()) {
        unpaid.best_effort.push_back(id);
        continue;
      }
      const Time stop_by = end_of_grace(state, id, now);
      unpaid.stopped.push_back({id, WorkloadId(), EvictionRule::kBudget, stop_by, lost_if_taken_gpu_s(state, id, now)});
      take_out(state, trial, id, Emptied::kIsToBeScrubbed);
    }
  }
  return unpaid;
}

}  // namespace berth
