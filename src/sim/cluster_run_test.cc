#include "sim/cluster_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/property_seeds.h"
#include "model/gpu.h"
#include "sim/door.h"
#include "sim/files.h"
#include "sim/readers.h"
#include "sim/test_data.h"

namespace berth::cluster_run_test {

TraceJob job(std::int64_t submit_s, std::int64_t run_s, int gpus) {
  TraceJob made;
  made.submit = Time{submit_s * 1000};
  made.run = seconds(run_s);
  made.gpus = gpus;
  made.gpu_milli = gpus > 0 ? kMilliPerGpu : 0;
  return made;
}

ClusterRun run_on(std::int64_t gpus, std::vector<TraceJob> jobs, Order order) {
  Trace trace{{}, std::move(jobs)};
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) trace.jobs[i].name = "job-" + std::to_string(i);
  count_gpus_only(trace, gpus);
  return run_cluster(trace, {.order = order, .seed = {}}, "trace").value();
}

std::vector<std::int64_t> starts_s(const ClusterRun& run) {
  std::vector<std::int64_t> starts;
  for (const JobTimes& times : run.times) starts.push_back(times.started ? times.start.ms / 1000 : -1);
  return starts;
}

using Starts = std::vector<std::int64_t>;

TEST(RunCluster, FiveJobsOnTwoGpusByHand) {
  // 0: one GPU for 10 s. 1: both for 10 s. 2: one for 30 s. 3: one for 5 s. 4: one for 5 s, at the moment when 0 ends.
  const std::vector<TraceJob> jobs = {job(0, 10, 1), job(1, 10, 2), job(2, 30, 1), job(3, 5, 1), job(10, 5, 1)};
  struct Case {
    Order order;
    Starts starts;
    double mean_wait_s;
    double utilisation_percent;
  };
  const Case cases[] = {
      // 1 waits for 0; 2 and 3 for 1; 4 for 3.
      {Order::kFifo, {0, 10, 20, 20, 25}, (0 + 9 + 18 + 17 + 15) / 5.0, 100 * 70 / 100.0},
      // 2 passes 1 and then holds it up; 3 and 4 pass it too.
      {Order::kFifoSkip, {0, 32, 2, 10, 15}, (0 + 31 + 0 + 7 + 5) / 5.0, 100 * 70 / 84.0},
      // At 2 only 2 waits beside 1 and fits. At 10 of those that fit 3 and 4 are shortest; 3 came first.
      {Order::kSjf, {0, 32, 2, 10, 15}, (0 + 31 + 0 + 7 + 5) / 5.0, 100 * 70 / 84.0},
  };
  for (const Case& c : cases) {
    const ClusterRun run = run_on(2, jobs, c.order);
    EXPECT_EQ(starts_s(run), c.starts) << name_of(c.order);
    EXPECT_DOUBLE_EQ(run.wait.mean_s, c.mean_wait_s) << name_of(c.order);
    EXPECT_DOUBLE_EQ(run.utilisation_percent, c.utilisation_percent) << name_of(c.order);
    EXPECT_EQ(run.decisions, 5);
    EXPECT_EQ(run.never_started, 0);
    EXPECT_EQ(run.gpu_milli, 2000);
  }
}

TEST(RunCluster, ShortestFirstMeansTheRunThenTheGpusThenTheRow) {
  const std::vector<TraceJob> jobs = {job(0, 10, 2), job(1, 7, 2), job(1, 7, 1), job(1, 3, 2), job(1, 7, 1)};
  EXPECT_EQ(starts_s(run_on(2, jobs, Order::kSjf)), (Starts{0, 20, 13, 10, 13}));
}

TEST(RunCluster, WhatCanNeverRunHoldsNobodyUp) {
  const std::vector<TraceJob> jobs = {job(0, 10, 3), job(0, 10, 2)};
  for (const Order order : {Order::kFifo, Order::kFifoSkip, Order::kSjf}) {
    const ClusterRun run = run_on(2, jobs, order);
    EXPECT_EQ(starts_s(run), (Starts{-1, 0})) << name_of(order);
    EXPECT_EQ(run.never_started, 1);
    EXPECT_EQ(run.wait.count, 1);
  }
}

TEST(RunCluster, AFleetWithoutGpusRunsWhatAsksNone) {
  Trace trace{{{.name = "a", .cpu_milli = 8000, .memory_bytes = 0, .gpus = 0, .gpu_model = ""}},
              {job(0, 1, 1), job(0, 1, 0), job(0, 1, 1)}};
  trace.jobs[2].pods = 4;
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) trace.jobs[i].name = std::to_string(i);
  const auto run = run_cluster(trace, {}, "trace");
  ASSERT_TRUE(run.has_value()) << run.error().to_string();
  EXPECT_EQ(starts_s(*run), (Starts{-1, 0, -1}));
}

TEST(RunCluster, WaitsAreToldByQueue) {
  std::vector<TraceJob> jobs = {job(0, 10, 2), job(0, 10, 2), job(0, 10, 3)};
  jobs[1].queue = "b";
  jobs[2].queue = "b";
  const ClusterRun run = run_on(2, jobs, Order::kFifo);
  ASSERT_EQ(run.queues.size(), 2u);
  EXPECT_EQ(run.queues[0].queue, "b");
  EXPECT_EQ(run.queues[0].jobs, 2);
  EXPECT_EQ(run.queues[0].gpu_seconds, 20);
  EXPECT_EQ(run.queues[0].waits.count, 1);
  EXPECT_DOUBLE_EQ(run.queues[0].waits.mean_s, 10);
  EXPECT_EQ(run.queues[1].queue, "default");
}

// GPUs are counted and nothing else: at one instant all ends, then all arrivals, then one pass.
std::vector<std::int64_t> count_gpus(const std::vector<TraceJob>& jobs, std::int64_t gpus, Order order) {
  struct End {
    std::int64_t at;
    int gpus;
  };
  std::vector<std::size_t> arrivals(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) arrivals[i] = i;
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [&](std::size_t a, std::size_t b) { return jobs[a].submit < jobs[b].submit; });
  std::vector<std::int64_t> starts(jobs.size(), -1);
  std::vector<End> running;
  std::vector<std::size_t> waiting;  // as they came
  std::int64_t free = gpus;
  std::size_t submitted = 0;
  while (submitted < jobs.size() || !running.empty()) {
    std::int64_t now = INT64_MAX;
    for (const End& end : running) now = std::min(now, end.at);
    if (submitted < jobs.size()) now = std::min(now, jobs[arrivals[submitted]].submit.ms);
    std::erase_if(running, [&](const End& end) {
      if (end.at == now) free += end.gpus;
      return end.at == now;
    });
    while (submitted < jobs.size() && jobs[arrivals[submitted]].submit.ms == now)
      waiting.push_back(arrivals[submitted++]);
    std::vector<std::size_t> pass = waiting;
    if (order == Order::kSjf) {
      std::stable_sort(pass.begin(), pass.end(), [&](std::size_t a, std::size_t b) {
        return std::tuple(jobs[a].run, jobs[a].gpus, a) < std::tuple(jobs[b].run, jobs[b].gpus, b);
      });
    }
    for (const std::size_t at : pass) {
      if (jobs[at].gpus > gpus) continue;
      if (jobs[at].gpus > free) {
        if (order == Order::kFifo) break;
        continue;
      }
      free -= jobs[at].gpus;
      starts[at] = now / 1000;
      running.push_back({now + jobs[at].run.ms, jobs[at].gpus});
      std::erase(waiting, at);
    }
  }
  return starts;
}

TEST(RunClusterProperty, IsWhatCountingGpusSays) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t gpus = rng.between(1, 12);
    std::vector<TraceJob> jobs;
    for (std::int64_t left = rng.between(1, 60); left > 0; --left) {
      const std::int64_t submit_s = rng.between(0, 40), run_s = rng.between(0, 12);
      jobs.push_back(job(submit_s, run_s, static_cast<int>(rng.between(0, rng.below(10) == 0 ? 14 : 4))));
    }
    for (const Order order : {Order::kFifo, Order::kFifoSkip, Order::kSjf}) {
      ASSERT_EQ(starts_s(run_on(gpus, jobs, order)), count_gpus(jobs, gpus, order)) << name_of(order) << " on " << gpus;
    }
  }
}

// 82,247 jobs of Microsoft's Philly trace on 640 GPUs: numbers that anybody who counts GPUs gets.
TEST(RunCluster, PhillyOn640GpusWaitsAsLongAsItMust) {
  const auto folder = test_data_folder();
  if (!folder) GTEST_SKIP() << "no recorded traces here";
  const std::string path = *folder + "/philly/jobs.csv";
  Trace trace;
  trace.jobs = read_jobs(path, read_file(path).value()).value();
  count_gpus_only(trace, 640);
  struct Case {
    Order order;
    double wait_s, p50_s, p90_s, p99_s, completion_s;
  };
  const Case cases[] = {
      {Order::kFifo, 33'166.7, 6'087, 91'640, 129'936, 46'302.7},
      {Order::kFifoSkip, 15'519.1, 2'731, 53'044, 109'639, 28'655.0},
      {Order::kSjf, 4'232.0, 16, 13'166, 44'294, 17'367.9},
  };
  for (const Case& c : cases) {
    const ClusterRun run =
        run_cluster(trace, {.policy = PlacementPolicy::kBestFit, .order = c.order, .seed = {}}, path).value();
    EXPECT_EQ(run.jobs, 82'247);
    const auto expect_near = [&](double actual, double expected) {
      EXPECT_NEAR(actual, expected, expected / 1000) << name_of(c.order);
    };
    expect_near(run.wait.mean_s, c.wait_s);
    expect_near(run.wait.p50_s, c.p50_s);
    expect_near(run.wait.p90_s, c.p90_s);
    expect_near(run.wait.p99_s, c.p99_s);
    expect_near(run.completion.mean_s, c.completion_s);
  }
}

}  // namespace berth::cluster_run_test
