// The pods of a Job: what each is made of. Each gets a name by a number, so that one whose creation was tried and perhaps
// done is tried again by the same name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "manifest/labels.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::int64_t kPodsOfJobMax = 14'348'907;  // what five letters of 27 can tell
inline constexpr std::string_view kCompletionIndex = kCompletionIndexAnnotation;
inline constexpr std::string_view kJobTracking = "batch.kubernetes.io/job-tracking";  // a finalizer

// How often the index of a pod was tried before it, where Jobs limit that: tries that count as failed, and others.
struct PodRetries {
  std::int64_t failed = 0;
  std::int64_t ignored = 0;

  std::int64_t sum() const { return failed + ignored; }
};

// "train-x7k2p", of an Indexed Job "train-3-x7k2p". PRE: 0 <= number < kPodsOfJobMax
std::string job_pod_name(const Value& job, std::int64_t number, std::optional<std::int64_t> index);
std::optional<std::int64_t> completion_index(const Value& pod);

PodRetries retries_in(const Value& pod);

// Whether the Job has yet to count it (job_plan.h).
bool is_tracked(const Value& pod);
// The merge patch that takes that finalizer from it, and no other.
Value release_of(const Value& pod);
// Whether the scheduler told it to make room: it has not failed.
bool was_preempted(const Value& pod);
// Nobody will say more of it: it has ended, or its machine has let go of it.
bool is_past(const Value& pod);
// When it ended, as far as it says so.
Time end_of(const Value& pod);
// How often its containers were begun anew.
std::int64_t restarts_of(const Value& pod);
// Whether that condition of a pod or Job is True.
bool condition_holds(const Value& object, std::string_view type);

bool is_indexed(const Value& job);
// Whether its template names a group: its pods are of that one, with those of other Jobs (of a JobSet), and make none of
// their own.
bool is_of_wider_group(const Value& job);
// How many pods run at once.
std::int64_t pods_at_once(const Value& job_spec);
// How many pods start together, those of other Jobs included; 0 if each is on its own.
std::int64_t gang_size(const Value& job);
// Whether less than all of them will do to begin with, and then how many; 0: all have to.
std::int64_t min_parallelism(const Value& job);
// How many start together if so many of its pods will not come again: they have succeeded and are gone; 0 as above.
std::int64_t group_size(const Value& job, std::int64_t pods_missing);
// What a pod says of it; 0: it is in no group.
std::int64_t group_size_in(const Value& pod);

// The reference by which a Job, of whichever kind, owns what it made.
Value owner_reference(const Value& job, std::string_view api_version);

// Labels and annotations that its template, and the Job, say of its pods.
Value words_of_pods(const Value& job);
// `group_size`: of its gang; 0: it is on its own.
Value pod_of_job(const Value& job, std::int64_t number, std::optional<std::int64_t> index, std::int64_t group_size,
                 const PodRetries& retries = {});

}  // namespace berth
