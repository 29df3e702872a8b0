#include "state/node_matches.h"

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::node_matches_test {

TEST(NodeMatches, KeepsNothingWhileNobodyAsksAndNoNodeRefuses) {
  NodeMatches matches;
  const std::vector<Node> nodes(3);
  matches.look_at(nodes, 0, 3);
  EXPECT_EQ(matches.intern({}, nodes), NodeConstraintsId(0));
  EXPECT_TRUE(matches.allows_all());
  EXPECT_TRUE(matches.allows(NodeConstraintsId(0), NodeId(2)));
}

// Constraints and nodes that come in any order, nodes that change, queues that have nodes of their own, and copies that go
// their own way. Queue 1 is below queue 0; queue 2 stands by itself.
TEST(NodeMatchesProperty, SaysOfEachPairWhatTheRulesSay) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Node> nodes;
    NodeMatches matches;
    std::vector<std::pair<NodeConstraintsId, HomedConstraints>> known = {{NodeConstraintsId(0), {}}};
    std::vector<Dedication> list;
    const auto owns = [](const Dedication& each, const Node& node) {
      return std::ranges::any_of(each.labels, [&](const Label& label) {
        const std::string* const value = find_label(node.labels, label.key);
        return value != nullptr && *value == label.value;
      });
    };
    const auto may_go = [&](QueueId home, const Node& node) {
      return std::ranges::none_of(list, [&](const Dedication& each) {
        const bool is_at_home = each.queue == home || (each.queue == QueueId(0) && home == QueueId(1));
        return owns(each, node) && !is_at_home;
      });
    };
    const auto check = [&](const NodeMatches& asked) {
      for (const auto& [id, homed] : known) {
        // What a home is, is known of those alone that have nodes of their own.
        const bool is_home =
            homed.home.is_none() || std::ranges::find(list, homed.home, &Dedication::queue) != list.end();
        if (!is_home) continue;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const Node& node = nodes[i];
          const bool selected = selects(homed.constraints, node.name, node.labels);
          const bool tolerated = tolerates(homed.constraints, node.taints) && may_go(homed.home, node);
          ASSERT_EQ(asked.selects(id, NodeId(i)), selected);
          ASSERT_EQ(asked.tolerates(id, NodeId(i)), tolerated);
          ASSERT_EQ(asked.allows(id, NodeId(i)), selected && tolerated);
          const bool is_own = may_go(homed.home, node) && !may_go(QueueId(), node);
          const auto likings = asked.likings(id);
          ASSERT_EQ(likings.empty() ? 0 : likings[i],
                    liking(homed.constraints, node.name, node.labels, node.taints) + (is_own ? kOwnNodeLiking : 0));
        }
      }
    };
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t kind = rng.below(6);
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
      } else if (kind == 2) {
        list.clear();
        for (std::size_t queue = 0; queue < 3; ++queue) {
          const std::vector<Label> labels = random_dedicated(rng);
          const bool below = queue == 1 && !list.empty();
          if (!labels.empty()) list.push_back({QueueId(queue), below ? QueueId(0) : QueueId(), labels});
        }
        matches.dedicate(list, nodes);
        EXPECT_EQ(matches.dedications().empty(), list.empty());
      } else {
        const HomedConstraints homed{random_constraints(rng), rng.below(2) == 0 ? QueueId() : QueueId(rng.below(3))};
        const bool anew = rng.below(2) == 0 || known.empty();
        const NodeConstraintsId from = known[static_cast<std::size_t>(rng.below(known.size()))].first;
        const HomedConstraints moved{anew || matches.allows_all() ? NodeConstraints() : matches[from], homed.home};
        const NodeConstraintsId id = anew ? matches.intern(homed, nodes) : matches.with_home(from, homed.home, nodes);
        const HomedConstraints& made = anew ? homed : moved;
        for (const auto& [other, asked] : known) ASSERT_EQ(other == id, asked == made || other == id);
        known.emplace_back(id, made);
      }
      check(matches);
    }
  }
}

// An image counts by the part of all nodes that have it; of those that change the nodes are told that are better or worse for it.
TEST(NodeMatches, CountsImagesByHowManyNodesHaveThem) {
  constexpr std::int64_t kMegabyte = 1024 * 1024;
  std::vector<Node> nodes(4, {.name = "node", .flavor = {}, .cpu_milli = 1});
  nodes[0].images = {{"trainer", 1000 * kMegabyte}};
  nodes[1].images = {{"trainer", 1000 * kMegabyte}, {"other", 1000 * kMegabyte}};
  NodeMatches matches;
  matches.look_at(nodes, 0, nodes.size());
  const NodeConstraintsId id = matches.intern({{.images = {"trainer"}}}, nodes);
  const auto points = [&] {
    std::vector<std::int64_t> all;
    for (std::size_t node = 0; node < nodes.size(); ++node) all.push_back(matches.image_points(id, NodeId(node)));
    return all;
  };
  // Half of 1000 MB, less 23, of 977.
  EXPECT_EQ(points(), (std::vector<std::int64_t>{48, 48, 0, 0}));
  EXPECT_EQ(matches.image_points(NodeConstraintsId(0), NodeId(0)), 0);
  EXPECT_TRUE(matches.look_at_images({"other"}, nodes).empty()) << "nobody asks it";
  const NodeMatches before = matches;
  nodes[3].images = {{"trainer", 500 * kMegabyte}};
  EXPECT_EQ(matches.look_at_images({"trainer"}, nodes), (std::vector<NodeId>{NodeId(0), NodeId(1), NodeId(3)}));
  EXPECT_EQ(points(), (std::vector<std::int64_t>{74, 74, 0, 36}));
  EXPECT_EQ(before.image_points(id, NodeId(0)), 48) << "copies are their own";
  nodes[0].images.clear();
  EXPECT_EQ(matches.look_at_images({"trainer"}, nodes).size(), 3U);
  EXPECT_EQ(points(), (std::vector<std::int64_t>{0, 48, 0, 23}));
  nodes.push_back({.name = "node", .flavor = {}, .cpu_milli = 1});
  matches.look_at(nodes, 4, 1);
  EXPECT_EQ(points(), (std::vector<std::int64_t>{0, 38, 0, 18, 0}));
}

}  // namespace berth::node_matches_test
