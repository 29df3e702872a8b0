#include "placement/placing_in_domains.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "state/idle_room.h"

namespace berth {

PlacingInDomains::PlacingInDomains(const State& state, Trial& trial, ScoreIndex& index, const NumberedPodSet& set,
                                   Rng& rng, const std::vector<NodeId>* among)
    : state_(state),
      set_(set),
      topologies_(state.topologies()),
      topology_(topologies_[set.topology]),
      liking_(state.ledger(), state.request(set.request)),
      likes_alike_(liking_.is_alike()),
      trial_(trial),
      index_(index),
      request_(state.request(set.request)),
      around_(state.ledger(), request_),
      among_(among),
      rng_(rng) {}

// More room than is asked tells the fuller domain from the emptier one.
DomainRooms PlacingInDomains::rooms_exactly() {
  room_on_.resize(state_.nodes());
  const auto room_on = [&](NodeId node) { return room_on_[node.index()] = room_here(node); };
  const auto counts = [&](NodeId node) {
    const bool does = state_.ledger().node(node).is_up() && could_be_on(state_, request_, node, topology_.unit_pods());
    return does ? CountsInSpread::kYes : CountsInSpread::kNo;
  };
  return rooms_of_domains(topologies_, set_.topology, NodeRooms{state_.nodes(), set_.count, room_on, counts, true});
}

DomainId PlacingInDomains::domain_of(NodeId node) const {
  const bool anywhere = topology_.together == Togetherness::kAnywhere;
  return anywhere ? DomainId(0) : topologies_.domains(set_.topology).of(node);
}

std::vector<NodeId> PlacingInDomains::nodes_of(DomainId domain) const {
  std::vector<NodeId> nodes;
  if (topology_.together != Togetherness::kAnywhere && !domain.is_none()) {
    const auto known = topologies_.domains(set_.topology).nodes(domain);
    nodes.assign(known.begin(), known.end());
    return nodes;
  }
  for (std::size_t node = 0; node < state_.nodes(); ++node) {
    if (domain_of(NodeId(node)) == domain) nodes.emplace_back(node);
  }
  return nodes;
}

std::vector<NodeId> PlacingInDomains::nodes_of(const InnerRoom& room) const {
  std::vector<NodeId> nodes;
  for (const NodeId node : topologies_.inner_domains(set_.topology).nodes(room.inner)) {
    if (domain_of(node) == room.domain) nodes.push_back(node);
  }
  return nodes;
}

std::int64_t PlacingInDomains::liking_in(std::vector<NodeId> nodes, std::int64_t pods) const {
  std::int64_t sum = 0;
  std::ranges::sort(nodes, std::ranges::greater(), [&](NodeId node) { return liking_(node); });
  for (const NodeId node : nodes) {
    const std::int64_t here = std::min(pods, room_here(node));
    sum += here * liking_(node);
    pods -= here;
  }
  return sum;
}

void PlacingInDomains::put_among(std::span<const NodeId> nodes, std::int64_t pods) {
  std::vector<NodeId> some;
  if (among_ != nullptr) {
    std::ranges::copy_if(nodes, std::back_inserter(some), [&](NodeId node) { return is_among(node); });
    nodes = some;
  }
  for (; pods > 0; --pods) {
    const auto place = index_.best_among(state_, set_.request, nodes, rng_);
    BERTH_ASSERT(place.has_value());  // the rooms were counted
    trial_.apply(move_of(request_, *place));
    places_.push_back(*place);
  }
}

}  // namespace berth
