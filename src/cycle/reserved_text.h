// What is said of who waits for room that is reserved.
#pragma once

#include <optional>
#include <string>

#include "state/state.h"

namespace berth {

// By the first reservation, or maintenance, that it would still meet if it started now; none: it would meet none.
std::optional<std::string> reserved_text(const State& state, const Workload& workload);

}  // namespace berth
