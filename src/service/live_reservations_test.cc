// Reservations on a live cluster: what is kept for whom, what is written down of it, and that nothing of it is forgotten.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "service/live_cluster.h"
#include "state/invariants.h"

namespace berth::live_reservations_test {

using Names = std::set<std::string>;

// From 1970-01-01T01:00:00Z, the 3600th second, on.
std::string of_queue(const std::string& queue, int gpus, const std::string& more = "") {
  return R"({"queue":")" + queue + R"(","gpus":)" + std::to_string(gpus) +
         R"(,"from":"1970-01-01T01:00:00Z","for":"1h")" + more + "}";
}
std::string of_nodes(const std::string& nodes, const std::string& more = "") {
  return R"({"nodes":[)" + nodes + R"(],"from":"1970-01-01T01:00:00Z","for":"1h")" + more + "}";
}

// "True AsWritten: ...", of the condition of that type.
std::string condition_of(const Cluster& cluster, const std::string& reservation, const std::string& type = "InForce") {
  for (const Value& each : cluster.reservation(reservation)["status"]["conditions"].items()) {
    if (each["type"].text() != type) continue;
    return std::string(each["status"].text()) + " " + std::string(each["reason"].text()) + ": " +
           std::string(each["message"].text());
  }
  return "";
}

// "Coming 8 short 0: n1=0,1,2,3,4,5,6,7".
std::string standing_of(const Cluster& cluster, const std::string& reservation) {
  const Value& status = cluster.reservation(reservation)["status"];
  std::string text(status["phase"].text());
  if (!status["gpus"].is_null())
    text +=
        " " + std::to_string(status["gpus"].integer()) + " short " + std::to_string(status["short"].integer()) + ":";
  for (const Value& each : status["nodes"].items())
    text += " " + std::string(each["name"].text()) + "=" + std::string(each["gpus"].text());
  return text;
}

PodFacts limited(PodFacts pod, std::int64_t limit_s) {
  pod.terms.run_limit = seconds(limit_s);
  return pod;
}

// Two nodes of eight, and a queue with a floor of one of them.
Cluster two_nodes() {
  Cluster cluster;
  cluster.add(queue("research", 8));
  cluster.add(queue("product", 0));
  cluster.add(node("n1"));
  cluster.add(node("n2"));
  return cluster;
}

TEST(LiveReservations, KeepTheirGpusForTheirQueueAndSaySo) {
  Cluster cluster = two_nodes();
  cluster.add_reservation("monday", of_queue("research", 8));
  cluster.decide(1);
  EXPECT_EQ(cluster.write_reservations(1), 1);
  EXPECT_EQ(standing_of(cluster, "monday"), "Coming 8 short 0: n2=0,1,2,3,4,5,6,7");
  EXPECT_EQ(
      condition_of(cluster, "monday"),
      "True AsWritten: of these GPUs nobody else has any while it lasts, but queue 'research' and those below it");
  EXPECT_EQ(condition_of(cluster, "monday", "Short"), "False HasAll: it has all of them");
  EXPECT_EQ(cluster.write_reservations(2), 0) << "nothing has changed";

  // Who ends before, and who is beside it, starts; who might still be there waits for it.
  cluster.set(limited(in_queue("product", pod("short", 8, 1000)), 600));
  cluster.set(in_queue("product", pod("endless", 8, 2000)));
  cluster.set(in_queue("product", pod("other", 8, 3000)));
  Round round = cluster.decide(10);
  EXPECT_EQ(names_of(round), (Names{"short", "endless"}));
  cluster.engine().note_told("uid-other");
  cluster.gone("short");
  round = cluster.decide(30);
  EXPECT_EQ(names_of(round), Names{});
  EXPECT_EQ(reason_of(round, "other").substr(0, 68),
            "Reserved: there is room, reserved for queue research (monday) in 59m");

  cluster.decide(3600);
  cluster.write_reservations(3600);
  EXPECT_EQ(standing_of(cluster, "monday").substr(0, 7), "Lasting");
  cluster.set(in_queue("research", pod("own", 8, 4000)));
  EXPECT_EQ(names_of(cluster.decide(3601)), Names{"own"});
  cluster.decide(7200);
  cluster.write_reservations(7200);
  EXPECT_EQ(standing_of(cluster, "monday"), "Over");
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

// 1970-01-01 was a Thursday.
TEST(LiveReservations, ComeOnDaysOfTheCalendarForAsLongAsTheyAreThere) {
  Cluster cluster = two_nodes();
  cluster.add_reservation("days", of_queue("research", 8, R"(,"days":"thu,mon","zone":"Europe/Berlin")"));
  const auto from_at = [&](std::int64_t now_s) {
    cluster.decide(now_s);
    cluster.write_reservations(now_s);
    return std::string(cluster.reservation("days")["status"]["phase"].text()) + " " +
           std::string(cluster.reservation("days")["status"]["from"].text());
  };
  constexpr std::int64_t kDay = 86'400;
  EXPECT_EQ(from_at(1), "Coming 1970-01-01T01:00:00.000000Z");
  EXPECT_EQ(from_at(3600), "Lasting 1970-01-01T01:00:00.000000Z");
  EXPECT_EQ(from_at(7200), "Coming 1970-01-05T01:00:00.000000Z");
  cluster.begin_anew();
  EXPECT_EQ(from_at(4 * kDay + 3600), "Lasting 1970-01-05T01:00:00.000000Z") << "by another scheduler";
  // Whoever looks again and again is never at the end of what was told.
  for (std::int64_t day = 5; day < 800; day += 5) cluster.decide(day * kDay);
  EXPECT_EQ(from_at(800 * kDay), "Coming 1972-03-13T01:00:00.000000Z");
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

TEST(LiveReservations, TakenBackTheyKeepNothing) {
  Cluster cluster = two_nodes();
  cluster.add_reservation("monday", of_queue("research", 16));
  cluster.decide(1);
  cluster.set(in_queue("product", pod("endless", 8)));
  EXPECT_EQ(names_of(cluster.decide(2)), Names{});
  cluster.remove_reservation("monday");
  EXPECT_EQ(names_of(cluster.decide(3)), Names{"endless"});
  EXPECT_TRUE(cluster.engine().reservation_standings(Time{3000}).empty());
}

TEST(LiveReservations, WhoIsInTheWayIsToldAndWhoTakesHisRoomIsNamed) {
  Cluster cluster = two_nodes();
  for (int i = 0; i < 2; ++i) cluster.set(in_queue("product", pod("p" + std::to_string(i), 8)));
  cluster.decide(1);
  cluster.add_reservation("monday", of_queue("research", 8));
  cluster.decide(2);
  cluster.write_reservations(2);
  EXPECT_EQ(
      condition_of(cluster, "monday"),
      "True AsWritten: of these GPUs nobody else has any while it lasts, but queue 'research' and those below it; "
      "who is in its way is told to stop from 1970-01-01T00:59:30Z on");
  EXPECT_EQ(cluster.reservation("monday")["status"]["drainsAt"].text(), "1970-01-01T00:59:30.000000Z");
  const Round round = cluster.decide(3570);
  ASSERT_EQ(round.evictions.size(), 1U);
  EXPECT_EQ(round.evictions[0].why.substr(0, 126),
            "window: its room is reserved for queue 'research' from 1970-01-01T01:00:00Z on (Reservation monday); it "
            "stops by "
            "1970-01-01T01");
  cluster.write_reservations(3570);
  EXPECT_EQ(cluster.reservation("monday")["status"]["leaving"].items()[0].text(),
            "default/" + round.evictions[0].pod.name);
  cluster.gone(round.evictions[0].pod.name);
  cluster.decide(3580);
  cluster.write_reservations(3580);
  EXPECT_TRUE(cluster.reservation("monday")["status"]["leaving"].is_null());
}

// Their own condition says for whom they leave, so whoever comes next knows it, and so does the engine's next life.
TEST(LiveReservations, WhoLeavesIsKnownToASchedulerThatIsStartedAnew) {
  Cluster cluster = two_nodes();
  for (int i = 0; i < 2; ++i) cluster.set(in_queue("product", pod("p" + std::to_string(i), 8)));
  cluster.decide(1);
  cluster.add_reservation("monday", of_queue("research", 8));
  cluster.decide(2);
  const Round round = cluster.decide(3570);
  ASSERT_EQ(round.evictions.size(), 1U);
  const std::string leaves = "default/" + round.evictions[0].pod.name;
  const auto leaving = [&] {
    const Value& told = cluster.reservation("monday")["status"]["leaving"];
    return told.items().size() == 1 ? std::string(told.items()[0].text()) : to_json(told);
  };
  cluster.begin_anew();
  cluster.decide(3571);
  cluster.write_reservations(3571);
  EXPECT_EQ(leaving(), leaves);
  cluster.engine().begin_anew();
  cluster.decide(3572);
  cluster.write_reservations(3572);
  EXPECT_EQ(leaving(), leaves);
  cluster.gone(round.evictions[0].pod.name);
  cluster.decide(3580);
  cluster.write_reservations(3580);
  EXPECT_TRUE(cluster.reservation("monday")["status"]["leaving"].is_null());
}

TEST(LiveReservations, TheirNamesAreReadInWhatIsSaid) {
  EXPECT_EQ(reservation_named_in("window: its room is reserved for queue 'a' from 8 on (Reservation monday); it stops"),
            "monday");
  EXPECT_EQ(reservation_named_in("reclaim: its room goes to ml/train of queue 'b'; it stops by 8"), "");
  const PodFacts facts = read_pod(*parse_json(
      R"({"metadata":{"deletionTimestamp":"2026-11-21T08:00:00Z"},"status":{"conditions":[{"type":"DisruptionTarget","status":"True",
          "reason":"PreemptionByScheduler","message":"node: its node is closed for maintenance until 9 (Reservation night); it stops by 8"}]}})"));
  EXPECT_EQ(facts.leaves_for, "night");
}

TEST(LiveReservations, WhatTheyLackIsSaid) {
  Cluster cluster = two_nodes();
  for (int i = 0; i < 2; ++i) cluster.set(in_queue("research", pod("r" + std::to_string(i), 8)));
  cluster.decide(1);
  cluster.add_reservation("product", of_queue("product", 8));
  cluster.decide(2);
  cluster.write_reservations(2);
  EXPECT_EQ(standing_of(cluster, "product"), "Coming 0 short 8:");
  EXPECT_EQ(
      condition_of(cluster, "product", "Short"),
      "True NoRoom: it lacks 8 of 8 GPUs: the others are not there, or have work on them that nobody may take for it");
  cluster.add_reservation("large", of_queue("research", 24), 1);
  cluster.decide(3);
  cluster.write_reservations(3);
  EXPECT_EQ(standing_of(cluster, "large"), "Coming 16 short 8: n1=0,1,2,3,4,5,6,7 n2=0,1,2,3,4,5,6,7")
      << "of more than there are";
}

TEST(LiveReservations, MaintenanceClosesNodesForATime) {
  Cluster cluster = two_nodes();
  cluster.set(in_queue("product", pod("endless", 16)));
  cluster.add_reservation("night", of_nodes(R"("n2","n3")"));
  cluster.set(in_queue("research", pod("there", 8)));
  cluster.set(in_queue("research", pod("too", 8, 2000)));
  cluster.decide(1);
  cluster.write_reservations(1);
  EXPECT_EQ(standing_of(cluster, "night"), "Coming n2=");
  EXPECT_EQ(
      condition_of(cluster, "night"),
      "True AsWritten: nobody is on its nodes while it lasts; not there: n3; what comes by that name is among them");
  // A node that it names and that comes later is in it.
  cluster.add(node("n3"));
  cluster.decide(2);
  cluster.write_reservations(2);
  EXPECT_EQ(standing_of(cluster, "night"), "Coming n2= n3=");
  EXPECT_EQ(condition_of(cluster, "night"), "True AsWritten: nobody is on its nodes while it lasts");
  Round round = cluster.decide(3600);
  cluster.decide(3640);
  for (const std::string name : {"n2", "n3"}) {
    for (std::size_t at = 0; at < cluster.engine().state().nodes(); ++at) {
      if (cluster.engine().state().node(NodeId(at)).name != name) continue;
      EXPECT_FALSE(cluster.engine().state().ledger().node(NodeId(at)).open);
    }
  }
  cluster.decide(7200);
  EXPECT_TRUE(cluster.engine().state().ledger().node(NodeId(0)).open);
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
}

TEST(LiveReservations, WhoWaitsForOthersToLeaveDoesNotStartOnAClosedNode) {
  Cluster cluster;
  cluster.add(queue("research", 8));
  cluster.add(queue("product", 0));
  cluster.add(node("n1"));
  cluster.set(in_queue("product", pod("lent", 8)));
  cluster.decide(1);
  cluster.set(in_queue("research", pod("owner", 8)));
  const Round round = cluster.decide(2);
  ASSERT_EQ(round.evictions.size(), 1U);
  // It is closed before who was told to stop has gone.
  cluster.add_reservation("now", R"({"nodes":["n1"],"from":"1970-01-01T00:00:04Z","for":"1h"})");
  cluster.decide(3);
  EXPECT_EQ(names_of(cluster.decide(5)), Names{});
  cluster.gone("lent");
  EXPECT_EQ(names_of(cluster.decide(40)), Names{});
  EXPECT_TRUE(violations(cluster.engine().state()).empty());
  EXPECT_EQ(names_of(cluster.decide(3605)), Names{"owner"});
}

TEST(LiveReservations, AnotherSchedulerKnowsWhatTheyHad) {
  Cluster cluster = two_nodes();
  // Its places are other than would be chosen now.
  cluster.set(in_queue("product", pod("first", 8)));
  cluster.decide(1);
  cluster.add_reservation("monday", of_queue("research", 8));
  cluster.decide(2);
  cluster.write_reservations(2);
  const std::string had = standing_of(cluster, "monday");
  cluster.gone("first");
  cluster.decide(3);
  cluster.write_reservations(3);
  EXPECT_EQ(standing_of(cluster, "monday"), had) << "nothing is better elsewhere";
  cluster.begin_anew();
  cluster.decide(4);
  EXPECT_EQ(cluster.write_reservations(4), 0);
  EXPECT_EQ(standing_of(cluster, "monday"), had);
  // One that lasts is found, too, and goes on to its own end.
  cluster.decide(3600);
  cluster.write_reservations(3600);
  EXPECT_EQ(standing_of(cluster, "monday"), "Lasting" + had.substr(6));
  cluster.begin_anew();
  cluster.set(in_queue("product", pod("other", 16)));
  EXPECT_EQ(names_of(cluster.decide(5000)), Names{});
  EXPECT_EQ(cluster.write_reservations(5000), 0);
  // So do changes that make the engine anew.
  cluster.add(queue("more", 0));
  cluster.decide(5001);
  EXPECT_EQ(cluster.write_reservations(5001), 0);
  cluster.decide(7200);
  cluster.write_reservations(7200);
  EXPECT_EQ(standing_of(cluster, "monday"), "Over");
  cluster.begin_anew();
  cluster.decide(7300);
  EXPECT_EQ(cluster.write_reservations(7300), 0);
}

TEST(LiveReservations, EveryDayTheNextIsToldAndYesterdaysPlacesAreForgotten) {
  Cluster cluster = two_nodes();
  cluster.add_reservation("daily", of_queue("research", 8, R"(,"daily":true)"));
  constexpr std::int64_t kDay = 86'400;
  cluster.decide(kDay * 10 + 4000);
  cluster.write_reservations(kDay * 10 + 4000);
  EXPECT_EQ(standing_of(cluster, "daily").substr(0, 7), "Lasting");
  EXPECT_EQ(cluster.reservation("daily")["status"]["from"].text(), "1970-01-11T01:00:00.000000Z");
  cluster.begin_anew();
  cluster.decide(kDay * 10 + 8000);
  cluster.write_reservations(kDay * 10 + 8000);
  EXPECT_EQ(standing_of(cluster, "daily").substr(0, 6), "Coming");
  EXPECT_EQ(cluster.reservation("daily")["status"]["from"].text(), "1970-01-12T01:00:00.000000Z");
  EXPECT_EQ(cluster.engine().state().reservations().begin()->second.from, Time{(kDay * 11 + 3600) * 1000});
}

TEST(LiveReservations, WhatCannotBeIsSaid) {
  Cluster cluster = two_nodes();
  cluster.add_reservation("queue", of_queue("nobody", 8));
  cluster.add_reservation("flavor", of_queue("research", 8, R"(,"flavor":"A100")"));
  cluster.add_reservation("node", of_nodes(R"("n8","n9")"));
  cluster.add_reservation("wrong", R"({"queue":"research","from":"noon"})");
  QueueFacts bounded = queue("bounded", 0);
  bounded.spec.limit = {{"h100", Resource::kGpu, 2 * kMilliPerGpu}};
  cluster.add(bounded);
  cluster.add_reservation("limit", of_queue("bounded", 8));
  cluster.decide(1);
  cluster.write_reservations(1);
  EXPECT_EQ(condition_of(cluster, "queue"), "False QueueUnknown: there is no queue 'nobody'; make it, or name another");
  EXPECT_EQ(condition_of(cluster, "flavor"), "False FlavorUnknown: no node has GPUs of flavor 'a100'; there are h100");
  EXPECT_EQ(condition_of(cluster, "node"),
            "False NodeUnknown: none of its nodes is there: n8, and others; name some of `kubectl get nodes`");
  EXPECT_EQ(
      condition_of(cluster, "limit"),
      "False Refused: queue bounded may hold 2 of these GPUs at most when it begins; reserve no more, or raise its "
      "limit");
  EXPECT_EQ(condition_of(cluster, "wrong").substr(0, 70),
            "False NotFollowed: spec.gpus: is no number of whole GPUs; write 1 to 1");
  EXPECT_EQ(standing_of(cluster, "wrong"), "NotInForce");
  // What is wrong may be put right elsewhere.
  cluster.add(queue("nobody", 0));
  cluster.add(node("a1", 8, "A100"));
  bounded.spec.limit.clear();
  cluster.add(bounded);
  cluster.decide(2);
  cluster.write_reservations(2);
  EXPECT_EQ(condition_of(cluster, "flavor").substr(0, 4), "True");
  EXPECT_EQ(condition_of(cluster, "queue"),
            "False FlavorUnknown: nodes have GPUs of several flavors, or none; write "
            "which: a100, h100");
}

}  // namespace berth::live_reservations_test
