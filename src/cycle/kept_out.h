// Whether others' floors keep somebody out for good: beside them he could not start even if nobody else ran (docs/semantics.md,
// rule 28).
#pragma once

#include <string>

#include "model/ids.h"
#include "model/plan.h"
#include "state/state.h"

namespace berth {

// The same cluster as it is when nobody runs, nothing is reserved, and nodes that are closed have come back. PRE: no trial is on the
// state's own ledgers.
State emptied(const State& state);

// Whether the workload finds a place in one of its ways that leaves others their floors. Looked for as in a cycle, and where that does
// not do, in one domain after the other that floors come in or that it asks, on one kind of node after the other, and packed tightly.
// True also where it is not easily told: other things are in its way, or there are too many places. PRE: `idle` is emptied(); it is
// left as it was.
bool finds_place_beside_floors(State& idle, WorkloadId workload);

// Whether one who waits is refused for that now, and was not before: from the next cycle on nobody may have to wait behind him.
bool is_newly_refused_for_floors(const State& state, const Blocked& blocked);

// Of one who does not: "; never: not even if nothing else ran ...", with whose floors these are.
std::string kept_out_text(const State& state, QueueId queue, const Shape& shape);

}  // namespace berth
