#include "cycle/patience.h"

#include <algorithm>
#include <set>
#include <variant>

#include "cycle/mixtures.h"
#include "cycle/taking_out.h"
#include "fairness/gates.h"
#include "placement/place.h"

namespace berth {

bool may_end_by(const State& state, WorkloadId id, Time by) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  return !terms.run_limit || state.end_of(id, workload.started) <= by;
}

namespace {

bool fits_as_things_are(const State& state, Trial& trial, ScoreIndex& index, WorkloadId id, std::size_t way) {
  const Workload& workload = state.workload(id);
  const Shape& shape = state.shape(workload.shape);
  const auto passes = [&](const AmountList& amounts) {
    return !quota_refusal(trial.quotas(), workload.queue, shape.user, shape.terms, amounts);
  };
  if (!passes(asked_by(state, workload.queue, shape, way))) return false;
  bool fits = false;
  likes_a_mixture(state, trial, workload.queue, shape, way, [&](const Mixture* mixture) {
    const Trial::Mark mark = trial.mark();
    // A stream of its own: what is only thought of changes no draw.
    Rng rng(state.seed(), id.value());
    const auto outcome = place_in_way(state, trial, index, id, way, rng, mixture);
    trial.rollback_to(mark);
    const Start* const start = std::get_if<Start>(&outcome);
    fits = start != nullptr && passes(amounts_held(state, shape, *start));
    const bool no_room = start == nullptr && mixture == nullptr;
    return fits || no_room;
  });
  return fits;
}

}  // namespace

bool may_fit_by(const State& state, Trial& trial, ScoreIndex& index, WorkloadId waiting,
                const std::vector<Eviction>& gone, Time by) {
  std::set<WorkloadId> out;
  for (const Eviction& eviction : gone) out.insert(eviction.workload);
  const Trial::Mark mark = trial.mark();
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase != Phase::kRunning || out.contains(id) || !may_end_by(state, id, by)) return;
    take_out(state, trial, id, Emptied::kCountsAsScrubbed);
  });
  bool fits = false;
  for (std::size_t way = 0; !fits && way < state.shape(state.workload(waiting).shape).ways.size(); ++way) {
    fits = fits_as_things_are(state, trial, index, waiting, way);
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
