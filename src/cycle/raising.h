// By how much the bounds of queues are too low for somebody who waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cycle/changes.h"

namespace berth {

// Of the limits, borrowing limits, user limits and budgets that refuse it in this way: the least by which they have to be higher
// so that it starts, each as long as the others stay; nothing if that is not enough, or a window of the calendar sets them.
// PRE: the workload waits.
std::optional<SmallestChange> smallest_raise(const State& state, WorkloadId workload, Time now, std::size_t way,
                                             std::int64_t tries_max);

}  // namespace berth
