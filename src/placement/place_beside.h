// Places for some pods of one set beside those that are left of it, so that together they are as the set asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// A pod set of which some are there and some are to be placed; the others have ended, and ask nothing of anybody any more.
struct PartOfASet {
  NumberedPodSet set;                     // with the request that those have who are placed
  std::vector<std::optional<NodeId>> at;  // by pod of the set: where it is
  std::vector<std::size_t> lost;          // pods of the set, ascending
};

// One for each that is lost, and the moves stay in the trial; none if there are none, and nothing was moved. Those who are there
// stay. All are in the domain that the set requires, where the others are; each slice is in the domain where the rest of it is;
// what is spread evenly goes where it makes no domain have two more than the emptiest of those that count.
// PRE: the set asks for a topology, and `trial` is on the state's own ledgers.
std::optional<std::vector<PodPlacement>> place_beside(const State& state, Trial& trial, ScoreIndex& index,
                                                      const PartOfASet& part, Rng& rng);

}  // namespace berth
