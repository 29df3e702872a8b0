// To wait or to take: what may come free by itself while a claimant's queue has patience (docs/semantics.md, rule 20), or is protected
// (16).
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Whether it has ended by then, as far as anybody knows: who has no run limit may end at any moment, and who has one is
// believed to need all of it. PRE: it runs.
bool may_end_by(const State& state, WorkloadId workload, Time by);

// Whether who waits would fit in some way, quotas included, once all have ended who may by then. `gone` are those who are
// out of the trial already. The trial is left as it was. PRE: it is on the state's own ledgers.
bool may_fit_by(const State& state, Trial& trial, ScoreIndex& index, WorkloadId waiting,
                const std::vector<Eviction>& gone, Time by);

// When the first minimum run time of those who run is over, where somebody waits for such a protection; kForever: nobody does. In whose
// room he has a right is not looked at, and a disruption budget has no end.
Time next_end_of_protection(const State& state, Time now);

}  // namespace berth
