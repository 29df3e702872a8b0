#include "state/node_matches.h"

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth {
namespace {

TEST(NodeMatches, KeepsNothingWhileNobodyAsksAndNoNodeRefuses) {
  NodeMatches matches;
  const std::vector<Node> nodes(3);
  matches.look_at(nodes, 0, 3);
  EXPECT_EQ(matches.intern({}, nodes), NodeConstraintsId(0));
  EXPECT_TRUE(matches.allows_all());
  EXPECT_TRUE(matches.allows(NodeConstraintsId(0), NodeId(2)));
}

// Constraints and nodes that come in any order, nodes that change, and copies that go their own way.
TEST(NodeMatchesProperty, SaysOfEachPairWhatTheRulesSay) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Node> nodes;
    NodeMatches matches;
    std::vector<std::pair<NodeConstraintsId, NodeConstraints>> known = {{NodeConstraintsId(0), {}}};
    const auto check = [&](const NodeMatches& asked) {
      for (const auto& [id, constraints] : known) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const Node& node = nodes[i];
          const bool selected = selects(constraints, node.name, node.labels);
          const bool tolerated = tolerates(constraints, node.taints);
          ASSERT_EQ(asked.selects(id, NodeId(i)), selected);
          ASSERT_EQ(asked.tolerates(id, NodeId(i)), tolerated);
          ASSERT_EQ(asked.allows(id, NodeId(i)), selected && tolerated);
        }
      }
    };
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t kind = rng.below(4);
      if (kind == 0) {
        const std::vector<Node> added = random_nodes(rng, 1, 1, 70);
        nodes.insert(nodes.end(), added.begin(), added.end());
        matches.look_at(nodes, nodes.size() - added.size(), added.size());
      } else if (kind == 1 && !nodes.empty()) {
        const auto at = static_cast<std::size_t>(rng.below(nodes.size()));
        const NodeMatches copy = matches;
        const std::vector<Node> before = nodes;
        nodes[at] = random_node(rng, 1);
        matches.look_at(nodes, at, 1);
        std::vector<Node> now = std::exchange(nodes, before);
        check(copy);
        nodes = std::move(now);
      } else {
        const NodeConstraints constraints = random_constraints(rng);
        const NodeConstraintsId id = matches.intern(constraints, nodes);
        for (const auto& [other, asked] : known) ASSERT_EQ(other == id, asked == constraints || other == id);
        known.emplace_back(id, constraints);
      }
      check(matches);
    }
  }
}

}  // namespace
}  // namespace berth
