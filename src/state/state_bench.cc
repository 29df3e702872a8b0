// What a state costs: a fork of 50,000 busy GPUs, and the memory of a million workloads that wait.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "state/state.h"

namespace berth {
namespace {

constexpr std::size_t kNodes = 6'250;  // of 8 GPUs
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

State state_with_nodes() {
  State state;
  state.apply(RunConfigured{Seed{1}, PlacementPolicy::kBestFit});
  state.apply(FlavorAdded{{"h100", "H100-SXM5-80GB", 81'559}});
  state.apply(QueueAdded{{.name = "cluster", .parent = {}, .order = Order::kFifoSkip}});
  const Node node{.name = "a node with a name of usual length",
                  .flavor = FlavorId(0),
                  .gpus = 8,
                  .gpu_memory_mib = 81'559,
                  .cpu_milli = 128'000,
                  .memory_bytes = 1024 * kGiB};
  state.apply(NodesAdded{std::vector<Node>(kNodes, node)});
  return state;
}

WorkloadSubmitted submission(std::size_t i) {
  const PodRequest request{.cpu_milli = 1000 * static_cast<std::int64_t>(1 + i % 50),
                           .memory_bytes = kGiB,
                           .gpus = 1,
                           .gpu_milli = kMilliPerGpu,
                           .flavors = FlavorSet::first(1)};
  return {.name = "job-" + std::to_string(i),
          .queue = QueueId(0),
          .at = Time{static_cast<std::int64_t>(i)},
          .shape = {{{{request, 1}}}}};
}

// Every GPU has a pod of its own, and `pending` workloads of 50 shapes wait.
State busy_state(std::size_t pending) {
  State state = state_with_nodes();
  Plan plan{.now = Time{0}, .starts = {}, .blocked = {}};
  const PodRequest request{
      .cpu_milli = 8000, .memory_bytes = kGiB, .gpus = 1, .gpu_milli = kMilliPerGpu, .flavors = FlavorSet::first(1)};
  for (std::size_t i = 0; i < kNodes * 8; ++i) {
    plan.starts.push_back(
        {.workload = state.workloads().next_id(), .pods = {{NodeId(i / 8), GpuSet::from_bits(1u << i % 8)}}});
    state.apply(WorkloadSubmitted{.name = "", .queue = QueueId(0), .at = {}, .shape = {{{{request, 1}}}}});
  }
  plan.revision = state.revision();
  state.adopt(plan);
  for (std::size_t i = 0; i < pending; ++i) state.apply(submission(i));
  return state;
}

// 50,000 GPUs, each held by a workload of its own, with so many more waiting.
void fork_of_50000_gpus(benchmark::State& bench) {
  const State state = busy_state(static_cast<std::size_t>(bench.range(0)));
  for (auto _ : bench) {
    State fork = state.fork();
    benchmark::DoNotOptimize(fork.revision());
  }
}
BENCHMARK(fork_of_50000_gpus)->Arg(0)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// Of this process, that is in memory.
std::int64_t resident_bytes() {
  std::int64_t all = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Submits a million; the counter has what the process grew by for each.
void a_million_queued(benchmark::State& bench) {
  constexpr std::size_t kQueued = 1'000'000;
  for (auto _ : bench) {
    State state = state_with_nodes();
    const std::int64_t before = resident_bytes();
    for (std::size_t i = 0; i < kQueued; ++i) state.apply(submission(i));
    const auto bytes = static_cast<double>(resident_bytes() - before);
    bench.counters["MiB"] = bytes / (1 << 20);
    bench.counters["bytes_each"] = bytes / static_cast<double>(kQueued);
  }
}
BENCHMARK(a_million_queued)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace berth
