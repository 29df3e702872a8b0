// Parts of GPUs of a live cluster, by agreement, by MPS and in turns: who gets which, what is written on pods, and what is
// found again.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manifest/given_gpus.h"
#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_sharing_test {

// By pod, as its annotation says it.
std::map<std::string, std::string> given_in(const Round& round) {
  std::map<std::string, std::string> given;
  for (const Binding& binding : round.bindings) given[binding.pod.name] = format_given_gpus(binding.given);
  return given;
}

using Given = std::map<std::string, std::string>;

// By the name of a resource, as the Workload that was told last says it.
std::string requests_in(const Round& round) {
  const auto object = parse_json(workload_creation_call(round.workloads.back()).body);
  return to_json((*object)["spec"]["podSets"].items()[0]["requests"]);
}

TEST(LiveSharing, PartsByAgreementAddUpToOneGpu) {
  Cluster cluster;
  cluster.add(shared(node("n1", 1), Sharing::kExclusive));
  cluster.set(part("half", 500));
  cluster.set(part("memory", 0, 20'000));
  cluster.set(part("rest", 250));
  const Round round = cluster.decide(2);
  EXPECT_EQ(given_in(round), (Given{{"half", "0:0.5"}, {"memory", "0:0.25"}, {"rest", "0:0.25"}}));
  cluster.set(part("more", 0, 1));
  EXPECT_EQ(reason_of(cluster.decide(3), "more"),
            "Capacity: no node has 0.001 of a GPU free (the only one has none free)");
}

TEST(LiveSharing, WhatWorkloadsAskIsSaidAsItIs) {
  struct Case {
    PodFacts pod;
    const char* requests;
  };
  const Case cases[] = {
      {part("p", 500), R"({"nvidia.com/gpu":"500m"})"},
      {part("p", 0, 20'480), R"({"gpu-memory":"20Gi"})"},
      {replica("p"), R"({"nvidia.com/gpu.shared":"1"})"},
      {vgpu("p", "A100X-10C"), R"({"nvidia.com/NVIDIA_A100X-10C":"1"})"},
      {pod("p", 8), R"({"nvidia.com/gpu":"8"})"},
  };
  for (const Case& each : cases) {
    Cluster cluster;
    cluster.set(in_gang(each.pod, "g", 2));
    const Round round = cluster.decide(2);
    ASSERT_FALSE(round.workloads.empty());
    EXPECT_EQ(requests_in(round), each.requests);
  }
}

// So much memory is another part of another model; a gang keeps to one.
TEST(LiveSharing, MemoryIsAPartOfWhateverGpuHasIt) {
  Cluster cluster;
  NodeFacts small = shared(node("small", 1, "A100-40GB"), Sharing::kExclusive);
  small.gpu_memory_mib = 40'000;
  cluster.add(small);
  cluster.add(shared(node("large", 1), Sharing::kExclusive));
  for (const char* const name : {"a", "b"}) cluster.set(in_gang(part(name, 0, 30'000), "g", 2));
  EXPECT_EQ(given_in(cluster.decide(2)), (Given{{"a", "0:0.375"}, {"b", "0:0.375"}}));
  cluster.set(part("one", 0, 30'000));
  EXPECT_EQ(given_in(cluster.decide(3)), (Given{{"one", "0:0.75"}}));
  cluster.set(part("none", 0, 80'001));
  EXPECT_EQ(reason_of(cluster.decide(4), "none"),
            "GpuType: no node is known to have a GPU with 80,001 MiB of memory (label nvidia.com/gpu.memory)");
  // Of a flavor in which some have less it is the larger part.
  cluster.gone("a");
  cluster.gone("b");
  NodeFacts lesser = shared(node("lesser", 1), Sharing::kExclusive);
  lesser.gpu_memory_mib = 60'000;
  lesser.open = false;
  cluster.add(lesser);
  cluster.set(part("again", 0, 30'000));
  EXPECT_EQ(given_in(cluster.decide(5)), (Given{{"again", "0:0.5"}}));
}

TEST(LiveSharing, OneUserOfATenantIsOnAGpuWithMps) {
  Cluster cluster;
  cluster.add(shared(node("n1", 2), Sharing::kMps));
  cluster.set(share("a1", 300));
  cluster.set(share("a2", 300));
  cluster.set(share("b", 300, "bob"));
  const Given given = given_in(cluster.decide(2));
  ASSERT_EQ(given.size(), 3U);
  EXPECT_EQ(given.at("a1"), given.at("a2"));
  EXPECT_NE(given.at("a1"), given.at("b"));
  EXPECT_EQ(given.at("b").substr(1), ":0.3");
  cluster.set(share("c", 300, "cem"));
  EXPECT_EQ(reason_of(cluster.decide(3), "c").substr(0, 7), "Trust: ");
  PodFacts least = share("least", 0, "bob");
  least.request.gpu_memory_mib = 100;
  cluster.set(least);
  EXPECT_EQ(given_in(cluster.decide(4)), (Given{{"least", given.at("b").substr(0, 1) + ":0.03"}}));
}

TEST(LiveSharing, BestEffortTakesTurns) {
  Cluster cluster;
  cluster.add(shared(node("n1", 1), Sharing::kTimeslice, 3));
  for (const char* const name : {"a", "b", "c", "d"}) cluster.set(replica(name));
  const Round round = cluster.decide(2);
  EXPECT_EQ(given_in(round), (Given{{"a", "0:0.333"}, {"b", "0:0.333"}, {"c", "0:0.333"}}));
  EXPECT_EQ(reason_of(round, "d").substr(0, 10), "Capacity: ") << reason_of(round, "d");
  // Who asks a GPU has a whole one, best effort too: only the other word means a replica.
  PodFacts whole = pod("whole", 1);
  whole.terms.best_effort = true;
  cluster.set(whole);
  const std::string why = reason_of(cluster.decide(3), "whole");
  EXPECT_EQ(why.substr(0, 11), "Isolation: ") << why;
  EXPECT_TRUE(why.ends_with("asked by nvidia.com/gpu.shared: 1")) << why;
  cluster.add(node("n2", 1));
  EXPECT_EQ(given_in(cluster.decide(4)), (Given{{"whole", "0"}}));
}

TEST(LiveSharing, VgpusOfAGpuAreOfOneProfileAndOfAnybody) {
  Cluster cluster;
  cluster.add(shared(node("n1", 2, "A100-40GB"), Sharing::kVgpu));
  cluster.set(vgpu("a1", "A100X-10C"));
  cluster.set(vgpu("a2", "A100X-10C", "bob"));
  cluster.set(vgpu("b", "A100X-20C"));
  const Given given = given_in(cluster.decide(2));
  ASSERT_EQ(given.size(), 3U);
  EXPECT_EQ(given.at("a1"), given.at("a2"));
  EXPECT_EQ(given.at("a1").substr(1), ":0.25");
  EXPECT_EQ(given.at("b").substr(1), ":0.5");
  EXPECT_NE(given.at("a1").front(), given.at("b").front());
  cluster.set(vgpu("c", "A100X-8C"));
  cluster.set(vgpu("other", "A100-10C"));
  const Round round = cluster.decide(3);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_TRUE(reason_of(round, "c").starts_with("SliceGeometry: no node has a vGPU A100X-8C free; "))
      << reason_of(round, "c");
  EXPECT_EQ(reason_of(round, "other"), "GpuType: no node has GPUs that have vGPUs A100-10C");
  // A scheduler that is started anew finds them where they are, whoever named no GPU, too.
  cluster.begin_anew();
  PodFacts unnamed = vgpu("unnamed", "A100X-20C");
  unnamed.stage = PodStage::kBound;
  unnamed.node = "n1";
  unnamed.bound_at = Time{3500};
  cluster.set(unnamed);
  cluster.decide(4);
  EXPECT_EQ(cluster.engine().pods_without_room(), (std::map<std::string, std::string>{}));
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
  const auto milli = cluster.engine().state().ledger().gpu_milli(NodeId(0));
  EXPECT_EQ((std::set<std::int32_t>{milli.begin(), milli.end()}), (std::set<std::int32_t>{0, 500}));
}

TEST(LiveSharing, HowNodesSayTheyAreSharedIsToldWhereNoneIs) {
  Cluster cluster;
  cluster.add(node("n1", 1));
  cluster.set(share("s", 300));
  cluster.set(replica("r"));
  const Round round = cluster.decide(2);
  const std::string hint = "; nodes say that theirs are by the label berth.dev/gpu-mode=";
  EXPECT_TRUE(reason_of(round, "s").starts_with("GpuType: ")) << reason_of(round, "s");
  EXPECT_TRUE(reason_of(round, "s").ends_with(hint + "mps")) << reason_of(round, "s");
  EXPECT_TRUE(reason_of(round, "r").ends_with(hint + "timeslice")) << reason_of(round, "r");
  cluster.engine().note_told("uid-s");
  NodeFacts other = shared(node("n2", 1, "T4"), Sharing::kMps);
  other.open = false;
  cluster.add(other);
  EXPECT_EQ(reason_of(cluster.decide(20), "s").find(hint), std::string::npos);
}

TEST(LiveSharing, LatencyCriticalWorkSharesNoGpu) {
  Cluster cluster;
  cluster.add(shared(node("n1", 2), Sharing::kExclusive));
  PodFacts critical = part("part", 500);
  critical.terms.latency_critical = true;
  cluster.set(critical);
  PodFacts whole = pod("whole", 1);
  whole.terms.latency_critical = true;
  cluster.set(whole);
  const Round round = cluster.decide(2);
  EXPECT_EQ(given_in(round), (Given{{"whole", round.bindings.empty() ? "" : given_in(round).begin()->second}}));
  EXPECT_EQ(reason_of(round, "part").substr(0, 11), "Isolation: ");
}

TEST(LiveSharing, ARestartFindsAllPartsWhereTheyAre) {
  Cluster cluster;
  cluster.add(shared(node("parts", 1), Sharing::kExclusive));
  cluster.add(shared(node("shares", 2), Sharing::kMps));
  cluster.add(shared(node("turns", 1), Sharing::kTimeslice, 3));
  const std::vector<PodFacts> pods = {part("half", 500), part("memory", 0, 30'000),
                                      share("a", 400),   share("b", 400, "bob"),
                                      replica("r1"),     replica("r2")};
  for (const PodFacts& each : pods) cluster.set(each);
  ASSERT_EQ(cluster.decide(2).bindings.size(), pods.size());
  cluster.begin_anew();
  // What its node says of memory since changes nothing of what was given.
  NodeFacts other = shared(node("parts", 1), Sharing::kExclusive);
  other.gpu_memory_mib = 78'000;
  cluster.add(other);
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  EXPECT_EQ(cluster.engine().pods_without_room(), (std::map<std::string, std::string>{}));
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
  const State& state = cluster.engine().state();
  ASSERT_EQ(state.ledger().nodes(), 3U);
  std::map<std::string, std::vector<std::int32_t>> free;
  for (std::size_t at = 0; at < state.ledger().nodes(); ++at) {
    const auto milli = state.ledger().gpu_milli(NodeId(at));
    free[state.node(NodeId(at)).name] = {milli.begin(), milli.end()};
  }
  EXPECT_EQ(free, (std::map<std::string, std::vector<std::int32_t>>{
                      {"parts", {125}}, {"shares", {600, 600}}, {"turns", {334}}}));
  cluster.set(replica("r3"));
  cluster.set(share("a2", 600));
  cluster.set(share("c", 100, "cem"));
  const Round round = cluster.decide(4);
  EXPECT_EQ(names_of(round), (std::set<std::string>{"r3", "a2"}));
  EXPECT_EQ(reason_of(round, "c").substr(0, 7), "Trust: ");
}

// A binding may leave out how much it is: it is what the pod asks there.
TEST(LiveSharing, WhatABindingLeavesOutIsWhatThePodAsks) {
  Cluster cluster;
  cluster.add(shared(node("n1", 2), Sharing::kExclusive));
  PodFacts old = part("old", 0, 20'000);
  old.stage = PodStage::kBound;
  old.node = "n1";
  old.bound_at = Time{1000};
  old.given = GivenGpus{.gpus = GpuSet::from_bits(2)};
  cluster.set(old);
  cluster.decide(2);
  cluster.set(old);  // it is told again
  cluster.decide(3);
  EXPECT_EQ(cluster.engine().state().ledger().gpu_milli(NodeId(0))[1], 750);
  EXPECT_EQ(cluster.engine().pods_without_room(), (std::map<std::string, std::string>{}));
}

TEST(LiveSharing, ANodeThatIsHeldOtherwiseWaitsUntilItIsNot) {
  const NodeFacts plain = shared(node("n1", 1), Sharing::kExclusive), mps = shared(plain, Sharing::kMps),
                  turns = shared(plain, Sharing::kTimeslice, 4), more_turns = shared(plain, Sharing::kTimeslice, 8);
  struct Case {
    const char* what;
    NodeFacts before, after;
    PodFacts holds, waits;
    const char* is;
  };
  const Case cases[] = {
      {"parts by agreement where there is MPS now", plain, mps, part("a", 500), share("b", 500), "shared by MPS"},
      {"shares where there is none any more", mps, plain, share("a", 500), part("b", 500), "not shared"},
      {"replicas where they are whole now", turns, plain, replica("a"), pod("b", 1), "not shared"},
      {"other replicas", turns, more_turns, replica("a"), replica("b"), "time-sliced"},
      {"vGPUs where they are whole now", shared(node("n1", 1, "A100-40GB"), Sharing::kVgpu),
       shared(node("n1", 1, "A100-40GB"), Sharing::kExclusive), vgpu("a", "A100X-10C"), pod("b", 1), "not shared"},
      {"a whole one where they are time-sliced now", plain, turns, pod("a", 1), replica("b"), "time-sliced"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Cluster cluster;
    cluster.add(each.before);
    cluster.set(each.holds);
    ASSERT_EQ(cluster.decide(2).bindings.size(), 1U);
    cluster.add(each.after);
    cluster.set(each.waits);
    EXPECT_TRUE(cluster.decide(3).bindings.empty());
    EXPECT_EQ(
        cluster.engine().nodes_left_out().at("n1").text,
        "it takes nobody until those have gone who hold its GPUs in another way than it says: " + std::string(each.is));
    cluster.gone("a");
    EXPECT_EQ(names_of(cluster.decide(4)), std::set<std::string>{"b"});
  }
}

}  // namespace berth::live_sharing_test
