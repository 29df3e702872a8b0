#include "agent/pod_run.h"

#include <algorithm>
#include <utility>

#include "manifest/labels.h"
#include "manifest/timestamp.h"
#include "model/quantity.h"

namespace berth {
namespace {

constexpr Duration kPauseFirst = seconds(10);
constexpr Duration kPauseMax = seconds(300);
constexpr Duration kStopAfter{500};  // what a simulated program needs to end when it is asked to
constexpr int kExitKilled = 137;     // 128 + SIGKILL

Value condition(const char* type, bool holds, const char* reason, Time now) {
  Value condition = Value::map_of(
      {{"type", type}, {"status", holds ? "True" : "False"}, {"lastTransitionTime", format_timestamp(now)}});
  if (*reason != '\0') condition.set("reason", reason);
  return condition;
}

Value terminated(int exit_code, const char* reason, Time started, Time now) {
  return Value::map_of({{"exitCode", exit_code},
                        {"reason", reason},
                        {"startedAt", format_timestamp(started)},
                        {"finishedAt", format_timestamp(now)}});
}

const char* reason_of_end(int exit_code) { return exit_code == 0 ? "Completed" : "Error"; }

// One status for every container of a list; state and last_state as Kubernetes' ContainerState.
Value container_statuses(const Value& containers, const PodRun& run, bool ready, const Value& state,
                         const Value& last_state) {
  Value statuses = Value::list();
  for (const Value& container : containers.items()) {
    Value status = Value::map_of({{"name", container["name"]},
                                  {"image", container["image"]},
                                  {"imageID", "simulated"},
                                  {"containerID", "simulated://" + run.uid},
                                  {"ready", ready},
                                  {"started", ready},
                                  {"restartCount", run.restarts},
                                  {"state", state}});
    if (!last_state.is_null()) status.set("lastState", last_state);
    statuses.push_back(std::move(status));
  }
  return statuses;
}

Value body(const Value& pod, const PodRun& run, const char* phase, Time started, Time now, bool ready,
           const Value& state, const Value& last_state = {}) {
  Value body;
  body.at("metadata").set("uid", run.uid);
  Value& status = body.at("status");
  status.set("phase", phase);
  status.set("startTime", format_timestamp(started));
  const bool completed = std::string_view(phase) == "Succeeded";
  const char* const why = ready ? "" : completed ? "PodCompleted" : "ContainersNotReady";
  Value conditions = Value::list();
  conditions.push_back(condition("Initialized", true, "", now));
  conditions.push_back(condition("Ready", ready, why, now));
  conditions.push_back(condition("ContainersReady", ready, why, now));
  status.set("conditions", std::move(conditions));
  status.set("containerStatuses", container_statuses(pod["spec"]["containers"], run, ready, state, last_state));
  if (const Value& first = pod["spec"]["initContainers"]; !first.items().empty()) {
    const Value done = Value::map_of({{"terminated", terminated(0, "Completed", started, started)}});
    status.set("initContainerStatuses", container_statuses(first, run, true, done, {}));
  }
  return body;
}

}  // namespace

PodRun read_pod_run(const Value& pod, Duration otherwise) {
  const Value& metadata = pod["metadata"];
  const Value& annotations = metadata["annotations"];
  const Value& spec = pod["spec"];
  PodRun run;
  run.uid = metadata["uid"].text();
  run.name_space = metadata["namespace"].text();
  run.name = metadata["name"].text();
  run.node = spec["nodeName"].text();
  run.run_time = Duration{parse_duration_ms(annotations[kRunForAnnotation].text()).value_or(otherwise.ms)};
  run.exit_code = static_cast<int>(parse_integer(annotations[kExitCodeAnnotation].text(), 0, 255).value_or(0));
  if (const std::int64_t deadline_s = spec["activeDeadlineSeconds"].integer(-1); deadline_s >= 0) {
    run.deadline = Duration{std::min(deadline_s, kTimeMax.ms / 1000) * 1000};
  }
  const std::int64_t grace_s =
      metadata["deletionGracePeriodSeconds"].integer(spec["terminationGracePeriodSeconds"].integer(30));
  run.grace = Duration{std::clamp<std::int64_t>(grace_s, 0, kTimeMax.ms / 1000) * 1000};
  const auto stop_after = parse_duration_ms(annotations[kStopAfterAnnotation].text());
  run.stop_after = std::min(run.grace, Duration{stop_after.value_or(kStopAfter.ms)});
  run.restart_policy = spec["restartPolicy"].text("Always");
  for (const Value& status : pod["status"]["containerStatuses"].items()) {
    run.restarts = std::max(run.restarts, status["restartCount"].integer());
  }
  return run;
}

bool starts_again(const PodRun& run) {
  return run.restart_policy == "Always" || (run.restart_policy == "OnFailure" && run.exit_code != 0);
}

Duration pause_before(std::int64_t restarts) {
  const auto doublings = std::clamp<std::int64_t>(restarts - 1, 0, 10);
  return std::min(Duration{kPauseFirst.ms << doublings}, kPauseMax);
}

Value running_status(const Value& pod, const PodRun& run, Time started, Time now) {
  const Value state = Value::map_of({{"running", Value::map_of({{"startedAt", format_timestamp(now)}})}});
  return body(pod, run, "Running", started, now, true, state);
}

Value paused_status(const Value& pod, const PodRun& run, Time started, Time now) {
  const Value state = Value::map_of(
      {{"waiting", Value::map_of({{"reason", "CrashLoopBackOff"}, {"message", "back-off before the next run"}})}});
  const Value last =
      Value::map_of({{"terminated", terminated(run.exit_code, reason_of_end(run.exit_code), started, now)}});
  return body(pod, run, "Running", started, now, false, state, last);
}

Value ended_status(const Value& pod, const PodRun& run, Time started, Time now) {
  const Value state =
      Value::map_of({{"terminated", terminated(run.exit_code, reason_of_end(run.exit_code), started, now)}});
  return body(pod, run, run.exit_code == 0 ? "Succeeded" : "Failed", started, now, false, state);
}

Value deadline_status(const Value& pod, const PodRun& run, Time started, Time now) {
  const Value state = Value::map_of({{"terminated", terminated(kExitKilled, "Error", started, now)}});
  Value status = body(pod, run, "Failed", started, now, false, state);
  status.at("status").set("reason", "DeadlineExceeded");
  status.at("status").set("message", "Pod was active on the node longer than the specified deadline");
  return status;
}

}  // namespace berth
