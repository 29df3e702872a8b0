#include "service/live_engine.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "service/live_facts.h"

namespace berth::live_engine_test {

TEST(LiveEngine, BindsPodsToNodesWithTheDevicesTheyGet) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1", 2));
  engine.set_pod(pod("a", 1));
  engine.set_pod(pod("b", 1, 2000));
  engine.set_pod(pod("c", 1, 3000));
  const Round round = engine.decide(Time{5000});
  EXPECT_EQ(names_of(round), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(round.bindings[0].given.gpus.bits() | round.bindings[1].given.gpus.bits(), 3u);
  EXPECT_EQ(reason_of(round, "c"), "Capacity: no node has 1 GPU free (the only one has none free)");
}

TEST(LiveEngine, AGangStartsWholeOrNotAtAll) {
  LiveEngine engine(Seed{1});
  for (const char* name : {"n1", "n2", "n3"}) engine.set_node(node(name));
  for (const char* name : {"g0", "g1", "g2"}) engine.set_pod(in_gang(pod(name, 8), "g", 4));
  Round round = engine.decide(Time{2000});
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(reason_of(round, "g0"), "GangIncomplete: its group starts together, and 1 of 4 pods have not been created");
  engine.set_pod(in_gang(pod("g3", 8), "g", 4));
  round = engine.decide(Time{3000});
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(reason_of(round, "g3"),
            "Invalid: room for 3 of 4 pods (3 nodes: each has room); never: with all nodes idle there is room for 3 of "
            "4 pods");
  engine.set_node(node("n4"));
  round = engine.decide(Time{4000});
  EXPECT_EQ(names_of(round), (std::set<std::string>{"g0", "g1", "g2", "g3"}));
}

TEST(LiveEngine, EachPodOfAGangGivesItsPlaceBackWhenItEnds) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  engine.set_node(node("n2"));
  const PodFacts first = in_gang(pod("g0", 8), "g", 2);
  engine.set_pod(first);
  engine.set_pod(in_gang(pod("g1", 8), "g", 2));
  Round round = engine.decide(Time{2000});
  ASSERT_EQ(round.bindings.size(), 2u);
  engine.set_pod(pod("later", 8, 5000));
  EXPECT_TRUE(engine.decide(Time{5000}).bindings.empty());
  PodFacts done = first;
  done.stage = PodStage::kSucceeded;
  engine.set_pod(done);
  EXPECT_EQ(names_of(engine.decide(Time{6000})), std::set<std::string>{"later"});
}

TEST(LiveEngine, AReplacementNeedsOnlyItsOwnPlace) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  engine.set_node(node("n2"));
  std::vector<PodFacts> pods = {in_gang(pod("g0", 8), "g", 2), in_gang(pod("g1", 8), "g", 2)};
  for (const PodFacts& each : pods) engine.set_pod(each);
  const Round round = engine.decide(Time{2000});
  for (const Binding& binding : round.bindings) {
    engine.set_pod(bound(pods[binding.pod.name == "g0" ? 0 : 1], binding, Time{2000}));
  }
  engine.remove_pod("uid-g1");
  engine.set_pod(in_gang(pod("g1-again", 8, 9000), "g", 2));
  const Round repair = engine.decide(Time{9000});
  EXPECT_EQ(names_of(repair), std::set<std::string>{"g1-again"});
  EXPECT_TRUE(repair.rollbacks.empty());
}

TEST(LiveEngine, ARestartTakesOverWhatRunsAndDecidesTheSame) {
  LiveEngine before(Seed{1});
  LiveEngine after(Seed{1});
  for (LiveEngine* engine : {&before, &after}) {
    engine->set_node(node("n1"));
    engine->set_node(node("n2"));
  }
  const PodFacts running = pod("running", 4);
  before.set_pod(running);
  const Round round = before.decide(Time{2000});
  ASSERT_EQ(round.bindings.size(), 1u);
  const PodFacts told = bound(running, round.bindings[0], Time{2000});
  before.set_pod(told);
  after.set_pod(told);
  for (LiveEngine* engine : {&before, &after}) engine->set_pod(pod("next", 4, 3000));
  const Round one = before.decide(Time{4000});
  const Round other = after.decide(Time{4000});
  ASSERT_EQ(one.bindings.size(), 1u);
  ASSERT_EQ(other.bindings.size(), 1u);
  EXPECT_EQ(one.bindings[0].node, other.bindings[0].node);
  EXPECT_EQ(one.bindings[0].given, other.bindings[0].given);
}

TEST(LiveEngine, TellsHowAGroupStandsWhenThatChanges) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  std::vector<PodFacts> pods = {in_gang(pod("g0", 8), "g", 2), in_gang(pod("g1", 8), "g", 2)};
  for (const PodFacts& each : pods) engine.set_pod(each);
  Round round = engine.decide(Time{2000});
  ASSERT_EQ(round.workloads.size(), 1u);
  EXPECT_EQ(round.workloads[0].phase, WorkloadPhase::kPending);
  EXPECT_TRUE(round.workloads[0].text.starts_with("Invalid: ")) << round.workloads[0].text;
  EXPECT_TRUE(engine.decide(Time{3000}).workloads.empty());
  engine.note_workload_told(round.workloads[0].group);
  engine.set_node(node("n2"));
  round = engine.decide(Time{4000});
  ASSERT_EQ(round.workloads.size(), 1u);
  EXPECT_EQ(round.workloads[0].phase, WorkloadPhase::kAdmitted);
  EXPECT_EQ(round.workloads[0].size, 2);
  engine.note_workload_told(round.workloads[0].group);
  for (PodFacts& each : pods) {
    each.stage = PodStage::kSucceeded;
    engine.set_pod(each);
  }
  round = engine.decide(Time{5000});
  ASSERT_EQ(round.workloads.size(), 1u);
  EXPECT_EQ(round.workloads[0].phase, WorkloadPhase::kFinished);
}

// g0 has succeeded and is gone; who was made for a gang of two is made anew for one of one.
TEST(LiveEngine, AGroupIsAsLargeAsThoseSayWhoHaveNotEnded) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  PodFacts done = in_gang(pod("g0", 4), "g", 2);
  done.stage = PodStage::kFailed;
  engine.set_pod(done);
  engine.set_pod(in_gang(pod("g1", 4), "g", 2));
  EXPECT_TRUE(engine.decide(Time{2000}).bindings.empty());
  engine.remove_pod("uid-g1");
  engine.set_pod(in_gang(pod("g1-again", 4), "g", 1));
  EXPECT_EQ(names_of(engine.decide(Time{3000})), std::set<std::string>{"g1-again"});
}

TEST(LiveEngine, AGangThatWasCompletedInTheSameRoundIsNotTakenBack) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  const PodFacts first = in_gang(pod("g0", 4), "g", 2);
  const PodFacts second = in_gang(pod("g1", 4), "g", 2);
  engine.set_pod(bound(first, {{}, "n1", {GpuSet::from_bits(15)}}, Time{1500}));
  engine.set_pod(second);
  ASSERT_EQ(names_of(engine.decide(Time{10'000})), std::set<std::string>{"g1"});
  EXPECT_TRUE(engine.decide(Time{20'000}).rollbacks.empty()) << "its binding is on its way";
  engine.refuse_binding("uid-g1");
  EXPECT_EQ(names_of(engine.decide(Time{21'000})), std::set<std::string>{"g1"});
  EXPECT_TRUE(engine.decide(Time{30'000}).rollbacks.empty());
}

TEST(LiveEngine, WhatTheServerRefusesWaitsAgain) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1", 1));
  engine.set_pod(pod("a", 1));
  ASSERT_EQ(engine.decide(Time{2000}).bindings.size(), 1u);
  EXPECT_TRUE(engine.decide(Time{2500}).bindings.empty());
  engine.refuse_binding("uid-a");
  EXPECT_EQ(names_of(engine.decide(Time{3000})), std::set<std::string>{"a"});
}

TEST(LiveEngine, AGangThatStaysHalfBoundIsTakenBackAfterFiveSeconds) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  PodFacts first = in_gang(pod("g0", 8), "g", 2);
  first.revision = "17";
  engine.set_pod(bound(first, {{}, "n1", {GpuSet::from_bits(255)}}, Time{1500}));
  engine.set_pod(in_gang(pod("g1", 8), "g", 2));
  Round round = engine.decide(Time{10'000});
  EXPECT_TRUE(round.rollbacks.empty());
  EXPECT_EQ(round.again_at, Time{15'000});
  round = engine.decide(Time{15'000});
  ASSERT_EQ(round.rollbacks.size(), 1u);
  EXPECT_EQ(round.rollbacks[0].pod.name, "g0");
  EXPECT_EQ(round.rollbacks[0].revision, "17");
  EXPECT_EQ(round.rollbacks[0].why, "its gang could not be completed: 1 of 2 pods had a place for more than 5 s");
}

TEST(LiveEngine, SaysWhatKeepsAPodFromBeingTried) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1"));
  engine.set_queue({.name = "held", .spec = {.order = Order::kFifo, .stop = QueueStop::kHold}});
  engine.set_queue({.name = "below", .spec = {.parent = "held"}});
  PodFacts unknown_queue = pod("unknown", 1);
  unknown_queue.queue = "nowhere";
  PodFacts held = pod("held", 1);
  held.queue = "held";
  PodFacts below = pod("below", 1);
  below.queue = "below";
  PodFacts other_type = pod("other", 1);
  other_type.gpu_models = {"B200", "A100"};
  PodFacts unfollowed = pod("unfollowed", 1);
  unfollowed.problem = "it asks for resourceClaims, which is not followed yet; leave it out";
  PodFacts too_large = pod("large", 9);
  for (const PodFacts& each : {unknown_queue, held, below, other_type, unfollowed, too_large}) engine.set_pod(each);
  const Round round = engine.decide(Time{2000});
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(reason_of(round, "unknown"),
            "QueueUnknown: there is no queue 'nowhere'; create it, or name another in the "
            "label berth.dev/queue");
  EXPECT_EQ(reason_of(round, "held"), "QueueHeld: queue held is held: nothing of it starts before it is released");
  EXPECT_EQ(reason_of(round, "below"), "QueueHeld: queue held is held: nothing of it starts before it is released");
  EXPECT_EQ(reason_of(round, "other"), "GpuType: no node has a GPU of type B200 or A100");
  EXPECT_EQ(reason_of(round, "unfollowed"), "NotFollowed: " + unfollowed.problem);
  EXPECT_EQ(reason_of(round, "large"),
            "Invalid: no node has 9 GPUs free (the only one has 8 free); never: not even with all nodes idle");
  engine.set_node(node("n2", 4, "A100"));
  EXPECT_EQ(names_of(engine.decide(Time{3000})), std::set<std::string>{"other"});
  engine.set_queue({.name = "held", .spec = {.order = Order::kFifo}});
  EXPECT_EQ(names_of(engine.decide(Time{4000})), (std::set<std::string>{"held", "below"}));
}

TEST(LiveEngine, AReasonIsToldWhenItChangesAndItsNumbersNotMoreOftenThanEveryTenSeconds) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1", 1));
  PodFacts waits = pod("a", 2);
  waits.revision = "7";
  engine.set_pod(waits);
  const Round first = engine.decide(Time{1000});
  EXPECT_NE(reason_of(first, "a"), "");
  EXPECT_EQ(first.reasons.at(0).revision, "7");
  EXPECT_EQ(reason_of(engine.decide(Time{1100}), "a"), "");
  engine.note_told("uid-a");
  engine.set_node(node("n2", 1));
  const Round round = engine.decide(Time{1200});
  EXPECT_EQ(reason_of(round, "a"), "");
  EXPECT_EQ(round.again_at, Time{11'000});
  EXPECT_NE(reason_of(engine.decide(Time{11'000}), "a"), "");
}

// Of two calls on their way the first could be the last to arrive.
TEST(LiveEngine, NothingMoreIsToldOfAPodOrGroupUntilTheLastTellingWasAnswered) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1", 1));
  engine.set_pod(in_gang(pod("g0", 8), "g", 2));
  Round round = engine.decide(Time{2000});
  ASSERT_EQ(reason_of(round, "g0").substr(0, 14), "GangIncomplete");
  ASSERT_EQ(round.workloads.size(), 1u);
  engine.set_pod(in_gang(pod("g1", 8), "g", 2));
  round = engine.decide(Time{3000});
  EXPECT_EQ(reason_of(round, "g0"), "");
  EXPECT_EQ(reason_of(round, "g1").substr(0, 7), "Invalid");
  EXPECT_TRUE(round.workloads.empty());
  engine.note_told("uid-g0");
  engine.note_workload_told("default/g/");
  round = engine.decide(Time{3100});
  EXPECT_EQ(reason_of(round, "g0").substr(0, 7), "Invalid");
  EXPECT_EQ(reason_of(round, "g1"), "");
  ASSERT_EQ(round.workloads.size(), 1u);
  EXPECT_EQ(round.workloads[0].text.substr(0, 7), "Invalid");
}

TEST(LiveEngine, AClosedNodeKeepsItsPodsAndTakesNoNewOnes) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1", 2));
  engine.set_pod(pod("a", 1));
  ASSERT_EQ(engine.decide(Time{1000}).bindings.size(), 1u);
  NodeFacts closed = node("n1", 2);
  closed.open = false;
  engine.set_node(closed);
  engine.set_pod(pod("b", 1, 2000));
  EXPECT_TRUE(engine.decide(Time{2000}).bindings.empty());
  engine.set_node(node("n1", 2));
  EXPECT_EQ(names_of(engine.decide(Time{3000})), std::set<std::string>{"b"});
}

TEST(LiveEngine, PodsFoundWithoutRoomAreToldAndTakeTheirPlaceWhenThereIsSome) {
  LiveEngine engine(Seed{1});
  engine.set_node(node("n1", 1));
  engine.set_pod(bound(pod("a", 1), {{}, "n1", {GpuSet::from_bits(1)}}, Time{1}));
  engine.decide(Time{1000});
  engine.set_pod(bound(pod("b", 1), {{}, "n1", {GpuSet::from_bits(1)}}, Time{1}));
  engine.set_pod(bound(pod("c", 1), {{}, "gone", {GpuSet::from_bits(1)}}, Time{1}));
  engine.decide(Time{2000});
  EXPECT_EQ(engine.pods_without_room(),
            (std::map<std::string, std::string>{{"uid-b", "its GPUs are not free on that node"},
                                                {"uid-c", "its node gone is not there"}}));
  engine.remove_pod("uid-a");
  engine.set_node(node("gone", 1));
  engine.decide(Time{3000});
  EXPECT_TRUE(engine.pods_without_room().empty());
  EXPECT_EQ(engine.state().running(), 2u);
}

TEST(LiveEngine, CountsWorkloadsByQueue) {
  LiveEngine engine(Seed{1});
  engine.set_queue({.name = "research", .spec = {.order = Order::kFifo}});
  engine.set_node(node("n1", 1));
  PodFacts other = pod("b", 1);
  other.queue = "research";
  for (const char* name : {"g0", "g1"}) engine.set_pod(in_gang(pod(name, 8, 9000), "g", 2));
  engine.set_pod(pod("a", 1));
  engine.set_pod(other);
  engine.decide(Time{1000});
  const auto counts = engine.queue_standings();
  EXPECT_EQ(counts.at(std::string(kDefaultQueue)).running + counts.at("research").running, 1);
  EXPECT_EQ(counts.at(std::string(kDefaultQueue)).pending + counts.at("research").pending, 2) << "the gang is one";
}

}  // namespace berth::live_engine_test
