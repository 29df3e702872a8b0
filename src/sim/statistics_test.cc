#include "sim/statistics.h"

#include <gtest/gtest.h>

#include <numeric>

namespace berth::statistics_test {

TEST(MeanAndSd, AreThoseOfThePopulation) {
  struct Case {
    std::vector<double> values;
    double mean;
    double sd;
  };
  const Case cases[] = {{{}, 0, 0}, {{7}, 7, 0}, {{2, 4, 4, 4, 5, 5, 7, 9}, 5, 2}, {{1, -1}, 0, 1}};
  for (const Case& c : cases) {
    EXPECT_DOUBLE_EQ(mean_and_sd(c.values).mean, c.mean);
    EXPECT_DOUBLE_EQ(mean_and_sd(c.values).sd, c.sd);
  }
}

TEST(Waits, AreByNearestRank) {
  struct Case {
    const char* what;
    std::vector<std::int64_t> values_ms;
    Waits waits;
  };
  std::vector<std::int64_t> hundred(100);
  std::iota(hundred.rbegin(), hundred.rend(), 1);
  for (std::int64_t& value : hundred) value *= 1000;
  const Case cases[] = {
      {"nobody", {}, {}},
      {"one", {1500}, {1, 1.5, 1.5, 1.5, 1.5, 1.5}},
      {"two", {3000, 1000}, {2, 2, 1, 3, 3, 3}},
      {"three", {3000, 1000, 2000}, {3, 2, 2, 3, 3, 3}},
      {"ten", {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10'000}, {10, 5.5, 5, 9, 10, 10}},
      {"a hundred", hundred, {100, 50.5, 50, 90, 99, 100}},
  };
  for (const Case& c : cases) {
    const Waits waits = waits_of(c.values_ms);
    EXPECT_EQ(waits.count, c.waits.count) << c.what;
    EXPECT_DOUBLE_EQ(waits.mean_s, c.waits.mean_s) << c.what;
    EXPECT_EQ(waits.p50_s, c.waits.p50_s) << c.what;
    EXPECT_EQ(waits.p90_s, c.waits.p90_s) << c.what;
    EXPECT_EQ(waits.p99_s, c.waits.p99_s) << c.what;
    EXPECT_EQ(waits.max_s, c.waits.max_s) << c.what;
  }
}

}  // namespace berth::statistics_test
