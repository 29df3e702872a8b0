// Who may take turns on a GPU: best-effort work that asks one.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "model/workload.h"

namespace berth {

// A replica in place of the GPU that a request asks; none where that will not do: who asks memory has none of his own there.
inline std::optional<PodRequest> as_replica(PodRequest request) {
  if (!request.is_whole_gpu() || request.gpu_memory_mib > 0) return std::nullopt;
  request.sharing = Sharing::kTimeslice;
  return request;
}

// Beside each way in which pods have a GPU each, and before it, one in which they have replicas: so GPUs are left to those who
// may have nothing else.
inline void add_replica_ways(WorkloadShape& shape) {
  if (!shape.terms.best_effort || shape.terms.latency_critical) return;
  std::vector<PodSets> ways;
  for (PodSets& way : shape.ways) {
    PodSets in_turns = way;
    bool some = false;
    for (PodSet& set : in_turns) {
      // A model that is shared by whole GPUs is not shared by turns on them.
      const auto replica = set.parallel.is_declared() ? std::nullopt : as_replica(set.request);
      if (!replica) continue;
      set.request = *replica;
      some = true;
    }
    if (some) ways.push_back(std::move(in_turns));
    ways.push_back(std::move(way));
  }
  shape.ways = std::move(ways);
}

}  // namespace berth
