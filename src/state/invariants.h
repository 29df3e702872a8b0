// What must hold of every state, whatever happened to it: one list for property tests, for the simulator under faults and
// for the running service.
#pragma once

#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

// Everything that is wrong, one sentence each; empty if the state is sound. Nothing is taken for granted, and nothing
// asserts: free capacity, lines and counts are derived once more from nodes, pods and workloads, and compared.
std::vector<std::string> violations(const State& state);

}  // namespace berth
