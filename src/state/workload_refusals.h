// What is refused of a workload that is submitted, beside what there is.
#pragma once

#include <optional>
#include <vector>

#include "model/event.h"
#include "state/state.h"
#include "state/value_refusals.h"

namespace berth {

// A slice is of a shape that each of its flavors can be cut into.
FactRefusal refusal_of_slices(const State& state, const WorkloadShape& shape);
// A vGPU is of a profile that each of its flavors has.
FactRefusal refusal_of_vgpus(const State& state, const WorkloadShape& shape);
FactRefusal refusal_of_back_off(const std::optional<BackOff>& backs_off);
// One more pod of one of the pod sets of a workload that is there or may come.
FactRefusal refusal_of_step(const State& state, const WorkloadSubmitted& fact);
// How somebody ended who is not recorded any more is not known.
FactRefusal refusal_of_dependencies(const WorkloadTable& workloads, const std::vector<Dependency>& after);
FactRefusal refusal_of_max_wait(const WorkloadSubmitted& fact);
FactRefusal refusal_of_policy(const WorkloadTable& workloads, const State& state, const WorkloadSubmitted& fact);
FactRefusal refusal_of_extension(const State& state, const LimitExtended& fact);
// Its hours are a window that is known, and is nothing else.
FactRefusal refusal_of_hours(const State& state, const Terms& terms);

}  // namespace berth
