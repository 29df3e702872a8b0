#include "cycle/moving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/defragment.h"
#include "cycle/pieces.h"
#include "cycle/run_cycle.h"
#include "placement/place.h"
#include "state/fragments.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::moving_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 300 : 5'000;

// Every single move, tried: where one is enough, somebody is moved.
TEST(MovingProperty, WhereOneMoveIsEnoughSomebodyIsMoved) {
  std::int64_t moved = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Pieces pieces(seed);
    const WorkloadId claimant = pieces.submit(pods_of(one_of(pieces.rng(), {4, 8})));
    std::vector<WorkloadId> running = pieces.all_running();
    const bool one_is_enough =
        std::ranges::any_of(running, [&](WorkloadId mover) { return pieces.does(mover, claimant); });
    State& state = pieces.state();
    const Plan plan = run_cycle(pieces.engine(), kNow, Effort::unbounded());
    for (const Migration& each : plan.migrations) {
      EXPECT_TRUE(state.shape(state.workload(each.start.workload).shape).terms.movable);
      EXPECT_EQ(each.claimant, claimant);
    }
    state.adopt(plan);
    ASSERT_EQ(violations(state), std::vector<std::string>());
    const bool starts = state.workload(claimant).phase == Phase::kRunning;
    EXPECT_TRUE(starts || plan.migrations.empty());
    EXPECT_TRUE(starts || !one_is_enough);
    for (const WorkloadId id : running) EXPECT_EQ(state.workload(id).phase, Phase::kRunning);
    moved += std::ssize(plan.migrations);
    if (HasFailure()) return;
  }
  EXPECT_GE(moved, static_cast<std::int64_t>(property_seeds(kSeeds).size() / 20));
}

TEST(MovingProperty, APlanForNobodysSakeKeepsItsPromise) {
  std::int64_t made_room = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Pieces pieces(seed, 8);
    State& state = pieces.state();
    const std::uint64_t hash = state.hash();
    const DefragmentOptions options{.gpus = one_of(pieces.rng(), {2, 4, 8})};
    const Defragmentation made = plan_defragmentation(state, kNow, options);
    EXPECT_EQ(state.hash(), hash) << "only shown";
    EXPECT_EQ(made.pods_before, pods_that_fit(state, options.gpus));
    const std::vector<WorkloadId> running = pieces.all_running();
    if (!made.plan.migrations.empty()) {
      EXPECT_LT(made.lost_gpu_s, made.unlocked_gpu_s);
      for (const Migration& each : made.plan.migrations) {
        EXPECT_TRUE(state.shape(state.workload(each.start.workload).shape).terms.movable);
      }
      state.adopt(made.plan);
    }
    ASSERT_EQ(violations(state), std::vector<std::string>());
    EXPECT_EQ(pods_that_fit(state, options.gpus), made.pods_after);
    EXPECT_LE(made.pods_before, made.pods_after);
    EXPECT_LE(made.pods_after, made.pods_ideal);
    for (const WorkloadId id : running) EXPECT_EQ(state.workload(id).phase, Phase::kRunning);
    made_room += made.pods_after - made.pods_before;
    if (HasFailure()) return;
  }
  EXPECT_GE(made_room, static_cast<std::int64_t>(property_seeds(kSeeds).size() / 20));
}

// What is not in the way of anybody: who consents, and who does not.
TEST(MayBeMoved, IsSaidOfEachByItself) {
  struct Case {
    const char* what;
    Terms terms;
    std::int64_t ran_s;
    bool may;
  };
  const Case cases[] = {
      {"who consents", {.movable = true}, 600, true},
      {"who does not", {}, 600, false},
      {"who has a disruption budget", {.movable = true, .disruption_permille = 1}, 600, false},
      {"who has just begun", {.movable = true}, 0, true},
      {"whose run limit ends him before he has stopped",
       {.movable = true, .grace = seconds(60), .run_limit = seconds(660)},
       600,
       false},
      {"whose run limit does not", {.movable = true, .grace = seconds(60), .run_limit = seconds(661)}, 600, true},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Engine engine;
    engine.state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
    engine.state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 8}}});
    WorkloadShape shape = pods_of(1);
    shape.terms = each.terms;
    engine.state.apply(submission(QueueId(0), shape));
    engine.state.adopt(run_cycle(engine, kStart, Effort::unbounded()));
    EXPECT_EQ(may_be_moved(engine.state, WorkloadId(0), kStart + seconds(each.ran_s)), each.may);
  }
}

// Two flavors, a node that takes no work, and GPUs that are shared in another way.
TEST(Fragments, CountWhatStillFits) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "a", .flavor = FlavorId(0), .gpus = 8},
                          {.name = "b", .flavor = FlavorId(0), .gpus = 4},
                          {.name = "c", .flavor = FlavorId(1), .gpus = 2, .sharing = Sharing::kMig}}});
  EXPECT_EQ(pods_that_fit(state, 4), 3);
  EXPECT_EQ(pods_that_fit(state, 8), 1);
  EXPECT_EQ(pods_that_could_fit(state, 8), 1);
  EXPECT_EQ(pods_that_could_fit(state, 6), 1) << "twelve are free, and no node of four ever holds six";
  const std::vector<Fragments> found = fragments_of(state);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].free_milli, 12'000);
  EXPECT_EQ(found[0].node_gpus, 8);
  ASSERT_EQ(found[0].sizes.size(), 4u);
  EXPECT_EQ(found[0].sizes[3].pods, 1);
  EXPECT_EQ(found[0].fragmented_permille, 333);
  EXPECT_TRUE(found[0].slices.empty());
  EXPECT_TRUE(found[1].sizes.empty());
  ASSERT_FALSE(found[1].slices.empty());
  EXPECT_EQ(found[1].slices.front().count, 8) << "of the smallest, four on each";
  std::size_t closed = state.node(NodeId(0)).gpus == 8 ? 0 : state.node(NodeId(1)).gpus == 8 ? 1 : 2;
  state.apply(NodeDrained{NodeId(closed)});
  EXPECT_EQ(pods_that_fit(state, 4), 1);
}

}  // namespace berth::moving_test
