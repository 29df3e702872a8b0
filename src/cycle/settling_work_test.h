// Queues and work of the worlds that come to rest. For tests only.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "model/queue.h"
#include "model/workload.h"
#include "state/random_world.h"

namespace berth {

// Any policies at all, sums above parents and above the fleet among them.
inline Queue random_queue(Rng& rng, QueueId parent) {
  Queue queue{.name = "queue", .parent = parent, .order = one_of(rng, {Order::kFifo, Order::kFifoSkip})};
  Quota& quota = queue.quota;
  if (rng.below(4) != 0) quota.guarantee = random_amounts(rng, 1);
  if (rng.below(6) == 0) quota.limit = random_bounds(rng, 2);
  if (rng.below(6) == 0) quota.lending_limit = random_amounts(rng, 0, false);
  if (rng.below(6) == 0) quota.borrowing_limit = random_bounds(rng, 0);
  if (rng.below(6) == 0) quota.user_limit = random_bounds(rng, 2);
  if (rng.below(4) == 0) quota.users = UserOrder::kFair;
  if (rng.below(4) == 0) quota.half_life = Duration{60'000};
  quota.weight_milli = one_of<std::int64_t>(rng, {500, 1000, 1000, 3000});
  quota.fair_reclaim = static_cast<FairReclaim>(rng.below(3));
  if (rng.below(4) == 0) quota.preempt = Preempt::kNever;
  if (rng.below(6) == 0) quota.budget_gpu_us = rng.between(0, 100) * 10'000'000 * kMilliPerGpu;
  if (rng.below(2) == 0) quota.budget_end = BudgetEnd::kBestEffort;
  if (rng.below(4) == 0) quota.min_runtime = Duration{rng.between(1, 3) * 1000};
  if (rng.below(2) == 0) quota.cooldown = Duration{rng.between(1, 12) * 1000};
  if (rng.below(8) == 0) quota.idle_after = Duration{5000};
  if (rng.below(4) == 0) quota.dedicated = random_dedicated(rng);
  return queue;
}

inline WorkloadShape random_gang(Rng& rng) {
  PodRequest request{.cpu_milli = one_of<std::int64_t>(rng, {0, 0, 1'000, 8'000}),
                     .gpus = one_of(rng, {1, 1, 1, 2, 4}),
                     .gpu_milli = kMilliPerGpu};
  WorkloadShape shape;
  const std::int64_t pods = request.gpus == 4 ? 1 : rng.between(1, 3);
  const NodeConstraints constraints = rng.below(3) == 0 ? random_constraints(rng) : NodeConstraints();
  const Topology topology = rng.below(3) == 0 ? random_topology(rng, pods) : Topology();
  const bool share = rng.below(10) == 0;
  const bool vgpu = !share && rng.below(10) == 0;
  const char* const alone = rng.below(8) == 0 ? one_of(rng, {"node", "rack", "zone"}) : nullptr;
  for (std::int64_t ways = rng.below(4) == 0 ? 2 : 1; ways > 0; --ways) {
    request.flavors = one_of(rng, {FlavorSet::all(), FlavorSet::of(FlavorId(0)), FlavorSet::of(FlavorId(1))});
    if (rng.below(8) == 0) make_slice(request, rng, 2);
    if (share && !request.is_slice()) make_share(request, rng);
    if (vgpu && !request.is_slice()) make_vgpu(request, rng, 2);
    shape.ways.push_back({{request, pods, constraints, topology}});
    if (alone != nullptr) shape.ways.back().back().exclusive_level = alone;
    if (request.sharing != Sharing::kExclusive) break;
  }
  shape.terms.priority = static_cast<std::int32_t>(rng.below(3));
  shape.terms.preempts = rng.below(5) != 0;
  shape.terms.guaranteed_only = rng.below(6) == 0;
  shape.terms.best_effort = rng.below(8) == 0;
  shape.terms.disruption_permille = rng.below(8) == 0 ? 500 : 0;
  if (rng.below(6) == 0) shape.terms.grace = Duration{rng.between(1, 3) * 1000};
  if (rng.below(3) == 0) shape.terms.run_limit = Duration{rng.between(1, 30) * 10'000'000};
  shape.terms.latency_critical = !share && !vgpu && rng.below(10) == 0;  // else it is impossible
  if (shape.terms.best_effort) offer_extra(shape);
  add_replica_ways(shape);
  return shape;
}

// Queues that share what a few racks have, and work that is in one of these.
inline Queue queue_in_racks(Rng& rng, QueueId parent) {
  Queue queue{.name = "queue", .parent = parent, .order = one_of(rng, {Order::kFifo, Order::kFifoSkip})};
  const Dim gpus(FlavorId(0), Resource::kGpu);
  if (rng.below(3) == 0) queue.quota.guarantee = {{gpus, rng.between(1, 4) * kMilliPerGpu}};
  queue.quota.weight_milli = one_of<std::int64_t>(rng, {1000, 1000, 2000});
  if (rng.below(3) == 0) queue.quota.fair_reclaim = FairReclaim::kFinalShare;
  if (rng.below(4) == 0) queue.quota.preempt = Preempt::kNever;
  return queue;
}

inline WorkloadShape gang_in_racks(Rng& rng) {
  PodRequest request{.gpus = one_of(rng, {1, 2}), .gpu_milli = kMilliPerGpu};
  request.flavors = FlavorSet::of(FlavorId(0));
  NodeConstraints constraints;
  Topology topology;
  if (rng.below(2) == 0) {
    topology.together = Togetherness::kRequired;
    topology.level = "rack";
  } else if (rng.below(2) == 0) {
    constraints.select = {{"rack", LabelOperator::kIn, {one_of(rng, {"1", "2"})}}};
  }
  WorkloadShape shape{.ways = {{{request, rng.between(1, 2), constraints, topology}}}};
  shape.terms.priority = static_cast<std::int32_t>(rng.below(2));
  if (rng.below(6) == 0) shape.terms.grace = Duration{2000};
  return shape;
}

// Nobody who is told to stop does so before he must, and what others may do against that is set to a time of its own.
inline void make_hostile(Rng& rng, Quota& quota) {
  quota.reclaim_within = Duration{rng.between(0, 5) * 1000};
  quota.patience = Duration{rng.between(0, 3) * 1000};
}
inline void make_hostile(Rng& rng, Terms& terms) {
  if (rng.below(2) == 0) terms.grace = Duration{1'000'000};
  if (rng.below(3) == 0) terms.disruption_permille = 1000;
  if (rng.below(3) == 0) terms.run_limit = Duration{rng.between(1, 6) * 1000};
}

}  // namespace berth
