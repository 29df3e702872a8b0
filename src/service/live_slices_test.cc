// Slices (MIG) of a live cluster: who gets which, what is written on pods, and what is found again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manifest/given_gpus.h"
#include "manifest/yaml.h"
#include "model/mig_layout.h"
#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_slices_test {

NodeFacts one_cut(const std::string& name, const std::string& model = "H100", std::int32_t gpus = 1) {
  return cut(node(name, gpus, model));
}

// By pod, as its annotation says it.
std::map<std::string, std::string> given_in(const Round& round) {
  std::map<std::string, std::string> given;
  for (const Binding& binding : round.bindings) given[binding.pod.name] = format_given_gpus(binding.given);
  return given;
}

std::set<std::string> values_of(const std::map<std::string, std::string>& given) {
  std::set<std::string> values;
  for (const auto& [pod, value] : given) values.insert(value);
  return values;
}

PodFacts bound_at(PodFacts pod, const std::string& given, std::int64_t ms) {
  pod.stage = PodStage::kBound;
  pod.node = "n1";
  pod.given = parse_given_gpus(given);
  pod.bound_at = Time{ms};
  return pod;
}

TEST(LiveSlices, SevenShareAGpuAndTheEighthWaitsForOne) {
  Cluster cluster;
  cluster.add(one_cut("n1"));
  for (int i = 1; i <= 8; ++i) cluster.set(slice("s" + std::to_string(i), "1g.10gb", 1000 + i));
  const Round round = cluster.decide(2);
  EXPECT_EQ(values_of(given_in(round)),
            (std::set<std::string>{"0:1g.10gb@0", "0:1g.10gb@1", "0:1g.10gb@2", "0:1g.10gb@3", "0:1g.10gb@4",
                                   "0:1g.10gb@5", "0:1g.10gb@6"}));
  EXPECT_EQ(reason_of(round, "s8"),
            "Capacity: no node has a place for a 1g.10gb slice free (the only one has no place for it)");
  cluster.gone("s3");
  const auto again = given_in(cluster.decide(3));
  EXPECT_EQ(again, (std::map<std::string, std::string>{{"s8", given_in(round).at("s3")}}));
}

// Also where the queue was there before any node, so that nobody knew what its flavor can be cut into.
TEST(LiveSlices, AFloorByProfileIsTakenBackAndSaid) {
  Cluster cluster;
  QueueFacts owner = queue("owner", 0);
  owner.spec.guarantee = {{"h100", Resource::kSlice, 1, "3g.40gb"}, {"h100", Resource::kSlice, 1, "9g.90gb"}};
  cluster.add(owner);
  cluster.add(queue("borrower", 0));
  cluster.add(one_cut("n1"));
  cluster.set(in_queue("borrower", slice("whole", "7g.80gb")));
  EXPECT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"whole"});
  cluster.set(in_queue("owner", slice("mine", "3g.40gb", 3000)));
  Round round = cluster.decide(4);
  ASSERT_EQ(evicted_in(round), std::set<std::string>{"whole"});
  cluster.gone("whole");
  round = cluster.decide(6);
  ASSERT_EQ(names_of(round), std::set<std::string>{"mine"});
  EXPECT_EQ(round.bindings[0].coverage, "guaranteed against everyone outside its queue");
  const QueueStanding standing = cluster.engine().queue_standings().at("owner");
  EXPECT_EQ(standing.floor.at("h100.mig-3g.40gb"), "1");
  EXPECT_EQ(standing.guaranteed.at("h100.mig-3g.40gb"), "1");
  EXPECT_EQ(standing.used.at("h100"), "454m");
  EXPECT_TRUE(standing.borrowed.empty());
  const auto conditions = cluster.engine().conditions_of("owner");
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].reason, "UnknownSlices");
  // Who starts anew finds it covered.
  cluster.begin_anew();
  cluster.decide(8);
  EXPECT_EQ(cluster.engine().queue_standings().at("owner").guaranteed.at("h100.mig-3g.40gb"), "1");
}

PodFacts by_need(const std::string& name, SliceNeed need, std::int64_t created_ms = 1000) {
  PodFacts facts = pod(name, 1, created_ms);
  facts.slice_need = need;
  return facts;
}

TEST(LiveSlices, ByNeedItIsTheSmallestThatHasIt) {
  Cluster cluster;
  cluster.add(one_cut("n1"));
  cluster.set(by_need("large", {.memory_mib = 30'000}));
  cluster.set(by_need("wide", {.memory_mib = 10'000, .part = 2, .whole = 7}, 1001));
  cluster.set(by_need("small", {.part = 1, .whole = 7}, 1002));
  cluster.set(by_need("huge", {.memory_mib = 100'000}, 1003));
  const Round round = cluster.decide(2);
  EXPECT_EQ(given_in(round), (std::map<std::string, std::string>{
                                 {"large", "0:3g.40gb@4"}, {"wide", "0:2g.20gb@2"}, {"small", "0:1g.10gb@1"}}));
  EXPECT_EQ(reason_of(round, "huge"),
            "GpuType: no node has GPUs that can be cut into a slice with 100,000 MiB of memory");
  // Who is found has what he was given.
  cluster.begin_anew();
  cluster.set(by_need("next", {.part = 1, .whole = 7}, 3000));
  EXPECT_EQ(given_in(cluster.decide(3)), (std::map<std::string, std::string>{{"next", "0:1g.10gb@0"}}));
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

TEST(LiveSlices, ByNeedItIsOfTheModelThatHasItSmallest) {
  Cluster cluster;
  cluster.add(one_cut("n1"));
  cluster.add(one_cut("n2", "A100-40GB"));
  cluster.set(by_need("a", {.memory_mib = 4'000}));
  cluster.set(by_need("b", {.memory_mib = 9'000}, 1001));
  EXPECT_EQ(given_in(cluster.decide(2)),
            (std::map<std::string, std::string>{{"a", "0:1g.5gb@6"}, {"b", "0:1g.10gb@4"}}));
}

TEST(LiveSlices, ByNeedItIsNoneThatAKubeletHandsOut) {
  const auto documents = parse_yaml(
      "{metadata: {name: p, uid: u, namespace: default, annotations: {berth.dev/gpu-slice: 1/7}}, spec: {containers: "
      "[{name: c}]}}");
  const PodFacts facts = read_pod(documents->front());
  EXPECT_EQ(facts.problem, "");
  EXPECT_EQ(facts.request.gpus, 1);
  ASSERT_EQ(facts.constraints.select.size(), 1u);
  EXPECT_EQ(facts.constraints.select[0], (LabelRequirement{"berth.dev/gpu-mode", LabelOperator::kIn, {"mig"}}));
  Cluster cluster;
  NodeFacts fixed = one_cut("n1");
  const std::vector<std::string> profiles = {"3g.40gb", "1g.10gb"};
  fixed.fixed_slices = *lay_out(*hardware_of({.name = {}, .model = "H100"}), profiles);
  cluster.add(fixed);
  PodFacts asking = by_need("p", {.part = 1, .whole = 7});
  asking.constraints = facts.constraints;
  cluster.set(asking);
  const Round round = cluster.decide(2);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(reason_of(round, "p"),
            "NodeSelector: no node has the labels that it selects (the only one does not match "
            "berth.dev/gpu-mode=mig); 1 node offers some "
            "that were cut beforehand, which kubelets hand out by name alone: ask one as in nvidia.com/mig-1g.10gb: 1");
}

TEST(LiveSlices, AGangOfThemStartsWhole) {
  Cluster cluster;
  cluster.add(one_cut("n1"));
  cluster.add(one_cut("n2"));
  cluster.set(slice("held", "4g.40gb", 500));
  cluster.decide(1);
  for (int i = 0; i < 4; ++i) cluster.set(in_gang(slice("g" + std::to_string(i), "3g.40gb"), "g", 4));
  const Round waits = cluster.decide(2);
  EXPECT_TRUE(waits.bindings.empty());
  EXPECT_EQ(reason_of(waits, "g0").substr(0, 9), "Capacity:") << reason_of(waits, "g0");
  ASSERT_FALSE(waits.workloads.empty());
  const auto object = parse_json(workload_creation_call(waits.workloads.back()).body);
  EXPECT_EQ((*object)["spec"]["podSets"].items()[0]["requests"]["nvidia.com/mig-3g.40gb"].text(), "1");
  cluster.gone("held");
  EXPECT_EQ(names_of(cluster.decide(3)).size(), 4U);
}

TEST(LiveSlices, OneGangMayHaveSeveralKinds) {
  Cluster cluster;
  cluster.add(one_cut("n1"));
  cluster.add(node("n2", 1));
  cluster.set(in_gang(slice("head", "3g.40gb"), "g", 3));
  cluster.set(in_gang(slice("small", "1g.10gb"), "g", 3));
  cluster.set(in_gang(pod("whole", 1), "g", 3));
  const auto given = given_in(cluster.decide(2));
  EXPECT_EQ(given.at("head").substr(0, 10), "0:3g.40gb@");
  EXPECT_EQ(given.at("small").substr(0, 10), "0:1g.10gb@");
  EXPECT_EQ(given.at("whole"), "0");
}

TEST(LiveSlices, ANameIsOfEveryModelThatHasIt) {
  Cluster cluster;
  cluster.add(one_cut("large", "A100-80GB"));
  cluster.add(one_cut("small", "A100-40GB"));
  cluster.set(slice("a", "1g.5gb", 1001));
  cluster.set(slice("b", "1g.20gb", 1002));
  cluster.set(slice("d", "1g.47gb", 1003));
  PodFacts chooses = slice("c", "1g.10gb", 1004);
  chooses.gpu_models = {"A100-80GB"};
  cluster.set(chooses);
  const Round round = cluster.decide(2);
  std::map<std::string, std::string> nodes;
  for (const Binding& binding : round.bindings) nodes[binding.pod.name] = binding.node;
  EXPECT_EQ(nodes, (std::map<std::string, std::string>{{"a", "small"}, {"b", "large"}, {"c", "large"}}));
  EXPECT_EQ(reason_of(round, "d"), "GpuType: no node has GPUs that can be cut into a 1g.47gb");
}

TEST(LiveSlices, WholeGpusAndSlicesKeepApart) {
  Cluster cluster;
  cluster.add(node("n1", 1, "A30"));
  cluster.add(one_cut("n2"));
  PodFacts whole = pod("whole", 1);
  whole.gpu_models = {"H100"};
  cluster.set(whole);
  cluster.set(slice("on-whole", "1g.6gb"));
  const Round round = cluster.decide(2);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(reason_of(round, "whole"),
            "GpuType: no node has H100 GPUs that are not cut into slices (2 nodes: 1 has other GPUs, 1 has GPUs "
            "that are cut into slices)");
  EXPECT_EQ(
      reason_of(round, "on-whole"),
      "GpuType: no node has A30 GPUs that are cut into slices; it asks a 1g.6gb (2 nodes: 1 has other GPUs, 1 has "
      "GPUs that are not cut into slices)");
}

TEST(LiveSlices, AreFoundAgainWhereTheyAre) {
  Cluster cluster;
  cluster.add(one_cut("n1", "H100", 2));
  const std::vector<std::string> profiles = {"1g.10gb", "3g.40gb", "1g.10gb+me", "2g.20gb", "4g.40gb", "1g.20gb"};
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    cluster.set(slice("s" + std::to_string(i), profiles[i], 1000 + static_cast<std::int64_t>(i)));
  }
  ASSERT_EQ(cluster.decide(2).bindings.size(), profiles.size());
  const std::vector<MigPlaceSet> before(cluster.engine().state().ledger().layouts(NodeId(0)).begin(),
                                        cluster.engine().state().ledger().layouts(NodeId(0)).end());
  cluster.gone("s1");
  cluster.set(slice("s1-again", "3g.40gb", 3000));
  cluster.begin_anew();
  const Round round = cluster.decide(4);
  EXPECT_EQ(names_of(round), std::set<std::string>{"s1-again"}) << "the only place that is open is that of s1";
  const auto after = cluster.engine().state().ledger().layouts(NodeId(0));
  EXPECT_TRUE(std::ranges::equal(before, after));
  EXPECT_TRUE(cluster.engine().pods_without_room().empty());
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveSlices, WhatABindingSaysWrongIsNotBelieved) {
  struct Case {
    const char* what;
    const char* given;   // of a pod that asks a 1g.10gb, beside one at 0:1g.10gb@4
    const char* places;  // where the engine has the first of them then; "": nowhere
  };
  const Case cases[] = {
      {"nothing", "", "0:1g.10gb@5"},
      {"a whole GPU", "0", "0:1g.10gb@5"},
      {"another slice", "0:2g.20gb@0", "0:1g.10gb@5"},
      {"no place at all", "0:1g.10gb@9", ""},
      {"no such device", "3:1g.10gb@0", ""},
      {"what another holds", "0:1g.10gb@4", ""},
      {"a place of its own", "0:1g.10gb@2", "0:1g.10gb@2"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    Cluster cluster;
    cluster.add(one_cut("n1"));
    cluster.set(bound_at(slice("sure", "1g.10gb"), "0:1g.10gb@4", 1000));
    cluster.set(bound_at(slice("odd", "1g.10gb"), each.given, 2000));
    cluster.decide(3);
    const State& state = cluster.engine().state();
    const bool placed = *each.places != '\0';
    EXPECT_EQ(cluster.engine().pods_without_room().size(), placed ? 0U : 1U);
    EXPECT_EQ(state.ledger().layouts(NodeId(0))[0].size(), placed ? 2 : 1);
    if (placed) {
      const GivenGpus place = *parse_given_gpus(each.places);
      const std::size_t index = *kMigOfA100.find_place(0, place.slice_start);
      EXPECT_TRUE(state.ledger().layouts(NodeId(0))[0].contains(index));
    }
    EXPECT_EQ(violations(state), std::vector<std::string>());
  }
}

TEST(LiveSlices, ThoseThatOthersCutAreLeftToThem) {
  Cluster cluster;
  NodeFacts fixed = node("fixed", 0);
  fixed.unused_slices = {"nvidia.com/mig-1g.10gb"};
  fixed.why_unused = "cut all GPUs of a node alike";
  fixed.cpu_milli = 4000;
  cluster.add(fixed);
  cluster.set(slice("s", "1g.10gb"));
  const std::string hint =
      "; 1 node offers some that are cut beforehand, which Berth does not hand out: its event SlicesNotUsed says why";
  EXPECT_EQ(reason_of(cluster.decide(2), "s"), "GpuType: no node has GPUs that can be cut into a 1g.10gb" + hint);
  const auto left_out = cluster.engine().nodes_left_out();
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out.at("fixed").reason, "SlicesNotUsed");
  EXPECT_EQ(left_out.at("fixed").text,
            "Berth hands out none of its slices (nvidia.com/mig-1g.10gb), which are cut beforehand: cut all GPUs of a "
            "node alike");
  // Somebody else's pod there holds what it asks beside the slice.
  PodFacts foreign = slice("foreign", "1g.10gb", 3000);
  foreign.request.cpu_milli = 3000;
  foreign.stage = PodStage::kBound;
  foreign.node = "fixed";
  foreign.bound_at = Time{3000};
  cluster.set(foreign);
  PodFacts plain = pod("plain", 0, 3000);
  plain.request.cpu_milli = 2000;
  cluster.set(plain);
  EXPECT_TRUE(cluster.decide(4).bindings.empty());
  EXPECT_TRUE(cluster.engine().pods_without_room().empty());
  // With nodes that could be cut, and are not, it is the same.
  cluster.engine().note_told("uid-s");
  cluster.add(node("n1", 1));
  const Round round = cluster.decide(20);
  EXPECT_EQ(names_of(round), std::set<std::string>{"plain"});
  EXPECT_NE(reason_of(round, "s").find(hint), std::string::npos) << reason_of(round, "s");
  cluster.add(one_cut("n2"));
  EXPECT_EQ(names_of(cluster.decide(40)), std::set<std::string>{"s"});
}

// One GPU with a 3g.40gb at 4 and two of 1g.10gb, at 3 and 2.
NodeFacts cut_beforehand(const std::string& name) {
  NodeFacts facts = one_cut(name);
  const std::vector<std::string> profiles = {"3g.40gb", "1g.10gb", "1g.10gb"};
  facts.fixed_slices = *lay_out(*find_gpu_hardware(*find_gpu_model("H100")), profiles);
  return facts;
}

TEST(LiveSlices, ThoseThatOthersCutAreGivenAsTheyAre) {
  Cluster cluster;
  cluster.add(cut_beforehand("n1"));
  for (const char* const name : {"a", "b", "c"}) cluster.set(slice(name, "1g.10gb"));
  cluster.set(slice("never", "2g.20gb"));
  const Round round = cluster.decide(2);
  EXPECT_EQ(names_of(round), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(reason_of(round, "c"),
            "Capacity: no node has a place for a 1g.10gb slice free; of those that were cut beforehand all 2 are taken "
            "(the only one has no place for it)");
  EXPECT_EQ(reason_of(round, "never"),
            "SliceGeometry: no node has a place for a 2g.20gb slice free; what was cut beforehand stays as it is: "
            "3g.40gb, 1g.10gb (the only one has no place for it)");
  cluster.gone("a");
  EXPECT_EQ(names_of(cluster.decide(3)), std::set<std::string>{"c"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

// Which of those that are alike a pod has the node decides: whoever names one that another was counted with has one of them.
TEST(LiveSlices, OneOfSeveralThatAreAlikeIsAsGoodAsTheOther) {
  Cluster cluster;
  cluster.add(cut_beforehand("n1"));
  cluster.set(bound_at(slice("foreign", "1g.10gb"), "", 1000));
  cluster.set(bound_at(slice("named", "1g.10gb"), "0:1g.10gb@3", 2000));
  cluster.set(bound_at(slice("cut-otherwise", "3g.40gb"), "0:3g.40gb@0", 3000));
  cluster.set(slice("late", "1g.10gb", 4000));
  EXPECT_TRUE(cluster.decide(5).bindings.empty());
  EXPECT_TRUE(cluster.engine().pods_without_room().empty());
  EXPECT_EQ(cluster.engine().state().ledger().layouts(NodeId(0))[0], cut_beforehand("n1").fixed_slices);
  cluster.gone("foreign");
  EXPECT_EQ(names_of(cluster.decide(6)), std::set<std::string>{"late"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveSlices, ANodeThatIsCutLaterTakesThemFromThenOn) {
  Cluster cluster;
  cluster.add(node("n1", 1));
  cluster.set(slice("s", "1g.10gb"));
  EXPECT_TRUE(cluster.decide(2).bindings.empty());
  cluster.add(one_cut("n1"));
  EXPECT_EQ(names_of(cluster.decide(3)), std::set<std::string>{"s"});
}

TEST(LiveSlices, ANodeThatIsHeldOtherwiseWaitsUntilItIsNot) {
  struct Case {
    const char* what;
    NodeFacts before, after;
    PodFacts holds, waits;
  };
  const NodeFacts whole = node("n1", 1);
  const Case cases[] = {
      {"whole GPUs where they are cut now", whole, cut(whole), pod("a", 1), slice("b", "1g.10gb", 3000)},
      {"slices where they are whole now", cut(whole), whole, slice("a", "1g.10gb"), pod("b", 1, 3000)},
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
    NodeFacts closed = each.after;
    closed.open = false;
    for (const NodeFacts& again : {closed, each.after}) {
      cluster.add(again);
      EXPECT_TRUE(cluster.decide(4).bindings.empty()) << "open or not";
    }
    EXPECT_EQ(cluster.engine().nodes_left_out().at("n1").reason, "NotUsed");
    cluster.begin_anew();
    EXPECT_TRUE(cluster.decide(5).bindings.empty());
    cluster.gone("a");
    EXPECT_EQ(names_of(cluster.decide(6)), std::set<std::string>{"b"});
    EXPECT_TRUE(cluster.engine().nodes_left_out().empty());
  }
}

TEST(LiveSlices, ANodeThatMayBeBothIsWhatTheFirstAsks) {
  Cluster cluster;
  NodeFacts turns = node("n1", 2);
  turns.other_modes = SharingSet::of(Sharing::kMig);
  cluster.add(turns);
  cluster.set(pod("whole", 1));
  ASSERT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"whole"});
  cluster.set(slice("s", "1g.10gb", 3000));
  EXPECT_TRUE(cluster.decide(3).bindings.empty());
  cluster.begin_anew();
  EXPECT_TRUE(cluster.decide(4).bindings.empty()) << "who is there is found as he is";
  cluster.gone("whole");
  EXPECT_EQ(names_of(cluster.decide(5)), std::set<std::string>{"s"});
  cluster.set(pod("again", 1, 6000));
  cluster.begin_anew();
  const Round round = cluster.decide(7);
  EXPECT_TRUE(round.bindings.empty()) << "it is cut as long as the slice is there";
  cluster.gone("s");
  EXPECT_EQ(names_of(cluster.decide(8)), std::set<std::string>{"again"});
  EXPECT_TRUE(cluster.engine().nodes_left_out().empty());
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveSlices, ANodeThatSaysWhatCannotBeIsNotUsed) {
  Cluster cluster;
  NodeFacts odd = one_cut("n1");
  odd.problem = "label berth.dev/gpu-mode: 'shared' is no mode; write mig or exclusive";
  cluster.add(odd);
  cluster.set(pod("plain", 0));
  EXPECT_TRUE(cluster.decide(2).bindings.empty());
  EXPECT_EQ(cluster.engine().nodes_left_out(),
            (std::map<std::string, NodeNews>{{"n1", {"NotUsed", "it is not used: " + odd.problem}}}));
  cluster.add(one_cut("n1"));
  EXPECT_EQ(names_of(cluster.decide(3)), std::set<std::string>{"plain"});
}

TEST(LiveSlices, AFlavorWithoutAModelHasThatOfItsNodes) {
  Cluster cluster;
  FlavorFacts spot{.name = "spot", .gpu_model = {}, .node_labels = Value::map_of({{"tier", "spot"}})};
  cluster.engine().set_flavor(spot);
  const auto in_spot = [](NodeFacts node) {
    node.labels = Value::map_of({{"tier", "spot"}});
    return node;
  };
  cluster.add(in_spot(node("a1", 1, "A30")));
  cluster.decide(1);
  cluster.add(in_spot(one_cut("n1")));
  cluster.set(slice("s", "1g.10gb"));
  EXPECT_EQ(names_of(cluster.decide(2)), std::set<std::string>{"s"});
  EXPECT_TRUE(cluster.engine().nodes_left_out().empty());
  cluster.add(in_spot(one_cut("n2", "A30")));
  cluster.decide(3);
  const auto left_out = cluster.engine().nodes_left_out();
  ASSERT_EQ(left_out.size(), 1U);
  EXPECT_EQ(left_out.at("n2").text,
            "it is not used: flavor 'spot' has GPUs of several models that are cut into slices; declare a "
            "ResourceFlavor with gpuModel for each of them");
}

TEST(LiveSlices, WhoeverTakesThemSaysWhich) {
  Cluster cluster;
  cluster.add(one_cut("n1"));
  cluster.set(slice("low", "7g.80gb"));
  cluster.decide(2);
  PodFacts high = slice("high", "1g.10gb", 3000);
  high.terms.priority = 1;
  cluster.set(high);
  const Round round = cluster.decide(3);
  ASSERT_EQ(round.taken.size(), 1U);
  EXPECT_NE(round.taken[0].text.find("takes the room of default/low of queue default, 1 x 7g.80gb, which stops by"),
            std::string::npos)
      << round.taken[0].text;
}

}  // namespace berth::live_slices_test
