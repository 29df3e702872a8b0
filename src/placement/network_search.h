// Which nodes the pods of a gang go to, in the order of their numbers, so that the network costs least. A heuristic: of the domains
// that have room for all, a few are tried, those first in which most tensor groups stay whole, by counters of each; in each the
// pods are laid out block by block along the tree in a few ways, and the cheapest of what was found is taken. Exchanges follow for
// small gangs. How far it is from the least cost is measured in network_search_test.cc. INVARIANT: what it does is bounded by the
// figures below, the pods and the nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/ids.h"
#include "model/topology.h"
#include "placement/network_cost.h"
#include "placement/uplink_loads.h"
#include "state/network.h"

namespace berth {

struct NodeRoom {
  NodeId node;
  std::int64_t pods = 0;
  std::int64_t liking = 0;  // of one pod, to be there
};

struct NetworkPlaces {
  std::vector<NodeId> nodes;  // by pod
  NetworkCost cost;
  std::int64_t liking = 0;     // of all pods
  UplinkLoads::Met met = {};   // what others put on the uplinks that they would use
  std::int64_t room_left = 0;  // in the domain that holds them
};

// Domains laid out at most; pods of a gang among which exchanges are tried, and how often.
inline constexpr std::size_t kDomainsTriedMax = 4;
inline constexpr std::int64_t kExchangePodsMax = 8;
inline constexpr int kExchangePasses = 2;

// On the nodes of one of these lists. Of equal costs where the pods like best to be, of these where others put the least on the uplinks
// that they use, and then where the least room is left over. Nothing if none of the lists has room for all. PRE: as network_cost has it.
std::optional<NetworkPlaces> cheapest_places(const Network& network, const Parallelism& parallel,
                                             std::int64_t gpus_of_pod, std::span<const std::vector<NodeRoom>> lists,
                                             const UplinkLoads& others = {});

}  // namespace berth
