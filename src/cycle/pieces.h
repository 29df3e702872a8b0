// For tests of moves: a small fleet on which work was put wherever there was room, and which is in pieces since.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "cycle/moving.h"
#include "cycle/run_cycle.h"
#include "placement/place.h"
#include "state/random_world.h"

namespace berth {

inline constexpr Time kStart{1000};
inline constexpr Time kNow{601'000};

inline WorkloadShape pods_of(std::int32_t gpus, std::int64_t pods = 1) {
  PodRequest request{.gpus = gpus, .gpu_milli = kMilliPerGpu};
  request.flavors = FlavorSet::of(FlavorId(0));
  return {.ways = {{{request, pods}}}};
}

// Of which some has ended since; whoever has not found room waits no more.
class Pieces {
 public:
  explicit Pieces(Seed seed, std::int64_t nodes_max = 4) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, PlacementPolicy::kRandom, 1, {Order::kFifoSkip});
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(2, nodes_max); left > 0; --left) {
      nodes.push_back({.name = std::to_string(left), .flavor = FlavorId(0), .gpus = one_of(rng_, {4, 8})});
    }
    state.apply(NodesAdded{nodes});
    for (std::int64_t left = rng_.between(2, 4 * nodes_max); left > 0; --left) submit_some();
    run(kStart);
    std::vector<WorkloadId> running = all_running();
    for (const WorkloadId id : running) {
      if (rng_.below(3) == 0) state.apply(WorkloadEnded{id});
    }
    // Nobody else waits.
    std::vector<WorkloadId> waiting;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kPending) waiting.push_back(id);
    });
    for (const WorkloadId id : waiting) state.apply(WorkloadCancelled{id});
  }

  Engine& engine() { return engine_; }
  State& state() { return engine_.state; }
  Rng& rng() { return rng_; }

  WorkloadId submit(const WorkloadShape& shape) {
    const WorkloadId id = state().workloads().next_id();
    WorkloadSubmitted job = submission(QueueId(0), shape);
    job.at = kNow;
    state().apply(job);
    return id;
  }

  std::vector<WorkloadId> all_running() {
    std::vector<WorkloadId> running;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
    });
    return running;
  }

  // Whether the claimant fits when this one has gone, and this one beside him.
  bool does(WorkloadId mover, WorkloadId claimant) {
    State& state = engine_.state;
    if (!may_be_moved(state, mover, kNow)) return false;
    Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
    for_each_pod(state, mover, [&](const Pod& pod) {
      trial.apply(move_of(state.request(pod.request), pod.place(), Move::Direction::kGive));
    });
    Rng rng(state.seed());
    return std::holds_alternative<Start>(place_in_way(state, trial, engine_.index, claimant, 0, rng)) &&
           std::holds_alternative<Start>(place_in_way(state, trial, engine_.index, mover, 0, rng));
  }

 private:
  void submit_some() {
    const std::int32_t gpus = one_of(rng_, {1, 1, 2, 4});
    WorkloadShape shape = pods_of(gpus, rng_.below(4) == 0 ? 2 : 1);
    shape.terms.movable = rng_.below(2) == 0;
    submit(shape);
  }
  void run(Time now) {
    const Plan plan = run_cycle(engine_, now, Effort::unbounded());
    engine_.state.adopt(plan);
  }

  Rng rng_;
  Engine engine_;
};

}  // namespace berth
