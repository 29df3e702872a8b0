// The Jobs of a JobSet: what each is made of, and which of their pods start together. A part is an item of
// spec.replicatedJobs: Jobs of one template.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "manifest/value.h"

namespace berth {

inline constexpr const char* kRestartAttempt = "jobset.sigs.k8s.io/restart-attempt";

// How many Jobs the part has.
std::int64_t replicas_of(const Value& part);
// "train-workers-0"
std::string job_name_of(const Value& set, const Value& part, std::int64_t index);
// In which attempt of the set it was made; -1 if it does not say.
std::int64_t attempt_of(const Value& job);

bool starts_in_order(const Value& set);

// Pods that start together, or not at all.
struct SetGang {
  std::string label;
  std::int64_t size = 0;
};
// Of the pods of that part; nothing if the set does not group them.
std::optional<SetGang> gang_of(const Value& set, std::size_t part);

// Labels and annotations that the part, and the set, say of its Jobs.
Value words_of_jobs(const Value& set, std::size_t part);
// As the set has it now, in the attempt that its status tells. PRE: there is such a part, and it has such a Job
Value job_of_set(const Value& set, std::size_t part, std::int64_t index);

// The merge patch that lets a suspended Job go, with what may be said of its pods as `wanted` says it. Nothing while it has
// yet to let go of its last pods, for as long that may not change.
std::optional<Value> resumption_of(const Value& job, const Value& wanted);

}  // namespace berth
