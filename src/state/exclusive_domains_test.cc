#include "state/exclusive_domains.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "state/random_world.h"

namespace berth::exclusive_domains_test {

using Refusal = ExclusiveDomains::Refusal;

Node in_rack(const char* rack) {
  Node node;
  if (*rack != 0) node.labels.push_back({"rack", rack});
  return node;
}

// n0 and n1 are in one rack, n2 is in another, n3 in none.
class Racks : public ::testing::Test {
 protected:
  Racks() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) domains_.add_node();
  }
  ExclusiveId exclusive(std::uint32_t owner, const char* level) { return domains_.intern({owner, level}, nodes_); }
  static PodRequest pod(ExclusiveId id, std::int32_t gpus = 1) { return {.gpus = gpus, .exclusive = id}; }
  std::vector<NodeId> come(const PodRequest& request, std::size_t node) {
    return domains_.move(request, NodeId(node), 1);
  }
  Refusal refusal(const PodRequest& request, std::size_t node) const { return domains_.refusal(request, NodeId(node)); }

  std::vector<Node> nodes_ = {in_rack("1"), in_rack("1"), in_rack("2"), in_rack("")};
  ExclusiveDomains domains_;
};

TEST_F(Racks, AreTheirsWhoAreAloneThere) {
  const ExclusiveId first = exclusive(0, "rack");
  const ExclusiveId second = exclusive(1, "rack");
  const ExclusiveId at_home = exclusive(0, "");
  come(pod(first), 0);
  EXPECT_EQ(refusal(pod({}), 1), Refusal::kOthersOwn);
  EXPECT_EQ(refusal(pod(second), 1), Refusal::kOthersOwn);
  EXPECT_EQ(refusal(pod(first), 1), Refusal::kNone) << "its own";
  EXPECT_EQ(refusal(pod(at_home), 1), Refusal::kNone) << "another pod set of the workload";
  EXPECT_EQ(refusal(pod({}, 0), 1), Refusal::kNone) << "it asks no GPUs";
  EXPECT_EQ(refusal(pod({}), 2), Refusal::kNone) << "another rack";
  EXPECT_EQ(refusal(pod(second), 3), Refusal::kNone) << "that it selects nodes with the label is not asked here";
}

TEST_F(Racks, AreNobodysWhereOthersHaveGpus) {
  const ExclusiveId first = exclusive(0, "rack");
  come(pod({}), 0);
  EXPECT_EQ(refusal(pod(first), 1), Refusal::kAmongOthers);
  EXPECT_EQ(refusal(pod({}), 1), Refusal::kNone);
  come(pod(exclusive(1, "")), 2);
  EXPECT_EQ(refusal(pod(first), 2), Refusal::kAmongOthers);
  const ExclusiveDomains::Tally tally = domains_.tally(first);
  EXPECT_EQ(tally.free, 0);
  EXPECT_EQ(tally.among_others, 2);
}

TEST_F(Racks, AreNewsToTheirNodesWhenTheyBecomeSomebodysAndOnlyThen) {
  const ExclusiveId first = exclusive(0, "rack");
  const std::vector<NodeId> rack = {NodeId(0), NodeId(1)};
  EXPECT_EQ(come(pod({}), 0), rack) << "nobody else may have it for himself now";
  EXPECT_EQ(come(pod({}), 1), std::vector<NodeId>());
  EXPECT_EQ(come(pod(exclusive(7, "")), 0), rack) << "nor those with whom it is at home";
  EXPECT_EQ(come(pod({}, 0), 1), std::vector<NodeId>());
  EXPECT_EQ(come(pod(first), 2), std::vector<NodeId>{NodeId(2)});
  EXPECT_EQ(come(pod(first), 2), std::vector<NodeId>());
  EXPECT_EQ(come(pod(first), 3), std::vector<NodeId>());
}

TEST_F(Racks, CountWhoWasThereBeforeAnybodyWasExclusive) {
  come(pod({}), 1);
  const ExclusiveId first = exclusive(0, "rack");
  EXPECT_EQ(refusal(pod(first), 0), Refusal::kAmongOthers);
  nodes_[1].labels = {{"rack", "2"}};
  domains_.look_at(nodes_);
  EXPECT_EQ(refusal(pod(first), 0), Refusal::kNone);
  EXPECT_EQ(refusal(pod(first), 2), Refusal::kAmongOthers);
}

struct Placed {
  PodRequest pod;
  std::size_t node;
};

bool together(const std::vector<Node>& nodes, const std::string& level, std::size_t a, std::size_t b) {
  if (level == kNodeLevel) return a == b;
  const std::string* const one = find_label(nodes[a].labels, level);
  const std::string* const other = find_label(nodes[b].labels, level);
  return one != nullptr && other != nullptr && *one == *other;
}

// The rule as it is said.
bool keep_apart(const ExclusiveDomains& domains, const std::vector<Node>& nodes, const Placed& a, const Placed& b) {
  if (a.pod.gpus == 0 || b.pod.gpus == 0) return false;
  const bool both = !a.pod.exclusive.is_none() && !b.pod.exclusive.is_none();
  if (both && domains[a.pod.exclusive].owner == domains[b.pod.exclusive].owner) return false;
  const auto minds = [&](const Placed& each) {
    if (each.pod.exclusive.is_none() || domains[each.pod.exclusive].level.empty()) return false;
    return together(nodes, domains[each.pod.exclusive].level, a.node, b.node);
  };
  return minds(a) || minds(b);
}

TEST(ExclusiveDomainsProperty, WhatIsCountedIsWhatThePodsSay) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<Node> nodes = random_nodes(rng, 2, 1, 6);
    ExclusiveDomains domains;
    for (std::size_t i = 0; i < nodes.size(); ++i) domains.add_node();
    std::vector<Placed> pods;
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t what = rng.below(10);
      if (what == 0) {
        nodes[rng.below(nodes.size())].labels = random_labels(rng);
        domains.look_at(nodes);
      } else if (what < 3 && !pods.empty()) {
        const auto at = static_cast<std::ptrdiff_t>(rng.below(pods.size()));
        domains.move(pods[static_cast<std::size_t>(at)].pod, NodeId(pods[static_cast<std::size_t>(at)].node), -1);
        pods.erase(pods.begin() + at);
      } else {
        Placed placed{{.gpus = static_cast<std::int32_t>(rng.below(4) > 0)}, rng.below(nodes.size())};
        if (placed.pod.gpus > 0 && rng.below(2) == 0) {
          const auto owner = static_cast<std::uint32_t>(rng.below(3));
          const char* const level = one_of(rng, {"", "rack", "rack", "zone", "node"});
          placed.pod.exclusive = domains.intern({owner, level}, nodes);
        }
        bool apart = false;
        for (const Placed& other : pods) {
          EXPECT_EQ(domains.excludes(placed.pod, NodeId(placed.node), other.pod, NodeId(other.node)),
                    keep_apart(domains, nodes, placed, other));
          apart = apart || keep_apart(domains, nodes, placed, other);
        }
        EXPECT_EQ(domains.allows(placed.pod, NodeId(placed.node)), !apart);
        // Some are found where they should not be.
        if (apart && rng.below(4) > 0) continue;
        domains.move(placed.pod, NodeId(placed.node), 1);
        pods.push_back(placed);
      }
      ExclusiveDomains again = domains.emptied();
      for (std::size_t i = 0; i < nodes.size(); ++i) again.add_node();
      for (const Placed& each : pods) again.move(each.pod, NodeId(each.node), 1);
      ASSERT_TRUE(again.same_pods_as(domains));
    }
  }
}

}  // namespace berth::exclusive_domains_test
