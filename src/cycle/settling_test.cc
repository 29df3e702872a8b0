// Between two arrivals or ends, everything comes to rest (docs/semantics.md, rule 21): nobody takes for ever what another
// takes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/property_seeds.h"
#include "cycle/settling_cluster_test.h"

namespace berth::settling_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 200 : 10'000;

// How often rare things come up at least.
std::int64_t least_of_rare(std::int64_t seeds) { return seeds / 1000; }

TEST(SettlingProperty, BetweenTwoArrivalsEverythingComesToRest) {
  std::int64_t evicted = 0;
  std::int64_t by_windows = 0;
  std::int64_t by_budgets = 0;
  std::int64_t unpaid = 0;
  std::int64_t cooled = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster cluster(seed);
    for (int i = 0; i < 25; ++i) {
      cluster.disturb();
      const std::int64_t went = cluster.settle();
      ASSERT_GE(went, 0) << "step " << i;
      evicted += went;
    }
    by_windows += cluster.stopped_by_windows();
    by_budgets += cluster.stopped_by_budgets();
    unpaid += cluster.unpaid();
    cooled += cluster.cooled();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  // All that it is about has happened, more or less often.
  const auto seeds = static_cast<std::int64_t>(property_seeds(kSeeds).size());
  EXPECT_GE(evicted, seeds / 50);
  for (const std::int64_t each : {by_windows, by_budgets, unpaid, cooled}) EXPECT_GE(each, seeds / 2000);
}

TEST(SettlingProperty, WhoIsMovedConsentsAndRunsAgainAndEverythingComesToRest) {
  std::int64_t moves = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster cluster(seed, {.movable = true});
    for (int i = 0; i < 20; ++i) {
      cluster.disturb();
      ASSERT_GE(cluster.settle(), 0) << "step " << i;
    }
    moves += cluster.moves();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  EXPECT_GE(moves, static_cast<std::int64_t>(property_seeds(kSeeds).size() / 200));
}

TEST(SettlingProperty, GangsThatLoseMembersAreRepairedOrGivenUpAndEverythingComesToRest) {
  std::int64_t repairs = 0;
  std::int64_t taken = 0;
  std::int64_t moved = 0;
  std::int64_t given_up = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster cluster(seed, {.movable = seed.value % 2 == 0, .repairs = true});
    for (int i = 0; i < 32; ++i) {
      cluster.disturb();
      ASSERT_GE(cluster.settle(), 0) << "step " << i;
    }
    repairs += cluster.repairs();
    taken += cluster.taken_for_repairs();
    moved += cluster.moved_whole();
    given_up += cluster.given_up();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  const auto seeds = static_cast<std::int64_t>(property_seeds(kSeeds).size());
  EXPECT_GE(repairs, seeds / 10);
  EXPECT_GE(given_up, seeds / 50);
  for (const std::int64_t each : {taken, moved}) EXPECT_GE(each, seeds / 4000);
}

TEST(SettlingProperty, GangsOfOneRackMoveIntoRoomThatTheyTakeAndTeamsSettleWhatTheyLostAndEverythingComesToRest) {
  std::int64_t taken_for_moves = 0;
  std::int64_t took_on_their_side = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster cluster(seed, {.repairs = true, .racks = true});
    for (int i = 0; i < 20; ++i) {
      cluster.disturb();
      ASSERT_GE(cluster.settle(), 0) << "step " << i;
    }
    taken_for_moves += cluster.taken_for_moves();
    took_on_their_side += cluster.took_on_their_side();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  const auto seeds = static_cast<std::int64_t>(property_seeds(kSeeds).size());
  for (const std::int64_t each : {taken_for_moves, took_on_their_side}) EXPECT_GE(each, least_of_rare(seeds));
}

TEST(SettlingProperty, ElasticWorkTakesWhatNobodyElseWantsAndGivesItBackAndEverythingComesToRest) {
  std::int64_t steps = 0;
  std::int64_t shrunk = 0;
  std::int64_t whole = 0;
  std::int64_t grown_alone = 0;
  std::int64_t left_room = 0;
  std::int64_t took_room = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster cluster(seed, {.movable = seed.value % 4 == 0, .repairs = seed.value % 2 == 0, .elastic = true});
    for (int i = 0; i < 20; ++i) {
      cluster.disturb();
      ASSERT_GE(cluster.settle(), 0) << "step " << i;
    }
    steps += cluster.steps();
    shrunk += cluster.shrunk();
    whole += cluster.whole();
    grown_alone += cluster.grown_alone();
    left_room += cluster.left_room();
    took_room += cluster.took_room();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  const auto seeds = static_cast<std::int64_t>(property_seeds(kSeeds).size());
  EXPECT_GE(steps, seeds);
  EXPECT_GE(left_room, least_of_rare(seeds));
  // Of what the next cycle knows the trial does not know all.
  EXPECT_LE(took_room, 1 + left_room / 4);
  for (const std::int64_t each : {shrunk, whole, grown_alone}) EXPECT_GE(each, seeds / 50);
}

TEST(SettlingProperty, NamesDecideNothing) {
  for (const Seed seed : property_seeds(kSeeds / 5)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster one(seed, {.name = "a"});
    SettlingCluster other(seed, {.name = "zz/z"});
    for (int i = 0; i < 15; ++i) {
      for (SettlingCluster* const cluster : {&one, &other}) {
        cluster->disturb();
        cluster->settle();
      }
    }
    ASSERT_EQ(one.plans(), other.plans());
    if (HasFailure()) return;
  }
}

// What the lender's clock promises: past its patience an owner is decided for in the next cycle, and runs when his time for
// those who must stop is over.
TEST(SettlingProperty, AnOwnerGetsItsFloorBackInTime) {
  int looked_at = 0;
  std::int64_t took_at_once = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    SettlingCluster cluster(seed, {.hostile = true});
    Rng rng(seed, 1);
    for (int i = 0; i < 30; ++i) {
      const bool checks = rng.below(8) == 0;
      if (!checks && rng.below(2) == 0) cluster.disturb();
      for (int ticks = checks ? 4 : 1; ticks > 0; --ticks) cluster.tick();
      if (checks) looked_at += cluster.check_nobody_waits_for_nothing();
    }
    took_at_once += cluster.took_at_once();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  EXPECT_GE(looked_at, static_cast<int>(property_seeds(kSeeds).size() / 10));
  EXPECT_GE(took_at_once, static_cast<std::int64_t>(property_seeds(kSeeds).size() / 500));
}

}  // namespace berth::settling_test
