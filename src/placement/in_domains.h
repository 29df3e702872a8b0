// Places for the pods of one set as near together, or as far apart, as it asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "model/plan.h"
#include "placement/score_index.h"
#include "state/domain_rooms.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// All its pods, those of one domain and of one slice beside each other, and the moves stay in the trial; or how many pods'
// room must come free at the least before it can be, and nothing was moved. The domain is that which its pods like best, of
// these one of the narrowest inside of which all have room, of these the one that has the least room left over; where none has room for
// all, few, near each other: in the narrowest domain around that has room (of `preferred` alone; docs/decisions/0088).
// Who may grow by `more` pods later goes where all of them have room, or else where the most have.
// What is spread goes over the inner domains of that one; what cannot be split evenly goes where it is liked best, of these where
// the least room is left over.
// Of these nodes alone, if some are named.
// PRE: they are ascending, the set asks for a topology, and `trial` is on the state's own ledgers.
std::variant<std::vector<PodPlacement>, std::int64_t> place_in_domains(const State& state, Trial& trial,
                                                                       ScoreIndex& index, const NumberedPodSet& set,
                                                                       Rng& rng, std::int64_t more = 0,
                                                                       const std::vector<NodeId>* among = nullptr);

}  // namespace berth
