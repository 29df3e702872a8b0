#include "cycle/explain.h"

#include <gtest/gtest.h>

#include "cycle/run_cycle.h"
#include "state/random_world.h"

namespace berth::explain_test {

PodRequest gpus(std::int32_t count, FlavorSet flavors = FlavorSet::all()) {
  return {.gpus = count, .gpu_milli = 1000, .flavors = flavors};
}

Node node(std::int32_t count, std::size_t flavor = 0) {
  return {.name = "",
          .flavor = count > 0 ? FlavorId(flavor) : FlavorId(),
          .gpus = count,
          .gpu_memory_mib = 0,
          .cpu_milli = 8000,
          .memory_bytes = 0};
}

const FlavorSet kFirst = FlavorSet::of(FlavorId(0));
const FlavorSet kSecond = FlavorSet::of(FlavorId(1));
const FlavorSet kThird = FlavorSet::of(FlavorId(2));

// All of `jobs` are submitted at once, in a line of the given order; the last is asked about.
struct Case {
  const char* what;
  std::vector<Node> nodes;
  Order order;
  std::vector<WorkloadShape> jobs;
  ReasonCode code;
  const char* text;
};

TEST(Explain, SaysWhyWithNumbers) {
  const Case cases[] = {
      {"it runs", {node(1)}, Order::kFifo, {single_pod(gpus(1))}, ReasonCode::kNone, ""},
      {"in use",
       {node(2), node(2), node(0)},
       Order::kFifo,
       {{{{{gpus(2), 2}}}}, single_pod(gpus(1))},
       ReasonCode::kCapacity,
       "no node has 1 GPU free (3 nodes: 2 have none free, 1 has no GPU)"},
      {"free in sum, not in shape",
       {node(4), node(4), node(0)},
       Order::kFifoSkip,
       {single_pod(gpus(3)), single_pod(gpus(2)), single_pod(gpus(3))},
       ReasonCode::kFragmented,
       "no node has 3 GPUs free (3 nodes: 2 have 2 or fewer free, 1 has no GPU)"},
      {"a gang with room for some",
       {node(2), node(2), node(2, 1)},
       Order::kFifo,
       {single_pod(gpus(2, kFirst)), {{{{gpus(1, kFirst), 4}}}}},
       ReasonCode::kCapacity,
       "room for 2 of 4 pods (3 nodes: 1 has room, 1 has other GPUs, 1 has none free)"},
      {"no such GPU",
       {node(2), node(2, 1), node(0)},
       Order::kFifo,
       {single_pod(gpus(1, kThird))},
       ReasonCode::kGpuType,
       "no node has A100-80GB GPUs (3 nodes: 2 have other GPUs, 1 has no GPU)"},
      {"more than any node has",
       {node(2), node(4)},
       Order::kFifo,
       {single_pod(gpus(8))},
       ReasonCode::kInvalid,
       "no node has 8 GPUs free (2 nodes: each has 4 or fewer free); never: not even with all nodes idle"},
      {"more pods than the fleet holds",
       {node(2), node(4)},
       Order::kFifo,
       {{{{{gpus(1), 7}}}}},
       ReasonCode::kInvalid,
       "room for 6 of 7 pods (2 nodes: each has room); never: with all nodes idle there is room for 6 of 7 pods"},
      {"a head without GPUs, and more workers than the fleet holds",
       {node(2), node(4)},
       Order::kFifo,
       {{{{{{.cpu_milli = 1000}, 1}, {gpus(1), 7}}}}},
       ReasonCode::kInvalid,
       "room for 7 of 8 pods (2 nodes: each has room); never: with all nodes idle there is room for 7 of 8 pods"},
      {"behind a blocked head, though it would fit",
       {node(2)},
       Order::kFifo,
       {single_pod(gpus(1)), single_pod(gpus(2)), single_pod(gpus(1))},
       ReasonCode::kBehind,
       "there is room, it waits for its turn (the only node has room)"},
      {"not behind one of another flavor",
       {node(2), node(2, 1)},
       Order::kFifo,
       {single_pod(gpus(1, kFirst)), single_pod(gpus(2, kFirst)), single_pod(gpus(2, kSecond)),
        single_pod(gpus(2, kSecond))},
       ReasonCode::kCapacity,
       "no node has 2 A30 GPUs free (2 nodes: 1 has other GPUs, 1 has none free)"},
      {"not behind the impossible",
       {node(2)},
       Order::kFifo,
       {single_pod(gpus(8)), single_pod(gpus(2)), single_pod(gpus(1))},
       ReasonCode::kCapacity,
       "no node has 1 GPU free (the only one has none free)"},
      {"any of its ways",
       {node(2), node(2, 1), node(4, 2)},
       Order::kFifo,
       {single_pod(gpus(2, kFirst)), single_pod(gpus(1, kSecond)), {{{{gpus(2, kFirst), 1}}, {{gpus(2, kSecond), 1}}}}},
       ReasonCode::kCapacity,
       "no node has 2 A100-80GB or A30 GPUs free (3 nodes: 2 have 1 or none free, 1 has other GPUs)"},
      {"thousands are told apart",
       std::vector<Node>(1523, node(0)),
       Order::kFifo,
       {single_pod(gpus(1))},
       ReasonCode::kGpuType,
       "no node has GPUs (1,523 nodes: each has no GPU)"},
  };
  for (const Case& c : cases) {
    Engine engine{new_state(Seed{1}, PlacementPolicy::kSpread, 3, {c.order})};
    for (const Node& one : c.nodes) engine.state.apply(NodesAdded{{one}});
    for (const WorkloadShape& shape : c.jobs) engine.state.apply(submission(QueueId(0), shape));
    engine.state.adopt(run_cycle(engine, Time{1}, Effort::unbounded()));
    const Explanation explanation = explain(engine.state, WorkloadId(c.jobs.size() - 1));
    EXPECT_EQ(name_of(explanation.code), name_of(c.code)) << c.what;
    EXPECT_EQ(explanation.text, c.text) << c.what;
  }
}

TEST(Explain, OfWhoHasNotBeenTriedSaysWhatIsInItsWayIfSomethingIs) {
  State state = new_state(Seed{1}, PlacementPolicy::kSpread, 1, {Order::kFifo});
  state.apply(submission(QueueId(0), single_pod(gpus(1))));
  EXPECT_EQ(reason_of(state, WorkloadId(0)), ReasonCode::kGpuType);
  EXPECT_EQ(explain(state, WorkloadId(0)).text, "there are no nodes");
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 1, .cpu_milli = 64'000}}});
  EXPECT_EQ(reason_of(state, WorkloadId(0)), ReasonCode::kNone);
  EXPECT_EQ(explain(state, WorkloadId(0)).text, "");
}

TEST(AheadOf, NamesThoseBeforeItInItsOwnLine) {
  State state = new_state(Seed{1}, PlacementPolicy::kSpread, 1, {Order::kFifo, Order::kSjf});
  const std::int64_t runs[] = {5, 3, 4, 3};
  for (const std::int64_t run : runs) {
    state.apply(submission(QueueId(0), single_pod(gpus(1)), seconds(run)));
    state.apply(submission(QueueId(1), single_pod(gpus(1)), seconds(run)));
  }
  using Workloads = std::vector<WorkloadId>;
  EXPECT_EQ(ahead_of(state, WorkloadId(4)), (Workloads{WorkloadId(0), WorkloadId(2)}));
  EXPECT_EQ(ahead_of(state, WorkloadId(5)), (Workloads{WorkloadId(3), WorkloadId(7)}));
  EXPECT_EQ(ahead_of(state, WorkloadId(0)), Workloads());
}

TEST(WithSeparators, GroupsDigitsByThree) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0"},          {999, "999"},   {1000, "1,000"}, {1523, "1,523"}, {1'234'567, "1,234,567"},
      {-1000, "-1,000"}, {-100, "-100"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(with_separators(value), text);
}

}  // namespace berth::explain_test
