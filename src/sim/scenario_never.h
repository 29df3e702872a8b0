// What the linter says of a workload that the core knows to be impossible on the nodes that there are.
#pragma once

#include <optional>
#include <string>

#include "policy/policy.h"
#include "state/state.h"

namespace berth {

// Nothing: it could run, if nothing else did.
std::optional<NeverRuns> why_never_runs(const State& state, const Shape& shape, const std::string& name);

}  // namespace berth
