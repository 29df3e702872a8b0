// Room that a waiting workload, or a gang that lacks some of its pods, has a right to and others hold (docs/semantics.md, rules 13 to 19): who goes, so that it
// fits.
#pragma once

#include <variant>
#include <vector>

#include "fairness/rights.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

struct Claimed {
  Start start;                             // of a gang that is repaired: of those that it lacks (cycle/asking.h)
  std::vector<Eviction> evictions;         // the lowest claim first
  std::vector<Migration> migrations = {};  // instead of evictions (cycle/moving.h)
  // Reservations that are held elsewhere for its sake; who leaves these places is among the evictions (cycle/reserved.h).
  std::vector<HeldPlaces> held_elsewhere = {};
};

// Nobody goes: it would not fit even then.
struct Unclaimed {
  bool some_protected = false;      // it might have, but for their protection
  bool would_break_floors = false;  // it might have, but for others who were promised whole GPUs (cycle/deliverable.h)
};

// A set of victims after whose eviction the claimant is proven to fit in this way of its shape, quotas included; none of
// them could stay. Up to kExactVictimsMax that it may take it is the cheapest such set: sets compare by the highest claim
// that they touch, then by lost work, then by number. With more, whole alternatives (what must go to free one node for
// one more of its pods) are taken in the order of their cost, within one claim after the other, and in the end whoever
// is not needed is put back.
// The moves stay in the trial, but for the claimant's own unit; without an answer the trial is left as it was.
// PRE: `trial` is on the state's own ledgers.
// `exact_max`: how many victims are few; less only to see how far the other way is from the cheapest.
inline constexpr std::size_t kExactVictimsMax = 12;
std::variant<Claimed, Unclaimed> claim_room(const State& state, Trial& trial, ScoreIndex& index,
                                            const Claimant& claimant, std::size_t way,
                                            std::size_t exact_max = kExactVictimsMax);

}  // namespace berth
