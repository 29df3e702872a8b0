// What is said of who waits for room that is reserved, closed, or promised to others.
#pragma once

#include <optional>
#include <string>

#include "state/state.h"

namespace berth {

// By what is first in its way, and which limit would let it go ahead of that.
std::string in_the_way_text(const State& state, WorkloadId workload);

// Of a gang that lacks pods: by the first reservation, or maintenance, of nodes where they might be, that it would still meet; none: it
// would meet none.
std::optional<std::string> reserved_text(const State& state, WorkloadId id);

}  // namespace berth
