// Places for all pods of a workload at once, or none.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "model/mixture.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// It does not fit now: room for at least `missing` more of its pods must come free before it can.
struct Unfit {
  std::int64_t missing = 1;
};

// Tries one way of the workload's shape. Where it leaves the flavor open, its pods are of any of them, or mixed as it is said. If every pod gets a node the moves stay in the trial; else the trial is left
// exactly as it was found. PRE: `trial` is on the state's own ledgers.
std::variant<Start, Unfit> place_in_way(const State& state, Trial& trial, ScoreIndex& index, WorkloadId workload,
                                        std::size_t way, Rng& rng, const Mixture* mixture = nullptr);

// The same of pod sets that are no way of a shape: a place for each pod, set by set.
std::variant<std::vector<PodPlacement>, Unfit> place_sets(const State& state, Trial& trial, ScoreIndex& index,
                                                          const std::vector<NumberedPodSet>& sets, Rng& rng);

// Tries the ways of the workload's shape in their order and takes the first in which every pod gets a node. Then the
// moves stay in the trial; else the trial is left exactly as it was found.
// PRE: `trial` is on the state's own ledger.
std::variant<Start, Unfit> place_workload(const State& state, Trial& trial, ScoreIndex& index, WorkloadId workload,
                                          Rng rng);

}  // namespace berth
