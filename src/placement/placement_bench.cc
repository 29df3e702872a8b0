// One decision, and many: 10,000 nodes of 8 GPUs, asked for the kinds of pods that a mixed cluster is asked for.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "placement/score_index.h"
#include "state/trial.h"

namespace berth {
namespace {

constexpr std::size_t kNodes = 10'000;

// Sixty kinds: fractions, single GPUs and several, with little or much CPU and memory; weights fall like 1/n.
std::vector<PodRequest> request_kinds() {
  constexpr std::array<std::int32_t, 12> kMilli = {100, 200, 250, 300, 400, 500, 600, 750, 800, 1000, 1000, 1000};
  std::vector<PodRequest> kinds;
  for (int i = 0; i < 60; ++i) {
    const auto piece = kMilli[static_cast<std::size_t>(i * 5 % 12)];
    const std::int32_t gpus = i % 6 == 5 ? 2 << (i / 6 % 3) : 1;
    kinds.push_back({.cpu_milli = 1000 * (1 + i * 7 % 12) * gpus,
                     .memory_bytes = (std::int64_t{1} << 30) * (4 + i) * gpus,
                     .gpus = gpus,
                     .gpu_milli = gpus > 1 ? kMilliPerGpu : piece,
                     .flavors = FlavorSet::first(1)});
  }
  return kinds;
}

// A fleet, its request kinds known to it, filled to about half by best fit.
struct Fixture {
  State state;
  ScoreIndex index;
  std::vector<RequestId> requests;  // drawn with the weights, a long list to walk
  bool remembers = true;            // what it placed, so that it can be freed
  std::vector<Move> placed;
  Rng rng{Seed{1}};

  explicit Fixture(PlacementPolicy policy, bool half_full = true, std::size_t nodes = kNodes) {
    state.apply(RunConfigured{Seed{1}, policy});
    state.apply(FlavorAdded{{"h100", "H100-SXM5-80GB", 81'559}});
    state.apply(QueueAdded{{.name = "cluster", .parent = {}, .order = Order::kFifoSkip}});
    const Node node{.name = "n",
                    .flavor = FlavorId(0),
                    .gpus = 8,
                    .gpu_memory_mib = 81'559,
                    .cpu_milli = 128'000,
                    .memory_bytes = std::int64_t{1} << 40};
    state.apply(NodesAdded{std::vector<Node>(nodes, node)});
    const std::vector<PodRequest> kinds = request_kinds();
    std::vector<TypicalPod> typical;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      typical.push_back({kinds[i].cpu_milli, kinds[i].gpus, kinds[i].gpu_milli, kinds[i].flavors,
                         static_cast<std::int64_t>(1000 / (i + 1))});
      // Submitting is what numbers a request.
      state.apply(WorkloadSubmitted{.name = "", .queue = QueueId(0), .at = {}, .shape = {{{{kinds[i], 1}}}}});
    }
    state.apply(TypicalPodsChosen{typical});
    for (int i = 0; i < 100'000; ++i) {
      std::size_t kind = 0;
      for (std::uint64_t left = rng.below(4600); kind + 1 < kinds.size() && left >= 1000 / (kind + 1); ++kind) {
        left -= 1000 / (kind + 1);
      }
      requests.push_back(RequestId(kind));
    }
    if (!half_full) return;
    const std::int64_t half = state.ledger().totals(FlavorId(0)).gpu_milli / 2;
    for (std::size_t i = 0; state.ledger().totals(FlavorId(0)).gpu_milli > half; ++i)
      place(requests[i % requests.size()]);
  }

  bool place(RequestId request) {
    const auto where = index.best(state, request, rng);
    if (!where) return false;
    const Move move{.request = state.request(request), .node = where->node, .gpus = where->gpus};
    state.ledger_for_trial().apply(move);
    if (remembers) placed.push_back(move);
    return true;
  }

  // Gives back one placed pod, drawn evenly.
  void free_one() {
    std::swap(placed[static_cast<std::size_t>(rng.below(placed.size()))], placed.back());
    state.ledger_for_trial().apply(inverse(placed.back()));
    placed.pop_back();
  }
};

// From empty until the first pod finds no place. Counts placements.
void fill(benchmark::State& bench, PlacementPolicy policy) {
  std::int64_t placements = 0;
  for (auto _ : bench) {
    bench.PauseTiming();
    auto fixture = std::make_unique<Fixture>(policy, false);
    // The bench's own list would be most of the memory that is touched for the first time.
    fixture->remembers = false;
    std::size_t at = 0;
    bench.ResumeTiming();
    while (fixture->place(fixture->requests[at++ % fixture->requests.size()])) ++placements;
    bench.PauseTiming();
    fixture.reset();
    bench.ResumeTiming();
  }
  bench.SetItemsProcessed(placements);
}

void best_fit_fill(benchmark::State& bench) { fill(bench, PlacementPolicy::kBestFit); }
void fgd_fill(benchmark::State& bench) { fill(bench, PlacementPolicy::kFgd); }
BENCHMARK(best_fit_fill);
BENCHMARK(fgd_fill);

// Place one pod, free one: the fleet stays half full. Counts placements.
void keep_half_full(benchmark::State& bench, PlacementPolicy policy) {
  Fixture fixture(policy);
  std::size_t at = 0;
  for (auto _ : bench) {
    fixture.place(fixture.requests[at++ % fixture.requests.size()]);
    fixture.free_one();
  }
  bench.SetItemsProcessed(bench.iterations());
}

void best_fit_placements(benchmark::State& bench) { keep_half_full(bench, PlacementPolicy::kBestFit); }
void fgd_placements(benchmark::State& bench) { keep_half_full(bench, PlacementPolicy::kFgd); }
BENCHMARK(best_fit_placements);
BENCHMARK(fgd_placements);

// The time of each single decision, index brought up to date included: median and 99th percentile, in microseconds.
void decision(benchmark::State& bench, PlacementPolicy policy) {
  Fixture fixture(policy);
  std::vector<double> us;
  std::size_t at = 0;
  for (auto _ : bench) {
    const RequestId request = fixture.requests[at++ % fixture.requests.size()];
    const auto begun = std::chrono::steady_clock::now();
    fixture.place(request);
    us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
    fixture.free_one();
  }
  std::sort(us.begin(), us.end());
  bench.counters["p50_us"] = us[us.size() / 2];
  bench.counters["p99_us"] = us[us.size() * 99 / 100];
}

void fgd_decision(benchmark::State& bench) { decision(bench, PlacementPolicy::kFgd); }
void best_fit_decision(benchmark::State& bench) { decision(bench, PlacementPolicy::kBestFit); }
BENCHMARK(fgd_decision)->Iterations(200'000);
BENCHMARK(best_fit_decision)->Iterations(200'000);

// The same question answered by looking at every node, for the ratio.
void fgd_decision_by_scan(benchmark::State& bench) {
  Fixture fixture(PlacementPolicy::kFgd);
  std::size_t at = 0;
  for (auto _ : bench) {
    benchmark::DoNotOptimize(ScoreIndex::best_by_scan(
        fixture.state, fixture.state.request(fixture.requests[at++ % fixture.requests.size()]), fixture.rng));
  }
}
BENCHMARK(fgd_decision_by_scan);

}  // namespace
}  // namespace berth
