// Whose claim is the stronger, of two who wait or one who waits and one who runs (docs/semantics.md, rules 13 and 15).
#pragma once

#include "state/state.h"

namespace berth {

// The queue highest up inside whose floor it would run now; none: in no floor.
QueueId would_be_covered_at(const State& state, WorkloadId workload);
// Whether a waiting workload could take another's room if that one had started: covered where that one is not (rule 13), or with
// a higher priority in its queue (15). Shares are no reason: they turn with each start.
bool outranks(const State& state, WorkloadId workload, WorkloadId other);
// Whether it may have what was promised to another: as above, but that whoever takes nothing by his priority stands ahead by it all
// the same, for that one does not run yet.
bool takes_promises_of(const State& state, WorkloadId workload, WorkloadId other);

}  // namespace berth
