// Gangs that lose a pod on a cluster: what they had is kept for the one that is made anew (rule 23).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_repairs_test {

using Names = std::set<std::string>;

// Of a Job of so many pods of four GPUs, which starts whole.
PodFacts of_gang(const std::string& name, const std::string& gang, std::int64_t size, std::int64_t created_s) {
  PodFacts facts = in_gang(pod(name, 4, created_s * 1000), gang, size);
  facts.owner = {"batch/v1", "Job", gang, "uid-of-" + gang};
  facts.maker_uid = facts.owner.uid;
  facts.terms.grace = seconds(30);
  return facts;
}

NodeFacts in_rack(NodeFacts node, const std::string& rack) {
  node.says.labels.push_back({"rack", rack});
  return node;
}

NodeFacts closed(NodeFacts node) {
  node.open = false;
  return node;
}

// The gang g has all of n1 and n2, four pods together.
class LiveRepairs : public ::testing::Test {
 protected:
  LiveRepairs() {
    cluster_.add(node("n1"));
    cluster_.add(node("n2"));
  }
  void start() {
    for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) cluster_.set(of_gang(name, "g", 4, 1));
    note_where(cluster_.decide(2));
  }
  // Which of its pods are where.
  void note_where(const Round& round) {
    ASSERT_EQ(round.bindings.size(), 4U);
    for (const Binding& each : round.bindings) (each.node == "n1" ? on_n1_ : on_n2_).push_back(each.pod.name);
    ASSERT_EQ(on_n2_.size(), 2U);
  }
  // The whole node is lost, with both of its pods, and both are made anew.
  void lose_n2(std::int64_t at_s) {
    cluster_.add(closed(node("n2")));
    for (const std::string& name : on_n2_) lose(name, at_s);
    settle(at_s);
  }
  Names anew() const { return {on_n2_[0] + "x", on_n2_[1] + "x"}; }
  Names left() const { return {on_n1_[0], on_n1_[1]}; }
  void make_both_anew(std::int64_t at_s) {
    for (const std::string& name : anew()) make_anew(name, at_s);
  }
  // Its pod fails, or is deleted, at that second.
  void lose(const std::string& name, std::int64_t at_s) {
    cluster_.it_is(at_s);
    cluster_.gone(name);
  }
  void make_anew(const std::string& name, std::int64_t at_s) { cluster_.set(of_gang(name, "g", 4, at_s)); }
  void expect_sound() { EXPECT_EQ(violations(cluster_.engine().state()), std::vector<std::string>()); }
  std::int64_t gpus_held_in(const std::string& queue) {
    return cluster_.engine().holdings_by_queue().at(queue).reserved[Dim(FlavorId(0), Resource::kGpu).index()] / 1000;
  }
  // Until there is nothing more to do.
  Round settle(std::int64_t at_s) {
    Round all = cluster_.decide(at_s);
    for (int i = 0; i < 5; ++i) {
      const Round more = cluster_.decide(at_s);
      all.bindings.insert(all.bindings.end(), more.bindings.begin(), more.bindings.end());
      all.evictions.insert(all.evictions.end(), more.evictions.begin(), more.evictions.end());
    }
    return all;
  }

  static std::string where(const Round& round, const std::string& name) {
    for (const Binding& each : round.bindings) {
      if (each.pod.name == name) return each.node;
    }
    return "";
  }

  Cluster cluster_;
  std::vector<std::string> on_n1_, on_n2_;
};

TEST_F(LiveRepairs, ItsPlaceIsKeptForWhoIsMadeAnew) {
  start();
  cluster_.set(pod("w", 4, 3000));
  cluster_.decide(4);
  lose(on_n1_[0], 10);
  EXPECT_TRUE(cluster_.decide(10).bindings.empty()) << "its place is not given to who waits";
  EXPECT_EQ(gpus_held_in("default"), 16);
  make_anew("again", 12);
  const Round anew = cluster_.decide(12);
  EXPECT_EQ(names_of(anew), Names{"again"});
  EXPECT_EQ(where(anew, "again"), "n1");
  EXPECT_TRUE(cluster_.engine().state().repairing().empty());
  expect_sound();
  EXPECT_TRUE(cluster_.decide(700).evictions.empty());
}

TEST_F(LiveRepairs, ForAMinuteItsPlaceIsKeptForWhomNobodyMakesAnew) {
  start();
  cluster_.set(pod("w", 4, 3000));
  lose("g-1", 10);
  EXPECT_EQ(cluster_.decide(10).again_at, Time{70'000});
  EXPECT_TRUE(cluster_.decide(69).bindings.empty());
  EXPECT_EQ(names_of(settle(70)), Names{"w"});
  EXPECT_EQ(gpus_held_in("default"), 16) << "twelve of the gang, four of w";
  EXPECT_TRUE(settle(700).evictions.empty()) << "the others go on without it";
  make_anew("again", 701);
  EXPECT_TRUE(settle(701).bindings.empty());
  cluster_.add(node("n3", 4));
  EXPECT_EQ(names_of(settle(702)), Names{"again"});
  expect_sound();
}

TEST_F(LiveRepairs, WhoIsMadeLaterComesBeforeAllOthersUntilTheDeadline) {
  start();
  for (const char* const name : {"w", "v"}) cluster_.set(pod(name, 4, 3000));
  lose("g-1", 10);
  cluster_.decide(10);
  ASSERT_EQ(names_of(settle(70)).size(), 1U);
  make_anew("again", 100);
  EXPECT_TRUE(settle(100).bindings.empty());
  cluster_.add(node("n3", 4));
  EXPECT_EQ(names_of(settle(101)), Names{"again"}) << "the other one has waited for longer";
  expect_sound();
  lose("again", 200);
  EXPECT_EQ(cluster_.decide(200).again_at, Time{260'000}) << "that is another loss";
  make_anew("once-more", 201);
  EXPECT_EQ(names_of(settle(201)), Names{"once-more"});
}

TEST_F(LiveRepairs, WhereTheNodeIsLostAnotherIsFoundBeforeWhoWaitsForLonger) {
  start();
  cluster_.set(pod("w", 4, 3000));
  lose_n2(10);
  EXPECT_TRUE(settle(10).bindings.empty());
  make_both_anew(12);
  const Round waits = cluster_.decide(12);
  EXPECT_TRUE(waits.bindings.empty());
  EXPECT_TRUE(reason_of(waits, *anew().begin())
                  .starts_with("Repairing: it lacks 2 of its 4 pods since 0s, and keeps the others "
                               "for another 9m58s; for those it lacks:"))
      << reason_of(waits, *anew().begin());
  cluster_.add(node("n3"));
  const Round found = settle(20);
  EXPECT_EQ(names_of(found), anew()) << "w came before them, and would have had room there";
  EXPECT_EQ(where(found, *anew().begin()), "n3");
  EXPECT_TRUE(settle(700).evictions.empty());
  expect_sound();
}

TEST_F(LiveRepairs, HalfAReplacementTakesNothing) {
  start();
  lose_n2(10);
  make_both_anew(12);
  cluster_.add(node("n3", 4));
  EXPECT_TRUE(settle(13).bindings.empty());
  cluster_.add(node("n4", 4));
  EXPECT_EQ(names_of(settle(14)), anew());
}

TEST_F(LiveRepairs, AtItsDeadlineAllOfItStopsAndGoesFirst) {
  start();
  for (const char* const name : {"w-0", "w-1", "w-2", "w-3"}) cluster_.set(of_gang(name, "w", 4, 1));
  lose_n2(10);
  settle(10);
  make_both_anew(20);
  EXPECT_EQ(settle(20).again_at, Time{610'000}) << "it counts from the loss";
  EXPECT_TRUE(settle(609).evictions.empty());
  const Round late = cluster_.decide(610);
  ASSERT_EQ(evicted_in(late), left());
  EXPECT_EQ(late.evictions.front().stop_by, Time{640'000}) << "with the grace that they have";
  EXPECT_EQ(
      late.evictions.front().why,
      "node: it has lost 2 of its pods, and until 1970-01-01T00:10:10Z there was no room for others beside these; "
      "all of it stops by 1970-01-01T00:10:40Z, and goes first when it has been made anew; since its start it has "
      "worked 1.351 GPU-hours, lost unless it saves them");
  EXPECT_EQ(gpus_held_in("default"), 0) << "who leaves counts for nothing";
  expect_sound();
  Names all = anew();
  for (const std::string& name : on_n1_) {
    cluster_.gone(name);
    make_anew(name + "x", 611);
    all.insert(name + "x");
  }
  cluster_.decide(611);
  cluster_.add(node("n2"));
  EXPECT_EQ(names_of(settle(620)), all) << "w came before it";
  expect_sound();
}

TEST_F(LiveRepairs, ItTakesBackWhatItHasARightTo) {
  cluster_.add(queue("mine", 16));
  cluster_.add(queue("others", 0));
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) cluster_.set(in_queue("mine", of_gang(name, "g", 4, 1)));
  note_where(cluster_.decide(2));
  cluster_.add(node("n3"));
  cluster_.set(in_queue("others", pod("b", 8, 3000)));
  ASSERT_EQ(where(cluster_.decide(3), "b"), "n3");
  lose_n2(10);
  EXPECT_TRUE(settle(11).evictions.empty()) << "nobody goes for a pod that nobody has made";
  for (const std::string& name : anew()) cluster_.set(in_queue("mine", of_gang(name, "g", 4, 12)));
  const Round claimed = cluster_.decide(12);
  EXPECT_EQ(evicted_in(claimed), Names{"b"});
  EXPECT_TRUE(claimed.evictions.front().why.starts_with("reclaim: its room goes to default/g-"))
      << claimed.evictions.front().why;
  ASSERT_EQ(claimed.taken.size(), 1U);
  EXPECT_TRUE(anew().contains(claimed.taken.front().pod.name));
  EXPECT_TRUE(settle(13).bindings.empty());
  cluster_.gone("b");
  EXPECT_EQ(names_of(settle(14)), anew());
  expect_sound();
}

TEST_F(LiveRepairs, WhatHasRoomIsNotGivenUpWhileOthersLeaveIt) {
  cluster_.add(queue("mine", 16));
  cluster_.add(queue("others", 0));
  const auto member = [](const std::string& name, std::int64_t at_s) {
    PodFacts facts = in_queue("mine", of_gang(name, "g", 4, at_s));
    facts.repair = seconds(15);
    return facts;
  };
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) cluster_.set(member(name, 1));
  note_where(cluster_.decide(2));
  cluster_.add(node("n3"));
  cluster_.set(in_queue("others", pod("b", 8, 3000)));
  cluster_.decide(3);
  lose_n2(10);
  settle(10);
  for (const std::string& name : anew()) cluster_.set(member(name, 12));
  EXPECT_EQ(evicted_in(settle(12)), Names{"b"});
  EXPECT_TRUE(settle(30).evictions.empty());
  cluster_.gone("b");
  EXPECT_EQ(names_of(settle(31)), anew());
  expect_sound();
}

TEST_F(LiveRepairs, ItsQuotaIsItsOwnMeanwhile) {
  QueueFacts limited = queue("mine", 0);
  limited.spec.limit = {{"h100", Resource::kGpu, 16 * kMilliPerGpu}};
  cluster_.add(limited);
  cluster_.add(node("n3"));
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) cluster_.set(in_queue("mine", of_gang(name, "g", 4, 1)));
  cluster_.decide(2);
  cluster_.set(in_queue("mine", pod("w", 4, 3000)));
  lose("g-1", 10);
  EXPECT_TRUE(settle(10).bindings.empty()) << "one more of its queue would be above the limit";
  cluster_.set(in_queue("mine", of_gang("g-1x", "g", 4, 12)));
  EXPECT_EQ(names_of(settle(12)), Names{"g-1x"});
  expect_sound();
}

TEST_F(LiveRepairs, OfAJobThatIsDeletedEachGivesBackItsPlace) {
  start();
  cluster_.set(pod("w", 4, 3000));
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) {
    PodFacts facts = of_gang(name, "g", 4, 1);
    facts.stage = PodStage::kBound;
    facts.node = std::ranges::find(on_n1_, name) != on_n1_.end() ? "n1" : "n2";
    facts.deleted = true;
    cluster_.set(facts);
  }
  lose("g-1", 10);
  EXPECT_EQ(names_of(settle(10)), Names{"w"});
  expect_sound();
}

TEST_F(LiveRepairs, ItSaysForHowLong) {
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) {
    PodFacts facts = of_gang(name, "g", 4, 1);
    facts.repair = Duration{0};
    cluster_.set(facts);
  }
  cluster_.decide(2);
  cluster_.set(pod("w", 4, 3000));
  lose("g-1", 10);
  EXPECT_EQ(names_of(settle(10)), Names{"w"}) << "it asks that nothing is kept";
}

TEST_F(LiveRepairs, WhomNothingMakesAnewNobodyWaitsFor) {
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) cluster_.set(in_gang(pod(name, 4), "g", 4));
  cluster_.decide(2);
  cluster_.set(pod("w", 4, 3000));
  lose("g-1", 10);
  EXPECT_EQ(names_of(settle(10)), Names{"w"});
}

TEST_F(LiveRepairs, WhoSucceedsIsNotLost) {
  start();
  cluster_.set(pod("w", 4, 3000));
  PodFacts done = of_gang("g-1", "g", 4, 1);
  done.stage = PodStage::kSucceeded;
  cluster_.set(done);
  EXPECT_EQ(names_of(settle(10)), Names{"w"});
}

TEST_F(LiveRepairs, AFailedPodIsReplacedWhereItWas) {
  start();
  cluster_.set(pod("w", 4, 3000));
  PodFacts failed = of_gang(on_n1_[1], "g", 4, 1);
  failed.stage = PodStage::kFailed;
  cluster_.set(failed);
  EXPECT_TRUE(settle(10).bindings.empty());
  make_anew("again", 25);
  EXPECT_EQ(where(settle(25), "again"), "n1");
  cluster_.gone(on_n1_[1]);
  EXPECT_TRUE(settle(26).bindings.empty());
  expect_sound();
}

TEST_F(LiveRepairs, WhatIsMadeInItsPlaceMayAskForLess) {
  start();
  lose("g-1", 10);
  settle(10);
  PodFacts smaller = of_gang("g-1x", "g", 4, 12);
  smaller.request.gpus = 2;
  cluster_.set(smaller);
  EXPECT_EQ(names_of(settle(12)), Names{"g-1x"});
  EXPECT_EQ(gpus_held_in("default"), 14);
  expect_sound();
}

TEST_F(LiveRepairs, WhoWasToStandInAndIsGoneTakesNothing) {
  start();
  cluster_.add(closed(node("n2")));
  lose(on_n2_[0], 10);
  settle(10);
  make_anew("g-2x", 12);
  EXPECT_TRUE(settle(12).bindings.empty());
  cluster_.gone("g-2x");
  settle(13);
  cluster_.add(node("n3", 4));
  cluster_.set(pod("w", 4, 14'000));
  EXPECT_EQ(names_of(settle(14)), Names{"w"}) << "nobody is there for whom the room would be";
  make_anew("g-2y", 15);
  cluster_.add(node("n4", 4));
  EXPECT_EQ(names_of(settle(15)), Names{"g-2y"});
  expect_sound();
}

// The others are in r1, where there is no room; in r2 there is room for all.
TEST_F(LiveRepairs, AllOfItMovesWhereItFindsNoRoomInItsRack) {
  Cluster cluster;
  for (const char* const name : {"r1-1", "r1-2"}) cluster.add(in_rack(node(name), "r1"));
  const auto member = [](const std::string& name, std::int64_t at_s) {
    PodFacts facts = of_gang(name, "g", 4, at_s);
    facts.topology = {.together = Togetherness::kRequired, .level = "rack"};
    return facts;
  };
  for (const char* const name : {"g-0", "g-1", "g-2", "g-3"}) cluster.set(member(name, 1));
  Names left, all;
  std::vector<std::string> lost;
  for (const Binding& each : cluster.decide(2).bindings) {
    if (each.node == "r1-1") left.insert(each.pod.name);
    if (each.node == "r1-2") lost.push_back(each.pod.name);
    all.insert(each.pod.name + "x");
  }
  ASSERT_EQ(lost.size(), 2U);
  cluster.add(in_rack(node("r2-1", 4), "r2"));
  cluster.add(closed(in_rack(node("r1-2"), "r1")));
  for (const std::string& name : lost) cluster.gone(name);
  cluster.decide(10);
  for (const std::string& name : lost) cluster.set(member(name + "x", 12));
  EXPECT_TRUE(cluster.decide(12).bindings.empty()) << "it stays together";
  cluster.add(in_rack(node("r2-2", 8), "r2"));
  EXPECT_TRUE(cluster.decide(13).evictions.empty());
  cluster.add(in_rack(node("r2-3", 4), "r2"));
  const Round moves = cluster.decide(14);
  ASSERT_EQ(evicted_in(moves), left);
  EXPECT_TRUE(moves.evictions.front().why.starts_with("node: it has lost some of its pods"))
      << moves.evictions.front().why;
  for (const std::string& name : left) cluster.gone(name);
  cluster.decide(15);
  for (const std::string& name : left) cluster.set(member(name + "x", 16));
  const Round there = cluster.decide(16);
  EXPECT_EQ(names_of(there), all);
  for (const Binding& each : there.bindings) EXPECT_EQ(each.node.substr(0, 2), "r2");
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST_F(LiveRepairs, AnotherSchedulerFindsWhatItLacks) {
  start();
  cluster_.set(pod("w", 4, 3000));
  lose_n2(10);
  settle(10);
  make_both_anew(12);
  settle(12);
  cluster_.begin_anew();
  EXPECT_EQ(settle(20).again_at, Time{620'000}) << "it knows not since when";
  EXPECT_EQ(gpus_held_in("default"), 16);
  expect_sound();
  cluster_.add(node("n3"));
  EXPECT_EQ(names_of(settle(30)), anew()) << "w came before";
  expect_sound();
}

// A queue that changes makes the engine anew.
TEST_F(LiveRepairs, AnEngineThatIsMadeAnewGoesOnWithIt) {
  start();
  cluster_.set(pod("w", 4, 3000));
  cluster_.add(closed(node("n2")));
  lose(on_n2_[0], 10);
  settle(10);
  make_anew("g-2x", 12);
  settle(12);
  cluster_.add(queue("other", 0));
  EXPECT_EQ(settle(20).again_at, Time{610'000});
  EXPECT_EQ(gpus_held_in("default"), 16);
  lose(on_n2_[1], 30);
  settle(30);
  cluster_.add(queue("third", 0));
  settle(31);
  make_anew("g-3x", 32);
  settle(32);
  EXPECT_EQ(gpus_held_in("default"), 16) << "who has been made since is of the same gang";
  cluster_.add(node("n3"));
  EXPECT_EQ(names_of(settle(40)), (Names{"g-2x", "g-3x"}));
  expect_sound();
}

TEST_F(LiveRepairs, ARefusedBindingIsLookedForAgain) {
  start();
  lose("g-1", 10);
  settle(10);
  make_anew("g-1x", 12);
  ASSERT_EQ(names_of(cluster_.engine().decide(Time{12'000})), Names{"g-1x"});
  cluster_.engine().refuse_binding("uid-g-1x");
  const Round again = cluster_.decide(13);
  EXPECT_EQ(names_of(again), Names{"g-1x"});
  EXPECT_TRUE(settle(30).rollbacks.empty());
  expect_sound();
}

}  // namespace berth::live_repairs_test
