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

// PRE: it runs, and the trial is on the state's own ledgers.
inline void take_out(const State& state, Trial& trial, WorkloadId workload, Emptied emptied) {
  for_each_pod(state, workload, [&](const Pod& pod) { give_back(state, trial, pod, emptied); });
  trial.remove(state.workload(workload).unit);
}

// PRE: it runs. It has its whole grace, but its run limit ends it.
inline Time end_of_grace(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  return std::min(now + terms.grace, enforced_end(terms, workload.started));
}

}  // namespace berth
