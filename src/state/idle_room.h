// What nodes would take if nothing ran.
#pragma once

#include <cstdint>

#include "state/room.h"
#include "state/state.h"

namespace berth {

// How many pods of `request` the node would take if it were idle and took work, whatever its labels and taints.
inline std::int64_t idle_room_of_type(const State& state, const PodRequest& request, NodeId node) {
  const NodeTypes& types = state.node_types();
  return room_for(types.idle, NodeId(types.of_node[node.index()]), request);
}

// The same where its labels and taints allow it.
inline std::int64_t idle_room_on(const State& state, const PodRequest& request, NodeId node) {
  const bool allowed = state.ledger().matches().allows(request.constraints, node);
  return allowed ? idle_room_of_type(state, request, node) : 0;
}

// Whether so many pods may be there together one day: over the domains of such nodes they are spread. Taints come and go, as in Kubernetes
// (nodeTaintsPolicy: Ignore); labels are what is asked for; and the own nodes of other queues are never theirs.
inline bool could_be_on(const State& state, const PodRequest& request, NodeId node, std::int64_t pods = 1) {
  const NodeMatches& matches = state.ledger().matches();
  return matches.selects(request.constraints, node) &&
         matches.dedications().keeper(matches.home_of(request.constraints), node).is_none() &&
         idle_room_of_type(state, request, node) >= pods;
}

}  // namespace berth
