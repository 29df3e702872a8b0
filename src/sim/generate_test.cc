#include "sim/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "model/gpu.h"

namespace berth::generate_test {

constexpr std::int64_t kDayS = 86'400;

std::uint64_t digest(const Trace& trace) {
  Hasher hasher;
  for (const TraceNode& node : trace.nodes) {
    hasher.add(node.name).add(node.cpu_milli).add(node.memory_bytes).add(node.gpus).add(node.gpu_model);
  }
  for (const TraceJob& job : trace.jobs) {
    hasher.add(job.name).add(job.queue).add(job.user).add(job.submit.ms).add(job.run.ms).add(job.pods);
    hasher.add(job.cpu_milli).add(job.memory_bytes).add(job.gpus).add(job.gpu_milli);
    for (const std::string& model : job.gpu_models) hasher.add(model);
  }
  return hasher.digest();
}

std::string_view kind_of(const TraceJob& job) { return std::string_view(job.name).substr(0, job.name.find('-')); }

bool has_arrived(const TraceJob& job) { return job.submit > Time{}; }

std::int64_t gpus_of(const Trace& trace) {
  std::int64_t gpus = 0;
  for (const TraceNode& node : trace.nodes) gpus += node.gpus;
  return gpus;
}

// GPU time asked for within the horizon, in hundredths of a per cent of the fleet's.
std::int64_t load_basis_points(const Trace& trace, int days) {
  std::int64_t milli_gpu_s = 0;
  for (const TraceJob& job : trace.jobs) {
    const std::int64_t within_s = std::min(job.run.ms / 1000, days * kDayS - job.submit.ms / 1000);
    milli_gpu_s += job.pods * job.gpus * job.gpu_milli * within_s;
  }
  return milli_gpu_s / (gpus_of(trace) * days * kDayS / 10);
}

std::int64_t quantile(std::vector<std::int64_t> values, std::size_t per_mille) {
  std::ranges::sort(values);
  return values.at(values.size() * per_mille / 1000);
}

std::vector<std::int64_t> runs_s(const Trace& trace, std::string_view kind) {
  std::vector<std::int64_t> runs;
  for (const TraceJob& job : trace.jobs) {
    if (has_arrived(job) && kind_of(job) == kind) runs.push_back(job.run.ms / 1000);
  }
  return runs;
}

// 30,000 jobs, several tests' sample.
const Trace& large_day() {
  static const Trace trace = generate_fleet({.nodes = 6'250, .jobs_per_day = 30'000});
  return trace;
}

TEST(GenerateFleet, IsTheSameForeverForASeed) {
  // A change of these numbers is a change of every benchmark that was ever run on a generated fleet: say so in the commit.
  EXPECT_EQ(digest(generate_fleet({.nodes = 10})), 2683426378417763880ULL);
  EXPECT_EQ(digest(generate_fleet({.nodes = 200, .days = 2, .seed = {7}, .jobs_per_day = 500})),
            16056239055612190566ULL);
}

TEST(GenerateFleet, AnotherSeedIsAnotherWorkloadOnTheSameMachines) {
  const Trace one = generate_fleet({.nodes = 50, .seed = {1}});
  const Trace two = generate_fleet({.nodes = 50, .seed = {2}});
  EXPECT_NE(digest(one), digest(two));
  EXPECT_EQ(digest({.nodes = one.nodes, .jobs = {}}), digest({.nodes = two.nodes, .jobs = {}}));
}

TEST(GenerateFleet, KeepsWhatATracePromisesAtEveryScale) {
  const FleetSpec specs[] = {{.nodes = kFleetNodesMin},
                             {.nodes = 11, .days = 9, .teams = 1},
                             {.nodes = 40, .days = 3, .jobs_per_day = 1'000},
                             {.nodes = 777, .load_pct = 160},
                             {.nodes = 60, .load_pct = 0}};
  for (const FleetSpec& spec : specs) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE("nodes " + std::to_string(spec.nodes) + " seed " + std::to_string(seed));
      FleetSpec seeded = spec;
      seeded.seed = {seed};
      const Trace trace = generate_fleet(seeded);
      std::set<std::string_view> names;
      for (const TraceNode& node : trace.nodes) {
        ASSERT_TRUE(names.insert(node.name).second) << node.name;
        ASSERT_GT(node.cpu_milli, 0);
        ASSERT_GT(node.memory_bytes, 0);
        ASSERT_LE(node.gpus, kGpusPerNodeMax);
        ASSERT_EQ(node.gpu_model.empty(), node.gpus == 0);
        ASSERT_TRUE(node.gpus == 0 || find_gpu_model(node.gpu_model) != nullptr) << node.gpu_model;
      }
      ASSERT_EQ(trace.nodes.size(), static_cast<std::size_t>(spec.nodes));

      names.clear();
      Time last;
      for (const TraceJob& job : trace.jobs) {
        ASSERT_TRUE(names.insert(job.name).second) << job.name;
        ASSERT_GE(job.submit, last);
        last = job.submit;
        ASSERT_LT(job.submit.ms, spec.days * kDayS * 1000);
        ASSERT_GT(job.run.ms, 0);
        ASSERT_LE(job.run.ms, 14 * kDayS * 1000);
        ASSERT_GE(job.pods, 1);
        ASSERT_GT(job.cpu_milli, 0);
        ASSERT_GT(job.memory_bytes, 0);
        ASSERT_FALSE(job.queue.empty());
        ASSERT_TRUE(job.user.starts_with(job.queue + "-")) << job.user;
        if (job.gpus == 0) {
          ASSERT_EQ(job.gpu_milli, 0);
        } else if (job.gpus == 1) {
          ASSERT_TRUE(job.gpu_milli >= 1 && job.gpu_milli <= kMilliPerGpu);
        } else {
          ASSERT_EQ(job.gpu_milli, kMilliPerGpu);
        }
      }
    }
  }
}

TEST(GenerateFleet, NoGangTakesMoreThanAQuarterOfTheNodesThatWouldDo) {
  for (const std::int64_t nodes : {10, 30, 100, 400}) {
    const Trace trace = generate_fleet({.nodes = nodes, .jobs_per_day = 3'000});
    for (const TraceJob& job : trace.jobs) {
      std::int64_t matching = 0;
      for (const TraceNode& node : trace.nodes) {
        const bool model_will_do = job.gpu_models.empty() || std::ranges::count(job.gpu_models, node.gpu_model) > 0;
        if (model_will_do && node.gpus >= job.gpus && node.cpu_milli >= job.cpu_milli &&
            node.memory_bytes >= job.memory_bytes) {
          ++matching;
        }
      }
      ASSERT_GE(matching, 1) << job.name;
      ASSERT_LE(job.pods, std::max<std::int64_t>(1, matching / 4)) << job.name << " of " << nodes;
    }
  }
}

TEST(GenerateFleet, AsksForTheLoadThatWasOrdered) {
  struct Case {
    FleetSpec spec;
    std::int64_t tolerance_basis_points;  // half of the largest job
  };
  const Case cases[] = {{{.nodes = 10}, 600},
                        {{.nodes = 100, .load_pct = 50}, 200},
                        {{.nodes = 1'000}, 150},
                        {{.nodes = 1'000, .days = 7, .load_pct = 120}, 50},
                        {{.nodes = 6'250}, 50}};
  for (const Case& c : cases) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      FleetSpec spec = c.spec;
      spec.seed = {seed};
      const std::int64_t load = load_basis_points(generate_fleet(spec), spec.days);
      EXPECT_NEAR(static_cast<double>(load), spec.load_pct * 100, static_cast<double>(c.tolerance_basis_points))
          << "nodes " << spec.nodes << " seed " << seed;
    }
  }
}

TEST(GenerateFleet, ThirtyThousandJobsADayFillSixThousandNodes) {
  std::int64_t load_sum = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Trace day = generate_fleet({.nodes = 6'250, .seed = {seed}, .jobs_per_day = 30'000});
    const std::int64_t load = load_basis_points(day, 1);
    load_sum += load;
    EXPECT_TRUE(load > 8'500 && load < 10'500) << "seed " << seed << ": " << load;
  }
  EXPECT_NEAR(static_cast<double>(load_sum) / 8, 9'300, 300);

  const Trace& trace = large_day();
  EXPECT_EQ(std::ranges::count_if(trace.jobs, has_arrived), 30'000);
  EXPECT_EQ(gpus_of(trace), 46'500);
  std::set<std::string> teams;
  std::set<std::string> users;
  for (const TraceJob& job : trace.jobs) {
    teams.insert(job.queue);
    users.insert(job.user);
  }
  EXPECT_EQ(teams.size(), 300U);
  EXPECT_GT(users.size(), 3'000U);
}

TEST(GenerateFleet, BeginsAsFullAsItGoesOn) {
  std::int64_t at_start = 0;
  std::int64_t at_end = 0;
  const Trace& trace = large_day();
  for (const TraceJob& job : trace.jobs) {
    const std::int64_t milli = job.pods * job.gpus * job.gpu_milli;
    if (!has_arrived(job)) at_start += milli;
    if ((job.submit + job.run).ms >= kDayS * 1000) at_end += milli;
  }
  const std::int64_t fleet = gpus_of(trace) * kMilliPerGpu;
  EXPECT_NEAR(static_cast<double>(at_start) / static_cast<double>(fleet), 0.90, 0.12);
  EXPECT_NEAR(static_cast<double>(at_end) / static_cast<double>(fleet), 0.90, 0.12);
}

TEST(GenerateFleet, RunTimesHaveThePublishedQuantiles) {
  struct Case {
    std::string_view kind;
    std::size_t per_mille;
    std::int64_t run_s;
    double tolerance_pct;
  };
  const Case cases[] = {
      {"experiment", 250, 122, 5},    {"experiment", 500, 1'117, 5},   {"experiment", 750, 2'716, 5},
      {"experiment", 900, 8'512, 10}, {"experiment", 950, 19'137, 15}, {"eval", 500, 206, 10},
      {"eight", 500, 23'683, 35},     {"eight", 750, 173'288, 20},     {"gang", 750, 104'218, 35},
  };
  for (const Case& c : cases) {
    const double expected = static_cast<double>(c.run_s);
    EXPECT_NEAR(static_cast<double>(quantile(runs_s(large_day(), c.kind), c.per_mille)), expected,
                expected * c.tolerance_pct / 100)
        << c.kind << " " << c.per_mille;
  }
}

TEST(GenerateFleet, JobsAskWhatThePublishedTracesAsk) {
  std::map<std::string_view, std::int64_t> of_kind;
  std::map<int, std::int64_t> fractions;
  for (const TraceJob& job : large_day().jobs) {
    if (!has_arrived(job)) continue;
    ++of_kind[kind_of(job)];
    if (kind_of(job) == "serve") ++fractions[job.gpu_milli];
  }
  const std::pair<std::string_view, double> shares[] = {{"prepare", 133}, {"experiment", 238}, {"sweep", 170},
                                                        {"eight", 30},    {"gang", 17},        {"serve", 60}};
  for (const auto& [kind, per_mille] : shares) {
    EXPECT_NEAR(static_cast<double>(of_kind[kind]) / 30, per_mille, per_mille / 10 + 3) << kind;
  }
  const std::pair<int, double> sizes[] = {{100, 10}, {200, 90}, {300, 128}, {500, 340}, {750, 432}};
  for (const auto& [milli, per_mille] : sizes) {
    const double share = static_cast<double>(fractions[milli] * 1000) / static_cast<double>(of_kind["serve"]);
    EXPECT_NEAR(share, per_mille, per_mille / 10 + 10) << milli;
  }
}

TEST(GenerateFleet, HasAFiniteCatalogueOfShapes) {
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, int, int, std::vector<std::string>>;
  std::set<Shape> shapes;
  std::int64_t most_gpus = 0;
  for (const TraceJob& job : large_day().jobs) {
    shapes.insert({job.pods, job.cpu_milli, job.memory_bytes, job.gpus, job.gpu_milli, job.gpu_models});
    most_gpus = std::max(most_gpus, job.pods * job.gpus);
  }
  EXPECT_GE(shapes.size(), 50U);
  EXPECT_LE(shapes.size(), 80U);
  EXPECT_EQ(most_gpus, 512);
}

TEST(GenerateFleet, FollowsTheDayAndTheWeek) {
  const Trace trace = generate_fleet({.nodes = 1'000, .days = 7, .jobs_per_day = 8'000});
  std::vector<std::int64_t> hours(24);
  std::vector<std::int64_t> days(7);
  for (const TraceJob& job : trace.jobs) {
    if (!has_arrived(job)) continue;
    ++days[static_cast<std::size_t>(job.submit.ms / (kDayS * 1000))];
    ++hours[static_cast<std::size_t>(job.submit.ms / 3'600'000 % 24)];
    if (kind_of(job) == "notebook") {
      const std::int64_t hour = job.submit.ms / 3'600'000 % 24;
      EXPECT_TRUE(hour >= 7 && hour < 19) << job.name;
    }
  }
  EXPECT_GT(hours[10], 2 * hours[4]);
  EXPECT_GT(hours[10], hours[12]);
  EXPECT_GT(hours[14], hours[12]);
  const double working_day = static_cast<double>(days[0] + days[1] + days[2] + days[3] + days[4]) / 5;
  EXPECT_NEAR(static_cast<double>(days[5] + days[6]) / 2 / working_day, 0.52, 0.05);
}

TEST(GenerateFleet, SweepsComeAtOnceFromOneUser) {
  std::map<std::tuple<Time, std::string>, std::int64_t> members;
  for (const TraceJob& job : large_day().jobs) {
    if (has_arrived(job) && kind_of(job) == "sweep") ++members[{job.submit, job.user}];
  }
  std::vector<std::int64_t> sizes;
  for (const auto& [sweep, count] : members) sizes.push_back(count);
  EXPECT_GT(sizes.size(), 100U);
  EXPECT_LE(std::ranges::max(sizes), 50);
  EXPECT_NEAR(static_cast<double>(quantile(sizes, 500)), 12, 3);
}

TEST(GenerateFleet, AFewTeamsDoMostOfTheWork) {
  std::map<std::string, std::int64_t> by_team;
  for (const TraceJob& job : large_day().jobs) ++by_team[job.queue];
  std::vector<std::int64_t> jobs;
  for (const auto& [team, count] : by_team) jobs.push_back(count);
  EXPECT_GT(quantile(jobs, 999), 10 * quantile(jobs, 500));
}

TEST(GenerateFleet, ReachesTheLargestFleet) {
  const Trace trace = generate_fleet({.nodes = kFleetNodesMax, .jobs_per_day = 50'000});
  EXPECT_EQ(trace.nodes.size(), 125'000U);
  EXPECT_EQ(gpus_of(trace), 930'000);
  EXPECT_EQ(std::ranges::count_if(trace.jobs, has_arrived), 50'000);
}

}  // namespace berth::generate_test
