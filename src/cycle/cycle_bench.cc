// What a cycle costs where many queues wait for one another's room: who is next, a reclaim with many victims, and a cycle
// in which nothing can change.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "cycle/run_cycle.h"
#include "fairness/order.h"
#include "model/gpu.h"
#include "state/random_world.h"

namespace berth {
namespace {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);
constexpr Time kNow{1'000'000};

// Where racks are asked for, 256 nodes are in one.
Engine fleet(std::size_t nodes, bool in_racks = false) {
  Engine engine;
  engine.state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  std::vector<Node> added(nodes, {.name = "node", .flavor = FlavorId(0), .gpus = 8});
  for (std::size_t i = 0; i < nodes && in_racks; ++i) added[i].labels = {{"rack", std::to_string(i / 256)}};
  engine.state.apply(NodesAdded{std::move(added)});
  return engine;
}

QueueId add_queue(State& state, QueueId parent, std::int64_t guarantee) {
  Queue queue{.name = "queue", .parent = parent, .order = Order::kFifoSkip};
  if (guarantee > 0) queue.quota.guarantee = {{kGpu, guarantee * kMilliPerGpu}};
  state.apply(QueueAdded{queue});
  return QueueId(state.queues().size() - 1);
}

// 2,000 leaves, six levels down: 2 x 4 x 5 x 5 x 5 x 2. Every leaf has a floor of 2 GPUs.
std::vector<QueueId> add_tree(State& state) {
  std::vector<QueueId> level = {QueueId()};
  for (const int children : {2, 4, 5, 5, 5, 2}) {
    std::vector<QueueId> next;
    for (const QueueId parent : level) {
      for (int i = 0; i < children; ++i)
        next.push_back(add_queue(state, parent, children == 2 && level.size() > 2 ? 2 : 0));
    }
    level = std::move(next);
  }
  return level;
}

WorkloadSubmitted job(QueueId queue, std::int32_t gpus, std::int64_t pods = 1, const Topology& topology = {}) {
  const PodSet set{{.gpus = gpus, .gpu_milli = kMilliPerGpu}, pods, {}, topology};
  WorkloadSubmitted submitted = submission(queue, {{{set}}, {}});
  submitted.at = Time{0};
  return submitted;
}

// The order as it goes on, a candidate after the other; making it anew is once a cycle, and told beside.
void next_of_many_pending(benchmark::State& bench) {
  Engine engine = fleet(100);
  State& state = engine.state;
  const std::vector<QueueId> leaves = add_tree(state);
  for (std::int64_t i = 0; i < bench.range(0); ++i) {
    state.apply(job(leaves[static_cast<std::size_t>(i) % leaves.size()], 1 + static_cast<std::int32_t>(i % 8)));
  }
  std::optional<CandidateOrder> order(std::in_place, state, Time{});
  BERTH_ASSERT(order->next());
  for (auto _ : bench) {
    auto next = order->next();
    if (!next) {
      bench.PauseTiming();
      order.emplace(state, Time{});
      bench.ResumeTiming();
      next = order->next();
    }
    benchmark::DoNotOptimize(next);
    order->started();
  }
  bench.counters["queues"] = static_cast<double>(state.queues().size());
}
BENCHMARK(next_of_many_pending)->ArgName("pending")->Arg(10'000)->Arg(100'000)->Arg(1'000'000);

void order_of_100000_pending_made_anew(benchmark::State& bench) {
  Engine engine = fleet(100);
  const std::vector<QueueId> leaves = add_tree(engine.state);
  for (std::size_t i = 0; i < 100'000; ++i) {
    engine.state.apply(job(leaves[i % leaves.size()], 1 + static_cast<std::int32_t>(i % 8)));
  }
  for (auto _ : bench) {
    CandidateOrder order(engine.state, Time{});
    benchmark::DoNotOptimize(order.next());
  }
}
BENCHMARK(order_of_100000_pending_made_anew)->Unit(benchmark::kMicrosecond);

// 10,000 borrowers of one GPU each fill the fleet, of so many queues; somebody wants room in a queue with such a floor.
void take_among_10000_victims(benchmark::State& bench, const Topology& topology, int queues, std::int64_t floor) {
  Engine engine = fleet(1'250, !topology.asks_nothing());
  State& state = engine.state;
  const QueueId claimant = add_queue(state, QueueId(), floor);
  std::vector<QueueId> borrowers;
  for (int i = 0; i < queues; ++i) borrowers.push_back(add_queue(state, QueueId(), 0));
  for (std::size_t i = 0; i < 10'000; ++i) state.apply(job(borrowers[i % borrowers.size()], 1));
  for (bool finished = false; !finished;) {
    const Plan plan = run_cycle(engine, Time{0}, Effort::unbounded());
    state.adopt(plan);
    finished = plan.finished;
  }
  BERTH_ASSERT(state.pending() == 0);
  state.apply(job(claimant, 8, bench.range(0), topology));
  std::size_t evictions = 0;
  for (auto _ : bench) {
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    evictions = plan.evictions.size();
  }
  BERTH_ASSERT(evictions > 0);
  bench.counters["evictions"] = static_cast<double>(evictions);
}
// A hundred queues; an owner wants part of its floor back.
void reclaim_among_10000_victims(benchmark::State& bench, const Topology& topology) {
  take_among_10000_victims(bench, topology, 100, 5'000);
}
const Topology kOneRack{.together = Togetherness::kRequired, .level = "rack"};
BENCHMARK_CAPTURE(reclaim_among_10000_victims, anywhere, Topology())
    ->ArgName("nodes_wanted")
    ->Arg(1)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reclaim_among_10000_victims, in_one_rack, kOneRack)
    ->ArgName("nodes_wanted")
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

// All is best effort, on two flavors; of each of them a limit leaves a gang that may mix them only a part of what it wants: all of it in one
// mixture of many (even), or a part of the second flavor that few have (few_of_the_second: what quotas allow there has no room).
void take_from_10000_in_mixtures(benchmark::State& bench, std::size_t of_the_second) {
  Engine engine;
  State& state = engine.state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {});
  std::vector<Node> nodes(1'250, {.name = "node", .flavor = FlavorId(0), .gpus = 8});
  for (std::size_t i = 0; i < of_the_second; ++i) nodes[i].flavor = FlavorId(1);
  state.apply(NodesAdded{std::move(nodes)});
  const std::int64_t wanted = bench.range(0);
  Queue queue{.name = "queue", .parent = {}, .order = Order::kFifoSkip};
  queue.quota.limit = {{kGpu, (wanted - wanted / 8) * 8 * kMilliPerGpu}, {kOtherGpu, wanted * 4 * kMilliPerGpu}};
  state.apply(QueueAdded{queue});
  const QueueId others = add_queue(state, QueueId(), 0);
  WorkloadSubmitted besides = job(others, 1);
  besides.shape.terms.best_effort = true;
  for (std::size_t i = 0; i < 10'000; ++i) state.apply(besides);
  for (bool finished = false; !finished;) {
    const Plan plan = run_cycle(engine, Time{0}, Effort::unbounded());
    state.adopt(plan);
    finished = plan.finished;
  }
  BERTH_ASSERT(state.pending() == 0);
  state.apply(job(QueueId(0), 8, wanted));
  std::size_t evictions = 0;
  for (auto _ : bench) {
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    evictions = plan.evictions.size();
  }
  BERTH_ASSERT(evictions == static_cast<std::size_t>(wanted) * 8);
  bench.counters["evictions"] = static_cast<double>(evictions);
}
BENCHMARK_CAPTURE(take_from_10000_in_mixtures, even, 625)
    ->ArgName("nodes_wanted")
    ->Arg(8)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(take_from_10000_in_mixtures, few_of_the_second, 12)
    ->ArgName("nodes_wanted")
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

// Ten queues; one more wants room towards its share.
void take_towards_shares_among_10000_victims(benchmark::State& bench) { take_among_10000_victims(bench, {}, 10, 0); }
BENCHMARK(take_towards_shares_among_10000_victims)
    ->ArgName("nodes_wanted")
    ->Arg(1)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

// A cycle that starts one gang of 1,024 GPUs on 50,000, a third of which are in use.
void gang_of_1024_gpus(benchmark::State& bench, const Topology& topology) {
  Engine engine = fleet(6'250, true);
  State& state = engine.state;
  const QueueId queue = add_queue(state, QueueId(), 0);
  for (std::size_t i = 0; i < 2'000; ++i) state.apply(job(queue, 1 + static_cast<std::int32_t>(i % 8), 1 + i % 3));
  for (bool finished = false; !finished;) {
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    state.adopt(plan);
    finished = plan.finished;
  }
  state.apply(job(queue, 8, 128, topology));
  for (auto _ : bench) {
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    BERTH_ASSERT(plan.starts.size() == 1);
  }
}
BENCHMARK_CAPTURE(gang_of_1024_gpus, anywhere, Topology())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gang_of_1024_gpus, in_one_rack, kOneRack)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(gang_of_1024_gpus, in_racks_if_possible_by_eights,
                  Topology{
                      .together = Togetherness::kPreferred, .level = "rack", .slice_pods = 8, .slice_level = "rack"})
    ->Unit(benchmark::kMicrosecond);

// 50,000 GPUs on which 10,000 run, each with a limit; of 10,000 who wait in one line the first is a gang of 1,024 GPUs. `anew`: nobody has
// been tried yet; else all have, and one has ended since.
void easy_pass(benchmark::State& bench, bool anew) {
  Engine engine = fleet(6'250);
  State& state = engine.state;
  Queue queue{.name = "queue", .parent = {}, .order = Order::kFifo, .quota = taking_nothing()};
  state.apply(QueueAdded{queue});
  const auto submit = [&](std::int32_t gpus, std::int64_t pods, std::int64_t minutes) {
    WorkloadSubmitted submitted = job(QueueId(0), gpus, pods);
    submitted.shape.terms.run_limit = Duration{minutes * 60'000};
    state.apply(submitted);
  };
  const auto settle = [&] {
    for (bool finished = false; !finished;) {
      const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
      if (plan.changes_nothing()) return;
      state.adopt(plan);
      finished = plan.finished;
    }
  };
  for (std::int64_t i = 0; i < 10'000; ++i) submit(i % 2 == 0 ? 5 : 3, 1, 60 + i % 997);
  state.apply(job(QueueId(0), 8, 1'250));  // without one
  settle();
  BERTH_ASSERT(state.pending() == 0);
  submit(8, 128, 600);
  for (std::int64_t i = 0; i < 9'999; ++i) submit(1 + static_cast<std::int32_t>(i % 8), 1 + i % 3, 30 + i % 1'009);
  if (!anew) {
    settle();
    state.apply(WorkloadEnded{WorkloadId(17)});
  }
  std::size_t starts = 0;
  for (auto _ : bench) {
    engine.shadows_stand_at = 0;
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    starts = plan.starts.size();
  }
  bench.counters["starts"] = static_cast<double>(starts);
  bench.counters["running"] = static_cast<double>(state.running());
}
BENCHMARK_CAPTURE(easy_pass, all_are_tried, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(easy_pass, one_has_ended, false)->Unit(benchmark::kMillisecond);

// 50,000 GPUs in use, 100,000 jobs wait in 2,000 queues, and nothing has happened since they were tried.
void cycle_in_which_nothing_can_change(benchmark::State& bench) {
  Engine engine = fleet(6'250);
  State& state = engine.state;
  const std::vector<QueueId> leaves = add_tree(state);
  for (std::size_t i = 0; i < 106'250; ++i) state.apply(job(leaves[i % leaves.size()], 8));
  for (bool finished = false; !finished;) {
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    state.adopt(plan);
    finished = plan.finished;
  }
  // Once more: what is known then is known of the last plan.
  BERTH_ASSERT(run_cycle(engine, kNow, Effort::unbounded()).changes_nothing());
  for (auto _ : bench) {
    const Plan plan = run_cycle(engine, kNow, Effort::unbounded());
    BERTH_ASSERT(plan.changes_nothing());
  }
  bench.counters["pending"] = static_cast<double>(state.pending());
}
BENCHMARK(cycle_in_which_nothing_can_change)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth
