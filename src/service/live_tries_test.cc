// Gangs that are tried again and again on a cluster: their nodes fail under them, or they are never ready (rule 23).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_tries_test {

using Names = std::set<std::string>;

class LiveTries : public ::testing::Test {
 protected:
  LiveTries() {
    for (const char* const name : {"n1", "n2", "n3", "n4", "n5"}) cluster_.add(node(name));
  }
  // Two pods of the Job g, each with a whole node.
  PodFacts made(const std::string& name, std::int64_t at_s) const {
    PodFacts facts = in_gang(pod(name, 8, at_s * 1000), "g", 2);
    if (!queue_.empty()) facts = in_queue(queue_, facts);
    facts.owner = {"batch/v1", "Job", "g", "uid-of-g"};
    facts.maker_uid = facts.owner.uid;
    facts.terms.grace = seconds(30);
    facts.time.ready = ready_;
    return facts;
  }
  // The next two are made, and what becomes of them.
  Round make_two(std::int64_t at_s) {
    names_ = {"g-" + std::to_string(at_s) + "a", "g-" + std::to_string(at_s) + "b"};
    for (const std::string& name : names_) cluster_.set(made(name, at_s));
    return decide(at_s);
  }
  // Until there is nothing more to do.
  Round decide(std::int64_t at_s) {
    Round round = cluster_.decide(at_s);
    for (int i = 0; i < 3; ++i) {
      Round more = cluster_.decide(at_s);
      std::ranges::move(more.bindings, std::back_inserter(round.bindings));
      std::ranges::move(more.evictions, std::back_inserter(round.evictions));
      std::ranges::move(more.given_up, std::back_inserter(round.given_up));
      if (!more.reasons.empty()) round.reasons = std::move(more.reasons);
      round.again_at = more.again_at;
    }
    for (const Binding& each : round.bindings) where_[each.pod.name] = each.node;
    return round;
  }
  void is_ready(const std::string& name) {
    PodFacts facts = cluster_.pod_named(name);
    facts.ready = true;
    cluster_.set(facts);
  }
  void lose_node_of(const std::string& name, std::int64_t at_s) {
    cluster_.it_is(at_s);
    NodeFacts lost = node(where_.at(name));
    lost.open = false;
    lost.not_ready_since = Time{at_s * 1000};
    cluster_.add(lost);
    cluster_.gone(name);
  }
  void two_are_gone() {
    for (const std::string& name : names_) cluster_.gone(name);
  }
  std::string why_two_wait(const Round& round) const { return reason_of(round, names_[0]); }
  void expect_sound() { EXPECT_EQ(violations(cluster_.engine().state()), std::vector<std::string>()); }

  Cluster cluster_;
  // Another scheduler, which knows what stands in the objects: the gang is in a queue that is one.
  void in_a_queue() {
    cluster_.add(queue("team", 0));
    queue_ = "team";
  }
  void begin_anew() {
    cluster_.write_statuses();
    cluster_.begin_anew();
  }

  std::string queue_;
  std::optional<ReadyInTime> ready_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> where_;
};

TEST_F(LiveTries, AGangUnderWhichThreeNodesFailIsStoppedAndWaits) {
  EXPECT_EQ(make_two(1).bindings.size(), 2U);
  lose_node_of(names_[0], 60);
  cluster_.set(made("g-61a", 61));
  EXPECT_EQ(names_of(decide(61)), Names{"g-61a"}) << "repaired";
  lose_node_of("g-61a", 120);
  cluster_.set(made("g-121a", 121));
  EXPECT_EQ(names_of(decide(121)), Names{"g-121a"}) << "and once more";
  lose_node_of("g-121a", 180);
  cluster_.set(made("g-181a", 181));
  const Round third = decide(181);
  EXPECT_TRUE(third.bindings.empty());
  ASSERT_EQ(third.evictions.size(), 1U) << "who is left of it";
  EXPECT_EQ(third.evictions[0].pod.name, names_[1]);
  EXPECT_TRUE(third.evictions[0].why.starts_with(
      "node: the last 3 nodes on which it began failed within 1h, and it may be the"))
      << third.evictions[0].why;
  EXPECT_EQ(third.evictions[0].stop_by, Time{211'000});
  cluster_.gone(names_[1]);
  cluster_.set(made("g-200b", 200));
  const Round waits = decide(200);
  EXPECT_TRUE(waits.bindings.empty());
  EXPECT_TRUE(reason_of(waits, "g-200b")
                  .starts_with("BackOff: the last 3 nodes on which it began failed within 1h: it may be th"))
      << reason_of(waits, "g-200b");
  EXPECT_TRUE(decide(780).bindings.empty());
  EXPECT_EQ(names_of(decide(781)), (Names{"g-181a", "g-200b"})) << "ten minutes after it was stopped";
  expect_sound();
}

TEST_F(LiveTries, NodesThatFailTogetherAreOneAndALateOneBeginsAnew) {
  make_two(1);
  const std::vector<std::string> first = names_;
  for (const std::string& name : first) lose_node_of(name, 60);
  EXPECT_EQ(make_two(61).bindings.size(), 2U) << "one";
  lose_node_of(names_[0], 120);
  cluster_.set(made("g-121a", 121));
  EXPECT_EQ(names_of(decide(121)), Names{"g-121a"}) << "two";
  lose_node_of("g-121a", 3'800);
  cluster_.set(made("late", 3'801));
  const Round late = decide(3'801);
  EXPECT_TRUE(late.evictions.empty()) << "more than an hour after it went on";
  expect_sound();
}

TEST_F(LiveTries, AFailedPodIsNoLostNode) {
  make_two(1);
  std::string lost = names_[0];
  for (const std::int64_t at : {60, 120, 180, 240}) {
    cluster_.it_is(at);
    cluster_.gone(lost);
    lost = "g-" + std::to_string(at) + "x";
    cluster_.set(made(lost, at));
    EXPECT_EQ(names_of(decide(at)), Names{lost}) << at;
  }
}

TEST_F(LiveTries, WhoIsNotReadyInTimeIsStoppedWholeAndTriedAgainLater) {
  ready_ = ReadyInTime{seconds(300), 1};
  EXPECT_EQ(make_two(1).again_at, Time{301'000});
  is_ready(names_[0]);
  EXPECT_TRUE(decide(300).evictions.empty());
  const Round stops = decide(301);
  ASSERT_EQ(stops.evictions.size(), 2U);
  const std::string& why = stops.evictions[0].why;
  EXPECT_TRUE(
      why.starts_with("never-ready: 1 of its 2 pods was not ready within 5m (berth.dev/never-ready); it is tried "
                      "again in 10s; all of it stops"))
      << why;
  two_are_gone();
  Round again = make_two(305);
  EXPECT_TRUE(again.bindings.empty());
  EXPECT_EQ(why_two_wait(again),
            "BackOff: its pods were not all ready in time; this is retry 1: it is tried again in 6s");
  EXPECT_EQ(decide(311).bindings.size(), 2U);
  const Round ends = decide(611);
  EXPECT_TRUE(ends.evictions.empty());
  ASSERT_EQ(ends.given_up.size(), 1U) << "of two pods one Job";
  EXPECT_EQ(ends.given_up[0].reason, "NeverReady");
  EXPECT_EQ(ends.given_up[0].owner.name, "g");
  EXPECT_EQ(
      ends.given_up[0].text,
      "2 of its 2 pods were not ready within 5m (berth.dev/never-ready), and it was tried again as often as it is "
      "to be: it is ended");
  EXPECT_TRUE(decide(612).given_up.empty()) << "once";
  expect_sound();
}

TEST_F(LiveTries, WhoWasReadyOnceIsLeftAloneAndHisTriesAreForgotten) {
  ready_ = ReadyInTime{seconds(300)};
  make_two(1);
  decide(301);
  two_are_gone();
  EXPECT_EQ(make_two(311).bindings.size(), 2U) << "the ten seconds are over";
  for (const std::string& name : names_) is_ready(name);
  decide(322);
  PodFacts no_more = cluster_.pod_named(names_[0]);
  no_more.ready = false;
  cluster_.set(no_more);
  EXPECT_TRUE(decide(1'000).evictions.empty());
  two_are_gone();
  EXPECT_EQ(make_two(1'001).bindings.size(), 2U);
  const Round stops = decide(1'301);
  ASSERT_EQ(stops.evictions.size(), 2U);
  EXPECT_NE(stops.evictions[0].why.find("tried again in 10s"), std::string::npos) << "the first in a row";
}

TEST_F(LiveTries, AfterARepairTheTimeBeginsAnew) {
  ready_ = ReadyInTime{seconds(300)};
  make_two(1);
  is_ready(names_[1]);
  cluster_.it_is(200);
  cluster_.gone(names_[0]);
  cluster_.set(made("again", 201));
  EXPECT_EQ(names_of(decide(201)), Names{"again"});
  EXPECT_TRUE(decide(301).evictions.empty());
  EXPECT_EQ(decide(501).evictions.size(), 2U);
}

TEST_F(LiveTries, LostNodesAreKnownToTheNextScheduler) {
  in_a_queue();
  make_two(1);
  for (const std::int64_t at : {60, 120, 180}) {
    lose_node_of(names_[0], at);
    names_[0] = "g-" + std::to_string(at) + "a";
    cluster_.set(made(names_[0], at + 1));
    decide(at + 1);
    begin_anew();
    decide(at + 2);
  }
  cluster_.gone(names_[1]);
  cluster_.set(made("g-200b", 200));
  const Round waits = decide(200);
  EXPECT_TRUE(waits.bindings.empty());
  EXPECT_TRUE(reason_of(waits, "g-200b")
                  .starts_with("BackOff: the last 3 nodes on which it began failed within 1h: it may be th"))
      << reason_of(waits, "g-200b");
  begin_anew();
  EXPECT_TRUE(decide(780).bindings.empty());
  EXPECT_EQ(decide(781).bindings.size(), 2U) << "ten minutes after it was stopped";
}

TEST_F(LiveTries, WhoWasNeverReadyIsKnownToTheNextScheduler) {
  in_a_queue();
  ready_ = ReadyInTime{seconds(300), 1};
  make_two(1);
  EXPECT_EQ(decide(301).evictions.size(), 2U);
  two_are_gone();
  begin_anew();
  Round again = make_two(305);
  EXPECT_TRUE(again.bindings.empty());
  EXPECT_EQ(why_two_wait(again),
            "BackOff: its pods were not all ready in time; this is retry 1: it is tried again in 6s");
  EXPECT_EQ(decide(311).bindings.size(), 2U);
  begin_anew();
  EXPECT_TRUE(decide(400).evictions.empty());
  EXPECT_EQ(decide(611).given_up.size(), 1U) << "as often as it was to be tried";
  // Once it counts for nothing it is not told any more.
  EXPECT_EQ(cluster_.engine().queue_standings().at("team").tries.size(), 1U);
  decide(611 + 25 * 3600);
  EXPECT_TRUE(cluster_.engine().queue_standings().at("team").tries.empty());
}

TEST_F(LiveTries, TheLatestFewOfAQueueAreToldAndWhatIsUnreadableCountsAsNothing) {
  in_a_queue();
  QueueFacts told = queue("team", 0);
  std::string text = R"({"metadata": {"name": "team"}, "status": {"tries": [{"of": "x", "neverReady": 3},
      {"of": "default/odd", "at": "1970-01-01T00:00:05Z", "neverReady": -4, "lostNodes": "two", "waitsUntil": "soon"})";
  for (int i = 100; i < 170; ++i) {
    text += R"(, {"of": "default/g)" + std::to_string(i) + R"(", "at": "1970-01-01T00:00:00.)" + std::to_string(i) +
            R"(Z", "neverReady": 1})";
  }
  told.record = read_queue(*parse_json(text + "]}}")).record;
  EXPECT_EQ(told.record.tries.size(), 71U) << "one of them without a moment";
  EXPECT_EQ(told.record.tries.at("default/odd"), Tries{.noted = Time{5'000}});
  LiveEngine engine(Seed{1}, {});
  engine.set_queue(told);
  const auto tries = engine.queue_standings().at("team").tries;
  ASSERT_EQ(tries.size(), 64U);
  EXPECT_EQ(tries.front().first, "default/odd");
  EXPECT_EQ(tries.back().first, "default/g107");
}

TEST_F(LiveTries, WhoIsFoundLateIsBelievedToHaveBeenReady) {
  ready_ = ReadyInTime{seconds(300)};
  make_two(1);
  cluster_.begin_anew();
  EXPECT_EQ(decide(100).again_at, Time{301'000}) << "in time: it is asked";
  EXPECT_EQ(decide(301).evictions.size(), 2U);
  two_are_gone();
  make_two(400);
  cluster_.begin_anew();
  EXPECT_TRUE(decide(800).evictions.empty());
  EXPECT_TRUE(decide(2'000).evictions.empty());
}

// A Job of one pod, with a run limit of the scheduler's.
class LiveOverRuns : public ::testing::Test {
 protected:
  LiveOverRuns() {
    QueueFacts extends = queue("extends", 0);
    extends.spec.policies.over_run = OverRun::kExtend;
    extends.spec.policies.extend = seconds(60);
    extends.spec.policies.extensions = 2;
    cluster_.add(extends);
    cluster_.add(node("n1"));
  }
  static PodFacts limited(const std::string& name, std::int64_t at_s) {
    PodFacts facts = in_queue("extends", pod(name, 8, at_s * 1000));
    facts.owner = {"batch/v1", "Job", name, "uid-of-" + name};
    facts.maker_uid = facts.owner.uid;
    facts.terms.run_limit = facts.run = seconds(100);
    facts.ends_by_scheduler = true;
    return facts;
  }
  // As the stamp on the pod says.
  void stamp(const LimitExtension& extension) {
    PodFacts facts = cluster_.pod_named(extension.pod.name);
    facts.terms.run_limit = *facts.terms.run_limit - facts.extended + extension.extended;
    facts.run = *facts.terms.run_limit;
    facts.extended = extension.extended;
    facts.extensions = extension.extensions;
    cluster_.set(facts);
  }
  Cluster cluster_;
};

TEST_F(LiveOverRuns, GoOnWhileNobodyNeedsTheRoomAndNoOftenerThanTheQueueSays) {
  cluster_.set(limited("w", 1));
  EXPECT_EQ(cluster_.decide(2).again_at, Time{102'000});
  Round round = cluster_.decide(102);
  ASSERT_EQ(round.extended.size(), 1U);
  EXPECT_EQ(round.extended[0].extended, seconds(60));
  EXPECT_EQ(round.extended[0].extensions, 1);
  EXPECT_EQ(round.again_at, Time{162'000});
  EXPECT_TRUE(round.given_up.empty());
  stamp(round.extended[0]);
  cluster_.begin_anew();
  EXPECT_EQ(cluster_.decide(110).again_at, Time{162'000}) << "by another scheduler";
  round = cluster_.decide(162);
  ASSERT_EQ(round.extended.size(), 1U);
  EXPECT_EQ(round.extended[0].extended, seconds(120));
  EXPECT_EQ(round.extended[0].extensions, 2);
  stamp(round.extended[0]);
  cluster_.begin_anew();
  cluster_.decide(163);
  round = cluster_.decide(222);
  EXPECT_TRUE(round.extended.empty()) << "twice is as often as it may be";
  ASSERT_EQ(round.given_up.size(), 1U);
  EXPECT_EQ(round.given_up[0].reason, "OverRun");
  EXPECT_EQ(round.given_up[0].text, "it has run for 3m40s, as long as it may (berth.dev/run-limit): it is ended");
  EXPECT_EQ(violations(cluster_.engine().state()), std::vector<std::string>());
}

TEST_F(LiveOverRuns, AreEndedForWhoWaits) {
  cluster_.set(limited("w", 1));
  cluster_.decide(2);
  cluster_.set(in_queue("extends", pod("next", 8, 50'000)));
  cluster_.decide(50);
  const Round round = cluster_.decide(102);
  EXPECT_TRUE(round.extended.empty());
  ASSERT_EQ(round.given_up.size(), 1U);
  EXPECT_EQ(round.given_up[0].owner.name, "w");
}

TEST_F(LiveOverRuns, WhomNodesEndIsNobodysToExtend) {
  PodFacts by_node = limited("w", 1);
  by_node.ends_by_scheduler = false;
  cluster_.set(by_node);
  cluster_.decide(2);
  const Round round = cluster_.decide(102);
  EXPECT_TRUE(round.extended.empty());
  EXPECT_TRUE(round.given_up.empty());
}

// "0 of 4 n1:2,n2:2 n1", by name.
std::map<std::string, std::string> ranks_of(const Round& round) {
  std::map<std::string, std::string> ranks;
  const auto note = [&](const std::string& name, const Rendezvous& its) {
    ranks[name] =
        std::to_string(its.rank) + " of " + std::to_string(its.world_size) + " " + its.hosts + " " + its.leader;
  };
  for (const Binding& each : round.bindings) {
    if (each.rendezvous) note(each.pod.name, *each.rendezvous);
  }
  for (const RendezvousChanged& each : round.elsewhere) note(each.pod.name, each.now);
  return ranks;
}

TEST(LiveRanks, AreTheOrderOfControllersAndFollowTheGang) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2", "n3"}) cluster.add(node(name));
  const auto worker = [](const std::string& name, std::int64_t number, std::int64_t at_s) {
    PodFacts facts = in_gang(pod(name, 4, at_s * 1000), "g", 3);
    facts.owner = {"batch/v1", "Job", "g", "uid-of-g"};
    facts.maker_uid = facts.owner.uid;
    facts.number = number;
    return facts;
  };
  cluster.set(worker("b", 1, 1));
  cluster.set(worker("c", 2, 1));
  PodFacts first = worker("a", 0, 1);
  first.host_name = "a.g";
  cluster.set(first);
  cluster.set(pod("alone", 1, 2000));
  const Round round = cluster.decide(2);
  auto ranks = ranks_of(round);
  EXPECT_EQ(ranks.size(), 3U) << "who starts alone has none";
  EXPECT_EQ(ranks.at("a").substr(0, 6), "0 of 3");
  EXPECT_EQ(ranks.at("b").substr(0, 6), "1 of 3");
  EXPECT_EQ(ranks.at("c").substr(0, 6), "2 of 3");
  EXPECT_TRUE(ranks.at("c").ends_with(" a.g")) << ranks.at("c");

  // Whoever comes in the place of one has its rank, and the others hear of it; also by another scheduler.
  for (const bool by_another : {false, true}) {
    cluster.it_is(by_another ? 20 : 10);
    cluster.gone(by_another ? "b2" : "b");
    if (by_another) cluster.begin_anew();
    const std::string name = by_another ? "b3" : "b2";
    cluster.set(worker(name, 1, 11));
    Round repaired = cluster.decide(by_another ? 21 : 11);
    if (repaired.bindings.empty()) repaired = cluster.decide(by_another ? 22 : 12);
    ranks = ranks_of(repaired);
    ASSERT_EQ(ranks.size(), 3U) << by_another;
    EXPECT_EQ(ranks.at(name).substr(0, 6), "1 of 3");
    EXPECT_EQ(ranks.at("a").substr(0, 6), "0 of 3");
    EXPECT_EQ(ranks.at("c").substr(6), ranks.at(name).substr(6));
  }
}

TEST(LiveRanks, WhoLeadsIsTheFirstAndRunsOfRanksAreWrittenAsOne) {
  Cluster cluster;
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  for (const char* const name : {"w0", "w1", "w2"}) {
    PodFacts facts = in_gang(pod(name, 4), "g", 4);
    facts.number = name[1] - '0';
    cluster.set(facts);
  }
  PodFacts master = in_gang(pod("master", 4), "g", 4);
  master.leads = true;
  cluster.set(master);
  const auto ranks = ranks_of(cluster.decide(2));
  ASSERT_EQ(ranks.size(), 4U);
  EXPECT_EQ(ranks.at("master").substr(0, 6), "0 of 4");
  EXPECT_EQ(ranks.at("w2").substr(0, 6), "3 of 4");
  const std::string& text = ranks.at("w2");
  const bool in_runs = text == "3 of 4 n1:2,n2:2 n1" || text == "3 of 4 n2:2,n1:2 n2";
  EXPECT_TRUE(in_runs) << text;
}

}  // namespace berth::live_tries_test
