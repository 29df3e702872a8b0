#include "cycle/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/asked_again.h"
#include "cycle/run_cycle.h"
#include "state/random_world.h"

namespace berth::changes_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 60 : 1'000;

PodRequest gpus(std::int32_t count, FlavorSet flavors = FlavorSet::all()) {
  return {.cpu_milli = 0, .memory_bytes = 0, .gpus = count, .gpu_milli = 1000, .flavors = flavors};
}

// Queues with bounds, nodes in racks and zones, and work of all sorts some of which waits.
class Busy {
 public:
  explicit Busy(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, PlacementPolicy::kBestFit, 2, {});
    for (std::int64_t left = rng_.between(1, 3); left > 0; --left) {
      const bool top = state.queues().empty() || rng_.below(2) == 0;
      Queue queue{.name = "queue" + std::to_string(left),
                  .parent = top ? QueueId() : QueueId(0),
                  .order = one_of(rng_, {Order::kFifo, Order::kFifoSkip})};
      if (rng_.below(2) == 0) queue.quota.guarantee = random_amounts(rng_, 1);
      if (rng_.below(2) == 0) queue.quota.limit = random_bounds(rng_, 2);
      if (rng_.below(3) == 0) queue.quota.borrowing_limit = random_bounds(rng_, 0);
      if (rng_.below(4) == 0) queue.quota.user_limit = random_bounds(rng_, 2);
      if (rng_.below(4) == 0) queue.quota.budget_gpu_us = rng_.between(1, 100) * 10'000'000 * kMilliPerGpu;
      if (!state.refusal(QueueAdded{queue})) state.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(2, 4); left > 0; --left) {
      const std::string rack = one_of(rng_, {"1", "2", "3"});
      nodes.push_back({.name = "n" + std::to_string(left),
                       .flavor = FlavorId(static_cast<std::size_t>(rng_.below(2))),
                       .gpus = one_of(rng_, {2, 4, 8}),
                       .cpu_milli = one_of<std::int64_t>(rng_, {8'000, 64'000}),
                       .labels = {{"rack", rack}, {"zone", rack[0] == '3' ? "2" : "1"}}});
    }
    state.apply(NodesAdded{nodes});
    for (std::int64_t left = rng_.between(4, 12); left > 0; --left) {
      state.apply(work());
      if (rng_.below(3) == 0) settle();
    }
    settle();
  }

  Engine& engine() { return engine_; }
  const State& state() const { return engine_.state; }
  Time now() const { return Time{1000}; }
  std::vector<WorkloadId> waiting() const {
    std::vector<WorkloadId> ids;
    state().workloads().for_each([&](WorkloadId id, const Workload& each) {
      if (each.phase == Phase::kPending) ids.push_back(id);
    });
    return ids;
  }

 private:
  WorkloadSubmitted work() {
    const PodRequest request{.cpu_milli = one_of<std::int64_t>(rng_, {0, 1'000, 8'000}),
                             .memory_bytes = 0,
                             .gpus = one_of(rng_, {1, 1, 2, 4}),
                             .gpu_milli = kMilliPerGpu,
                             .flavors = one_of(rng_, {FlavorSet::all(), FlavorSet::of(FlavorId(0))})};
    PodSet set;
    set.request = request;
    set.count = rng_.between(1, 4);
    if (rng_.below(2) == 0) set.topology = random_topology(rng_, set.count);
    Topology topology = {.together = Togetherness::kRequired, .level = one_of(rng_, {"node", "rack"})};
    if (rng_.below(3) == 0) topology = {.spread = Spreading::kApart, .spread_level = "node"};
    if (rng_.below(3) == 0) set.topology = topology;
    WorkloadShape shape{{{set}}};
    shape.terms.priority = static_cast<std::int32_t>(rng_.below(4)) * 10;
    shape.terms.guaranteed_only = rng_.below(6) == 0;
    if (rng_.below(2) == 0) shape.terms.run_limit = Duration{rng_.between(1, 20) * 100'000};
    const auto queue = static_cast<std::size_t>(rng_.below(state().queues().size()));
    WorkloadSubmitted submitted = submission(QueueId(queue), shape);
    submitted.user = one_of(rng_, {"ann", "bob"});
    return submitted;
  }

  void settle() {
    for (int i = 0; i < 100; ++i) {
      const Plan plan = run_cycle(engine_, now(), Effort::unbounded());
      if (!plan.changes_nothing()) engine_.state.adopt(plan);
      if (plan.finished) return;
    }
  }

  Rng rng_;
  Engine engine_;
};

// As somebody would find out who tries it, on an engine of his own.
Phase phase_after(const State& state, WorkloadId id, Time now, const std::vector<Event>& events) {
  Engine fork{state.fork()};
  fork.state.apply(TimePassed{now});
  for (const Event& event : events) {
    if (fork.state.refusal(event)) return Phase::kPending;
    if (std::holds_alternative<WorkloadSubmitted>(event)) id = fork.state.workloads().next_id();
    fork.state.apply(event);
  }
  const Plan plan = run_cycle(fork, now, Effort::unbounded());
  fork.state.adopt(plan);
  return fork.state.workload(id).phase;
}

bool starts(const State& state, WorkloadId id, Time now, const std::vector<Event>& events) {
  return has_room(phase_after(state, id, now, events));
}

std::vector<Event> resubmitted(const State& state, WorkloadId id, Time now,
                               const std::function<void(PodSet&)>& change) {
  WorkloadSubmitted anew = asked_again(state, id, now);
  for (PodSets& way : anew.shape.ways) change(way.front());
  return {WorkloadCancelled{id}, anew};
}

// Nothing smaller of the kind, found by trying all that there is.
class Smaller {
 public:
  Smaller(const State& state, WorkloadId id, Time now) : state_(state), id_(id), now_(now) {}

  std::optional<std::int64_t> fewer_pods() const {
    const PodSet set = asked_again(state_, id_, now_).shape.ways.front().front();
    for (std::int64_t fewer = 1; fewer < set.count; ++fewer) {
      if (starts(state_, id_, now_, resubmitted(state_, id_, now_, [&](PodSet& each) { each.count -= fewer; })))
        return fewer;
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> fewer_gpus() const {
    const PodSet set = asked_again(state_, id_, now_).shape.ways.front().front();
    for (std::int32_t fewer = 1; fewer < set.request.gpus; ++fewer) {
      if (starts(state_, id_, now_, resubmitted(state_, id_, now_, [&](PodSet& each) { each.request.gpus -= fewer; })))
        return fewer;
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> higher_priority() const {
    const std::int32_t own = state_.shape(state_.workload(id_).shape).terms.priority;
    for (std::int32_t more = 1; more <= 40; ++more) {
      if (starts(state_, id_, now_, {WorkloadPrioritized{id_, own + more}})) return more;
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> end_of_another() const {
    std::optional<std::int64_t> least;
    state_.workloads().for_each([&](WorkloadId other, const Workload& each) {
      if (each.phase != Phase::kRunning || (least && each.gpu_milli >= *least)) return;
      if (starts(state_, id_, now_, {WorkloadEnded{other}})) least = each.gpu_milli;
    });
    return least;
  }
  // All at once lower than `bounds` has them, by one GPU, a half, or a thousandth of one: none of them starts it.
  bool lower_bounds(const SmallestChange& bounds) const {
    for (std::size_t at = 0; at < bounds.events.size(); ++at) {
      for (const std::int64_t by : {1, 500, 1000, 2000}) {
        std::vector<Event> events = bounds.events;
        const QueueChanged& raised = std::get<QueueChanged>(bounds.events[at]);
        const Quota& before = state_.queues()[raised.queue.index()].quota;
        Quota& lower = std::get<QueueChanged>(events[at]).now.quota;
        bool is_less = false;
        const auto take = [&](AmountList& list, const AmountList& old) {
          for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].amount - by < old[i].amount) continue;
            is_less = is_less || list[i].amount > old[i].amount;
            if (list[i].amount > old[i].amount) list[i].amount -= by;
          }
        };
        take(lower.limit, before.limit);
        take(lower.borrowing_limit, before.borrowing_limit);
        take(lower.user_limit, before.user_limit);
        if (lower.budget_gpu_us > before.budget_gpu_us) {
          --*lower.budget_gpu_us;
          is_less = true;
        }
        if (is_less && starts(state_, id_, now_, events)) return true;
      }
    }
    return false;
  }
  bool longer_limit(const SmallestChange& shorter) const {
    const WorkloadSubmitted& anew = std::get<WorkloadSubmitted>(shorter.events.back());
    const std::optional<Duration> own = state_.shape(state_.workload(id_).shape).terms.run_limit;
    const Duration limit = *anew.shape.terms.run_limit;
    for (const std::int64_t more : {1, 1'000, 60'000, 600'000}) {
      WorkloadSubmitted longer = anew;
      longer.shape.terms.run_limit = Duration{limit.ms + more};
      if (own && *longer.shape.terms.run_limit >= *own) continue;
      if (starts(state_, id_, now_, {WorkloadCancelled{id_}, longer})) return true;
    }
    return false;
  }

 private:
  const State& state_;
  WorkloadId id_;
  Time now_;
};

const SmallestChange* find(const std::vector<SmallestChange>& changes, ChangeKind kind) {
  const auto found = std::ranges::find(changes, kind, &SmallestChange::kind);
  return found == changes.end() ? nullptr : &*found;
}

std::optional<std::int64_t> size_of(const std::vector<SmallestChange>& changes, ChangeKind kind) {
  const SmallestChange* const found = find(changes, kind);
  return found == nullptr ? std::nullopt : std::optional(found->size);
}

TEST(ChangesProperty, EachStartsItAndNoSmallerOneOfItsKindDoes) {
  std::map<ChangeKind, std::int64_t> seen;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE("seed " + std::to_string(seed.value));
    Busy busy(seed);
    const State& state = busy.state();
    const std::uint64_t hash = state.hash();
    const std::vector<WorkloadId> waiting = busy.waiting();
    for (std::size_t i = 0; i < std::min<std::size_t>(waiting.size(), 2); ++i) {
      const WorkloadId id = waiting[i];
      const std::vector<SmallestChange> changes = smallest_changes(state, id, busy.now());
      ASSERT_EQ(state.hash(), hash);
      for (const SmallestChange& change : changes) {
        ++seen[change.kind];
        const Phase phase = phase_after(state, id, busy.now(), change.events);
        EXPECT_TRUE(has_room(phase)) << change.text;
        EXPECT_EQ(phase == Phase::kRunning, !change.text.ends_with(" to leave)")) << change.text;
        EXPECT_GT(change.size, 0) << change.text;
      }
      if (starts(state, id, busy.now(), {})) {
        EXPECT_TRUE(changes.empty());
        continue;
      }
      const Smaller smaller(state, id, busy.now());
      const bool anew = starts(state, id, busy.now(), resubmitted(state, id, busy.now(), [](PodSet&) {}));
      EXPECT_EQ(size_of(changes, ChangeKind::kPods), anew ? std::nullopt : smaller.fewer_pods());
      EXPECT_EQ(size_of(changes, ChangeKind::kGpus), anew ? std::nullopt : smaller.fewer_gpus());
      EXPECT_EQ(size_of(changes, ChangeKind::kPriority), smaller.higher_priority());
      EXPECT_EQ(size_of(changes, ChangeKind::kEnd), smaller.end_of_another());
      if (const SmallestChange* const bounds = find(changes, ChangeKind::kBounds)) {
        EXPECT_FALSE(smaller.lower_bounds(*bounds)) << bounds->text;
      }
      if (const SmallestChange* const limit = find(changes, ChangeKind::kRunLimit)) {
        EXPECT_FALSE(smaller.longer_limit(*limit)) << limit->text;
      }
      for (const SmallestChange& change : changes) {
        if (change.kind != ChangeKind::kNodes || change.size == 1) continue;
        NodesAdded fewer = std::get<NodesAdded>(change.events.front());
        fewer.nodes.pop_back();
        EXPECT_FALSE(starts(state, id, busy.now(), {fewer})) << change.text;
      }
    }
  }
  if (kFewSeeds) return;
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(ChangeKind::kNodes); ++kind) {
    EXPECT_GE(seen[static_cast<ChangeKind>(kind)], 5) << "kind " << kind << " is hardly ever found";
  }
}

TEST(Changes, AreToldForWhoWaitsAlone) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip})};
  engine.state.apply(NodesAdded{{{.name = "n1", .flavor = FlavorId(0), .gpus = 4}}});
  engine.state.apply(submission(QueueId(0), single_pod(gpus(3))));
  EXPECT_TRUE(smallest_changes(engine.state, WorkloadId(0), Time{0}).empty()) << "it starts as it is";
  engine.state.adopt(run_cycle(engine, Time{0}, Effort::unbounded()));
  EXPECT_TRUE(smallest_changes(engine.state, WorkloadId(0), Time{0}).empty()) << "it runs";
  engine.state.apply(submission(QueueId(0), single_pod(gpus(2))));
  engine.state.adopt(run_cycle(engine, Time{0}, Effort::unbounded()));
  std::vector<std::string> texts;
  for (const SmallestChange& change : smallest_changes(engine.state, WorkloadId(1), Time{0}))
    texts.push_back(change.text);
  const std::vector<std::string> expected = {"with 1 of its 2 GPUs a pod", "with priority 1 in place of 0",
                                             "if one that holds 3 GPUs ended", "with 1 more node like n1"};
  EXPECT_EQ(texts, expected);
}

// On another model it would be another vGPU.
TEST(Changes, OfVgpusAreNoOtherModels) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifoSkip})};
  for (const std::size_t flavor : {0u, 1u}) {
    engine.state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(flavor), .gpus = 1, .sharing = Sharing::kVgpu}}});
  }
  const auto vgpu = [](std::int32_t milli) {
    return single_pod(
        {.gpus = 1, .gpu_milli = milli, .flavors = FlavorSet::of(FlavorId(0)), .sharing = Sharing::kVgpu});
  };
  engine.state.apply(submission(QueueId(0), vgpu(200)));
  engine.state.apply(submission(QueueId(0), vgpu(500)));
  engine.state.adopt(run_cycle(engine, Time{0}, Effort::unbounded()));
  std::vector<std::string> texts;
  for (const SmallestChange& change : smallest_changes(engine.state, WorkloadId(1), Time{0}))
    texts.push_back(change.text);
  const std::vector<std::string> expected = {"with priority 1 in place of 0", "if one that holds 0.2 GPUs ended",
                                             "with 1 more node like n"};
  EXPECT_EQ(texts, expected);
}

TEST(Changes, AreNotToldOfStepsThatComeNowhereWithoutTheirMinimum) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip})};
  engine.state.apply(NodesAdded{{{.name = "n1", .flavor = FlavorId(0), .gpus = 4}}});
  engine.state.apply(submission(QueueId(0), single_pod(gpus(4))));
  WorkloadSubmitted step = submission(QueueId(0), single_pod(gpus(4)));
  step.step_of = WorkloadId(0);
  ASSERT_FALSE(engine.state.refusal(step));
  engine.state.apply(step);
  engine.state.adopt(run_cycle(engine, Time{0}, Effort::unbounded()));
  ASSERT_EQ(engine.state.workload(WorkloadId(1)).phase, Phase::kPending);
  EXPECT_TRUE(smallest_changes(engine.state, WorkloadId(1), Time{0}).empty());
}

TEST(Changes, StopLookingAfterSoManyTries) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip})};
  engine.state.apply(NodesAdded{{{.name = "n1", .flavor = FlavorId(0), .gpus = 8}}});
  engine.state.apply(submission(QueueId(0), {{{{gpus(1), 20}}}}));
  EXPECT_NE(find(smallest_changes(engine.state, WorkloadId(0), Time{0}, 12), ChangeKind::kPods), nullptr);
  EXPECT_EQ(find(smallest_changes(engine.state, WorkloadId(0), Time{0}, 11), ChangeKind::kPods), nullptr);
}

TEST(Changes, SayOfWhichKindsTheyHadNotTheTime) {
  Engine engine{new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifoSkip})};
  engine.state.apply(NodesAdded{{{.name = "n1", .flavor = FlavorId(0), .gpus = 8}}});
  engine.state.apply(submission(QueueId(0), {{{{gpus(1), 20}}}}));
  std::map<ChangeKind, int> tries;
  const auto found = find_changes(engine.state, WorkloadId(0), Time{0}, kChangeTriesMax, [&](ChangeKind kind) {
    return ++tries[kind] > (kind == ChangeKind::kPods ? 5 : 100);
  });
  EXPECT_EQ(found.broken_off, std::vector{ChangeKind::kPods}) << "its twelfth would have been the one";
  EXPECT_EQ(tries[ChangeKind::kPods], 6) << "and then it is not asked again";
  EXPECT_EQ(find(found.changes, ChangeKind::kPods), nullptr);
  EXPECT_NE(find(found.changes, ChangeKind::kNodes), nullptr) << "others are looked for all the same";
  const auto none =
      find_changes(engine.state, WorkloadId(0), Time{0}, kChangeTriesMax, [](ChangeKind) { return true; });
  EXPECT_TRUE(none.changes.empty());
  EXPECT_FALSE(none.broken_off.empty());
  EXPECT_TRUE(std::ranges::is_sorted(none.broken_off));
}

}  // namespace berth::changes_test
