// Why domains that some have for themselves keep work from starting, and what is said of that.
#pragma once

#include <optional>
#include <string>

#include "state/state.h"

namespace berth {

// The same state as if nobody minded who else has GPUs in a domain.
State without_exclusive_domains(const State& state);

// The same state as if nobody kept strangers further away than from a device.
State without_strangers(const State& state);

// Of one who has the reason Affinity: "it is to be alone in each rack that it takes: 1 of 4 is free of others' work with GPUs, 2 have
// some, 1 is others' own", or how many nodes with room are in domains that others have for themselves. Nothing if it
// is something else about the pods around.
std::optional<std::string> exclusive_text(const State& state, const Shape& shape);

}  // namespace berth
