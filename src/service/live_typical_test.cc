// What a LiveEngine learns of what is usually asked for, and what comes of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "service/live_cluster.h"

namespace berth::live_typical_test {

PodFacts with_cpus(PodFacts pod, std::int64_t cpu_milli) {
  pod.request.cpu_milli = cpu_milli;
  return pod;
}

std::vector<TypicalPod> learned_from(const std::vector<PodFacts>& pods,
                                     PlacementPolicy policy = PlacementPolicy::kFgdBalanced) {
  Cluster cluster(Scrubs::kNone, policy);
  cluster.add(shared(node("n1", 2, "A100"), Sharing::kExclusive));
  cluster.add(shared(node("n2", 8), Sharing::kExclusive));
  cluster.add(cut(node("n3", 1)));
  for (const PodFacts& each : pods) cluster.set(each);
  cluster.decide(10);
  return cluster.engine().state().typical_pods();
}

TypicalPod typical(std::int32_t gpus, std::int32_t gpu_milli, FlavorSet flavors = FlavorSet::first(2)) {
  return {.cpu_milli = 0, .gpus = gpus, .gpu_milli = gpu_milli, .flavors = flavors, .weight = 4096};
}

// By name: A100 before H100.
TEST(LiveTypicalPods, AreOfPodsThatMayBePlacedAndOfNoOthers) {
  PodFacts running = pod("running", 2), ended = pod("ended", 2), gated = pod("gated", 2), daemon = pod("daemon", 2);
  running.stage = PodStage::kBound;
  running.node = "n2";
  ended.stage = PodStage::kSucceeded;
  gated.stage = PodStage::kGated;
  daemon.owner = {"apps/v1", "DaemonSet", "d", "uid-of-d"};
  PodFacts asks_too_much = pod("asks-too-much", 2), of_one_model = pod("of-one-model", 1);
  asks_too_much.problem = "it asks for resourceClaims";
  of_one_model.gpu_models = {"A100"};
  struct Case {
    const char* name;
    PodFacts pod;
    std::vector<TypicalPod> learned;
  };
  const Case cases[] = {
      {"who waits", pod("waits", 2), {typical(2, 1000)}},
      {"who runs", running, {typical(2, 1000)}},
      {"who has ended, and is still there", ended, {typical(2, 1000)}},
      {"a part", part("part", 501), {typical(1, 501)}},
      {"a part by memory", part("by-memory", 0, 20'000), {typical(1, 250)}},
      {"without GPUs", with_cpus(pod("cpus", 0), 1001), {{1001, 0, 0, FlavorSet::all(), 4096}}},
      {"of one model", of_one_model, {typical(1, 1000, FlavorSet::of(FlavorId(0)))}},
      {"who is not let in yet", gated, {}},
      {"who is of his node", daemon, {}},
      {"what is not followed", asks_too_much, {}},
      {"a slice", slice("slice", "1g.10gb"), {}},
      {"a share", share("share", 250), {}},
      {"a model that no node has",
       [] {
         PodFacts facts = pod("b200", 1);
         facts.gpu_models = {"B200"};
         return facts;
       }(),
       {}},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(learned_from({each.pod}), each.learned) << each.name;
    EXPECT_TRUE(learned_from({each.pod}, PlacementPolicy::kBestFit).empty()) << each.name;
  }
}

TEST(LiveTypicalPods, AreMadeAnewWhenWhatIsAskedHasChangedEnough) {
  Cluster cluster(Scrubs::kNone, PlacementPolicy::kFgdBalanced);
  cluster.add(node("n1", 8));
  for (int i = 0; i < 10; ++i) cluster.set(pod("w" + std::to_string(i), 8));
  cluster.decide(10);
  const std::uint64_t version = cluster.engine().state().typical_pods_version();
  cluster.set(pod("w10", 8));
  cluster.gone("w3");
  cluster.decide(11);
  EXPECT_EQ(cluster.engine().state().typical_pods_version(), version) << "one more of the same kind says nothing new";
  for (int i = 0; i < 5; ++i) cluster.set(pod("s" + std::to_string(i), 1));
  cluster.decide(12);
  EXPECT_EQ(cluster.engine().state().typical_pods_version(), version + 1);
  ASSERT_EQ(cluster.engine().state().typical_pods().size(), 2u);
  EXPECT_EQ(cluster.engine().state().typical_pods()[1].weight, 2048);
  for (int i = 0; i < 5; ++i) cluster.gone("s" + std::to_string(i));
  cluster.decide(13);
  EXPECT_EQ(cluster.engine().state().typical_pods().size(), 1u) << "they are gone, and nobody remembers them";
}

// In its new life flavors have other numbers.
TEST(LiveTypicalPods, AreLearnedAnewWithAnotherKindOfNodes) {
  Cluster cluster(Scrubs::kNone, PlacementPolicy::kFgdBalanced);
  cluster.add(node("n2", 8));
  PodFacts h100 = pod("p", 1);
  h100.gpu_models = {"H100"};
  cluster.set(h100);
  cluster.decide(10);
  cluster.add(node("n1", 8, "A100"));
  cluster.decide(11);
  ASSERT_EQ(cluster.engine().state().typical_pods().size(), 1u);
  const FlavorId flavor = *cluster.engine().flavor_named("h100");
  EXPECT_EQ(flavor, FlavorId(1));
  EXPECT_EQ(cluster.engine().state().typical_pods()[0].flavors, FlavorSet::of(flavor));
}

// Both nodes have room for one more GPU; the one has CPUs for all of its GPUs after it, the other would strand three. Best-fit
// looks for the fullest.
TEST(LiveTypicalPods, DecideWhereAPodGoes) {
  const auto node_of_next = [](PlacementPolicy policy) {
    Cluster cluster(Scrubs::kNone, policy);
    NodeFacts few_cpus = node("few-cpus", 4), many_cpus = node("many-cpus", 8);
    few_cpus.cpu_milli = 16'000;
    many_cpus.cpu_milli = 128'000;
    cluster.add(few_cpus);
    cluster.add(many_cpus);
    for (int i = 0; i < 20; ++i) {
      PodFacts ended = with_cpus(pod("e" + std::to_string(i), 1), 4'000);
      ended.stage = PodStage::kSucceeded;
      cluster.set(ended);
    }
    cluster.set(with_cpus(pod("next", 1), 8'000));
    const Round round = cluster.decide(10);
    return round.bindings.empty() ? "" : round.bindings.front().node;
  };
  EXPECT_EQ(node_of_next(PlacementPolicy::kBestFit), "few-cpus");
  EXPECT_EQ(node_of_next(PlacementPolicy::kFgdBalanced), "many-cpus");
}

}  // namespace berth::live_typical_test
