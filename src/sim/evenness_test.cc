#include "sim/evenness.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::evenness_test {

using Amounts = std::vector<std::int64_t>;

TEST(Evenness, WhatIsDueIsTheFloorAndAnEqualPartOfTheRest) {
  struct Case {
    const char* what;
    Amounts floors;
    Amounts demands;
    std::vector<double> due;  // of 10
  };
  const Case cases[] = {
      {"nobody wants anything", {5, 5}, {0, 0}, {0, 0}},
      {"all fits", {5, 5}, {7, 2}, {7, 2}},
      {"floors come first", {5, 5}, {9, 9}, {5, 5}},
      {"what one leaves idle the others share", {6, 2, 2}, {0, 9, 9}, {0, 5, 5}},
      {"equal parts above the floors, not of the whole", {6, 2, 0}, {9, 9, 9}, {6 + 2.0 / 3, 2 + 2.0 / 3, 2.0 / 3}},
      {"who wants less leaves more", {0, 0, 0}, {1, 9, 9}, {1, 4.5, 4.5}},
  };
  for (const Case& c : cases) {
    const std::vector<double> due = dues(c.floors, c.demands, 10);
    ASSERT_EQ(due.size(), c.due.size()) << c.what;
    for (std::size_t i = 0; i < due.size(); ++i) EXPECT_DOUBLE_EQ(due[i], c.due[i]) << c.what << " " << i;
  }
}

TEST(Evenness, JainsIndex) {
  EXPECT_DOUBLE_EQ(jain_index({}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{0, 0}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{3, 3, 3}), 1);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{4, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(jain_index(std::vector<double>{1, 3}), 0.8);
}

TEST(Evenness, IsAMeanOverTime) {
  Evenness evenness({2000, 2000}, 4000);
  evenness.pass(seconds(100));
  EXPECT_DOUBLE_EQ(evenness.mean(), 1) << "where nobody wants anything nothing is measured";
  evenness.waits(0, 4000);
  evenness.waits(1, 4000);
  evenness.holds(0, 4000);
  evenness.waits(0, -4000);
  evenness.pass(seconds(30));  // 2 and 0 of what is due
  EXPECT_DOUBLE_EQ(evenness.mean(), 0.5);
  EXPECT_DOUBLE_EQ(evenness.mean_since(), 0.5);
  EXPECT_EQ(evenness.short_of_floor_gpu_s(), 60);
  evenness.holds(0, -2000);
  evenness.holds(1, 2000);
  evenness.waits(1, -2000);
  evenness.pass(seconds(10));  // each has its floor
  EXPECT_DOUBLE_EQ(evenness.mean_since(), 1);
  EXPECT_DOUBLE_EQ(evenness.mean(), (0.5 * 30 + 10) / 40);
  EXPECT_EQ(evenness.short_of_floor_gpu_s(), 60);
}

TEST(EvennessProperty, NobodyIsDueMoreThanHeDemandsAndAllIsGivenOut) {
  for (const Seed seed : property_seeds(10'000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t capacity = rng.between(1, 40);
    std::int64_t left = capacity;
    std::int64_t demanded = 0;
    Amounts floors, demands;
    for (std::int64_t queues = rng.between(1, 8); queues > 0; --queues) {
      floors.push_back(rng.between(0, left));
      left -= floors.back();
      demands.push_back(rng.between(0, 20));
      demanded += demands.back();
    }
    const std::vector<double> due = dues(floors, demands, capacity);
    double sum = 0;
    for (std::size_t i = 0; i < due.size(); ++i) {
      sum += due[i];
      EXPECT_LE(due[i], static_cast<double>(demands[i]) + 1e-9);
      EXPECT_GE(due[i], static_cast<double>(std::min(floors[i], demands[i])));
      for (std::size_t j = 0; j < due.size(); ++j) {
        // Who has more above his floor than another could not give him any: that one has all he wants.
        const double more = due[i] - static_cast<double>(floors[i]);
        if (more > 1e-9 && more > due[j] - static_cast<double>(floors[j]) + 1e-9) {
          EXPECT_NEAR(due[j], static_cast<double>(demands[j]), 1e-9) << i << " and " << j;
        }
      }
    }
    EXPECT_NEAR(sum, static_cast<double>(std::min(capacity, demanded)), 1e-9);
    if (HasFailure()) return;
  }
}

}  // namespace berth::evenness_test
