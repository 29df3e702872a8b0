#include "placement/network_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::network_cost_test {

// Nodes of one kind, so many in each rack; figures in GB/s.
Network racks_of(std::size_t racks, std::size_t nodes, const std::string& inside = "839",
                 const std::string& rack = "50", const std::string& cluster = "10") {
  std::vector<Node> all;
  for (std::size_t i = 0; i < racks * nodes; ++i) {
    const std::string prefix(kBandwidthPrefix);
    all.push_back({.name = "n",
                   .flavor = {},
                   .labels = {{prefix + "cluster", cluster},
                              {prefix + "node", inside},
                              {prefix + "rack", rack},
                              {"rack", std::to_string(i / nodes)}}});
  }
  return Network(all, {});
}

std::vector<NodeId> on(const std::vector<std::size_t>& nodes) { return {nodes.begin(), nodes.end()}; }

std::vector<NodeId> each_on(std::size_t nodes, std::size_t gpus) {
  std::vector<NodeId> all;
  for (std::size_t i = 0; i < nodes * gpus; ++i) all.emplace_back(i / gpus);
  return all;
}

// A GiB in nanoseconds, at a GB/s.
constexpr std::int64_t kGib = 1'073'741'824;

TEST(NetworkCost, OfOneGroup) {
  const Network network = racks_of(2, 4);
  struct Case {
    const char* what;
    std::vector<NodeId> gpus;
    std::int64_t ring, tree, hierarchical;
  };
  const Case cases[] = {
      {"one GPU", on({0}), 0, 0, 0},
      {"two of a node", on({0, 0}), kGib * 1000 / 839'000 + 2 * 3'400, 2 * kGib * 1000 / 839'000 + 2 * 3'400,
       kGib * 1000 / 839'000 + 2 * 3'400},
      {"two of a rack", on({0, 1}), kGib / 50 + 28'000, 2 * kGib / 50 + 28'000, kGib / 50 + 28'000},
      {"two of two racks", on({0, 4}), kGib / 10 + 28'000, 2 * kGib / 10 + 28'000, kGib / 10 + 28'000},
      {"three in a tree of depth two", on({0, 1, 2}), 4 * kGib / (3 * 50) + 4 * 14'000, 2 * kGib / 50 + 4 * 14'000,
       4 * kGib / (3 * 50) + 4 * 14'000},
      // Four nodes of eight B200: 2.24 ms inside and 4.03 ms between them.
      {"four nodes of eight", each_on(4, 8), 62 * kGib / (32 * 50) + 62 * 14'000, 2 * kGib / 50 + 10 * 14'000,
       14 * kGib * 1000 / (8 * 839'000) + 14 * 3'400 + 6 * kGib / (4 * 8 * 50) + 6 * 14'000},
      {"the part with fewest GPUs decides what each sends", on({0, 0, 0, 1}), 6 * kGib / (4 * 50) + 6 * 14'000,
       2 * kGib / 50 + 4 * 14'000, 4 * kGib * 1000 / (3 * 839'000) + 4 * 3'400 + kGib / 50 + 2 * 14'000},
      {"three levels, in any order", on({4, 0, 5, 1}), 6 * kGib / (4 * 10) + 6 * 14'000, 2 * kGib / 10 + 4 * 14'000,
       kGib / 50 + 2 * 14'000 + kGib / (2 * 10) + 2 * 14'000},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ring_ns(network, c.gpus), c.ring) << c.what;
    EXPECT_EQ(tree_ns(network, c.gpus), c.tree) << c.what;
    EXPECT_EQ(hierarchical_ns(network, c.gpus), c.hierarchical) << c.what;
  }
}

// Racks may come in any order among the nodes.
TEST(NetworkCost, OfNodesInAnyOrder) {
  std::vector<Node> nodes;
  for (const char* const rack : {"a", "b", "a", "b"}) {
    Labels labels = {
        {"bandwidth.berth.dev/cluster", "10"}, {"bandwidth.berth.dev/node", "839"}, {"bandwidth.berth.dev/rack", "50"}};
    labels.push_back({"rack", rack});
    nodes.push_back({.name = "n", .flavor = {}, .labels = std::move(labels)});
  }
  const Network network(nodes, {});
  EXPECT_EQ(hierarchical_ns(network, on({0, 1, 2, 3})), kGib / 50 + 2 * 14'000 + kGib / (2 * 10) + 2 * 14'000);
}

// Over many nodes the steps of a ring take longer than what a tree sends twice.
TEST(NetworkCost, IsOfTheTreeWhereThatIsTheCheapest) {
  const Network network = racks_of(1, 64);
  const std::vector<NodeId> nodes = each_on(64, 1);
  EXPECT_LT(tree_ns(network, nodes), std::min(ring_ns(network, nodes), hierarchical_ns(network, nodes)));
  EXPECT_EQ(network_cost(network, {1, 1, 64}, 1, nodes).data.slowest_ns, tree_ns(network, nodes));
}

TEST(NetworkCost, OfAMessage) {
  const Network network = racks_of(2, 2);
  EXPECT_EQ(send_ns(network, NodeId(0), NodeId(0)), kGib * 1000 / 839'000 + 3'400);
  EXPECT_EQ(send_ns(network, NodeId(0), NodeId(1)), kGib / 50 + 14'000);
  EXPECT_EQ(send_ns(network, NodeId(3), NodeId(0)), kGib / 10 + 14'000);
}

// The slowest, and the sum over all groups.
TEST(NetworkCost, OfAllGroupsOfAGang) {
  const Network network = racks_of(2, 2, "400", "50", "10");
  const auto in_node = [](std::int64_t gpus) { return 2 * (gpus - 1) * kGib / (gpus * 400) + 2 * (gpus - 1) * 3'400; };
  const std::int64_t in_rack = kGib / 50 + 14'000;
  const std::int64_t far = kGib / 10 + 14'000;
  const std::int64_t two_far = kGib / 10 + 28'000;
  struct Case {
    const char* what;
    Parallelism parallel;
    std::int64_t gpus_of_pod;
    std::vector<NodeId> nodes;
    NetworkCost cost;
  };
  const Case cases[] = {
      {"two stages of four", {4, 2, 1}, 4, on({0, 1}), {{in_node(4), 2 * in_node(4)}, {in_rack, 4 * in_rack}, {}}},
      {"tensor groups of two pods",
       {4, 1, 2},
       2,
       on({0, 0, 2, 2}),
       {{in_node(4), 2 * in_node(4)}, {}, {two_far, 4 * two_far}}},
      {"replicas before stages would be another cost",
       {1, 2, 2},
       1,
       on({0, 1, 2, 3}),
       {{}, {in_rack, 2 * in_rack}, {two_far, 2 * two_far}}},
      {"several stages in a pod",
       {2, 2, 1},
       4,
       on({3}),
       {{in_node(2), 2 * in_node(2)}, {kGib / 400 + 3'400, 2 * (kGib / 400 + 3'400)}, {}}},
      {"far stages", {1, 3, 1}, 1, on({0, 2, 3}), {{}, {far, far + in_rack}, {}}},
  };
  for (const Case& c : cases) {
    const NetworkCost found = network_cost(network, c.parallel, c.gpus_of_pod, c.nodes);
    EXPECT_EQ(found.tensor, c.cost.tensor) << c.what;
    EXPECT_EQ(found.pipeline, c.cost.pipeline) << c.what;
    EXPECT_EQ(found.data, c.cost.data) << c.what;
  }
}

TEST(NetworkCost, IsComparedByTensorGroupsFirst) {
  const NetworkCost least{{1, 9}, {5, 5}, {5, 5}};
  const NetworkCost larger[] = {{{2, 2}, {0, 0}, {0, 0}},  {{1, 10}, {0, 0}, {0, 0}}, {{1, 9}, {6, 0}, {4, 0}},
                                {{1, 9}, {5, 5}, {6, 0}},  {{1, 9}, {5, 6}, {5, 4}},  {{1, 9}, {5, 5}, {5, 6}},
                                {{1, 9}, {7, 0}, {2, 100}}};
  for (const NetworkCost& each : larger) EXPECT_LT(least, each);
  EXPECT_EQ(least, (NetworkCost{{1, 9}, {5, 5}, {5, 5}}));
  EXPECT_EQ(least, (NetworkCost{{1, 9}, {4, 6}, {7, 3}}));
}

// Group by group and GPU by GPU, as it is written down.
NetworkCost plain_cost(const Network& network, const Parallelism& sizes, std::int64_t gpus_of_pod,
                       const std::vector<NodeId>& nodes) {
  const auto node_of = [&](std::int64_t t, std::int64_t p, std::int64_t d) {
    return nodes[static_cast<std::size_t>((t + sizes.tensor * (p + sizes.pipeline * d)) / gpus_of_pod)];
  };
  const auto reduce = [&](const std::vector<NodeId>& group) {
    return std::min({ring_ns(network, group), tree_ns(network, group), hierarchical_ns(network, group)});
  };
  NetworkCost cost;
  for (std::int64_t d = 0; d < sizes.data; ++d) {
    for (std::int64_t p = 0; p < sizes.pipeline; ++p) {
      std::vector<NodeId> group;
      for (std::int64_t t = 0; t < sizes.tensor; ++t) group.push_back(node_of(t, p, d));
      cost.tensor.add(reduce(group), 1);
      for (std::int64_t t = 0; t < sizes.tensor && p > 0; ++t)
        cost.pipeline.add(send_ns(network, node_of(t, p - 1, d), node_of(t, p, d)), 1);
    }
  }
  for (std::int64_t t = 0; t < sizes.tensor; ++t) {
    for (std::int64_t p = 0; p < sizes.pipeline; ++p) {
      std::vector<NodeId> group;
      for (std::int64_t d = 0; d < sizes.data; ++d) group.push_back(node_of(t, p, d));
      cost.data.add(reduce(group), 1);
    }
  }
  return cost;
}

TEST(NetworkCostProperty, IsThatOfEveryGroupByItself) {
  for (const Seed seed : property_seeds(500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto racks = static_cast<std::size_t>(rng.between(1, 3));
    const auto nodes = static_cast<std::size_t>(rng.between(1, 3));
    const Network network = racks_of(racks, nodes);
    const std::int64_t gpus_of_pod = std::int64_t{1} << rng.below(4);
    const Parallelism sizes{std::int64_t{1} << rng.below(5), rng.between(1, 4), 8 * rng.between(1, 2)};
    std::vector<NodeId> places;
    for (std::int64_t pods = sizes.gpus() / gpus_of_pod; pods > 0; --pods)
      places.emplace_back(rng.below(racks * nodes));
    const NetworkCost found = network_cost(network, sizes, gpus_of_pod, places);
    const NetworkCost plain = plain_cost(network, sizes, gpus_of_pod, places);
    ASSERT_EQ(found.tensor, plain.tensor);
    ASSERT_EQ(found.pipeline, plain.pipeline);
    ASSERT_EQ(found.data, plain.data);
  }
}

}  // namespace berth::network_cost_test
