// One scheduling cycle: the state, the time and a bound go in, a plan comes out.
#pragma once

#include "base/time.h"
#include "cycle/engine.h"
#include "model/plan.h"

namespace berth {

// The same state, time and effort give the same plan; the state is left as it was. The seed that the state was
// configured with settles whatever is left to chance.
Plan run_cycle(Engine& engine, Time now, Effort effort);

}  // namespace berth
