// Between two arrivals or ends, everything comes to rest (docs/semantics.md, rule 21): nobody takes for ever what another
// takes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/run_cycle.h"
#include "fairness/measure.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth {
namespace {

constexpr Dim kGpu(FlavorId(0), Resource::kGpu);
constexpr Dim kOtherGpu(FlavorId(1), Resource::kGpu);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 200;
#else
constexpr std::uint64_t kSeeds = 10'000;
#endif

AmountList random_amounts(Rng& rng, std::int64_t least) {
  AmountList amounts;
  for (const Dim dim : {kGpu, kOtherGpu}) {
    if (rng.below(2) == 0) amounts.push_back({dim, rng.between(least, 8) * kMilliPerGpu});
  }
  return amounts;
}

// Any policies at all, sums above parents and above the fleet among them.
Queue random_queue(Rng& rng, QueueId parent) {
  Queue queue{.name = "queue", .parent = parent, .order = one_of(rng, {Order::kFifo, Order::kFifoSkip})};
  Quota& quota = queue.quota;
  if (rng.below(4) != 0) quota.guarantee = random_amounts(rng, 1);
  if (rng.below(6) == 0) quota.limit = random_amounts(rng, 2);
  if (rng.below(6) == 0) quota.lending_limit = random_amounts(rng, 0);
  if (rng.below(6) == 0) quota.borrowing_limit = random_amounts(rng, 0);
  quota.weight_milli = one_of<std::int64_t>(rng, {500, 1000, 1000, 3000});
  quota.fair_reclaim = static_cast<FairReclaim>(rng.below(3));
  if (rng.below(4) == 0) quota.preempt = Preempt::kNever;
  if (rng.below(4) == 0) quota.min_runtime = Duration{rng.between(1, 3) * 1000};
  return queue;
}

WorkloadShape random_gang(Rng& rng) {
  PodRequest request{.cpu_milli = one_of<std::int64_t>(rng, {0, 0, 1'000, 8'000}),
                     .gpus = one_of(rng, {1, 1, 1, 2, 4}),
                     .gpu_milli = kMilliPerGpu};
  WorkloadShape shape;
  const std::int64_t pods = request.gpus == 4 ? 1 : rng.between(1, 3);
  for (std::int64_t ways = rng.below(4) == 0 ? 2 : 1; ways > 0; --ways) {
    request.flavors = one_of(rng, {FlavorSet::all(), FlavorSet::of(FlavorId(0)), FlavorSet::of(FlavorId(1))});
    shape.ways.push_back({{request, pods}});
  }
  shape.terms.priority = static_cast<std::int32_t>(rng.below(3));
  shape.terms.preempts = rng.below(5) != 0;
  shape.terms.guaranteed_only = rng.below(6) == 0;
  shape.terms.best_effort = rng.below(8) == 0;
  shape.terms.disruption_permille = rng.below(8) == 0 ? 500 : 0;
  if (rng.below(6) == 0) shape.terms.grace = Duration{rng.between(1, 3) * 1000};
  if (rng.below(4) == 0) shape.terms.run_limit = Duration{rng.between(1, 60) * 1000};
  return shape;
}

class Cluster {
 public:
  explicit Cluster(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, static_cast<PlacementPolicy>(rng_.below(std::size(kPlacementPolicyNames))), 2, {});
    const std::int64_t queues = rng_.between(2, 7);
    for (std::int64_t i = 0; i < queues; ++i) {
      // Half of them are tops, so that there are deep trees and flat ones.
      const bool top = i == 0 || rng_.below(2) == 0;
      const QueueId parent = top ? QueueId() : QueueId(static_cast<std::size_t>(rng_.between(0, i - 1)));
      const Queue queue = random_queue(rng_, parent);
      if (state.refusal(QueueAdded{queue})) continue;
      state.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(2, 4); left > 0; --left) {
      nodes.push_back({.name = "node",
                       .flavor = FlavorId(static_cast<std::size_t>(rng_.below(2))),
                       .gpus = one_of(rng_, {2, 4, 8}),
                       .cpu_milli = one_of<std::int64_t>(rng_, {2'000, 10'000, 64'000})});
    }
    state.apply(NodesAdded{nodes});
  }

  // Something arrives, ends, is cancelled, written down, or set anew.
  void disturb() {
    State& state = engine_.state;
    const std::uint64_t kind = rng_.below(11);
    std::vector<WorkloadId> running, alive;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
      if (workload.phase == Phase::kPending || has_room(workload.phase)) alive.push_back(id);
    });
    if (kind == 0 && !running.empty()) {
      state.apply(WorkloadEnded{any(running)});
    } else if (kind == 1 && !alive.empty()) {
      const WorkloadId id = any(alive);
      if (!state.refusal(WorkloadCancelled{id})) state.apply(WorkloadCancelled{id});
    } else if (kind == 8 && !running.empty()) {
      const WorkloadId id = any(running);
      const PodEnded ended{id, static_cast<std::uint32_t>(rng_.below(2))};
      if (!state.refusal(ended)) state.apply(ended);
    } else if (kind == 2 && !running.empty()) {
      state.apply(CheckpointReported{any(running), now_});
    } else if (kind == 3) {
      const NodeId node(static_cast<std::size_t>(rng_.below(state.nodes())));
      const Event event = rng_.below(2) == 0 ? Event(NodeDrained{node}) : Event(NodeRestored{node});
      if (!state.refusal(event)) state.apply(event);
    } else if (kind == 4) {
      change_queue();
    } else if (kind == 5 && !alive.empty()) {
      change_workload(any(alive));
    } else {
      for (std::int64_t left = rng_.between(1, 3); left > 0; --left) submit();
    }
    EXPECT_EQ(violations(state), std::vector<std::string>());
    now_ = now_ + Duration{rng_.between(0, 2000)};
  }

  // How many were evicted until nothing happens any more; -1: it did not come to rest.
  std::int64_t settle() {
    State& state = engine_.state;
    constexpr int kCyclesMax = 300;
    std::int64_t evicted = 0;
    int quiet = 0;
    for (int i = 0; i < kCyclesMax; ++i) {
      const Measure before = measure_of(state);
      const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
      evicted += static_cast<std::int64_t>(plan.evictions.size());
      state.adopt(plan);
      EXPECT_EQ(violations(state), std::vector<std::string>());
      const bool moved = !plan.evictions.empty() || !plan.starts.empty() || !plan.begins.empty();
      // Protections of a time end by themselves.
      quiet = moved ? 0 : quiet + 1;
      const bool changed = !plan.evictions.empty() || !plan.starts.empty();
      EXPECT_EQ(measure_of(state).is_below(before), changed);
      now_ = now_ + Duration{1500};
      const std::vector<WorkloadId> stopping = state.stopping();
      for (const WorkloadId id : stopping) state.apply(WorkloadStopped{id});
      if (quiet > 3 && stopping.empty()) return evicted;
    }
    return -1;
  }

  const State& state() const { return engine_.state; }

 private:
  void submit() {
    const QueueId queue(static_cast<std::size_t>(rng_.below(engine_.state.queues().size())));
    WorkloadSubmitted job = submission(queue, random_gang(rng_));
    job.at = now_;
    engine_.state.apply(job);
  }
  // Other policies, or another order; held and closed queues are soon released.
  void change_queue() {
    State& state = engine_.state;
    const QueueId queue(static_cast<std::size_t>(rng_.below(state.queues().size())));
    const Queue& before = state.queues()[queue.index()];
    QueueChanged change{queue, before};
    if (before.held || before.closed) {
      change.now.held = change.now.closed = false;
    } else if (rng_.below(3) == 0) {
      change.now.held = rng_.below(2) == 0;
      change.now.closed = !change.now.held || rng_.below(3) == 0;
    } else {
      change.now = random_queue(rng_, before.parent);
    }
    if (!state.refusal(change)) state.apply(change);
  }
  void change_workload(WorkloadId id) {
    State& state = engine_.state;
    const QueueId queue(static_cast<std::size_t>(rng_.below(state.queues().size())));
    const Event change = rng_.below(2) == 0 ? Event(WorkloadPrioritized{id, static_cast<std::int32_t>(rng_.below(3))})
                                            : Event(WorkloadMoved{id, queue});
    if (!state.refusal(change)) state.apply(change);
  }
  WorkloadId any(const std::vector<WorkloadId>& of) { return of[static_cast<std::size_t>(rng_.below(of.size()))]; }

  Rng rng_;
  Engine engine_;
  Time now_{1'000'000};
};

TEST(SettlingProperty, BetweenTwoArrivalsEverythingComesToRest) {
  std::int64_t evicted = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Cluster cluster(seed);
    for (int i = 0; i < 25; ++i) {
      cluster.disturb();
      const std::int64_t went = cluster.settle();
      ASSERT_GE(went, 0) << "step " << i;
      evicted += went;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(evicted, 200);
}

}  // namespace
}  // namespace berth
