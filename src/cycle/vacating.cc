#include "cycle/vacating.h"

#include <algorithm>
#include <cstddef>

namespace berth {

Vacating::Vacating(const State& state) {
  for (const WorkloadId id : state.stopping()) leaves(state, id);
  for (const WorkloadId id : state.starting()) {
    for_each_pod(state, id, [&](const Pod& pod) {
      coming_.push_back(pod_on_node(id, state.request(pod.request), pod.node, pod.gpus));
    });
  }
}

Vacating::PodOnNode Vacating::pod_on_node(WorkloadId workload, const PodRequest& request, NodeId node, GpuSet gpus) {
  return {workload, node, gpus, request.cpu_milli, request.memory_bytes};
}

void Vacating::leaves(const State& state, WorkloadId workload) {
  for_each_pod(state, workload, [&](const Pod& pod) {
    leaving_.push_back(pod_on_node(workload, state.request(pod.request), pod.node, pod.gpus));
  });
}

void Vacating::waits(const State& state, const Start& start) {
  const Shape& shape = state.shape(state.workload(start.workload).shape);
  std::size_t at = 0;
  for (const NumberedPodSet& set : shape.ways[start.way]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) {
      const PodPlacement& pod = start.pods[at];
      coming_.push_back(pod_on_node(start.workload, state.request(set.request), pod.node, pod.gpus));
    }
  }
}

void Vacating::begins(WorkloadId workload) {
  std::erase_if(coming_, [&](const PodOnNode& pod) { return pod.workload == workload; });
}

bool Vacating::holds_up(const State& state, WorkloadId workload) const {
  bool held = false;
  for_each_pod(state, workload, [&](const Pod& pod) { held = held || holds_up(state, workload, pod.node, pod.gpus); });
  return held;
}

bool Vacating::holds_up(const State& state, const Start& start) const {
  return std::any_of(start.pods.begin(), start.pods.end(),
                     [&](const PodPlacement& pod) { return holds_up(state, start.workload, pod.node, pod.gpus); });
}

// A device that somebody is still on; or those who are leaving have more of the node's CPU, memory and pods than is free,
// and given to others who are not there yet.
bool Vacating::holds_up(const State& state, WorkloadId workload, NodeId node, GpuSet gpus) const {
  const NodeFree& free = state.ledger().node(node);
  std::int64_t cpu_milli = free.cpu_milli;
  std::int64_t memory_bytes = free.memory_bytes;
  std::int64_t pods = free.pods;
  for (const PodOnNode& other : coming_) {
    if (other.node != node || other.workload == workload) continue;
    cpu_milli += other.cpu_milli;
    memory_bytes += other.memory_bytes;
    ++pods;
  }
  for (const PodOnNode& other : leaving_) {
    if (other.node != node) continue;
    if ((other.gpus.bits() & gpus.bits()) != 0) return true;
    cpu_milli -= other.cpu_milli;
    memory_bytes -= other.memory_bytes;
    --pods;
  }
  return cpu_milli < 0 || memory_bytes < 0 || pods < 0;
}

}  // namespace berth
