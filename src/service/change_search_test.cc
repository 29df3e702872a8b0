#include "service/change_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/live_cluster.h"
#include "service/posted_work.h"

namespace berth::change_search_test {

// A search, and what it has told. Its clock stands still, or goes on by `step` whenever it is asked.
struct Searching {
  explicit Searching(std::chrono::milliseconds each = {}) : step(each) {}

  std::chrono::milliseconds step;
  std::chrono::steady_clock::time_point clock;
  Posted posted;
  std::vector<FoundChanges> told;
  ChangeSearch search{posted.poster(), [this](std::vector<FoundChanges> found) { told = std::move(found); },
                      [this] { return clock += step; }};

  void ask(const Cluster& cluster, Time now) {
    const LiveEngine& engine = cluster.engine();
    search.ask(engine.state().fork(), engine.first_pods_waiting(), engine.who_runs(), now);
  }
};

TEST(ChangeSearch, FindsWhatWouldStartWhoWaits) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.add(node("n2", 4));
  cluster.set(pod("big", 8));
  cluster.decide(10);
  for (int i = 0; i < 2; ++i) cluster.set(in_gang(pod("g" + std::to_string(i), 4, 2000 + i), "g", 2));
  cluster.decide(20);

  Searching searching;
  Time now{20'000};
  ASSERT_TRUE(searching.search.is_due(now));
  searching.ask(cluster, now);
  EXPECT_FALSE(searching.search.is_due(now + seconds(100))) << "it is at it";
  // Decisions go on meanwhile, on what the fork shares with it.
  cluster.add(node("n3"));
  cluster.decide(21);
  ASSERT_TRUE(searching.posted.run_next());
  ASSERT_EQ(searching.told.size(), 1U);
  const FoundChanges& found = searching.told[0];
  EXPECT_EQ(found.pod.name, "g0");
  EXPECT_EQ(found.as_of, now);
  EXPECT_TRUE(found.told.not_searched.empty());
  ASSERT_EQ(found.told.changes.size(), 6U) << to_text(found.told);
  const ToldChanges first{{found.told.changes.begin(), found.told.changes.begin() + 4}, {}};
  EXPECT_EQ(to_text(first),
            "pods: with 1 of its 2 pods\n"
            "gpus: with 2 of its 4 GPUs a pod\n"
            "priority: with priority 1 in place of 0 (others have 1s to leave)\n"
            "end: if default/big ended");
  EXPECT_TRUE(found.told.changes[4].text.starts_with("with 1 more node like n"));

  EXPECT_FALSE(searching.search.is_due(now)) << "it pauses";
  now = now + seconds(5);
  searching.told.clear();
  ASSERT_TRUE(searching.search.is_due(now));
  searching.ask(cluster, now);
  EXPECT_FALSE(searching.search.is_due(now));
  EXPECT_TRUE(searching.search.is_due(now + seconds(1))) << "nobody waits any more, and it has nothing to do";
}

TEST(ChangeSearch, WhoseWorkOfOthersIsInTheWayIsNotTold) {
  Cluster cluster;
  cluster.add(node("n1"));
  PodFacts others = pod("big", 8);
  others.name_space = "secret";
  cluster.set(others);
  cluster.decide(10);
  cluster.set(pod("a", 8, 2000));
  cluster.decide(20);
  Searching searching;
  searching.ask(cluster, Time{20'000});
  ASSERT_TRUE(searching.posted.run_next());
  ASSERT_EQ(searching.told.size(), 1U);
  const std::string text = to_text(searching.told[0].told);
  EXPECT_TRUE(text.contains("end: if one that holds 8 GPUs ended")) << text;
  EXPECT_FALSE(text.contains("secret")) << text;
}

TEST(ChangeSearch, NobodyIsLookedAtAgainAtOnce) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(pod("runs", 8));
  cluster.set(pod("a", 8, 2000));
  cluster.decide(10);
  Searching searching;
  const auto names = [&] {
    std::vector<std::string> looked;
    for (const FoundChanges& each : searching.told) looked.push_back(each.pod.name);
    return looked;
  };
  searching.ask(cluster, Time{10'000});
  ASSERT_TRUE(searching.posted.run_next());
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
  cluster.set(pod("b", 8, 3000));
  cluster.decide(13);
  searching.ask(cluster, Time{13'000});
  ASSERT_TRUE(searching.posted.run_next());
  EXPECT_EQ(names(), std::vector<std::string>{"b"}) << "the other has been looked at";
  cluster.set(pod("c", 8, 4000));
  cluster.decide(25);
  searching.ask(cluster, Time{25'000});
  ASSERT_TRUE(searching.posted.run_next());
  EXPECT_EQ(names(), (std::vector<std::string>{"c", "a", "b"})) << "who never was comes first";
}

TEST(ChangeSearch, IsBrokenOffWhereItTakesTooLong) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(pod("runs", 8));
  for (int i = 0; i < 3; ++i) cluster.set(pod("p" + std::to_string(i), 8, 2000 + i));
  cluster.decide(10);
  // Each kind has one try; and when two have been looked at, the time of the look is over.
  Searching searching(ChangeSearch::kOfKindMax + std::chrono::milliseconds(1));
  searching.ask(cluster, Time{10'000});
  ASSERT_TRUE(searching.posted.run_next());
  ASSERT_EQ(searching.told.size(), 1U);
  EXPECT_EQ(searching.told[0].told.changes, ToldChanges().changes);
  EXPECT_FALSE(searching.told[0].told.not_searched.empty());
}

TEST(ChangeSearch, WhoIsKeptAsideWaitsForNoRoom) {
  Cluster cluster;
  cluster.add(node("n1"));
  PodFacts later = pod("later", 8);
  later.time.not_before = Time{100'000};
  cluster.set(later);
  cluster.decide(10);
  Searching searching;
  searching.ask(cluster, Time{10'000});
  ASSERT_TRUE(searching.posted.run_next());
  ASSERT_EQ(searching.told.size(), 1U);
  EXPECT_TRUE(searching.told[0].kept_aside);
  EXPECT_EQ(searching.told[0].told, ToldChanges());
}

TEST(ChangeSearch, EndsAtOnceInTheMiddle) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(pod("runs", 8));
  for (int i = 0; i < 50; ++i) cluster.set(pod("p" + std::to_string(i), 8, 2000 + i));
  cluster.decide(10);
  const auto searching = std::make_unique<Searching>();
  searching->ask(cluster, Time{10'000});
}

}  // namespace berth::change_search_test
