#include "state/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::network_test {

const std::vector<Flavor> kFlavors = {{"h100", "H100-SXM5-80GB", 81'559}, {"t4", "Tesla-T4", 15'360}};

Node node_with(Labels labels, FlavorId flavor = FlavorId(0)) {
  std::ranges::sort(labels);
  return {.name = "n", .flavor = flavor, .gpus = 8, .labels = std::move(labels)};
}

std::vector<std::string> names_of(const Network& network) {
  std::vector<std::string> names;
  for (std::size_t level = 0; level < network.levels(); ++level) names.push_back(network.name(level));
  return names;
}

TEST(Network, HasTheLevelsThatAreKnownTheWidestFirst) {
  struct Case {
    const char* what;
    std::vector<Node> nodes;
    std::vector<std::string> levels;
  };
  const Case cases[] = {
      {"labels that mean nothing to it", {node_with({{"app", "x"}})}, {"cluster", "node"}},
      {"whatever stands before the name",
       {node_with({{"topology.kubernetes.io/rack", "r1"}})},
       {"cluster", "topology.kubernetes.io/rack", "node"}},
      {"also behind topology-",
       {node_with({{"cloud.provider.com/topology-rack", "r"}, {"cloud.provider.com/topology-subblock", "b"}})},
       {"cluster", "cloud.provider.com/topology-rack", "cloud.provider.com/topology-subblock", "node"}},
      {"not inside of another word",
       {node_with({{"crack", "r"}, {"power-zone", "p"}, {"rack-size", "8"}})},
       {"cluster", "node"}},
      {"HyperNodes of any tier",
       {node_with({{"hypernode-tier-1", "a"},
                   {"hypernode-tier-12", "c"},
                   {"hypernode-tier-2", "b"},
                   {"hypernode-tier-x", "d"}})},
       {"cluster", "hypernode-tier-12", "hypernode-tier-2", "hypernode-tier-1", "node"}},
      {"by how many domains there are",
       {node_with({{"rack", "r1"}, {"zone", "z"}}), node_with({{"rack", "r2"}, {"zone", "z"}})},
       {"cluster", "zone", "rack", "node"}},
      {"a node without the label is a domain",
       {node_with({{"rack", "r"}}), node_with({{"rack", "r"}}), node_with({{"zone", "z"}})},
       {"cluster", "rack", "zone", "node"}},
      {"of as many the slower is the wider",
       {node_with({{"block", "b"}, {"nvlink_domain", "d"}, {"rack", "r"}})},
       {"cluster", "block", "rack", "nvlink_domain", "node"}},
      {"a level of which a bandwidth is said",
       {node_with({{"bandwidth.berth.dev/row", "40"}, {"example.com/row", "a"}})},
       {"cluster", "example.com/row", "node"}},
  };
  for (const Case& c : cases) EXPECT_EQ(names_of(Network(c.nodes, kFlavors)), c.levels) << c.what;
}

TEST(Network, TellsDomainsApartByTheLevelsAboveThem) {
  const std::vector<Node> nodes = {
      node_with({{"rack", "r1"}, {"zone", "a"}}), node_with({{"rack", "r1"}, {"zone", "b"}}),
      node_with({{"rack", "r1"}, {"zone", "a"}}), node_with({{"rack", "r2"}, {"zone", "b"}}), node_with({})};
  const Network network(nodes, kFlavors);
  const std::vector<std::vector<std::size_t>> together = {
      {3, 0, 2, 0, 0}, {0, 3, 0, 1, 0}, {2, 0, 3, 0, 0}, {0, 1, 0, 3, 0}, {0, 0, 0, 0, 3}};
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      EXPECT_EQ(network.level_of_both(NodeId(a), NodeId(b)), together[a][b]) << a << " and " << b;
    }
  }
}

TEST(Network, KnowsWhatIsUsualAndHeedsWhatIsSaid) {
  struct Case {
    const char* what;
    std::vector<Node> nodes;
    std::vector<std::int64_t> mb_per_s;  // around the first node, by level
  };
  const auto said = [](const char* level, const char* value) {
    return Label{std::string(kBandwidthPrefix) + level, value};
  };
  const Case cases[] = {
      {"NVLink in one direction, and a port", {node_with({})}, {50'000, 450'000}},
      {"a card's lanes; nothing leaves faster", {node_with({}, FlavorId(1))}, {16'000, 16'000}},
      {"nothing is known of them", {node_with({}, FlavorId())}, {32'000, 32'000}},
      {"what leaves a rack has a seventh", {node_with({{"rack", "r"}})}, {7'142, 50'000, 450'000}},
      {"NVLink over nodes", {node_with({{"nvlink_domain", "d"}})}, {50'000, 450'000, 450'000}},
      {"of the widest level", {node_with({{"rack", "r"}, {"zone", "z"}})}, {1'020, 7'142, 50'000, 450'000}},
      {"of a node", {node_with({said("node", "300.5")})}, {50'000, 300'500}},
      {"of the cluster", {node_with({said("cluster", "12.5")})}, {12'500, 450'000}},
      {"the least that its nodes say",
       {node_with({{"rack", "r"}, said("rack", "40")}), node_with({{"rack", "r"}, said("rack", "30")})},
       {7'142, 30'000, 450'000}},
      {"another rack's",
       {node_with({{"rack", "r"}}), node_with({{"rack", "s"}, said("rack", "30")})},
       {7'142, 50'000, 450'000}},
      {"what is none", {node_with({{"rack", "r"}, said("rack", "fast")})}, {7'142, 50'000, 450'000}},
      {"too little to be one", {node_with({{"rack", "r"}, said("rack", "99m")})}, {7'142, 50'000, 450'000}},
      {"the least that is one", {node_with({{"rack", "r"}, said("rack", "100m")})}, {100, 100, 450'000}},
      {"faster than what is inside",
       {node_with({{"rack", "r"}, said("rack", "900"), said("node", "300")})},
       {7'142, 300'000, 300'000}},
  };
  for (const Case& c : cases) {
    const Network network(c.nodes, kFlavors);
    std::vector<std::int64_t> found;
    for (std::size_t level = 0; level < network.levels(); ++level)
      found.push_back(network.link(level, NodeId(0)).mb_per_s);
    EXPECT_EQ(found, c.mb_per_s) << c.what;
  }
}

TEST(Network, StepsOutsideOfNodesTakeLonger) {
  const Network network({node_with({{"nvlink_domain", "d"}, {"rack", "r"}})}, kFlavors);
  std::vector<std::int64_t> steps;
  for (std::size_t level = 0; level < network.levels(); ++level)
    steps.push_back(network.link(level, NodeId(0)).step_ns);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{14'000, 14'000, 3'400, 3'400}));
}

TEST(NetworkProperty, ADomainIsARowOfPlaces) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Node> nodes;
    for (std::int64_t i = rng.between(1, 20); i > 0; --i) {
      Labels labels;
      for (const char* const level : {"nvlink_domain", "rack", "zone"}) {
        if (rng.below(5) > 0) labels.push_back({level, std::to_string(rng.below(3))});
      }
      nodes.push_back(node_with(labels));
    }
    const Network network(nodes, kFlavors);
    for (std::size_t level = 0; level < network.levels(); ++level) {
      std::map<std::uint32_t, std::set<std::uint32_t>> places;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        places[network.domain(level, NodeId(i))].insert(network.place(NodeId(i)));
        if (level > 0) {
          ASSERT_GE(network.link(level, NodeId(i)).mb_per_s, network.link(0, NodeId(i)).mb_per_s);
        }
      }
      for (const auto& [domain, row] : places) ASSERT_EQ(*row.rbegin() - *row.begin() + 1, row.size());
    }
  }
}

// What it need not be made anew for would make the same one.
TEST(NetworkProperty, HeedsEveryChangeOfLabelsThatMakesItAnotherOne) {
  int heeded = 0;
  int left = 0;
  for (const Seed seed : property_seeds(2000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto labels = [&] {
      Labels some;
      for (const char* const key : {"app", "bandwidth.berth.dev/row", "example.com/row", "hypernode-tier-2", "rack"}) {
        if (rng.below(2) > 0) some.push_back({key, std::to_string(rng.between(1, 2))});
      }
      return some;
    };
    std::vector<Node> nodes;
    for (std::int64_t i = rng.between(1, 4); i > 0; --i) nodes.push_back(node_with(labels()));
    const Network network(nodes, kFlavors);
    const Labels before = nodes.front().labels;
    Labels now = before;
    if (rng.below(2) > 0 && !now.empty()) now.erase(now.begin() + static_cast<std::ptrdiff_t>(rng.below(now.size())));
    for (Label& label : labels()) {
      if (rng.below(4) == 0 && find_label(now, label.key) == nullptr) now.push_back(std::move(label));
    }
    std::ranges::sort(now);
    nodes.front().labels = now;
    const bool heeds = network.heeds_change(before, now);
    if (!heeds) {
      ASSERT_TRUE(network == Network(nodes, kFlavors));
    }
    ++(heeds ? heeded : left);
  }
  EXPECT_GT(heeded, 100);
  EXPECT_GT(left, 100);
}

}  // namespace berth::network_test
