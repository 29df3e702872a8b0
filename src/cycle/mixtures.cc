#include "cycle/mixtures.h"

#include <algorithm>

#include "state/room.h"

namespace berth {
namespace {

std::vector<std::int64_t> room_by_flavor(const State& state, const Trial& trial, const PodRequest& request) {
  const Ledger& ledger = trial.ledger();
  std::vector<std::int64_t> room(state.flavors().size());
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const NodeId node(i);
    const FlavorId flavor = state.node(node).flavor;
    if (flavor.is_none() || !request.flavors.contains(flavor) || !trial.is_open(node)) continue;
    if (!ledger.matches().allows(request.constraints, node) || !ledger.lets_in(request, node)) continue;
    if (std::ranges::binary_search(trial.kept().nodes, node)) continue;
    room[flavor.index()] += room_for(ledger, node, request);
  }
  return room;
}

}  // namespace

std::optional<Mixture> mixture_with_room(const State& state, const Trial& trial, QueueId queue, const Shape& shape,
                                         std::size_t way) {
  const std::vector<NumberedPodSet>& sets = shape.ways[way];
  if (!may_mix(state, sets) || !tells_flavors_apart(state.quotas().tree(), queue)) return std::nullopt;
  RoomByFlavor room;
  for (const NumberedPodSet& set : sets) room.push_back(room_by_flavor(state, trial, state.request(set.request)));
  return mixture_within(state, queue, shape, way, room);
}

}  // namespace berth
