// The pods of Volcano's Job, and the ConfigMap by which they know each other: what each is made of. A pod has the same name
// whenever it is made, so that one whose creation was tried and perhaps done is tried again by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "manifest/value.h"
#include "manifest/volcano_job.h"

namespace berth {

inline constexpr std::string_view kVolcanoTask = "volcano.sh/task-spec";        // label and annotation
inline constexpr std::string_view kVolcanoTaskIndex = "volcano.sh/task-index";  // label and annotation
inline constexpr std::string_view kVolcanoVersion = "volcano.sh/job-version";   // annotation

// The place of a pod in its job.
struct VolcanoPlace {
  std::size_t task = 0;
  std::int64_t index = 0;
};

// None: the job has no such place.
std::optional<VolcanoPlace> place_of(const VolcanoJob& spec, const Value& pod);
// The status.version of its job when it was made.
std::int64_t version_of(const Value& pod);

// Labels and annotations that its template, and the job, say of its pods.
Value words_of_volcano_pods(const Value& job, std::size_t task, const std::string& queue);
// `group_size`: of the gang that it starts with; 0: it is on its own. `queue`: of Volcano's; empty: Berth's own default.
Value pod_of_volcano_job(const Value& job, const VolcanoJob& spec, VolcanoPlace place, std::int64_t group_size,
                         const std::string& queue);

// Of the plugin svc: who is in the job.
std::string volcano_hosts_name(const Value& job);
Value volcano_hosts(const Value& job, const VolcanoJob& spec);

}  // namespace berth
