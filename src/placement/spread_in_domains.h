// Places for the pods of one set as far apart, or as evenly over domains, as it asks.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "placement/placing_in_domains.h"

namespace berth {

// As place_in_domains(). PRE: the set is to be spread.
std::variant<std::vector<PodPlacement>, std::int64_t> place_spread(const State& state, Trial& trial, ScoreIndex& index,
                                                                   const NumberedPodSet& set, Rng& rng,
                                                                   const std::vector<NodeId>* among);

}  // namespace berth
