// Whole runs: the published protocol on a recorded cluster, and a day of a large made-up one.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/gpu.h"
#include "sim/cluster_run.h"
#include "sim/door.h"
#include "sim/files.h"
#include "sim/fill.h"
#include "sim/generate.h"
#include "sim/kept_forecasts.h"
#include "sim/readers.h"
#include "sim/session.h"
#include "sim/test_data.h"

namespace berth {
namespace {

// Ten seeds on two threads, until demand is 130 % of the recorded cluster (Alibaba openb, default workload).
void ten_fgd_seeds_on_openb(benchmark::State& bench) {
  const auto folder = test_data_folder();
  if (!folder) return bench.SkipWithError("no recorded traces here");
  const auto nodes = read_file(*folder + "/openb/openb_node_list_gpu_node.csv");
  const auto pods = read_file(*folder + "/openb/openb_pod_list_default.csv");
  const Trace trace{*read_nodes("nodes", *nodes), *read_jobs("pods", *pods)};
  for (auto _ : bench) {
    std::vector<std::jthread> threads;
    for (std::uint64_t half = 0; half < 2; ++half) {
      threads.emplace_back([&trace, half] {
        for (std::uint64_t seed = 42 + half; seed <= 51; seed += 2) {
          benchmark::DoNotOptimize(run_fill(trace, {}, Seed{seed}, "openb"));
        }
      });
    }
  }
}
BENCHMARK(ten_fgd_seeds_on_openb)->Unit(benchmark::kSecond)->UseRealTime();

// A generated day of 30,000 arrivals on about 50,000 GPUs, besides what ran before it began; until the last job ends.
void a_day_on_50000_gpus(benchmark::State& bench) {
  const Trace trace = generate_fleet({.nodes = 6'700, .seed = Seed{7}, .jobs_per_day = 30'000});
  std::int64_t gpus = 0;
  for (const TraceNode& node : trace.nodes) gpus += node.gpus;
  for (auto _ : bench) {
    const auto run = run_cluster(trace, {.seed = Seed{7}}, "generated");
    bench.counters["starts"] = static_cast<double>(run->decisions);
  }
  bench.counters["gpus"] = static_cast<double>(gpus);
  bench.counters["jobs"] = static_cast<double>(trace.jobs.size());
}
BENCHMARK(a_day_on_50000_gpus)->Unit(benchmark::kSecond);

// A million jobs of one pool in a strict line behind a head that does not fit: memory of the whole process at its peak.
void a_million_jobs_queued(benchmark::State& bench) {
  Trace trace;
  for (int i = 0; i < 8; ++i) trace.nodes.push_back({.name = "n" + std::to_string(i), .gpus = 8, .gpu_model = "H100"});
  for (int i = 0; i < 1'000'000; ++i) {
    TraceJob job;
    job.name = "job-" + std::to_string(i);
    job.queue = "team-" + std::to_string(i % 300);
    job.gpus = 8;
    job.gpu_milli = kMilliPerGpu;
    job.run = seconds(3600 * 24 * 365);
    trace.jobs.push_back(std::move(job));
  }
  const auto door = Door::open(trace, {}, "queue");
  for (auto _ : bench) {
    Session session;
    for (const Event& event : door->opening()) session.apply(event);
    for (const TraceJob& job : trace.jobs) session.apply(door->submission(job, {}));
    session.decide(Time{}, [](const Plan&) {});
    bench.counters["pending"] = static_cast<double>(session.state().pending());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  bench.counters["peak_MiB_with_trace"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(a_million_jobs_queued)->Unit(benchmark::kSecond)->Iterations(1);

// One run ahead for all who wait, as a live scheduler does it again and again: 50,000 GPUs, 10,000 run and 10,000 wait, each with a
// limit, in ten queues of one order. `at_most_ms`: then it is broken off; 0: never.
void one_run_ahead_for_all(benchmark::State& bench, Order order, std::int64_t at_most_ms) {
  Session session;
  const auto apply = [&](const Event& event) { session.apply(event); };
  apply(RunConfigured{Seed{7}});
  apply(FlavorAdded{{.name = "gpu", .model = {}}});
  for (int i = 0; i < 10; ++i)
    apply(QueueAdded{{.name = "q" + std::to_string(i), .parent = {}, .order = order, .quota = taking_nothing()}});
  NodesAdded nodes;
  for (int i = 0; i < 6'250; ++i)
    nodes.nodes.push_back({.name = "n" + std::to_string(i),
                           .flavor = FlavorId(0),
                           .gpus = 8,
                           .cpu_milli = 128'000,
                           .memory_bytes = std::int64_t{1} << 40});
  apply(nodes);
  KeptForecasts::Names waiting;
  const auto submit = [&](std::int64_t i, std::int32_t gpus, std::int64_t pods, std::int64_t minutes) {
    WorkloadSubmitted submitted{
        .name = "w" + std::to_string(i),
        .queue = QueueId(static_cast<std::size_t>(i % 10)),
        .at = Time{i},
        .shape = {.ways = {{{.request = {.gpus = gpus, .gpu_milli = kMilliPerGpu}, .count = pods}}}}};
    submitted.shape.terms.run_limit = Duration{minutes * 60'000};
    apply(submitted);
  };
  for (std::int64_t i = 0; i < 10'000; ++i) submit(i, i % 2 == 0 ? 5 : 3, 1, 60 + i % 997);
  for (std::int64_t i = 0; i < 1'250; ++i) submit(i, 8, 1, 60 + i % 997);
  session.decide(Time{20'000}, [](const Plan&) {});
  const std::size_t running = session.state().running();
  for (std::int64_t i = 0; i < 10'000; ++i) {
    waiting.emplace_back(WorkloadId(running + static_cast<std::size_t>(i)), "ns/w" + std::to_string(i));
    submit(i, 1 + static_cast<std::int32_t>(i % 8), 1 + i % 3, 30 + i % 1'009);
  }
  session.decide(Time{20'000}, [](const Plan&) {});
  std::erase_if(waiting,
                [&](const auto& each) { return session.state().workload(each.first).phase != Phase::kPending; });
  using Clock = std::chrono::steady_clock;
  KeptForecasts kept(Seed{7});
  std::int64_t told = 0;
  for (auto _ : bench) {
    const Clock::time_point began = Clock::now();
    kept.run_ahead(session.state().fork(), waiting, Time{20'000}, RunTimes(),
                   [&] { return at_most_ms > 0 && Clock::now() - began > std::chrono::milliseconds(at_most_ms); });
    benchmark::DoNotOptimize(to_text(kept.table()));
    told = std::ranges::count_if(kept.table().rows, [](const KeptForecast& row) { return row.p50.has_value(); });
  }
  bench.counters["pending"] = static_cast<double>(waiting.size());
  bench.counters["with_p50"] = static_cast<double>(told);
  bench.counters["running"] = static_cast<double>(session.state().running());
}
BENCHMARK_CAPTURE(one_run_ahead_for_all, fifo_skip, Order::kFifoSkip, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_run_ahead_for_all, easy, Order::kFifo, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_run_ahead_for_all, easy_broken_off, Order::kFifo, 2'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth
