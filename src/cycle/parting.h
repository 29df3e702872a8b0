// Work that is on one device, or otherwise too near to each other, and does not trust each other any more (docs/semantics.md, rule 29).
#pragma once

#include <vector>

#include "base/time.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Who has to stop, for nobody's sake, where the time to part is over: whose claim is stronger stays, and who does not trust one
// that stays goes. Their room is given back in the trial. `leaving` have to stop for another reason.
std::vector<Eviction> stop_strangers(const State& state, Trial& trial, const std::vector<Eviction>& leaving, Time now);

}  // namespace berth
