// Domains of one's own, written down plainly: who is where he may not be. For tests only: nothing that is shipped includes this.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

// "workloads 3 and 5 have GPUs in one rack, which is one's own": all such pairs, of workloads or of parts of one, that have room.
// Steps are of their minimum.
inline std::vector<std::string> who_share_exclusive_domains(const State& state) {
  struct There {
    WorkloadId of;
    std::string part;   // of it
    std::string level;  // empty: it minds nobody
    NodeId node;
  };
  std::vector<There> there;
  const ExclusiveDomains& exclusives = state.ledger().exclusives();
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (!has_room(workload.phase)) return;
    for_each_pod(state, id, [&](const Pod& pod) {
      const PodRequest& request = state.request(pod.request);
      if (request.gpus == 0) return;
      const bool minds = exclusives.is_exclusive(request.exclusive);
      const std::string part = request.exclusive.is_none() ? "" : exclusives[request.exclusive].part;
      there.push_back({state.minimum_of(id), part, minds ? exclusives[request.exclusive].level : "", pod.node});
    });
  });
  const auto domain = [&](const std::string& level, NodeId node) {
    if (level == kNodeLevel) return "node " + std::to_string(node.index());
    const std::string* const value = find_label(state.node(node).labels, level);
    return value == nullptr ? "" : "label " + *value;
  };
  std::vector<std::string> pairs;
  for (const There& one : there) {
    if (one.level.empty()) continue;
    for (const There& other : there) {
      const bool own = other.of == one.of && other.part == one.part;
      if (own || domain(one.level, one.node).empty()) continue;
      if (domain(one.level, one.node) != domain(one.level, other.node)) continue;
      pairs.push_back("workloads " + std::to_string(one.of.index()) + " and " + std::to_string(other.of.index()) +
                      " have GPUs in one " + one.level + ", which is the first one's own");
    }
  }
  return pairs;
}

}  // namespace berth
