#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "cycle/run_cycle.h"
#include "state/invariants.h"
#include "state/plain_exclusive.h"
#include "state/random_world.h"

namespace berth::exclusive_test {

// A few small nodes in racks and zones, and work of which much is to be alone: gangs with topologies, elastic work, work that
// takes from others, is moved, is repaired.
class World {
 public:
  explicit World(Seed seed) : rng_(seed) {
    engine_.state = new_state(seed, PlacementPolicy::kBestFit, 1, {});
    has_queues_ = seed.value % 2 == 0;
    has_floors_ = seed.value % 4 == 0;
    for (std::int64_t left = has_queues_ ? 3 : 1; left > 0; --left) {
      Queue queue{.name = "queue" + std::to_string(left),
                  .parent = {},
                  .order = has_floors_ ? one_of(rng_, {Order::kFifo, Order::kFifoSkip}) : Order::kFifoSkip};
      if (has_floors_ && rng_.below(3) > 0) {
        queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), rng_.between(1, 6) * kMilliPerGpu}};
      }
      state().apply(QueueAdded{queue});
    }
    if (has_queues_ && rng_.below(2) == 0) keep_strangers_away();
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(2, 7); left > 0; --left) {
      nodes.push_back({.name = "node",
                       .flavor = FlavorId(0),
                       .gpus = one_of(rng_, {1, 2, 4}),
                       .cpu_milli = 64'000,
                       .memory_bytes = std::int64_t{64} << 30});
      nodes.back().labels = random_labels(rng_);
    }
    state().apply(NodesAdded{nodes});
    state().apply(RepairChosen{Duration{2000}});
  }

  State& state() { return engine_.state; }
  bool has_floors() const { return has_floors_; }

  // Two of the three queues trust each other; and one of them, or all, keep strangers out of their nodes, or racks.
  void keep_strangers_away() {
    TrustChanged event{{{.queues = {QueueId(0), QueueId(1)}}}, Time{}, true};
    const auto at = static_cast<std::size_t>(Sharing::kExclusive);
    Circle apart;
    if (rng_.below(2) == 0) apart.queues = {QueueId(static_cast<std::size_t>(rng_.below(3)))};
    apart.apart[at] = one_of<std::string>(rng_, {"node", "rack", "zone"});
    event.circles.push_back(std::move(apart));
    state().apply(event);
  }

  void step() {
    now_ = now_ + Duration{rng_.between(0, 1000)};
    state().apply(TimePassed{now_});
    const NodeId node(static_cast<std::size_t>(rng_.below(state().nodes())));
    const std::uint64_t what = rng_.below(10);
    Event event = submission(QueueId(static_cast<std::size_t>(rng_.below(state().queues().size()))), random_shape());
    if (what < 3) {
      const WorkloadId running = one_of_those([](Phase phase) { return phase == Phase::kRunning; });
      if (running.is_none()) return;
      event = what < 2 ? Event(WorkloadEnded{state().minimum_of(running)})
                       : Event(PodFailed{running, static_cast<std::uint32_t>(rng_.below(3))});
    } else if (what == 3) {
      event = rng_.below(2) == 0 ? Event(NodeFailed{node}) : Event(NodeRestored{node});
    } else if (what == 4) {
      event = rng_.below(2) == 0 ? Event(NodeDrained{node}) : Event(NodeRestored{node});
    }
    if (state().refusal(event)) return;
    const WorkloadId id = state().workloads().next_id();
    state().apply(event);
    if (what > 4) grow(id, std::get<WorkloadSubmitted>(event));
  }

  void settle() {
    for (int i = 0; i < 60; ++i) {
      const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
      state().adopt(plan);
      EXPECT_EQ(who_share_exclusive_domains(state()), std::vector<std::string>());
      now_ = now_ + Duration{500};
      state().apply(TimePassed{now_});
      const std::vector<WorkloadId> stopping = state().stopping();
      for (const WorkloadId id : stopping) state().apply(WorkloadStopped{id});
      if (plan.finished && plan.changes_nothing() && stopping.empty()) return;
    }
  }

 private:
  WorkloadShape random_shape() {
    WorkloadShape shape{{{}}};
    for (std::int64_t left = rng_.below(5) == 0 ? 2 : 1; left > 0; --left) {
      PodSet set{{.cpu_milli = rng_.between(0, 2)}, rng_.below(3) == 0 ? rng_.between(2, 3) : 1};
      set.request.gpus = one_of(rng_, {0, 1, 1, 1, 2, 4});
      set.request.gpu_milli = set.request.gpus > 0 ? kMilliPerGpu : 0;
      if (set.request.gpus == 1 && rng_.below(4) == 0) set.request.gpu_milli = 500;
      if (rng_.below(3) == 0) set.topology = random_topology(rng_, set.count);
      if (set.request.gpus > 0 && rng_.below(3) == 0) {
        set.exclusive_level = one_of<std::string>(rng_, {"node", "rack", "rack", "zone"});
        if (rng_.below(3) == 0) set.exclusive_part = one_of<std::string>(rng_, {"a", "b"});
      }
      shape.ways.front().push_back(std::move(set));
    }
    Terms& terms = shape.terms;
    terms.priority = static_cast<std::int32_t>(rng_.below(2));
    terms.best_effort = rng_.below(8) == 0;
    terms.movable = rng_.below(4) == 0;
    if (rng_.below(4) == 0) terms.grace = Duration{1000};
    if (rng_.below(2) == 0) terms.run_limit = Duration{rng_.between(1, 100) * 1000};
    return shape;
  }

  void grow(WorkloadId id, const WorkloadSubmitted& fact) {
    const PodSet& set = fact.shape.ways.front().front();
    if (rng_.below(4) > 0 || fact.shape.ways.front().size() > 1 || set.topology.has_slices()) return;
    WorkloadSubmitted step = fact;
    step.step_of = id;
    step.shape.ways.front().front().count = 1;
    for (std::int64_t left = rng_.between(1, 3); left > 0; --left) {
      if (!state().refusal(step)) state().apply(step);
    }
  }

  template <class Is>
  WorkloadId one_of_those(Is is) {
    std::vector<WorkloadId> found;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (is(workload.phase)) found.push_back(id);
    });
    return found.empty() ? WorkloadId() : found[static_cast<std::size_t>(rng_.below(found.size()))];
  }

  Rng rng_;
  Engine engine_;
  Time now_{1000};
  bool has_queues_ = false;
  bool has_floors_ = false;
};

// Whether two pods with GPUs of these queues are too near to each other, for one of the two keeps strangers away.
template <class Together>
bool are_strangers_too_near(const State& state, QueueId queue, NodeId node, QueueId other, NodeId at,
                            Together together) {
  const std::vector<Circle>& circles = state.ledger().trust().circles();
  if (queue == other) return false;
  bool trusted = false;
  bool near = false;
  for (const auto& [queues, apart] : circles) {
    const bool has_one = queues.empty() || std::ranges::count(queues, queue) > 0;
    const bool has_other = queues.empty() || std::ranges::count(queues, other) > 0;
    trusted = trusted || (!queues.empty() && has_one && has_other);
    const std::string& level = apart[static_cast<std::size_t>(Sharing::kExclusive)];
    near = near || ((has_one || has_other) && !level.empty() && (node == at || together(level, node, at)));
  }
  return near && !trusted;
}

// Of one pod with GPUs: a node that is open, has what it asks, and is in no domain of others, nor, if it is to be alone, with others.
bool might_run(const State& state, WorkloadId id) {
  const PodRequest& request = state.request(state.shape(state.workload(id).shape).ways.front().front().request);
  const ExclusiveDomains& exclusives = state.ledger().exclusives();
  const std::string level = exclusives.is_exclusive(request.exclusive) ? exclusives[request.exclusive].level : "";
  const auto together = [&](const std::string& at, NodeId a, NodeId b) {
    if (at == kNodeLevel) return a == b;
    const std::string* const one = find_label(state.node(a).labels, at);
    const std::string* const other = find_label(state.node(b).labels, at);
    return one != nullptr && other != nullptr && *one == *other;
  };
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const NodeId node(i);
    const NodeFree& free = state.ledger().node(node);
    const bool has_level = level.empty() || together(level, node, node);
    bool fits = free.open && has_level && free.cpu_milli >= request.cpu_milli &&
                (request.gpu_milli == kMilliPerGpu ? free.whole_gpus >= request.gpus
                                                   : free.largest_gpu_milli >= request.gpu_milli);
    state.workloads().for_each([&](WorkloadId other, const Workload& workload) {
      if (!has_room(workload.phase)) return;
      for_each_pod(state, other, [&](const Pod& pod) {
        const PodRequest& there = state.request(pod.request);
        if (there.gpus == 0) return;
        const bool minds = exclusives.is_exclusive(there.exclusive);
        if (minds && together(exclusives[there.exclusive].level, pod.node, node)) fits = false;
        if (!level.empty() && together(level, pod.node, node)) fits = false;
        if (are_strangers_too_near(state, state.workload(id).queue, node, workload.queue, pod.node, together))
          fits = false;
      });
    });
    if (fits) return true;
  }
  return false;
}

bool is_one_pod_with_gpus(const State& state, const Workload& workload) {
  const Shape& shape = state.shape(workload.shape);
  const NumberedPodSet& set = shape.ways.front().front();
  const Topology& topology = state.topologies()[set.topology];
  const bool anywhere = topology.together != Togetherness::kRequired && !topology.has_slices() && !topology.is_spread();
  return shape.pods == 1 && anywhere && state.request(set.request).gpus > 0 && workload.step_of.is_none();
}

bool asks_a_part(const State& state, const Workload& workload) {
  return state.request(state.shape(workload.shape).ways.front().front().request).is_fraction();
}

// A leader and its workers are one part, though they ask for different amounts: one rack is enough for them.
TEST(Exclusive, SeveralPodSetsMayBeOnePart) {
  for (const bool same : {true, false}) {
    Engine engine;
    engine.state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
    State& state = engine.state;
    state.apply(QueueAdded{{.name = "queue", .parent = {}, .order = Order::kFifo}});
    Node node{
        .name = "node", .flavor = FlavorId(0), .gpus = 4, .cpu_milli = 64'000, .memory_bytes = std::int64_t{64} << 30};
    node.labels = {{"rack", "r1"}};
    state.apply(NodesAdded{{node}});
    WorkloadShape shape{{{}}};
    for (const int gpus : {1, 2}) {
      PodSet set{{.cpu_milli = 1000}, 1};
      set.request.gpus = gpus;
      set.request.gpu_milli = kMilliPerGpu;
      set.topology = {.together = Togetherness::kRequired, .level = "rack"};
      set.exclusive_level = "rack";
      set.exclusive_part = same || gpus == 1 ? "a" : "b";
      shape.ways.front().push_back(std::move(set));
    }
    state.apply(submission(QueueId(0), shape));
    EXPECT_EQ(reason_never_of(state, WorkloadId(0)), same ? ReasonCode::kNone : ReasonCode::kAffinity);
    const Plan plan = run_cycle(engine, Time{1}, Effort::unbounded());
    EXPECT_EQ(plan.starts.size(), same ? 1u : 0u);
  }
}

TEST(ExclusiveProperty, NobodyIsInAnothersDomainAndNobodyWaitsWhoMightRun) {
  std::int64_t waiting = 0;
  std::int64_t by_reason = 0;
  std::int64_t alone = 0;
  std::int64_t taken = 0;
  std::int64_t afar = 0;
  for (const Seed seed : property_seeds(kFewSeeds ? 100 : 1500)) {
    SCOPED_TRACE(name_of(seed));
    World made(seed);
    for (std::int64_t steps = 0; steps < 25; ++steps) {
      made.step();
      made.settle();
      const State& state = made.state();
      ASSERT_EQ(violations(state), std::vector<std::string>());
      state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
        alone += workload.phase == Phase::kRunning && made.state().shape(workload.shape).ways.size() == 1 ? 1 : 0;
        taken += workload.evicted_by == EvictionRule::kReclaim || workload.evicted_by == EvictionRule::kPreempt ? 1 : 0;
        if (workload.phase != Phase::kPending || state.is_kept_aside(id)) return;
        const ReasonCode code = reason_of(state, id);
        EXPECT_NE(code, ReasonCode::kNone);
        by_reason += code == ReasonCode::kAffinity ? 1 : 0;
        afar += code == ReasonCode::kTrust ? 1 : 0;
        EXPECT_FALSE(explain(state, id).text.empty()) << name_of(code);
        // Where floors and shares may be in the way, too, or strangers on one GPU, nobody can say it so easily.
        if (made.has_floors() || (state.queues().size() > 1 && asks_a_part(state, workload)) ||
            !is_one_pod_with_gpus(state, workload))
          return;
        ++waiting;
        EXPECT_FALSE(might_run(state, id)) << "workload " << id.index() << " " << name_of(code);
      });
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(waiting, 100);
  EXPECT_GT(by_reason, 100);
  EXPECT_GT(alone, 100);
  EXPECT_GT(taken, 100);
  EXPECT_GT(afar, kFewSeeds ? 10 : 100);
}

}  // namespace berth::exclusive_test
