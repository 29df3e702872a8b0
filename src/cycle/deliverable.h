// Whether whole GPUs, and whole domains, are left for those to whom they are promised, now and at each hour until the end of whoever takes
// some (docs/semantics.md, rule 28).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// False where the start would be covered, and with it less of what floors promise beside its own line of queues could be given
// than before, whoever gave back: of a flavor in which floors come in whole domains those, and what else is promised beside them;
// else whole GPUs, which only parts of GPUs are in the way of, and who asks whole ones beside parts of its own line's, where these are on
// more GPUs than its floor has; and on GPUs that are cut, or may be, slices that are promised by their
// profile (promised_slices.h). So who takes no device, no domain and no place more than before is in nobody's way. `gone`: when all have
// left who go for it. PRE: the trial is on the state's own ledgers; the unit is not in it yet.
bool leaves_floors_whole(const State& state, const Trial& trial, const Start& start, Time gone);
// The same, after its slices have been put beside those that floors promise (promised_slices.h).
bool leaves_floors_whole_at_best(const State& state, Trial& trial, Start& start, Time gone);
// The same if it has its room from a later moment on: at these hours, the first of them that of the moment. PRE: it is as above, but for
// what has come free on the ledger by then.
bool leaves_floors_whole_then(const State& state, const Trial& trial, const Start& start, Time then,
                              std::span<const FloorRise> hours);
// The same now of who has his unit: of what takes the place of those that a gang has lost; and of a gang that goes elsewhere whole.
bool leaves_floors_whole(const State& state, const Trial& trial, const Repair& repair);
bool leaves_floors_whole_elsewhere(const State& state, const Trial& trial, const Start& start);
// Of a start for the sake of which others are moved: where these go counts, too, whoever the start is.
bool leaves_floors_whole(const State& state, const Trial& trial, const Start& start,
                         const std::vector<Migration>& moved);

// False where it would be covered, and its own line of queues could then be given less of what floors promise it besides, as others' whole
// domains would be where only that was left: nobody is to wait for that, but there may be places where it is not so.
bool leaves_own_floor_whole(const State& state, const Trial& trial, const Start& start);

// Of who borrows: whether it would leave cells whole if it came into a floor while it runs. Where it would not, it only borrows. `gone`: as above.
bool could_be_covered_there(const State& state, const Trial& trial, const Start& start, Time gone);

// Where the GPUs of a start or a repair are.
std::vector<GpusOfNode> gpus_of(const State& state, const Start& start);
std::vector<GpusOfNode> gpus_of(const State& state, const Repair& repair);

// How many GPUs of the flavor floors beside the queue's own line still promise, whole ones: now, or when they have risen.
std::int64_t whole_gpus_promised_beside(const QuotaLedger& quotas, QueueId queue, FlavorId flavor,
                                        const FloorRise* rise = nullptr);

// Domains that are others' cells now, or then, by level: of queues beside the queue's own line.
std::map<std::string, std::int64_t> cells_beside(const State& state, QueueId queue, FlavorSet flavors,
                                                 const FloorRise* rise = nullptr);

// What a queue's floor comes in, and how much of that is there. promised = in_use + lent + free + lacking.
struct CellsOfQueue {
  FloorCells cells;           // as they are written
  std::int64_t gpus = 0;      // of one
  std::int64_t promised = 0;  // as many as the floor pays for
  std::int64_t in_use = 0;    // some of its own work, or of that below it, is there
  std::int64_t lent = 0;      // others are there, and would give it back
  std::int64_t free = 0;
  std::int64_t lacking = 0;
};
std::vector<CellsOfQueue> cells_of(const State& state, QueueId queue);

}  // namespace berth
