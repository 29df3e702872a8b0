#include "state/invariants.h"

#include <gtest/gtest.h>

#include "state/random_world.h"

namespace berth::invariants_test {

using Sentences = std::vector<std::string>;

const PodRequest kOneGpu{.cpu_milli = 1000, .memory_bytes = 1, .gpus = 1, .gpu_milli = 1000};

// Two nodes of two GPUs, one without; a gang of three GPUs that runs and one pod that waits.
State busy_state() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  const Node node{
      .name = "", .flavor = FlavorId(0), .gpus = 2, .gpu_memory_mib = 100, .cpu_milli = 8000, .memory_bytes = 64};
  const Node without{.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 8000, .memory_bytes = 64};
  state.apply(NodesAdded{{node, node}});
  state.apply(NodesAdded{{without}});
  state.apply(submission(QueueId(0), {{{{kOneGpu, 3}}}}));
  state.apply(submission(QueueId(0), {{{{kOneGpu, 2}}}}));
  GpuSet first;
  first.add(0);
  GpuSet second;
  second.add(1);
  Plan plan;
  plan.revision = state.revision();
  plan.starts.push_back({WorkloadId(0), 0, {{NodeId(0), first}, {NodeId(0), second}, {NodeId(1), second}}});
  plan.blocked.push_back({QueueId(0), ShapeId(1), 1});
  state.adopt(plan);
  return state;
}

TEST(Violations, AreNoneInASoundState) {
  EXPECT_EQ(violations(State()), Sentences());
  EXPECT_EQ(violations(busy_state()), Sentences());
}

// The ledger is the only part that can be reached from outside.
TEST(Violations, TellACorruptLedger) {
  struct Case {
    const char* corruption;
    void (*corrupt)(Ledger& ledger);
    const char* sentence;
  };
  const Case cases[] = {
      {"a move that was not taken back",
       [](Ledger& ledger) { ledger.apply({.request = kOneGpu, .node = NodeId(1), .gpus = GpuSet::from_bits(1)}); },
       "free capacity is not what the nodes have less what the pods hold"},
      {"room given back that a pod still holds",
       [](Ledger& ledger) {
         ledger.apply({.request = kOneGpu,
                       .node = NodeId(0),
                       .gpus = GpuSet::from_bits(1),
                       .direction = Move::Direction::kGive});
       },
       "free capacity is not what the nodes have less what the pods hold"},
      {"a thousandth of processor and nothing else",
       [](Ledger& ledger) { ledger.apply({.request = {.cpu_milli = 1}, .node = NodeId(2), .gpus = {}}); },
       "free capacity is not what the nodes have less what the pods hold"},
      {"a pod without any request",
       [](Ledger& ledger) { ledger.apply({.request = {}, .node = NodeId(2), .gpus = {}}); },
       "free capacity is not what the nodes have less what the pods hold"},
      {"a node that nobody added", [](Ledger& ledger) { ledger.add({}); },
       "the ledger has not the nodes that the fleet has"},
  };
  for (const Case& c : cases) {
    State state = busy_state();
    c.corrupt(state.ledger_for_trial());
    EXPECT_EQ(violations(state), Sentences{c.sentence}) << c.corruption;
  }
}

// adopt() believes a plan; what a wrong one does must not go unnoticed.
TEST(Violations, TellAPodOnTheWrongNode) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  state.apply(NodesAdded{
      {{.name = "", .flavor = FlavorId(1), .gpus = 1, .gpu_memory_mib = 100, .cpu_milli = 8000, .memory_bytes = 64}}});
  PodRequest request = kOneGpu;
  request.flavors = FlavorSet::of(FlavorId(0));
  state.apply(submission(QueueId(0), single_pod(request)));
  Plan plan;
  plan.revision = state.revision();
  plan.starts.push_back({WorkloadId(0), 0, {{NodeId(0), GpuSet::from_bits(1)}}});
  state.adopt(plan);
  EXPECT_EQ(violations(state), Sentences{"pod 0 is on a node or on GPUs that its request does not allow"});
}

}  // namespace berth::invariants_test
