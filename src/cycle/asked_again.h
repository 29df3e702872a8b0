// A workload as it was asked for, out of what the state keeps of it, so that it can be submitted once more.
#pragma once

#include "model/event.h"
#include "state/state.h"

namespace berth {

// PRE: the workload is known. Its name is not kept; neither are the moment before which it is not to start, nor whom it follows.
WorkloadSubmitted asked_again(const State& state, WorkloadId workload, Time now);

}  // namespace berth
