// Work that consents to being moved, on a cluster: its pods are told to stop, and those that are made in their place have room.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_moves_test {

using Names = std::set<std::string>;

// Of a Job; who makes it anew has the same controller.
PodFacts of_job(const std::string& job, PodFacts pod) {
  pod.owner = {"batch/v1", "Job", job, "uid-of-" + job};
  pod.maker_uid = pod.owner.uid;
  pod.terms.movable = true;
  pod.terms.grace = seconds(30);
  return pod;
}

PodFacts on(PodFacts pod, const std::string& node, int first_gpu) {
  GivenGpus given;
  for (int gpu = 0; gpu < pod.request.gpus; ++gpu) given.gpus.add(first_gpu + gpu);
  return bound(pod, {.pod = {}, .node = node, .given = given}, Time{1000});
}

PodFacts later(PodFacts pod, std::int64_t seconds_created) {
  pod.created = Time{seconds_created * 1000};
  return pod;
}

// Four GPUs are taken on each of two nodes of eight: on n1 by work that consents, on n2 by work that does not.
class LiveMoves : public ::testing::Test {
 protected:
  LiveMoves() {
    cluster_.add(node("n1"));
    cluster_.add(node("n2"));
    cluster_.set(on(of_job("a", pod("a", 4)), "n1", 0));
    cluster_.set(on(pod("b", 4), "n2", 0));
    cluster_.decide(2);
  }
  // Somebody comes who needs a whole node.
  Round ask_for_a_node(std::int64_t at_s) {
    cluster_.set(pod("p", 8, at_s * 1000));
    return cluster_.decide(at_s);
  }
  // The controller has made it anew.
  void make_anew(const std::string& name, std::int64_t at_s) { cluster_.set(later(of_job("a", pod(name, 4)), at_s)); }
  // Two pods of two GPUs each, where `a` was.
  void put_gang() {
    cluster_.set(on(in_gang(of_job("g", pod("g-0", 2)), "g", 2), "n1", 0));
    cluster_.set(on(in_gang(of_job("g", pod("g-1", 2)), "g", 2), "n1", 2));
  }
  void expect_sound() { EXPECT_EQ(violations(cluster_.engine().state()), std::vector<std::string>()); }

  static std::string where(const Round& round, const std::string& name) {
    for (const Binding& each : round.bindings) {
      if (each.pod.name == name) return each.node;
    }
    return "";
  }

  Cluster cluster_;
};

TEST_F(LiveMoves, WhoConsentsMakesWayAndHasRoomElsewhere) {
  const Round asked = ask_for_a_node(10);
  ASSERT_EQ(evicted_in(asked), Names{"a"});
  EXPECT_EQ(asked.evictions.front().why,
            "defragment: it consents to being moved, and goes to n2, so that default/p of queue 'default' finds room; "
            "it stops "
            "by 1970-01-01T00:00:40Z; since its start it has worked 36 GPU-seconds, lost unless it saves them");
  EXPECT_TRUE(asked.bindings.empty());
  cluster_.gone("a");
  const Round gone = cluster_.decide(20);
  const auto runs = cluster_.engine().who_runs();
  EXPECT_TRUE(std::ranges::any_of(runs, [](const auto& each) { return each.second.ends_with("a"); }))
      << "it is on its way, and no pod of it is there";
  EXPECT_EQ(where(gone, "p"), "n1");
  EXPECT_EQ(cluster_.engine().holdings_by_queue().at("default").reserved[Dim(FlavorId(0), Resource::kGpu).index()],
            16'000);
  make_anew("a-again", 21);
  const Round back = cluster_.decide(22);
  EXPECT_EQ(where(back, "a-again"), "n2");
  ASSERT_FALSE(back.bindings.empty());
  EXPECT_EQ(back.bindings.front().moved_at, Time{10'000});
  expect_sound();
}

TEST_F(LiveMoves, WhoIsMadeAnewAtOnceWaitsUntilTheOtherHasGone) {
  ask_for_a_node(10);
  make_anew("a-again", 11);
  const Round early = cluster_.decide(12);
  EXPECT_TRUE(early.bindings.empty());
  EXPECT_EQ(reason_of(early, "a-again"),
            "Capacity: others are leaving its room, by 1970-01-01T00:00:40Z at the latest; then it starts");
  cluster_.gone("a");
  const Round gone = cluster_.decide(20);
  EXPECT_EQ(where(gone, "p"), "n1");
  EXPECT_EQ(where(gone, "a-again"), "n2");
  expect_sound();
}

TEST_F(LiveMoves, RoomIsKeptForAMinuteForWhoIsNotMadeAnew) {
  ask_for_a_node(10);
  cluster_.gone("a");
  const Round gone = cluster_.decide(20);
  EXPECT_EQ(gone.again_at, Time{80'000});
  cluster_.set(pod("c", 4, 21'000));
  EXPECT_TRUE(cluster_.decide(79).bindings.empty());
  EXPECT_EQ(where(cluster_.decide(80), "c"), "n2");
  make_anew("a-again", 81);
  EXPECT_TRUE(cluster_.decide(82).bindings.empty()) << "it waits like any other";
  expect_sound();
}

TEST_F(LiveMoves, WhoAsksSomethingElseIsNotWhoWent) {
  ask_for_a_node(10);
  cluster_.gone("a");
  cluster_.decide(20);
  cluster_.set(later(of_job("a", pod("a-smaller", 3)), 21));
  EXPECT_TRUE(cluster_.decide(22).bindings.empty());
  make_anew("a-again", 23);
  EXPECT_EQ(where(cluster_.decide(24), "a-again"), "n2");
}

TEST_F(LiveMoves, WhoseMakerIsAnotherIsNotWhoWent) {
  ask_for_a_node(10);
  cluster_.gone("a");
  cluster_.decide(20);
  cluster_.set(later(of_job("other", pod("o", 4)), 21));
  EXPECT_TRUE(cluster_.decide(22).bindings.empty());
}

TEST_F(LiveMoves, AGangGoesWholeAndComesBackWhole) {
  cluster_.gone("a");
  put_gang();
  cluster_.decide(5);
  EXPECT_EQ(evicted_in(ask_for_a_node(10)), (Names{"g-0", "g-1"}));
  cluster_.gone("g-0");
  EXPECT_TRUE(cluster_.decide(11).bindings.empty()) << "one of them is there still";
  cluster_.gone("g-1");
  EXPECT_EQ(where(cluster_.decide(12), "p"), "n1");
  cluster_.set(later(in_gang(of_job("g", pod("g-2", 2)), "g", 2), 13));
  const Round half = cluster_.decide(14);
  EXPECT_TRUE(half.bindings.empty());
  EXPECT_TRUE(reason_of(half, "g-2").starts_with("GangIncomplete: "));
  cluster_.set(later(in_gang(of_job("g", pod("g-3", 2)), "g", 2), 15));
  const Round whole = cluster_.decide(16);
  EXPECT_EQ(names_of(whole), (Names{"g-2", "g-3"}));
  EXPECT_EQ(where(whole, "g-3"), "n2");
  expect_sound();
}

// It may start with what is free, as any gang that is new.
TEST_F(LiveMoves, AGangThatComesBackAsAnotherHasNoRoomKept) {
  cluster_.gone("a");
  put_gang();
  cluster_.decide(5);
  ask_for_a_node(10);
  cluster_.gone("g-0");
  cluster_.gone("g-1");
  cluster_.decide(12);
  for (const char* const name : {"g-2", "g-3"}) {
    cluster_.set(later(in_gang(of_job("g", pod(name, 1)), "g", 2), 13));
  }
  EXPECT_EQ(names_of(cluster_.decide(14)), (Names{"g-2", "g-3"}));
  cluster_.set(pod("c", 2, 15'000));
  EXPECT_EQ(where(cluster_.decide(16), "c"), "n2") << "nothing is kept any more";
  expect_sound();
}

TEST_F(LiveMoves, WhereTheNewPlaceIsLostItWaitsLikeAnyOther) {
  ask_for_a_node(10);
  NodeFacts closed = node("n2");
  closed.open = false;
  cluster_.add(closed);
  cluster_.decide(11);
  expect_sound();
  cluster_.gone("a");
  EXPECT_EQ(where(cluster_.decide(12), "p"), "n1");
  make_anew("a-again", 13);
  EXPECT_TRUE(cluster_.decide(14).bindings.empty());
  cluster_.add(node("n2"));
  EXPECT_EQ(where(cluster_.decide(15), "a-again"), "n2");
  expect_sound();
}

TEST_F(LiveMoves, WhoIsDeletedBeforeItIsBoundLosesTheRoom) {
  ask_for_a_node(10);
  cluster_.gone("a");
  cluster_.decide(20);
  make_anew("a-again", 21);
  const Round back = cluster_.engine().decide(Time{22'000});
  EXPECT_EQ(where(back, "a-again"), "n2");
  cluster_.gone("a-again");
  cluster_.set(pod("c", 4, 23'000));
  EXPECT_EQ(where(cluster_.decide(24), "c"), "n2");
  expect_sound();
}

TEST_F(LiveMoves, AnotherSchedulerFindsWhoLeavesAndWhoIsMadeAnew) {
  ask_for_a_node(10);
  cluster_.begin_anew();
  const Round found = cluster_.decide(11);
  EXPECT_TRUE(found.evictions.empty()) << "it has been told";
  cluster_.gone("a");
  EXPECT_EQ(where(cluster_.decide(12), "p"), "n1");
  make_anew("a-again", 13);
  EXPECT_EQ(where(cluster_.decide(14), "a-again"), "n2");
  expect_sound();
}

// The hour is of the work, and not of the scheduler that moved it.
TEST_F(LiveMoves, AnotherSchedulerDoesNotMoveItAgainWithinTheHour) {
  PodFacts moved = on(of_job("a", pod("a", 4)), "n1", 0);
  moved.moved_at = Time{5000};
  cluster_.set(moved);
  cluster_.begin_anew();
  EXPECT_TRUE(evicted_in(ask_for_a_node(10)).empty());
  cluster_.begin_anew();
  EXPECT_EQ(evicted_in(cluster_.decide(3606)), Names{"a"});
}

// Though nothing else happens then.
TEST_F(LiveMoves, TheEndOfTheHourIsLookedAt) {
  PodFacts moved = on(of_job("a", pod("a", 4)), "n1", 0);
  moved.moved_at = Time{5000};
  cluster_.set(moved);
  cluster_.begin_anew();
  EXPECT_EQ(cluster_.decide(9).again_at, std::nullopt) << "nobody waits";
  const Round asked = ask_for_a_node(10);
  EXPECT_TRUE(evicted_in(asked).empty());
  EXPECT_EQ(asked.again_at, Time{3'900'000}) << "it was moved before the scheduler's life: five minutes more or less";
  EXPECT_TRUE(evicted_in(cluster_.decide(3899)).empty());
  EXPECT_EQ(evicted_in(cluster_.decide(3900)), Names{"a"});
}

TEST_F(LiveMoves, SoIsTheEndOfAMinimumRunTime) {
  Cluster cluster;
  QueueFacts protects = queue("q", 0);
  protects.spec.policies.min_runtime = seconds(600);
  cluster.add(protects);
  for (const char* const name : {"n1", "n2"}) cluster.add(node(name));
  cluster.set(on(in_queue("q", of_job("a", pod("a", 4))), "n1", 0));
  cluster.set(on(in_queue("q", pod("b", 4)), "n2", 0));
  cluster.set(in_queue("q", pod("p", 8, 10'000)));
  const Round asked = cluster.decide(10);
  EXPECT_TRUE(evicted_in(asked).empty());
  EXPECT_EQ(asked.again_at, Time{601'000});
  EXPECT_EQ(evicted_in(cluster.decide(601)), Names{"a"});
}

// Who makes way leaves GPUs that are scrubbed for a stranger; nobody is there yet for the new place then.
TEST(LiveMovesWithScrubs, WhatItLeavesIsScrubbedForAStranger) {
  Cluster cluster(Scrubs::kByNodes);
  for (const char* const name : {"ours", "theirs"}) cluster.add(queue(name, 0));
  cluster.add(node("n1"));
  cluster.add(node("n2"));
  cluster.set(on(in_queue("ours", of_job("a", pod("a", 4))), "n1", 0));
  cluster.set(on(in_queue("ours", pod("b", 4)), "n2", 0));
  cluster.decide(2);
  cluster.set(in_queue("theirs", pod("p", 8, 10'000)));
  ASSERT_EQ(evicted_in(cluster.decide(10)), Names{"a"});
  cluster.engine().note_told("uid-p");
  cluster.gone("a");
  const Round gone = cluster.decide(20);
  EXPECT_TRUE(gone.bindings.empty());
  EXPECT_TRUE(reason_of(gone, "p").starts_with("Dirty: ")) << reason_of(gone, "p");
  for (int gpu = 0; gpu < 4; ++gpu) cluster.answer("n1", gpu);
  EXPECT_EQ(names_of(cluster.decide(21)), Names{"p"});
  cluster.set(later(in_queue("ours", of_job("a", pod("a-again", 4))), 22));
  EXPECT_EQ(names_of(cluster.decide(23)), Names{"a-again"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST_F(LiveMoves, NobodyIsMovedWhoHasNotConsented) {
  PodFacts stays = on(of_job("a", pod("a", 4)), "n1", 0);
  stays.terms.movable = false;
  cluster_.set(stays);
  cluster_.begin_anew();
  const Round asked = ask_for_a_node(10);
  EXPECT_TRUE(asked.evictions.empty());
  EXPECT_TRUE(reason_of(asked, "p").starts_with("Fragmented: "));
}

TEST_F(LiveMoves, WhoeverRunsMayConsentAndTakeThatBack) {
  PodFacts a = on(of_job("a", pod("a", 4)), "n1", 0);
  a.terms.movable = false;
  cluster_.set(a);
  const Round refuses = ask_for_a_node(10);
  EXPECT_TRUE(refuses.evictions.empty());
  EXPECT_TRUE(reason_of(refuses, "p").starts_with("Fragmented: "));
  a.terms.movable = true;
  cluster_.set(a);
  EXPECT_EQ(evicted_in(cluster_.decide(12)), Names{"a"});
  expect_sound();
}

// ---- for nobody's sake ---------------------------------------------------------------------------------------------

TEST_F(LiveMoves, WhoIsAskedToMakesRoomForNobodyInParticular) {
  const std::string uid = of_job("a", pod("a", 4)).uid;
  cluster_.engine().ask_for_moves({.moves = {{{uid, "n2", GpuSet::from_bits(0b11110000)}}},
                                   .gpus = 8,
                                   .slice = "",
                                   .flavor = "",
                                   .use = seconds(4 * 3600)});
  const Round round = cluster_.decide(10);
  ASSERT_TRUE(round.moves_decided.has_value());
  EXPECT_EQ(round.moves_decided->moves, 1);
  EXPECT_EQ(round.moves_decided->uids, Names{uid});
  ASSERT_EQ(evicted_in(round), Names{"a"});
  EXPECT_TRUE(round.evictions.front().why.starts_with(
      "defragment: it consents to being moved, and goes to n2, so that there is room for larger pods; it stops by "))
      << round.evictions.front().why;
  cluster_.gone("a");
  cluster_.decide(20);
  make_anew("a-again", 21);
  EXPECT_EQ(where(cluster_.decide(22), "a-again"), "n2");
  EXPECT_FALSE(cluster_.decide(23).moves_decided.has_value());
  expect_sound();
}

// A slice on each of two GPUs: if one goes to the other there is room for a whole one.
TEST_F(LiveMoves, RoomForASliceIsMadeInTheSameWay) {
  Cluster cluster;
  cluster.add(cut(node("n1", 1)));
  cluster.add(cut(node("n2", 1)));
  const auto on_slice = [](PodFacts pod, const std::string& node) {
    const GivenGpus given = *parse_given_gpus("0:3g.40gb@4");
    return bound(std::move(pod), {.pod = {}, .node = node, .given = given}, Time{1000});
  };
  cluster.set(on_slice(of_job("a", slice("a", "3g.40gb")), "n1"));
  cluster.set(on_slice(slice("b", "3g.40gb"), "n2"));
  cluster.decide(2);
  const AskedMove move = {{"uid-a", "n2", GpuSet::from_bits(1), 0}};
  const auto ask = [&](const std::string& profile, const std::string& flavor) {
    cluster.engine().ask_for_moves(
        {.moves = {move}, .gpus = 1, .slice = profile, .flavor = flavor, .use = seconds(4 * 3600)});
    return cluster.decide(10);
  };
  EXPECT_FALSE(ask("7g.80gb", "b200").moves_decided.has_value()) << "there are no such GPUs any more";
  EXPECT_EQ(ask("1g.10gb", "h100").moves_decided->moves, 0) << "no more of these find room by it";
  const Round round = ask("7g.80gb", "h100");
  ASSERT_TRUE(round.moves_decided.has_value());
  EXPECT_EQ(round.moves_decided->moves, 1);
  EXPECT_EQ(evicted_in(round), Names{"a"});
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST_F(LiveMoves, WhatHoldsNoMoreIsAskedOfNobody) {
  const std::string uid = of_job("a", pod("a", 4)).uid;
  const std::pair<const char*, AskedPlace> cases[] = {
      {"a place that is taken", {uid, "n2", GpuSet::from_bits(0b1111)}},
      {"where it is", {uid, "n1", GpuSet::from_bits(0b1111)}},
      {"no node", {uid, "n9", GpuSet::from_bits(0b11110000)}},
      {"no such GPU", {uid, "n2", GpuSet::from_bits(0b1111000000)}},
      {"fewer GPUs", {uid, "n2", GpuSet::from_bits(0b110000)}},
      {"nobody", {"uid-of-nobody", "n2", GpuSet::from_bits(0b11110000)}},
      {"who did not consent", {pod("b", 4).uid, "n1", GpuSet::from_bits(0b11110000)}},
  };
  for (const auto& [what, place] : cases) {
    SCOPED_TRACE(what);
    cluster_.engine().ask_for_moves(
        {.moves = {{place}}, .gpus = 8, .slice = "", .flavor = "", .use = seconds(4 * 3600)});
    const Round round = cluster_.decide(10);
    ASSERT_TRUE(round.moves_decided.has_value());
    EXPECT_EQ(round.moves_decided->moves, 0);
    EXPECT_EQ(evicted_in(round), Names());
  }
  expect_sound();
}

}  // namespace berth::live_moves_test
