// Who has room that others have yet to leave, by node.
#pragma once

#include <vector>

#include "state/state.h"

namespace berth {

// Those who have some of it on this node.
inline std::vector<WorkloadId> starting_on(const State& state, NodeId node) {
  std::vector<WorkloadId> there;
  for (const WorkloadId id : state.starting()) {
    bool has_room_there = false;
    for_each_pod(state, id, [&](const Pod& pod) { has_room_there = has_room_there || pod.node == node; });
    if (has_room_there) there.push_back(id);
  }
  return there;
}

}  // namespace berth
