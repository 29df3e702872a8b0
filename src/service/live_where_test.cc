// Where pods of a live cluster may be: labels and taints that change, and gangs that keep together.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_where_test {

NodeFacts in_rack(NodeFacts node, const std::string& rack) {
  node.says.labels = {{"rack", rack}};
  return node;
}

PodFacts selecting(PodFacts pod, const std::string& rack) {
  pod.constraints.select = {{"rack", LabelOperator::kIn, {rack}}};
  return pod;
}

PodFacts in_one_rack(PodFacts pod) {
  pod.topology = {.together = Togetherness::kRequired, .level = "rack"};
  return pod;
}

// The racks of the pods that were bound, and of nodes called RACK-NUMBER.
std::set<std::string> racks_in(const Round& round) {
  std::set<std::string> racks;
  for (const Binding& binding : round.bindings) racks.insert(binding.node.substr(0, binding.node.find('-')));
  return racks;
}

TEST(LiveWhere, LabelsAndTaintsOfNodesCountFromWhenTheyChange) {
  Cluster cluster;
  cluster.add(in_rack(node("n1"), "r1"));
  cluster.set(selecting(pod("a", 1), "r2"));
  const Round before = cluster.decide(2);
  EXPECT_TRUE(before.bindings.empty());
  EXPECT_EQ(reason_of(before, "a"),
            "NodeSelector: no node has the labels that it selects (the only one does not match rack=r2)");
  cluster.add(in_rack(node("n1"), "r2"));
  EXPECT_EQ(names_of(cluster.decide(3)), std::set<std::string>{"a"});
  NodeFacts tainted = in_rack(node("n1"), "r2");
  tainted.says.taints = {{"team", "a", TaintEffect::kNoSchedule}};
  cluster.add(tainted);
  cluster.set(pod("b", 1, 4000));
  const Round kept_away = cluster.decide(5);
  EXPECT_TRUE(kept_away.bindings.empty());
  EXPECT_EQ(reason_of(kept_away, "b"),
            "Taint: it tolerates the taints of no node that it selects (the only one has the untolerated taint "
            "team=a:NoSchedule)");
  PodFacts bold = pod("c", 1, 4000);
  bold.constraints.tolerations = {{.key = "team", .value = "a"}};
  cluster.set(bold);
  EXPECT_EQ(names_of(cluster.decide(6)), std::set<std::string>{"c"});
  cluster.add(node("n1"));
  EXPECT_EQ(names_of(cluster.decide(7)), std::set<std::string>{"b"});
}

TEST(LiveWhere, AGangKeepsTogetherAlsoWhereOnePodIsMadeAnew) {
  Cluster cluster;
  for (const char* const name : {"r1-1", "r1-2", "r2-1", "r2-2", "r2-3"})
    cluster.add(in_rack(node(name), std::string(name, 2)));
  // Rack r1 has the least room left over for two, and none for a third.
  for (const char* const name : {"g0", "g1"}) cluster.set(in_one_rack(in_gang(pod(name, 8), "g", 2)));
  EXPECT_EQ(racks_in(cluster.decide(2)), std::set<std::string>{"r1"});
  cluster.set(pod("other", 8, 3000));
  EXPECT_EQ(racks_in(cluster.decide(3)), std::set<std::string>{"r2"});
  cluster.gone("g1");
  // Whoever comes first gets the room of the pod that is gone: the one that replaces it waits for its rack.
  PodFacts quick = selecting(pod("quick", 8, 4000), "r1");
  cluster.set(quick);
  EXPECT_EQ(names_of(cluster.decide(4)), std::set<std::string>{"quick"});
  cluster.set(in_one_rack(in_gang(pod("g1-again", 8, 5000), "g", 2)));
  EXPECT_TRUE(cluster.decide(5).bindings.empty()) << "r2 has room, and the others are in r1";
  cluster.gone("quick");
  const Round repaired = cluster.decide(6);
  EXPECT_EQ(names_of(repaired), std::set<std::string>{"g1-again"});
  EXPECT_EQ(racks_in(repaired), std::set<std::string>{"r1"});
}

// A gang of two Jobs: each in one rack, and alone in it; all at once.
TEST(LiveWhere, EachPodSetOfAGangHasARackForItself) {
  const auto of = [](const std::string& job, const std::string& name) {
    PodFacts facts = in_gang(pod(name, 4, 2000), "g", 4);
    facts.owner = {"batch/v1", "Job", job, "uid-of-" + job};
    facts.maker_uid = "uid-of-set";
    facts.pod_set = job;
    facts.exclusive_level = "rack";
    facts.topology = {.together = Togetherness::kRequired, .level = "rack"};
    return facts;
  };
  Cluster cluster;
  cluster.add(in_rack(node("n1"), "r1"));
  for (const char* const name : {"a0", "a1"}) cluster.set(of("a", name));
  for (const char* const name : {"b0", "b1"}) cluster.set(of("b", name));
  EXPECT_TRUE(cluster.decide(2).bindings.empty()) << "there is one rack";
  cluster.add(in_rack(node("n2"), "r2"));
  const Round round = cluster.decide(3);
  ASSERT_EQ(round.bindings.size(), 4U);
  std::map<std::string, std::set<std::string>> racks;
  for (const Binding& each : round.bindings) racks[each.pod.name.substr(0, 1)].insert(each.node);
  EXPECT_EQ(racks["a"].size(), 1U);
  EXPECT_EQ(racks["b"].size(), 1U);
  EXPECT_NE(racks["a"], racks["b"]);
  for (const bool anew : {false, true}) {
    if (anew) cluster.begin_anew();
    cluster.set(pod("x" + std::to_string(anew), 1, 4000));
    EXPECT_TRUE(cluster.decide(5).bindings.empty()) << "nobody else is there";
    const std::string lost = anew ? "a0-again" : "a0";
    cluster.gone(lost);
    cluster.set(of("a", lost + "-again"));
    Round repaired = cluster.decide(6);
    if (repaired.bindings.empty()) repaired = cluster.decide(7);
    EXPECT_EQ(names_of(repaired), std::set<std::string>{lost + "-again"});
    for (const Binding& each : repaired.bindings) EXPECT_EQ(std::set{each.node}, racks["a"]) << "beside its own";
  }
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

// Of pods above a minimum each is a workload of its own: at home in the rack of the others, before and after a restart.
TEST(LiveWhere, AGroupHasARackForItself) {
  const auto alone = [](PodFacts pod) {
    pod.exclusive_level = "rack";
    return pod;
  };
  Cluster cluster;
  for (const char* const name : {"r1-1", "r1-2", "r2-1"}) cluster.add(in_rack(node(name), std::string(name, 2)));
  cluster.set(selecting(pod("other", 1), "r2"));
  EXPECT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"other"});
  for (const char* const name : {"g0", "g1"}) cluster.set(alone(in_gang(pod(name, 4, 2000), "g", 2)));
  EXPECT_EQ(racks_in(cluster.decide(3)), std::set<std::string>{"r1"});
  for (const bool anew : {false, true}) {
    if (anew) cluster.begin_anew();
    const std::string number = anew ? "1" : "0";
    cluster.set(selecting(pod("stranger" + number, 1, 3000), "r1"));
    const Round kept_out = cluster.decide(anew ? 6 : 4);
    EXPECT_TRUE(kept_out.bindings.empty()) << number;
    cluster.gone("stranger" + number);
    cluster.set(alone(in_gang(pod("more" + number, 1, 3000), "g", 2)));
    const Round grown = cluster.decide(anew ? 7 : 5);
    EXPECT_EQ(names_of(grown), std::set<std::string>{"more" + number});
    EXPECT_EQ(racks_in(grown), std::set<std::string>{"r1"});
  }
}

TEST(LiveWhere, ANodeThatWasNotReadyTwiceIsTheLastThatIsGiven) {
  Cluster cluster;
  const auto at = [](NodeFacts facts, std::optional<Time> not_ready_since) {
    facts.not_ready_since = not_ready_since;
    facts.open = !not_ready_since;
    return facts;
  };
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  EXPECT_TRUE(cluster.decide(1).bindings.empty());
  for (const std::int64_t hour : {1, 2}) {
    for (const char* const name : {"n1", "n2"}) {
      // Of the second somebody had said before that it is to take nothing.
      NodeFacts closed = at(node(name), std::nullopt);
      closed.open = name != std::string("n2");
      cluster.add(closed);
      cluster.add(at(node(name), Time{hour * 3'600'000}));
      cluster.add(node(name));
    }
  }
  cluster.set(pod("first", 1, 3 * 3'600'000));
  const Round round = cluster.decide(3 * 3600);
  ASSERT_EQ(round.bindings.size(), 1u);
  EXPECT_EQ(round.bindings.front().node, "n2");
  cluster.set(pod("second", 8, 3 * 3'600'000 + 1));
  const Round last = cluster.decide(3 * 3600 + 1);
  ASSERT_EQ(last.bindings.size(), 1u) << "it is not refused for it";
  EXPECT_EQ(last.bindings.front().node, "n1");
}

TEST(LiveWhere, AWorkloadSaysWhatItPutsOnTheNetwork) {
  Cluster cluster;
  for (const char* const name : {"r1-1", "r2-1"}) cluster.add(in_rack(node(name), std::string(name, 2)));
  for (int i = 0; i < 2; ++i) {
    PodFacts each = in_gang(pod("g" + std::to_string(i), 8), "g", 2);
    each.parallel = {.tensor = 8, .pipeline = 1, .data = 2};
    each.number = i;
    cluster.set(each);
  }
  for (const char* const name : {"h0", "h1"}) cluster.set(in_gang(pod(name, 0), "h", 2));
  const Round round = cluster.decide(2);
  const auto of = [&](const std::string& group) {
    const auto news = std::ranges::find_if(
        round.workloads, [&](const WorkloadNews& each) { return each.group.starts_with("default/" + group); });
    EXPECT_NE(news, round.workloads.end());
    return *news;
  };
  EXPECT_FALSE(of("h").network) << "it says nothing of how it shares a model";
  const WorkloadNews news = of("g");
  ASSERT_TRUE(news.network);
  EXPECT_EQ(news.network->uplinks, (std::vector<UplinkUse>{{"rack", "r1", 8}, {"rack", "r2", 8}}));
  EXPECT_TRUE(news.network->cost.starts_with("for a GiB each, tensor groups take ")) << news.network->cost;
  const auto status = (*parse_json(workload_status_call(news, Time{3000}).body))["status"]["network"];
  EXPECT_EQ(status["uplinks"].items().at(1)["domain"].text(), "r2");
  EXPECT_EQ(status["cost"].text(), news.network->cost);
  // A scheduler that is started anew says the same.
  cluster.begin_anew();
  for (const WorkloadNews& again : cluster.decide(3).workloads) {
    EXPECT_TRUE(again.group != news.group || again.network == news.network);
  }
}

TEST(LiveWhere, OnOneNodeMeansTheNodeWhereTheOthersAre) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  std::vector<PodFacts> gang = {in_gang(pod("g0", 4), "g", 2), in_gang(pod("g1", 4), "g", 2)};
  for (PodFacts& each : gang) {
    each.topology = {.together = Togetherness::kRequired, .level = std::string(kNodeLevel)};
    cluster.set(each);
  }
  const Round start = cluster.decide(2);
  ASSERT_EQ(start.bindings.size(), 2u);
  const std::string home = start.bindings[0].node;
  EXPECT_EQ(start.bindings[1].node, home);
  cluster.gone("g1");
  PodFacts again = gang[1];
  again.uid = "uid-again";
  again.name = "again";
  again.constraints.any_of = {{}};
  cluster.set(again);
  EXPECT_TRUE(cluster.decide(3).bindings.empty()) << "its only term asks nothing, and selects no node";
  cluster.gone("again");
  again.constraints = {};
  cluster.set(again);
  const Round repaired = cluster.decide(4);
  ASSERT_EQ(repaired.bindings.size(), 1u);
  EXPECT_EQ(repaired.bindings[0].node, home);
}

const WorkloadNews* news_of(const Round& round, const std::string& group) {
  const auto found = std::ranges::find(round.workloads, "default/" + group + "/", &WorkloadNews::group);
  return found == round.workloads.end() ? nullptr : &*found;
}

TEST(LiveWhere, WhoWaitsForADomainIsToldTheRoomInEach) {
  Cluster cluster;
  for (const char* const name : {"r1-1", "r2-1", "r2-2", "r3-1"})
    cluster.add(in_rack(node(name), std::string(name, 2)));
  cluster.set(selecting(pod("other", 4), "r2"));
  cluster.set(selecting(pod("more", 2), "r3"));
  cluster.decide(2);
  for (const char* const name : {"g0", "g1"}) cluster.set(in_one_rack(in_gang(pod(name, 8, 2000), "g", 2)));
  Round round = cluster.decide(3);
  EXPECT_TRUE(reason_of(round, "g0").starts_with("Topology: no rack has room for 2 pods (3 are there: 1 fits in r"))
      << reason_of(round, "g0");
  const WorkloadNews* news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  Shortfall expected{.level = "rack",
                     .together = true,
                     .pods = 2,
                     .gpu_milli = 8000,
                     .domains = {{"r2", 1, 12}, {"r1", 1, 8}, {"r3", 0, 6}},
                     .more_domains = 0};
  EXPECT_EQ(news->shortfall, expected);
  EXPECT_EQ(to_json((*parse_json(workload_status_call(*news, Time{3000}).body))["status"]["topology"]),
            R"({"level":"rack","together":true,"pods":2,"gpusPerPod":"8","domains":[)"
            R"({"name":"r2","podsFit":1,"gpusFree":12,"gpusLacking":"8"},)"
            R"({"name":"r1","podsFit":1,"gpusFree":8,"gpusLacking":"8"},)"
            R"({"name":"r3","podsFit":0,"gpusFree":6,"gpusLacking":"16"}],"moreDomains":0})");
  cluster.engine().note_workload_told(news->group);
  // Numbers that change are told again, and not more often than reasons are.
  cluster.gone("more");
  EXPECT_EQ(news_of(cluster.decide(4), "g"), nullptr);
  expected.domains = {{"r2", 1, 12}, {"r1", 1, 8}, {"r3", 1, 8}};
  round = cluster.decide(14);
  news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  EXPECT_EQ(news->shortfall, expected);
  cluster.engine().note_workload_told(news->group);
  cluster.gone("other");
  round = cluster.decide(15);
  news = news_of(round, "g");
  ASSERT_NE(news, nullptr) << "it runs";
  EXPECT_EQ(news->shortfall, std::nullopt);
  EXPECT_TRUE((*parse_json(workload_status_call(*news, Time{3000}).body))["status"]["topology"].is_null());
}

// A reason without domains, too: a group's Workload says what its pods say, and not more often.
TEST(LiveWhere, NumbersOfAGroupsReasonAreToldAgain) {
  Cluster cluster;
  cluster.add(node("n1"));
  for (const char* const name : {"g0", "g1", "g2"}) cluster.set(in_gang(pod(name, 8, 2000), "g", 3));
  Round round = cluster.decide(3);
  const WorkloadNews* news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  const std::string first = news->text;
  EXPECT_EQ(first, reason_of(round, "g0"));
  for (const char* const name : {"g0", "g1", "g2"}) cluster.engine().note_told("uid-" + std::string(name));
  cluster.engine().note_workload_told(news->group);
  cluster.add(node("n2"));
  round = cluster.decide(4);
  EXPECT_EQ(news_of(round, "g"), nullptr);
  EXPECT_EQ(round.again_at, Time{13'000});
  round = cluster.decide(13);
  news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  EXPECT_NE(news->text, first);
  EXPECT_EQ(news->text, reason_of(round, "g0"));
  cluster.engine().note_workload_told(news->group);
  EXPECT_EQ(news_of(cluster.decide(30), "g"), nullptr) << "nothing has changed since";
}

TEST(LiveWhere, WhoAsksForNoLevelIsToldNodeByNodeWhatIsInPieces) {
  Cluster cluster;
  for (const char* const name : {"r1-1", "r2-1"}) cluster.add(in_rack(node(name), std::string(name, 2)));
  cluster.set(selecting(pod("a", 2), "r1"));
  cluster.set(selecting(pod("b", 6), "r2"));
  cluster.decide(2);
  for (const char* const name : {"g0", "g1"}) cluster.set(in_gang(pod(name, 4, 2000), "g", 2));
  const Round round = cluster.decide(3);
  EXPECT_TRUE(reason_of(round, "g0").starts_with("Fragmented: ")) << reason_of(round, "g0");
  const WorkloadNews* const news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  EXPECT_EQ(news->shortfall, (Shortfall{.level = "kubernetes.io/hostname",
                                        .together = false,
                                        .pods = 2,
                                        .gpu_milli = 4000,
                                        .domains = {{"r1-1", 1, 6}, {"r2-1", 0, 2}},
                                        .more_domains = 0}));
}

TEST(LiveWhere, OfADomainThatFlavorCountsInWhichMostFits) {
  Cluster cluster;
  cluster.add(in_rack(node("r1-1"), "r1"));
  cluster.add(in_rack(node("r1-2", 8, "A100-80GB"), "r1"));
  cluster.add(in_rack(node("r1-3", 8, "A100-80GB"), "r1"));
  cluster.add(in_rack(node("r2-1"), "r2"));
  cluster.add(in_rack(node("r2-2", 8, "A100-80GB"), "r2"));
  cluster.add(in_rack(node("r3-1"), "r3"));
  for (const char* const name : {"g0", "g1", "g2"}) cluster.set(in_one_rack(in_gang(pod(name, 8, 2000), "g", 3)));
  const Round round = cluster.decide(3);
  const WorkloadNews* const news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  ASSERT_TRUE(news->shortfall) << news->text;
  EXPECT_EQ(news->shortfall->domains, (std::vector<DomainShortfall>{{"r1", 2, 16}, {"r2", 1, 8}, {"r3", 1, 8}}));
}

TEST(LiveWhere, OfManyDomainsTheFirstTenAreTold) {
  Cluster cluster;
  for (int i = 0; i < 12; ++i) cluster.add(in_rack(node("n" + std::to_string(i)), "r" + std::to_string(i)));
  for (const char* const name : {"g0", "g1"}) cluster.set(in_one_rack(in_gang(pod(name, 8, 2000), "g", 2)));
  const Round round = cluster.decide(3);
  const WorkloadNews* const news = news_of(round, "g");
  ASSERT_NE(news, nullptr);
  ASSERT_TRUE(news->shortfall) << news->text;
  EXPECT_EQ(news->shortfall->domains.size(), 10U);
  EXPECT_EQ(news->shortfall->more_domains, 2);
  EXPECT_EQ(news->shortfall->domains.front(), (DomainShortfall{"r0", 1, 8})) << "by name, where all are alike";
}

TEST(LiveWhere, SlicesAreWholeAndSaidToBeIfTheyAreNot) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name, 3));
  const auto sliced = [](PodFacts pod) {
    pod.topology = {.slice_pods = 2, .slice_level = std::string(kNodeLevel)};
    return pod;
  };
  for (const char* const name : {"odd0", "odd1", "odd2"}) cluster.set(sliced(in_gang(pod(name, 1), "odd", 3)));
  for (const char* const name : {"g0", "g1", "g2", "g3"}) cluster.set(sliced(in_gang(pod(name, 1), "g", 4)));
  const Round round = cluster.decide(2);
  EXPECT_EQ(names_of(round), (std::set<std::string>{"g0", "g1", "g2", "g3"}));
  std::multiset<std::string> nodes;
  for (const Binding& binding : round.bindings) nodes.insert(binding.node);
  EXPECT_EQ(nodes, (std::multiset<std::string>{"n1", "n1", "n2", "n2"}));
  EXPECT_EQ(reason_of(round, "odd0"),
            "Invalid: its 3 pods are not whole slices of 2; start a multiple of 2 together, or ask for other slices");
  // One that is made anew is no slice, and waits for none.
  cluster.gone("g3");
  cluster.set(sliced(in_gang(pod("g3-again", 1, 3000), "g", 4)));
  EXPECT_EQ(names_of(cluster.decide(3)), std::set<std::string>{"g3-again"});
}

TEST(LiveWhere, ParallelSizesLayOutTheGangInTheOrderOfItsNumbers) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name, 2));
  const auto sharing = [](PodFacts pod, std::int64_t number, Parallelism parallel) {
    pod.parallel = parallel;
    pod.number = number;
    return pod;
  };
  // Created in another order than they are numbered in.
  for (const std::int64_t number : {0, 2, 1, 3}) {
    const std::string name = "g" + std::to_string(number);
    cluster.set(sharing(in_gang(pod(name.c_str(), 1), "g", 4), number, {2, 1, 2}));
  }
  for (const char* const name : {"odd0", "odd1", "odd2"}) {
    cluster.set(sharing(in_gang(pod(name, 1), "odd", 3), 0, {2, 1, 2}));
  }
  const Round round = cluster.decide(2);
  std::map<std::string, std::string> nodes;
  for (const Binding& binding : round.bindings) nodes[binding.pod.name] = binding.node;
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes["g0"], nodes["g1"]);
  EXPECT_EQ(nodes["g2"], nodes["g3"]);
  EXPECT_NE(nodes["g0"], nodes["g2"]);
  EXPECT_EQ(
      reason_of(round, "odd0"),
      "Invalid: annotation berth.dev/parallelism: 2 x 1 x 2 are 4 GPUs, and its pods have 3 (3 with 1 each); write "
      "sizes whose product is that");
  // One that is made anew goes where there is room.
  cluster.gone("g3");
  cluster.set(sharing(in_gang(pod("g3-again", 1, 3000), "g", 4), 3, {2, 1, 2}));
  EXPECT_EQ(names_of(cluster.decide(3)), std::set<std::string>{"g3-again"});
}

}  // namespace berth::live_where_test
