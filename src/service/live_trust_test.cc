// Circles of trust on a live cluster: who shares GPUs, what is written down of it, and how those part who trusted each other.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_trust_test {

using Names = std::set<std::string>;

PodFacts half(const std::string& name, const std::string& queue) { return in_queue(queue, part(name, 500)); }

// Of the condition InForce: "True AsWritten", or "False QueueUnknown: there is no queue 'x'".
std::string in_force(const Cluster& cluster, const std::string& circle) {
  for (const Value& each : cluster.circle(circle)["status"]["conditions"].items()) {
    if (each["type"].text() != "InForce") continue;
    const std::string holds(each["status"].text());
    const std::string reason = holds + " " + std::string(each["reason"].text());
    return holds == "True" ? reason : reason + ": " + std::string(each["message"].text());
  }
  return "";
}

std::vector<std::string> held_by(const Cluster& cluster, const std::string& circle) {
  std::vector<std::string> queues;
  for (const Value& each : cluster.circle(circle)["status"]["queues"].items()) queues.emplace_back(each.text());
  return queues;
}

// Two tenants with half a GPU each on the only one that there is, which trust each other for a circle.
Cluster two_who_share(const std::string& within = "10m") {
  Cluster cluster;
  cluster.add(queue("a", 0));
  cluster.add(queue("b", 0));
  cluster.add(shared(node("n1", 1), Sharing::kExclusive));
  cluster.add_circle("both", {"a", "b"}, within);
  cluster.decide(1);
  cluster.write_circles(1);
  cluster.set(half("first", "a"));
  cluster.decide(2);
  cluster.set(half("second", "b"));
  cluster.decide(3);
  EXPECT_EQ(cluster.engine().state().ledger().gpu_milli(NodeId(0))[0], 0);
  return cluster;
}

TEST(LiveTrust, OnlyACircleLetsTwoTenantsShareAGpu) {
  Cluster cluster;
  cluster.add(queue("a", 0));
  cluster.add(queue("b", 0));
  cluster.add(shared(node("n1", 1), Sharing::kExclusive));
  cluster.set(half("first", "a"));
  cluster.decide(2);
  cluster.set(half("second", "b"));
  const std::string why = reason_of(cluster.decide(3), "second");
  EXPECT_EQ(why.substr(0, 7), "Trust: ") << why;
  EXPECT_TRUE(why.ends_with("(a TrustCircle that names its tenant, queue 'b', and theirs)")) << why;
  cluster.add_circle("both", {"a", "b"});
  // Nobody trusts anybody before it is written down who does.
  EXPECT_TRUE(cluster.decide(4).bindings.empty());
  const auto standing = cluster.engine().circle_standings().at("both");
  EXPECT_EQ(standing.finalizers, std::vector<std::string>{"berth.dev/parting"});
  EXPECT_TRUE(standing.queues.empty());
  EXPECT_EQ(cluster.write_circles(4), 3);
  EXPECT_EQ(held_by(cluster, "both"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(in_force(cluster, "both"), "True AsWritten");
  EXPECT_EQ(cluster.engine().state().ledger().gpu_milli(NodeId(0))[0], 0);
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

TEST(LiveTrust, WhoIsTheStrangerGoesWithinTheTime) {
  Cluster cluster = two_who_share("60s");
  cluster.add_circle("both", {"a"}, "60s");
  Round round = cluster.decide(10);
  EXPECT_EQ(round.to_part.size(), 2U);
  EXPECT_EQ(round.to_part.at(0).text,
            "on GPU 0 of n1 is work of queues that do not trust each other any more; who is there after "
            "1970-01-01T00:01:10Z and does not trust the stronger claim has to stop");
  EXPECT_TRUE(round.evictions.empty());
  EXPECT_EQ(round.again_at, Time{70'000});
  cluster.write_circles(10);
  EXPECT_EQ(held_by(cluster, "both"), std::vector<std::string>{"a"});
  EXPECT_EQ(to_json(cluster.circle("both")["status"]["parting"]),
            R"([{"queues":["a","b"],"since":"1970-01-01T00:00:10.000000Z","by":"1970-01-01T00:01:10.000000Z"}])");
  round = cluster.decide(69);
  EXPECT_TRUE(round.evictions.empty() && round.to_part.empty());
  round = cluster.decide(70);
  EXPECT_EQ(evicted_in(round), Names{"second"});
  EXPECT_EQ(round.evictions.at(0).why.substr(0, 102),
            "trust: on its GPU is work with a stronger claim of queues that its tenant trusts no more; it stops by ");
  cluster.gone("second");
  cluster.decide(80);
  cluster.write_circles(80);
  EXPECT_TRUE(cluster.circle("both")["status"]["parting"].is_null());
}

// The time is that of the change that made strangers of them, whatever happens to the scheduler and its engine.
TEST(LiveTrust, ARestartKeepsTheTimeToPart) {
  const char* const kWays[] = {"narrowed", "deleted"};
  for (const std::string way : kWays) {
    for (const bool seen : {true, false}) {
      for (const bool anew : {true, false}) {
        SCOPED_TRACE(way + (seen ? ", seen" : ", unseen") + (anew ? ", restarted" : ", a new life"));
        Cluster cluster = two_who_share("60s");
        const auto change = [&] {
          way == "deleted" ? cluster.delete_circle("both") : cluster.add_circle("both", {"a"}, "60s");
        };
        if (!seen && !anew) continue;
        if (seen) {
          change();
          cluster.decide(10);
          cluster.write_circles(10);
        }
        // Of what the scheduler has not seen it has written nothing.
        if (!seen) change();
        if (anew) {
          cluster.begin_anew();
        } else {
          cluster.add(queue("c", 1));
        }
        EXPECT_TRUE(cluster.decide(40).evictions.empty());
        EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
        cluster.write_circles(40);
        ASSERT_TRUE(cluster.has_circle("both"));
        EXPECT_EQ(cluster.circle("both")["status"]["parting"].items().size(), 1U);
        const std::int64_t due = seen ? 70 : 100;
        EXPECT_TRUE(cluster.decide(due - 1).evictions.empty());
        EXPECT_EQ(evicted_in(cluster.decide(due)), Names{"second"});
        cluster.gone("second");
        cluster.decide(due + 10);
        cluster.write_circles(due + 10);
        EXPECT_EQ(cluster.has_circle("both"), way == "narrowed");
      }
    }
  }
}

TEST(LiveTrust, ACircleGoesWhenAllHaveParted) {
  Cluster cluster = two_who_share();
  cluster.delete_circle("both");
  cluster.decide(10);
  cluster.write_circles(10);
  ASSERT_TRUE(cluster.has_circle("both"));
  EXPECT_EQ(in_force(cluster, "both").substr(0, 13), "False Deleted");
  // Who leaves by himself ends the matter.
  cluster.gone("first");
  cluster.decide(20);
  cluster.write_circles(20);
  EXPECT_FALSE(cluster.has_circle("both"));
  EXPECT_TRUE(evicted_in(cluster.decide(700)).empty());
  // And where nobody shares anything it goes at once.
  cluster.add_circle("more", {"a", "b"});
  cluster.decide(701);
  cluster.write_circles(701);
  cluster.delete_circle("more");
  cluster.decide(702);
  cluster.write_circles(702);
  EXPECT_FALSE(cluster.has_circle("more"));
}

TEST(LiveTrust, ACircleThatIsBackInTimeEndsTheMatter) {
  Cluster cluster = two_who_share("60s");
  cluster.add_circle("both", {"a"}, "60s");
  cluster.decide(10);
  cluster.write_circles(10);
  cluster.add_circle("both", {"a", "b"}, "60s");
  cluster.decide(20);
  cluster.write_circles(20);
  EXPECT_TRUE(cluster.decide(100).evictions.empty());
  EXPECT_EQ(in_force(cluster, "both"), "True AsWritten");
  EXPECT_TRUE(cluster.circle("both")["status"]["parting"].is_null());
}

// Of one that could go unseen nobody would know whom it held.
TEST(LiveTrust, ACircleThatIsNotKeptHoldsNobody) {
  Cluster cluster = two_who_share();
  cluster.let_go_of_circle("both");
  EXPECT_EQ(cluster.decide(10).to_part.size(), 2U);
  EXPECT_GT(cluster.write_circles(10), 0);
  EXPECT_EQ(in_force(cluster, "both"), "True AsWritten");
  EXPECT_TRUE(cluster.decide(1000).evictions.empty());
}

TEST(LiveTrust, WhatIsWrongWithACircleIsSaid) {
  Cluster cluster;
  cluster.add(queue("top", 0));
  cluster.add(queue("below", 0, "top"));
  cluster.add(queue("other", 0));
  cluster.add(shared(node("n1", 1), Sharing::kExclusive));
  cluster.set(half("works", "below"));
  cluster.decide(1);
  cluster.add_circle("c", {"below", "other", "nobody"});
  cluster.decide(2);
  cluster.write_circles(2);
  EXPECT_EQ(
      in_force(cluster, "c"),
      "False QueueHasWork: queue 'below' has work that is of its tenant 'top'; it is a tenant of its own as soon as "
      "that has ended; there is no queue 'nobody'");
  EXPECT_EQ(held_by(cluster, "c"), std::vector<std::string>{"other"});
  // The same is so for a scheduler that is started anew.
  cluster.begin_anew();
  cluster.decide(3);
  cluster.write_circles(3);
  EXPECT_EQ(held_by(cluster, "c"), std::vector<std::string>{"other"});
  cluster.gone("works");
  cluster.add(queue("nobody", 0));
  cluster.decide(4);
  cluster.write_circles(4);
  EXPECT_EQ(in_force(cluster, "c"), "True AsWritten");
  EXPECT_EQ(held_by(cluster, "c"), (std::vector<std::string>{"below", "nobody", "other"}));
}

// A queue that no circle names any more is of the tenant above it, as it is for a scheduler that is started anew.
TEST(LiveTrust, WhoIsNamedNoMoreIsOfTheTenantAbove) {
  Cluster cluster;
  cluster.add(queue("top", 0));
  cluster.add(queue("below", 0, "top"));
  cluster.add(shared(node("n1", 1), Sharing::kExclusive));
  cluster.add_circle("alone", {"below"});
  cluster.decide(1);
  cluster.write_circles(1);
  cluster.set(half("first", "top"));
  cluster.decide(2);
  cluster.set(half("second", "below"));
  EXPECT_EQ(reason_of(cluster.decide(3), "second").substr(0, 7), "Trust: ");
  cluster.delete_circle("alone");
  cluster.decide(4);
  cluster.write_circles(4);
  EXPECT_FALSE(cluster.has_circle("alone"));
  cluster.decide(5);
  EXPECT_EQ(cluster.engine().state().ledger().gpu_milli(NodeId(0))[0], 0);
}

// Each pair parts by the time of the change that ended its own trust.
TEST(LiveTrust, SeveralChangesHaveTheirOwnTimes) {
  for (const bool anew : {false, true}) {
    SCOPED_TRACE(anew ? "restarted" : "not restarted");
    Cluster cluster;
    for (const char* const name : {"a", "b", "c", "d"}) cluster.add(queue(name, 0));
    cluster.add(shared(node("n1", 2), Sharing::kExclusive));
    cluster.add_circle("ab", {"a", "b"}, "60s");
    cluster.add_circle("cd", {"c", "d"}, "10s");
    cluster.decide(1);
    cluster.write_circles(1);
    for (const char* const name : {"a", "b", "c", "d"}) {
      cluster.set(half(std::string("of-") + name, name));
      ASSERT_EQ(cluster.decide(2).bindings.size(), 1U);
    }
    cluster.delete_circle("ab");
    cluster.decide(10);
    cluster.write_circles(10);
    cluster.delete_circle("cd");
    cluster.decide(20);
    cluster.write_circles(20);
    if (anew) cluster.begin_anew();
    EXPECT_TRUE(cluster.decide(29).evictions.empty());
    EXPECT_EQ(evicted_in(cluster.decide(30)), Names{"of-d"});
    EXPECT_TRUE(cluster.decide(69).evictions.empty());
    EXPECT_EQ(evicted_in(cluster.decide(70)), Names{"of-b"});
  }
}

// On one node: whoever has to part from several is told the first time, and again when another is before it.
TEST(LiveTrust, EachPairOnANodeHasItsOwnTime) {
  for (const bool anew : {false, true}) {
    SCOPED_TRACE(anew ? "restarted" : "not restarted");
    Cluster cluster;
    for (const char* const name : {"a", "b", "c"}) cluster.add(queue(name, 0));
    cluster.add(node("n1", 3));
    cluster.add_circle("ab", {"a", "b"}, "60s");
    cluster.add_circle("ac", {"a", "c"}, "20s");
    cluster.add_circle("bc", {"b", "c"}, "60s");
    cluster.add_circle("hosts", {}, "60s", "kubernetes.io/hostname");
    cluster.decide(1);
    cluster.write_circles(1);
    for (const char* const name : {"a", "b", "c"}) {
      cluster.set(in_queue(name, pod(std::string("of-") + name, 1)));
      ASSERT_EQ(cluster.decide(2).bindings.size(), 1U);
    }
    cluster.delete_circle("ab");
    EXPECT_EQ(cluster.decide(10).to_part.size(), 2U);
    cluster.write_circles(10);
    cluster.delete_circle("ac");
    Round round = cluster.decide(20);
    ASSERT_EQ(round.to_part.size(), 2U);
    EXPECT_EQ(round.to_part.at(0).pod.name, "of-a");
    EXPECT_EQ(round.to_part.at(0).text,
              "on n1 or around it is work with GPUs of queues that are to be further from each other; who is there "
              "after 1970-01-01T00:00:40Z and is too near to a stronger claim has to stop");
    EXPECT_EQ(round.again_at, Time{40'000});
    cluster.write_circles(20);
    if (anew) cluster.begin_anew();
    EXPECT_TRUE(cluster.decide(39).evictions.empty());
    EXPECT_EQ(evicted_in(cluster.decide(40)), Names{"of-c"});
    cluster.gone("of-c");
    round = cluster.decide(41);
    EXPECT_TRUE(round.evictions.empty());
    EXPECT_EQ(round.again_at, Time{70'000});
    EXPECT_EQ(evicted_in(cluster.decide(70)), Names{"of-b"});
  }
}

// Who was found among strangers, for no circle that anybody knows of, is left alone.
TEST(LiveTrust, WhoWasPutAmongStrangersByOthersIsLeftAlone) {
  Cluster cluster;
  cluster.add(queue("a", 0));
  cluster.add(queue("b", 0));
  cluster.add(shared(node("n1", 1), Sharing::kExclusive));
  for (const char* const name : {"a", "b"}) {
    PodFacts pod = half(std::string("of-") + name, name);
    pod.stage = PodStage::kBound;
    pod.node = "n1";
    pod.bound_at = Time{1000};
    pod.given = GivenGpus{.gpus = GpuSet::from_bits(1), .milli = 500};
    cluster.set(pod);
  }
  cluster.add_circle("alone", {"a"}, "10s");
  cluster.decide(2);
  cluster.write_circles(2);
  cluster.delete_circle("alone");
  const Round round = cluster.decide(3);
  EXPECT_TRUE(round.to_part.empty());
  cluster.write_circles(3);
  EXPECT_FALSE(cluster.has_circle("alone"));
  EXPECT_TRUE(cluster.decide(1000).evictions.empty());
}

TEST(LiveTrust, OfManyLabelsThoseOfTheFirstCirclesHold) {
  Cluster cluster;
  cluster.add(queue("a", 0));
  for (int i = 0; i < 17; ++i) {
    cluster.add_circle("c" + std::to_string(100 + i), {"a"}, "10m", "rack" + std::to_string(i));
  }
  cluster.add_circle("c200", {"a"}, "10m", "rack3");
  cluster.decide(1);
  for (int i = 0; i < 20; ++i) cluster.write_circles(1);
  EXPECT_EQ(in_force(cluster, "c115").substr(0, 14), "True AsWritten");
  EXPECT_EQ(in_force(cluster, "c116").substr(0, 13), "False TooMany");
  EXPECT_EQ(in_force(cluster, "c200").substr(0, 14), "True AsWritten") << "by one of theirs";
}

TEST(LiveTrust, Of65CirclesThe64ThatCameFirstHold) {
  Cluster cluster;
  cluster.add(queue("a", 0));
  for (int i = 0; i < 65; ++i) cluster.add_circle("c" + std::to_string(100 + i), {"a"});
  cluster.decide(1);
  EXPECT_GT(cluster.write_circles(1), -2);
  for (int i = 0; i < 20; ++i) cluster.write_circles(1);
  EXPECT_EQ(in_force(cluster, "c163"), "True AsWritten");
  EXPECT_EQ(in_force(cluster, "c164").substr(0, 13), "False TooMany");
  EXPECT_EQ(cluster.engine().state().ledger().trust().circles().size(), 64U);
}

constexpr const char* kHost = "kubernetes.io/hostname";

// Two tenants with a GPU each on the first of two nodes.
Cluster two_on_a_node() {
  Cluster cluster;
  cluster.add(queue("a", 0));
  cluster.add(queue("b", 0));
  cluster.add(node("n1", 2));
  cluster.set(in_queue("a", pod("first", 1)));
  cluster.decide(1);
  cluster.set(in_queue("b", pod("second", 1)));
  cluster.decide(2);
  EXPECT_EQ(cluster.engine().state().ledger().node(NodeId(0)).whole_gpus, 0);
  return cluster;
}

std::string apart_in(const Value& object) { return to_json(object["apart"]); }

TEST(LiveTrust, ACircleKeepsStrangersOffNodes) {
  Cluster cluster;
  cluster.add(queue("a", 0));
  cluster.add(queue("b", 0));
  cluster.add(node("n1", 4));
  cluster.add_circle("all", {}, "10m", kHost);
  cluster.decide(1);
  cluster.write_circles(1);
  EXPECT_EQ(apart_in(cluster.circle("all")["status"]), R"({"exclusive":"kubernetes.io/hostname"})");
  EXPECT_EQ(in_force(cluster, "all"), "True AsWritten");
  cluster.set(in_queue("a", pod("first", 1)));
  cluster.decide(2);
  cluster.set(in_queue("b", pod("second", 1)));
  const std::string why = reason_of(cluster.decide(3), "second");
  EXPECT_EQ(why.substr(0, 7), "Trust: ") << why;
  cluster.set(in_queue("a", pod("third", 1)));
  EXPECT_EQ(cluster.decide(4).bindings.size(), 1U);
  // Nobody is nearer to a stranger before it is written down that he may be.
  cluster.add_circle("all", {});
  EXPECT_TRUE(cluster.decide(5).bindings.empty());
  cluster.write_circles(5);
  EXPECT_EQ(cluster.engine().state().ledger().node(NodeId(0)).whole_gpus, 1);
  EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
}

// Until a node has the label, its domains are the nodes; a circle says so, and that it is otherwise by then.
TEST(LiveTrust, ACircleSaysThatNoNodeHasItsLabel) {
  const auto message = [](const Cluster& cluster) {
    for (const Value& each : cluster.circle("all")["status"]["conditions"].items()) {
      if (each["type"].text() == "InForce") return std::string(each["message"].text());
    }
    return std::string();
  };
  const std::string as_written = "strangers are kept away from exclusive GPUs by example.com/rack";
  Cluster cluster;
  cluster.add(queue("a", 0));
  cluster.add(node("n1", 4));
  cluster.add_circle("all", {}, "10m", "example.com/rack");
  cluster.decide(1);
  cluster.write_circles(1);
  EXPECT_EQ(in_force(cluster, "all"), "True AsWritten");
  EXPECT_EQ(message(cluster), as_written +
                                  ", which no node has: strangers are kept apart node by node, and no further; label "
                                  "the nodes, or name a label that they have");
  NodeFacts in_rack = node("n2", 4);
  in_rack.says.labels = {{"example.com/rack", "r1"}};
  cluster.add(in_rack);
  cluster.decide(2);
  cluster.write_circles(2);
  EXPECT_EQ(message(cluster), as_written);
}

// Who is too near by a stricter word has until its time, however often schedulers and engines begin anew meanwhile.
TEST(LiveTrust, WhoIsKeptFurtherAwayDrains) {
  for (const std::string way : {"seen", "restarted", "unseen"}) {
    SCOPED_TRACE(way);
    Cluster cluster = two_on_a_node();
    cluster.add_circle("all", {}, "60s");
    cluster.decide(5);
    cluster.write_circles(5);
    cluster.add_circle("all", {}, "60s", kHost);
    if (way != "unseen") {
      cluster.decide(10);
      cluster.write_circles(10);
      const Value& status = cluster.circle("all")["status"];
      ASSERT_EQ(status["parting"].items().size(), 1U);
      EXPECT_EQ(apart_in(status), R"({"exclusive":"kubernetes.io/hostname"})");
      EXPECT_EQ(apart_in(status["parting"].items().at(0)), "{}");
    }
    if (way != "seen") cluster.begin_anew();
    const std::int64_t due = way == "unseen" ? 100 : 70;
    EXPECT_TRUE(cluster.decide(40).evictions.empty());
    EXPECT_EQ(violations(cluster.engine().state()), std::vector<std::string>());
    cluster.write_circles(40);
    EXPECT_TRUE(cluster.decide(due - 1).evictions.empty());
    const Round round = cluster.decide(due);
    EXPECT_EQ(evicted_in(round), Names{"second"});
    const std::string why = "trust: on its GPU, or too near to it, is work with a stronger claim of queues";
    EXPECT_EQ(round.evictions.at(0).why.substr(0, why.size()), why);
    cluster.gone("second");
    cluster.decide(due + 10);
    cluster.write_circles(due + 10);
    EXPECT_TRUE(cluster.circle("all")["status"]["parting"].is_null());
  }
}

TEST(LiveTrust, WhoHasToPartIsToldHowNearHeIs) {
  Cluster cluster = two_on_a_node();
  cluster.add_circle("of-b", {"b"}, "60s", kHost);
  cluster.decide(10);
  cluster.write_circles(10);
  Round round = cluster.decide(11);
  for (std::int64_t now = 12; round.to_part.empty() && now < 15; ++now) round = cluster.decide(now);
  EXPECT_EQ(cluster.engine().state().partings().all().size(), 2U);
}

}  // namespace berth::live_trust_test
