// Who is meant by a name among those whom a journal tells of, or a scheduler knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "state/state.h"

namespace berth {

// Whether a recorded name is of what somebody means: on a live cluster "w", "default/w", "job/w" and "vcjob/w", "jobset/w", "pod/w"
// and so on for all that makes pods, mean "default/w/UID" and "default/w", and also "default/w-x2b9k" and "default/w-3-x2b9k", a pod that a Job has made. The whole name is meant, too.
bool is_meant(std::string_view recorded, std::string_view meant);

// Of two of one name, as a live cluster calls one that comes in the place of another, and pods of one Job: who is not over, he before
// his steps, and the last.
bool is_meant_rather(const State& state, WorkloadId one, WorkloadId other);

// By number; a name that is empty is nobody's. The whole name comes before all others.
std::optional<WorkloadId> who_is_meant(const State& state, const std::vector<std::string>& names,
                                       std::string_view meant);

}  // namespace berth
