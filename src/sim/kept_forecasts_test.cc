#include "sim/kept_forecasts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "sim/scenario_run.h"

namespace berth::kept_forecasts_test {

constexpr std::int64_t kHour = 3'600'000;

ScenarioEnd end_of(const std::string& text) {
  auto end = end_of_scenario("test.txt", text);
  EXPECT_TRUE(end.has_value()) << (end ? "" : end.error().to_string());
  return std::move(*end);
}

// One runs, three wait, each with a limit of an hour.
ScenarioEnd line_of_three() {
  return end_of(
      "nodes n 1 gpus=8\nqueue q\nsubmit a queue=q gpus=8 limit=1h\ncycle\n"
      "submit b queue=q gpus=8 limit=1h\nsubmit c queue=q gpus=8 limit=1h\nsubmit d queue=q gpus=8 limit=1h\ncycle\n");
}

KeptForecasts::Names names_of_waiting(const ScenarioEnd& end) {
  KeptForecasts::Names names;
  for (std::size_t i = 1; i < end.workloads.size(); ++i) names.emplace_back(WorkloadId(i), "ns/" + end.workloads[i]);
  return names;
}

bool never() { return false; }
bool is_any(std::string_view) { return true; }

TEST(KeptForecasts, EachRunMakesAllOfThemNewer) {
  const ScenarioEnd end = line_of_three();
  KeptForecasts kept(Seed{1});
  Time now = end.now;
  for (int run = 0; run < 30; ++run) {
    now = now + seconds(1);
    kept.run_ahead(end.state, names_of_waiting(end), now, RunTimes(), never);
    EXPECT_EQ(kept.table().asked_at, now);
  }
  const ForecastTable& table = kept.table();
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.running, 1);
  EXPECT_EQ(table.oldest, now + Duration{-19'000}) << "the last twenty count";
  for (std::size_t i = 0; i < 3; ++i) {
    const KeptForecast& row = table.rows[i];
    EXPECT_EQ(row.workload, "ns/" + end.workloads[i + 1]);
    EXPECT_EQ(row.queue, "q");
    EXPECT_EQ(row.samples, KeptForecasts::kSamples);
    EXPECT_EQ(row.position, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(row.ahead.size(), i);
    ASSERT_TRUE(row.p10 && row.p50 && row.p90);
    EXPECT_LT(*row.p10, *row.p50);
    EXPECT_LT(*row.p50, *row.p90);
    const std::int64_t limits_ms = static_cast<std::int64_t>(i + 1) * kHour;
    EXPECT_LE(*row.p90, Time{limits_ms + limits_ms / 10 + 30'000}) << "the limits of those ahead end by then";
    if (i == 0) continue;
    EXPECT_LT(*table.rows[i - 1].p50, *row.p50);
  }
}

TEST(KeptForecasts, WhatIsOldCountsNoMore) {
  const ScenarioEnd end = line_of_three();
  KeptForecasts kept(Seed{1});
  kept.run_ahead(end.state, names_of_waiting(end), end.now, RunTimes(), never);
  kept.run_ahead(end.state, names_of_waiting(end), end.now + seconds(61), RunTimes(), never);
  EXPECT_EQ(kept.table().rows[0].samples, 1);
  EXPECT_EQ(kept.table().oldest, end.now + seconds(61));
}

TEST(KeptForecasts, WhoWaitsNoMoreIsForgotten) {
  const ScenarioEnd end = line_of_three();
  KeptForecasts kept(Seed{1});
  KeptForecasts::Names names = names_of_waiting(end);
  kept.run_ahead(end.state, names, end.now, RunTimes(), never);
  const auto gone = names.back();
  names.pop_back();
  kept.run_ahead(end.state, names, end.now, RunTimes(), never);
  EXPECT_EQ(kept.table().rows.size(), 2U);
  names.push_back(gone);
  kept.run_ahead(end.state, names, end.now, RunTimes(), never);
  EXPECT_EQ(kept.table().rows.back().samples, 1) << "he is another, or has come back";
}

TEST(KeptForecasts, ARunThatIsBrokenOffSaysNoMoreThanItKnows) {
  const ScenarioEnd end = line_of_three();
  KeptForecasts kept(Seed{1});
  int looks = 0;
  kept.run_ahead(end.state, names_of_waiting(end), end.now, RunTimes(), [&] { return ++looks > 1; });
  const ForecastTable& table = kept.table();
  EXPECT_TRUE(table.rows[0].p50) << "the first has started in it";
  EXPECT_FALSE(table.rows[1].p50);
  EXPECT_EQ(table.until, *table.rows[0].p50) << "it had come so far";
}

TEST(KeptForecasts, TheSameRunsSayTheSame) {
  const ScenarioEnd end = line_of_three();
  KeptForecasts one(Seed{7}), two(Seed{7});
  for (KeptForecasts* const each : {&one, &two}) {
    for (int run = 0; run < 5; ++run) each->run_ahead(end.state, names_of_waiting(end), end.now, RunTimes(), never);
  }
  EXPECT_EQ(one.table(), two.table());
}

TEST(KeptForecasts, AsTextTheyAreTheSame) {
  const ScenarioEnd end = line_of_three();
  KeptForecasts kept(Seed{1});
  int looks = 0;
  kept.run_ahead(end.state, names_of_waiting(end), end.now, RunTimes(), [&] { return ++looks > 1; });
  const std::string text = to_text(kept.table());
  EXPECT_EQ(read_forecasts("f", text, is_any).value(), kept.table());
  const auto one = read_forecasts("f", text, [](std::string_view name) { return name == "ns/c"; });
  ASSERT_EQ(one->rows.size(), 1U);
  EXPECT_EQ(one->rows[0], kept.table().rows[1]);
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    const auto read = read_forecasts("f", text.substr(0, cut), is_any);
    if (read) {
      EXPECT_LT(read->rows.size(), kept.table().rows.size()) << "whole lines alone are taken";
    }
  }
  const auto other = read_forecasts("f", "berth forecasts 2\n", is_any);
  EXPECT_EQ(other.error().to_string(),
            "f: forecasts of version '2', and this Berth reads version 1; ask the Berth of that scheduler\n");
}

}  // namespace berth::kept_forecasts_test
