// How near together, or how far apart, pods of a set are to be, as scenarios write it: topology=required:rack slice=8:node
// spread=zone strategy=SPREAD.
#pragma once

#include <cstdint>

#include "model/topology.h"
#include "sim/scenario_line.h"

namespace berth::scenario {

// Of a set of so many pods. `strategy` is one of Ray's for placement groups, over nodes.
Topology take_topology(ScenarioLine& line, std::int64_t pods);

}  // namespace berth::scenario
