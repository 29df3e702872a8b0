// Whole GPUs that are asked by the memory that each of them must have.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "manifest/yaml.h"
#include "service/live_cluster.h"

namespace berth::live_needs_test {

using Names = std::set<std::string>;

NodeFacts with_memory(NodeFacts node, std::int64_t mib) {
  node.gpu_memory_mib = mib;
  return node;
}

PodFacts needs(const std::string& name, std::int32_t gpus, std::int64_t mib, const std::string& counted = "") {
  PodFacts facts = pod(name, gpus);
  facts.request.gpu_memory_mib = mib;
  facts.need_counted = counted;
  return facts;
}

std::string node_of(const Round& round) { return round.bindings.empty() ? "" : round.bindings.front().node; }

Cluster two_kinds() {
  Cluster cluster;
  cluster.add(with_memory(node("big", 8, "H100"), 81'559));
  cluster.add(with_memory(node("small", 4, "L40S"), 46'068));
  return cluster;
}

TEST(LiveNeeds, TheSmallestGpusThatSufficeAreTaken) {
  struct Case {
    PodFacts pod;
    const char* node;
  };
  const Case cases[] = {
      {needs("a", 1, 1), "small"}, {needs("a", 4, 46'068), "small"}, {needs("a", 1, 46'069), "big"},
      {needs("a", 5, 1), "big"},   {needs("a", 8, 81'559), "big"},   {needs("a", 1, 81'560), ""},
  };
  for (const Case& each : cases) {
    Cluster cluster = two_kinds();
    cluster.set(each.pod);
    EXPECT_EQ(node_of(cluster.decide(2)), each.node) << each.pod.request.gpu_memory_mib << " MiB";
    cluster.begin_anew();
    EXPECT_TRUE(cluster.decide(3).bindings.empty()) << "who runs keeps his place";
    EXPECT_TRUE(cluster.engine().pods_without_room().empty());
  }
}

TEST(LiveNeeds, WhoNeedsMoreThanThereIsIsToldBothNumbers) {
  Cluster cluster = two_kinds();
  cluster.set(needs("a", 2, 100'000));
  EXPECT_EQ(
      reason_of(cluster.decide(2), "a"),
      "GpuType: no node is known to have a GPU with 100,000 MiB of memory, as each of its GPUs needs; the largest "
      "has 81,559");
  cluster.set(needs("b", 2, 100'000, "195 GiB of weights on 2 GPUs"));
  EXPECT_EQ(reason_of(cluster.decide(3), "b"),
            "GpuType: no node is known to have a GPU with 100,000 MiB of memory, as each of its GPUs needs (195 GiB of "
            "weights on 2 GPUs); the largest has 81,559");
  Cluster unknown;
  unknown.add(node("n1"));
  unknown.set(needs("a", 1, 1));
  EXPECT_EQ(
      reason_of(unknown.decide(2), "a"),
      "GpuType: no node is known to have a GPU with 1 MiB of memory, as each of its GPUs needs; nodes say it by the "
      "label nvidia.com/gpu.memory");
}

TEST(LiveNeeds, ALargerNodeOfTheSameFlavorMakesItPossible) {
  Cluster cluster;
  FlavorFacts any;
  any.name = "any";
  cluster.engine().set_flavor(any);
  cluster.add(with_memory(node("n1", 8, "H100"), 81'559));
  cluster.set(needs("a", 1, 140'000));
  EXPECT_EQ(names_of(cluster.decide(2)), Names());
  cluster.add(with_memory(node("n2", 8, "H100"), 143'771));
  EXPECT_EQ(node_of(cluster.decide(3)), "n2");
}

// Of one flavor the nodes may differ: each is looked at.
TEST(LiveNeeds, GoToThoseNodesOfAFlavorThatHaveIt) {
  Cluster cluster;
  cluster.add(with_memory(node("n1", 2, "H100"), 81'559));
  cluster.add(with_memory(node("n2", 2, "H100"), 95'830));
  cluster.set(needs("a", 2, 90'000));
  EXPECT_EQ(node_of(cluster.decide(2)), "n2");
  cluster.set(needs("b", 1, 90'000));
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  cluster.gone("a");
  EXPECT_EQ(node_of(cluster.decide(4)), "n2");
}

TEST(LiveNeeds, WhoRunsStaysWhateverIsSaidOfItsNodeLater) {
  Cluster cluster;
  cluster.add(with_memory(node("n1"), 81'559));
  cluster.set(needs("a", 1, 60'000));
  EXPECT_EQ(node_of(cluster.decide(2)), "n1");
  cluster.add(with_memory(node("n1"), 40'000));
  cluster.decide(3);
  EXPECT_TRUE(cluster.engine().pods_without_room().empty());
}

TEST(LiveNeeds, AGangIsInOneFlavor) {
  Cluster cluster = two_kinds();
  for (const char* const name : {"a", "b"}) cluster.set(in_gang(needs(name, 4, 40'000), "g", 2));
  const Round round = cluster.decide(2);
  ASSERT_EQ(round.bindings.size(), 2u);
  for (const Binding& each : round.bindings) EXPECT_EQ(each.node, "big");
}

TEST(LiveNeeds, AreReadInAnnotations) {
  const auto read = [](const std::string& annotations, const std::string& limits) {
    return read_pod(parse_yaml("{metadata: {annotations: {" + annotations +
                               "}}, spec: {containers: [{resources: {requests: {" + limits + "}}}]}}")
                        .value()
                        .at(0));
  };
  const PodFacts memory = read("berth.dev/gpu-memory: 60Gi", "nvidia.com/gpu: '2'");
  EXPECT_EQ(memory.request.gpu_memory_mib, 60 << 10);
  EXPECT_TRUE(memory.needs_memory());
  EXPECT_FALSE(memory.asks_memory());
  EXPECT_EQ(memory.problem, "");
  const PodFacts model = read("berth.dev/model: 'parameters=70B,precision=bf16'", "nvidia.com/gpu: '2'");
  EXPECT_EQ(model.request.gpu_memory_mib, 66'758);
  EXPECT_EQ(model.need_counted, "130.4 GiB of weights on 2 GPUs");
  const PodFacts none = read("berth.dev/gpu-memory: 60Gi", "cpu: '2'");
  EXPECT_EQ(none.problem.substr(0, 34), "annotation berth.dev/gpu-memory: i");
  EXPECT_FALSE(none.needs_memory());
}

}  // namespace berth::live_needs_test
