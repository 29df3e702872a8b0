// How things are found to be in a scenario's world, in the words of its failures. Looking costs steps, too: in a world
// that has stopped the answer means nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cycle/explain.h"
#include "sim/scenario_world.h"

namespace berth::scenario {

// A workload's pods in a few words.
struct Whereabouts {
  std::int64_t pods = 0;
  std::vector<std::string> nodes;  // sorted, each once
  std::vector<std::string> ranks;  // by pod
  FlavorSet flavors;               // of its GPUs
};

Whereabouts whereabouts(ScenarioWorld& world, WorkloadId id);
// Why it waits, as of now.
Explanation explained(ScenarioWorld& world, WorkloadId id);
// "running: 2 pods on n1 (h100), started 08:00".
std::string how_it_is(ScenarioWorld& world, WorkloadId id);

std::string flavors_text(const ScenarioWorld& world, FlavorSet flavors);
std::string names_of(const ScenarioWorld& world, const std::vector<WorkloadId>& workloads);
// "a, b, c", of many the first few.
std::string joined(std::span<const std::string> names);
// "1 pod", "2 pods".
std::string counted(std::int64_t count, const std::string& thing);

}  // namespace berth::scenario
