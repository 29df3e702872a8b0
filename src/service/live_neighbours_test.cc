// Pods of a live cluster who mind who else is there.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "service/live_cluster.h"

namespace berth::live_neighbours_test {

PodFacts of_app(PodFacts pod, const std::string& app) {
  pod.neighbours.name_space = pod.name_space;
  pod.neighbours.labels = {{"app", app}, {"pod-name", pod.name}};
  return pod;
}

PodFacts apart_from(PodFacts pod, const std::string& app) {
  pod.neighbours.apart = {{{{pod.name_space}, {{"app", LabelOperator::kIn, {app}}}}, std::string(kNodeLevel)}};
  return pod;
}

PodFacts with_port(PodFacts pod, std::int32_t port) {
  pod.neighbours.name_space = pod.name_space;
  pod.neighbours.ports = {{.port = port}};
  return pod;
}

// Whom somebody selects is known only when he comes: then the others have been there for long.
TEST(LiveNeighbours, WhoeverRunsIsKnownByHisLabels) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(of_app(pod("db", 1), "db"));
  EXPECT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"db"});
  cluster.set(apart_from(of_app(pod("web", 1, 3000), "web"), "db"));
  const Round kept_away = cluster.decide(3);
  EXPECT_TRUE(kept_away.bindings.empty());
  EXPECT_EQ(
      reason_of(kept_away, "web"),
      "Affinity: the pods around keep it from the only node with room: 1 is beside pods from which it is to be apart");
  cluster.begin_anew();
  EXPECT_TRUE(cluster.decide(4).bindings.empty()) << "another scheduler reads it in the objects";
  // Who runs may come to be called otherwise.
  PodFacts renamed = of_app(pod("db", 1), "cache");
  renamed.stage = PodStage::kBound;
  renamed.node = "n1";
  cluster.set(renamed);
  EXPECT_EQ(names_of(cluster.decide(5)), std::set<std::string>{"web"});
}

TEST(LiveNeighbours, WhoeverRunsKeepsOthersAway) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(apart_from(of_app(pod("web", 1), "web"), "db"));
  EXPECT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"web"});
  cluster.set(of_app(pod("db", 1, 3000), "db"));
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  cluster.begin_anew();
  EXPECT_TRUE(cluster.decide(4).bindings.empty());
  cluster.gone("web");
  EXPECT_EQ(names_of(cluster.decide(5)), std::set<std::string>{"db"});
}

TEST(LiveNeighbours, APortOfANodeIsGivenOnce) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  for (const char* const name : {"a", "b", "c"}) cluster.set(with_port(pod(name, 1), 80));
  const Round round = cluster.decide(2);
  ASSERT_EQ(round.bindings.size(), 2u);
  EXPECT_NE(round.bindings[0].node, round.bindings[1].node);
  EXPECT_EQ(reason_of(round, "c").substr(0, 6), "Ports:");
  cluster.begin_anew();
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  cluster.gone("a");
  EXPECT_EQ(names_of(cluster.decide(4)), std::set<std::string>{"c"});
}

// Each has a label of its own, as pods of Jobs have: as long as nobody selects by it they are one set.
TEST(LiveNeighbours, LabelsByWhichNobodySelectsMakeNobodySpecial) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(node("n2"));
  for (const char* const name : {"g0", "g1"}) {
    cluster.set(apart_from(of_app(in_gang(pod(name, 1), "g", 2), "web"), "web"));
  }
  ASSERT_EQ(cluster.decide(2).bindings.size(), 2u);
  const State& state = cluster.engine().state();
  EXPECT_EQ(state.shape(state.workload(WorkloadId(0)).shape).ways.front().size(), 1u);
}

}  // namespace berth::live_neighbours_test
