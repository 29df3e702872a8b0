#include "placement/uplink_loads.h"

#include <gtest/gtest.h>

#include <string>

#include "state/random_world.h"

namespace berth::uplink_loads_test {

Node node_in(const std::string& block, const std::string& rack) {
  return {.name = block + rack, .flavor = FlavorId(0), .gpus = 8, .labels = {{"block", block}, {"rack", rack}}};
}

// Two blocks of two racks of one node each; a pod of four GPUs on each of those that are named.
TEST(UplinkLoads, AreTheGpusOfGangsThatAreOnBothSides) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(NodesAdded{{node_in("x", "1"), node_in("x", "2"), node_in("y", "3"), node_in("y", "4")}});
  const auto at = [&](const std::string& name) {
    for (std::size_t i = 0; i < state.nodes(); ++i) {
      if (state.node(NodeId(i)).name == name) return NodeId(i);
    }
    return NodeId();
  };
  const auto start = [&](const std::vector<std::string>& names, std::uint64_t gpus, bool declares) {
    const auto pods = static_cast<std::int64_t>(names.size());
    PodSet set{.request = {.gpus = 4, .gpu_milli = kMilliPerGpu, .flavors = FlavorSet::of(FlavorId(0))}, .count = pods};
    if (declares) set.parallel = {4, 1, pods};
    const WorkloadId id = state.workloads().next_id();
    state.apply(submission(QueueId(0), {.ways = {{set}}}));
    Start made{.workload = id, .pods = {}};
    for (const std::string& name : names) made.pods.push_back({at(name), GpuSet::from_bits(gpus)});
    Plan plan{.now = Time{1000}, .revision = state.revision()};
    plan.starts.push_back(made);
    state.adopt(plan);
  };
  EXPECT_EQ(state.topologies().network(), nullptr) << "nobody has asked for one";
  EXPECT_EQ(UplinkLoads(state).gpus(1, 0), 0);
  start({"x1", "x2"}, 0x0f, true);
  const Network& network = *state.topologies().network();
  const auto load = [&](std::size_t level, const std::string& name) {
    return UplinkLoads(state).gpus(level, network.domain(level, at(name)));
  };
  ASSERT_EQ(network.levels(), 4u) << "cluster, block, rack, node";
  EXPECT_EQ(load(1, "x1"), 0) << "it stays in its block";
  EXPECT_EQ(load(2, "x1"), 4);
  EXPECT_EQ(load(2, "x2"), 4);
  EXPECT_EQ(load(2, "y3"), 0);
  start({"x1", "y3"}, 0xf0, true);
  EXPECT_EQ(load(1, "x1"), 4);
  EXPECT_EQ(load(1, "y3"), 4);
  EXPECT_EQ(load(2, "x1"), 8);
  EXPECT_EQ(load(3, "x1"), 8) << "a node has an uplink, too";
  start({"y3", "y4"}, 0x0f, false);
  EXPECT_EQ(load(2, "y4"), 0) << "who says nothing of his sizes is not counted";
  const UplinkLoads loads(state);
  EXPECT_EQ(loads.met_by(network, std::vector{at("y3"), at("y4")}), (UplinkLoads::Met{4, 8})) << "of y3: rack and node";
  EXPECT_EQ(loads.met_by(network, std::vector{at("x1"), at("x1")}), UplinkLoads::Met()) << "it leaves nothing";
  state.apply(WorkloadEnded{WorkloadId(1)});
  EXPECT_EQ(load(1, "x1"), 0);
  EXPECT_EQ(load(2, "x1"), 4);
}

}  // namespace berth::uplink_loads_test
