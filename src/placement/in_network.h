// Places for the pods of a set that says how its GPUs share a model: where the network costs least.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// All its pods in the order of their numbers, and the moves stay in the trial; or how many pods' room must come free at the least before
// it can be, and nothing was moved. In one domain of the level that it requires; of one that it prefers if any holds all, and then
// wherever the network costs least. Of these nodes alone, which are ascending, if some are named. PRE: parallel sizes are declared, and `trial` is on the state's own ledgers.
std::variant<std::vector<PodPlacement>, std::int64_t> place_in_network(const State& state, Trial& trial,
                                                                       ScoreIndex& index, const NumberedPodSet& set,
                                                                       Rng& rng,
                                                                       const std::vector<NodeId>* among = nullptr);

}  // namespace berth
