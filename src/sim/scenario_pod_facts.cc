#include "sim/scenario_pod_facts.h"

#include <cstdint>
#include <iterator>
#include <vector>

namespace berth::scenario {
namespace {

// Which of those that are there it is, in their order; none: it is not there. And how many these are.
struct PodThere {
  std::optional<std::uint32_t> at;
  std::uint32_t pods = 0;
};
PodThere find_there(const State& state, WorkloadId id, std::uint32_t number) {
  PodThere found;
  for_each_leaving_pod(state, id, [&](const Pod& pod) {
    if (pod.number == number) found.at = found.pods;
    ++found.pods;
  });
  return found;
}

// None: it is of the minimum, or there is no such pod.
std::optional<WorkloadId> find_step(const State& state, WorkloadId id, std::uint32_t pod) {
  const std::int64_t minimum = state.shape(state.workload(id).shape).pods;
  const std::vector<WorkloadId>& steps = state.steps_of(id);
  if (pod < minimum || pod >= minimum + std::ssize(steps)) return std::nullopt;
  return steps[pod - static_cast<std::size_t>(minimum)];
}

std::optional<Event> unless_refused(const State& state, Event event) {
  if (state.refusal(event)) return std::nullopt;
  return event;
}

// Nobody replaces it where it was told to stop, and what it had is free at once.
std::optional<Event> fact_of_leaving(const State& state, WorkloadId id, std::uint32_t number) {
  const PodThere there = find_there(state, id, number);
  if (!there.at) return std::nullopt;
  return there.pods == 1 ? Event(WorkloadStopped{id}) : Event(PodEnded{id, *there.at});
}

}  // namespace

std::optional<Event> fact_of(const State& state, const FailPod& action) {
  if (state.workloads().find(action.workload) == nullptr) return std::nullopt;
  const std::optional<WorkloadId> step = find_step(state, action.workload, action.pod);
  const WorkloadId of = step.value_or(action.workload);
  const std::uint32_t number = step ? 0 : action.pod;
  const Phase phase = state.workload(of).phase;
  if (phase == Phase::kStopping || phase == Phase::kMigrating) return fact_of_leaving(state, of, number);
  return unless_refused(state, PodFailed{of, number, action.exit_code});
}

std::optional<Event> fact_of(const State& state, const EndPod& action) {
  const WorkloadId id = action.workload;
  const Workload* const workload = state.workloads().find(id);
  if (workload == nullptr || !is_there(workload->phase)) return std::nullopt;
  const PodThere there = find_there(state, id, action.pod);
  if (!there.at) return std::nullopt;
  const bool is_last = there.pods == 1 && state.find_repairing(id) == nullptr;
  if (is_last) return WorkloadEnded{id};
  return unless_refused(state, PodEnded{id, *there.at});
}

bool is_above_minimum(const State& state, const EndPod& action) {
  if (state.workloads().find(action.workload) == nullptr) return false;
  return find_step(state, action.workload, action.pod).has_value();
}

}  // namespace berth::scenario
