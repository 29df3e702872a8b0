#include "model/executing_taints.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace berth::executing_taints_test {

TEST(ExecutingTaints, KeepTheirTimeAsLongAsTheyAreThere) {
  const Taint team{"team", "a", TaintEffect::kNoExecute};
  const Taint disk{"disk", "bad", TaintEffect::kNoExecute};
  const Taint soft{"team", "a", TaintEffect::kNoSchedule};
  auto taints = executing_from({}, {soft, team}, Time{5});
  ASSERT_EQ(taints.size(), 1U) << "no other effect ends anybody";
  EXPECT_EQ(taints[0].since, Time{5});
  taints = executing_from(taints, {disk, team}, Time{9});
  ASSERT_EQ(taints.size(), 2U);
  EXPECT_EQ(taints[0].since, Time{9});
  EXPECT_EQ(taints[1].since, Time{5});
  taints = executing_from(executing_from(taints, {}, Time{10}), {team}, Time{11});
  ASSERT_EQ(taints.size(), 1U);
  EXPECT_EQ(taints[0].since, Time{11}) << "it was gone";
}

TEST(ExecutingTaints, TheOneThatIsBorneShortestCounts) {
  const std::vector<ExecutingTaint> both = {{{"team", "a", TaintEffect::kNoExecute}, Time{5000}},
                                            {{"disk", "bad", TaintEffect::kNoExecute}, Time{1000}}};
  const auto bears = [](const char* key, const char* value, std::optional<Duration> lasts) {
    return TimedToleration{{.key = key, .value = value}, lasts};
  };
  const struct {
    const char* what;
    std::vector<TimedToleration> tolerations;
    Time came;
    std::optional<Time> leaves;
  } cases[] = {
      {"none", {}, Time{0}, Time{1000}},
      {"he came later", {}, Time{3000}, Time{3000}},
      {"one of two", {bears("disk", "bad", std::nullopt)}, Time{0}, Time{5000}},
      {"both, for ever", {bears("disk", "bad", std::nullopt), bears("team", "a", std::nullopt)}, Time{0}, std::nullopt},
      {"both, for a while", {bears("disk", "bad", seconds(9)), bears("team", "a", seconds(2))}, Time{0}, Time{7000}},
      {"from when he came",
       {bears("disk", "bad", seconds(9)), bears("team", "a", seconds(9))},
       Time{6000},
       Time{15'000}},
      {"the first that bears it",
       {bears("team", "a", seconds(1)), bears("team", "a", std::nullopt), bears("disk", "bad", std::nullopt)},
       Time{0},
       Time{6000}},
  };
  for (const auto& each : cases) EXPECT_EQ(leaves_at(each.tolerations, each.came, both), each.leaves) << each.what;
}

}  // namespace berth::executing_taints_test
