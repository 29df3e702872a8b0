// Compares what a scenario expects with what is found; a difference is a failure in the world.
#pragma once

#include <cstddef>

#include "sim/scenario_parse.h"
#include "sim/scenario_world.h"

namespace berth::scenario {

// `since_last`: the first eviction since the last expectations.
void check(ScenarioWorld& world, const Expectation& expectation, std::size_t since_last);

}  // namespace berth::scenario
