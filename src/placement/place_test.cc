#include "placement/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "state/random_world.h"
#include "state/room.h"

namespace berth::place_test {

const PodRequest kOneGpu{.gpus = 1, .gpu_milli = 1000};

PodRequest of_flavor(PodRequest request, std::size_t flavor) {
  request.flavors = FlavorSet::of(FlavorId(flavor));
  return request;
}

// Nodes with so many GPUs each, all of the flavor given.
State with_nodes(std::vector<std::pair<std::int32_t, std::size_t>> nodes) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  for (const auto& [gpus, flavor] : nodes) {
    state.apply(
        NodesAdded{{{.name = "", .flavor = FlavorId(flavor), .gpus = gpus, .gpu_memory_mib = 0, .cpu_milli = 8000}}});
  }
  return state;
}

struct Case {
  const char* what;
  std::vector<std::pair<std::int32_t, std::size_t>> nodes;
  WorkloadShape shape;
  std::int64_t missing;  // 0: it starts
  std::uint32_t way;
};

TEST(PlaceWorkload, IsAllOrNothingInTheFirstWayThatFits) {
  const PodRequest first = of_flavor(kOneGpu, 0);
  const PodRequest second = of_flavor(kOneGpu, 1);
  const Case cases[] = {
      {"exactly fits", {{2, 0}, {1, 0}}, {{{{kOneGpu, 3}}}}, 0, 0},
      {"one GPU short", {{2, 0}, {1, 0}}, {{{{kOneGpu, 4}}}}, 1, 0},
      {"three short", {{2, 0}}, {{{{kOneGpu, 5}}}}, 3, 0},
      {"fractions share a GPU", {{1, 0}}, {{{{{.gpus = 1, .gpu_milli = 500}, 2}}}}, 0, 0},
      {"both ways fit", {{2, 0}, {2, 1}}, {{{{first, 2}}, {{second, 2}}}}, 0, 0},
      {"the second way fits", {{1, 0}, {2, 1}}, {{{{first, 2}}, {{second, 2}}}}, 0, 1},
      {"ways are not mixed", {{1, 0}, {1, 1}}, {{{{first, 2}}, {{second, 2}}}}, 1, 0},
      {"the nearest way counts", {{1, 0}, {3, 1}}, {{{{first, 4}}, {{second, 4}}}}, 1, 0},
      {"two pod sets", {{2, 0}, {1, 1}}, {{{{first, 2}, {second, 1}}}}, 0, 0},
      {"the second set is short", {{2, 0}, {1, 1}}, {{{{first, 2}, {second, 5}}}}, 1, 0},
      {"no nodes", {}, {{{{kOneGpu, 2}}}}, 2, 0},
  };
  for (const Case& c : cases) {
    State state = with_nodes(c.nodes);
    state.apply(submission(QueueId(0), c.shape));
    const Ledger before = state.ledger();
    {
      Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
      ScoreIndex index;
      const auto outcome = place_workload(state, trial, index, WorkloadId(0), Rng(Seed{1}));
      if (const Start* const start = std::get_if<Start>(&outcome)) {
        EXPECT_EQ(c.missing, 0) << c.what;
        EXPECT_EQ(start->way, c.way) << c.what;
        EXPECT_EQ(start->workload, WorkloadId(0)) << c.what;
        EXPECT_EQ(static_cast<std::int64_t>(start->pods.size()), state.shape(ShapeId(0)).pods) << c.what;
        EXPECT_FALSE(state.ledger().same_as(before)) << c.what;
      } else {
        EXPECT_EQ(std::get<Unfit>(outcome).missing, c.missing) << c.what;
        EXPECT_TRUE(state.ledger().same_as(before)) << c.what;
      }
    }
    EXPECT_TRUE(state.ledger().same_as(before)) << c.what;
  }
}

// By counting room alone, without placing anything.
std::int64_t missing_by_room(const State& state, const Shape& shape) {
  std::int64_t least = INT64_MAX;
  for (const auto& way : shape.ways) {
    std::int64_t room = 0;
    for (std::size_t node = 0; node < state.nodes(); ++node) {
      room += std::min(room_for(state.ledger(), NodeId(node), state.request(way[0].request)), way[0].count);
    }
    least = std::min(least, std::max<std::int64_t>(way[0].count - room, 0));
  }
  return least;
}

TEST(PlaceWorkloadProperty, OfOnePodSetItStartsExactlyWhenThereIsRoomAndElseSaysHowMuchIsMissing) {
  for (const Seed seed : property_seeds(1000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto policy = static_cast<PlacementPolicy>(rng.below(std::size(kPlacementPolicyNames)));
    State state = new_state(seed, policy, 2, {Order::kFifo});
    state.apply(NodesAdded{random_nodes(rng, 2, 0, 8)});
    state.apply(TypicalPodsChosen{random_typical_pods(rng, 2)});
    crowd(state.ledger_for_trial(), rng, 2, 30);
    WorkloadShape shape = random_shape(rng, 2);
    const PodSet first = shape.ways.front().front();
    const Parallelism parallel = first.topology.asks_nothing() ? first.parallel : Parallelism();
    for (PodSets& way : shape.ways) way = {{way.front().request, first.count, first.constraints, {}, {}, parallel}};
    state.apply(submission(QueueId(0), shape));
    const Ledger before = state.ledger();
    const std::int64_t missing = missing_by_room(state, state.shape(state.workload(WorkloadId(0)).shape));
    {
      Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
      ScoreIndex index;
      const auto outcome = place_workload(state, trial, index, WorkloadId(0), Rng(seed));
      const Unfit* const unfit = std::get_if<Unfit>(&outcome);
      ASSERT_EQ(unfit == nullptr ? 0 : unfit->missing, missing);
      ASSERT_TRUE(unfit == nullptr || state.ledger().same_as(before)) << "a trial that failed leaves nothing";
    }
    ASSERT_TRUE(state.ledger().same_as(before));
  }
}

// Workers that are in one rack, by their topology or since they are to be near each other, and others who are near them.
WorkloadShape workers_and_helpers(Rng& rng) {
  const PodTerm near_workers{.pods = {.labels = {{.key = "role", .values = {"worker"}}}}, .level = "rack"};
  PodSet workers{.request = kOneGpu, .count = rng.between(1, 4)};
  workers.neighbours = {.name_space = "default", .labels = {{"role", "worker"}}};
  if (rng.below(2) == 0) {
    workers.topology = {.together = Togetherness::kRequired, .level = "rack"};
  } else {
    workers.neighbours.near = {near_workers};
  }
  PodSet helpers{.request = kOneGpu, .count = rng.between(1, 2)};
  helpers.neighbours = {.name_space = "default", .near = {near_workers}};
  if (rng.below(2) == 0) std::swap(workers, helpers);
  return {{{workers, helpers}}};
}

TEST(PlaceWorkloadProperty, OfSetsThatAreNearEachOtherItStartsExactlyWhenOneRackHasRoomForAll) {
  int waited = 0;
  int not_in_the_tightest = 0;
  for (const Seed seed : property_seeds(1000)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    State state = new_state(seed, PlacementPolicy::kBestFit, 1, {Order::kFifo});
    std::map<std::string, std::int64_t> room;  // by rack
    std::vector<Node> nodes(static_cast<std::size_t>(rng.between(1, 9)));
    for (Node& node : nodes) {
      const std::string rack = "r" + std::to_string(rng.below(4));
      node.flavor = FlavorId(0);
      node.gpus = static_cast<std::int32_t>(rng.between(1, 3));
      node.cpu_milli = 8000;
      node.labels = {{"rack", rack}};
      room[rack] += node.gpus;
    }
    state.apply(NodesAdded{nodes});
    const WorkloadShape shape = workers_and_helpers(rng);
    state.apply(submission(QueueId(0), shape));
    const std::int64_t pods = shape.ways.front()[0].count + shape.ways.front()[1].count;
    const bool fits = std::ranges::any_of(room, [&](const auto& rack) { return rack.second >= pods; });
    Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
    ScoreIndex index;
    const auto outcome = place_workload(state, trial, index, WorkloadId(0), Rng(seed));
    ASSERT_EQ(std::holds_alternative<Start>(outcome), fits);
    waited += fits ? 0 : 1;
    const auto is_too_tight = [&](const auto& rack) { return rack.second >= pods - 1 && rack.second < pods; };
    not_in_the_tightest += fits && std::ranges::any_of(room, is_too_tight) ? 1 : 0;
  }
  EXPECT_GT(waited, 0);
  EXPECT_GT(not_in_the_tightest, 0);
}

}  // namespace berth::place_test
