// What the Workload of a group of pods that start together is called, and what the group belongs to.
#pragma once

#include <string>
#include <string_view>

#include "manifest/value.h"

namespace berth {

// The uid of what a group of pods belongs to, by one of them: what they say themselves, else what controls the pod; empty: they
// belong to nothing.
std::string_view group_uid_of(const Value& pod);

// By one of its pods; empty: the pod starts alone.
std::string workload_name_of(const Value& pod);
// Of the Job's pods, of which there are none yet.
std::string workload_name_of_job(std::string_view name, std::string_view uid);

}  // namespace berth
