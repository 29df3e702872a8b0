// Whether whole GPUs are left for those to whom they are promised (docs/semantics.md, rule 28).
#pragma once

#include <cstdint>

#include "model/ids.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// False where the start would be covered, and with its parts of GPUs so many devices would be held in part by those whom nobody
// may take that what floors still promise to others could not be given in whole GPUs, whoever else gave back. Who takes no device
// more than before is in nobody's way. PRE: the trial is on the state's
// own ledgers; its places are taken there, its unit is not yet.
bool leaves_floors_whole(const State& state, const Trial& trial, const Start& start);
// The same of what takes the place of those that a gang has lost, whose unit is there.
bool leaves_floors_whole(const State& state, const Trial& trial, const Repair& repair);

// How many GPUs of the flavor floors beside the queue's own line still promise, whole ones.
std::int64_t whole_gpus_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor);

}  // namespace berth
