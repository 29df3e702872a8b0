#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "state/random_world.h"
#include "state/state.h"

namespace berth::state_before_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kCpu(FlavorId(0), Resource::kCpu);
constexpr QueueId kQueue(0), kOther(1);
constexpr std::int64_t kHour = 3'600'000;
constexpr Time kNow{kHour};

// Two queues whose budget, past and idle floor count, and a waiting workload in each; an hour has passed.
State begun() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  for (int i = 0; i < 2; ++i) {
    Quota quota{.guarantee = {{kGpu, 8 * kMilliPerGpu}}, .half_life = Duration{kHour}};
    quota.idle_after = Duration{10};
    quota.budget_gpu_us = 100'000;
    state.apply(QueueAdded{{.name = "queue", .parent = QueueId(), .order = Order::kFifo, .quota = quota}});
  }
  state.apply(NodesAdded{{{.name = "node", .flavor = FlavorId(0), .gpus = 16}}});
  for (const QueueId queue : {kQueue, kOther}) {
    state.apply(submission(queue, single_pod({.gpus = 1, .gpu_milli = kMilliPerGpu})));
  }
  state.apply(TimePassed{kNow});
  return state;
}

void tell(State& state, const Event& event) {
  ASSERT_EQ(state.refusal(event), std::nullopt);
  state.apply(event);
}

// What decides is in the hash: whoever replays a history that was changed by one number finds out.
TEST(StateBefore, EveryNumberThatItIsToldIsInTheHash) {
  struct Case {
    const char* what;
    Event told;
    std::vector<Event> others;  // each with one number changed
  };
  using Kept = PastUseKept;
  const AmountList gpu = {{kGpu, 256}};
  const AmountList cpu = {{kCpu, 256}};
  const AmountList more = {{kGpu, 512}};
  const Time t{9}, u{8};
  const WorkloadId w(0);
  const Case cases[] = {
      {"a grant",
       GrantAdded{kQueue, 10, t},
       {GrantAdded{kOther, 10, t}, GrantAdded{kQueue, 11, t}, GrantAdded{kQueue, 10, u}}},
      {"used GPU time",
       GpuTimeUsed{kQueue, 0, 10},
       {GpuTimeUsed{kOther, 0, 10}, GpuTimeUsed{kQueue, 1, 10}, GpuTimeUsed{kQueue, 0, 11}}},
      {"counted until", GpuTimeCounted{kQueue, t}, {GpuTimeCounted{kOther, t}, GpuTimeCounted{kQueue, u}}},
      {"GPU time of who is gone",
       GpuTimeMissed{kQueue, 5, u, t},
       {GpuTimeMissed{kOther, 5, u, t}, GpuTimeMissed{kQueue, 6, u, t}, GpuTimeMissed{kQueue, 5, Time{7}, t},
        GpuTimeMissed{kQueue, 5, u, Time{10}}}},
      {"the past",
       PastUseFound{kQueue, t, gpu},
       {PastUseFound{kOther, t, gpu}, PastUseFound{kQueue, u, gpu}, PastUseFound{kQueue, t, cpu},
        PastUseFound{kQueue, t, more}}},
      {"the past within a step",
       Kept{kQueue, u, t, gpu, gpu},
       {Kept{kOther, u, t, gpu, gpu}, Kept{kQueue, Time{7}, t, gpu, gpu}, Kept{kQueue, u, Time{10}, gpu, gpu},
        Kept{kQueue, u, t, cpu, gpu}, Kept{kQueue, u, t, more, gpu}, Kept{kQueue, u, t, gpu, cpu},
        Kept{kQueue, u, t, gpu, more}}},
      {"the use of a floor",
       FloorUseFound{kQueue, more, {{kGpu, 256, t}}},
       {FloorUseFound{kOther, more, {{kGpu, 256, t}}}, FloorUseFound{kQueue, {{kGpu, 513}}, {{kGpu, 256, t}}},
        FloorUseFound{kQueue, {{kCpu, 512}}, {{kGpu, 256, t}}}, FloorUseFound{kQueue, more, {{kGpu, 255, t}}},
        FloorUseFound{kQueue, more, {{kGpu, 256, u}}}, FloorUseFound{kQueue, more, {{kCpu, 256, t}}}}},
      {"room that was given back", RoomGivenBack{w, t}, {RoomGivenBack{WorkloadId(1), t}, RoomGivenBack{w, u}}},
  };
  const auto hash_after = [](const Event& event) {
    State state = begun();
    tell(state, GrantAdded{kQueue, 1'000, Time{kHour * 2}});
    tell(state, event);
    return state.hash();
  };
  for (const Case& c : cases) {
    const std::uint64_t hash = hash_after(c.told);
    EXPECT_EQ(hash, hash_after(c.told)) << c.what;
    for (std::size_t i = 0; i < c.others.size(); ++i) EXPECT_NE(hash, hash_after(c.others[i])) << c.what << " " << i;
  }
}

TEST(StateBefore, WhatWasUsedOfAGrantIsNotOfTheBudget) {
  State state = begun();
  tell(state, GrantAdded{kQueue, 10'000, kNow + Duration{5}});
  tell(state, GpuTimeUsed{kQueue, 1, 4'000});
  EXPECT_EQ(state.budget_of(kQueue).left_gpu_us, 106'000);
  EXPECT_EQ(state.budget_of(kQueue).used_gpu_us, 4'000);
  state.apply(TimePassed{kNow + Duration{5}});
  EXPECT_EQ(state.budget_of(kQueue).left_gpu_us, 100'000) << "the grant is void";
}

// Two GPUs since 15 ms ago, of which all but the last 5 are counted already; and two that were gone after 6 ms.
TEST(StateBefore, WhoRanPaysWhatIsNotCountedYet) {
  State state = begun();
  tell(state, GpuTimeCounted{kQueue, kNow + Duration{-5}});
  const WorkloadSubmitted runs = submission(kQueue, single_pod({.gpus = 2, .gpu_milli = kMilliPerGpu}));
  tell(state, WorkloadFound{runs, {{NodeId(0), GpuSet::from_bits(0x3)}}, kNow + Duration{-15}});
  EXPECT_EQ(state.budget_of(kQueue).used_gpu_us, 10'000);
  tell(state, GpuTimeMissed{kOther, 2 * kMilliPerGpu, kNow + Duration{-16}, kNow + Duration{-10}});
  EXPECT_EQ(state.budget_of(kOther).used_gpu_us, 12'000);
}

TEST(StateBefore, ThePastHasFadedSinceItWasKnown) {
  State state = begun();
  tell(state, PastUseFound{kQueue, Time{}, {{kGpu, 1000}}});
  tell(state, PastUseKept{kOther, Time{}, Time{}, {{kGpu, 1000 << kPastFractionBits}}, {}});
  for (const QueueId queue : {kQueue, kOther}) {
    EXPECT_NEAR(static_cast<double>(state.past_use(queue, kNow)[kGpu.index()]), 500, 1);
  }
}

// When 5 were held, the floor was 6; of the 8 that it is now two are new.
TEST(StateBefore, WhatAFloorHasMoreThanItHadCountsFromNowOn) {
  State state = begun();
  tell(state, FloorUseFound{kQueue, {{kGpu, 6'000}}, {{kGpu, 5'000, kNow + Duration{-5}}}});
  const auto idle_after = [&](std::int64_t ms) { return state.idle_floor(kQueue, kNow + Duration{ms})[kGpu.index()]; };
  EXPECT_EQ(idle_after(4), 1'000);
  EXPECT_EQ(idle_after(5), 6'000);
  EXPECT_EQ(idle_after(10), 8'000);
}

}  // namespace berth::state_before_test
