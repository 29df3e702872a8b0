#include "placement/in_network.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/assert.h"
#include "placement/network_search.h"
#include "state/neighbour_check.h"
#include "state/room.h"

namespace berth {
namespace {

using Rooms = std::vector<NodeRoom>;

// By domain of the level that it names; of no level, or of `anywhere`, one list of all. `avoided`: those nodes, too. Of `among`
// alone, if that is said.
std::vector<Rooms> rooms_by_domain(const State& state, const NumberedPodSet& set, bool anywhere, bool avoided,
                                   const std::vector<NodeId>* among) {
  const PodRequest& request = state.request(set.request);
  const std::span<const std::int64_t> likings = state.ledger().matches().likings(request.constraints);
  const NeighbourCheck around(state.ledger(), request);
  const Domains* const domains = anywhere ? nullptr : &state.topologies().domains(set.topology);
  std::vector<Rooms> lists(anywhere ? 1 : domains->size());
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const NodeId node(i);
    if (among != nullptr && !std::ranges::binary_search(*among, node)) continue;
    const DomainId domain = anywhere ? DomainId(0) : domains->of(node);
    if (domain.is_none() || !around.allows(node) || (!avoided && state.ledger().is_avoided(node))) continue;
    const std::int64_t room = room_for(state.ledger(), node, request);
    if (room > 0) lists[domain.index()].push_back({node, room, likings.empty() ? 0 : likings[i]});
  }
  return lists;
}

std::int64_t pods_in(const Rooms& rooms) {
  std::int64_t pods = 0;
  for (const NodeRoom& each : rooms) pods += each.pods;
  return pods;
}

}  // namespace

std::variant<std::vector<PodPlacement>, std::int64_t> place_in_network(const State& state, Trial& trial,
                                                                       ScoreIndex& index, const NumberedPodSet& set,
                                                                       Rng& rng, const std::vector<NodeId>* among) {
  const PodRequest& request = state.request(set.request);
  const Togetherness together = state.topologies()[set.topology].together;
  std::vector<Rooms> lists;
  const UplinkLoads others(state);
  const auto cheapest = [&](bool anywhere) {
    std::optional<NetworkPlaces> places;
    for (const bool avoided : {false, true}) {
      if (places || (!avoided && state.ledger().avoided().empty())) continue;
      lists = rooms_by_domain(state, set, anywhere, avoided, among);
      places = cheapest_places(*state.topologies().network(), set.parallel, request.gpus, lists, others);
    }
    return places;
  };
  std::optional<NetworkPlaces> found = cheapest(together == Togetherness::kAnywhere);
  if (!found && together == Togetherness::kPreferred) found = cheapest(true);
  if (!found) {
    std::int64_t most = 0;
    for (const Rooms& rooms : lists) most = std::max(most, pods_in(rooms));
    return set.count - most;
  }
  std::vector<PodPlacement> places;
  for (const NodeId node : found->nodes) {
    const auto place = index.best_among(state, set.request, std::span(&node, 1), rng);
    BERTH_ASSERT(place.has_value());  // the rooms were counted
    trial.apply(move_of(request, *place));
    places.push_back(*place);
  }
  return places;
}

}  // namespace berth
