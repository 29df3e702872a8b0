// Limits that the calendar has lowered below what is held (docs/semantics.md, rule 7).
#pragma once

#include <vector>

#include "base/time.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Who has to stop, for nobody's sake: of each queue whose limit, or borrowing limit, a window changes, until it holds no more than that; the
// weakest claims first. Their room is given back in the trial.
std::vector<Eviction> stop_above_limits(const State& state, Trial& trial, Time now);

// Who has to stop as the hours are over in which alone it runs.
std::vector<Eviction> stop_out_of_hours(const State& state, Trial& trial, Time now);

}  // namespace berth
