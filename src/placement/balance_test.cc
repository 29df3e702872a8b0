#include "placement/balance.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/gpu.h"

namespace berth::balance_test {

constexpr FlavorId kA100 = FlavorId(0);
constexpr FlavorId kT4 = FlavorId(1);
const std::vector<std::int64_t> kGpus = {30, 10};

TEST(Balance, StrandsWhatTheCpusDoNotServe) {
  // Five cores with a GPU in the mean; what asks no GPU does not count.
  const Balance balance(std::vector<TypicalPod>{{8000, 1, 1000, FlavorSet::all(), 1},
                                                {2000, 1, 1000, FlavorSet::all(), 1},
                                                {64'000, 0, 0, FlavorSet::all(), 50}},
                        kGpus);
  EXPECT_EQ(balance.stranded(40'000, 8000), 0);
  EXPECT_EQ(balance.stranded(20'000, 8000), 4000);
  EXPECT_EQ(balance.stranded(20'000, 4000), 0);
  EXPECT_EQ(balance.stranded(0, 8000), 8000);
  EXPECT_EQ(balance.stranded(0, 0), 0);
}

TEST(Balance, StrandsNothingWhereGpusNeedNoCpus) {
  const Balance balance(std::vector<TypicalPod>{{0, 1, 1000, FlavorSet::all(), 1}}, kGpus);
  EXPECT_EQ(balance.stranded(0, 8000), 0);
  const Balance nobody(std::vector<TypicalPod>{}, kGpus);
  EXPECT_EQ(nobody.stranded(0, 8000), 0);
}

TEST(Balance, TakesAmountsAtTheirEnds) {
  const Balance hungry(std::vector<TypicalPod>{{50'000'000, 1, 1, FlavorSet::all(), kTypicalWeightMax}}, kGpus);
  EXPECT_EQ(hungry.stranded(50'000'000, 64'000), 64'000 - 47) << "one part in 2^20 of a thousandth is rounded up";
  const Balance frugal(std::vector<TypicalPod>{{1, 64, 1000, FlavorSet::all(), kTypicalWeightMax}}, kGpus);
  EXPECT_EQ(frugal.stranded(1, 64'000), 0);
  EXPECT_EQ(frugal.stranded(0, 64'000), 64'000);
}

TEST(Balance, WhatTakesAnyTypeMakesNoneScarce) {
  const Balance balance(std::vector<TypicalPod>{{0, 2, 1000, FlavorSet::all(), 3}}, kGpus);
  EXPECT_EQ(balance.scarcity(kA100), 1000);
  EXPECT_EQ(balance.scarcity(kT4), 1000);
}

TEST(Balance, WhatTakesOneTypeMakesItScarce) {
  // 4 for any, of which a quarter falls on T4, and 4 for T4 alone: 3 on 30 GPUs, 5 on 10; 8 on 40 in the mean.
  const Balance balance(
      std::vector<TypicalPod>{
          {0, 1, 1000, FlavorSet::all(), 4}, {0, 1, 500, FlavorSet::of(kT4), 8}, {9000, 0, 0, FlavorSet::all(), 100}},
      kGpus);
  EXPECT_EQ(balance.scarcity(kA100), 500);
  EXPECT_EQ(balance.scarcity(kT4), 2500);
}

TEST(Balance, ScarcityHasItsBoundAndNoTypeIsDividedByNothing) {
  const std::vector<TypicalPod> only_t4 = {{0, 1, 1000, FlavorSet::of(kT4), 1}};
  EXPECT_EQ(Balance(only_t4, std::vector<std::int64_t>{999, 1}).scarcity(kT4), Balance::kScarcityMax);
  EXPECT_EQ(Balance(only_t4, std::vector<std::int64_t>{5, 0}).scarcity(kT4), 0);
  EXPECT_EQ(Balance(only_t4, std::vector<std::int64_t>{5, 0}).scarcity(kA100), 0);
}

}  // namespace berth::balance_test
