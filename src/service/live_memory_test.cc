// What one life of an engine knows of the last, and one scheduler of the one before it.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/live_cluster.h"
#include "service/live_engine.h"
#include "service/live_facts.h"
#include "service/told_standings.h"

namespace berth::live_memory_test {

constexpr std::int64_t kGpuHour = 3'600'000'000;

using Amounts = std::map<std::string, std::string>;
using Names = std::set<std::string>;

QueueFacts with_budget(std::int64_t gpu_hours, std::vector<GrantSpec> grants) {
  QueueFacts facts = queue("team", 0);
  facts.spec.policies.budget_gpu_us = gpu_hours * kGpuHour;
  facts.spec.grants = std::move(grants);
  return facts;
}

PodFacts for_two_hours(const std::string& name) {
  PodFacts facts = in_queue("team", pod(name, 8));
  facts.terms.run_limit = seconds(7200);
  return facts;
}

// "used of the budget and its grants, of the first grant; left"
std::string standing_of(Cluster& cluster) {
  const BudgetStanding budget = *cluster.engine().queue_standings().at("team").budget;
  return budget.used + ", " + budget.grants.at(0).second + "; " + budget.left;
}

// Two of 8 GPUs each: the first has the grant, of 10 of the 16 GPU-hours that it may use, and the second pays of the budget.
TEST(LiveGrant, WhatItPaidIsNotBookedOnTheBudgetHoweverOftenTheEngineBegins) {
  for (const bool another_scheduler : {false, true}) {
    Cluster cluster;
    for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
    cluster.add(with_budget(100, {{10 * kGpuHour, Time{1'000'000'000}}}));
    for (const char* const name : {"a", "b"}) cluster.set(for_two_hours(name));
    ASSERT_EQ(cluster.decide(0).bindings.size(), 2u);
    for (const std::int64_t now : {1800, 1800, 2700, 3600}) {
      cluster.it_is(now);
      const std::string before = standing_of(cluster);
      cluster.write_statuses();
      another_scheduler ? cluster.begin_anew() : cluster.engine().begin_anew();
      cluster.decide(now);
      EXPECT_EQ(standing_of(cluster), before) << now << " s";
      if (now == 1800) {
        EXPECT_EQ(before, "8, 4; 78");
      }
    }
    EXPECT_EQ(standing_of(cluster), "16, 8; 78");
    cluster.it_is(7200);
    for (const char* const name : {"a", "b"}) cluster.gone(name);
    EXPECT_EQ(standing_of(cluster), "32, 10; 78");
  }
}

// It ended at 2700 s, while nobody was there: of its last two GPU-hours the grant pays as any.
TEST(LiveGrant, PaysForWhoEndedUnseen) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(with_budget(100, {{5 * kGpuHour, Time{1'000'000'000}}}));
  cluster.set(for_two_hours("a"));
  ASSERT_EQ(cluster.decide(0).bindings.size(), 1u);
  cluster.it_is(1800);
  cluster.write_statuses();
  PodFacts ended = for_two_hours("a");
  ended.stage = PodStage::kSucceeded;
  ended.bound_at = Time{0};
  ended.ended_at = Time{2'700'000};
  cluster.set(ended);
  cluster.begin_anew();
  cluster.decide(3600);
  EXPECT_EQ(standing_of(cluster), "6, 5; 99");
}

QueueFacts with_a_past(std::int64_t half_life_ms) {
  QueueFacts team = queue("team", 0);
  team.spec.policies.half_life = Duration{half_life_ms};
  return team;
}

TEST(LivePast, IsNotForgottenWhenTheEngineIsMadeAnew) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(with_a_past(3'600'000));
  cluster.set(in_queue("team", pod("p", 8)));
  ASSERT_EQ(cluster.decide(0).bindings.size(), 1u);
  cluster.it_is(3600);
  cluster.gone("p");
  cluster.engine().begin_anew();
  cluster.decide(3600);
  const auto past = [&] { return cluster.engine().queue_standings().at("team").past_use; };
  EXPECT_EQ(past(), (Amounts{{"h100", "4"}}));
  cluster.write_statuses();
  cluster.begin_anew();
  cluster.decide(7200);
  EXPECT_EQ(past(), (Amounts{{"h100", "2"}}));
}

// Steps are of 591 s, and the engine begins more often than they end.
TEST(LivePast, GrowsAlsoWhereTheEngineBeginsAllTheTime) {
  constexpr std::int64_t kWeekS = 7 * 86'400;
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(with_a_past(kWeekS * 1000));
  cluster.set(in_queue("team", pod("p", 8)));
  ASSERT_EQ(cluster.decide(0).bindings.size(), 1u);
  for (std::int64_t now = 0; now < kWeekS; now += 300) {
    cluster.engine().begin_anew();
    cluster.decide(now);
  }
  EXPECT_EQ(cluster.engine().queue_standings().at("team").past_use, (Amounts{{"h100", "3999m"}}));
}

// ---- a queue that is drained --------------------------------------------------------------------------------------------

// What can never be submitted is no reason to begin again, whatever it says of itself.
TEST(LiveDrain, WhoIsStuckInADrainedQueueCostsOneNewLifeAtMost) {
  int lives = 0;
  LiveEngine engine(Seed{1}, PlacementPolicy::kBestFit, [&] {
    ++lives;
    return Session::Recorder();
  });
  engine.set_node(node("n1"));
  QueueFacts drained = queue("team", 0);
  drained.spec.stop = QueueStop::kDrain;
  engine.set_queue(drained);
  engine.decide(Time{20'000});
  ASSERT_EQ(lives, 1);
  PodFacts stuck = in_queue("team", pod("stuck", 1, 10'000));
  stuck.problem = "it asks what is not followed";
  PodFacts half = in_gang(in_queue("team", pod("half", 1, 10'000)), "gang", 2);
  PodFacts refused = in_queue("team", pod("refused", 1, 10'000));
  refused.terms.run_limit = Duration{0};  // no such limit can be
  for (int i = 0; i < 5; ++i) {
    for (PodFacts* const facts : {&stuck, &half, &refused}) {
      facts->revision = std::to_string(i);
      engine.set_pod(*facts);
    }
    engine.decide(Time{21'000 + i});
  }
  EXPECT_EQ(lives, 2) << "one for the one that the engine refuses";
  stuck.problem.clear();
  engine.set_pod(stuck);
  EXPECT_EQ(names_of(engine.decide(Time{30'000})), Names{"stuck"});
  EXPECT_EQ(lives, 3) << "it came before the drain";
}

// ---- more flavors than there may be -------------------------------------------------------------------------------------

TEST(LiveFlavors, ThoseOfNodesStayAndWhatIsTooMuchIsSaid) {
  Cluster cluster;
  cluster.add(node("n1", 8, "T4"));
  std::vector<FlavorFacts> declared;
  for (int i = 0; i < 70; ++i) {
    declared.push_back({.name = "a" + std::to_string(100 + i), .gpu_model = "H100", .node_labels = Value::map()});
    declared.back().node_labels.set("pool", std::to_string(i));
  }
  cluster.engine().set_other_flavors(declared);
  QueueFacts team = queue("team", 0);
  team.spec.guarantee = {{"t4", Resource::kGpu, 8000}, {"a162", Resource::kGpu, 8000}, {"a163", Resource::kGpu, 8000}};
  cluster.add(team);
  cluster.set(in_queue("team", pod("p", 8)));
  const Round round = cluster.decide(10);
  EXPECT_EQ(names_of(round), Names{"p"});
  EXPECT_EQ(round.bindings.at(0).coverage, "guaranteed against everyone outside its queue");
  const auto conditions = cluster.engine().queue_standings().at("team").conditions;
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].reason, "TooManyFlavors");
  EXPECT_EQ(
      conditions[0].message,
      "its amounts of a163 count for nothing: there may be 64 flavors, and those that nodes have go first; remove "
      "ResourceFlavors and amounts that no node needs");
  EXPECT_TRUE(cluster.engine().nodes_left_out().empty());
  cluster.engine().set_other_flavors({});
  cluster.decide(11);
  EXPECT_TRUE(cluster.engine().queue_standings().at("team").conditions.empty());
  for (int i = 0; i < 64; ++i) cluster.add(node("m" + std::to_string(i), 1, "Model-" + std::to_string(100 + i)));
  cluster.decide(12);
  const auto unused = cluster.engine().nodes_left_out();
  ASSERT_EQ(unused.size(), 1u);
  EXPECT_TRUE(unused.begin()->second.text.starts_with("its GPUs (t4) are not used: there may be 64 flavors"));
}

// ---- what is told, and what is kept -------------------------------------------------------------------------------------

TEST(LiveLenders, TenAreNamedAndTheOthersCounted) {
  Cluster cluster;
  for (int i = 0; i < 13; ++i) {
    cluster.add(node("n" + std::to_string(i)));
    cluster.add(queue("owner" + std::to_string(100 + i), i == 12 ? 8 : 7));
  }
  cluster.add(queue("borrower", 0));
  for (int i = 0; i < 13; ++i) cluster.set(in_queue("borrower", pod("b" + std::to_string(i), 8)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 13u);
  const auto standings = cluster.engine().queue_standings();
  const QueueStanding& borrower = standings.at("borrower");
  EXPECT_EQ(borrower.lenders.size(), 10u);
  EXPECT_EQ(borrower.more_lenders, 3);
  EXPECT_EQ(borrower.lenders.at("owner112"), "h100:8") << "who lends most is named";
  EXPECT_TRUE(standings.at("owner100").lenders.empty());
}

TEST(ToldStandings, WhatTimeDoesIsToldSeldomAndInSteps) {
  ToldStandings told;
  QueueStanding standing{.pending = 1, .turn = "1st of 2: its share would be 1/8", .past_use = {{"h100", "4"}}};
  const auto due = [&](std::int64_t now_s) {
    standing.as_of = Time{now_s * 1000};
    const bool is_due = told.is_due("q", standing, Time{now_s * 1000});
    told.note_told("q", true);
    return is_due;
  };
  EXPECT_TRUE(due(0));
  EXPECT_FALSE(due(59));
  EXPECT_TRUE(due(60)) << "for who is started anew";
  standing.turn = "1st of 2: its share would be 11/80";
  standing.past_use["h100"] = "4040m";
  EXPECT_FALSE(due(70)) << "a hundredth, and no more";
  standing.past_use["h100"] = "4041m";
  EXPECT_FALSE(due(69));
  EXPECT_TRUE(due(70));
  standing.turn = "2nd of 2: after other (its share would be 1/8); its share would be 11/80";
  EXPECT_FALSE(due(79));
  EXPECT_TRUE(due(80)) << "another goes first";
  standing.pending = 2;
  EXPECT_TRUE(due(81)) << "somebody came";
  EXPECT_FALSE(due(82));
}

TEST(ToldStandings, OneIsOnItsWayAtATimeAndOfWhatIsGoneNothingIsKept) {
  ToldStandings told;
  QueueStanding standing{.pending = 1};
  EXPECT_TRUE(told.is_due("q", standing, Time{0}));
  standing.pending = 2;
  EXPECT_FALSE(told.is_due("q", standing, Time{1}));
  told.note_told("q", false);
  EXPECT_TRUE(told.is_due("q", standing, Time{2}));
  told.keep_only({});
  told.note_told("q", true);
  EXPECT_EQ(told.size(), 0u);
}

TEST(LiveEngine, KeepsNothingOfWhatCameAndWent) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(queue("team", 8));
  cluster.decide(0);
  const std::size_t before = cluster.engine().remembered();
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "p" + std::to_string(i);
    PodFacts facts = in_queue("team", pod(name, i % 8 + 1, i * 1000));
    facts.terms.run_limit = seconds(i + 1);
    if (i % 3 == 0) facts = in_gang(facts, name, 2);
    cluster.set(facts);
    cluster.decide(i);
    cluster.engine().queue_standings();
    cluster.gone(name);
  }
  cluster.decide(2001);
  cluster.engine().queue_standings();
  EXPECT_EQ(cluster.engine().remembered(), before);
}

}  // namespace berth::live_memory_test
