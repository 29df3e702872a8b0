#include "state/idle_floors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::idle_floors_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr QueueId kHouse(0), kChild(1);

// A house of 8, of which 6 are a child's; both look back so far.
class World {
 public:
  explicit World(Duration idle_after) {
    queues_ = {{.name = "house", .parent = QueueId(), .order = Order::kFifo},
               {.name = "house/child", .parent = kHouse, .order = Order::kFifo}};
    for (Queue& queue : queues_) queue.quota.idle_after = idle_after;
    set_floors(8, 6, Time{0});
  }

  void set_floors(std::int64_t house, std::int64_t child, Time now) {
    queues_[0].quota.guarantee = {{kGpu, house}};
    queues_[1].quota.guarantee = {{kGpu, child}};
    lay_out(now);
  }
  void set_idle_after(Duration idle_after, Time now) {
    for (Queue& queue : queues_) queue.quota.idle_after = idle_after;
    lay_out(now);
  }
  void hold(QueueId queue, std::int64_t amount, Time now) {
    idle_.advance(quotas_, queue, now);
    UnitId& unit = units_[queue.index()];
    if (!unit.is_none()) quotas_.remove(unit);
    unit = amount == 0
               ? UnitId()
               : quotas_.add({.workload = WorkloadId(queue.index()), .queue = queue, .admitted = {}, .covered_at = {}},
                             {{kGpu, amount}});
    quotas_.keep();
  }
  std::int64_t idle(QueueId queue, Time now) const { return idle_.idle(quotas_, queue, now)[kGpu.index()]; }
  bool counts() const { return idle_.counts(); }
  // Another begins, and knows what this one knew.
  void hand_over(Time now) {
    IdleFloors next;
    next.lay_out(queues_, quotas_, now);
    for (const QueueId queue : {kHouse, kChild}) {
      const AmountList floor = {{kGpu, quotas_.tree().floor(queue)[kGpu.index()]}};
      next.remember(queue, floor, idle_.held(quotas_, queue, now));
    }
    next.lay_out(queues_, quotas_, now);
    idle_ = std::move(next);
  }

 private:
  void lay_out(Time now) {
    AmountsByDim capacity(Dim::count(1));
    capacity[kGpu.index()] = 100;
    idle_.advance_all(quotas_, now);
    quotas_.replace_tree(std::make_shared<const QuotaTree>(queues_, capacity), capacity);
    idle_.lay_out(queues_, quotas_, now);
  }

  std::vector<Queue> queues_;
  QuotaLedger quotas_;
  IdleFloors idle_;
  UnitId units_[2];
};

TEST(IdleFloors, AreFoundWhenTheTimeHasPassed) {
  World world(Duration{10});
  EXPECT_EQ(world.idle(kHouse, Time{9}), 0) << "nobody knows what was before";
  EXPECT_EQ(world.idle(kHouse, Time{10}), 8);
  EXPECT_EQ(world.idle(kChild, Time{10}), 6);
  world.hold(kChild, 5, Time{20});
  EXPECT_EQ(world.idle(kHouse, Time{20}), 3) << "what is used is not idle from that moment on";
  EXPECT_EQ(world.idle(kChild, Time{20}), 1);
  world.hold(kChild, 2, Time{30});
  EXPECT_EQ(world.idle(kChild, Time{39}), 1);
  EXPECT_EQ(world.idle(kChild, Time{40}), 4);
  world.hold(kHouse, 20, Time{41});
  EXPECT_EQ(world.idle(kHouse, Time{41}), 0) << "borrowing is use of the whole floor";
  EXPECT_EQ(world.idle(kChild, Time{41}), 4) << "what its parent's own line holds is none of the child's use";
}

TEST(IdleFloors, GoOnFromWhatIsRemembered) {
  World world(Duration{10});
  world.hold(kChild, 5, Time{20});
  world.hold(kChild, 2, Time{25});
  world.hand_over(Time{30});
  EXPECT_EQ(world.idle(kChild, Time{34}), 1);
  EXPECT_EQ(world.idle(kChild, Time{35}), 4);
  EXPECT_EQ(world.idle(kHouse, Time{35}), 6);
}

TEST(IdleFloors, WhatAFloorHasMoreCountsFromThenOn) {
  World world(Duration{10});
  EXPECT_EQ(world.idle(kChild, Time{50}), 6);
  world.set_floors(20, 10, Time{50});
  EXPECT_EQ(world.idle(kChild, Time{59}), 6) << "what was idle before is so still";
  EXPECT_EQ(world.idle(kChild, Time{60}), 10);
  world.hold(kChild, 5, Time{60});
  world.hold(kChild, 0, Time{61});
  world.set_floors(20, 12, Time{62});
  EXPECT_EQ(world.idle(kChild, Time{70}), 5) << "5 were held, and 2 are new";
  EXPECT_EQ(world.idle(kChild, Time{71}), 10);
  EXPECT_EQ(world.idle(kChild, Time{72}), 12);
  world.set_floors(20, 3, Time{72});
  EXPECT_EQ(world.idle(kChild, Time{72}), 3);
  world.set_idle_after(Duration{100}, Time{72});
  EXPECT_EQ(world.idle(kChild, Time{171}), 0);
  EXPECT_EQ(world.idle(kChild, Time{172}), 3);
  world.set_idle_after(Duration{0}, Time{172});
  EXPECT_FALSE(world.counts());
  EXPECT_EQ(world.idle(kChild, Time{500}), 0);
}

// Compared with a look at every moment.
TEST(IdleFloorsProperty, AreWhatWasNotHeldAtAnyMoment) {
  std::int64_t found = 0;
  for (const Seed seed : property_seeds(500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t idle_after = rng.between(1, 12);
    World world(Duration{idle_after});
    std::vector<std::int64_t> held;  // by moment; until the first all was
    std::int64_t now_held = 0;
    for (std::int64_t now = 0; now < 60; ++now) {
      std::int64_t most = now < idle_after ? 8 : 0;
      for (std::int64_t at = std::max<std::int64_t>(0, now - idle_after); at < now; ++at) {
        most = std::max(most, held[static_cast<std::size_t>(at)]);
      }
      if (rng.below(3) == 0) {
        now_held = rng.between(0, 9);
        world.hold(kHouse, now_held, Time{now});
      }
      if (rng.below(5) == 0) world.hand_over(Time{now});
      const std::int64_t idle = std::max<std::int64_t>(0, 8 - std::max(most, now_held));
      ASSERT_EQ(world.idle(kHouse, Time{now}), idle) << "at " << now;
      found += idle;
      held.push_back(now_held);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(found, 0);
}

}  // namespace berth::idle_floors_test
