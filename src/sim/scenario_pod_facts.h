// What a scenario's line about one pod of a workload is to the state. Pods are numbered from 0, those of the steps behind those of
// the minimum, in their order.
#pragma once

#include <optional>

#include "model/event.h"
#include "sim/scenario_parse.h"
#include "state/state.h"

namespace berth::scenario {

// That it failed; where it had been told to stop, that it is gone, and with the last of them that all have stopped. None: no such
// pod runs.
std::optional<Event> fact_of(const State& state, const FailPod& action);

// That it ended, and with the last of them the workload. None: no such pod runs that ends by itself.
std::optional<Event> fact_of(const State& state, const EndPod& action);

// Whether the pod is one above the minimum: it ends with the others.
bool is_above_minimum(const State& state, const EndPod& action);

}  // namespace berth::scenario
