// Somebody's room without him, in a trial; and how long he has, whom nobody waits for.
#pragma once

#include <algorithm>

#include "state/state.h"
#include "state/trial.h"

namespace berth {

// The room of one pod. Who is not there yet leaves nothing behind.
inline void give_back(const State& state, Trial& trial, const Pod& pod, Emptied emptied) {
  const Move give = move_of(state.request(pod.request), pod.place(), Move::Direction::kGive);
  if (pod.comes) {
    trial.apply(give);
  } else {
    trial.depart(give, emptied);
  }
}

// Of an elastic workload, or a step of one. PRE: it has room in the state, and the trial is on the state's own ledgers.
inline bool is_out(const State& state, const Trial& trial, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const auto units = trial.quotas().units_in(workload.queue);
  return std::ranges::find(units, workload.unit) == units.end() || trial.quotas().unit(workload.unit).workload != id;
}

// With its steps, which do not run without it; of these some, or it itself with its minimum, may be out already.
// PRE: it runs, and the trial is on the state's own ledgers.
inline void take_out(const State& state, Trial& trial, WorkloadId workload, Emptied emptied) {
  for (const WorkloadId step : state.steps_of(workload)) {
    if (has_room(state.workload(step).phase)) take_out(state, trial, step, emptied);
  }
  const bool is_elastic = state.elastic().contains(state.minimum_of(workload));
  if (is_elastic && is_out(state, trial, workload)) return;
  for_each_pod(state, workload, [&](const Pod& pod) { give_back(state, trial, pod, emptied); });
  trial.remove(state.workload(workload).unit);
}

// PRE: it runs. It has its whole grace, but its run limit ends it.
inline Time end_of_grace(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  return std::min(now + state.shape(workload.shape).terms.grace, state.end_of(id, workload.started));
}

}  // namespace berth
