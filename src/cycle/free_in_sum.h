// Whether room is short, or only its shape: what is free in sum.
#pragma once

#include <vector>

#include "state/state.h"

namespace berth {

// Whether the free amounts of the nodes that a way may use add up to what it asks.
bool is_free_in_sum(const State& state, const std::vector<NumberedPodSet>& way);

}  // namespace berth
