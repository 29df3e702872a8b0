#include "cycle/run_cycle.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "placement/place.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::run_cycle_test {

constexpr std::size_t kFlavors = 2;
constexpr Time kNow{5};

// What happens to one cluster in the course of one seed.
class History {
 public:
  explicit History(Seed seed) : rng_(seed) {
    apply(RunConfigured{seed, static_cast<PlacementPolicy>(rng_.below(std::size(kPlacementPolicyNames)))});
    for (std::size_t i = 0; i < kFlavors; ++i) apply(FlavorAdded{random_world_flavor(FlavorId(i))});
    for (int i = 0; i < 2; ++i) apply(QueueAdded{{"queue", QueueId(), static_cast<Order>(rng_.below(3))}});
    apply(QueueAdded{{"queue/child", QueueId(1), {}}});
    apply(TypicalPodsChosen{random_typical_pods(rng_, kFlavors)});
    apply(NodesAdded{random_nodes(rng_, kFlavors, 1, 6)});
    if (seed.value % 2 == 0) apply(RepairChosen{Duration{1000}});
    // Few shapes, so that many workloads have the same.
    for (int i = 0; i < 8; ++i) shapes_.push_back(random_shape(rng_, kFlavors));
  }

  Engine& engine() { return engine_; }
  State& state() { return engine_.state; }

  void step() {
    if (rng_.below(3) == 0) {
      cycle(rng_.below(2) == 0 ? Effort::unbounded() : Effort{rng_.between(1, 3)});
    } else {
      apply(random_event());
    }
  }

  Plan cycle(Effort effort) {
    const std::uint64_t hash = state().hash();
    const Ledger ledger = state().ledger();
    Plan plan = run_cycle(engine_, kNow, effort);
    EXPECT_EQ(state().hash(), hash) << "a cycle only wishes";
    EXPECT_TRUE(state().ledger().same_as(ledger));
    EXPECT_LE(plan.attempts, effort.attempts_max);
    // Of whom it is found that he would have no place if nobody else ran, those behind him are looked at in the next.
    const bool some_are_kept_out =
        std::ranges::any_of(plan.blocked, [](const Blocked& each) { return each.missing == kMissingForever; });
    EXPECT_TRUE(plan.finished || plan.attempts == effort.attempts_max || !plan.evictions.empty() ||
                !plan.migrations.empty() || some_are_kept_out);
    state().adopt(plan);
    if (!plan.starts.empty() || !plan.repairs.empty() || !plan.migrations.empty()) note_less_room();
    for (const Start& start : plan.starts) expect_no_spares(start);
    for (const Migration& migration : plan.migrations) {
      for (const PodPlacement& pod : migration.start.pods) EXPECT_FALSE(state().node(pod.node).spare);
    }
    for (const Blocked& blocked : plan.blocked)
      less_room_since_refusal_[{blocked.line, blocked.shape}] = !plan.starts.empty();
    return plan;
  }

  void settle() {
    for (bool finished = false; !finished;) finished = cycle(Effort{rng_.between(1, 50)}).finished;
  }

  // Several pod sets crowd each other out by where they happen to go. So less room elsewhere after a refusal, or another
  // draw of the random policy, can make them fit: that is luck and no reason to try again.
  bool may_have_luck(QueueId line, ShapeId shape) const {
    if (engine_.state.shape(shape).ways.front().size() == 1) return false;
    const auto known = less_room_since_refusal_.find({line, shape});
    return engine_.state.policy() == PlacementPolicy::kRandom ||
           (known != less_room_since_refusal_.end() && known->second);
  }

 private:
  void apply(const Event& event) {
    ASSERT_EQ(state().refusal(event), std::nullopt);
    if (std::holds_alternative<NodeDrained>(event) || std::holds_alternative<NodeFailed>(event) ||
        std::holds_alternative<NodeRelabelled>(event) || std::holds_alternative<QueueChanged>(event)) {
      note_less_room();
    }
    // What is scarce goes by what there is: with other nodes pods go elsewhere.
    if (std::holds_alternative<NodesAdded>(event) && state().policy() == PlacementPolicy::kFgdBalanced) {
      note_less_room();
    }
    state().apply(event);
  }

  void expect_no_spares(const Start& start) {
    if (state().shape(state().workload(start.workload).shape).terms.replaces) return;
    for (const PodPlacement& pod : start.pods) EXPECT_FALSE(state().node(pod.node).spare);
  }

  void note_less_room() {
    for (auto& [where, less] : less_room_since_refusal_) less = true;
  }

  NodeId any_node() { return NodeId(static_cast<std::size_t>(rng_.below(state().nodes()))); }

  Event random_event() {
    switch (rng_.below(14)) {
      case 0:
        return NodeDrained{any_node()};
      case 1:
        return NodeFailed{any_node()};
      case 2:
      case 3:
        return NodeRestored{any_node()};
      case 4:
        if (state().nodes() < 20) return NodesAdded{random_nodes(rng_, kFlavors, 1, 3)};
        break;
      case 5:
        return cancel_or_end(true);
      case 6:
      case 7:
      case 8:
        return cancel_or_end(false);
      case 9:
        return NodeRelabelled{any_node(), random_labels(rng_), random_taints(rng_), rng_.below(8) == 0};
      case 10: {
        QueueChanged change{QueueId(static_cast<std::size_t>(rng_.below(3))), {}};
        change.now = state().queues()[change.queue.index()];
        change.now.quota.dedicated = random_dedicated(rng_);
        return change;
      }
      case 11:
        if (const auto failed = some_pod_failed()) return *failed;
        break;
      default:
        break;
    }
    const QueueId queue(static_cast<std::size_t>(rng_.below(3)));
    const Duration run{rng_.between(-1, 3)};
    return submission(queue, shapes_[static_cast<std::size_t>(rng_.below(shapes_.size()))], run);
  }

  // Of a gang that is given up, too.
  std::optional<Event> some_pod_failed() {
    const Event ended = cancel_or_end(false);
    const auto* const workload = std::get_if<WorkloadEnded>(&ended);
    if (workload == nullptr) return std::nullopt;
    const RepairGivenUp given_up{workload->workload};
    if (rng_.below(3) == 0 && !state().refusal(given_up)) return given_up;
    const auto pod = static_cast<std::uint32_t>(rng_.below(4));
    const Event failed = rng_.below(3) == 0 ? Event(PodsEvicted{workload->workload, {pod}, state().clock()})
                                            : Event(PodFailed{workload->workload, pod});
    return state().refusal(failed) ? std::nullopt : std::optional<Event>(failed);
  }

  Event cancel_or_end(bool pending_too) {
    std::vector<WorkloadId> alive;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning || (pending_too && workload.phase == Phase::kPending)) alive.push_back(id);
    });
    if (alive.empty()) return NodeRestored{any_node()};
    const WorkloadId id = alive[static_cast<std::size_t>(rng_.below(alive.size()))];
    if (pending_too) return WorkloadCancelled{id};
    return WorkloadEnded{id};
  }

  Rng rng_;
  Engine engine_;
  std::vector<WorkloadShape> shapes_;
  std::map<std::pair<QueueId, ShapeId>, bool> less_room_since_refusal_;
};

constexpr int kSteps = 60;

bool fits_now(State& state, WorkloadId workload) {
  if (shares_against_its_terms(state, state.shape(state.workload(workload).shape))) return false;
  Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
  ScoreIndex fresh;
  const Rng rng(state.seed(), workload.value());
  return std::holds_alternative<Start>(place_workload(state, trial, fresh, workload, rng));
}

std::vector<WorkloadId> pending(const State& state) {
  std::vector<WorkloadId> ids;
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase == Phase::kPending) ids.push_back(id);
  });
  return ids;
}

TEST(RunCycleProperty, NoHistoryBreaksAnInvariant) {
  for (const Seed seed : property_seeds(1000)) {
    SCOPED_TRACE(name_of(seed));
    History history(seed);
    for (int step = 0; step < kSteps; ++step) {
      history.step();
      ASSERT_EQ(violations(history.state()), std::vector<std::string>()) << "after step " << step;
      if (HasFailure()) return;
    }
  }
}

TEST(RunCycleProperty, TheSameHistoryGivesTheSameHash) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    History first(seed);
    History second(seed);
    for (int step = 0; step < kSteps; ++step) {
      first.step();
      second.step();
      ASSERT_EQ(first.state().hash(), second.state().hash()) << "after step " << step;
    }
  }
}

// The index remembers; what it remembers decides nothing.
TEST(RunCycleProperty, AForkWithoutAnIndexDecidesAsTheOriginalAndLeavesItAlone) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    History history(seed);
    for (int step = 0; step < kSteps; ++step) {
      history.step();
      if (step % 6 != 0) continue;
      const std::uint64_t before = history.state().hash();
      Engine fork{history.state().fork()};
      const Plan plan = run_cycle(fork, kNow, Effort::unbounded());
      ASSERT_EQ(plan, run_cycle(history.engine(), kNow, Effort::unbounded()));
      fork.state.adopt(plan);
      fork.state.apply(NodeFailed{NodeId(0)});
      ASSERT_EQ(violations(fork.state), std::vector<std::string>());
      ASSERT_EQ(history.state().hash(), before);
      ASSERT_EQ(violations(history.state()), std::vector<std::string>());
    }
  }
}

// Whoever is left waiting does not fit, stands behind somebody, or never will: nobody sleeps through his chance.
TEST(RunCycleProperty, NobodyWaitsWhoFits) {
  int looked_at = 0;
  for (const Seed seed : property_seeds(4000)) {
    SCOPED_TRACE(name_of(seed));
    History history(seed);
    for (int step = 0; step < kSteps; ++step) {
      history.step();
      if (step % 5 != 0) continue;
      history.settle();
      State& state = history.state();
      std::set<std::pair<QueueId, ShapeId>> known;
      for (const WorkloadId id : pending(state)) {
        const ReasonCode code = reason_of(state, id);
        ASSERT_NE(code, ReasonCode::kNone) << "workload " << id.value() << " waits and was not tried";
        const ShapeId shape = state.workload(id).shape;
        const QueueId line = state.line_of(state.workload(id).queue);
        if (code == ReasonCode::kBackOff || code == ReasonCode::kBehind || is_impossible(code)) continue;
        if (!known.insert({line, shape}).second) continue;
        if (history.may_have_luck(line, shape)) continue;
        ++looked_at;
        ASSERT_FALSE(fits_now(state, id)) << "workload " << id.value() << " fits and waits, after step " << step;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(looked_at, 0);
}

// An idle fleet: everything ended or has stopped, every node open, spares too, everybody else cancelled.
State idle(const State& state) {
  State idle_state = state.fork();
  const std::vector<WorkloadId> stopping = state.stopping();
  for (const WorkloadId id : stopping) idle_state.apply(WorkloadStopped{id});
  state.workloads().for_each([&](WorkloadId id, const Workload&) {
    if (has_room(idle_state.workload(id).phase)) idle_state.apply(WorkloadEnded{id});
  });
  for (std::size_t at = 0; at < state.nodes(); ++at) {
    const Node node = state.node(NodeId(at));
    idle_state.apply(NodeRestored{NodeId(at)});
    idle_state.apply(NodeRelabelled{NodeId(at), node.labels, node.taints, false});
  }
  return idle_state;
}

TEST(ReasonNeverProperty, IsSaidExactlyOfThoseWhomTheIdleFleetCannotHold) {
  std::map<ReasonCode, int> said;
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    History history(seed);
    for (int step = 0; step < kSteps; ++step) history.step();
    State fleet = idle(history.state());
    for (const WorkloadId id : pending(fleet)) {
      const Shape& shape = fleet.shape(fleet.workload(id).shape);
      const ReasonCode never = reason_never(fleet, shape);
      const bool fits = fits_now(fleet, id);
      ++said[never];
      ASSERT_TRUE(never == ReasonCode::kNone || !fits) << "workload " << id.value();
      // What is to be spread evenly may fit once some of the domains do not count any more.
      const bool may_become_even = std::ranges::any_of(shape.ways.front(), [&](const NumberedPodSet& set) {
        return fleet.topologies()[set.topology].spread == Spreading::kEven;
      });
      const bool exactly = shape.ways.front().size() == 1 && !may_become_even;
      ASSERT_TRUE(never != ReasonCode::kNone || fits || !exactly) << "workload " << id.value();
    }
  }
  EXPECT_GT(said[ReasonCode::kNone], 0);
  EXPECT_GT(said[ReasonCode::kGpuType], 0);
  EXPECT_GT(said[ReasonCode::kInvalid], 0);
  EXPECT_GT(said[ReasonCode::kTaint], 0);
  EXPECT_GT(said[ReasonCode::kNodeSelector], 0);
  EXPECT_GT(said[ReasonCode::kTopology], 0);
}

TEST(RunCycle, IsBoundedByItsEffort) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip})};
  engine.state.apply(NodesAdded{{{.name = "", .flavor = FlavorId(0), .gpus = 2}}});
  for (int i = 0; i < 3; ++i) engine.state.apply(submission(QueueId(0), single_pod({.gpus = 1, .gpu_milli = 1000})));
  const Plan first = run_cycle(engine, kNow, Effort{1});
  EXPECT_EQ(first.starts.size(), 1u);
  EXPECT_FALSE(first.finished);
  engine.state.adopt(first);
  const Plan rest = run_cycle(engine, kNow, Effort{2});
  EXPECT_EQ(rest.starts.size(), 1u);
  EXPECT_EQ(rest.blocked, (std::vector<Blocked>{{QueueId(0), ShapeId(0), 1}}));
  EXPECT_TRUE(rest.finished);
  engine.state.adopt(rest);
  const Plan nothing = run_cycle(engine, kNow, Effort{1});
  EXPECT_EQ(nothing.attempts, 0) << "what cannot have become possible is not tried again";
  EXPECT_TRUE(nothing.changes_nothing());
}

PodRequest whole_gpus(std::int32_t gpus, FlavorSet flavors = FlavorSet::all()) {
  return {.gpus = gpus, .gpu_milli = kMilliPerGpu, .flavors = flavors};
}

Plan decide(Engine& engine, Time now = kNow) {
  Plan plan = run_cycle(engine, now, Effort::unbounded());
  engine.state.adopt(plan);
  return plan;
}

TEST(RunCycle, TriesAGangAgainWhenRoomForAllThatWereMissingCameFree) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip})};
  engine.state.apply(NodesAdded{{{.name = "", .flavor = FlavorId(0), .gpus = 4}}});
  for (int i = 0; i < 4; ++i) engine.state.apply(submission(QueueId(0), single_pod(whole_gpus(1))));
  engine.state.apply(submission(QueueId(0), {{{{whole_gpus(1), 3}}}}));
  const Plan first = decide(engine);
  EXPECT_EQ(first.starts.size(), 4u);
  EXPECT_EQ(first.blocked, (std::vector<Blocked>{{QueueId(0), ShapeId(1), 3}}));
  for (const std::size_t ended : {0u, 1u}) {
    engine.state.apply(WorkloadEnded{WorkloadId(ended)});
    EXPECT_EQ(decide(engine).attempts, 0) << ended;
  }
  engine.state.apply(WorkloadEnded{WorkloadId(2)});
  EXPECT_EQ(decide(engine).starts.size(), 1u);
}

// Refused by a limit in one flavor and by want of room in the other; then only by want of room.
TEST(RunCycle, WhomNoQuotaRefusesAnyMoreIsNotTriedForItsSake) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {})};
  State& state = engine.state;
  const FlavorSet a = FlavorSet::of(FlavorId(0));
  const FlavorSet b = FlavorSet::of(FlavorId(1));
  const Quota limited{.limit = {{Dim(FlavorId(1), Resource::kGpu), 4 * kMilliPerGpu}},
                      .fair_reclaim = FairReclaim::kNever};
  state.apply(QueueAdded{{.name = "limited", .parent = QueueId(), .order = Order::kFifoSkip, .quota = limited}});
  state.apply(QueueAdded{{.name = "other", .parent = QueueId(), .order = Order::kFifoSkip}});
  state.apply(NodesAdded{{{.name = "", .flavor = FlavorId(0), .gpus = 4}}});
  state.apply(NodesAdded{{{.name = "", .flavor = FlavorId(1), .gpus = 4}}});
  const auto found = [&](QueueId queue, std::int32_t gpus, FlavorSet flavors, std::size_t node, std::uint64_t bits) {
    const WorkloadSubmitted submitted = submission(queue, single_pod(whole_gpus(gpus, flavors)));
    state.apply(WorkloadFound{submitted, {{NodeId(node), GpuSet::from_bits(bits)}}, Time{}});
  };
  found(QueueId(1), 4, a, 0, 0xf);
  found(QueueId(1), 3, b, 1, 0x7);
  found(QueueId(0), 1, b, 1, 0x8);
  WorkloadShape either{{{{whole_gpus(4, a), 1}}, {{whole_gpus(4, b), 1}}}};
  state.apply(submission(QueueId(0), either));
  const Plan refused = decide(engine);
  ASSERT_EQ(refused.blocked.size(), 1u);
  EXPECT_TRUE(refused.blocked[0].by_quota);
  state.apply(WorkloadEnded{WorkloadId(2)});
  const Plan again = decide(engine);
  EXPECT_EQ(again.attempts, 1);
  ASSERT_EQ(again.blocked.size(), 1u) << "that no quota refuses it is news";
  EXPECT_FALSE(again.blocked[0].by_quota);
  EXPECT_EQ(decide(engine).attempts, 0);
}

// The head of the strict line waits for its limit until somebody elsewhere takes hours that it would need: from then on for nothing.
TEST(RunCycle, LeadsToAnotherWhereItTakesTheHoursOfAHead) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {})};
  State& state = engine.state;
  const Quota paid{.budget_gpu_us = 10'000'000};
  state.apply(QueueAdded{{.name = "house", .parent = QueueId(), .order = Order::kFifoSkip, .quota = paid}});
  const Quota limited{.limit = {{Dim(FlavorId(0), Resource::kGpu), 4 * kMilliPerGpu}}};
  state.apply(QueueAdded{{.name = "house/strict", .parent = QueueId(0), .order = Order::kFifo, .quota = limited}});
  state.apply(QueueAdded{{.name = "house/other", .parent = QueueId(0), .order = Order::kFifo}});
  state.apply(NodesAdded{{{.name = "", .flavor = FlavorId(0), .gpus = 8}}});
  const auto submit = [&](QueueId queue, std::int32_t gpus, Duration run_limit) {
    WorkloadShape shape = single_pod(whole_gpus(gpus));
    shape.terms.run_limit = run_limit;
    state.apply(submission(queue, shape));
  };
  submit(QueueId(1), 2, Duration{1000});
  submit(QueueId(1), 4, Duration{2000});
  submit(QueueId(1), 1, Duration{1000});
  EXPECT_EQ(decide(engine).starts.size(), 1u);
  EXPECT_TRUE(decide(engine).changes_nothing()) << "what the limit leaves is kept for the head";
  submit(QueueId(2), 2, Duration{1000});
  const Plan plan = decide(engine);
  EXPECT_EQ(plan.starts.size(), 1u);
  EXPECT_FALSE(plan.finished);
  const Plan next = decide(engine);
  ASSERT_EQ(next.starts.size(), 1u);
  EXPECT_EQ(next.starts.front().workload, WorkloadId(2));
  EXPECT_TRUE(next.finished) << "there were no hours for the head before, either";
}

// One runs without a limit, so that what is left of the budget runs out with time alone: the clock that a plan brings.
TEST(RunCycle, LooksAgainAtAllLinesWhereSomebodyHasToStop) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {})};
  State& state = engine.state;
  const Quota limited{.limit = {{Dim(FlavorId(0), Resource::kGpu), 2 * kMilliPerGpu}}};
  state.apply(QueueAdded{{.name = "house", .parent = QueueId(), .order = Order::kFifoSkip, .quota = limited}});
  const Quota paid{.budget_gpu_us = 2'000'000};
  state.apply(QueueAdded{{.name = "house/paid", .parent = QueueId(0), .order = Order::kFifoSkip, .quota = paid}});
  state.apply(QueueAdded{{.name = "house/free", .parent = QueueId(0), .order = Order::kFifoSkip}});
  state.apply(NodesAdded{{{.name = "", .flavor = FlavorId(0), .gpus = 4}}});
  const WorkloadSubmitted runs = submission(QueueId(1), single_pod(whole_gpus(2)));
  state.apply(WorkloadFound{runs, {{NodeId(0), GpuSet::from_bits(0x3)}}, Time{}});
  state.apply(submission(QueueId(2), single_pod(whole_gpus(2))));
  EXPECT_EQ(decide(engine, Time{500}).blocked.size(), 1u);
  EXPECT_TRUE(decide(engine, Time{1000}).changes_nothing());
  const Plan plan = decide(engine, Time{1000});
  EXPECT_EQ(plan.evictions.size(), 1u);
  EXPECT_EQ(plan.starts.size(), 1u) << "the limit has room for it";
}

}  // namespace berth::run_cycle_test
