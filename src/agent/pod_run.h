// One run of a pod on a simulated machine, as pure functions of the pod object: how long, how it ends, and what its status
// says at each step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "manifest/value.h"

namespace berth {

struct PodRun {
  std::string uid, name_space, name, node;
  Duration run_time;  // of its containers, together
  int exit_code = 0;
  Duration deadline{-1};       // activeDeadlineSeconds; negative: none
  Duration grace;              // to end when it is deleted
  Duration stop_after;         // what it takes of that
  std::string restart_policy;  // "Always", "OnFailure", "Never"
  std::int64_t restarts = 0;
};
// `otherwise` is the run time of a pod that names none, or no readable one.
PodRun read_pod_run(const Value& pod, Duration otherwise);

bool starts_again(const PodRun& run);
// Kubernetes' back-off between two runs of a container: 10 s, doubling, 5 minutes at most.
Duration pause_before(std::int64_t restarts);

// Bodies of a strategic merge patch of pods/NAME/status.
Value running_status(const Value& pod, const PodRun& run, Time started, Time now);
Value paused_status(const Value& pod, const PodRun& run, Time started, Time now);  // between two runs
Value ended_status(const Value& pod, const PodRun& run, Time started, Time now);
Value deadline_status(const Value& pod, const PodRun& run, Time started, Time now);

}  // namespace berth
