// Somebody's room without him, in a trial.
#pragma once

#include "state/state.h"
#include "state/trial.h"

namespace berth {

// PRE: it runs, and the trial is on the state's own ledgers.
inline void take_out(const State& state, Trial& trial, WorkloadId workload, Emptied emptied) {
  for_each_pod(state, workload, [&](const Pod& pod) {
    trial.depart(move_of(state.request(pod.request), pod.place(), Move::Direction::kGive), emptied);
  });
  trial.remove(state.workload(workload).unit);
}

}  // namespace berth
