// Whether somebody could not start even if nobody else ran: for others' floors (docs/semantics.md, rule 28), or as there is no place for
// all of him.
#pragma once

#include <optional>
#include <string>

#include "model/ids.h"
#include "model/plan.h"
#include "model/reason.h"
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

// Whether one who waits in a strict line lacks room now, and did not since nodes, or what is promised to queues, changed last; and
// that there is a place for all of him is not clear from each of his pod sets alone, as it most often is (cycle/feasibility.h).
bool may_be_nowhere(const State& state, const Blocked& blocked);
// Why the workload finds no place in any of its ways; none: it finds one, or other things are in its way. PRE: as above.
std::optional<ReasonCode> reason_nowhere(State& idle, WorkloadId workload);
// Of one who finds none: "; not even if nothing else ran ...".
std::string nowhere_text();

// Of one who does not leave them: "; never: not even if nothing else ran ...", with whose floors these are.
std::string kept_out_text(const State& state, QueueId queue, const Shape& shape);

}  // namespace berth
