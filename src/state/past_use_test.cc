#include "state/past_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/property_seeds.h"

namespace berth::past_use_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr std::int64_t kHour = 3'600'000;
constexpr QueueId kTop(0), kChild(1);

// One queue of 4 guaranteed GPUs with a child; both remember.
std::vector<Queue> two_queues(std::int64_t half_life_ms) {
  Quota quota{.guarantee = {{kGpu, 4}}, .half_life = Duration{half_life_ms}};
  Quota below{.guarantee = {{kGpu, 0}}, .half_life = Duration{half_life_ms}};
  return {{"top", {}, Order::kFifo, quota}, {"top/child", kTop, Order::kFifo, below}};
}

struct World {
  explicit World(std::int64_t half_life_ms) : queues(two_queues(half_life_ms)) {
    const AmountsByDim capacity(Dim::count(1), 1'000'000);
    ledger.replace_tree(std::make_shared<const QuotaTree>(queues, capacity), capacity);
    past.lay_out(queues, ledger.tree().dims(), Time{});
  }
  UnitId add(std::int64_t gpus, Time now) {
    past.advance(ledger, kChild, now);
    return ledger.add({.workload = WorkloadId(0), .queue = kChild, .admitted = now, .covered_at = {}}, {{kGpu, gpus}});
  }
  void remove(UnitId unit, Time now) {
    past.advance(ledger, kChild, now);
    ledger.remove(unit);
  }
  std::int64_t average(QueueId queue, Time now) const { return past.average(ledger, queue, now)[kGpu.index()]; }

  std::vector<Queue> queues;
  QuotaLedger ledger;
  PastUse past;
};

TEST(PastUse, CountsWhatIsAboveTheFloorHalfAfterEachHalfLife) {
  World world(kHour);
  const UnitId unit = world.add(1004, Time{});
  const auto at = [](std::int64_t hours) { return Time{hours * kHour}; };
  EXPECT_EQ(world.average(kTop, at(0)), 0);
  EXPECT_NEAR(static_cast<double>(world.average(kTop, at(1))), 500, 1);
  EXPECT_NEAR(static_cast<double>(world.average(kChild, at(1))), 502, 1) << "the child has no floor";
  EXPECT_NEAR(static_cast<double>(world.average(kTop, at(2))), 750, 1);
  EXPECT_NEAR(static_cast<double>(world.average(kTop, at(1))), 500, 1) << "to ask changes nothing";
  world.remove(unit, at(2));
  EXPECT_NEAR(static_cast<double>(world.average(kTop, at(3))), 375, 1);
  EXPECT_EQ(world.average(kTop, at(100)), 0);
}

TEST(PastUse, GoesOnFromWhatIsRemembered) {
  World world(kHour);
  world.past.remember(kChild, {{kGpu, 1000}}, Time{kHour});
  EXPECT_EQ(world.average(kChild, Time{kHour}), 1000);
  EXPECT_NEAR(static_cast<double>(world.average(kChild, Time{2 * kHour})), 500, 1) << "nothing was held since";
  world.add(200, Time{2 * kHour});
  EXPECT_NEAR(static_cast<double>(world.average(kChild, Time{3 * kHour})), 350, 1);
  EXPECT_EQ(world.average(kTop, Time{2 * kHour}), 0);
  world.queues[1].quota.half_life = {};
  world.past.lay_out(world.queues, world.ledger.tree().dims(), Time{3 * kHour});
  world.past.remember(kChild, {{kGpu, 1000}}, Time{3 * kHour});
  EXPECT_TRUE(world.past.average(world.ledger, kChild, Time{3 * kHour}).empty());
}

// Handed over each second, more often than its steps of 3.5 s end; and at odd moments.
TEST(PastUse, IsTheSameHoweverOftenItIsHandedOver) {
  for (const std::int64_t every : {1000, 3516, 5001}) {
    World whole(kHour), handed_over(kHour);
    whole.add(1'001, Time{});
    handed_over.add(1'001, Time{});
    std::int64_t now = 0;
    for (; now < 2 * kHour; now += every) {
      const auto known = handed_over.past.keep(handed_over.ledger, kChild, Time{now});
      handed_over.past = {};
      handed_over.past.lay_out(handed_over.queues, handed_over.ledger.tree().dims(), Time{now});
      handed_over.past.go_on(*known);
    }
    EXPECT_NEAR(static_cast<double>(handed_over.average(kChild, Time{now})),
                static_cast<double>(whole.average(kChild, Time{now})), 1)
        << every;
    EXPECT_NEAR(static_cast<double>(whole.average(kChild, Time{now})), 751, 1);
    EXPECT_EQ(whole.past.up_to(whole.ledger, kChild, Time{2 * kHour})[kGpu.index()], 751);
  }
}

// Of a step of 3.5 s, 3 s had passed.
TEST(PastUse, WhatIsRememberedWithinAStepIsOfThatMoment) {
  World world(kHour);
  world.add(1'000'000, Time{});
  EXPECT_EQ(world.average(kChild, Time{3000}), 0);
  EXPECT_EQ(world.past.up_to(world.ledger, kChild, Time{3000})[kGpu.index()], 577);
  world.past.remember(kChild, {{kGpu, 577}}, Time{3000});
  EXPECT_NEAR(static_cast<double>(world.average(kChild, Time{kHour})), 500'000, 800);
  EXPECT_NEAR(static_cast<double>(world.average(kChild, Time{3600})), 676, 1) << "of the rest of that step no more";
}

TEST(PastUse, OfAQueueWithoutAHalfLifeIsNone) {
  World world(kHour);
  world.add(1004, Time{});
  world.queues[0].quota.half_life = {};
  world.past.lay_out(world.queues, world.ledger.tree().dims(), Time{});
  EXPECT_TRUE(world.past.average(world.ledger, kTop, Time{kHour}).empty());
  EXPECT_TRUE(world.past.counts());
  world.queues[1].quota.half_life = {};
  world.past.lay_out(world.queues, world.ledger.tree().dims(), Time{});
  EXPECT_FALSE(world.past.counts());
}

// Steps of another half-life are others, so the one that had begun is not known any more; the average is.
TEST(PastUse, BeginsAStepAnewWithAnotherHalfLife) {
  for (const bool changes : {false, true}) {
    World world(kHour);
    world.past.remember(kChild, {{kGpu, 500}}, Time{});
    world.add(1'000, Time{});
    world.past.advance_all(world.ledger, Time{3000});
    if (changes) world.queues[1].quota.half_life = Duration{2 * kHour};
    world.past.lay_out(world.queues, world.ledger.tree().dims(), Time{3000});
    const auto kept = world.past.keep(world.ledger, kChild, Time{3000});
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(kept->begun, changes ? Time{3000} : Time{});
    EXPECT_EQ(kept->in_step.empty(), changes);
    EXPECT_EQ(kept->average, (AmountList{{kGpu, 500 << kPastFractionBits}}));
  }
}

// However often it is looked at or brought forward, it is what the formula says, but for its steps.
TEST(PastUseProperty, IsTheFadingMeanOfWhatWasHeld) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t half_life = rng.between(60'000, 10 * kHour);
    World world(half_life);
    double expected = 0;
    std::int64_t held = 0;
    std::int64_t most = 0;
    Time now;
    std::vector<UnitId> units;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t passed = rng.between(0, rng.below(4) == 0 ? half_life : half_life / 100);
      const double kept = std::exp2(-static_cast<double>(passed) / static_cast<double>(half_life));
      expected = expected * kept + static_cast<double>(held) * (1 - kept);
      now = now + Duration{passed};
      const std::uint64_t kind = rng.below(3);
      if (kind == 0 && !units.empty()) {
        held -= world.ledger.held_by(units.back())[0].amount;
        world.remove(units.back(), now);
        units.pop_back();
      } else if (kind == 1) {
        const std::int64_t gpus = rng.between(1, 100'000);
        units.push_back(world.add(gpus, now));
        held += gpus;
      } else {
        world.past.advance_all(world.ledger, now);
      }
      most = std::max(most, held);
      // A step is a 1024th of the half-life: what was held in it counts a moment late.
      ASSERT_NEAR(static_cast<double>(world.average(kChild, now)), expected, 2 + 0.001 * static_cast<double>(most));
    }
  }
}

}  // namespace berth::past_use_test
