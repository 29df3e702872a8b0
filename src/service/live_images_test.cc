// Images of containers on a live cluster: pods go rather where theirs are.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_images_test {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

PodFacts with_image(PodFacts pod, const std::string& image) {
  pod.images = {image};
  return pod;
}

NodeFacts with_images(NodeFacts node, std::vector<NodeImage> images) {
  node.images = std::move(images);
  return node;
}

std::string node_of_first(const Round& round) { return round.bindings.empty() ? "" : round.bindings.at(0).node; }

TEST(LiveImages, APodGoesRatherWhereItsImageIs) {
  for (const std::string where : {"n1", "n2", "n3"}) {
    SCOPED_TRACE(where);
    Cluster cluster;
    cluster.add(queue("a", 0));
    for (const std::string name : {"n1", "n2", "n3"}) {
      cluster.add(with_images(node(name, 4), {{name == where ? "trainer:1" : "other:1", 20 * kGib}}));
    }
    cluster.decide(1);
    cluster.set(with_image(in_queue("a", pod("first", 1)), "trainer:1"));
    EXPECT_EQ(node_of_first(cluster.decide(2)), where);
    EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
  }
}

TEST(LiveImages, WhatNodesPullLaterCountsForWhoComesThen) {
  for (const std::string where : {"n1", "n2"}) {
    SCOPED_TRACE(where);
    Cluster cluster;
    cluster.add(queue("a", 0));
    cluster.add(node("n1", 4));
    cluster.add(node("n2", 4));
    cluster.decide(1);
    cluster.set(with_image(in_queue("a", pod("first", 4)), "trainer:1"));
    cluster.decide(2);
    cluster.gone("first");
    cluster.add(with_images(node(where, 4), {{"trainer:1", 20 * kGib}, {"never-asked:1", kGib}}));
    cluster.set(with_image(in_queue("a", pod("second", 4)), "trainer:1"));
    EXPECT_EQ(node_of_first(cluster.decide(3)), where);
    const State& state = cluster.engine().state();
    for (std::size_t id = 0; id < state.nodes(); ++id) {
      EXPECT_EQ(state.node(NodeId(id)).images.size(), state.node(NodeId(id)).name == where ? 1U : 0U)
          << "what nobody asks";
    }
  }
}

}  // namespace berth::live_images_test
