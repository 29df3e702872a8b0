// Whether a workload could ever run on the nodes that there are, whatever ends.
#pragma once

#include <cstdint>

#include "model/reason.h"
#include "state/state.h"

namespace berth {

// kNone: it could, alone on the fleet. Else one of those that is_impossible() knows, kIsolation, kTopology or kSpread. For one pod set this is
// exact; of several each is looked at by itself, besides whether there are as many GPUs as all of them ask, and what is to be spread evenly may leave any domains out, as nodes may close:
// an answer other than kNone is always right.
ReasonCode reason_never(const State& state, const Shape& shape);

// Of a workload, the same with what its shape does not know: kDependency, it was to start after one that is not done and never will
// be; kCalendar, by its hours.
ReasonCode reason_never_of(const State& state, WorkloadId workload);

// It runs in hours of the calendar alone that are all shorter than its run limit, as far as they are known.
bool never_in_its_hours(const State& state, const Terms& terms);

// It is critical, and asks GPUs that it would share with others: it never starts, whatever is free.
bool shares_against_its_terms(const State& state, const Shape& shape);

// Whether some node was ever added whose GPUs are shared so.
bool has_mode(const State& state, Sharing sharing);

// How many of its pods the fleet would hold if nothing ran, in its best way; each pod set by itself.
std::int64_t pods_when_idle(const State& state, const Shape& shape);

}  // namespace berth
