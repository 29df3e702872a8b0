// Why somebody who says how his GPUs share a model runs where he runs: what the network costs there, by its parts.
#pragma once

#include <string>

#include "state/state.h"

namespace berth {

// "for a GiB each, tensor groups take 4.2 ms inside nodes, stages 21.4 ms over rack, replicas 36.1 ms over cluster; on an idle fleet
// 4.2, 21.4 and 21.4 ms"; of the first of its pod sets that says so and is whole, empty if none is. What is named is the widest way
// that some group of that kind goes, which is the slowest unless nodes say otherwise. PRE: it has places.
std::string network_text(const State& state, WorkloadId workload);

}  // namespace berth
