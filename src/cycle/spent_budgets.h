// Budgets that are gone while work runs that was to be paid from them (docs/semantics.md, rule 26).
#pragma once

#include <vector>

#include "base/time.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Of those who use what is not there any more: who has to stop, for nobody's sake, with his room given back in the trial; and
// who goes on as best effort. What the lowest of several such queues says holds.
struct Unpaid {
  std::vector<Eviction> stopped;
  std::vector<WorkloadId> best_effort;
};
// `leaving` have to stop for another reason.
Unpaid stop_unpaid(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now);

}  // namespace berth
