// Work that has run as long as its limit allows, of queues that extend that (docs/semantics.md, "Over-runners").
#pragma once

#include <optional>

#include "base/time.h"
#include "state/state.h"

namespace berth {

// By how much the run limit of a running workload is extended that it has reached now: as long as its queue allows at most, and only
// while nobody needs its room. Nothing: it is ended. Proven on two forks, one in which it is ended and one in which it goes on: in
// the second nobody starts later, and nothing is promised for later, than in the first.
// PRE: the state's clock is `now`, and its limit is over.
std::optional<Duration> extension_of(const State& state, WorkloadId workload, Time now);

}  // namespace berth
