// What is refused of work that is said to run already.
#pragma once

#include "model/event.h"
#include "state/state.h"
#include "state/value_refusals.h"

namespace berth {

FactRefusal refusal_of_found(const State& state, const WorkloadFound& fact);
// Whom it lacks, and until when it is repaired.
FactRefusal refusal_of_repair(const State& state, const WorkloadFound& fact);

}  // namespace berth
