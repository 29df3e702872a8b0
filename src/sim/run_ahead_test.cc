#include "sim/run_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/forecast.h"
#include "sim/run_times.h"
#include "sim/scenario_run.h"
#include "sim/what_if.h"

namespace berth::run_ahead_test {

constexpr std::int64_t kHour = 3'600'000;

// Everybody runs as long as the scenario says.
Duration as_declared(const State& state, WorkloadId id) {
  const Duration declared = state.workload(id).declared_run;
  return declared == kRunNotDeclared ? Duration{1000 * kHour} : declared;
}

ScenarioEnd end_of(const std::string& text) {
  auto end = end_of_scenario("test.txt", text);
  EXPECT_TRUE(end.has_value()) << (end ? "" : end.error().to_string());
  return std::move(*end);
}

// When each last began to run, as the scenario has it if it is played on for ten hours, minute by minute.
std::map<std::string, Time> starts_if_played_on(std::string text) {
  for (int minute = 0; minute < 600; ++minute) text += "at +1m\ncycle\ncycle\n";
  const ScenarioEnd end = end_of(text);
  std::map<std::string, Time> starts;
  for (std::size_t i = 0; i < end.workloads.size(); ++i) {
    starts[end.workloads[i]] = end.state.workload(WorkloadId(i)).started;
  }
  return starts;
}

TEST(RunAhead, EndsWhereTheScenarioEndsWhenItIsPlayedOn) {
  const std::string text =
      "nodes n 2 gpus=8\n"
      "queue q\n"
      "queue lender guarantee=8\n"
      "submit a queue=q gpus=8 run=2h limit=2h\n"
      "submit b queue=q gpus=8 run=3h limit=4h grace=15m\n"
      "cycle\n"
      "submit large queue=q pods=2 gpus=8 run=1h limit=2h\n"
      "submit small queue=q gpus=4 run=1h limit=90m\n"
      "submit over queue=q gpus=2 run=5h limit=1h\n"
      "cycle\n"
      "at 00:30\n"
      "submit owner queue=lender gpus=8 run=45m\n"
      "cycle\n";
  const ScenarioEnd end = end_of(text);
  const std::map<std::string, Time> expected = starts_if_played_on(text);
  RunAhead ahead(end.state, end.now, as_declared);
  ahead.decide();
  while (ahead.go_on(Time{10 * kHour})) {
  }
  std::map<std::string, Time> found;
  for (const RunAhead::Begun& begun : ahead.begun()) found[end.workloads[begun.workload.index()]] = begun.at;
  for (const auto& [name, at] : found) EXPECT_EQ(expected.at(name), at) << name;
  EXPECT_TRUE(found.contains("large"));
  EXPECT_TRUE(found.contains("owner"));
}

TEST(RunAhead, LooksAgainWhenAProtectionIsOver) {
  const std::string text =
      "nodes n 2 gpus=8\n"
      "queue a min_runtime=90m\n"
      "queue b\n"
      "submit one queue=a gpus=8 run=9h\n"
      "submit two queue=a gpus=8 run=9h\n"
      "cycle\n"
      "submit other queue=b gpus=8 run=1h\n"
      "cycle\n";
  const ScenarioEnd end = end_of(text);
  RunAhead ahead(end.state, end.now, as_declared);
  ahead.decide();
  const std::optional<Time> start = ahead.start_of(WorkloadId(2), Time{10 * kHour});
  ASSERT_TRUE(start);
  EXPECT_EQ(*start, Time{3 * kHour / 2});
  EXPECT_EQ(*start, starts_if_played_on(text).at("other"));
}

TEST(RunAhead, LooksAgainWhenStrangersHaveToPart) {
  const std::string text =
      "nodes n 1 gpus=2\n"
      "queue a\n"
      "queue b\n"
      "submit stays queue=a gpus=1 priority=5 run=9h\n"
      "submit goes queue=b gpus=1 run=9h\n"
      "cycle\n"
      "trust exclusive=node within=45m\n"
      "submit other queue=a gpus=1 priority=5 run=1h\n"
      "cycle\n";
  const ScenarioEnd end = end_of(text);
  RunAhead ahead(end.state, end.now, as_declared);
  ahead.decide();
  const std::optional<Time> start = ahead.start_of(WorkloadId(2), Time{10 * kHour});
  ASSERT_TRUE(start);
  EXPECT_EQ(*start, Time{3 * kHour / 4});
  EXPECT_EQ(*start, starts_if_played_on(text).at("other"));
}

TEST(Forecast, IsExactWhereRunTimesAre) {
  const ScenarioEnd end = end_of(
      "nodes n 1 gpus=8\n"
      "queue q order=fifo-skip\n"
      "submit a queue=q gpus=8 run=2h\n"
      "cycle\n"
      "submit w queue=q gpus=4 run=1h\n"
      "cycle\n"
      "at 00:30\n");
  const auto draw = [](const State& state, WorkloadId id, Duration, RunQuantile) { return as_declared(state, id); };
  const StartForecast forecast =
      forecast_start(end.state, WorkloadId(1), end.now, draw, {.seed = Seed{1}, .samples = 10});
  EXPECT_EQ(forecast.started, 10);
  for (const int percent : {10, 50, 90}) EXPECT_EQ(forecast.quantile(percent), Time{2 * kHour});
}

TEST(Forecast, QuantilesLieBetweenSamples) {
  StartForecast forecast{.asked_at = {}, .samples = 9, .started = 5, .starts = {}};
  for (int i = 1; i <= 5; ++i) forecast.starts.push_back(Time{i * 1000});
  EXPECT_EQ(forecast.quantile(1), Time{1000});
  EXPECT_EQ(forecast.quantile(10), Time{1000});
  EXPECT_EQ(forecast.quantile(25), Time{2500});
  EXPECT_EQ(forecast.quantile(50), Time{5000});
  EXPECT_EQ(forecast.quantile(51), std::nullopt) << "the next has no start";
  EXPECT_EQ(forecast.quantile(99), std::nullopt);
  forecast.samples = 5;
  EXPECT_EQ(forecast.quantile(99), Time{5000});
}

// `count` run on a GPU each, of these users in turn, and one waits for half of the GPUs.
ScenarioEnd one_behind(int count, const std::vector<std::string>& users) {
  std::string text = "nodes n " + std::to_string(count / 8) + " gpus=8\nqueue q\n";
  for (int i = 0; i < count; ++i) {
    text += "submit r" + std::to_string(i) +
            " queue=q gpus=1 user=" + users[static_cast<std::size_t>(i) % users.size()] + "\n";
  }
  return end_of(text + "cycle\nsubmit w queue=q pods=" + std::to_string(count / 2) + " gpus=1\ncycle\n");
}

std::vector<std::string> as_many_users(int count) {
  std::vector<std::string> users;
  for (int i = 0; i < count; ++i) users.push_back("u" + std::to_string(i));
  return users;
}

// Whether they draw the same in a sample, of 64 with these users in turn and 50 samples, by thousandths of all pairs.
std::int64_t alike_milli(const std::vector<std::string>& users) {
  constexpr std::int64_t kSamples = 50;
  const ScenarioEnd end = one_behind(64, users);
  EvenDraws draws(Seed{4}, kSamples);
  std::int64_t alike = 0, pairs = 0;
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    for (std::size_t i = 0; i < 64; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        ++pairs;
        const RunQuantile one = draws.of(end.state, WorkloadId(i), sample);
        alike += one == draws.of(end.state, WorkloadId(j), sample) ? 1 : 0;
      }
    }
  }
  return alike * 1000 / pairs;
}

TEST(EvenDraws, ThoseOfAKindAreAlikeByChance) {
  EXPECT_NEAR(static_cast<double>(alike_milli({"ann"})), 111, 25) << "one in three and one in three";
  EXPECT_NEAR(static_cast<double>(alike_milli({"ann", "bob"})), 55, 20) << "those of one user alone";
  EXPECT_EQ(alike_milli(as_many_users(64)), 0);
}

TEST(EvenDraws, AreSpreadOverAllLengths) {
  constexpr std::int64_t kSamples = 50;
  const ScenarioEnd end = one_behind(64, {"ann"});
  EvenDraws draws(Seed{4}, kSamples, Alike::kNot), alike(Seed{4}, kSamples);
  std::int64_t lower = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    std::vector<bool> drawn(kSamples);
    for (std::int64_t sample = 0; sample < kSamples; ++sample) {
      drawn[(std::uint64_t{draws.of(end.state, WorkloadId(i), sample)} * kSamples) >> 32] = true;
      lower += (alike.of(end.state, WorkloadId(i), sample) >> 31) == 0 ? 1 : 0;
    }
    EXPECT_EQ(std::ranges::count(drawn, true), kSamples) << "another fiftieth in each";
  }
  EXPECT_NEAR(static_cast<double>(lower), 64.0 * kSamples / 2, 160);
}

// From p10 to p90 of one who waits until half of those have ended who run from one to eleven hours.
Duration width_behind(const std::vector<std::string>& users, Alike alike) {
  const ScenarioEnd end = one_behind(64, users);
  const auto run = [](const State&, WorkloadId, Duration, RunQuantile quantile) {
    return Duration{kHour + ((10 * kHour * std::int64_t{quantile}) >> 32)};
  };
  const StartForecast forecast =
      forecast_start(end.state, WorkloadId(64), end.now, run, {.seed = Seed{1}, .samples = 49, .alike = alike});
  EXPECT_EQ(forecast.started, 49);
  return *forecast.quantile(90) - *forecast.quantile(10);
}

// What each draws by itself averages out over 64 of them; what a kind has in common does not.
TEST(Forecast, WhatAKindHasInCommonDoesNotAverageOut) {
  const Duration of_one = width_behind({"ann"}, Alike::kByKind);
  const Duration of_many = width_behind(as_many_users(64), Alike::kByKind);
  EXPECT_GT(of_one, of_many + of_many);
  EXPECT_LT(of_many, Duration{3 * kHour});
  EXPECT_LT(width_behind({"ann"}, Alike::kNot), Duration{3 * kHour});
}

constexpr RunQuantile kMiddle = RunQuantile{1} << 31;

TEST(RunTimes, AreThoseOfTheNarrowestKindThatIsKnown) {
  RunTimes times;
  const RunOf ann{.user = "ann", .queue = "q", .gpu_milli = 1000};
  const RunOf bob{.user = "bob", .queue = "q", .gpu_milli = 1000};
  for (std::size_t i = 0; i + 1 < RunTimes::kEndedMin; ++i) times.ended(ann, seconds(10));
  // One too few of anybody: a day, as nothing is known.
  EXPECT_EQ(times.quantile(ann, {}, kMiddle), seconds(86'400));
  times.ended(ann, seconds(10));
  EXPECT_EQ(times.quantile(ann, {}, kMiddle), seconds(10));
  EXPECT_EQ(times.quantile(bob, {}, kMiddle), seconds(10)) << "of his queue";
  for (std::size_t i = 0; i < RunTimes::kEndedMin; ++i) times.ended(bob, seconds(50));
  EXPECT_EQ(times.quantile(ann, {}, kMiddle), seconds(10));
  EXPECT_EQ(times.quantile(bob, {}, kMiddle), seconds(50));
  EXPECT_EQ(times.quantile(ann, seconds(20), kMiddle), seconds(50))
      << "nobody of her kind ran for so long, of the queue some did";
}

TEST(RunTimes, OfWhoHasALimitArePartsOfIt) {
  RunTimes times;
  const RunOf before{.user = "ann", .queue = "q", .gpu_milli = 1000, .limit = seconds(100)};
  for (std::size_t i = 0; i < RunTimes::kEndedMin; ++i) times.ended(before, seconds(25));
  RunOf longer = before;
  longer.limit = seconds(4000);
  EXPECT_EQ(times.quantile(longer, {}, kMiddle), seconds(1000));
  for (int i = 0; i < 100; ++i) {
    const Duration drawn = times.quantile(longer, seconds(2000), kMiddle);
    EXPECT_GT(drawn, seconds(2000));
    EXPECT_LE(drawn, seconds(4000));
  }
}

// One in n + 1 is shorter than all n before, or longer: of a few that is much, of many little.
TEST(RunTimes, FewSayLittleOfWhoIsShorterOrLonger) {
  constexpr RunQuantile kFiftieth = ~RunQuantile{0} / 50;
  const RunOf run{.user = "ann", .queue = "q", .gpu_milli = 1000, .limit = seconds(100)};
  RunTimes few, many;
  for (std::size_t i = 0; i < RunTimes::kEndedMin; ++i) few.ended(run, seconds(25));
  for (int i = 0; i < 200; ++i) many.ended(run, seconds(25));
  EXPECT_LT(few.quantile(run, {}, kFiftieth), seconds(15));
  EXPECT_GT(few.quantile(run, {}, ~kFiftieth), seconds(50));
  EXPECT_EQ(many.quantile(run, {}, kFiftieth), seconds(25));
  EXPECT_EQ(many.quantile(run, {}, ~kFiftieth), seconds(25));
  EXPECT_EQ(few.quantile(run, seconds(20), 0), Duration{20'001}) << "whoever has run longer is longer";
  EXPECT_GT(few.quantile(run, seconds(20), kFiftieth), seconds(20));
  EXPECT_LE(few.quantile(run, {}, ~RunQuantile{0}), seconds(100));
  EXPECT_GT(few.quantile(run, {}, ~RunQuantile{0}), seconds(99));
}

TEST(RunTimes, WhoHasNoLimitIsNoLongerThanAllBefore) {
  const RunOf run{.user = "ann", .queue = "q", .gpu_milli = 1000};
  RunTimes times;
  for (std::size_t i = 1; i <= RunTimes::kEndedMin; ++i) times.ended(run, seconds(static_cast<std::int64_t>(i)));
  EXPECT_EQ(times.quantile(run, {}, ~RunQuantile{0}), seconds(20));
  EXPECT_EQ(times.quantile(run, {}, 0), Duration{1});
}

// Who has a large limit says rather too much: if the parts of limits that others ran were mixed with his, all together would be
// foretold a tenth too long.
TEST(RunTimes, AllTogetherAreAsLongAsForetold) {
  RunTimes times;
  Rng rng(Seed{11});
  const auto next = [&](Duration& took) {
    took = {rng.between(1, 1000) * rng.between(1, 1000)};
    const Duration limit{took.ms * rng.between(1000, 3000) / 1000};
    return RunOf{.user = "ann", .queue = "q", .gpu_milli = 1000, .limit = limit};
  };
  std::int64_t foretold_ms = 0, took_ms = 0;
  for (int i = 0; i < 6000; ++i) {
    Duration took;
    const RunOf run = next(took);
    if (i >= 2000) {
      foretold_ms += times.quantile(run, {}, static_cast<RunQuantile>(rng.next() >> 32)).ms;
      took_ms += took.ms;
    }
    times.ended(run, took);
  }
  EXPECT_LT(foretold_ms, took_ms / 100 * 104);
  EXPECT_GT(foretold_ms, took_ms / 100 * 96);
}

}  // namespace berth::run_ahead_test
