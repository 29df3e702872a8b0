// By how much the bounds of queues are too low for somebody who waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "cycle/changes.h"

namespace berth {

// How much is tried: so often, and until it is enough.
struct RaiseTries {
  std::int64_t left;
  std::function<bool()> is_enough;

  bool take() { return left-- > 0 && !is_enough(); }
};

// Of the limits, borrowing limits, user limits and budgets that refuse it in this way: the least by which they have to be higher
// so that it starts, each as long as the others stay; nothing if that is not enough, or a window of the calendar sets them.
// PRE: the workload waits.
std::optional<SmallestChange> smallest_raise(const State& state, WorkloadId workload, Time now, std::size_t way,
                                             RaiseTries tries);

}  // namespace berth
