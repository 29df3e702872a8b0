#include "state/quota_tree.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "model/gpu_hardware.h"

namespace berth::quota_tree_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kCpu(FlavorId(0), Resource::kCpu);
constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);
constexpr int kTop = -1;
constexpr std::int64_t kNotGiven = -1;

Queue queue_below(int parent, Quota quota) {
  const QueueId above = parent == kTop ? QueueId() : QueueId(static_cast<std::size_t>(parent));
  return {.name = "queue", .parent = above, .order = Order::kFifo, .quota = std::move(quota)};
}

AmountsByDim capacity_of(std::int64_t gpus) {
  AmountsByDim capacity(Dim::count(2));
  capacity[kGpu.index()] = gpus;
  return capacity;
}

TEST(QuotaTree, PromisesAndKeepsWhatItCan) {
  struct Promised {
    int parent;
    std::int64_t given;
    std::int64_t guarantee;
    std::int64_t floor;
  };
  struct Case {
    const char* what;
    std::int64_t capacity;
    std::vector<Promised> queues;
  };
  const Case cases[] = {
      {"nobody was promised anything", 8, {{kTop, kNotGiven, 0, 0}, {0, kNotGiven, 0, 0}}},
      {"an inner queue that says nothing is promised what its children are",
       64,
       {{kTop, kNotGiven, 20, 20}, {0, kNotGiven, 20, 20}, {1, 12, 12, 12}, {1, 8, 8, 8}}},
      {"one that says more has a pool", 64, {{kTop, 24, 24, 24}, {0, 8, 8, 8}, {0, 8, 8, 8}}},
      {"one that says less scales its children, rounded down", 64, {{kTop, 10, 10, 10}, {0, 8, 8, 5}, {0, 7, 7, 4}}},
      {"one that says nothing at all of it gives its children none", 64, {{kTop, 0, 0, 0}, {0, 8, 8, 0}}},
      {"more than there is: each its part, rounded down", 10, {{kTop, 8, 8, 3}, {kTop, 8, 8, 3}, {kTop, 8, 8, 3}}},
      {"what is scaled above scales what stands below",
       12,
       {{kTop, kNotGiven, 16, 8}, {0, 10, 10, 5}, {0, 6, 6, 3}, {kTop, 8, 8, 4}}},
      {"a pool shrinks before what it holds", 20, {{kTop, 30, 30, 20}, {0, 10, 10, 10}, {0, 10, 10, 10}}},
      {"no node is left", 0, {{kTop, 8, 8, 0}, {0, 8, 8, 0}}},
      {"the largest amounts do not overflow",
       kAmountMax,
       {{kTop, kAmountMax, kAmountMax, kAmountMax / 2}, {kTop, kAmountMax, kAmountMax, kAmountMax / 2}}},
  };
  for (const Case& c : cases) {
    std::vector<Queue> queues;
    for (const Promised& each : c.queues) {
      Quota quota;
      if (each.given != kNotGiven) quota.guarantee = {{kGpu, each.given}};
      queues.push_back(queue_below(each.parent, std::move(quota)));
    }
    const QuotaTree tree(queues, capacity_of(c.capacity));
    for (std::size_t i = 0; i < c.queues.size(); ++i) {
      EXPECT_EQ(tree.guarantee(QueueId(i))[kGpu.index()], c.queues[i].guarantee) << c.what << ": queue " << i;
      EXPECT_EQ(tree.floor(QueueId(i))[kGpu.index()], c.queues[i].floor) << c.what << ": queue " << i;
    }
  }
}

TEST(QuotaTree, BoundsStandWhereTheyAreGivenAndNowhereElse) {
  const QuotaTree tree({queue_below(kTop, {.guarantee = {{kGpu, 8}}, .borrowing_limit = {{kGpu, 4}, {kOtherGpu, 2}}}),
                        queue_below(kTop, {.guarantee = {{kGpu, 8}}, .lending_limit = {{kGpu, 3}}}),
                        queue_below(kTop, {.limit = {{kGpu, 5}}}), queue_below(kTop, {})},
                       capacity_of(8));
  struct Case {
    std::size_t queue;
    Dim dim;
    std::int64_t limit;
    std::int64_t borrowing_end;
    std::int64_t lendable;
    bool bounded;
  };
  const Case cases[] = {
      {0, kGpu, kNoBound, 12, kNoBound, true},  // above what was promised, which is more than what can be kept
      {0, kOtherGpu, kNoBound, 2, kNoBound, true}, {0, kCpu, kNoBound, kNoBound, kNoBound, true},
      {1, kGpu, kNoBound, kNoBound, 3, false},     {1, kCpu, kNoBound, kNoBound, kNoBound, false},
      {2, kGpu, 5, kNoBound, kNoBound, true},      {3, kGpu, kNoBound, kNoBound, kNoBound, false},
  };
  for (const Case& c : cases) {
    const QueueId queue(c.queue);
    EXPECT_EQ(tree.limit(queue)[c.dim.index()], c.limit) << c.queue;
    EXPECT_EQ(tree.borrowing_end(queue)[c.dim.index()], c.borrowing_end) << c.queue;
    EXPECT_EQ(tree.lendable(queue)[c.dim.index()], c.lendable) << c.queue;
    EXPECT_EQ(tree.is_bounded(queue), c.bounded) << c.queue;
  }
  EXPECT_TRUE(tree.keeps_floors());
}

TEST(QuotaTree, AFloorIsOneOfItsResourceInWhateverFlavor) {
  const QuotaTree tree({queue_below(kTop, {}), queue_below(0, {.guarantee = {{kOtherGpu, 4}}}),
                        queue_below(0, {.guarantee = {{kCpu, 4}}}), queue_below(kTop, {.guarantee = {{kGpu, 0}}})},
                       capacity_of(0));
  struct Case {
    std::size_t queue;
    bool gpu;
    bool cpu;
  };
  for (const Case& c : {Case{0, true, true}, Case{1, true, false}, Case{2, false, true}, Case{3, false, false}}) {
    const QueueId queue(c.queue);
    EXPECT_EQ(tree.has_floor(queue, Resource::kGpu), c.gpu) << c.queue;
    EXPECT_EQ(tree.has_floor(queue, Resource::kCpu), c.cpu) << c.queue;
    EXPECT_FALSE(tree.has_floor(queue, Resource::kMemory)) << c.queue;
    EXPECT_EQ(tree.has_floor(queue), c.gpu || c.cpu) << c.queue;
  }
  EXPECT_TRUE(tree.has_floors()) << "also while no node is there to keep them";
  EXPECT_FALSE(tree.keeps_floors());
}

TEST(QuotaTree, KnowsWhoStandsWhere) {
  const QuotaTree tree(
      {queue_below(kTop, {}), queue_below(0, {.weight_milli = 2500}), queue_below(kTop, {}), queue_below(0, {})},
      capacity_of(0));
  const auto children = [&](QueueId queue) {
    return std::vector<QueueId>(tree.children(queue).begin(), tree.children(queue).end());
  };
  EXPECT_EQ(children(QueueId()), (std::vector{QueueId(0), QueueId(2)}));
  EXPECT_EQ(children(QueueId(0)), (std::vector{QueueId(1), QueueId(3)}));
  EXPECT_TRUE(tree.is_leaf(QueueId(2)));
  EXPECT_FALSE(tree.is_leaf(QueueId(0)));
  EXPECT_EQ(tree.weight_milli(QueueId(1)), 2500);
  EXPECT_FALSE(tree.has_floors());
}

// Two queues at the top; below the first two, of which the second has two of its own.
TEST(QuotaTree, KnowsHowLongABorrowerIsProtectedAtMost) {
  constexpr int kTop0 = 0, kLeft = 1, kRight = 2, kLow1 = 4, kTop1 = 5, kNowhere = -1, kNobody = -1;
  struct Case {
    const char* what;
    std::vector<std::int64_t> floors;  // of the queues in their order
    std::vector<std::int64_t> clocks_s;
    int queue;
    int covered_at;
    std::int64_t clock_s;
  };
  const std::vector<std::int64_t> rising = {10, 11, 12, 13, 14, 15};
  const std::vector<std::int64_t> falling = {25, 24, 23, 22, 21, 20};
  const Case cases[] = {
      {"nobody was promised anything", {0, 0, 0, 0, 0, 0}, rising, kLeft, kNowhere, kNobody},
      {"an owner beside it", {0, 0, 0, 0, 0, 4}, rising, kLeft, kNowhere, 15},
      {"he has no clock against himself", {0, 0, 0, 0, 0, 4}, rising, kTop1, kNowhere, kNobody},
      {"the shorter of two", {0, 4, 0, 4, 0, 4}, rising, kLow1, kNowhere, 11},
      {"wherever they stand", {0, 4, 0, 4, 0, 4}, falling, kLow1, kNowhere, 20},
      {"only those against whom it is not covered", {9, 4, 0, 0, 0, 4}, falling, kLow1, kTop0, 24},
      {"against nobody", {9, 0, 4, 0, 0, 4}, falling, kLow1, kLow1, kNobody},
      {"all below who has a floor may use it", {4, 0, 0, 0, 0, 0}, falling, kTop1, kNowhere, 21},
      {"not those beside him who has one", {0, 4, 0, 0, 0, 0}, falling, kTop1, kNowhere, 21},
      {"who has none is no owner to his own sibling", {0, 0, 0, 4, 0, 0}, falling, kLow1, kNowhere, 22},
      {"an inner queue's own line gives way to its children", {0, 0, 0, 4, 0, 0}, falling, kRight, kNowhere, 22},
      {"also inside its floor", {0, 0, 9, 4, 0, 0}, falling, kRight, kRight, 22},
  };
  const int parents[] = {kTop, kTop0, kTop0, kRight, kRight, kTop};
  for (const Case& c : cases) {
    std::vector<Queue> queues;
    for (std::size_t i = 0; i < std::size(parents); ++i) {
      Quota quota{.reclaim_within = seconds(c.clocks_s[i])};
      if (c.floors[i] > 0) quota.guarantee = {{kGpu, c.floors[i]}};
      queues.push_back(queue_below(parents[i], std::move(quota)));
    }
    const QuotaTree tree(queues, capacity_of(16));
    const QueueId covered_at = c.covered_at == kNowhere ? QueueId() : QueueId(static_cast<std::size_t>(c.covered_at));
    const Duration expected = c.clock_s == kNobody ? kNoClock : seconds(c.clock_s);
    EXPECT_EQ(tree.owners_clock(QueueId(static_cast<std::size_t>(c.queue)), covered_at), expected) << c.what;
  }
}

TEST(QuotaTree, AmountsAreWhatPodsHoldWithMemoryRoundedUp) {
  AmountsByDim sums(Dim::count(2));
  add_amounts({.cpu_milli = 500, .memory_bytes = 1, .gpus = 1, .gpu_milli = 250}, FlavorId(1), 3, sums);
  add_amounts({.memory_bytes = 2 << 20}, FlavorId(), 1, sums);
  EXPECT_EQ(amounts_of(sums), (AmountList{{Dim(FlavorId(), Resource::kMemory), 2},
                                          {kOtherGpu, 750},
                                          {Dim(FlavorId(1), Resource::kCpu), 1500},
                                          {Dim(FlavorId(1), Resource::kMemory), 3}}));
}

// Of an A100 a 1g.10gb counts 129 thousandths here.
TEST(QuotaTree, SlicesCountByTheProfileWhereItIsPromised) {
  const Dim slices = Dim::of_slices(FlavorId(0), 0), others = Dim::of_slices(FlavorId(0), 3);
  const NamedProfiles named{.flavors = 2, .profiles = {{slices, 129}, {others, 259}}};
  AmountsByDim capacity(named.dims(), 100'000);
  capacity[slices.index()] = 6;
  const std::vector<Queue> queues = {queue_below(kTop, {}), queue_below(0, {.guarantee = {{slices, 4}}}),
                                     queue_below(0, {.guarantee = {{kGpu, 1000}}}),
                                     queue_below(kTop, {.guarantee = {{slices, 8}}, .limit = {{others, 1}}})};
  const QuotaTree tree(queues, capacity, named);
  const AmountList held = {{kGpu, 1000 + 2 * 129 + 259}, {slices, 2}, {others, 1}};
  const AmountList by_profile = {{kGpu, 1259}, {slices, 2}};
  const AmountList by_parts = {{kGpu, 1517}};
  EXPECT_EQ(tree.counted_in_floor(QueueId(0), held), by_profile) << "as a child was promised some";
  EXPECT_EQ(tree.counted_in_floor(QueueId(1), held), by_profile);
  EXPECT_EQ(tree.counted_in_floor(QueueId(2), held), by_parts);
  EXPECT_EQ(tree.counted_in_floor(QueueId(3), held), by_profile) << "a limit promises nothing";
  EXPECT_EQ(tree.counted_in_floor(QueueId(1), {{kGpu, 129}, {slices, 1}}), (AmountList{{slices, 1}}));
  EXPECT_EQ(tree.floor(QueueId(1))[slices.index()], 2) << "twelve are promised, and six could be";
  EXPECT_EQ(tree.floor(QueueId(3))[slices.index()], 4);
  EXPECT_EQ(tree.limit(QueueId(3))[others.index()], 1);
  const auto two = [](Dim) { return 2; };
  EXPECT_EQ(tree.milli_inside(QueueId(3), kGpu, tree.floor(QueueId(3)), two), 2 * 129);
  EXPECT_EQ(tree.milli_inside(QueueId(3), kOtherGpu, tree.floor(QueueId(3)), two), 0);
  EXPECT_EQ(tree.milli_inside(QueueId(2), kGpu, tree.floor(QueueId(2)), two), 0);
}

TEST(QuotaTree, LooksAtNoSlicesThatNobodyNamesAnyMore) {
  const std::vector<Queue> queues = {queue_below(kTop, {.guarantee = {{kGpu, 1000}}})};
  const QuotaTree tree(queues, AmountsByDim(Dim::count_max(), 100'000), NamedProfiles{.flavors = 2});
  EXPECT_EQ(tree.dims_in_use().size(), Dim::count(2));
}

TEST(QuotaTree, WhatAWindowPromisesIsNamedAtAllHours) {
  const Dim slices = Dim::of_slices(FlavorId(0), 0);
  const std::vector<Flavor> flavors = {{.name = "a100", .model = "A100-80GB"}};
  const std::vector<Queue> queues = {queue_below(kTop, {.guarantee = {{kGpu, 1000}}})};
  const std::vector<Window> windows = {{.queue = QueueId(0), .guarantee = {{slices, 4}}}};
  const NamedProfiles named = profiles_named_by(queues, windows, flavors);
  const QuotaTree tree(queues, AmountsByDim(named.dims(), 100'000), named);
  EXPECT_TRUE(tree.is_floor_by_profile(QueueId(0), slices));
  EXPECT_EQ(tree.guarantee(QueueId(0))[slices.index()], 0);
  EXPECT_EQ(named.profiles, (std::vector<NamedProfile>{{slices, find_slice(flavors[0], std::size_t{0})->gpu_milli}}));
  EXPECT_TRUE(profiles_named_by(queues, {}, flavors).profiles.empty());
}

}  // namespace berth::quota_tree_test
