#include "manifest/told_changes.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/json.h"
#include "manifest/timestamp.h"

namespace berth::told_changes_test {

TEST(ToldChanges, AreReadAsTheyAreWritten) {
  const ToldChanges some{{{"pods", "with 2 of its 4 pods"}, {"end", "if a/b: c ended"}}, {"bounds", "nodes"}};
  EXPECT_EQ(to_text(some), "pods: with 2 of its 4 pods\nend: if a/b: c ended\nbounds: ?\nnodes: ?");
  EXPECT_EQ(read_told_changes(to_text(some)), some);
  EXPECT_EQ(read_told_changes(""), ToldChanges());
  EXPECT_EQ(read_told_changes("\nwhat somebody else wrote\n\npods: x\n"), (ToldChanges{{{"pods", "x"}}, {}}));
}

TEST(ToldChanges, OfAPodAreThoseOfItsCondition) {
  const auto told = [](const std::string& condition) {
    return changes_told_of(*parse_json(R"({"status":{"conditions":[{"type":"PodScheduled"},)" + condition + "]}}"));
  };
  const auto some = told(
      R"({"type":"berth.dev/WouldStart","status":"True","reason":"SmallestChanges","message":"pods: x","lastProbeTime":"2026-11-21T08:00:00Z"})");
  ASSERT_TRUE(some);
  EXPECT_EQ(some->told.changes, (std::vector<ToldChange>{{"pods", "x"}}));
  EXPECT_EQ(some->as_of, parse_timestamp("2026-11-21T08:00:00Z"));
  const auto none = told(
      R"({"type":"berth.dev/WouldStart","status":"False","reason":"NoSmallChange","message":"","lastProbeTime":"2026-11-21T08:00:00Z"})");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->told.changes.empty());
  EXPECT_FALSE(told(R"({"type":"berth.dev/WouldStart","status":"False","reason":"HasPlace"})"));
  EXPECT_FALSE(told(R"({"type":"berth.dev/WouldStart","reason":"KeptAside","lastProbeTime":"2026-11-21T08:00:00Z"})"));
  EXPECT_FALSE(told(R"({"type":"Ready"})"));
  EXPECT_FALSE(changes_told_of(Value()));
}

}  // namespace berth::told_changes_test
