// Who has room that others have yet to leave, by node.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

// Those who have some of it on this node.
inline std::vector<WorkloadId> starting_on(const State& state, NodeId node) {
  std::vector<WorkloadId> there;
  for (const WorkloadId id : state.starting()) {
    bool has_room_there = false;
    for_each_coming_pod(state, id, [&](const Pod& pod) { has_room_there = has_room_there || pod.node == node; });
    if (has_room_there) there.push_back(id);
  }
  return there;
}

// Of these, whom the node would not suit when it says something else of itself: all where it becomes a spare; with other labels and taints, as it might be another queue's own then, too; or who
// are to be near each other: that may be over.
inline std::vector<WorkloadId> starting_in_vain(const State& state, const NodeRelabelled& event) {
  const auto& [node, labels, taints, spare] = event;
  if (spare && !state.node(node).spare) return starting_on(state, node);
  const NodeMatches& matches = state.ledger().matches();
  const std::string& name = state.node(node).name;
  const auto may_stay = [&](const Pod& pod) {
    const QueueId home = state.home_of(state.workload(pod.workload).queue);
    if (!matches.dedications().keeper(home, name, labels).is_none()) return false;
    const NodeConstraintsId id = state.request(pod.request).constraints;
    const NodeConstraints constraints = matches.allows_all() ? NodeConstraints() : matches[id];
    return selects(constraints, name, labels) && tolerates(constraints, taints);
  };
  std::vector<WorkloadId> in_vain;
  for (const WorkloadId id : starting_on(state, node)) {
    const auto& sets = state.shape(state.workload(id).shape).ways.front();
    bool stays = std::ranges::none_of(sets, &NumberedPodSet::asks_for_domains);
    for_each_coming_pod(state, id, [&](const Pod& pod) { stays = stays && (pod.node != node || may_stay(pod)); });
    if (!stays) in_vain.push_back(id);
  }
  return in_vain;
}

// Who has room on nodes that are another queue's own now.
inline std::vector<WorkloadId> starting_on_others_nodes(const State& state) {
  const Dedications& dedications = state.ledger().matches().dedications();
  std::vector<WorkloadId> there;
  for (const WorkloadId id : state.starting()) {
    const QueueId home = state.home_of(state.workload(id).queue);
    bool is_there = false;
    for_each_coming_pod(state, id,
                        [&](const Pod& pod) { is_there = is_there || !dedications.keeper(home, pod.node).is_none(); });
    if (is_there) there.push_back(id);
  }
  return there;
}

// Who has room on devices where others are, or have been, with whom it may not be any more; or too near to strangers.
inline std::vector<WorkloadId> starting_among_strangers(const State& state) {
  std::vector<WorkloadId> there;
  for (const WorkloadId id : state.starting()) {
    bool among_strangers = false;
    for_each_coming_pod(state, id, [&](const Pod& pod) {
      const PodRequest& request = state.request(pod.request);
      among_strangers = among_strangers || !state.ledger().is_away_from_strangers(request, pod.node);
      if (!state.ledger().minds_others(request)) return;
      pod.gpus.for_each([&](int gpu) {
        among_strangers = among_strangers || !state.ledger().may_join(pod.node, static_cast<std::size_t>(gpu), request);
      });
    });
    if (among_strangers) there.push_back(id);
  }
  return there;
}

// Devices that the pod has a part of, on which somebody of its tenant has room and has not begun.
inline std::vector<Device> shared_with_starting(const State& state, const Pod& pod) {
  const Ledger& ledger = state.ledger();
  const auto tenant_of = [&](RequestId request) { return ledger.trust()[state.request(request).sharer].tenant; };
  std::vector<Device> devices;
  if (state.starting().empty() || !ledger.leaves_residue(state.request(pod.request))) return devices;
  for (const WorkloadId id : starting_on(state, pod.node)) {
    for_each_coming_pod(state, id, [&](const Pod& other) {
      if (other.node != pod.node || !ledger.minds_others(state.request(other.request))) return;
      if (tenant_of(other.request) != tenant_of(pod.request)) return;
      GpuSet::from_bits(pod.gpus.bits() & other.gpus.bits()).for_each([&](int gpu) {
        devices.push_back({pod.node, gpu});
      });
    });
  }
  return devices;
}

}  // namespace berth
