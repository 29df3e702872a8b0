// Floors in whole domains stay deliverable, whatever happens that loses no node (docs/semantics.md, rule 28).
#include "cycle/deliverable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/if_all_gave_back.h"
#include "cycle/run_cycle.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::deliverable_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 40 : 600;
constexpr Duration kReclaimWithin{5000};

enum class Floors : std::uint8_t { kStay, kRise };

// Racks of one size, and queues whose floors are inside what these have, in GPUs and in whole domains: at all times, or from some
// moment on, and less before. Where they rise some work ends by itself.
class World {
 public:
  explicit World(Seed seed, Floors floors = Floors::kStay) : rng_(seed), floors_(floors) {
    State& state = engine_.state;
    state = new_state(seed, static_cast<PlacementPolicy>(rng_.below(std::size(kPlacementPolicyNames))), 1, {});
    racks_ = rng_.between(2, 4);
    nodes_of_rack_ = rng_.between(1, 3);
    gpus_of_node_ = one_of(rng_, {1, 2, 4});
    std::vector<Node> nodes;
    for (std::int64_t rack = 0; rack < racks_; ++rack) {
      for (std::int64_t i = 0; i < nodes_of_rack_; ++i) nodes.push_back(node_of(std::to_string(rack)));
    }
    // One that is smaller is none.
    if (nodes_of_rack_ > 1 && rng_.below(3) == 0) nodes.push_back(node_of("small"));
    std::int64_t left = racks_ * nodes_of_rack_;  // in nodes
    for (std::int64_t tops = rng_.between(2, 4); tops > 0; --tops) left -= add_queue(QueueId(), left, true);
    state.apply(NodesAdded{nodes});
    if (rng_.below(2) == 0) state.apply(RepairChosen{Duration{rng_.between(1, 20) * 1000}});
    if (floors == Floors::kRise) add_windows();
  }

  void disturb() {
    State& state = engine_.state;
    std::vector<WorkloadId> running, alive;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
      if (workload.phase == Phase::kPending || has_room(workload.phase)) alive.push_back(id);
    });
    const std::uint64_t kind = rng_.below(10);
    if (kind < 2 && !running.empty()) {
      state.apply(WorkloadEnded{state.minimum_of(any(running))});
    } else if (kind == 2 && !alive.empty()) {
      const WorkloadCancelled cancelled{any(alive)};
      if (!state.refusal(cancelled)) state.apply(cancelled);
    } else if (kind == 3 && !running.empty()) {
      state.apply(TimePassed{now_});
      const WorkloadId id = any(running);
      const PodFailed failed{id, static_cast<std::uint32_t>(rng_.below(2))};
      if (!state.refusal(failed)) state.apply(failed);
    } else {
      for (std::int64_t left = rng_.between(1, 3); left > 0; --left) submit(random_gang());
    }
  }

  void tick() {
    now_ = now_ + Duration{1000};
    pass(engine_, now_);
    EXPECT_EQ(violations(engine_.state), std::vector<std::string>());
  }

  // Nothing that is promised whole is lacking, whoever has what.
  void check_nothing_is_lacking() const {
    IfAllGaveBack then(engine_.state, FlavorId(0));
    then.give_cells();
    EXPECT_EQ(then.lacking_gpus(), 0);
  }

  // And nothing will be when floors have risen, of which there are so many times still.
  std::size_t check_nothing_will_be_lacking() const {
    const std::vector<FloorRise>& rises = engine_.state.quotas().rises();
    for (const FloorRise& rise : rises) {
      IfAllGaveBack then(engine_.state, FlavorId(0), &rise);
      then.give_cells();
      EXPECT_EQ(then.lacking_gpus(), 0) << "at " << rise.from.ms;
    }
    return rises.size();
  }

  // Each owner who has nothing running gets a whole domain of each kind that he was promised, when the graces of those who have to
  // leave it are over. How many were asked.
  int check_owners_get_theirs() const {
    int asked = 0;
    const State& state = engine_.state;
    for (std::size_t i = 0; i < state.queues().size(); ++i) {
      const QueueId queue(i);
      // What is given below a queue is not for work of its own.
      if (has_units(queue) || !state.quotas().tree().is_leaf(queue)) continue;
      const std::vector<CellsOfQueue> cells = cells_of(state, queue);
      for (const CellsOfQueue& each : cells) {
        if (floors_ == Floors::kStay) {
          EXPECT_EQ(each.promised, each.cells.count);
        }
        if (each.promised == 0) continue;
        ++asked;
        check_gets(queue, each);
      }
    }
    return asked;
  }

 private:
  Node node_of(const std::string& rack) const {
    return {.name = "node",
            .flavor = FlavorId(0),
            .gpus = static_cast<std::int32_t>(gpus_of_node_),
            .cpu_milli = 1'000'000,
            .labels = {{"rack", rack}}};
  }

  // How many nodes' worth it was promised, of so many.
  std::int64_t add_queue(QueueId parent, std::int64_t most, bool may_have_children) {
    const std::int64_t promised = rng_.between(0, most);
    Queue queue{.name = "queue" + std::to_string(engine_.state.queues().size()),
                .parent = parent,
                .order = one_of(rng_, {Order::kFifo, Order::kFifoSkip})};
    Quota& quota = queue.quota;
    quota.reclaim_within = kReclaimWithin;
    quota.fair_reclaim = static_cast<FairReclaim>(rng_.below(3));
    if (promised > 0) quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), promised * gpus_of_node_ * kMilliPerGpu}};
    const std::int64_t racks = rng_.between(0, promised / nodes_of_rack_);
    const std::int64_t left = promised - racks * nodes_of_rack_;
    const std::int64_t whole_nodes = rng_.below(2) == 0 ? rng_.between(0, left) : 0;
    if (whole_nodes > 0) quota.cells.push_back({FlavorId(0), "node", whole_nodes});
    if (racks > 0) quota.cells.push_back({FlavorId(0), "rack", racks});
    EXPECT_EQ(engine_.state.refusal(QueueAdded{queue}), std::nullopt);
    engine_.state.apply(QueueAdded{queue});
    const QueueId id(engine_.state.queues().size() - 1);
    if (may_have_children && rng_.below(3) == 0) {
      // What its children are given in racks it has in racks, too.
      std::int64_t rest = promised - whole_nodes;
      for (std::int64_t children = rng_.between(1, 2); children > 0; --children) rest -= add_queue(id, rest, false);
    }
    return promised;
  }

  // Leaves alone: what they have less is then in the pool of those above them.
  void add_windows() {
    State& state = engine_.state;
    std::size_t number = 0;
    for (std::size_t i = 0; i < state.queues().size(); ++i) {
      const AmountList& guarantee = state.queues()[i].quota.guarantee;
      if (guarantee.empty() || !state.quotas().tree().is_leaf(QueueId(i)) || rng_.below(3) == 0) continue;
      const std::int64_t nodes = guarantee.front().amount / kMilliPerGpu / gpus_of_node_;
      const Amount less{guarantee.front().dim, rng_.between(0, nodes - 1) * gpus_of_node_ * kMilliPerGpu};
      const Interval open{Time{0}, Time{rng_.between(5, 18) * 1000}};
      state.apply(WindowChanged{static_cast<std::uint32_t>(number++),
                                {.queue = QueueId(i), .guarantee = {less}, .open = {open}, .known_until = kForever}});
    }
  }

  WorkloadShape random_gang() {
    PodRequest request{.gpus = static_cast<std::int32_t>(rng_.between(1, gpus_of_node_)), .gpu_milli = kMilliPerGpu};
    if (rng_.below(8) == 0) request = {.gpus = 1, .gpu_milli = one_of(rng_, {300, 500, 700})};
    WorkloadShape shape;
    const std::int64_t pods = rng_.between(1, 3);
    const Topology topology = rng_.below(2) == 0 ? random_topology(rng_, pods) : Topology();
    shape.ways.push_back({{request, pods, NodeConstraints(), topology}});
    shape.terms.priority = static_cast<std::int32_t>(rng_.below(3));
    shape.terms.preempts = rng_.below(5) != 0;
    shape.terms.guaranteed_only = rng_.below(8) == 0;
    shape.terms.best_effort = rng_.below(8) == 0;
    shape.terms.movable = rng_.below(3) == 0;
    if (floors_ == Floors::kRise) {
      // Whom others' graces let begin later than all could know ends as much later, and is left alone (rule 7).
      if (rng_.below(2) == 0) shape.terms.run_limit = Duration{rng_.between(1, 15) * 1000};
      return shape;
    }
    shape.terms.disruption_permille = rng_.below(8) == 0 ? 500 : 0;
    if (rng_.below(4) == 0) shape.terms.grace = Duration{rng_.between(1, 20) * 1000};
    return shape;
  }

  void submit(const WorkloadShape& shape) {
    const QueueId queue(static_cast<std::size_t>(rng_.below(engine_.state.queues().size())));
    const WorkloadSubmitted submitted{.name = "w", .queue = queue, .at = now_, .shape = shape};
    ASSERT_EQ(engine_.state.refusal(submitted), std::nullopt);
    engine_.state.apply(submitted);
  }

  WorkloadId any(const std::vector<WorkloadId>& ids) { return ids[rng_.below(ids.size())]; }

  bool has_units(QueueId queue) const {
    const State& state = engine_.state;
    for (std::size_t i = 0; i < state.queues().size(); ++i) {
      if (state.is_below(QueueId(i), queue) && !state.quotas().units_in(QueueId(i)).empty()) return true;
    }
    return false;
  }

  static void pass(Engine& engine, Time now) {
    stop_who_must(engine.state, now);
    decide(engine, now);
  }
  static void stop_who_must(State& state, Time now) {
    const std::vector<WorkloadId> stopping = state.stopping();
    for (const WorkloadId id : stopping) {
      if (state.workload(id).stop_by <= now) state.apply(WorkloadStopped{id});
    }
    state.apply(TimePassed{now});
    std::vector<WorkloadId> ended;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning && state.end_of(id, workload.started) <= now) ended.push_back(id);
    });
    for (const WorkloadId id : ended) state.apply(WorkloadEnded{id});
    if (state.next_turn() <= now) state.apply(CalendarTurned{now});
    std::vector<WorkloadId> late;
    for (const auto& [id, repairing] : state.repairing()) {
      if (!repairing.lost.empty() && repairing.until <= now) late.push_back(id);
    }
    for (const WorkloadId id : late) state.apply(RepairGivenUp{id});
  }
  static void decide(Engine& engine, Time now) {
    State& state = engine.state;
    for (bool finished = false; !finished;) {
      const Plan plan = run_cycle(engine, now, Effort::unbounded());
      state.adopt(plan);
      finished = plan.finished;
    }
  }

  // Who stands before it in a line is another matter.
  static void cancel_who_waits_beside(WorkloadId one, State& state) {
    std::vector<WorkloadId> waiting;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kPending && id != one) waiting.push_back(id);
    });
    for (const WorkloadId id : waiting) state.apply(WorkloadCancelled{id});
  }

  void check_gets(QueueId queue, const CellsOfQueue& cells) const {
    Engine engine{.state = engine_.state.fork()};
    State& state = engine.state;
    WorkloadShape gang;
    const PodRequest request{.gpus = static_cast<std::int32_t>(gpus_of_node_), .gpu_milli = kMilliPerGpu};
    gang.ways = {{{request, cells.gpus / gpus_of_node_, NodeConstraints(),
                   Topology{.together = Togetherness::kRequired, .level = cells.cells.level}}}};
    const WorkloadId id = state.workloads().next_id();
    state.apply(WorkloadSubmitted{.name = "gang", .queue = queue, .at = now_, .shape = gang});
    Time now = now_;
    // Those whom others' claims have told to stop may have longer.
    for (int i = 0; i < 30 && state.workload(id).phase != Phase::kRunning; ++i) {
      now = now + Duration{1000};
      stop_who_must(state, now);
      cancel_who_waits_beside(id, state);
      decide(engine, now);
    }
    ASSERT_EQ(state.workload(id).phase, Phase::kRunning)
        << state.queues()[queue.index()].name << " was promised " << cells.cells.count << " of " << cells.cells.level
        << ", and waits with " << name_of(reason_of(state, id)) << ": " << explain(state, id).text;
    EXPECT_FALSE(state.quotas().unit(state.workload(id).unit).covered_at.is_none());
  }

  Rng rng_;
  Floors floors_;
  Engine engine_;
  std::int64_t racks_ = 0;
  std::int64_t nodes_of_rack_ = 0;
  std::int64_t gpus_of_node_ = 0;
  Time now_{0};
};

// ---- domains for cells, by trying everything -------------------------------------------------------------------------

struct Need {
  QueueId queue;
  TopologyId level;
  std::int64_t gpus = 0;
};

// Somebody of a queue, who gives way to all below another one; none: to nobody.
struct Staying {
  QueueId queue;
  QueueId within;
};

// The least that may be lacking.
class EveryWay {
 public:
  EveryWay(const State& state, std::vector<Need> needs, std::vector<std::vector<Staying>> who_stays)
      : state_(state), needs_(std::move(needs)), who_stays_(std::move(who_stays)), given_(state.nodes(), false) {}

  std::int64_t least_lacking(std::size_t from = 0) {
    if (from == needs_.size()) return 0;
    const Need& need = needs_[from];
    std::int64_t least = need.gpus + least_lacking(from + 1);
    const Domains& domains = state_.topologies().domains(need.level);
    for (std::size_t domain = 0; domain < domains.size() && least > 0; ++domain) {
      const auto nodes = domains.nodes(DomainId(domain));
      std::int64_t gpus = 0;
      bool does = true;
      for (const NodeId node : nodes) {
        gpus += state_.node(node).gpus;
        does = does && !given_[node.index()] && may_be_of(need.queue, node);
      }
      if (!does || gpus != need.gpus) continue;
      for (const NodeId node : nodes) given_[node.index()] = true;
      least = std::min(least, least_lacking(from + 1));
      for (const NodeId node : nodes) given_[node.index()] = false;
    }
    return least;
  }

 private:
  bool may_be_of(QueueId queue, NodeId node) const {
    return std::ranges::all_of(who_stays_[node.index()], [&](const Staying& each) {
      return state_.is_below(each.queue, queue) || (!each.within.is_none() && state_.is_below(queue, each.within));
    });
  }

  const State& state_;
  std::vector<Need> needs_;
  std::vector<std::vector<Staying>> who_stays_;  // by node
  std::vector<bool> given_;
};

// Who has cells has nobody below it, so that each is somebody's own.
class Fleet {
 public:
  explicit Fleet(Seed seed) : rng_(seed), state_(new_state(seed, PlacementPolicy::kBestFit, 1, {})) {
    const std::int64_t racks = rng_.between(1, 4);
    const std::int64_t nodes_of_rack = rng_.between(1, 3);
    std::vector<Node> nodes;
    for (std::int64_t rack = 0; rack < racks; ++rack) {
      const bool small = rng_.below(5) == 0;
      for (std::int64_t i = small ? 1 : 0; i < nodes_of_rack; ++i) {
        nodes.push_back({.name = "n", .flavor = FlavorId(0), .gpus = 2, .labels = {{"rack", std::to_string(rack)}}});
      }
    }
    state_.apply(NodesAdded{nodes});
    std::int64_t left = racks * nodes_of_rack * 2;
    for (int i = 0; i < 3 && left > 0; ++i) {
      const std::int64_t gpus = rng_.between(1, left);
      left -= gpus;
      const bool has_children = gpus > 1 && rng_.below(2) == 0;
      const QueueId top = add_queue(QueueId(), gpus, !has_children);
      if (!has_children) continue;
      const std::int64_t first = rng_.between(1, gpus - 1);
      add_queue(top, first, true);
      add_queue(top, rng_.between(1, gpus - first), true);
    }
  }

  const State& state() const { return state_; }
  // Somebody on most nodes, of two queues on some.
  std::vector<std::vector<Staying>> fill(IfAllGaveBack& then) {
    std::vector<std::vector<Staying>> who(state_.nodes());
    for (std::size_t node = 0; node < state_.nodes(); ++node) {
      for (int here = one_of(rng_, {0, 0, 1, 1, 2}); here > 0; --here) {
        const QueueId queue(static_cast<std::size_t>(rng_.below(state_.queues().size())));
        // Who is larger than any floor of his line is inside none.
        const std::int64_t gpu_milli = rng_.between(1, floor_of_top(queue));
        who[node].push_back({queue, then.lowest_that_may_cover(queue, gpu_milli)});
        then.add({queue, {{NodeId(node), GpuSet::from_bits(1 + rng_.below(3))}}, gpu_milli});
      }
    }
    return who;
  }
  std::vector<Need> needs(const IfAllGaveBack& then) const {
    std::vector<Need> needs;
    for (std::size_t i = 0; i < state_.queues().size(); ++i) {
      for (std::size_t at = 0; at < state_.queues()[i].quota.cells.size(); ++at) {
        const TopologyId level = state_.levels_of_cells(QueueId(i))[at];
        for (std::int64_t count = then.promised(QueueId(i), at); count > 0; --count) {
          needs.push_back({QueueId(i), level, then.size_of_domain(level)});
        }
      }
    }
    return needs;
  }

 private:
  std::int64_t floor_of_top(QueueId queue) const {
    const QuotaTree& tree = state_.quotas().tree();
    while (!tree.parent(queue).is_none()) queue = tree.parent(queue);
    return tree.floor(queue)[Dim(FlavorId(0), Resource::kGpu).index()];
  }
  QueueId add_queue(QueueId parent, std::int64_t gpus, bool may_have_cells) {
    Queue queue{.name = std::to_string(state_.queues().size()), .parent = parent, .order = Order::kFifo};
    queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), gpus * kMilliPerGpu}};
    if (may_have_cells && rng_.below(2) == 0) {
      queue.quota.cells.push_back({FlavorId(0), "node", rng_.between(1, 3)});
    }
    if (may_have_cells && rng_.below(3) > 0) {
      queue.quota.cells.push_back({FlavorId(0), "rack", rng_.between(1, 2)});
    }
    state_.apply(QueueAdded{queue});
    return QueueId(state_.queues().size() - 1);
  }

  Rng rng_;
  State state_;
};

TEST(Deliverable, AsManyDomainsAreGivenAsByTryingEverything) {
  int lacking = 0;
  for (const Seed seed : property_seeds(kFewSeeds ? 100 : 2000)) {
    SCOPED_TRACE(name_of(seed));
    Fleet fleet(seed);
    IfAllGaveBack then(fleet.state(), FlavorId(0));
    const auto who = fleet.fill(then);
    then.give_cells();
    const std::int64_t least = EveryWay(fleet.state(), fleet.needs(then), who).least_lacking();
    ASSERT_EQ(then.lacking_gpus(), least);
    lacking += least > 0 ? 1 : 0;
  }
  EXPECT_GT(lacking, kFewSeeds ? 2 : 10);
}

// A rack where a queue's own work is on one node has two more nodes that are empty: these are for others' cells, if the queue may have a
// rack that its siblings could have as well.
TEST(Deliverable, AQueueLeavesEmptyNodesToOthersThoughItsOwnWorkIsBesideThem) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
  std::vector<Node> nodes;
  for (const char* const rack : {"a", "a", "a", "b", "b", "b"}) {
    nodes.push_back({.name = "n", .flavor = FlavorId(0), .gpus = 4, .labels = {{"rack", rack}}});
  }
  state.apply(NodesAdded{nodes});
  const auto add = [&](QueueId parent, std::int64_t gpus, std::vector<FloorCells> cells) {
    Queue queue{.name = std::to_string(state.queues().size()), .parent = parent, .order = Order::kFifo};
    queue.quota.guarantee = {{Dim(FlavorId(0), Resource::kGpu), gpus * kMilliPerGpu}};
    queue.quota.cells = std::move(cells);
    state.apply(QueueAdded{queue});
    return QueueId(state.queues().size() - 1);
  };
  const QueueId top = add(QueueId(), 16, {});
  const QueueId owner = add(top, 12, {{FlavorId(0), "rack", 1}});
  const QueueId sibling = add(top, 4, {});
  add(QueueId(), 8, {{FlavorId(0), "node", 2}});
  IfAllGaveBack then(state, FlavorId(0));
  then.add({owner, {{NodeId(0), GpuSet::from_bits(7)}}, 3 * kMilliPerGpu});
  // More than its own floor has: it would give way to the owner.
  for (const int node : {3, 4}) {
    then.add({sibling, {{NodeId(static_cast<std::size_t>(node)), GpuSet::from_bits(15)}}, 8 * kMilliPerGpu});
  }
  then.give_cells();
  EXPECT_EQ(then.lacking_gpus(), 0);
}

TEST(Deliverable, WhoeverOwnsWholeDomainsAndHasNothingRunningGetsThem) {
  int asked = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    World world(seed);
    for (int step = 0; step < 20 && !testing::Test::HasFailure(); ++step) {
      world.disturb();
      world.tick();
      world.check_nothing_is_lacking();
      asked += world.check_owners_get_theirs();
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(asked, kFewSeeds ? 50 : 1000);
}

TEST(Deliverable, WhatFloorsPromiseWhenTheyRiseIsLeftWholeBeforeThat) {
  std::size_t rises = 0;
  int asked = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    World world(seed, Floors::kRise);
    for (int step = 0; step < 25 && !testing::Test::HasFailure(); ++step) {
      world.disturb();
      world.tick();
      world.check_nothing_is_lacking();
      rises += world.check_nothing_will_be_lacking();
      asked += world.check_owners_get_theirs();
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(rises, kFewSeeds ? 50u : 1000u);
  EXPECT_GT(asked, kFewSeeds ? 50 : 1000);
}

}  // namespace berth::deliverable_test
