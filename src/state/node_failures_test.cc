#include "state/node_failures.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::node_failures_test {

constexpr Time hours(std::int64_t at) { return Time{at * 3'600'000}; }

TEST(NodeFailures, AreManyWithinADayAndForgottenOneByOne) {
  NodeFailures failures;
  const NodeId node(3);
  failures.note(node, hours(1));
  EXPECT_FALSE(failures.are_many(node));
  failures.note(node, hours(20));
  EXPECT_TRUE(failures.are_many(node));
  EXPECT_EQ(failures.forgiven_at(node), hours(25));
  EXPECT_EQ(failures.forget(hours(24)), std::vector<NodeId>());
  EXPECT_TRUE(failures.are_many(node));
  EXPECT_EQ(failures.forget(hours(25)), std::vector<NodeId>{node});
  EXPECT_FALSE(failures.are_many(node));
  EXPECT_EQ(failures.of(node), 1u);
  EXPECT_EQ(failures.forget(hours(44)), std::vector<NodeId>{node});
  EXPECT_TRUE(failures.none());
}

TEST(NodeFailures, KeepTheLastOnes) {
  NodeFailures failures;
  const NodeId node(0);
  for (const std::int64_t at : {1, 1, 5}) failures.note(node, hours(at));
  EXPECT_EQ(failures.forgiven_at(node), hours(25)) << "of two at one moment one is left";
  EXPECT_EQ(failures.forget(hours(25)), std::vector<NodeId>{node});
  EXPECT_EQ(failures.of(node), 1u);
  failures.note(node, hours(3));
  EXPECT_EQ(failures.forgiven_at(node), hours(27)) << "it was told of late";
}

}  // namespace berth::node_failures_test
