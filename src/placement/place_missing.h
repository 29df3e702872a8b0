// Places for those whom a gang has lost, with those who are left of it (docs/semantics.md, rule 23).
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "model/plan.h"
#include "placement/place.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Of those that the gang has lost, by pod set.
std::vector<NumberedPodSet> missing_sets(const State& state, WorkloadId gang);

// A place for each of them, in the order of Repairing::lost, and the moves stay in the trial; or nothing was moved. Those who are
// left stay where they are, and together they are as the gang asks: near each other, in slices, spread.
// PRE: it is repaired and lacks somebody, and `trial` is on the state's own ledgers.
std::variant<std::vector<PodPlacement>, Unfit> place_missing(const State& state, Trial& trial, ScoreIndex& index,
                                                             WorkloadId gang, Rng& rng);

// The same of those of one set alone, which is one of missing_sets().
std::variant<std::vector<PodPlacement>, Unfit> place_missing_of_set(const State& state, Trial& trial, ScoreIndex& index,
                                                                    WorkloadId gang, std::size_t set, Rng& rng);

}  // namespace berth
