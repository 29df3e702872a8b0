// Moving those who consent to it, so that whoever fits in sum but not in shape finds room (docs/semantics.md, rule 20).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "cycle/movers.h"
#include "cycle/vacating.h"
#include "fairness/rights.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Somebody fits, and others were moved for it, to places where nobody is in their way.
struct Moved {
  Start start;
  std::vector<Migration> migrations;
};

// So many attempts are made for one who waits, beyond the first plan of moves.
inline constexpr std::int64_t kRepackAttempts = 256;

// A set of moves after which the claimant is proven to fit in this way, quotas included: node by node, those first of which the
// least work is lost, until it fits; less is lost than the claimant will use. Then so many attempts are made to find room where
// that found none, or the same for less (cycle/repacking.h); they are taken off `attempts`. The moves stay in the trial, but for the
// claimant's own unit; without an answer it is left as it was. PRE: it is on the state's own ledgers.
std::optional<Moved> room_by_moving(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                    const Claimant& claimant, std::size_t way, std::int64_t& attempts);

// The same for nobody's sake: room for as many more pods like the workload's (of one pod set) as come free within the bounds, and
// for so many together at most. The trial is left as it was. PRE: the workload waits, and the trial is on the state's own ledgers.
struct MadeRoom {
  Arrangement plan;
  std::int64_t pods_before = 0;  // for so many there was room
};
MadeRoom make_room_for_pods_like(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                 WorkloadId pods_of, std::int64_t pods_max, const MoveBounds& bounds, Time now,
                                 std::int64_t attempts);

// What somebody's sake is worth, at most: his GPUs for as long as he will run. Who does not say how long runs for ever (rule 7).
Wide gpu_s_to_use(const State& state, WorkloadId workload);

}  // namespace berth
