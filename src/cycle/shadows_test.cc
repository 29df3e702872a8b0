#include "cycle/shadows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/over_run.h"
#include "cycle/run_cycle.h"
#include "placement/place.h"
#include "state/invariants.h"
#include "state/plain_neighbours.h"
#include "state/random_world.h"

namespace berth::shadows_test {

constexpr std::uint64_t kSeeds = kFewSeeds ? 200 : 10'000;

// Work with limits, and some without, that comes, ends when it likes and at its limit at the latest; nobody takes from who runs, and
// no node is lost, so that every promise is kept. In some worlds queues give loans, to work that ends when it likes all the same; in
// some with one queue there is work of a higher priority, for which the other is promised room anew. (Of several lines whoever gives way
// so may in turn be promised what others behind him were.) In a third of the worlds limits are extended while nobody needs the room, and in half of them
// queues look ahead to when promised work is foretold to start. In a quarter some may start only later than they came.
class Waiting {
 public:
  explicit Waiting(Seed seed) : rng_(seed) {
    State& state = engine_.state;
    state = new_state(seed, one_of(rng_, {PlacementPolicy::kBestFit, PlacementPolicy::kRandom}), 1, {});
    gives_loans_ = rng_.below(2) == 0;
    foresees_ = seed.value % 4 < 2;
    looks_around_ = seed.value % 5 == 0;
    comes_late_ = seed.value % 4 == 0;
    backfill_ = one_of(rng_, {Backfill::kEasy, Backfill::kEasy, Backfill::kConservative});
    for (std::int64_t left = rng_.below(3) == 0 ? 2 : 1; left > 0; --left) {
      Queue queue{
          .name = "queue" + std::to_string(left), .parent = {}, .order = Order::kFifo, .quota = taking_nothing()};
      queue.quota.backfill = backfill_;
      if (gives_loans_) queue.quota.loans_percent = one_of(rng_, {50, 90});
      queue.quota.foresight = foresees_;
      if (seed.value % 3 == 0) queue.quota.over_run = OverRun::kExtend;
      queue.quota.extend = Duration{4'000};
      queue.quota.extensions = 3;
      if (rng_.below(3) == 0) queue.quota.limit = random_bounds(rng_, 4);
      if (state.refusal(QueueAdded{queue})) queue.quota.limit = {};
      state.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    for (std::int64_t left = rng_.between(1, 4); left > 0; --left) {
      nodes.push_back({.name = std::to_string(left),
                       .flavor = FlavorId(0),
                       .gpus = one_of(rng_, {2, 4, 8}),
                       .cpu_milli = one_of<std::int64_t>(rng_, {4'000, 64'000}),
                       .labels = random_labels(rng_)});
      nodes.back().kept_per_gpu = random_kept(rng_, nodes.back());
      divide_into_zones(nodes.back(), rng_);
    }
    state.apply(NodesAdded{nodes});
    if (gives_loans_ || foresees_) know_how_long_work_runs();
    at_their_limits_ = rng_.below(2) == 0;
    plain_ = rng_.below(2) == 0;
    has_priorities_ = rng_.below(3) == 0 && state.queues().size() == 1;
  }

  void go_on() {
    for (std::int64_t left = rng_.between(0, 3); left > 0; --left) submit();
    decide();
    // To the next that ends, or less far.
    const std::optional<Time> end = next_end();
    const Time further = now_ + Duration{rng_.between(0, 3) * 1000};
    now_ = end ? (rng_.below(3) != 0 ? *end : std::min(*end, further)) : further;
    end_who_is_due();
  }

  // Everybody ends at his limit, nobody comes any more.
  void finish() {
    at_their_limits_ = true;
    for (int i = 0; i < 200; ++i) {
      decide();
      const std::optional<Time> end = next_end();
      if (!end) return;
      now_ = *end;
      end_who_is_due();
    }
  }

  const State& state() const { return engine_.state; }
  std::int64_t promised() const { return static_cast<std::int64_t>(first_promise_.size()); }
  std::int64_t let_ahead() const { return let_ahead_; }
  std::int64_t lent() const { return lent_; }
  std::int64_t taken_back() const { return taken_back_; }
  std::int64_t gave_way() const { return gave_way_; }
  std::int64_t extended() const { return extended_; }

 private:
  // Of most sizes twenty have ended before.
  void know_how_long_work_runs() {
    State& state = engine_.state;
    now_ = Time{20'000};
    state.apply(TimePassed{now_});
    for (std::size_t queue = 0; queue < state.queues().size(); ++queue) {
      for (int gpus = 1; gpus <= state.node(NodeId(0)).gpus; gpus *= 2) {
        for (std::size_t i = 0; i < EndedRuns::kEndedMin; ++i) {
          PodRequest request{.gpus = gpus, .gpu_milli = kMilliPerGpu};
          request.flavors = FlavorSet::of(FlavorId(0));
          const WorkloadFound found{submission(QueueId(queue), {.ways = {{{request, 1}}}}),
                                    {{NodeId(0), GpuSet::from_bits((std::uint64_t{1} << gpus) - 1)}},
                                    Time{now_.ms - rng_.between(1, 10) * 1000}};
          if (state.refusal(found)) break;
          const WorkloadId id = state.workloads().next_id();
          state.apply(found);
          state.apply(WorkloadEnded{id});
        }
      }
    }
  }

  void submit() {
    State& state = engine_.state;
    PodRequest request{.cpu_milli = one_of<std::int64_t>(rng_, {0, 1'000, 4'000}),
                       .gpus = one_of(rng_, {1, 1, 2, 4, 8}),
                       .gpu_milli = kMilliPerGpu};
    if (request.gpus == 1 && rng_.below(4) == 0) request.gpu_milli = 500;
    request.flavors = FlavorSet::of(FlavorId(0));
    if (rng_.below(8) == 0) request = {.cpu_milli = one_of<std::int64_t>(rng_, {1'000, 4'000, 16'000})};
    const std::int64_t pods = rng_.between(1, 3);
    const NodeConstraints constraints = rng_.below(4) == 0 ? random_constraints(rng_) : NodeConstraints();
    const Topology topology = plain_ || rng_.below(3) != 0 ? Topology() : random_topology(rng_, pods);
    WorkloadShape shape{.ways = {{{request, pods, constraints, topology}}}};
    if (request.gpus > 0 && rng_.below(6) == 0) {
      shape.ways.front().front().exclusive_level = one_of<std::string>(rng_, {"node", "rack", "rack", "zone"});
    }
    if (looks_around_ && rng_.below(3) == 0) shape.ways.front().front().neighbours = who_keeps_apart();
    if (rng_.below(5) != 0) shape.terms.run_limit = Duration{rng_.between(1, 20) * 1000};
    if (gives_loans_) shape.terms.grace = Duration{rng_.below(3) == 0 ? rng_.between(1, 3) * 1000 : 0};
    const QueueId queue(static_cast<std::size_t>(rng_.below(state.queues().size())));
    shape.terms.priority = has_priorities_ && rng_.below(4) == 0 ? 1 : 0;
    WorkloadSubmitted job = submission(queue, shape);
    job.at = now_;
    if (comes_late_ && rng_.below(3) == 0) job.not_before = now_ + Duration{rng_.between(1, 8) * 1000};
    if (!state.refusal(job)) state.apply(job);
  }

  // Asks for nobody: whom it would be near may end early, and so may whoever keeps a spread even.
  Neighbours who_keeps_apart() {
    Neighbours own = random_neighbours(rng_);
    own.near.clear();
    own.spreads.clear();
    return own;
  }

  std::optional<Time> next_end() const {
    std::optional<Time> next;
    for (const auto& [id, end] : ends_) next = next ? std::min(*next, end) : end;
    for (const WorkloadId id : state().stopping()) {
      const Time stop = state().workload(id).stop_by;
      next = next ? std::min(*next, stop) : stop;
    }
    const Time wake = state().next_wake();
    if (wake != kForever) next = next ? std::min(*next, wake) : wake;
    return next;
  }

  void end_who_is_due() {
    if (state().keeps_time()) engine_.state.apply(TimePassed{now_});
    for (auto at = ends_.begin(); at != ends_.end();) {
      if (at->second > now_) {
        ++at;
        continue;
      }
      if (extend(at->first)) {
        at->second = state().end_of(at->first, state().workload(at->first).started);
        continue;
      }
      engine_.state.apply(WorkloadEnded{at->first});
      at = ends_.erase(at);
    }
    const std::vector<WorkloadId> stopping = state().stopping();
    for (const WorkloadId id : stopping) {
      if (state().workload(id).stop_by <= now_) engine_.state.apply(WorkloadStopped{id});
    }
    note_who_has_begun();
  }

  // Who has reached his limit, and only he.
  bool extend(WorkloadId id) {
    const bool is_over = state().end_of(id, state().workload(id).started) <= now_;
    const auto by = is_over ? extension_of(state(), id, now_) : std::nullopt;
    if (!by) return false;
    engine_.state.apply(LimitExtended{id, *by});
    EXPECT_EQ(violations(state()), std::vector<std::string>());
    ++extended_;
    return true;
  }

  void decide() {
    State& state = engine_.state;
    note_who_comes_first();
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t stand = std::exchange(engine_.shadows_stand_at, 0);
      const QuietLines quiet = std::exchange(engine_.quiet, {});
      const Plan anew = run_cycle(engine_, now_, Effort::unbounded());
      engine_.shadows_stand_at = stand;
      engine_.quiet = quiet;
      const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
      EXPECT_EQ(plan, anew) << "what the engine remembers decides something";
      if (plan.changes_nothing()) break;
      check_evictions(plan);
      check_starts(plan);
      state.adopt(plan);
      note_who_has_begun();
      EXPECT_EQ(violations(state), std::vector<std::string>());
      check_shadows();
    }
    some_came_before_.clear();
    check_the_first();
  }

  // For nobody's sake but whom it was let ahead of, and as far as it was told.
  void check_evictions(const Plan& plan) {
    for (const Eviction& each : plan.evictions) {
      const Workload& workload = state().workload(each.workload);
      EXPECT_EQ(each.rule, EvictionRule::kLoan);
      EXPECT_TRUE(workload.lent_until && each.stop_by >= *workload.lent_until) << each.workload.index();
      ends_.erase(each.workload);
      ++taken_back_;
    }
  }

  void check_starts(const Plan& plan) {
    for (const Start& start : plan.starts) {
      const WorkloadId id = start.workload;
      const auto promise = earliest_promise_.find(id);
      EXPECT_TRUE(promise == earliest_promise_.end() || plan.now <= promise->second)
          << "workload " << id.index() << " starts at " << plan.now.ms << ", promised " << promise->second.ms;
      const Terms& terms = state().shape(state().workload(id).shape).terms;
      const bool somebody_waits = std::ranges::any_of(
          state().shadows(), [&](const Shadow& each) { return each.start.workload < id && each.at > plan.now; });
      let_ahead_ += somebody_waits ? 1 : 0;
      lent_ += start.lent_until ? 1 : 0;
      const std::int64_t runs = at_their_limits_ && terms.run_limit ? terms.run_limit->ms
                                : terms.run_limit                   ? rng_.between(1, terms.run_limit->ms)
                                                                    : rng_.between(1, 40) * 1000;
      runs_for_[id] = Duration{runs};
    }
  }

  // Of a higher priority, who may start in this very moment.
  void note_who_comes_first() {
    state().workloads().for_each([&](WorkloadId, const Workload& each) {
      const bool waits = each.phase == Phase::kPending;
      if (waits && state().shape(each.shape).terms.priority > 0) some_came_before_.insert(each.queue);
    });
  }

  // Who waits until others have stopped begins then.
  void note_who_has_begun() {
    std::erase_if(runs_for_, [&](const auto& each) {
      const Workload& workload = state().workload(each.first);
      if (workload.phase == Phase::kRunning) ends_[each.first] = workload.started + each.second;
      return workload.phase != Phase::kStarting;
    });
  }

  void check_shadows() {
    forget_who_may_give_way();
    for (const Shadow& each : state().shadows()) {
      const WorkloadId id = each.start.workload;
      first_promise_.emplace(id, each.at);
      if (stands_behind_somebody(id)) continue;
      const auto [promise, first] = earliest_promise_.emplace(id, each.at);
      EXPECT_TRUE(first || each.at <= promise->second)
          << "workload " << id.index() << " is promised " << each.at.ms << " after " << promise->second.ms;
      promise->second = std::min(promise->second, each.at);
    }
  }

  void forget_who_may_give_way() {
    std::map<WorkloadId, Time> now;
    for (const Shadow& each : state().shadows()) now[each.start.workload] = each.at;
    std::erase_if(earliest_promise_, [&](const auto& promise) {
      if (!stands_behind_somebody(promise.first)) return false;
      const auto still = now.find(promise.first);
      const bool waits = state().workload(promise.first).phase == Phase::kPending;
      gave_way_ += waits && (still == now.end() || still->second > promise.second) ? 1 : 0;
      return true;
    });
  }

  // Of a higher priority, who waits in its queue or has come since the last moment.
  bool stands_behind_somebody(WorkloadId id) const {
    const auto priority_of = [&](const Workload& each) { return state().shape(each.shape).terms.priority; };
    const Workload& own = state().workload(id);
    if (priority_of(own) > 0) return false;
    bool some = some_came_before_.contains(own.queue);
    state().workloads().for_each([&](WorkloadId, const Workload& other) {
      some = some || (other.phase == Phase::kPending && other.queue == own.queue && priority_of(other) > 0);
    });
    return some;
  }

  // Who waits first for room can start when the first ends have come with which it fits; nobody else is promised anything.
  void check_the_first() {
    if (gives_loans_ || !plain_ || looks_around_ || backfill_ != Backfill::kEasy || state().queues().size() > 1 ||
        !state().queues().front().quota.limit.empty() || state().shadows().size() != 1)
      return;
    const Shadow& shadow = state().shadows().front();
    std::set<Time> moments;
    state().workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const Terms& terms = state().shape(workload.shape).terms;
      if (workload.phase == Phase::kRunning && terms.run_limit) moments.insert(state().end_of(id, workload.started));
    });
    for (const Time moment : moments) {
      if (!fits_at(shadow.start.workload, moment)) continue;
      EXPECT_EQ(shadow.at, moment) << "workload " << shadow.start.workload.index();
      return;
    }
    ADD_FAILURE() << "workload " << shadow.start.workload.index() << " never fits and is promised room";
  }

  bool fits_at(WorkloadId id, Time moment) const {
    State then = state().fork();
    std::vector<WorkloadId> gone;
    then.workloads().for_each([&](WorkloadId each, const Workload& workload) {
      if (workload.phase == Phase::kRunning && then.end_of(each, workload.started) <= moment) gone.push_back(each);
    });
    for (const WorkloadId each : gone) then.apply(WorkloadEnded{each});
    Trial trial(then.ledger_for_trial(), then.quotas_for_trial());
    ScoreIndex index;
    return std::holds_alternative<Start>(place_workload(then, trial, index, id, Rng(then.seed())));
  }

  Rng rng_;
  Engine engine_;
  Backfill backfill_ = Backfill::kEasy;
  bool at_their_limits_ = false;
  bool comes_late_ = false;  // some stand in their lines only later, before those who have been promised room meanwhile
  bool looks_around_ = false;  // some pods ask who is where they are to be
  bool plain_ = false;         // nothing but amounts and nodes decides where pods may be
  Time now_{1000};
  std::map<WorkloadId, Duration> runs_for_;  // who has not begun yet
  std::map<WorkloadId, Time> ends_;
  std::map<WorkloadId, Time> first_promise_;
  std::map<WorkloadId, Time> earliest_promise_;
  std::int64_t let_ahead_ = 0;
  bool gives_loans_ = false;
  bool foresees_ = false;
  bool has_priorities_ = false;
  std::set<QueueId> some_came_before_;  // work of a higher priority
  std::int64_t gave_way_ = 0;           // promises that became later for that
  std::int64_t lent_ = 0;
  std::int64_t taken_back_ = 0;
  std::int64_t extended_ = 0;
};

// One GPU; who has it is over his limit and does not go, and two wait for it.
TEST(Shadows, WhatStandsBehindSomebodyWhoIsLateMovesLessAndLessOften) {
  Engine engine{.state = new_state(Seed(1), PlacementPolicy::kBestFit, 1, {})};
  Queue queue{.name = "queue", .parent = {}, .order = Order::kFifo, .quota = taking_nothing()};
  queue.quota.backfill = Backfill::kConservative;
  engine.state.apply(QueueAdded{queue});
  engine.state.apply(NodesAdded{{{.name = "node", .flavor = FlavorId(0), .gpus = 1, .cpu_milli = 64'000}}});
  PodRequest request{.gpus = 1, .gpu_milli = kMilliPerGpu};
  request.flavors = FlavorSet::of(FlavorId(0));
  WorkloadShape shape{.ways = {{{request, 1}}}};
  shape.terms.run_limit = seconds(10);
  for (int i = 0; i < 3; ++i) engine.state.apply(submission(QueueId(0), shape));
  // How long after his end the two are promised his room, looked at each quarter of a second.
  std::vector<std::pair<std::int64_t, std::int64_t>> promised;
  for (Time now{0}; now <= Time{14'000}; now = now + Duration{250}) {
    for (Plan plan; !(plan = run_cycle(engine, now, Effort::unbounded())).changes_nothing();) engine.state.adopt(plan);
    const auto& shadows = engine.state.shadows();
    ASSERT_EQ(shadows.size(), 2u);
    const std::pair each{shadows[0].at.ms - 10'000, shadows[1].at.ms - 10'000};
    if (promised.empty() || promised.back() != each) promised.push_back(each);
  }
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(promised, (Pairs{{0, 10'000}, {1'000, 11'000}, {2'000, 12'000}, {4'000, 14'000}}));
}

// A promise was made later by who went elsewhere for a stronger claim's sake, by a loan that was not taken back in time, by somebody
// without GPUs from whom the promised one keeps apart, by zones in which the one behind it asks no CPUs, and by somebody who waited
// until another had left the rack that he was to have for himself: nobody knew when he would end.
TEST(Shadows, WorldsInWhichAPromiseOnceWasNotKept) {
  for (const std::uint64_t seed : {std::uint64_t{9'003'817}, std::uint64_t{20'000'839}, std::uint64_t{30},
                                   std::uint64_t{50'891}, std::uint64_t{3'498'469'397}}) {
    SCOPED_TRACE(name_of(Seed(seed)));
    Waiting world{Seed(seed)};
    for (int i = 0; i < 12; ++i) world.go_on();
    world.finish();
  }
}

TEST(ShadowsProperty, EveryPromiseIsKeptAndIsTheEarliestThatEndsAllow) {
  std::int64_t promised = 0;
  std::int64_t gave_way = 0;
  std::int64_t let_ahead = 0;
  std::int64_t lent = 0;
  std::int64_t taken_back = 0;
  std::int64_t extended = 0;
  for (const Seed seed : property_seeds(kSeeds)) {
    SCOPED_TRACE(name_of(seed));
    Waiting world(seed);
    for (int i = 0; i < 12; ++i) world.go_on();
    world.finish();
    promised += world.promised();
    let_ahead += world.let_ahead();
    lent += world.lent();
    taken_back += world.taken_back();
    gave_way += world.gave_way();
    extended += world.extended();
    if (HasFailure()) return;
  }
  if (seeds_are_fresh()) return;
  EXPECT_GT(promised, 0);
  EXPECT_GT(let_ahead, 0);
  EXPECT_GT(lent, 0);
  EXPECT_GT(taken_back, 0);
  EXPECT_GT(gave_way, 0);
  EXPECT_GT(extended, 0);
}

}  // namespace berth::shadows_test
