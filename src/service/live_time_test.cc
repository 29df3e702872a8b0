// What time does to live queues: budgets, windows, patience; what a scheduler that is started anew knows of it.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/live_cluster.h"
#include "service/live_engine.h"
#include "service/live_facts.h"

namespace berth::live_time_test {

constexpr std::int64_t kGpuHour = 3'600'000'000;

using Names = std::set<std::string>;

QueueFacts with_budget(const std::string& name, std::int64_t gpu_hours, std::vector<GrantSpec> grants = {}) {
  QueueFacts facts = queue(name, 0);
  facts.spec.policies.budget_gpu_us = gpu_hours * kGpuHour;
  facts.spec.grants = std::move(grants);
  return facts;
}

PodFacts limited(PodFacts pod, std::int64_t limit_s) {
  pod.terms.run_limit = seconds(limit_s);
  return pod;
}

PodFacts by(const std::string& user, PodFacts pod) {
  pod.user = user;
  return pod;
}

QueueFacts with_window(QueueFacts facts, const std::string& from, const std::string& to, std::int64_t gpus) {
  WindowSpec window;
  window.from = from;
  window.to = to;
  window.times = *WindowTimes::read("daily", from + "-" + to, "UTC");
  window.limit = {{"h100", Resource::kGpu, gpus * kMilliPerGpu}};
  facts.spec.windows.push_back(window);
  return facts;
}

std::string left_of(Cluster& cluster, const std::string& queue) {
  return cluster.engine().queue_standings().at(queue).budget->left;
}
std::string used_of(Cluster& cluster, const std::string& queue) {
  return cluster.engine().queue_standings().at(queue).budget->used;
}

Cluster with_nodes(int count) {
  Cluster cluster;
  for (int i = 1; i <= count; ++i) cluster.add(node("n" + std::to_string(i)));
  return cluster;
}

// Eight GPUs for an hour are eight GPU-hours.
TEST(LiveBudget, AdmitsWhatItCanPayAndAGrantLetsTheNextOneStart) {
  Cluster cluster = with_nodes(2);
  cluster.add(with_budget("team", 10));
  cluster.set(limited(in_queue("team", pod("first", 8, 1000)), 3600));
  cluster.set(limited(in_queue("team", pod("second", 8, 2000)), 3600));
  Round round = cluster.decide(10);
  EXPECT_EQ(names_of(round), Names{"first"});
  EXPECT_EQ(reason_of(round, "second"), "Budget: queue team has 2 GPU-hours left for it, and it may use 8 GPU-hours");
  const QueueStanding standing = cluster.engine().queue_standings().at("team");
  EXPECT_EQ(standing.budget->used, "0");
  EXPECT_EQ(standing.budget->reserved, "8");
  EXPECT_EQ(standing.budget->left, "2");
  ASSERT_EQ(standing.conditions.size(), 1u);
  EXPECT_TRUE(standing.conditions[0].holds);
  EXPECT_EQ(standing.conditions[0].message, "0 GPU-hours are used and 8 reserved, 2 are left");
  cluster.add(with_budget("team", 10, {{6 * kGpuHour, Time{100'000'000}}}));
  EXPECT_EQ(names_of(cluster.decide(20)), Names{"second"});
}

TEST(LiveBudget, WhoHasNoRunLimitIsToldToSetOne) {
  Cluster cluster = with_nodes(1);
  cluster.add(with_budget("team", 10));
  cluster.set(in_queue("team", pod("endless", 1)));
  EXPECT_EQ(
      reason_of(cluster.decide(10), "endless"),
      "Budget: queue team has a budget of GPU time, and without a run limit nobody knows what it would use: give it a "
      "limit (activeDeadlineSeconds in the spec of its pods; a Job's own counts from when it was made)");
}

// The last of its pods ends it, and one without a limit never does.
TEST(LiveBudget, AGangMayRunAsLongAsTheLongestOfItsPods) {
  Cluster cluster = with_nodes(2);
  cluster.add(with_budget("team", 100));
  cluster.set(in_gang(limited(in_queue("team", pod("a", 8)), 3600), "g", 2));
  cluster.set(in_gang(limited(in_queue("team", pod("b", 8)), 7200), "g", 2));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 2u);
  EXPECT_EQ(left_of(cluster, "team"), "68");
  cluster.begin_anew();
  ASSERT_EQ(cluster.decide(20).bindings.size(), 0u);
  EXPECT_EQ(cluster.engine().queue_standings().at("team").budget->reserved, "31.956") << "10 s of 16 GPUs are used";
  cluster.set(in_gang(limited(in_queue("team", pod("c", 0)), 3600), "h", 2));
  cluster.set(in_gang(in_queue("team", pod("d", 8)), "h", 2));
  EXPECT_TRUE(reason_of(cluster.decide(30), "c").starts_with("Budget: "));
}

TEST(LiveBudget, WhatWasUsedIsCountedWhenItEndsNotWhenSomebodyLooks) {
  Cluster cluster = with_nodes(1);
  cluster.add(with_budget("team", 10));
  cluster.set(limited(in_queue("team", pod("p", 8)), 3600));
  ASSERT_EQ(cluster.decide(0).bindings.size(), 1u);
  cluster.it_is(1800);
  cluster.gone("p");
  EXPECT_EQ(used_of(cluster, "team"), "4");
  EXPECT_EQ(left_of(cluster, "team"), "6");
}

// Every change of a queue or a machine makes the engine anew.
TEST(LiveBudget, IsNotForgottenWhenTheEngineIsMadeAnew) {
  Cluster cluster = with_nodes(2);
  cluster.add(with_budget("team", 100));
  cluster.set(limited(in_queue("team", pod("done", 8)), 3600));
  cluster.set(limited(in_queue("team", pod("runs", 8)), 36'000));
  ASSERT_EQ(cluster.decide(0).bindings.size(), 2u);
  cluster.it_is(1800);
  cluster.gone("done");
  for (const std::int64_t now : {3600, 3600, 5400}) {
    cluster.add(node("another-" + std::to_string(now)));
    cluster.engine().begin_anew();
    cluster.decide(now);
  }
  EXPECT_EQ(used_of(cluster, "team"), "16") << "4 of the one, 12 of the other";
  EXPECT_EQ(left_of(cluster, "team"), "16") << "100, less 4, less the ten hours that the other may run";
  cluster.it_is(7200);
  cluster.gone("runs");
  EXPECT_EQ(used_of(cluster, "team"), "20");
  EXPECT_EQ(left_of(cluster, "team"), "80");
}

TEST(LiveBudget, IsReadFromTheStatusOfTheQueueByTheNextScheduler) {
  Cluster cluster = with_nodes(3);
  cluster.add(with_budget("team", 100, {{10 * kGpuHour, Time{1'000'000'000}}}));
  for (const char* const name : {"done", "runs", "ends"}) cluster.set(limited(in_queue("team", pod(name, 8)), 7200));
  const Round started = cluster.decide(0);
  ASSERT_EQ(started.bindings.size(), 3u);
  cluster.it_is(900);
  cluster.gone("done");
  cluster.it_is(1800);
  cluster.write_statuses();
  const std::string used = used_of(cluster, "team");
  EXPECT_EQ(used, "10") << "2 of the one, 4 each of the others";
  // While no scheduler is there, one of them ends; its node says when.
  PodFacts ended = limited(in_queue("team", pod("ends", 8)), 7200);
  ended.stage = PodStage::kSucceeded;
  ended.bound_at = Time{0};
  ended.ended_at = Time{2'700'000};
  cluster.set(ended);
  cluster.begin_anew();
  cluster.decide(3600);
  EXPECT_EQ(used_of(cluster, "team"), "16") << "2, and 6 of the one that ended, and 8 of the one that runs";
  EXPECT_EQ(left_of(cluster, "team"), "86") << "110, less 8 that are gone, less 16 that may be";
  cluster.it_is(7200);
  cluster.gone("runs");
  EXPECT_EQ(used_of(cluster, "team"), "24");
  EXPECT_EQ(left_of(cluster, "team"), "86");
  EXPECT_EQ(cluster.engine().queue_standings().at("team").budget->grants[0].second, "10") << "it goes first";
}

// What ran before is not paid of it, but what it still may use is.
TEST(LiveBudget, BeginsWhenItIsSet) {
  Cluster cluster = with_nodes(1);
  cluster.add(queue("team", 0));
  cluster.set(limited(in_queue("team", pod("p", 8)), 7200));
  ASSERT_EQ(cluster.decide(0).bindings.size(), 1u);
  cluster.add(with_budget("team", 100));
  cluster.decide(3600);
  EXPECT_EQ(used_of(cluster, "team"), "0");
  EXPECT_EQ(left_of(cluster, "team"), "92");
  cluster.add(queue("team", 0));
  cluster.decide(5400);
  cluster.add(with_budget("team", 100));
  cluster.decide(5400);
  EXPECT_EQ(used_of(cluster, "team"), "0") << "one that was taken away is another";
}

TEST(LiveBudget, WhoRunsBeyondItSaysSoAlsoToTheNextScheduler) {
  Cluster cluster = with_nodes(1);
  QueueFacts team = with_budget("team", 1);
  team.spec.policies.budget_end = BudgetEnd::kBestEffort;
  cluster.add(team);
  cluster.set(limited(in_queue("team", pod("p", 8)), 3600));
  const Round round = cluster.decide(0);
  ASSERT_EQ(round.bindings.size(), 1u);
  EXPECT_TRUE(round.bindings[0].best_effort);
  EXPECT_EQ(round.bindings[0].coverage, "best effort: a budget had not enough left, and nothing protects it");
  PodFacts told = bound(limited(in_queue("team", pod("p", 8)), 3600), round.bindings[0], Time{0});
  told.terms.best_effort = true;  // its annotation
  cluster.set(told);
  EXPECT_TRUE(cluster.decide(1).bindings.empty());
  cluster.begin_anew();
  cluster.decide(1800);
  EXPECT_EQ(used_of(cluster, "team"), "0");
  EXPECT_EQ(left_of(cluster, "team"), "1");
}

// What they use from then on, beside what they used before: half an hour of 8 GPUs are 4 GPU-hours.
TEST(LiveBudget, ThatIsMadeSmallerIsGoneAtItsMomentAndTheSchedulerWakesForIt) {
  for (const BudgetEnd end : {BudgetEnd::kStop, BudgetEnd::kBestEffort}) {
    Cluster cluster = with_nodes(1);
    QueueFacts team = with_budget("team", 100);
    team.spec.policies.budget_end = end;
    cluster.add(team);
    cluster.set(limited(in_queue("team", pod("p", 8)), 36'000));
    ASSERT_EQ(cluster.decide(0).bindings.size(), 1u);
    team.spec.policies.budget_gpu_us = 4 * kGpuHour;
    cluster.add(team);
    EXPECT_EQ(cluster.decide(900).again_at, Time{1'800'000});
    const Round round = cluster.decide(1800);
    if (end == BudgetEnd::kStop) {
      ASSERT_EQ(evicted_in(round), Names{"p"});
      EXPECT_TRUE(
          round.evictions[0].why.starts_with("budget: its queue may hold less from now on; it stops by "
                                             "1970-01-01T00:30:30Z; since its start it has worked "));
      continue;
    }
    EXPECT_TRUE(round.evictions.empty());
    ASSERT_EQ(round.best_effort.size(), 1u);
    EXPECT_EQ(round.best_effort[0].name, "p");
    cluster.engine().begin_anew();
    EXPECT_TRUE(cluster.decide(3600).best_effort.empty()) << "it is so already";
    EXPECT_EQ(used_of(cluster, "team"), "4");
  }
}

TEST(LiveWindow, OpensAtItsMomentAndTheSchedulerWakesForIt) {
  Cluster cluster = with_nodes(1);
  QueueFacts nights = queue("nights", 0);
  nights.spec.limit = {{"h100", Resource::kGpu, 0}};
  cluster.add(with_window(nights, "20:00", "06:00", 8));
  cluster.set(in_queue("nights", pod("p", 8)));
  constexpr std::int64_t kOpens = 20 * 3600;
  Round round = cluster.decide(kOpens - 60);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(round.again_at, Time{kOpens * 1000});
  EXPECT_TRUE(cluster.decide(kOpens - 1).bindings.empty());
  round = cluster.decide(kOpens);
  EXPECT_EQ(names_of(round), Names{"p"});
  EXPECT_EQ(round.again_at, Time{(24 + 6) * 3'600'000});
  // Above the limit that comes then, it has to stop; nobody is given its room for that.
  round = cluster.decide((24 + 6) * 3600);
  ASSERT_EQ(evicted_in(round), Names{"p"});
  EXPECT_TRUE(round.evictions[0].why.starts_with(
      "window: its queue may hold less from now on; it stops by 1970-01-02T06:00:30Z; since its start it has worked "));
}

TEST(LiveWindow, WhatWasMissedWhileNobodyLookedIsTakenAtOnce) {
  Cluster cluster = with_nodes(1);
  cluster.add(with_window(queue("q", 0), "20:00", "21:00", 0));
  cluster.set(in_queue("q", pod("p", 8)));
  ASSERT_EQ(cluster.decide(3600).bindings.size(), 1u);
  const Round late = cluster.decide(3 * 86'400 + 20 * 3600 + 60);
  EXPECT_EQ(evicted_in(late), Names{"p"});
  EXPECT_EQ(late.again_at, Time{(3 * 86'400 + 21 * 3600) * std::int64_t{1000}});
  // A year later it is known as far ahead as ever.
  const Round later = cluster.decide(400 * std::int64_t{86'400});
  EXPECT_EQ(later.again_at, Time{(400 * std::int64_t{86'400} + 20 * 3600) * 1000});
}

TEST(LiveWindow, TooManyAreSaidToBeWrong) {
  Cluster cluster = with_nodes(1);
  for (const char* const name : {"a", "b"}) {
    QueueFacts facts = queue(name, 0);
    for (int i = 0; i < 40; ++i) facts = with_window(facts, "20:00", "21:00", 8);
    cluster.add(facts);
    cluster.set(in_queue(name, pod(std::string(name) + "1", 1)));
  }
  const Round round = cluster.decide(0);
  EXPECT_EQ(names_of(round), Names{"a1"});
  EXPECT_EQ(reason_of(round, "b1"), "NotFollowed: queue 'b': spec.windows: more than 64 windows");
  cluster.add(queue("a", 0));
  EXPECT_EQ(names_of(cluster.decide(1)), Names{"b1"});
}

TEST(LiveTime, TheSchedulerWakesWhenPatienceEnds) {
  Cluster cluster = with_nodes(1);
  QueueFacts owner = queue("owner", 8);
  owner.spec.policies.patience = seconds(25);
  cluster.add(owner);
  cluster.add(queue("borrower", 0));
  cluster.set(in_queue("borrower", pod("borrowed", 8)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 1u);
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  const Round round = cluster.decide(20);
  EXPECT_TRUE(round.evictions.empty());
  EXPECT_EQ(round.again_at, Time{45'000});
  EXPECT_TRUE(cluster.decide(44).evictions.empty());
  EXPECT_EQ(evicted_in(cluster.decide(45)), Names{"borrowed"});
}

TEST(LiveTime, TheSchedulerWakesWhenAProtectionEnds) {
  Cluster cluster = with_nodes(1);
  QueueFacts team = queue("team", 8);
  team.spec.policies.min_runtime = seconds(60);
  cluster.add(team);
  cluster.set(in_queue("team", pod("young", 8)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 1u);
  PodFacts urgent = in_queue("team", pod("urgent", 8, 20'000));
  urgent.terms.priority = 5;
  cluster.set(urgent);
  const Round round = cluster.decide(20);
  EXPECT_TRUE(reason_of(round, "urgent").starts_with("VictimsProtected: "));
  EXPECT_EQ(round.again_at, Time{70'000});
  EXPECT_EQ(evicted_in(cluster.decide(70)), Names{"young"});
  EXPECT_EQ(with_nodes(1).decide(20).again_at, std::nullopt) << "nobody waits for anything";
}

// Where nobody lends a borrower's protection holds against those of other queues, too.
TEST(LiveTime, TheSchedulerWakesWhenAProtectionInAnotherQueueEnds) {
  Cluster cluster = with_nodes(2);
  QueueFacts young = queue("young", 0);
  young.spec.policies.min_runtime = seconds(60);
  young.spec.policies.weight_milli = 500;
  cluster.add(young);
  QueueFacts other = queue("other", 0);
  other.spec.policies.weight_milli = 2000;
  cluster.add(other);
  for (const char* const name : {"first", "second"}) cluster.set(in_queue("young", pod(name, 8)));
  ASSERT_EQ(cluster.decide(10).bindings.size(), 2u);
  cluster.set(in_queue("other", pod("mine", 8, 20'000)));
  const Round round = cluster.decide(20);
  EXPECT_TRUE(round.evictions.empty());
  EXPECT_TRUE(reason_of(round, "mine").starts_with("VictimsProtected: "));
  EXPECT_EQ(round.again_at, Time{70'000});
  EXPECT_EQ(cluster.decide(70).evictions.size(), 1u);
}

// Its node ends it, and may be late: the room is given to the next one when it has gone.
TEST(LiveTime, WhoIsThereBeyondItsLimitKeepsNobodyOutForLonger) {
  Cluster cluster = with_nodes(1);
  cluster.add(queue("owner", 8));
  cluster.add(queue("borrower", 0));
  cluster.set(limited(in_queue("borrower", pod("late", 8)), 100));
  EXPECT_EQ(cluster.decide(10).again_at, Time{110'000});
  cluster.set(in_queue("owner", pod("mine", 8, 120'000)));
  const Round round = cluster.decide(120);
  EXPECT_TRUE(round.bindings.empty()) << "it is still there";
  EXPECT_TRUE(round.evictions.empty()) << "nobody has to tell it";
  EXPECT_EQ(reason_of(round, "mine"),
            "Capacity: others are leaving its room, by 1970-01-01T00:02:20Z at the latest; then it starts");
  cluster.begin_anew();
  EXPECT_TRUE(cluster.decide(121).bindings.empty());
  cluster.gone("late");
  EXPECT_EQ(names_of(cluster.decide(122)), Names{"mine"});
}

TEST(LiveUsers, OneHoldsNoMoreThanItsLimit) {
  Cluster cluster = with_nodes(1);
  QueueFacts team = queue("team", 0);
  team.spec.user_limit = {{"h100", Resource::kGpu, 4 * kMilliPerGpu}};
  cluster.add(team);
  for (const char* const name : {"a1", "a2"}) cluster.set(by("ann", in_queue("team", pod(name, 4))));
  cluster.set(by("bob", in_queue("team", pod("b1", 4, 2000))));
  const Round round = cluster.decide(10);
  EXPECT_EQ(round.bindings.size(), 2u);
  EXPECT_TRUE(names_of(round).contains("b1"));
  const std::string waits = names_of(round).contains("a1") ? "a2" : "a1";
  EXPECT_EQ(reason_of(round, waits),
            "UserLimit: in queue team user ann may hold 4 GPUs and holds 4 GPUs: 4 GPUs more is too much");
}

TEST(LiveStop, OfAHeldQueueNothingStartsAndWhoCameBeforeADrainMay) {
  Cluster cluster = with_nodes(1);
  QueueFacts held = queue("held", 0);
  held.spec.stop = QueueStop::kHold;
  cluster.add(held);
  cluster.add(queue("below", 0, "held"));
  cluster.set(in_queue("below", pod("kept", 1)));
  cluster.add(queue("team", 0));
  cluster.set(in_queue("team", pod("runs", 8, 1000)));
  Round round = cluster.decide(10);
  EXPECT_EQ(names_of(round), Names{"runs"});
  EXPECT_EQ(reason_of(round, "kept"), "QueueHeld: queue held is held: nothing of it starts before it is released");
  cluster.set(in_queue("team", pod("old", 8, 11'000)));
  EXPECT_TRUE(reason_of(cluster.decide(12), "old").starts_with("Capacity: "));
  QueueFacts drained = queue("team", 0);
  drained.spec.stop = QueueStop::kDrain;
  cluster.add(drained);
  cluster.decide(20);
  cluster.set(in_queue("team", pod("new", 8, 30'000)));
  EXPECT_EQ(reason_of(cluster.decide(30), "new"),
            "QueueClosed: queue team was drained before this came: it waits until the queue is released");
  cluster.write_statuses();
  cluster.begin_anew();
  cluster.decide(35);
  cluster.gone("runs");
  EXPECT_EQ(names_of(cluster.decide(40)), Names{"old"});
  cluster.gone("old");
  // A Job's controller makes another pod for one that was lost; it has its old place.
  PodFacts again = in_queue("team", pod("again", 8, 41'000));
  again.queued = Time{11'000};
  cluster.set(again);
  EXPECT_EQ(names_of(cluster.decide(41)), Names{"again"});
  cluster.gone("again");
  EXPECT_TRUE(cluster.decide(42).bindings.empty());
  cluster.add(queue("team", 0));
  EXPECT_EQ(names_of(cluster.decide(50)), Names{"new"});
  EXPECT_TRUE(cluster.engine().queue_standings().at("team").conditions.empty());
}

}  // namespace berth::live_time_test
