#include "cycle/vacating.h"

#include <algorithm>

namespace berth {

Vacating::Vacating(const State& state) {
  for (const WorkloadId id : state.stopping()) add(state, id);
}

void Vacating::add(const State& state, WorkloadId workload) {
  for_each_pod(state, workload, [&](const Pod& pod) {
    const PodRequest& request = state.request(pod.request);
    leaving_.push_back({pod.node, pod.gpus, request.cpu_milli, request.memory_bytes});
  });
}

bool Vacating::holds_up(const State& state, WorkloadId workload) const {
  bool held = false;
  for_each_pod(state, workload, [&](const Pod& pod) { held = held || holds_up(state, pod.node, pod.gpus); });
  return held;
}

bool Vacating::holds_up(const State& state, const Start& start) const {
  return std::any_of(start.pods.begin(), start.pods.end(),
                     [&](const PodPlacement& pod) { return holds_up(state, pod.node, pod.gpus); });
}

// A device that somebody is still on, or more of the node's CPU and memory than those who are leaving leave free.
bool Vacating::holds_up(const State& state, NodeId node, GpuSet gpus) const {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  for (const Leaving& leaving : leaving_) {
    if (leaving.node != node) continue;
    if ((leaving.gpus.bits() & gpus.bits()) != 0) return true;
    cpu_milli += leaving.cpu_milli;
    memory_bytes += leaving.memory_bytes;
  }
  const NodeFree& free = state.ledger().node(node);
  return free.cpu_milli < cpu_milli || free.memory_bytes < memory_bytes;
}

}  // namespace berth
