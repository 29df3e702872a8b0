// How near together, or how far apart, pods of a set are to be, as scenarios write it: topology=required:rack slice=8:node
// spread=zone strategy=SPREAD.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/topology.h"
#include "sim/scenario_line.h"

namespace berth::scenario {

// One label of nodes, or `node`: what has several parts names none.
bool is_level(std::string_view text);

// Of a set of so many pods. `strategy` is one of Ray's for placement groups, over nodes.
Topology take_topology(ScenarioLine& line, std::int64_t pods);

}  // namespace berth::scenario
