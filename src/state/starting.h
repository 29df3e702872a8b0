// Who has room that others have yet to leave, by node.
#pragma once

#include <algorithm>
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

// Of these, whom the node would not suit with other labels and taints, or who are to be near each other: that may be over.
inline std::vector<WorkloadId> starting_in_vain(const State& state, NodeId node, const Labels& labels,
                                                const std::vector<Taint>& taints) {
  const NodeMatches& matches = state.ledger().matches();
  const auto may_stay = [&](const Pod& pod) {
    const NodeConstraintsId id = state.request(pod.request).constraints;
    const NodeConstraints constraints = matches.allows_all() ? NodeConstraints() : matches[id];
    return selects(constraints, state.node(node).name, labels) && tolerates(constraints, taints);
  };
  std::vector<WorkloadId> in_vain;
  for (const WorkloadId id : starting_on(state, node)) {
    const auto& sets = state.shape(state.workload(id).shape).ways.front();
    bool stays = std::ranges::none_of(sets, &NumberedPodSet::asks_for_domains);
    for_each_pod(state, id, [&](const Pod& pod) { stays = stays && (pod.node != node || may_stay(pod)); });
    if (!stays) in_vain.push_back(id);
  }
  return in_vain;
}

}  // namespace berth
