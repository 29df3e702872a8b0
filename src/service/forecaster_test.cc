#include "service/forecaster.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/live_cluster.h"
#include "service/posted_work.h"
#include "sim/files.h"

namespace berth::forecaster_test {

class ForecasterTest : public testing::Test {
 protected:
  ForecasterTest() { std::filesystem::create_directories(folder_); }
  ~ForecasterTest() override { std::filesystem::remove_all(folder_); }

  ForecastTable told() const {
    const auto text = read_file(folder_ + "/forecasts");
    EXPECT_TRUE(text.has_value());
    const auto table = read_forecasts("f", text ? *text : "", [](std::string_view) { return true; });
    EXPECT_TRUE(table.has_value()) << (table ? "" : table.error().to_string());
    return table ? *table : ForecastTable();
  }

  const std::string folder_ = (std::filesystem::temp_directory_path() /
                               ("berth-forecaster-" + std::to_string(reinterpret_cast<std::uintptr_t>(this))))
                                  .string();
};

TEST_F(ForecasterTest, SaysWhenWhoWaitsWillStart) {
  Cluster cluster;
  cluster.add(node("n1"));
  const auto limited = [](PodFacts pod) {
    pod.terms.run_limit = seconds(3600);
    return pod;
  };
  cluster.set(limited(pod("first", 8)));
  cluster.decide(10);
  cluster.set(limited(pod("second", 8, 2000)));
  cluster.set(limited(pod("third", 8, 3000)));
  cluster.decide(20);
  LiveEngine& engine = cluster.engine();

  Posted posted;
  std::string logged;
  Forecaster forecaster(Seed{1}, folder_, posted.poster(), [&](const std::string& line) { logged += line; });
  Time now{20'000};
  ASSERT_TRUE(forecaster.is_due(now));
  forecaster.ask(engine.state().fork(), engine.who_waits(), engine.take_ended_runs(), now);
  EXPECT_FALSE(forecaster.is_due(now)) << "it is at it";
  // Decisions go on meanwhile, on what the fork shares with it.
  cluster.set(limited(pod("fourth", 8, 4000)));
  cluster.add(node("n2"));
  cluster.decide(21);
  ASSERT_TRUE(posted.run_next());
  ForecastTable table = told();
  EXPECT_EQ(table.asked_at, now);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].workload, "default/second");
  EXPECT_EQ(table.rows[1].ahead, std::vector<std::string>{"default/second"});
  EXPECT_TRUE(table.rows[1].p50);
  EXPECT_FALSE(forecaster.is_due(now)) << "it is fresh still";
  now = now + Forecaster::kAgeMax;
  ASSERT_TRUE(forecaster.is_due(now));
  forecaster.ask(engine.state().fork(), {}, {}, now);
  ASSERT_TRUE(posted.run_next());
  EXPECT_TRUE(told().rows.empty()) << "nobody waits any more, and that is said once";
  EXPECT_EQ(told().asked_at, now);
  EXPECT_EQ(logged, "");
}

TEST_F(ForecasterTest, EndsAtOnceInTheMiddleOfARun) {
  Cluster cluster;
  cluster.add(node("n1"));
  for (int i = 0; i < 50; ++i) cluster.set(pod("p" + std::to_string(i), 8, 1000 + i));
  cluster.decide(10);
  Posted posted;
  const auto forecaster = std::make_unique<Forecaster>(Seed{1}, folder_, posted.poster(), [](const std::string&) {});
  forecaster->ask(cluster.engine().state().fork(), cluster.engine().who_waits(), {}, Time{10'000});
}

TEST_F(ForecasterTest, SaysOnceThatItsFileCannotBeWritten) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(pod("a", 8));
  cluster.set(pod("b", 8, 2000));
  cluster.decide(10);
  Posted posted;
  int logged = 0;
  Forecaster forecaster(Seed{1}, folder_ + "/none", posted.poster(), [&](const std::string&) { ++logged; });
  for (int i = 0; i < 2; ++i) {
    forecaster.ask(cluster.engine().state().fork(), cluster.engine().who_waits(), {}, Time{10'000 + i * 10'000});
    ASSERT_TRUE(posted.run_next());
  }
  EXPECT_EQ(logged, 1);
}

TEST(LiveEngine, TellsOfRunsThatHaveEnded) {
  Cluster cluster;
  cluster.add(node("n1"));
  cluster.set(in_queue("default", pod("done", 8)));
  cluster.set(in_queue("default", pod("killed", 8, 2000)));
  cluster.decide(10);
  PodFacts ended = bound(in_queue("default", pod("done", 8)),
                         {.pod = {}, .node = "n1", .given = {.gpus = GpuSet::from_bits(255)}}, Time{10'000});
  ended.stage = PodStage::kSucceeded;
  ended.ended_at = Time{70'000};
  cluster.set(ended);
  cluster.decide(80);
  cluster.gone("killed");
  const std::vector<EndedRun> runs = cluster.engine().take_ended_runs();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].took, seconds(60));
  EXPECT_EQ(runs[0].run.gpu_milli, 8000);
  EXPECT_TRUE(cluster.engine().take_ended_runs().empty());
}

}  // namespace berth::forecaster_test
