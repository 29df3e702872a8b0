// Quotas of live queues: who is evicted for whom, when he must have gone, and what is told.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/live_cluster.h"
#include "service/live_engine.h"
#include "service/live_facts.h"

namespace berth::live_quota_test {

// Two teams that own a node each; the second has filled both.
Cluster lent() {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(node("n2"));
  cluster.add(queue("owner", 8));
  cluster.add(queue("borrower", 8));
  cluster.set(in_queue("borrower", pod("own", 8, 1000)));
  cluster.set(in_queue("borrower", pod("borrowed", 8, 2000)));
  const Round round = cluster.decide(10);
  EXPECT_EQ(round.bindings.at(0).coverage, "guaranteed against everyone outside its queue");
  EXPECT_EQ(round.bindings.at(1).coverage, "borrowed: it may have to leave within 60 s, when its owners need it");
  return cluster;
}

TEST(LiveQuota, AnOwnerTakesBackWhatItLentAndStartsWhenTheBorrowerHasGone) {
  Cluster cluster = lent();
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  Round round = cluster.decide(20);
  EXPECT_TRUE(round.bindings.empty());
  ASSERT_EQ(evicted_in(round), std::set<std::string>{"borrowed"});
  EXPECT_EQ(round.evictions[0].signal_at, Time{20'000});
  EXPECT_EQ(round.evictions[0].stop_by, Time{50'000}) << "its whole grace";
  EXPECT_EQ(
      round.evictions[0].why,
      "reclaim: its room goes to default/mine of queue 'owner'; it stops by 1970-01-01T00:00:50Z; since its start "
      "it has worked 80 GPU-seconds, lost unless it saves them");
  ASSERT_EQ(round.taken.size(), 1U);
  EXPECT_EQ(round.taken[0].pod.name, "mine");
  EXPECT_EQ(round.taken[0].text,
            "reclaim: takes the room of default/borrowed of queue borrower, 8 GPUs, which stops by "
            "1970-01-01T00:00:50Z");
  EXPECT_EQ(reason_of(round, "mine"),
            "Capacity: others are leaving its room, by 1970-01-01T00:00:50Z at the latest; then it starts");
  // What comes in its place does not get the room.
  cluster.set(in_queue("borrower", pod("again", 8, 25'000)));
  round = cluster.decide(25);
  EXPECT_TRUE(round.bindings.empty() && round.evictions.empty());
  cluster.gone("borrowed");
  round = cluster.decide(30);
  EXPECT_EQ(names_of(round), std::set<std::string>{"mine"});
  EXPECT_TRUE(round.evictions.empty());
}

TEST(LiveQuota, ASchedulerThatIsStartedAnewGoesOnWhereTheOtherStopped) {
  Cluster cluster = lent();
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  ASSERT_EQ(evicted_in(cluster.decide(20)), std::set<std::string>{"borrowed"});
  cluster.begin_anew();
  Round round = cluster.decide(22);
  EXPECT_TRUE(round.evictions.empty()) << "one has gone for it already";
  EXPECT_TRUE(round.bindings.empty());
  cluster.engine().begin_anew();
  EXPECT_TRUE(cluster.decide(23).evictions.empty());
  cluster.gone("borrowed");
  EXPECT_EQ(names_of(cluster.decide(30)), std::set<std::string>{"mine"});
}

// Whoever may write a pod may give it another owner, and with that another group.
TEST(LiveQuota, WhoGotAnotherOwnerWhileItRanGoesAsAnyOther) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(queue("owner", 8));
  cluster.add(queue("borrower", 0));
  PodFacts turncoat = in_gang(in_queue("borrower", pod("turncoat", 8)), "g", 1);
  cluster.set(turncoat);
  const Round started = cluster.decide(10);
  ASSERT_EQ(started.bindings.size(), 1u);
  turncoat = bound(turncoat, started.bindings[0], Time{10'000});
  turncoat.group += "other";
  cluster.set(turncoat);
  EXPECT_TRUE(cluster.decide(15).bindings.empty());
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  EXPECT_EQ(evicted_in(cluster.decide(20)), std::set<std::string>{"turncoat"});
  cluster.gone("turncoat");
  EXPECT_EQ(names_of(cluster.decide(30)), std::set<std::string>{"mine"});
}

TEST(LiveQuota, WhoIsToStartOnANodeThatIsDrainedMeanwhileWaitsAnew) {
  Cluster cluster = lent();
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  ASSERT_EQ(evicted_in(cluster.decide(20)), std::set<std::string>{"borrowed"});
  for (const char* const name : {"n1", "n2"}) {
    NodeFacts closed = node(name);
    closed.open = false;
    cluster.add(closed);
  }
  cluster.gone("borrowed");
  EXPECT_TRUE(cluster.decide(30).bindings.empty());
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  EXPECT_EQ(names_of(cluster.decide(40)), std::set<std::string>{"mine"});
}

TEST(LiveQuota, AHostileBorrowerGoesWithinTheLendersTime) {
  Cluster cluster;
  cluster.add(node("n1"));
  QueueFacts owner = queue("owner", 8);
  owner.spec.policies.reclaim_within = seconds(45);
  cluster.add(owner);
  cluster.add(queue("borrower", 0));
  cluster.engine().set_budget({"default", "keep-all", LabelSelector(), true});
  PodFacts hostile = in_queue("borrower", pod("hostile", 8));
  hostile.terms.grace = seconds(86'400);
  cluster.set(hostile);
  ASSERT_EQ(cluster.decide(10).bindings.size(), 1u);
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  const Round round = cluster.decide(20);
  ASSERT_EQ(round.evictions.size(), 1u);
  EXPECT_EQ(round.evictions[0].signal_at, Time{20'000});
  EXPECT_EQ(round.evictions[0].stop_by, Time{65'000});
}

TEST(LiveQuota, AGangGoesWholeAndWhatComesInItsPlaceIsAWholeGang) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  cluster.add(queue("owner", 8));
  cluster.add(queue("borrower", 0));
  for (const char* const name : {"g0", "g1"}) cluster.set(in_gang(in_queue("borrower", pod(name, 8)), "g", 2));
  Round round = cluster.decide(10);
  ASSERT_EQ(round.bindings.size(), 2u);
  cluster.engine().note_workload_told(round.workloads.at(0).group);
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  round = cluster.decide(20);
  ASSERT_EQ(evicted_in(round), (std::set<std::string>{"g0", "g1"}));
  ASSERT_EQ(round.workloads.size(), 1u);
  EXPECT_EQ(round.workloads[0].phase, WorkloadPhase::kEvicted);
  cluster.engine().note_workload_told(round.workloads[0].group);
  cluster.gone("g0");
  cluster.set(in_gang(in_queue("borrower", pod("g2", 8, 22'000)), "g", 2));
  const std::set<std::string> first = names_of(cluster.decide(22));
  EXPECT_FALSE(first.contains("g2")) << "one of two";
  cluster.gone("g1");
  cluster.set(in_gang(in_queue("borrower", pod("g3", 8, 23'000)), "g", 2));
  round = cluster.decide(23);
  EXPECT_TRUE(first.contains("mine") != names_of(round).contains("mine"));
  EXPECT_TRUE(round.rollbacks.empty());
  cluster.gone("mine");
  EXPECT_EQ(names_of(cluster.decide(40)), (std::set<std::string>{"g2", "g3"}));
}

// A Job's controller says since when it waits; the pods that it makes for those that were evicted have their place again.
TEST(LiveQuota, WhoWasEvictedIsTheFirstOfItsQueueAgain) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(queue("owner", 8));
  cluster.add(queue("borrower", 0));
  cluster.set(in_queue("borrower", pod("first", 8, 1000)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 1u);
  cluster.set(in_queue("borrower", pod("second", 8, 2000)));
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  ASSERT_EQ(evicted_in(cluster.decide(20)), std::set<std::string>{"first"});
  cluster.gone("first");
  PodFacts again = in_queue("borrower", pod("again", 8, 21'000));
  again.queued = Time{1000};
  cluster.set(again);
  ASSERT_EQ(names_of(cluster.decide(21)), std::set<std::string>{"mine"});
  cluster.gone("mine");
  EXPECT_EQ(names_of(cluster.decide(30)), std::set<std::string>{"again"});
}

TEST(LiveQuota, AHigherPriorityTakesFromALowerOneOfItsQueueAndSparesWhatWasWrittenDown) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  for (const char* const name : {"saved", "unsaved"}) cluster.set(in_queue("default", pod(name, 8)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 2u);
  for (const char* const name : {"saved", "unsaved"}) {
    PodFacts facts = in_queue("default", pod(name, 8));
    facts.stage = PodStage::kBound;
    facts.node = std::string(name) == "saved" ? "n1" : "n2";
    facts.bound_at = Time{10'000};
    facts.given = {GpuSet::from_bits(255)};
    if (std::string(name) == "saved") facts.checkpoint = Time{500'000};
    cluster.set(facts);
  }
  PodFacts urgent = in_queue("default", pod("urgent", 8, 600'000));
  urgent.terms.priority = 10;
  cluster.set(urgent);
  const Round round = cluster.decide(600);
  EXPECT_EQ(evicted_in(round), std::set<std::string>{"saved"});
  EXPECT_TRUE(round.evictions.at(0).why.starts_with("preempt: ")) << round.evictions.at(0).why;
}

TEST(LiveQuota, WhoMustNotBeTakenYetIsToldWhenTheTimeHasCome) {
  Cluster cluster;
  cluster.add(node("n1"));
  QueueFacts lower = queue("q", 0);
  lower.spec.policies.min_runtime = seconds(50);
  cluster.add(lower);
  QueueFacts owner = queue("owner", 8);
  cluster.add(owner);
  cluster.set(in_queue("q", pod("young", 8)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 1u);
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  const Round round = cluster.decide(20);
  ASSERT_EQ(round.evictions.size(), 1u);
  EXPECT_EQ(round.evictions[0].stop_by, Time{60'000});
  EXPECT_EQ(round.evictions[0].signal_at, Time{30'000}) << "its grace ends when it may be taken";
}

TEST(LiveQuota, WhereNobodyWroteAPolicyBorrowersTakeNothingFromEachOther) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(queue("a", 0));
  cluster.add(queue("b", 0));
  for (const char* const name : {"a1", "a2"}) cluster.set(in_queue("a", pod(name, 4)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 2u);
  cluster.set(in_queue("b", pod("b1", 4, 20'000)));
  EXPECT_TRUE(cluster.decide(20).evictions.empty());
  QueueFacts weighty = queue("a", 0);
  weighty.spec.policies.weight_milli = 2000;
  cluster.add(weighty);
  QueueFacts light = queue("b", 0);
  light.spec.policies.weight_milli = 3000;
  cluster.add(light);
  EXPECT_EQ(cluster.decide(30).evictions.size(), 1u);
}

TEST(LiveQuota, FlavorsAreTheNodesThatTheyName) {
  Cluster cluster;
  NodeFacts spot = node("n1");
  spot.labels = Value::map_of({{"tier", "spot"}});
  cluster.engine().set_flavor({.name = "spot", .gpu_model = "H100", .node_labels = Value::map_of({{"tier", "spot"}})});
  cluster.add(spot);
  cluster.add(node("n2"));
  QueueFacts limited = queue("q", 0);
  limited.spec.limit = {{"spot", Resource::kGpu, 4000}, {"h100", Resource::kGpu, 2000}};
  cluster.add(limited);
  for (const char* const name : {"p1", "p2", "p3", "p4"}) cluster.set(in_queue("q", pod(name, 2)));
  const Round round = cluster.decide(10);
  std::map<std::string, int> on;
  for (const Binding& binding : round.bindings) ++on[binding.node];
  EXPECT_EQ(on, (std::map<std::string, int>{{"n1", 2}, {"n2", 1}}));
  std::string waits;
  for (const char* const name : {"p1", "p2", "p3", "p4"}) waits += reason_of(round, name);
  EXPECT_TRUE(waits.starts_with("QuotaLimit: ")) << waits;
  PodFacts by_name = in_queue("default", pod("by-name", 1));
  by_name.gpu_models = {"spot"};
  cluster.set(by_name);
  EXPECT_EQ(cluster.decide(20).bindings.at(0).node, "n1");
}

TEST(LiveQuota, AQueueTellsWhatItHoldsOfItsFloorAndBeyond) {
  Cluster cluster = lent();
  const auto standings = cluster.engine().queue_standings();
  using Amounts = std::map<std::string, std::string>;
  EXPECT_EQ(standings.at("borrower").used, (Amounts{{"h100", "16"}}));
  EXPECT_EQ(standings.at("borrower").guaranteed, (Amounts{{"h100", "8"}}));
  EXPECT_EQ(standings.at("borrower").borrowed, (Amounts{{"h100", "8"}}));
  EXPECT_EQ(standings.at("borrower").share, "1/2");
  EXPECT_EQ(standings.at("owner").used, (Amounts{{"h100", "0"}}));
  EXPECT_EQ(standings.at("owner").guaranteed, (Amounts{{"h100", "0"}}));
  EXPECT_EQ(standings.at("owner").borrowed, Amounts());
  EXPECT_EQ(standings.at("owner").floor, (Amounts{{"h100", "8"}}));
  EXPECT_EQ(standings.at("owner").lent, (Amounts{{"h100", "8"}}));
  EXPECT_EQ(standings.at("borrower").lenders, (Amounts{{"owner", "h100:8"}}));
  EXPECT_EQ(standings.at("borrower").lent, Amounts());
  const Value::List& parts = standings.at("borrower").share_parts.items();
  ASSERT_EQ(parts.size(), 3U) << "GPUs, CPUs, memory";
  EXPECT_EQ(parts[0]["resource"].text(), "gpu");
  EXPECT_EQ(parts[0]["share"].text(), "1/2");
  EXPECT_EQ(parts[0]["above"]["h100"].text(), "8");
  EXPECT_EQ(parts[0]["capacity"]["h100"].text(), "16");
}

TEST(LiveQuota, AQueueTellsWhoIsNextAndWhoGoesBeforeIt) {
  Cluster cluster = lent();
  cluster.add(queue("third", 0));
  for (const auto& [name, at] : std::vector<std::pair<std::string, std::int64_t>>{{"a", 20'000}, {"b", 21'000}}) {
    cluster.set(in_queue("third", pod(name, 8, at)));
  }
  cluster.set(in_queue("borrower", pod("more", 4, 22'000)));
  cluster.decide(30);
  const auto standings = cluster.engine().queue_standings();
  EXPECT_EQ(standings.at("third").waiting, (std::vector<std::string>{"default/a", "default/b"}));
  EXPECT_EQ(standings.at("third").turn, "1st of 2 at the top: its share would be 1/2");
  EXPECT_EQ(standings.at("borrower").turn,
            "2nd of 2 at the top: after third (its share would be 1/2); its share would be 3/4");
  EXPECT_EQ(standings.at("owner").turn, "");
  EXPECT_TRUE(standings.at("owner").waiting.empty());
}

}  // namespace berth::live_quota_test
