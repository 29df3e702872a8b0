#include "sim/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "model/gpu.h"
#include "sim/door.h"

namespace berth::compare_test {

TraceJob job(const std::string& queue, std::int64_t submit_s, std::int64_t run_s, int gpus) {
  TraceJob made;
  made.queue = queue;
  made.submit = Time{submit_s * 1000};
  made.run = seconds(run_s);
  made.gpus = gpus;
  made.gpu_milli = gpus > 0 ? kMilliPerGpu : 0;
  return made;
}

Trace trace_of(std::vector<TraceJob> jobs, std::int64_t gpus) {
  Trace trace{{}, std::move(jobs)};
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) trace.jobs[i].name = "job-" + std::to_string(i);
  count_gpus_only(trace, gpus);
  return trace;
}

using Floors = std::vector<QueueFloor>;

TEST(Compare, FloorsAreProportionalToLoadAndAddUp) {
  struct Case {
    const char* what;
    std::vector<TraceJob> jobs;
    std::int64_t gpus;
    Floors floors;
  };
  const Case cases[] = {
      {"in proportion", {job("b", 0, 10, 3), job("a", 5, 5, 2)}, 8, {{"a", 2}, {"b", 6}}},
      {"one at least, at the others' cost",
       {job("a", 0, 1, 1), job("b", 0, 50, 1), job("c", 0, 49, 1)},
       10,
       {{"a", 1}, {"b", 5}, {"c", 4}}},
      {"what rounding leaves over goes by the largest remainder",
       {job("a", 0, 14, 1), job("b", 0, 15, 1), job("c", 0, 11, 1)},
       4,
       {{"a", 1}, {"b", 2}, {"c", 1}}},
      {"the small take from who is then small himself",
       {job("a", 0, 1, 1), job("b", 0, 11, 1), job("c", 0, 28, 1)},
       3,
       {{"a", 1}, {"b", 1}, {"c", 1}}},
      {"no name is a name", {job("", 0, 1, 1)}, 5, {{"default", 5}}},
      {"no load at all", {job("a", 0, 0, 1), job("b", 0, 5, 0)}, 4, {{"a", 2}, {"b", 2}}},
      {"as many GPUs as queues", {job("a", 0, 900, 8), job("b", 0, 1, 1)}, 2, {{"a", 1}, {"b", 1}}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(floors_by_load(trace_of(c.jobs, c.gpus), c.gpus, "jobs").value(), c.floors) << c.what;
  }
  EXPECT_EQ(floors_by_load(trace_of({job("a", 0, 1, 1), job("b", 0, 1, 1)}, 1), 1, "jobs").error().to_string(),
            "jobs: has 2 queues, more than there are GPUs (1); give every queue one at least\n");
}

TEST(Compare, FloorsFromAFile) {
  const Trace trace = trace_of({job("a", 0, 1, 1), job("b", 0, 1, 1)}, 8);
  EXPECT_EQ(read_floors("f", "queue,gpus\nb,3\na,5\n", trace, 8).value(), (Floors{{"a", 5}, {"b", 3}}));
  struct Case {
    const char* text;
    const char* complaint;
  };
  const Case cases[] = {
      {"queue,gpus\na,5\n", "f: queue 'b' of the jobs is missing; add a row for it\n"},
      {"queue,gpus\na,5\nb,0\nc,1\n", "f: no job is in queue 'c'; leave it out, or write its name as the jobs do\n"},
      {"queue,gpus\na,5\nb,4\n", "f: the floors add up to 9 GPUs, and there are 8; write smaller ones\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(read_floors("f", c.text, trace, 8).error().to_string(), c.complaint);
  EXPECT_FALSE(read_floors("f", "queue,gpus\na,5\na,2\nb,1\n", trace, 8));
  EXPECT_FALSE(read_floors("f", "queue,gpus\na,-1\nb,1\n", trace, 8));
}

Comparison compared(std::vector<TraceJob> jobs, const CompareOptions& options) {
  return compare(trace_of(std::move(jobs), 4), {{"a", 2}, {"b", 2}}, options, "jobs").value();
}

std::vector<std::int64_t> ends_s(const ClusterRun& run) {
  std::vector<std::int64_t> ends;
  for (const JobTimes& times : run.times) ends.push_back(times.end.ms / 1000);
  return ends;
}
using Ends = std::vector<std::int64_t>;

// b borrows a's two GPUs; at 10 a wants them.
TEST(Compare, AnOwnerTakesBackAndWhoLentLosesWork) {
  const std::vector<TraceJob> jobs = {job("b", 0, 100, 2), job("b", 0, 100, 2), job("a", 10, 50, 2)};
  struct Case {
    const char* what;
    CompareOptions options;
    Ends shared;
    std::int64_t lost_gpu_s;
    double mean_wait_s;
  };
  const Case cases[] = {
      {"it starts anew", {}, {100, 160, 60}, 20, (0 + 60 + 0) / 3.0},
      {"it goes on where it was last safe",
       {.seed = {}, .checkpoint_every = seconds(4)},
       {100, 152, 60},
       4,
       (0 + 52 + 0) / 3.0},
      {"a checkpoint at the very moment",
       {.seed = {}, .checkpoint_every = seconds(5)},
       {100, 150, 60},
       0,
       (0 + 50 + 0) / 3.0},
      {"patience lasts longer than that",
       {.seed = {}, .patience = seconds(30), .checkpoint_every = seconds(60)},
       {100, 190, 90},
       80,
       (0 + 90 + 30) / 3.0},
      {"it does not borrow again so soon",
       {.seed = {}, .cooldown = seconds(70)},
       {100, 180, 60},
       20,
       (0 + 80 + 0) / 3.0},
      {"until its own floor has come free",
       {.seed = {}, .cooldown = seconds(200)},
       {100, 200, 60},
       20,
       (0 + 100 + 0) / 3.0},
      {"patience lasts until the other has ended",
       {.seed = {}, .patience = seconds(95)},
       {100, 100, 150},
       0,
       (0 + 0 + 90) / 3.0},
  };
  for (const Case& c : cases) {
    const Comparison done = compared(jobs, c.options);
    EXPECT_EQ(ends_s(done.shared.run), c.shared) << c.what;
    EXPECT_EQ(done.shared.run.lost_gpu_seconds, c.lost_gpu_s) << c.what;
    EXPECT_EQ(done.shared.run.gpu_seconds, 500) << c.what;
    EXPECT_DOUBLE_EQ(done.shared.run.wait.mean_s, c.mean_wait_s) << c.what;
    EXPECT_EQ(done.shared.run.evictions, c.options.patience < seconds(95) ? 1 : 0) << c.what;
    EXPECT_EQ(ends_s(done.partitioned.run), (Ends{100, 200, 60})) << c.what;
    EXPECT_EQ(ends_s(done.one_line.run), (Ends{100, 100, 150})) << c.what;
    EXPECT_EQ(done.partitioned.run.evictions + done.one_line.run.evictions, 0) << c.what;
  }
}

TEST(Compare, WhoWaitsLongerThanInItsPartitionIsNamed) {
  const std::vector<TraceJob> jobs = {job("b", 0, 100, 2), job("b", 0, 100, 2), job("a", 10, 50, 2)};
  const Comparison done = compared(jobs, {.seed = {}, .patience = seconds(30)});
  EXPECT_EQ(worse_off(done.shared, done.partitioned), std::vector<std::string>{"a"});
  EXPECT_EQ(worse_off(done.one_line, done.partitioned), std::vector<std::string>{"a"});
  EXPECT_EQ(worse_off(done.partitioned, done.one_line), std::vector<std::string>{"b"});
}

TEST(Compare, WhatNoPartitionHoldsStandsApart) {
  const std::vector<TraceJob> jobs = {job("b", 0, 100, 2), job("a", 0, 10, 3), job("a", 0, 10, 4), job("a", 5, 20, 1)};
  const Comparison done = compared(jobs, {});
  EXPECT_EQ(done.jobs_apart(), 2);
  ASSERT_EQ(done.apart.size(), 1u);
  EXPECT_EQ(done.apart[0].queue, "a");
  EXPECT_EQ(done.apart[0].largest_gpus, 4);
  EXPECT_EQ(done.trace.jobs.size(), 2u);
  for (const Comparison::Way* const way : done.ways()) {
    EXPECT_EQ(way->run.jobs, 2) << way->name;
    EXPECT_EQ(way->run.never_started, 0) << way->name;
  }
  ASSERT_TRUE(done.with_all);
  EXPECT_EQ(done.with_all->jobs, 4);
  EXPECT_EQ(done.with_all->never_started, 0) << "they borrow, once there is room for them";
  EXPECT_FALSE(compared({jobs[0], jobs[3]}, {}).with_all);
}

// Queues are numbered by name; the numbers decide nothing either.
TEST(CompareProperty, NamesOfQueuesDecideNothing) {
  std::int64_t evictions = 0;
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<TraceJob> jobs;
    for (int i = 0; i < 40; ++i) {
      const std::int64_t submit_s = rng.between(0, 60);
      jobs.push_back(job("", submit_s, rng.between(1, 40), 1));
    }
    for (TraceJob& each : jobs) each.gpus = static_cast<int>(rng.between(1, 3));
    std::vector<std::size_t> queue_of;
    for (std::size_t i = 0; i < jobs.size(); ++i) queue_of.push_back(static_cast<std::size_t>(rng.below(3)));
    const std::int64_t floors[] = {rng.between(0, 4), rng.between(0, 4), rng.between(0, 4)};
    const CompareOptions options{.order = rng.below(2) == 0 ? Order::kFifo : Order::kFifoSkip,
                                 .seed = seed,
                                 .fair_reclaim = static_cast<FairReclaim>(rng.below(3)),
                                 .patience = seconds(rng.between(0, 5)),
                                 .cooldown = seconds(rng.between(0, 5))};
    const auto named = [&](const std::vector<std::string>& names) {
      std::vector<TraceJob> renamed = jobs;
      for (std::size_t i = 0; i < renamed.size(); ++i) renamed[i].queue = names[queue_of[i]];
      Floors by_name;
      for (const std::size_t queue : {0u, 1u, 2u}) by_name.push_back({names[queue], floors[queue]});
      std::ranges::sort(by_name, {}, &QueueFloor::queue);
      return compare(trace_of(renamed, 12), by_name, options, "jobs").value();
    };
    const Comparison one = named({"a", "b", "c"});
    const Comparison other = named({"z", "m", "d"});
    for (std::size_t way = 0; way < 3; ++way) {
      ASSERT_EQ(ends_s(one.ways()[way]->run), ends_s(other.ways()[way]->run)) << one.ways()[way]->name;
    }
    evictions += one.shared.run.evictions;
  }
  EXPECT_GE(evictions, static_cast<std::int64_t>(property_seeds(200).size() / 2));
}

}  // namespace berth::compare_test
