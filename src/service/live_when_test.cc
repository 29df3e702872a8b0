// What pods say of time, in a live engine: not before, their hours, how long they wait at most, and turns.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "service/live_cluster.h"
#include "service/live_facts.h"
#include "state/invariants.h"

namespace berth::live_when_test {

using Names = std::set<std::string>;

constexpr std::int64_t kHour = 3600;

Cluster one_node() {
  Cluster cluster;
  cluster.add(node("n1"));
  return cluster;
}

PodFacts in_hours(PodFacts pod, const std::string& hours, std::optional<std::int64_t> limit_s = {}) {
  pod.time.hours = WrittenHours{"daily " + hours + " UTC", *WindowTimes::read("daily", hours, "UTC")};
  pod.terms.grace = seconds(30);
  if (limit_s) pod.terms.run_limit = seconds(*limit_s);
  return pod;
}

PodFacts waiting_at_most(PodFacts pod, MaxWait wait) {
  pod.time.max_wait = wait;
  return pod;
}

PodFacts singleton(PodFacts pod, const std::string& user, const std::string& name = "nightly") {
  pod.user = user;
  pod.time.singleton = name;
  return pod;
}

TEST(LiveWhen, NobodyStartsBeforeHeIsTo) {
  Cluster cluster = one_node();
  PodFacts later = pod("later", 8);
  later.time.not_before = Time{100'000};
  cluster.set(later);
  Round round = cluster.decide(10);
  EXPECT_EQ(names_of(round), Names{});
  EXPECT_EQ(reason_of(round, "later"), "NotBefore: it is not to start before 1970-01-01T00:01:40Z");
  EXPECT_EQ(round.again_at, Time{100'000}) << "the scheduler wakes by itself";
  cluster.begin_anew();
  EXPECT_EQ(names_of(cluster.decide(99)), Names{});
  EXPECT_EQ(names_of(cluster.decide(100)), Names{"later"});
}

TEST(LiveWhen, WhoHasHoursRunsInThemAlone) {
  Cluster cluster = one_node();
  cluster.set(in_hours(pod("night", 8), "20:00-08:00"));
  Round round = cluster.decide(8 * kHour);
  EXPECT_EQ(names_of(round), Names{});
  EXPECT_TRUE(reason_of(round, "night").starts_with("Calendar: it runs in its hours alone"))
      << reason_of(round, "night");
  EXPECT_EQ(round.again_at, Time{20 * kHour * 1000});
  EXPECT_EQ(names_of(cluster.decide(20 * kHour)), Names{"night"});
  // Another scheduler finds it running, and its hours.
  cluster.begin_anew();
  round = cluster.decide(21 * kHour);
  EXPECT_EQ(round.evictions.size(), 0U);
  EXPECT_EQ(round.again_at, Time{32 * kHour * 1000});
  round = cluster.decide(32 * kHour);
  ASSERT_EQ(evicted_in(round), Names{"night"});
  EXPECT_TRUE(round.evictions[0].why.starts_with("window: its hours are over (berth.dev/hours); it stops by "))
      << round.evictions[0].why;
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

TEST(LiveWhen, WithALimitItHasToEndInItsHours) {
  Cluster cluster = one_node();
  cluster.set(in_hours(pod("long", 8), "20:00-08:00", 13 * kHour));
  cluster.set(in_hours(pod("short", 4), "20:00-08:00", 2 * kHour));
  const Round round = cluster.decide(30 * kHour + 60);
  EXPECT_EQ(names_of(round), Names{}) << "it is 06:01";
  EXPECT_TRUE(reason_of(round, "long").contains("never: its limit")) << reason_of(round, "long");
  EXPECT_EQ(names_of(cluster.decide(44 * kHour)), Names{"short"});
}

// Those that nobody keeps any more make room.
TEST(LiveWhen, ThereAreSoManyDifferentHours) {
  Cluster cluster = one_node();
  const auto hours = [](int i) {
    const std::string minute = (i < 10 ? "0" : "") + std::to_string(i);
    return "0" + std::to_string(i / 60) + ":" + (i < 60 ? minute : "0" + std::to_string(i - 60)) + "-23:00";
  };
  for (int i = 0; i < 64; ++i) cluster.set(in_hours(pod("p" + std::to_string(i), 0, 1000 + i), hours(i)));
  cluster.set(in_hours(pod("last", 0, 5000), "02:00-23:00"));
  Round round = cluster.decide(23 * kHour + 60);
  EXPECT_TRUE(reason_of(round, "last")
                  .starts_with("NotFollowed: annotation berth.dev/hours: with it there are more than "
                               "64 different hours"))
      << reason_of(round, "last");
  cluster.engine().note_told("uid-last");
  cluster.gone("p0");
  PodFacts again = in_hours(pod("again", 0, 6000), "02:30-23:00");
  cluster.set(again);
  round = cluster.decide(23 * kHour + 61);
  EXPECT_EQ(round.again_at, Time{(23 * kHour + 61) * 1000}) << "it begins anew, without those of p0";
  round = cluster.decide(23 * kHour + 62);
  EXPECT_TRUE(reason_of(round, "last").starts_with("Calendar: ")) << reason_of(round, "last");
}

TEST(LiveWhen, WhoHasWaitedForLongEnoughIsEnded) {
  Cluster cluster = one_node();
  cluster.set(pod("runs", 8));
  cluster.decide(1);
  PodFacts waits = waiting_at_most(in_gang(pod("w0", 8, 2000), "w", 2), {seconds(100)});
  waits.owner = {"batch/v1", "Job", "w", "uid-of-w"};
  PodFacts other = waits;
  other.name = "w1";
  other.uid = "uid-w1";
  cluster.set(waits);
  cluster.set(other);
  cluster.set(waiting_at_most(pod("alone", 8, 2000), {seconds(200)}));
  Round round = cluster.decide(10);
  EXPECT_TRUE(round.given_up.empty());
  EXPECT_EQ(round.again_at, Time{102'000});
  cluster.engine().note_told("uid-w0");
  round = cluster.decide(102);
  ASSERT_EQ(round.given_up.size(), 1U) << "its Job once";
  EXPECT_EQ(round.given_up[0].owner.name, "w");
  EXPECT_EQ(round.given_up[0].text, "it has waited for 1m40s, as long as it was to (berth.dev/max-wait), and is ended");
  EXPECT_EQ(reason_of(round, "w0"), "MaxWait: it has waited for as long as it was to, and is being ended");
  cluster.set(waits);
  EXPECT_TRUE(cluster.decide(103).given_up.empty()) << "it is told so once";
  // Whoever is started anew, and finds it still there, does it again.
  cluster.begin_anew();
  EXPECT_EQ(cluster.decide(104).given_up.size(), 1U);
  cluster.gone("runs");
  EXPECT_EQ(names_of(cluster.decide(105)), Names{"alone"}) << "who is being ended takes no room";
  EXPECT_TRUE(cluster.decide(500).given_up.empty()) << "he has begun";
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

// For others: it is ended when it could begin.
TEST(LiveWhen, WhoWaitsForOthersWaitsToo) {
  Cluster cluster = one_node();
  PodFacts follows = waiting_at_most(pod("f", 8), {seconds(100)});
  follows.follows = {"Dependency", "it starts when job/a has ended"};
  cluster.set(follows);
  EXPECT_TRUE(cluster.decide(200).given_up.empty());
  follows.follows = {};
  cluster.set(follows);
  const Round round = cluster.decide(201);
  EXPECT_EQ(names_of(round), Names{});
  ASSERT_EQ(round.given_up.size(), 1U);
  EXPECT_EQ(round.given_up[0].pod.name, "f");
}

TEST(LiveWhen, WhoHasBegunOnceMayWaitForLonger) {
  Cluster cluster = one_node();
  cluster.set(pod("runs", 8));
  cluster.decide(1);
  PodFacts again = waiting_at_most(pod("again", 8, 2000), {seconds(100)});
  again.has_begun = true;
  cluster.set(again);
  EXPECT_TRUE(cluster.decide(1000).given_up.empty());
}

TEST(LiveWhen, AfterAWaitItMayGoOnAsBestEffort) {
  Cluster cluster = one_node();
  QueueFacts team = queue("team", 0);
  team.spec.limit = {{"h100", Resource::kGpu, 4 * kMilliPerGpu}};
  cluster.add(team);
  cluster.set(in_queue("team", pod("runs", 4)));
  cluster.set(waiting_at_most(in_queue("team", pod("w", 4, 2000)), {seconds(100), AfterWait::kBestEffort}));
  EXPECT_EQ(names_of(cluster.decide(10)), Names{"runs"});
  const Round round = cluster.decide(102);
  ASSERT_EQ(names_of(round), Names{"w"});
  EXPECT_TRUE(round.bindings[0].best_effort) << "and its pod is to say so";
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

TEST(LiveWhen, AfterAWaitItMayGoAheadInItsLine) {
  Cluster cluster = one_node();
  PodFacts runs = pod("runs", 8);
  cluster.set(runs);
  cluster.decide(1);
  PodFacts high = pod("high", 8, 3000);
  high.terms.priority = 50;
  high.terms.preempts = false;
  cluster.set(high);
  cluster.set(waiting_at_most(pod("w", 8, 2000), {seconds(100), AfterWait::kRaise, 100}));
  cluster.decide(10);
  cluster.decide(102);
  cluster.gone("runs");
  EXPECT_EQ(names_of(cluster.decide(103)), Names{"w"});
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

TEST(LiveWhen, OfOneNameAndUserOneRunsAtATime) {
  Cluster cluster = one_node();
  cluster.set(singleton(pod("a", 2, 1000), "ann"));
  cluster.set(singleton(pod("b", 2, 2000), "ann"));
  cluster.set(singleton(pod("c", 2, 3000), "bob"));
  Round round = cluster.decide(10);
  EXPECT_EQ(names_of(round), (Names{"a", "c"}));
  EXPECT_TRUE(reason_of(round, "b").starts_with("Dependency: ")) << reason_of(round, "b");
  // Who runs has its turn for whoever finds it.
  cluster.begin_anew();
  EXPECT_EQ(names_of(cluster.decide(20)), Names{});
  cluster.engine().begin_anew();
  EXPECT_EQ(names_of(cluster.decide(21)), Names{});
  cluster.gone("a");
  EXPECT_EQ(names_of(cluster.decide(30)), Names{"b"});
}

// What replaces a lost member has the turn of its gang.
TEST(LiveWhen, AGangHasOneTurnAndItsReplacementsNeedNone) {
  Cluster cluster = one_node();
  for (int i = 0; i < 2; ++i) cluster.set(singleton(in_gang(pod("g" + std::to_string(i), 2), "g", 2), "ann"));
  EXPECT_EQ(names_of(cluster.decide(1)), (Names{"g0", "g1"}));
  cluster.set(singleton(pod("next", 2, 2000), "ann"));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{});
  cluster.gone("g0");
  cluster.set(singleton(in_gang(pod("g2", 2, 3000), "g", 2), "ann"));
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"g2"});
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

}  // namespace berth::live_when_test
