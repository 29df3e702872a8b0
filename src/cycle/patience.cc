#include "cycle/patience.h"

#include <algorithm>
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

namespace {

bool somebody_waits_for_a_protection(const State& state) {
  bool some = false;
  state.lines_in_use().for_each([&](QueueId queue) {
    const Line& line = *state.lines()[queue.index()];
    some = some || (line.gated() > 0 && std::ranges::any_of(line.shapes(), [](const ShapeInLine& each) {
                      return each.gate == ReasonCode::kVictimsProtected && each.blocked() && !each.waiting.empty();
                    }));
  });
  return some;
}

}  // namespace

Time next_end_of_protection(const State& state, Time now) {
  Time next = kForever;
  if (!somebody_waits_for_a_protection(state)) return next;
  for (std::size_t i = 0; i < state.queues().size(); ++i) {
    const Duration min_runtime = state.queues()[i].quota.min_runtime;
    if (min_runtime == Duration{0}) continue;
    for (const UnitId unit : state.quotas().units_in(QueueId(i))) {
      const Time over = state.workload(state.quotas().unit(unit).workload).started + min_runtime;
      if (over > now) next = std::min(next, over);
    }
  }
  return next;
}

}  // namespace berth
