// What elastic work does, in pods x milliseconds, all of its pods counted alike (docs/semantics.md, rule 18). What is left of it to be
// done, from its last report on, is its declared run times the pods of its minimum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/wide.h"
#include "state/state.h"

namespace berth {

// Those of its minimum, and its steps that are there.
inline std::int64_t pods_of_elastic(const State& state, WorkloadId minimum) {
  return state.shape(state.workload(minimum).shape).pods +
         std::ranges::count_if(state.steps_of(minimum),
                               [&](WorkloadId step) { return is_there(state.workload(step).phase); });
}

// From its last checkpoint, or since it went on from that, until `at`: what it would do again. PRE: it does not resize live, so that it
// has had the same pods since.
inline Wide done_since_safe(const State& state, WorkloadId minimum, Time at) {
  const Workload& workload = state.workload(minimum);
  const Time since = std::max({workload.started, workload.resumed, workload.checkpoint});
  return Wide{pods_of_elastic(state, minimum)} * std::max<std::int64_t>(0, (at - since).ms);
}

}  // namespace berth
