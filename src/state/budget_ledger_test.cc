#include "state/budget_ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "model/workload.h"

namespace berth::budget_ledger_test {

constexpr QueueId kHouse(0), kChild(1), kFree(2);

// A house with a child below it, and a queue without a budget below that.
std::vector<Queue> queues_with(std::optional<std::int64_t> house, std::optional<std::int64_t> child) {
  std::vector<Queue> queues = {{.name = "house", .parent = QueueId(), .order = Order::kFifo},
                               {.name = "child", .parent = kHouse, .order = Order::kFifo},
                               {.name = "free", .parent = kChild, .order = Order::kFifo}};
  queues[0].quota.budget_gpu_us = house;
  queues[1].quota.budget_gpu_us = child;
  return queues;
}

QuotaTree tree_of(const std::vector<Queue>& queues) { return QuotaTree(queues, AmountsByDim(Dim::count(1))); }

GpuTimeAsked asked(std::int64_t gpu_milli, std::int64_t from, std::int64_t end) {
  return {.gpu_milli = gpu_milli, .from = Time{from}, .end = Time{end}};
}

void expect_state(const BudgetLedger& ledger, QueueId queue, std::int64_t now, std::int64_t used, std::int64_t reserved,
                  std::int64_t left) {
  const BudgetState state = ledger.state_of(queue, Time{now});
  EXPECT_EQ(state.used_gpu_us, used);
  EXPECT_EQ(state.reserved_gpu_us, reserved);
  EXPECT_EQ(state.left_gpu_us, left);
}

TEST(BudgetLedger, TheLowestBudgetThatHasNotEnoughRefuses) {
  struct Case {
    const char* what;
    std::optional<std::int64_t> house, child;
    std::int64_t asked;
    QueueId refusing;
    std::int64_t left;
  };
  const Case cases[] = {
      {"no budgets", {}, {}, 1000, QueueId(), 0},
      {"exactly enough", 10, 10, 10, QueueId(), 0},
      {"too little in the child", 100, 10, 11, kChild, 10},
      {"in both: the child", 10, 9, 11, kChild, 9},
      {"in the house", 10, {}, 11, kHouse, 10},
      {"nothing at all", 0, {}, 1, kHouse, 0},
  };
  for (const Case& c : cases) {
    const std::vector<Queue> queues = queues_with(c.house, c.child);
    BudgetLedger ledger;
    ledger.set_budgets(queues);
    const auto refusal = ledger.refusal(tree_of(queues), kFree, asked(c.asked, 5, 6));
    EXPECT_EQ(refusal ? refusal->queue : QueueId(), c.refusing) << c.what;
    if (refusal) {
      EXPECT_EQ(refusal->left_gpu_us, c.left) << c.what;
    }
  }
}

TEST(BudgetLedger, WhatWasReservedIsFreeAgainButForWhatWasUsed) {
  const std::vector<Queue> queues = queues_with(100, {});
  const QuotaTree tree = tree_of(queues);
  BudgetLedger ledger;
  ledger.set_budgets(queues);
  ledger.reserve(tree, WorkloadId(1), kFree, asked(2, 0, 20));
  ledger.reserve(tree, WorkloadId(2), kHouse, asked(3, 0, 10));
  expect_state(ledger, kHouse, 0, 0, 70, 30);
  ledger.settle(WorkloadId(1), 5);
  expect_state(ledger, kHouse, 0, 5, 30, 65);
  ledger.cancel(WorkloadId(2));
  expect_state(ledger, kHouse, 0, 5, 0, 95);
  ledger.settle(WorkloadId(2), 9);
  expect_state(ledger, kHouse, 0, 5, 0, 95);
  ledger.set_budgets(queues_with(3, {}));
  expect_state(ledger, kHouse, 0, 5, 0, -2);
  EXPECT_TRUE(ledger.refusal(tree, kFree, asked(1, 0, 1)).has_value());
  ledger.set_budgets(queues_with({}, {}));
  EXPECT_FALSE(ledger.has_any());
}

TEST(BudgetLedger, WhoeverUsesWhatIsNotThereAnyMoreIsUnpaid) {
  struct Case {
    const char* what;
    std::int64_t budget;
    std::vector<std::int64_t> used;  // by the first, the second
    bool may_run_out;
    std::vector<WorkloadId> unpaid;
  };
  const WorkloadId first(1), second(2);
  // The first may use 60, of which 20 are of a grant, the second 30.
  const Case cases[] = {
      {"all can be paid", 70, {59, 30}, false, {}},
      {"less than is reserved, and not gone yet", 69, {60, 28}, true, {}},
      {"gone", 69, {60, 29}, true, {first, second}},
      {"the first still has of its grant", 10, {19, 10}, true, {second}},
      {"and now not any more", 10, {20, 10}, true, {first, second}},
      {"nothing at all", 0, {0, 0}, true, {second}},
  };
  for (const Case& c : cases) {
    const std::vector<Queue> queues = queues_with(1000, {});
    BudgetLedger ledger;
    ledger.set_budgets(queues);
    ledger.grant(kHouse, 20, Time{100});
    ledger.reserve(tree_of(queues), first, kFree, asked(3, 0, 20));
    ledger.reserve(tree_of(queues), second, kHouse, asked(3, 0, 10));
    EXPECT_FALSE(ledger.may_run_out(kHouse)) << c.what;
    ledger.set_budgets(queues_with(c.budget, {}));
    EXPECT_EQ(ledger.may_run_out(kHouse), c.may_run_out) << c.what;
    EXPECT_FALSE(ledger.may_run_out(kChild)) << c.what;
    const auto used = [&](WorkloadId id) { return Wide{c.used[id.index() - 1]}; };
    EXPECT_EQ(ledger.unpaid(kHouse, used), c.unpaid) << c.what;
  }
}

TEST(BudgetLedger, WhoHasNoEndPaysWhenHeHasStopped) {
  const std::vector<Queue> queues = queues_with(100, {});
  BudgetLedger ledger;
  ledger.set_budgets(queues);
  EXPECT_TRUE(ledger.refusal(tree_of(queues), kFree, {.gpu_milli = 1, .from = Time{0}, .end = kForever}).has_value());
  ledger.reserve(tree_of(queues), WorkloadId(1), kFree, {.gpu_milli = 1, .from = Time{0}, .end = kForever});
  expect_state(ledger, kHouse, 0, 0, 0, 100);
  EXPECT_TRUE(ledger.may_run_out(kHouse));
  ledger.settle(WorkloadId(1), 30);
  EXPECT_FALSE(ledger.may_run_out(kHouse));
  expect_state(ledger, kHouse, 0, 30, 0, 70);
}

TEST(BudgetLedger, GrantsGoFirstAsFarAsTheyReach) {
  const std::vector<Queue> queues = queues_with(100, {});
  const QuotaTree tree = tree_of(queues);
  BudgetLedger ledger;
  ledger.set_budgets(queues);
  ledger.grant(kHouse, 30, Time{20});
  ledger.grant(kHouse, 5, Time{10});
  expect_state(ledger, kHouse, 0, 0, 0, 135);
  // Two of it until 10 are 20: 5 of the grant that ends then, 15 of the other; until 20 another 15 of that; the rest of the
  // budget.
  ledger.reserve(tree, WorkloadId(1), kHouse, asked(2, 0, 25));
  expect_state(ledger, kHouse, 0, 0, 50, 85);
  expect_state(ledger, kHouse, 20, 0, 50, 85);
  ledger.settle(WorkloadId(1), 12);
  expect_state(ledger, kHouse, 0, 12, 0, 123);
  expect_state(ledger, kHouse, 10, 12, 0, 123);
  expect_state(ledger, kHouse, 20, 12, 0, 100);
  const auto refusal = ledger.refusal(tree, kHouse, asked(10, 19, 31));
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->left_gpu_us, 110) << "of the grant no more than until it is void";
  EXPECT_FALSE(ledger.refusal(tree, kHouse, asked(10, 19, 30)).has_value());
  EXPECT_TRUE(ledger.refusal(tree, kHouse, asked(10, 20, 31)).has_value()) << "it is void";
}

TEST(BudgetLedger, GoesOnFromWhatWasUsedBefore) {
  const std::vector<Queue> queues = queues_with(100, {});
  BudgetLedger ledger;
  ledger.set_budgets(queues);
  ledger.grant(kHouse, 30, Time{20});
  ledger.note_used(kHouse, 0, 10);
  ledger.note_used(kHouse, 1, 25);
  expect_state(ledger, kHouse, 0, 35, 0, 95);
  ledger.reserve(tree_of(queues), WorkloadId(1), kFree, asked(2, 0, 10));
  expect_state(ledger, kHouse, 0, 35, 20, 75);
  const auto used = [&](std::int64_t by_who_runs) {
    return ledger.used_of_each_pot(kHouse, [&](WorkloadId) { return Wide{by_who_runs}; });
  };
  EXPECT_EQ(used(0), (std::vector<Wide>{10, 25}));
  EXPECT_EQ(used(3), (std::vector<Wide>{10, 28}));
  EXPECT_EQ(used(8), (std::vector<Wide>{13, 30})) << "five were left of the grant";
  EXPECT_EQ(used(22), (std::vector<Wide>{27, 30})) << "who ran too long pays of the budget";
  ledger.note_used(kHouse, 0, -4);
  expect_state(ledger, kHouse, 0, 31, 20, 79);
}

// Of eleven that it used until 11 (one at a time), four were before it was counted.
TEST(BudgetLedger, WhatIsCountedAlreadyCostsWhoIsFoundNothing) {
  const std::vector<Queue> queues = queues_with(100, 100);
  const QuotaTree tree = tree_of(queues);
  BudgetLedger ledger;
  ledger.set_budgets(queues);
  ledger.grant(kHouse, 10, Time{1000});
  ledger.note_used(kHouse, 1, 6);
  ledger.note_used(kHouse, 0, 1);
  ledger.note_counted(kHouse, Time{4});
  ledger.reserve(tree, WorkloadId(1), kFree, asked(1, 0, 20));
  expect_state(ledger, kHouse, 4, 7, 16, 87);
  expect_state(ledger, kChild, 4, 0, 20, 80);
  const auto used = [&](QueueId queue) { return ledger.used_of_each_pot(queue, [](WorkloadId) { return Wide{11}; }); };
  EXPECT_EQ(used(kHouse), (std::vector<Wide>{4, 10})) << "of seven more, four are of the grant";
  EXPECT_EQ(used(kChild), (std::vector<Wide>{11}));
  const auto unpaid = [&](std::int64_t gpu_us) {
    return ledger.unpaid(kHouse, [=](WorkloadId) { return Wide{gpu_us}; }).size();
  };
  ledger.set_budgets(queues_with(2, 100));
  EXPECT_EQ(unpaid(8), 0u) << "one is used of the budget, and all else of the grant";
  EXPECT_EQ(unpaid(9), 1u);
  ledger.settle(WorkloadId(1), 11);
  expect_state(ledger, kHouse, 4, 14, 0, -2);
  // Whoever overran his end before it was counted costs nothing more.
  ledger.reserve(tree, WorkloadId(2), kHouse, asked(5, 0, 3));
  expect_state(ledger, kHouse, 4, 14, 0, -2);
}

TEST(BudgetLedger, WhoRanUnseenPaysAsAnyWhoRuns) {
  const std::vector<Queue> queues = queues_with(100, 100);
  BudgetLedger ledger;
  ledger.set_budgets(queues);
  ledger.grant(kHouse, 10, Time{6});
  ledger.note_counted(kHouse, Time{4});
  ledger.note_run(tree_of(queues), kFree, asked(2, 0, 9));
  const auto used = [&](QueueId queue) { return ledger.used_of_each_pot(queue, [](WorkloadId) { return Wide{0}; }); };
  EXPECT_EQ(used(kHouse), (std::vector<Wide>{6, 4})) << "of the grant what it used until that was void";
  EXPECT_EQ(used(kChild), (std::vector<Wide>{18}));
  ledger.note_run(tree_of(queues), kHouse, asked(2, 0, 4));
  EXPECT_EQ(used(kHouse), (std::vector<Wide>{6, 4})) << "it is counted already";
}

TEST(BudgetLedger, WarnsAtFourFifths) {
  EXPECT_TRUE((BudgetState{50, 30, 20}).is_nearly_gone());
  EXPECT_FALSE((BudgetState{50, 29, 21}).is_nearly_gone());
  EXPECT_TRUE((BudgetState{0, 0, 0}).is_nearly_gone());
}

// Beside a ledger, what is known of it plainly: who reserved how much, and what was used.
TEST(BudgetLedgerProperty, NeverGivesOutMoreThanThereIs) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t budget_of_house = rng.between(0, 500);
    const std::vector<Queue> queues = queues_with(budget_of_house, rng.between(0, 500));
    const QuotaTree tree = tree_of(queues);
    BudgetLedger ledger;
    ledger.set_budgets(queues);
    std::int64_t granted = 0;
    for (std::int64_t left = rng.between(0, 3); left > 0; --left) {
      const std::int64_t amount = rng.between(1, 200);
      granted += amount;
      ledger.grant(kHouse, amount, Time{rng.between(1, 60)});
    }
    std::vector<std::pair<WorkloadId, Wide>> there;
    Wide used = 0;
    for (std::int64_t now = 0; now < 60; ++now) {
      if (rng.below(3) == 0 && !there.empty()) {
        const auto gone = there.begin() + static_cast<std::ptrdiff_t>(rng.below(there.size()));
        const Wide some = static_cast<std::int64_t>(rng.between(0, static_cast<std::int64_t>(gone->second)));
        ledger.settle(gone->first, some);
        used += some;
        there.erase(gone);
      }
      const auto until = now + rng.between(1, 20);
      const GpuTimeAsked more = asked(rng.between(1, 10), now, until);
      const WorkloadId id(static_cast<std::size_t>(now));
      if (!ledger.refusal(tree, kFree, more)) {
        const BudgetLedger before = ledger;
        ledger.reserve(tree, id, kFree, more);
        ledger.cancel(id);
        ASSERT_TRUE(ledger == before);
        ledger.reserve(tree, id, kFree, more);
        there.emplace_back(id, more.gpu_us());
      }
      Wide reserved = 0;
      for (const auto& each : there) reserved += each.second;
      const BudgetState house = ledger.state_of(kHouse, Time{now});
      ASSERT_EQ(house.reserved_gpu_us, reserved);
      ASSERT_EQ(house.used_gpu_us, used);
      ASSERT_GE(house.left_gpu_us, 0);
      ASSERT_LE(used + reserved, *queues[0].quota.budget_gpu_us + granted);
      ASSERT_GE(ledger.state_of(kChild, Time{now}).left_gpu_us, 0);
    }
    EXPECT_TRUE(ledger.is_sound([](WorkloadId) { return true; }));
  }
}

}  // namespace berth::budget_ledger_test
