#include "state/series_turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::series_turns_test {

using Ids = std::vector<WorkloadId>;

constexpr SeriesId kArray(3);

TEST(SeriesTurns, BeginInTheOrderOfTheirComing) {
  SeriesTurns turns;
  EXPECT_EQ(turns.join(WorkloadId(5), kArray, 2), Ids{WorkloadId(5)});
  EXPECT_EQ(turns.join(WorkloadId(6), kArray, 2), Ids{WorkloadId(6)});
  EXPECT_EQ(turns.join(WorkloadId(7), kArray, 2), Ids());
  EXPECT_EQ(turns.join(WorkloadId(8), kArray, 2), Ids());
  EXPECT_EQ(turns.join(WorkloadId(9), SeriesId(4), 1), Ids{WorkloadId(9)});
  EXPECT_EQ(turns.leave(WorkloadId(5), kArray), Ids{WorkloadId(7)});
  EXPECT_EQ(turns.leave(WorkloadId(8), kArray), Ids());
  EXPECT_EQ(turns.leave(WorkloadId(6), kArray), Ids());
  EXPECT_EQ(turns.all().at(kArray).turns, 1u);
  turns.leave(WorkloadId(7), kArray);
  EXPECT_FALSE(turns.all().contains(kArray));
}

TEST(SeriesTurns, OfWhoRunsAlreadyMayBeMoreThanThereMayBe) {
  SeriesTurns turns;
  turns.join(WorkloadId(1), kArray, 1);
  turns.join(WorkloadId(2), kArray, 1);
  turns.join(WorkloadId(3), kArray, 1);
  turns.take(WorkloadId(3), kArray);
  EXPECT_EQ(turns.leave(WorkloadId(1), kArray), Ids());
  EXPECT_EQ(turns.leave(WorkloadId(3), kArray), Ids{WorkloadId(2)});
}

}  // namespace berth::series_turns_test
