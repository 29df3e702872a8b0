#pragma once

#include "state/state.h"

namespace berth {

// What a workload that is there asks beside its places.
inline const Terms& terms_of(const State& state, WorkloadId id) { return state.shape(state.workload(id).shape).terms; }

}  // namespace berth
