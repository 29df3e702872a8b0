// Who had to give back what he had borrowed, and what his controller makes in his place; and floors that nobody uses.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "manifest/json.h"
#include "service/live_cluster.h"
#include "service/live_engine.h"
#include "service/live_facts.h"

namespace berth::live_cooldown_test {

using Amounts = std::map<std::string, std::string>;
using Names = std::set<std::string>;

PodFacts of_job(const std::string& job, PodFacts pod) {
  pod.owner = {"batch/v1", "Job", job, "uid-of-" + job};
  pod.maker_uid = pod.owner.uid;
  return pod;
}

PodFacts borrower(const std::string& name, const std::string& job, std::int64_t created_ms) {
  return of_job(job, in_queue("borrower", pod(name, 8, created_ms)));
}

// One node, lent to a job whose room the owner takes at 20 s and leaves at 30 s.
Cluster with_room_taken() {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(queue("owner", 8));
  QueueFacts lent = queue("borrower", 0);
  lent.spec.order = Order::kFifo;
  lent.spec.policies.cooldown = seconds(600);
  cluster.add(lent);
  cluster.set(borrower("b1", "job", 1000));
  cluster.decide(10);
  cluster.set(in_queue("owner", pod("mine", 8, 20'000)));
  EXPECT_EQ(evicted_in(cluster.decide(20)), Names{"b1"});
  return cluster;
}

void owner_comes_and_goes(Cluster& cluster) {
  cluster.gone("b1");
  cluster.set(borrower("b2", "job", 22'000));
  const Round round = cluster.decide(22);
  EXPECT_EQ(names_of(round), Names{"mine"});
  EXPECT_TRUE(reason_of(round, "b2").starts_with("Cooldown: it had to give back what it had borrowed"))
      << reason_of(round, "b2");
  cluster.gone("mine");
}

// Its Job makes another pod, which in a strict line even stands before the work of others.
TEST(LiveCooldown, HoldsForWhatTheSameControllerMakes) {
  Cluster cluster = with_room_taken();
  owner_comes_and_goes(cluster);
  cluster.set(borrower("other", "another-job", 25'000));
  Round round = cluster.decide(30);
  EXPECT_EQ(names_of(round), Names{"other"});
  cluster.gone("other");
  round = cluster.decide(40);
  EXPECT_TRUE(round.bindings.empty());
  EXPECT_EQ(round.again_at, Time{620'000});
  EXPECT_TRUE(cluster.decide(619).bindings.empty());
  EXPECT_EQ(names_of(cluster.decide(620)), Names{"b2"});
  EXPECT_TRUE(cluster.engine().queue_standings().at("borrower").cooling_down.empty());
}

TEST(LiveCooldown, IsKnownToTheNextEngineAndToTheNextScheduler) {
  for (const bool another_scheduler : {false, true}) {
    Cluster cluster = with_room_taken();
    owner_comes_and_goes(cluster);
    cluster.write_statuses();
    another_scheduler ? cluster.begin_anew() : cluster.engine().begin_anew();
    EXPECT_TRUE(cluster.decide(30).bindings.empty());
    EXPECT_EQ(names_of(cluster.decide(620)), Names{"b2"});
  }
}

// The scheduler was gone before it wrote its status: the pod that leaves says why.
TEST(LiveCooldown, IsReadFromThePodThatLeaves) {
  const auto leaving = parse_json(R"({"metadata": {"uid": "uid-b1", "deletionTimestamp": "1970-01-01T00:00:50Z"},
      "status": {"conditions": [{"type": "DisruptionTarget", "reason": "PreemptionByScheduler",
      "message": "reclaim: its room goes to default/mine", "lastTransitionTime": "1970-01-01T00:00:20Z"}]}})");
  EXPECT_EQ(read_pod(*leaving).gave_back, Time{20'000});
  const auto preempted = parse_json(R"({"metadata": {"uid": "uid-b1", "deletionTimestamp": "1970-01-01T00:00:50Z"},
      "status": {"conditions": [{"type": "DisruptionTarget", "reason": "PreemptionByScheduler",
      "message": "preempt: its room goes to default/mine", "lastTransitionTime": "1970-01-01T00:00:20Z"}]}})");
  EXPECT_EQ(read_pod(*preempted).gave_back, std::nullopt);
  Cluster cluster = with_room_taken();
  PodFacts told =
      bound(borrower("b1", "job", 1000), {.pod = {}, .node = "n1", .given = {GpuSet::from_bits(255)}}, Time{10'000});
  told.leaving_until = Time{50'000};
  told.gave_back = Time{20'000};
  cluster.set(told);
  cluster.begin_anew();
  cluster.decide(21);
  owner_comes_and_goes(cluster);
  EXPECT_TRUE(cluster.decide(30).bindings.empty());
  EXPECT_EQ(names_of(cluster.decide(620)), Names{"b2"});
}

TEST(LiveCooldown, IsNoneWithoutOneOrForWhoIsControlledByNobody) {
  for (const bool without : {false, true}) {
    Cluster cluster = with_room_taken();
    if (without) cluster.add(queue("borrower", 0));
    cluster.gone("b1");
    PodFacts again = borrower("b2", "job", 22'000);
    if (!without) again.owner = {}, again.maker_uid = "";
    cluster.set(again);
    cluster.decide(22);
    cluster.gone("mine");
    EXPECT_EQ(names_of(cluster.decide(30)), Names{"b2"}) << without;
  }
}

// Five of eight were used for the first 50 s; engines and schedulers begin all the time.
TEST(LiveIdleFloor, IsToldWhateverBegins) {
  for (const bool another_scheduler : {false, true}) {
    Cluster cluster;
    cluster.add(node("n1"));
    QueueFacts team = queue("team", 8);
    team.spec.policies.idle_after = seconds(100);
    cluster.add(team);
    cluster.set(in_queue("team", pod("p", 5)));
    const std::map<std::int64_t, Amounts> expected = {
        {90, {}}, {100, {{"h100", "3"}}}, {140, {{"h100", "3"}}}, {150, {{"h100", "8"}}}};
    for (std::int64_t now = 0; now <= 150; now += 10) {
      if (now == 50) {
        cluster.it_is(50);
        cluster.gone("p");
      }
      cluster.decide(now);
      cluster.write_statuses();
      another_scheduler ? cluster.begin_anew() : cluster.engine().begin_anew();
      cluster.decide(now);
      const auto at = expected.find(now);
      if (at == expected.end()) continue;
      EXPECT_EQ(cluster.engine().queue_standings().at("team").idle, at->second) << now << " s";
    }
  }
}

}  // namespace berth::live_cooldown_test
