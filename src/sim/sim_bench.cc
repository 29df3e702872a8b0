// Whole runs: the published protocol on a recorded cluster, and a day of a large made-up one.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <thread>
#include <vector>

#include "model/gpu.h"
#include "sim/cluster_run.h"
#include "sim/door.h"
#include "sim/files.h"
#include "sim/fill.h"
#include "sim/generate.h"
#include "sim/readers.h"
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

}  // namespace
}  // namespace berth
