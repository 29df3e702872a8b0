#include "state/spread.h"

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::spread_test {

using Pods = std::vector<std::int64_t>;

TEST(SpreadOver, SaysHowManyGoWhere) {
  constexpr auto kApart = Spreading::kApart, kEven = Spreading::kEven, kPreferred = Spreading::kPreferred;
  const struct {
    const char* what;
    Spreading spread;
    Pods rooms;
    std::int64_t pods;
    std::optional<Pods> expected;
  } cases[] = {
      {"one in each of the first", kApart, {5, 1, 3}, 2, Pods{1, 1, 0}},
      {"one in each that has room", kApart, {5, 0, 3}, 2, Pods{1, 0, 1}},
      {"more than domains", kApart, {5, 1, 3}, 4, std::nullopt},
      {"evenly", kEven, {4, 2, 3}, 6, Pods{2, 2, 2}},
      {"one more in the first", kEven, {4, 2, 3}, 7, Pods{3, 2, 2}},
      {"where there is room for one more", kEven, {2, 2, 3}, 7, Pods{2, 2, 3}},
      {"too little room for one more", kEven, {2, 2, 3}, 8, std::nullopt},
      {"a full domain keeps the others down", kEven, {9, 0, 9}, 3, std::nullopt},
      {"and counts for nothing where there are fewer pods", kEven, {9, 0, 9}, 2, Pods{1, 0, 1}},
      {"no domain", kEven, {}, 1, std::nullopt},
      {"as evenly as there is room", kPreferred, {9, 1, 9}, 8, Pods{4, 1, 3}},
      {"a full domain keeps nobody down", kPreferred, {9, 0, 9}, 3, Pods{2, 0, 1}},
      {"more than there is room", kPreferred, {1, 0, 1}, 3, std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(spread_over(c.spread, c.rooms, c.pods), c.expected) << c.what;
}

TEST(MostToSpread, IsTheLargestNumberThatGoes) {
  for (const Seed seed : property_seeds(500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Pods rooms;
    for (std::int64_t left = rng.between(0, 4); left > 0; --left) rooms.push_back(rng.between(0, 4));
    for (const Spreading spread : {Spreading::kApart, Spreading::kEven, Spreading::kPreferred}) {
      std::int64_t most = 0;
      for (std::int64_t pods = 1; pods <= 20; ++pods) {
        if (spread_over(spread, rooms, pods)) most = pods;
      }
      EXPECT_EQ(most_to_spread(spread, rooms, 20), most);
    }
  }
}

TEST(MaySpreadOverSome, LeavesThoseOutOfAccountThatNeedNotCount) {
  constexpr auto kEven = Spreading::kEven;
  EXPECT_TRUE(may_spread_over_some(kEven, {9, 9}, {0}, 3));
  EXPECT_FALSE(may_spread_over_some(kEven, {9, 9, 0}, {}, 3));
  EXPECT_TRUE(may_spread_over_some(kEven, {}, {1, 9, 1}, 9));
  EXPECT_FALSE(may_spread_over_some(kEven, {4}, {1, 1}, 5));
  EXPECT_TRUE(may_spread_over_some(kEven, {2}, {0, 3}, 4)) << "it helps that another counts";
  EXPECT_TRUE(may_spread_over_some(Spreading::kApart, {9}, {0, 9}, 2));
  EXPECT_FALSE(may_spread_over_some(Spreading::kApart, {9, 0}, {9}, 3));
}

}  // namespace berth::spread_test
