#include "fairness/who_is_next.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "fairness/order.h"
#include "state/random_world.h"

namespace berth::who_is_next_test {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);

WorkloadShape gpus(std::int64_t count, std::int32_t priority = 0) {
  WorkloadShape shape = single_pod({.gpus = static_cast<std::int32_t>(count), .gpu_milli = kMilliPerGpu});
  shape.terms.priority = priority;
  return shape;
}

void start(State& state, QueueId queue, WorkloadShape shape, std::size_t node, int first_gpu) {
  GpuSet taken;
  for (int gpu = 0; gpu < shape.ways[0][0].request.gpus; ++gpu) taken.add(first_gpu + gpu);
  WorkloadFound found{.workload = submission(queue, std::move(shape)), .pods = {{NodeId(node), taken}}, .started = {}};
  state.apply(found);
}

// Two nodes of 8 GPUs; "owner" was promised 8 of the 16, "poor" and "rich" nothing.
State three_queues(Order order = Order::kFifo) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  const Quota eight{.guarantee = {{kGpu, 8 * kMilliPerGpu}}};
  state.apply(QueueAdded{{.name = "owner", .parent = {}, .order = order, .quota = eight}});
  state.apply(QueueAdded{{.name = "poor", .parent = {}, .order = order, .quota = {}}});
  state.apply(QueueAdded{{.name = "rich", .parent = {}, .order = order, .quota = {}}});
  for (int i = 0; i < 2; ++i) {
    state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 8, .cpu_milli = 1000, .memory_bytes = 1}}});
  }
  return state;
}

TEST(WhoIsNext, FloorsGoFirstThenTheSmallerShareAfterwards) {
  State state = three_queues();
  start(state, QueueId(2), gpus(4), 0, 0);
  start(state, QueueId(0), gpus(2), 0, 4);
  for (const std::size_t queue : {2u, 1u, 0u}) state.apply(submission(QueueId(queue), gpus(4)));
  const WhoIsNext who(state, Time{});
  const std::vector<NamedChild>& top = who.below(QueueId());
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(top[0].child, QueueId(0));
  EXPECT_FALSE(top[0].rank.outside);
  EXPECT_TRUE(top[0].rank.fraction == Fraction(2, 8)) << "what it uses of its floor";
  EXPECT_EQ(top[1].child, QueueId(1));
  EXPECT_TRUE(top[1].rank.fraction == Fraction(4, 16));
  EXPECT_EQ(top[2].child, QueueId(2));
  EXPECT_TRUE(top[2].rank.outside && top[2].rank.fraction == Fraction(8, 16));
}

TEST(WhoIsNext, TheFirstOfALineStandAsItsOrderSaysAndNoneWhoCanNeverRun) {
  State state = three_queues();
  state.apply(submission(QueueId(1), gpus(4)));
  state.apply(submission(QueueId(1), gpus(1)));
  state.apply(submission(QueueId(1), gpus(4, 5)));
  state.apply(submission(QueueId(1), gpus(4)));
  EXPECT_EQ(first_in_line(state, QueueId(1), 3),
            (std::vector<WorkloadId>{WorkloadId(2), WorkloadId(0), WorkloadId(1)}));
  EXPECT_EQ(first_in_line(state, QueueId(1), 9).size(), 4U);
  EXPECT_TRUE(first_in_line(state, QueueId(0), 9).empty());
  const ShapeId one = state.workload(WorkloadId(1)).shape;
  state.adopt({.now = Time{1},
               .revision = state.revision(),
               .blocked = {{.line = QueueId(1), .shape = one, .missing = kMissingForever}}});
  EXPECT_EQ(first_in_line(state, QueueId(1), 3),
            (std::vector<WorkloadId>{WorkloadId(2), WorkloadId(0), WorkloadId(3)}));
}

// What waits at the inner queue itself stands beside its children, and has no past.
TEST(WhoIsNext, IsWhomTheNextCycleTriesFirst) {
  for (const Seed seed : property_seeds(1000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    State state = new_state(seed, PlacementPolicy::kBestFit, 1, {});
    const auto queues = static_cast<std::size_t>(rng.between(1, 6));
    for (std::size_t i = 0; i < queues; ++i) {
      Quota quota{.weight_milli = one_of<std::int64_t>(rng, {500, 1000, 1000, 2000})};
      if (rng.below(2) == 0) quota.guarantee = {{kGpu, rng.between(0, 8) * kMilliPerGpu}};
      if (rng.below(3) == 0) quota.half_life = Duration{3'600'000};
      const QueueId parent = i == 0 || rng.below(2) == 0 ? QueueId() : QueueId(rng.below(i));
      const Order order = one_of(rng, {Order::kFifo, Order::kFifoSkip});
      state.apply(QueueAdded{{.name = "q", .parent = parent, .order = order, .quota = std::move(quota)}});
    }
    for (std::size_t i = 0; i < queues; ++i) {
      state.apply(PastUseFound{QueueId(i), Time{}, {{kGpu, rng.between(1, 16) * kMilliPerGpu}}});
    }
    for (int i = 0; i < 3; ++i) {
      state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 8, .cpu_milli = 1000, .memory_bytes = 1}}});
    }
    for (std::size_t node = 0; node < 3; ++node) {
      for (int gpu = 0; gpu < 8; gpu += 4) {
        const QueueId queue(rng.below(queues));
        if (rng.below(2) == 0) start(state, queue, gpus(rng.between(1, 4)), node, gpu);
      }
    }
    for (std::int64_t left = rng.between(0, 8); left > 0; --left) {
      const QueueId queue(rng.below(queues));
      const int high = rng.below(2) == 0 ? 1 : 0;
      state.apply(submission(queue, gpus(rng.between(1, 8), high)));
    }
    const WhoIsNext who(state, Time{});
    const auto next = CandidateOrder(state, Time{}).next();
    ASSERT_EQ(next.has_value(), !who.below(QueueId()).empty());
    if (next) {
      ASSERT_EQ(who.below(QueueId()).front().candidate.workload, *next);
    }
  }
}

}  // namespace berth::who_is_next_test
