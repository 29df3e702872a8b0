// Volcano's Job as plain values: what its spec asks, with defaults filled in, and what in it cannot be followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "manifest/queue_spec.h"
#include "manifest/value.h"

namespace berth {

inline constexpr std::string_view kVolcanoJobs = "jobs.batch.volcano.sh";
inline constexpr std::string_view kVolcanoJobApi = "batch.volcano.sh/v1alpha1";
inline constexpr std::int64_t kVolcanoPodsMax = 10'000;  // of one job
inline constexpr std::int64_t kVolcanoRetryDefault = 3;

enum class VolcanoEvent : std::uint8_t {
  kPodFailed,
  kPodEvicted,
  kPodPending,
  kTaskCompleted,
  kTaskFailed,
  kJobUnknown,
};
std::string_view name_of(VolcanoEvent event);

// From the weakest to the strongest: of several that are due at once the last is taken.
enum class VolcanoAction : std::uint8_t {
  kRestartPod,
  kRestartTask,
  kRestartJob,
  kAbortJob,
  kTerminateJob,
  kCompleteJob
};
std::string_view name_of(VolcanoAction action);

struct VolcanoPolicy {
  std::string field;                      // "spec.tasks[0].policies[1]"
  std::vector<VolcanoEvent> events;       // any of them
  std::optional<std::int64_t> exit_code;  // of a pod that failed
  VolcanoAction action = VolcanoAction::kRestartJob;
  Duration timeout;  // how long it has to last

  bool names(VolcanoEvent event) const;
};

struct VolcanoTask {
  std::string name;
  std::int64_t replicas = 0;
  std::int64_t min_available = 0;  // all of them if it does not say
  // The first so many of its pods are made for a gang: that of all tasks without dependencies, or its own.
  std::int64_t in_gang = 0;
  std::int64_t of_its_own = 0;                    // among these: so many have to be of this task
  std::int64_t max_retry = kVolcanoRetryDefault;  // -1: no limit
  std::vector<std::size_t> depends_on;            // tasks, by their place
  bool any_suffices = false;                      // of those
  std::vector<VolcanoPolicy> policies;
};

struct VolcanoJob {
  std::vector<VolcanoTask> tasks;
  std::vector<VolcanoPolicy> policies;
  std::int64_t min_available = 0;
  std::int64_t max_retry = kVolcanoRetryDefault;
  std::optional<std::int64_t> min_success;
  std::string queue;  // "default" if it names none
  bool env = false, svc = false;

  std::int64_t pods() const;
  // How many pods start together with that task's.
  std::int64_t gang_of(std::size_t task) const;
  // Whether both are in one gang.
  bool share_gang(std::size_t a, std::size_t b) const;
  // Whether there are more pods than start together with that task's, so that one may stand in for another.
  bool is_elastic(std::size_t task) const;
};

struct ReadVolcanoJob {
  VolcanoJob job;                     // without what is wrong
  std::vector<SpecMistake> mistakes;  // all of them
};
ReadVolcanoJob read_volcano_job(const Value& object);

// "train-worker-0"
std::string volcano_pod_name(std::string_view job, std::string_view task, std::int64_t index);
// By what name others reach it under the plugin svc: "train-worker-0.train".
std::string volcano_host_name(std::string_view job, const Value& pod_template_spec, const std::string& pod_name);

}  // namespace berth
