#include "placement/network_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::network_search_test {

const std::vector<Flavor> kFlavors = {{"h100", "H100-SXM5-80GB", 81'559}};

struct Place {
  std::string rack;
  std::int64_t room;  // pods
};

struct World {
  Network network;
  std::vector<NodeRoom> rooms;
};

World racks(const std::vector<Place>& places) {
  std::vector<Node> nodes;
  std::vector<NodeRoom> rooms;
  for (const Place& each : places) {
    rooms.push_back({NodeId(nodes.size()), each.room});
    nodes.push_back({.name = "n", .flavor = FlavorId(0), .gpus = 8, .labels = {{"rack", each.rack}}});
  }
  return {Network(nodes, kFlavors), std::move(rooms)};
}

std::optional<NetworkPlaces> cheapest(const World& world, const Parallelism& parallel, std::int64_t gpus_of_pod) {
  return cheapest_places(world.network, parallel, gpus_of_pod, std::vector<std::vector<NodeRoom>>{world.rooms});
}

TEST(CheapestPlaces, KeepBlocksTogetherAlongTheTree) {
  struct Case {
    const char* what;
    std::vector<Place> places;
    Parallelism parallel;
    std::int64_t gpus_of_pod;
    std::vector<std::size_t> nodes;  // of the pods; empty: no room
  };
  const Case cases[] = {
      {"no room", {{"a", 1}, {"b", 1}}, {1, 1, 3}, 1, {}},
      {"none at all", {{"a", 0}}, {1, 1, 1}, 1, {}},
      {"one node that holds all", {{"a", 2}, {"a", 4}, {"b", 8}}, {4, 1, 1}, 1, {1, 1, 1, 1}},
      {"whole nodes of two racks before pieces of one",
       {{"a", 2}, {"a", 2}, {"a", 2}, {"a", 2}, {"b", 4}, {"c", 4}},
       {4, 1, 2},
       1,
       {4, 4, 4, 4, 5, 5, 5, 5}},
      {"a tensor group over the nodes of one rack",
       {{"a", 1}, {"b", 1}, {"a", 1}, {"b", 1}},
       {16, 1, 2},
       8,
       {0, 2, 1, 3}},
      {"the stages of a replica in one rack, replicas in two",
       {{"a", 1}, {"b", 1}, {"b", 1}, {"a", 1}, {"b", 1}},
       {8, 2, 2},
       8,
       {0, 3, 1, 2}},
      {"replicas shared evenly over racks", {{"a", 3}, {"b", 3}}, {1, 1, 4}, 1, {0, 0, 1, 1}},
      {"the rack with the least room left over",
       {{"a", 1}, {"a", 1}, {"a", 1}, {"b", 1}, {"b", 1}},
       {8, 2, 1},
       8,
       {3, 4}},
      {"what is left of a replica goes on in the next rack",
       {{"a", 1}, {"a", 1}, {"a", 1}, {"b", 1}},
       {8, 4, 1},
       8,
       {0, 1, 2, 3}},
  };
  for (const Case& c : cases) {
    const World world = racks(c.places);
    const auto found = cheapest(world, c.parallel, c.gpus_of_pod);
    std::vector<std::size_t> nodes;
    for (const NodeId node : found ? found->nodes : std::vector<NodeId>()) nodes.push_back(node.index());
    EXPECT_EQ(nodes, c.nodes) << c.what;
  }
}

TEST(CheapestPlaces, OfListsTheCheaperThenTheOneThatIsLikedThenTheFuller) {
  const World world = racks({{"a", 8}, {"b", 8}, {"c", 6}, {"d", 2}, {"d", 2}});
  std::vector<std::vector<NodeRoom>> lists;
  for (const NodeRoom& room : world.rooms) {
    if (room.node.index() < 4) lists.emplace_back();
    lists.back().push_back(room);
  }
  const Parallelism parallel{4, 1, 1};
  const auto first = [&] { return cheapest_places(world.network, parallel, 1, lists)->nodes.front(); };
  EXPECT_EQ(first(), NodeId(2));
  lists[1][0].liking = 1;
  EXPECT_EQ(first(), NodeId(1));
  for (NodeRoom& room : lists[3]) room.liking = 50;
  EXPECT_EQ(first(), NodeId(1)) << "nobody likes it so much that a tensor group would be torn";
  lists[2][0].liking = 2;
  EXPECT_EQ(first(), NodeId(2));
}

// More domains than are tried have less room left over.
TEST(CheapestPlaces, OfListsThoseWhereTensorGroupsAreWholeFirst) {
  std::vector<Place> places;
  for (const char* const rack : {"a", "b", "c", "d", "e", "f"}) places.insert(places.end(), {{rack, 2}, {rack, 2}});
  places.push_back({"g", 8});
  const World world = racks(places);
  std::vector<std::vector<NodeRoom>> lists;
  for (const NodeRoom& room : world.rooms) {
    if (room.node.index() % 2 == 0) lists.emplace_back();
    lists.back().push_back(room);
  }
  EXPECT_EQ(cheapest_places(world.network, {4, 1, 1}, 1, lists)->nodes.front(), NodeId(12));
  EXPECT_EQ(cheapest(world, {4, 1, 1}, 1)->nodes.front(), NodeId(12));
}

// Every way to lay them out.
struct Best {
  std::optional<NetworkCost> cost;
  void look(const World& world, const Parallelism& parallel, std::int64_t gpus_of_pod, std::vector<NodeRoom>& left,
            std::vector<NodeId>& nodes) {
    if (parallel.gpus() == std::ssize(nodes) * gpus_of_pod) {
      const NetworkCost here = network_cost(world.network, parallel, gpus_of_pod, nodes);
      if (!cost || here < *cost) cost = here;
      return;
    }
    for (NodeRoom& room : left) {
      if (room.pods == 0) continue;
      --room.pods;
      nodes.push_back(room.node);
      look(world, parallel, gpus_of_pod, left, nodes);
      nodes.pop_back();
      ++room.pods;
    }
  }
};

World random_world(Rng& rng) {
  std::vector<Node> nodes(static_cast<std::size_t>(rng.between(2, 6)));
  std::vector<NodeRoom> rooms;
  const bool has_nvlink = rng.below(2) > 0;
  for (Node& node : nodes) {
    if (has_nvlink) node.flavor = FlavorId(0);
    if (has_nvlink) node.gpus = 8;
    const std::uint64_t zone = rng.below(2);
    if (rng.below(5) > 0) node.labels.push_back({"rack", std::to_string(zone * 2 + rng.below(2))});
    if (rng.below(5) > 0) node.labels.push_back({"zone", std::to_string(zone)});
    rooms.push_back({NodeId(rooms.size()), rng.between(0, 4)});
  }
  return {Network(nodes, kFlavors), std::move(rooms)};
}

// Of 2,000 gangs of up to seven pods, over up to six nodes of up to four racks in two zones: 2 of 100 cost more than they had to. A tensor
// group is never slower than it had to be but for those that no node could hold.
TEST(CheapestPlacesProperty, CostTheLeastNearlyAlways) {
  int gangs = 0;
  int at_the_least = 0;
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const World world = random_world(rng);
    const std::int64_t gpus_of_pod = std::int64_t{1} << rng.below(3);
    const Parallelism parallel{std::int64_t{1} << rng.below(4), rng.between(1, 3), rng.between(1, 4)};
    const bool is_one = parallel.gpus() % gpus_of_pod == 0;
    const std::int64_t pods = parallel.gpus() / gpus_of_pod;
    if (!is_one || pods > 7) continue;
    const auto found = cheapest(world, parallel, gpus_of_pod);
    Best best;
    std::vector<NodeRoom> left = world.rooms;
    std::vector<NodeId> nodes;
    best.look(world, parallel, gpus_of_pod, left, nodes);
    ASSERT_EQ(found.has_value(), best.cost.has_value());
    if (!found) continue;
    ASSERT_EQ(std::ssize(found->nodes), pods);
    ASSERT_EQ(found->cost, network_cost(world.network, parallel, gpus_of_pod, found->nodes));
    for (const NodeRoom& room : world.rooms) ASSERT_LE(std::ranges::count(found->nodes, room.node), room.pods);
    ASSERT_FALSE(found->cost < *best.cost);
    // In one node it costs this at the most.
    const bool can_be_whole = best.cost->tensor.slowest_ns <= send_ns(world.network, NodeId(0), NodeId(0)) * 2;
    if (can_be_whole) {
      ASSERT_EQ(found->cost.tensor, best.cost->tensor);
    }
    ++gangs;
    at_the_least += found->cost == *best.cost ? 1 : 0;
  }
  if (gangs > 100) {
    EXPECT_GE(at_the_least * 100, gangs * 97);
  }
}

TEST(CheapestPlacesProperty, LargeGangsFindTheirPlaces) {
  for (const Seed seed : property_seeds(60)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Place> places;
    for (std::int64_t i = rng.between(20, 60); i > 0; --i)
      places.push_back({std::to_string(rng.below(6)), rng.between(0, 8)});
    const World world = racks(places);
    const Parallelism parallel{std::int64_t{1} << rng.below(5), rng.between(1, 4), rng.between(1, 6)};
    std::int64_t room = 0;
    for (const NodeRoom& each : world.rooms) room += each.pods;
    const auto found = cheapest(world, parallel, 1);
    ASSERT_EQ(found.has_value(), room >= parallel.gpus());
    if (!found) continue;
    ASSERT_EQ(std::ssize(found->nodes), parallel.gpus());
    for (const NodeRoom& each : world.rooms) ASSERT_LE(std::ranges::count(found->nodes, each.node), each.pods);
    // Each tensor group on one node, where all have room so: else the slowest of them counts, whole or not.
    std::int64_t whole = 0;
    for (const NodeRoom& each : world.rooms) whole += each.pods / parallel.tensor;
    std::int64_t kept = 0;
    for (std::size_t first = 0; first < found->nodes.size(); first += static_cast<std::size_t>(parallel.tensor)) {
      const auto group = std::span(found->nodes).subspan(first, static_cast<std::size_t>(parallel.tensor));
      kept += std::ranges::count(group, group.front()) == parallel.tensor ? 1 : 0;
    }
    const std::int64_t groups = parallel.gpus() / parallel.tensor;
    if (whole >= groups) {
      ASSERT_EQ(kept, groups);
    }
  }
}

}  // namespace berth::network_search_test
