// The pods of somebody who runs and says how his GPUs share a model, set by set.
#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace berth {

// Calls visit(set, nodes) for each pod set with parallel sizes of the way in which it runs: `nodes` are those of its pods that have
// places, in the order of their numbers.
template <class Visit>
void for_each_parallel_set(const State& state, WorkloadId id, Visit visit) {
  const auto is_of = [](const Pod& pod, const NumberedPodSet& set, std::int64_t first) {
    return pod.number >= first && pod.number < first + set.count && pod.request == set.request;
  };
  std::vector<Pod> pods;
  for_each_pod(state, id, [&](const Pod& pod) { pods.push_back(pod); });
  std::vector<NodeId> nodes;
  for (const std::vector<NumberedPodSet>& way : state.shape(state.workload(id).shape).ways) {
    std::size_t found = 0;
    std::int64_t first = 0;
    for (const NumberedPodSet& set : way) {
      for (const Pod& pod : pods) found += is_of(pod, set, first) ? 1 : 0;
      first += set.count;
    }
    if (found < pods.size()) continue;
    first = 0;
    for (const NumberedPodSet& set : way) {
      nodes.clear();
      for (const Pod& pod : pods) {
        if (is_of(pod, set, first)) nodes.push_back(pod.node);
      }
      first += set.count;
      if (set.parallel.is_declared() && !nodes.empty()) visit(set, nodes);
    }
    return;
  }
}

}  // namespace berth
