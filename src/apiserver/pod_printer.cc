#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/table_printer.h"
#include "manifest/timestamp.h"

namespace berth {

namespace {

// What a pod's row says of its containers, as kubectl's users know it.
struct PodSummary {
  std::string status;
  std::int64_t ready = 0, containers = 0, restarts = 0;
  std::optional<Time> last_restart;
};

std::string ending_of(const Value& terminated) {
  if (!terminated["reason"].is_empty()) return std::string(terminated["reason"].text());
  const std::int64_t signal = terminated["signal"].integer();
  return signal != 0 ? "Signal:" + std::to_string(signal)
                     : "ExitCode:" + std::to_string(terminated["exitCode"].integer());
}

// Starts before the containers and runs beside them.
bool is_sidecar(const Value& pod, std::string_view container) {
  for (const Value& init : pod["spec"]["initContainers"].items()) {
    if (init["name"].text() == container) return init["restartPolicy"].text() == "Always";
  }
  return false;
}

void note_restarts(PodSummary& summary, const Value& status) {
  summary.restarts += status["restartCount"].integer();
  const auto ended = parse_timestamp(status["lastState"]["terminated"]["finishedAt"].text());
  if (ended && (!summary.last_restart || *summary.last_restart < *ended)) summary.last_restart = ended;
}

// "Init:..." if one of them is not through yet: the first such one.
std::string init_status(const Value& pod, std::size_t position, const Value& status) {
  const Value& terminated = status["state"]["terminated"];
  if (!terminated.is_null()) return "Init:" + ending_of(terminated);
  const std::string_view waiting = status["state"]["waiting"]["reason"].text();
  if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + std::string(waiting);
  return "Init:" + std::to_string(position) + "/" + std::to_string(pod["spec"]["initContainers"].items().size());
}

// Whether the init containers are through; `sidecars` gets what counts beside the containers.
bool note_init_containers(const Value& pod, PodSummary& summary, PodSummary& sidecars) {
  const Value::List& statuses = pod["status"]["initContainerStatuses"].items();
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Value& status = statuses[i];
    const bool sidecar = is_sidecar(pod, status["name"].text());
    note_restarts(summary, status);
    if (sidecar) note_restarts(sidecars, status);
    const Value& terminated = status["state"]["terminated"];
    if (!terminated.is_null() && terminated["exitCode"].integer() == 0) continue;
    if (sidecar && status["started"].truth()) {
      if (status["ready"].truth()) ++summary.ready;
      continue;
    }
    summary.status = init_status(pod, i, status);
    return false;
  }
  return true;
}

void note_containers(const Value& pod, PodSummary& summary) {
  bool any_runs = false;
  const Value::List& statuses = pod["status"]["containerStatuses"].items();
  // From the last to the first: the first one that has something to say is what is shown.
  for (auto status = statuses.rbegin(); status != statuses.rend(); ++status) {
    note_restarts(summary, *status);
    const Value& state = (*status)["state"];
    if (!state["waiting"]["reason"].is_empty()) {
      summary.status = state["waiting"]["reason"].text();
    } else if (!state["terminated"].is_null()) {
      summary.status = ending_of(state["terminated"]);
    } else if ((*status)["ready"].truth() && !state["running"].is_null()) {
      any_runs = true;
      ++summary.ready;
    }
  }
  if (summary.status == "Completed" && any_runs) {
    summary.status = condition_is_true(pod, "Ready") ? "Running" : "NotReady";
  }
}

PodSummary summarise(const Value& pod) {
  PodSummary summary;
  const std::string_view phase = pod["status"]["phase"].text("Unknown");
  const std::string_view reason = pod["status"]["reason"].text();
  summary.status = reason.empty() ? phase : reason;
  if (condition_of(pod, "PodScheduled")["reason"].text() == "SchedulingGated") summary.status = "SchedulingGated";
  const Value::List& init_containers = pod["spec"]["initContainers"].items();
  summary.containers = static_cast<std::int64_t>(pod["spec"]["containers"].items().size());
  summary.containers += std::ranges::count_if(
      init_containers, [](const Value& init) { return init["restartPolicy"].text() == "Always"; });
  PodSummary sidecars;
  if (note_init_containers(pod, summary, sidecars) || condition_is_true(pod, "Initialized")) {
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    note_containers(pod, summary);
  }
  const bool ended = phase == "Succeeded" || phase == "Failed";
  if (!pod["metadata"]["deletionTimestamp"].is_empty() && !ended) {
    summary.status = reason == "NodeLost" ? "Unknown" : "Terminating";
  }
  return summary;
}

std::string readiness_gates(const Value& pod) {
  const Value::List& gates = pod["spec"]["readinessGates"].items();
  if (gates.empty()) return "<none>";
  const auto open = std::ranges::count_if(
      gates, [&](const Value& gate) { return condition_is_true(pod, gate["conditionType"].text()); });
  return std::to_string(open) + "/" + std::to_string(gates.size());
}

Value text_or_none(const Value& value) { return value.is_empty() ? Value("<none>") : value; }

Value::List pod_cells(const Value& pod, Time now) {
  const PodSummary summary = summarise(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts > 0 && summary.last_restart)
    restarts += " (" + format_age(now - *summary.last_restart) + " ago)";
  return {name_cell(pod),
          std::to_string(summary.ready) + "/" + std::to_string(summary.containers),
          summary.status,
          restarts,
          age_cell(pod, now),
          text_or_none(pod["status"]["podIP"]),
          text_or_none(pod["spec"]["nodeName"]),
          text_or_none(pod["status"]["nominatedNodeName"]),
          readiness_gates(pod)};
}

}  // namespace

TablePrinter pod_printer() {
  return {{{"Name", "The name of the pod."},
           {"Ready", "Containers that are ready, of all."},
           {"Status", "How the pod stands, in one word."},
           {"Restarts", "How often containers were started again, and how long ago the last time was."},
           {"Age", "The time since it was created."},
           {"IP", "The pod's address.", true},
           {"Node", "The node on which it runs.", true},
           {"Nominated Node", "The node on which room is being made for it.", true},
           {"Readiness Gates", "Further conditions that are met, of all.", true}},
          pod_cells};
}

}  // namespace berth
