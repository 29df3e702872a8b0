// What placing a set together and placing it spread over domains have in common: what room each domain has for it, how well it is
// liked there, and pods put on some of its nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "model/plan.h"
#include "placement/node_liking.h"
#include "placement/score_index.h"
#include "state/domain_rooms.h"
#include "state/neighbour_check.h"
#include "state/room.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

class PlacingInDomains {
 public:
  // As place_in_domains().
  PlacingInDomains(const State& state, Trial& trial, ScoreIndex& index, const NumberedPodSet& set, Rng& rng,
                   const std::vector<NodeId>* among);

 protected:
  DomainRooms rooms_exactly();
  std::int64_t room_here(NodeId node) const {
    return is_among(node) && around_.allows(node) ? room_for(state_.ledger(), node, request_) : 0;
  }
  // None: it is in none, or those that are.
  DomainId domain_of(NodeId node) const;
  std::vector<NodeId> nodes_of(DomainId domain) const;
  std::vector<NodeId> nodes_of(const InnerRoom& room) const;
  // How well so many pods would like to be there, on the nodes that they like best, whatever their slices.
  std::int64_t liking_in(std::vector<NodeId> nodes, std::int64_t pods) const;
  // PRE: they have room.
  void put_among(std::span<const NodeId> nodes, std::int64_t pods);

  const State& state_;
  const NumberedPodSet& set_;
  const Topologies& topologies_;
  const Topology& topology_;
  NodeLiking liking_;
  bool likes_alike_;                        // all nodes
  std::vector<std::int64_t> room_on_ = {};  // by node, as of rooms_exactly()
  std::vector<PodPlacement> places_ = {};

 private:
  bool is_among(NodeId node) const { return among_ == nullptr || std::ranges::binary_search(*among_, node); }

  Trial& trial_;
  ScoreIndex& index_;
  const PodRequest& request_;
  NeighbourCheck around_;  // others may keep it away; it asks nothing of them itself, so its own pods change nothing
  const std::vector<NodeId>* among_;  // where it may be; nullptr: anywhere
  Rng& rng_;
};

// Of so many items, by what room each has and how well it is liked: of those with enough room the best liked, of these the
// one with the least; if none has enough, and `or_largest`, the one with the most.
template <class RoomOf, class LikingOf>
std::optional<std::size_t> choose(std::size_t items, std::int64_t pods, bool or_largest, RoomOf room_of,
                                  LikingOf liking_of) {
  struct Found {
    std::size_t item;
    std::int64_t room;
    std::int64_t liking;
  };
  std::optional<Found> best;
  std::optional<Found> largest;
  for (std::size_t item = 0; item < items; ++item) {
    const std::int64_t room = room_of(item);
    if (room > 0 && (!largest || room > largest->room)) largest = Found{item, room, 0};
    if (room < pods) continue;
    const Found found{item, room, liking_of(item)};
    const bool better = !best || found.liking > best->liking || (found.liking == best->liking && room < best->room);
    if (better) best = found;
  }
  if (best) return best->item;
  return or_largest && largest ? std::optional(largest->item) : std::nullopt;
}

}  // namespace berth
