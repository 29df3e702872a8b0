// Gangs that have lost some of their pods get others in their place, or move whole (docs/semantics.md, rule 23).
#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Who lacks somebody and nobody is on the way: the strongest claim first, then who lost somebody first, then who came first.
std::vector<WorkloadId> gangs_to_repair(const State& state);

// One of the two.
struct Repaired {
  std::optional<Repair> repair;          // whether it waits is for the caller to say
  std::vector<Eviction> evictions = {};  // for either
  std::optional<Migration> migration;
};

// What is proven to be possible for the gang now: others in the place of those that it lacks, in free room that nobody of a
// higher claim who waits fits in, or, on as few of them as will do, on spares, too; or with those in the room of others to which it
// has a right as the unit that it is; else all of it elsewhere, in room that is free once it has left, or in that of others by the same right. The moves stay in the trial; without an answer it is left as it was.
// PRE: it is one of gangs_to_repair(), and the trial is on the state's own ledgers.
std::optional<Repaired> find_repair(const State& state, Trial& trial, ScoreIndex& index, WorkloadId gang, Time now);

}  // namespace berth
