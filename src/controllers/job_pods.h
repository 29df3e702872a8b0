// The pods of a Job: what each is made of, and its number. Every pod of a Job has a number of its own, the first one 0,
// which its name tells and by which the Job's status remembers it after it is gone. A pod is created by the same name
// however often it is tried, so that trying again never makes two of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "manifest/value.h"

namespace berth {

inline constexpr std::int64_t kPodsOfJobMax = 14'348'907;  // what five letters of 27 can tell
inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";

// "train-x7k2p", of an Indexed Job "train-3-x7k2p". PRE: 0 <= number < kPodsOfJobMax
std::string job_pod_name(const Value& job, std::int64_t number, std::optional<std::int64_t> index);
// None if the name is not one that job_pod_name() gives.
std::optional<std::int64_t> job_pod_number(const Value& job, const Value& pod);
std::optional<std::int64_t> completion_index(const Value& pod);

bool is_indexed(const Value& job);
// How many pods of it start together; 0 if each is on its own.
std::int64_t gang_size(const Value& job);

Value pod_of_job(const Value& job, std::int64_t number, std::optional<std::int64_t> index);

}  // namespace berth
