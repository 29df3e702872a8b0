#include "cycle/patience.h"

#include <set>
#include <variant>

#include "cycle/taking_out.h"
#include "fairness/gates.h"
#include "placement/place.h"

namespace berth {

bool may_end_by(const State& state, WorkloadId id, Time by) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  return !terms.run_limit || state.end_of(id, workload.started) <= by;
}

bool may_fit_by(const State& state, Trial& trial, ScoreIndex& index, const Claimant& claimant, std::size_t way,
                const std::vector<Eviction>& gone, Time by) {
  std::set<WorkloadId> out;
  for (const Eviction& eviction : gone) out.insert(eviction.workload);
  const Trial::Mark mark = trial.mark();
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase != Phase::kRunning || out.contains(id) || !may_end_by(state, id, by)) return;
    take_out(state, trial, id, Emptied::kCountsAsScrubbed);
  });
  const Shape& shape = state.shape(state.workload(claimant.workload).shape);
  bool fits = !quota_refusal(trial.quotas(), claimant.queue, shape.user, claimant.terms, claimant.asked);
  if (fits) {
    // A stream of its own: what is only thought of changes no draw.
    Rng rng(state.seed(), claimant.workload.value());
    fits = std::holds_alternative<Start>(place_in_way(state, trial, index, claimant.workload, way, rng));
  }
  trial.rollback_to(mark);
  return fits;
}

}  // namespace berth
