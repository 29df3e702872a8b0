// A better plan of moves than the first that was found: attempt by attempt a few nodes are taken apart and filled anew. This is
// large-neighbourhood search (P. Shaw, Using Constraint Programming and Local Search Methods to Solve Vehicle Routing Problems,
// CP 1998), and how it fills them is how the first plan was made (cycle/moving.h): the room that is wanted, then the largest pods
// where the fewest GPUs are left. One search for whole nodes, for gangs, and for the layouts of GPUs that are cut.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"
#include "cycle/movers.h"
#include "cycle/vacating.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

struct Repacking {
  std::span<const RoomWanted> wanted;
  MoveBounds bounds;
  WorkloadId claimant;  // for whose sake; none: nobody's
  Time now;
};

// What one plan has over another: room for more pods, for less than that is worth more (`lost_gpu_s_of_each_below`); or for as many,
// and less work is lost; or as much, and fewer are moved. So room never falls on the way, nor does what it is worth over what it costs.
struct PlanMeasure {
  std::int64_t rooms = 0;
  Wide lost_gpu_s = 0;
  std::int64_t moves = 0;

  static PlanMeasure of(const Arrangement& arrangement);
  bool is_better_than(const PlanMeasure& other, const MoveBounds& bounds) const;
  friend bool operator==(const PlanMeasure&, const PlanMeasure&) = default;
};

// The best that so many attempts find from the first plan on, of those that keep the bounds; none: nothing better. It takes off
// `attempts` those that it made. Moved are by it those who pack well, and of whom nobody else asks where they are; the others stay
// where the first plan has them. What is drawn comes from the state's seed. The trial is left as it was.
// PRE: the trial is on the state's own ledgers, and has nothing of the first plan; all that is moved in it is one of the movers.
std::optional<Arrangement> repack(const State& state, Trial& trial, ScoreIndex& index, const Vacating& vacating,
                                  const Repacking& asked, const std::vector<Mover>& movers, const Arrangement& first,
                                  std::int64_t& attempts);

}  // namespace berth
