// CPUs and memory of a live cluster beside its GPUs: what nodes keep for them, and the zones in which they are.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "manifest/given_gpus.h"
#include "manifest/yaml.h"
#include "service/live_cluster.h"

namespace berth::live_host_test {

// 8 GPUs and 128 CPUs.
NodeFacts node_that_says(const std::string& labels, const std::string& annotations) {
  const auto documents = parse_yaml(
      "{metadata: {name: n1, labels: {nvidia.com/gpu.product: H100, " + labels + "}, annotations: {" + annotations +
      "}}, status: {allocatable: {cpu: '128', memory: 1Ti, nvidia.com/gpu: '8'}, conditions: [{type: Ready, status: "
      "'True'}]}}");
  return read_node(documents->front());
}

PodFacts asking(const std::string& name, std::int32_t gpus, std::int64_t cpus) {
  PodFacts facts = pod(name, gpus);
  facts.request.cpu_milli = cpus * 1000;
  return facts;
}

std::map<std::string, std::string> given_in(const Round& round) {
  std::map<std::string, std::string> given;
  for (const Binding& binding : round.bindings) given[binding.pod.name] = format_given_gpus(binding.given);
  return given;
}

using Given = std::map<std::string, std::string>;

TEST(LiveHost, CpusAreKeptForGpus) {
  Cluster cluster;
  cluster.add(node_that_says("", "berth.dev/kept-per-gpu: 'cpu=12,memory=100Gi'"));
  cluster.set(asking("plain", 0, 32));
  cluster.set(asking("more", 0, 1));
  cluster.set(asking("train", 8, 96));
  const Round round = cluster.decide(2);
  EXPECT_EQ(given_in(round), (Given{{"plain", ""}, {"train", "0,1,2,3,4,5,6,7"}}));
  EXPECT_EQ(reason_of(round, "more"), "Capacity: no node has 1 CPU free (the only one has no CPU free)");
  cluster.gone("train");
  cluster.set(asking("later", 0, 1));
  EXPECT_EQ(reason_of(cluster.decide(3), "later"),
            "Capacity: no node has 1 CPU free beside what is kept for work with GPUs, 12 CPUs and 100Gi of memory for "
            "each GPU; the most is nothing (the only one keeps what is free for work with GPUs)");
}

PodFacts in_extra(PodFacts pod) {
  pod.request.in_extra = true;
  pod.terms.best_effort = true;
  return pod;
}

TEST(LiveHost, CpusArePromisedMoreThanOnceToBestEffort) {
  Cluster cluster;
  cluster.add(node_that_says("", "berth.dev/overcommit: cpu=1.5"));
  for (const char* const name : {"b1", "b2", "b3"}) cluster.set(in_extra(asking(name, 0, 64)));
  cluster.set(in_extra(asking("b4", 0, 1)));
  const Round filled = cluster.decide(2);
  EXPECT_EQ(names_of(filled), (std::set<std::string>{"b1", "b2", "b3"}));
  EXPECT_EQ(reason_of(filled, "b4"), "Capacity: no node has 1 CPU free (the only one has no CPU free)");
  // Who counts is bound at once, and one of them is told to leave.
  cluster.set(asking("service", 0, 64));
  const Round round = cluster.decide(3);
  EXPECT_EQ(names_of(round), std::set<std::string>{"service"});
  ASSERT_EQ(round.evictions.size(), 1u);
  // Whoever begins anew meanwhile counts all that counts, and what of the others the node has promised.
  cluster.begin_anew();
  cluster.set(asking("next", 0, 64));
  EXPECT_EQ(names_of(cluster.decide(4)), std::set<std::string>{"next"});
  cluster.set(asking("more", 0, 1));
  EXPECT_EQ(reason_of(cluster.decide(5), "more"), "Capacity: no node has 1 CPU free (the only one has no CPU free)");
}

TEST(LiveHost, GpusOfOnePodAreInOneZone) {
  Cluster cluster;
  cluster.add(node_that_says("berth.dev/numa-zones: '2', berth.dev/numa-policy: single-numa-node", ""));
  cluster.set(asking("a", 3, 8));
  cluster.set(asking("b", 3, 8));
  cluster.set(asking("c", 2, 8));
  const Round round = cluster.decide(2);
  EXPECT_EQ(given_in(round), (Given{{"a", "0,1,2"}, {"b", "4,5,6"}}));
  EXPECT_EQ(
      reason_of(round, "c"),
      "Numa: no node has 2 GPUs and 8 CPUs free in one NUMA zone, as its kubelet wants them; the most in one is 1 "
      "GPU (the only one has them free in too many NUMA zones)");
  // Whoever is found in both zones is there; the CPUs are counted where its GPUs are.
  cluster.begin_anew();
  cluster.gone("a");
  EXPECT_EQ(given_in(cluster.decide(3)), (Given{{"c", "0,1"}}));
}

TEST(LiveHost, ANodeThatSaysItWronglyIsNotUsed) {
  Cluster cluster;
  cluster.add(node_that_says("", "berth.dev/kept-per-gpu: cpu=17"));
  cluster.set(asking("plain", 0, 1));
  EXPECT_TRUE(given_in(cluster.decide(2)).empty());
  // Nothing else has to come for it to be used again.
  cluster.add(node_that_says("", "berth.dev/kept-per-gpu: cpu=16"));
  cluster.set(asking("gpu", 1, 1));
  EXPECT_EQ(given_in(cluster.decide(3)), (Given{{"gpu", "0"}}));
}

NodeFacts spare(NodeFacts node) {
  node.says.spare = true;
  return node;
}

TEST(LiveHost, ASpareIsForWhomAGangHasLost) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  cluster.add(spare(node("s1")));
  for (const char* const name : {"g0", "g1"}) cluster.set(in_gang(pod(name, 8), "g", 2));
  cluster.set(pod("other", 8));
  const Round start = cluster.decide(2);
  EXPECT_EQ(names_of(start), (std::set<std::string>{"g0", "g1"}));
  EXPECT_EQ(reason_of(start, "other"),
            "Capacity: no node has 8 GPUs free (3 nodes: 2 have none free, 1 is a spare for repairs)");
  // Beyond those that start together nobody stands in for anybody.
  cluster.set(in_gang(pod("more", 8, 3000), "g", 2));
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  cluster.gone("more");
  // The other is first in the line, and the node of who is gone is closed.
  const std::string lost = start.bindings[1].node;
  cluster.gone(start.bindings[1].pod.name);
  NodeFacts closed = node(lost);
  closed.open = false;
  cluster.add(closed);
  cluster.set(in_gang(pod("again", 8, 5000), "g", 2));
  const Round repaired = cluster.decide(6);
  ASSERT_EQ(names_of(repaired), std::set<std::string>{"again"});
  EXPECT_EQ(repaired.bindings[0].node, "s1");
  // As it was, also to a scheduler that is started anew; and it is none when its label is taken away.
  cluster.begin_anew();
  EXPECT_TRUE(cluster.decide(7).bindings.empty());
  cluster.gone("again");
  EXPECT_TRUE(cluster.decide(8).bindings.empty());
  cluster.add(node("s1"));
  EXPECT_EQ(names_of(cluster.decide(9)), std::set<std::string>{"other"});
}

TEST(LiveHost, WhoRunsOnANodeThatBecomesASpareStays) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(pod("a", 4));
  EXPECT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"a"});
  cluster.add(spare(node("n1")));
  cluster.set(pod("b", 4));
  const Round round = cluster.decide(3);
  EXPECT_TRUE(round.bindings.empty() && round.evictions.empty());
}

}  // namespace berth::live_host_test
