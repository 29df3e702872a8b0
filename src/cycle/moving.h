// Moving those who consent to it, so that whoever fits in sum but not in shape finds room (docs/semantics.md, rule 20).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "cycle/vacating.h"
#include "fairness/rights.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Whether it may be moved now, wherever to: it consents, nothing protects it, it was not moved a while ago, and nothing but its
// places would change by it. PRE: the workload is known.
bool may_be_moved(const State& state, WorkloadId workload, Time now);

// Whether its run limit may begin anew elsewhere: that costs no budget and no window what it was promised, and it is not ended
// before it has stopped. PRE: it runs.
bool may_begin_anew(const State& state, WorkloadId workload, Time now);

// What a plan may cost.
struct MoveBounds {
  static constexpr std::int64_t kMovesMax = 256;

  std::int64_t moves_max = kMovesMax;
  Wide lost_gpu_s_below = 0;          // all of it together
  Wide lost_gpu_s_of_each_below = 0;  // of what is moved so that one more pod, or a few, fit on a node
  int in_vain_max = 64;               // tries in which somebody finds no room elsewhere, before the search is given up
};

// Somebody fits, and others were moved for it, to places where nobody is in their way.
struct Moved {
  Start start;
  std::vector<Migration> migrations;
};

// A set of moves after which the claimant is proven to fit in this way, quotas included: node by node, those first of which the
// least work is lost, until it fits; less is lost than the claimant will use. The moves stay in the trial, but for the
// claimant's own unit; without an answer it is left as it was. PRE: it is on the state's own ledgers.
std::optional<Moved> room_by_moving(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                    const Claimant& claimant, std::size_t way);

// The same for nobody's sake: room for as many more pods like the workload's (of one pod set) as come free within the bounds.
// PRE: the workload waits, and the trial is on the state's own ledgers.
struct MadeRoom {
  std::vector<Migration> migrations;
  std::int64_t pods_before = 0;  // for so many there was room
  std::int64_t pods_after = 0;
};
MadeRoom make_room_for_pods_like(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                 WorkloadId pods_of, const MoveBounds& bounds, Time now);

// What somebody's sake is worth, at most: his GPUs for as long as he will run. Who does not say how long runs for ever (rule 7).
Wide gpu_s_to_use(const State& state, WorkloadId workload);

std::int64_t lost_gpu_s(const std::vector<Migration>& migrations);

}  // namespace berth
