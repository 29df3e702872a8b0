// Who asks more than the bounds of its queues wherever nodes have a place for it.
#pragma once

#include "state/state.h"

namespace berth {

// Each of its ways has no place on the nodes that there are, or bounds would refuse it, or what other queues lend, if nothing at all were held;
// a mixture of flavors is nowhere within both. So nobody waits behind it, and it is tried again when quotas are others. Where all of its ways
// are above bounds, that is known without this, and false.
bool is_above_bounds_where_it_fits(const State& state, QueueId queue, const Shape& shape);

}  // namespace berth
