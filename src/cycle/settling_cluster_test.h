// A random cluster that is disturbed and comes to rest, and what is looked at meanwhile. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cycle/asking.h"
#include "cycle/elastic.h"
#include "cycle/outranks.h"
#include "cycle/plain_claim.h"
#include "cycle/run_cycle.h"
#include "cycle/settling_work_test.h"
#include "fairness/gates.h"
#include "fairness/kept_back.h"
#include "fairness/measure.h"
#include "fairness/standing.h"
#include "state/invariants.h"
#include "state/random_world.h"

namespace berth {

struct SettlingKind {
  std::string name = "some";  // with which all names begin
  bool hostile = false;
  bool movable = false;  // most of the work consents to being moved
  bool repairs = false;  // gangs lose members, and are repaired
  bool elastic = false;  // most of the work may be larger than its minimum
  bool racks = false;    // nothing but two racks, and work that is in one of them
};

class SettlingCluster {
 public:
  explicit SettlingCluster(Seed seed, SettlingKind kind = {}) : rng_(seed), kind_(std::move(kind)) {
    State& state = engine_.state;
    state = new_state(seed, static_cast<PlacementPolicy>(rng_.below(std::size(kPlacementPolicyNames))), 2, {});
    const std::int64_t queues = rng_.between(2, 7);
    for (std::int64_t i = 0; i < queues; ++i) {
      // Half of them are tops, so that there are deep trees and flat ones.
      const bool top = i == 0 || rng_.below(2) == 0;
      const QueueId parent = top ? QueueId() : QueueId(static_cast<std::size_t>(rng_.between(0, i - 1)));
      Queue queue = kind_.racks ? queue_in_racks(rng_, parent) : random_queue(rng_, parent);
      queue.name = kind_.name + std::to_string(i);
      if (kind_.hostile) make_hostile(rng_, queue.quota);
      if (state.refusal(QueueAdded{queue})) continue;
      state.apply(QueueAdded{queue});
    }
    std::vector<Node> nodes;
    Rng extras(seed);
    for (std::int64_t left = rng_.between(2, 4); left > 0; --left) {
      nodes.push_back({.name = kind_.name + std::to_string(left),
                       .flavor = FlavorId(static_cast<std::size_t>(rng_.below(2))),
                       .gpus = one_of(rng_, {2, 4, 8}),
                       .cpu_milli = one_of<std::int64_t>(rng_, {2'000, 10'000, 64'000}),
                       .labels = random_labels(rng_),
                       .taints = random_taints(rng_),
                       .sharing = rng_.below(5) > 0 ? Sharing::kExclusive
                                                    : one_of(rng_, {Sharing::kMig, Sharing::kMps, Sharing::kMps,
                                                                    Sharing::kTimeslice, Sharing::kVgpu})});
      nodes.back().extra = random_extra(extras, nodes.back());
      if (nodes.back().sharing == Sharing::kTimeslice) nodes.back().replicas = 3;
      if (nodes.back().sharing != Sharing::kTimeslice && rng_.below(4) == 0) add_other_modes(rng_, nodes.back());
    }
    if (kind_.racks) nodes = nodes_in_racks();
    state.apply(NodesAdded{nodes});
    if (kind_.repairs) state.apply(RepairChosen{Duration{rng_.between(1, 20) * 1000}});
  }

  static std::vector<Node> nodes_in_racks() {
    std::vector<Node> nodes;
    for (const char* const rack : {"1", "1", "2", "2"}) {
      nodes.push_back({.name = "n" + std::to_string(nodes.size()),
                       .flavor = FlavorId(0),
                       .gpus = 2,
                       .cpu_milli = 8'000,
                       .labels = {{"rack", rack}}});
    }
    return nodes;
  }

  // Something arrives, ends, is cancelled, written down, or set anew.
  void disturb() {
    State& state = engine_.state;
    if (rng_.below(2) == 0) state.apply(TimePassed{now_});
    while (state.next_max_wait() <= state.clock()) state.apply(MaxWaitPassed{state.max_waits().begin()->second});
    while (state.next_unready() <= state.clock()) state.apply(NeverReady{state.unready().begin()->second});
    if (kind_.repairs && rng_.below(3) == 0) return lose_something();
    if (kind_.racks) return submit();
    const std::uint64_t kind = rng_.below(12);
    std::vector<WorkloadId> running, alive;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
      if (workload.phase == Phase::kPending || has_room(workload.phase)) alive.push_back(id);
    });
    if (kind == 0 && !running.empty()) {
      state.apply(WorkloadEnded{state.minimum_of(any(running))});
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
      Event event = rng_.below(2) == 0 ? Event(NodeDrained{node}) : Event(NodeRestored{node});
      if (rng_.below(3) == 0)
        event = NodeRelabelled{node, random_labels(rng_), random_taints(rng_), rng_.below(8) == 0};
      if (!state.refusal(event)) state.apply(event);
    } else if (kind == 4) {
      change_queue();
    } else if (kind == 5 && !alive.empty()) {
      change_workload(any(alive));
    } else if (kind == 9 && state.windows().size() < 3) {
      declare_window();
    } else if (kind == 10 && state.next_turn() != kForever) {
      turn_calendar();
    } else if (kind == 11 && state.quotas().budgets().has_any()) {
      cut_a_budget();
    } else {
      for (std::int64_t left = rng_.between(1, 3); left > 0; --left) submit();
    }
    EXPECT_EQ(violations(state), std::vector<std::string>());
    now_ = now_ + Duration{rng_.between(0, 2000)};
    if (kind_.elastic && rng_.below(4) == 0) now_ = now_ + kResizeCooldown;
  }

  // A node, or a pod.
  void lose_something() {
    State& state = engine_.state;
    state.apply(TimePassed{now_});
    std::vector<WorkloadId> running;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase == Phase::kRunning) running.push_back(id);
    });
    const NodeId node(static_cast<std::size_t>(rng_.below(state.nodes())));
    Event event = rng_.below(2) == 0 ? Event(NodeFailed{node}) : Event(NodeRestored{node});
    if (!running.empty() && rng_.below(4) > 0) {
      const WorkloadId id = any(running);
      const auto pod = static_cast<std::uint32_t>(rng_.below(3));
      event = PodFailed{id, pod, static_cast<std::int32_t>(now_.ms % 3)};
      if (now_.ms % 5 == 0) event = WorkloadReady{id};
      if (now_.ms % 5 == 1) event = PodsEvicted{id, {pod}, now_ + Duration{now_.ms % 3}};
    }
    if (!state.refusal(event)) state.apply(event);
    EXPECT_EQ(violations(state), std::vector<std::string>());
  }

  // How many were evicted until nothing happens any more; -1: it did not come to rest.
  std::int64_t settle() {
    State& state = engine_.state;
    constexpr int kCyclesMax = 300;
    std::int64_t evicted = 0;
    int quiet = 0;
    for (int i = 0; i < kCyclesMax; ++i) {
      if (state.keeps_time()) state.apply(TimePassed{now_});
      const Measure before = measure_of(state);
      const Plan plan = cycle_as_if_looked_at_anew();
      check_who_goes(plan);
      const bool steps = check_who_took_steps(plan);
      evicted += static_cast<std::int64_t>(plan.evictions.size());
      const std::map<WorkloadId, QueueId> covered = covered_before(plan.migrations);
      const std::vector<Places> left = left_before(plan.repairs);
      state.adopt(plan);
      check_who_was_repaired(plan, left);
      check_who_was_moved(plan, covered);
      EXPECT_EQ(violations(state), std::vector<std::string>());
      const bool moved = !plan.evictions.empty() || !plan.starts.empty() || !plan.begins.empty() ||
                         !plan.unpaid.empty() || !plan.repairs.empty();
      // Protections of a time end by themselves; and promises that have changed let others start in a cycle after that.
      quiet = moved || !plan.finished ? 0 : quiet + 1;
      const bool changed = !plan.evictions.empty() || !plan.starts.empty() || !plan.repairs.empty() ||
                           std::ranges::any_of(plan.migrations, is_for_its_own_sake);
      // What a turn of the calendar or a budget stops for nobody's sake is news, as an end is.
      const bool stops = !plan.evictions.empty() && plan.evictions.front().claimant.is_none();
      const bool news = stops || !plan.unpaid.empty();
      note_who_stops(plan);
      // Who takes a step may push another out of a floor that he was lent, once in a while.
      if (!news && !steps) {
        EXPECT_EQ(measure_of(state).is_below(before), changed);
      }
      now_ = now_ + Duration{1500};
      const std::vector<WorkloadId> stopping = state.stopping();
      for (const WorkloadId id : stopping) state.apply(WorkloadStopped{id});
      if (give_up_late_repairs()) quiet = 0;
      if (quiet > 3 && stopping.empty()) {
        check_who_claimed();
        check_whoever_moved_runs();
        return evicted;
      }
    }
    return -1;
  }

  // Each beside its minimum, and when nobody who waits and is held up by nobody could have had the room. Whether some did.
  bool check_who_took_steps(const Plan& plan) {
    Plan others = plan;
    const auto is_step = [&](const Start& start) { return !engine_.state.workload(start.workload).step_of.is_none(); };
    const auto steps = static_cast<std::int64_t>(std::erase_if(others.starts, is_step));
    steps_ += steps;
    for (const Eviction& eviction : plan.evictions) {
      const WorkloadId minimum = engine_.state.minimum_of(eviction.workload);
      const bool alone = minimum != eviction.workload && !is_evicted(plan, minimum);
      shrunk_ += alone ? 1 : 0;
      whole_ += !alone && minimum != eviction.workload ? 1 : 0;
    }
    if (steps == 0) return false;
    check_growth_pays(plan);
    EXPECT_TRUE(plan.migrations.empty());
    if (!plan.evictions.empty()) {
      check_steps_leave_room_to_who_goes(plan, others);
      return true;
    }
    // Whom others start beside may have room from the next cycle on.
    if (others.moves_somebody()) return true;
    ++grown_alone_;
    // Room that is promised to some is none for others, and what is promised changes with what the steps take.
    if (plan.shadows || !engine_.state.shadows().empty() || steps_take_promises(plan)) return true;
    Engine without_them{.state = engine_.state.fork()};
    without_them.state.adopt(others);
    check_nobody_fits(without_them);
    return true;
  }
  // What this cycle promised, and kept others away from, may be theirs: then the plan tells of no promise, and another cycle follows.
  bool steps_take_promises(const Plan& plan) const {
    if (plan.finished) return false;
    const State& state = engine_.state;
    bool take = false;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (take || workload.phase != Phase::kPending || state.is_kept_aside(id)) return;
      take = std::ranges::any_of(plan.starts, [&](const Start& start) {
        return !state.workload(start.workload).step_of.is_none() && takes_promises_of(state, start.workload, id);
      });
    });
    return take;
  }
  // By this plan, or in this moment.
  bool begins(const Plan& plan, WorkloadId id) const {
    const Workload& workload = engine_.state.workload(id);
    return std::ranges::find(plan.begins, id) != plan.begins.end() ||
           std::ranges::find(plan.starts, id, &Start::workload) != plan.starts.end() ||
           std::ranges::find(plan.repairs, id, &Repair::workload) != plan.repairs.end() ||
           (workload.phase == Phase::kRunning && workload.started == plan.now);
  }
  // For as many steps as each really takes.
  void check_growth_pays(const Plan& plan) {
    const State& state = engine_.state;
    std::map<WorkloadId, std::vector<WorkloadId>> added;
    for (const Start& start : plan.starts) {
      const Workload& workload = state.workload(start.workload);
      if (!workload.step_of.is_none()) added[workload.step_of].push_back(start.workload);
    }
    for (const auto& [minimum, steps] : added) {
      const Growing growing{.minimum = minimum, .steps = steps, .begins = begins(plan, minimum)};
      Growth growth;
      for (const WorkloadId step : steps) growth.add(state.shape(state.workload(step).shape));
      EXPECT_TRUE(growth_pays(state, growing, growth, plan.now)) << minimum.value() << " restarts for too little";
    }
  }
  // Only those who begin take steps then, and a single one who goes at once starts in the next cycle if he would without them.
  void check_steps_leave_room_to_who_goes(const Plan& plan, const Plan& others) {
    for (const Start& start : plan.starts) {
      EXPECT_TRUE(begins(plan, engine_.state.minimum_of(start.workload))) << "step " << start.workload.index();
    }
    std::vector<WorkloadId> gone;
    for (const Eviction& each : plan.evictions) {
      if (engine_.state.workload(each.workload).step_of.is_none() && each.stop_by <= now_)
        gone.push_back(each.workload);
    }
    if (gone.size() != 1 || !starts_next(others, gone.front())) return;
    ++(starts_next(plan, gone.front()) ? left_room_ : took_room_);
  }
  bool starts_next(const Plan& plan, WorkloadId id) const {
    Engine engine{.state = engine_.state.fork()};
    engine.state.adopt(plan);
    const Plan next = run_cycle(engine, now_, Effort::unbounded());
    return next.evictions.empty() && std::ranges::find(next.starts, id, &Start::workload) != next.starts.end();
  }
  static bool is_evicted(const Plan& plan, WorkloadId id) {
    return std::ranges::find(plan.evictions, id, &Eviction::workload) != plan.evictions.end();
  }
  void check_nobody_fits(Engine& engine) const {
    const State& state = engine.state;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase != Phase::kPending || !is_held_up_by_nobody(state, id)) return;
      const Line& line = *state.lines()[state.line_of(workload.queue).index()];
      if (line.find(workload.shape)->gate != ReasonCode::kNone) return;
      const Shape& shape = state.shape(workload.shape);
      const AmountList asked = asked_by(state, workload.queue, shape, 0);
      const Claimant claimant{id, workload.queue, shape.terms, asked, now_};
      EXPECT_FALSE(PlainClaim(engine, claimant).fits_without({})) << "workload " << id.index() << " fits";
    });
  }

  // What the engine remembers makes it faster, and nothing else.
  Plan cycle_as_if_looked_at_anew() {
    const QuietLines quiet = std::exchange(engine_.quiet, {});
    const std::uint64_t stand = std::exchange(engine_.shadows_stand_at, 0);
    const Plan anew = run_cycle(engine_, now_, Effort::unbounded());
    engine_.quiet = quiet;
    engine_.shadows_stand_at = stand;
    Plan plan = run_cycle(engine_, now_, Effort::unbounded());
    EXPECT_EQ(plan, anew);
    return plan;
  }

  // A second goes by, in which whoever must stops, and then one cycle.
  void tick() {
    State& state = engine_.state;
    now_ = now_ + Duration{1000};
    const std::vector<WorkloadId> stopping = state.stopping();
    for (const WorkloadId id : stopping) {
      if (state.workload(id).stop_by <= now_) state.apply(WorkloadStopped{id});
    }
    if (state.keeps_time()) state.apply(TimePassed{now_});
    end_who_ran_too_long();
    for (bool finished = false; !finished;) {
      const Plan plan = cycle_as_if_looked_at_anew();
      check_who_goes(plan);
      note_when_they_must_run(plan);
      state.adopt(plan);
      finished = plan.finished;
    }
    for (const auto& [id, by] : must_run_by_) {
      EXPECT_TRUE(state.workload(id).phase != Phase::kStarting || now_ <= by) << "workload " << id.index();
    }
  }

  // Whom nobody in its line holds up waits neither beside room in which it fits, nor beside what it may reclaim, unless its
  // queue has patience and it may fit in time without that. How many might have.
  int check_nobody_waits_for_nothing() {
    int looked_at = 0;
    State& state = engine_.state;
    const Plan& last = plans_.back();
    // Whom room was given to in one cycle, or who begins in it, may have to give it back from the next one on.
    if (!last.starts.empty() || !last.begins.empty()) return 0;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (workload.phase != Phase::kPending || !is_held_up_by_nobody(state, id)) return;
      // What is promised to others is not for him: whose claim is the stronger takes it, and does not stand back.
      const Line& line = *state.lines()[state.line_of(workload.queue).index()];
      if (line.find(workload.shape)->gate == ReasonCode::kReserved) {
        EXPECT_FALSE(state.shadows().empty()) << "workload " << id.index() << " stands back for nobody";
        return;
      }
      const Shape& shape = state.shape(workload.shape);
      const AmountList asked = asked_by(state, workload.queue, shape, 0);
      const Claimant claimant{id, workload.queue, shape.terms, asked, now_};
      PlainClaim reclaiming(engine_, claimant, EvictionRule::kReclaim);
      EXPECT_FALSE(reclaiming.fits_without({})) << "workload " << id.index() << " fits";
      const Time until = workload.submitted + state.queues()[workload.queue.index()].quota.patience;
      if (reclaiming.victims().empty() || reclaiming.victims().size() > 6) return;
      if (now_ < until && fits_when_others_have_ended(claimant, until)) return;
      ++looked_at;
      EXPECT_FALSE(reclaiming.cheapest()) << "workload " << id.index() << " has a right to what would do";
    });
    return looked_at;
  }

  std::int64_t took_at_once() const { return took_at_once_; }
  std::int64_t took_on_their_side() const { return took_on_their_side_; }
  const State& state() const { return engine_.state; }
  Time now() const { return now_; }
  const std::vector<Plan>& plans() const { return plans_; }
  std::int64_t stopped_by_windows() const { return by_window_; }
  std::int64_t stopped_by_budgets() const { return by_budget_; }
  std::int64_t unpaid() const { return unpaid_; }
  std::int64_t cooled() const { return cooled_; }
  std::int64_t moves() const { return moves_; }
  std::int64_t repairs() const { return repairs_; }
  std::int64_t taken_for_repairs() const { return taken_for_repairs_; }
  std::int64_t moved_whole() const { return moved_whole_; }
  std::int64_t taken_for_moves() const { return taken_for_moves_; }
  std::int64_t given_up() const { return given_up_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t shrunk() const { return shrunk_; }
  std::int64_t whole() const { return whole_; }
  std::int64_t grown_alone() const { return grown_alone_; }
  std::int64_t left_room() const { return left_room_; }
  std::int64_t took_room() const { return took_room_; }

 private:
  using Places = std::map<std::uint32_t, PodPlacement>;

  Places places_of(WorkloadId id) const {
    Places places;
    for_each_leaving_pod(engine_.state, id, [&](const Pod& pod) { places[pod.number] = pod.place(); });
    return places;
  }
  std::vector<Places> left_before(const std::vector<Repair>& repairs) const {
    std::vector<Places> left;
    for (const Repair& each : repairs) left.push_back(places_of(each.workload));
    return left;
  }

  // Nobody who is left is moved, and it lacks nobody any more who has not his room.
  void check_who_was_repaired(const Plan& plan, const std::vector<Places>& left) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const WorkloadId id = plan.repairs[i].workload;
      ++repairs_;
      taken_for_repairs_ += std::ranges::count(plan.evictions, id, &Eviction::claimant);
      if (std::ranges::find(plan.evictions, id, &Eviction::workload) != plan.evictions.end()) continue;
      const Places now = places_of(id);
      for (const auto& [number, place] : left[i]) EXPECT_EQ(now.at(number), place) << "workload " << id.index();
      const Repairing* const repairing = engine_.state.find_repairing(id);
      EXPECT_TRUE(repairing == nullptr || repairing->lost.empty()) << "workload " << id.index();
    }
  }

  // No gang is half beyond its deadline.
  bool give_up_late_repairs() {
    State& state = engine_.state;
    std::vector<WorkloadId> late;
    for (const auto& [id, repairing] : state.repairing()) {
      if (!repairing.lost.empty() && repairing.until <= now_) late.push_back(id);
    }
    for (const WorkloadId id : late) state.apply(RepairGivenUp{id});
    given_up_ += std::ssize(late);
    return !late.empty() || !state.repairing().empty();
  }

  // Where everybody with room is covered, if some are to be moved.
  std::map<WorkloadId, QueueId> covered_before(const std::vector<Migration>& migrations) const {
    std::map<WorkloadId, QueueId> covered;
    if (migrations.empty()) return covered;
    const State& state = engine_.state;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      if (has_room(workload.phase)) covered[id] = state.quotas().unit(workload.unit).covered_at;
    });
    return covered;
  }

  // Whether somebody who goes on was inside a queue's floor, and is not by now: what he leaves may cover others.
  bool some_left(const std::map<WorkloadId, QueueId>& covered, QueueId queue) const {
    const State& state = engine_.state;
    return std::ranges::any_of(covered, [&](const auto& each) {
      const Workload* const workload = state.workloads().find(each.first);
      return workload != nullptr && has_room(workload->phase) && is_at_or_below(each.second, queue) &&
             !is_at_or_below(state.quotas().unit(workload->unit).covered_at, queue);
    });
  }

  // With consent, for somebody who starts, once an hour; to where it is what it was.
  void check_who_was_moved(const Plan& plan, const std::map<WorkloadId, QueueId>& covered) {
    const State& state = engine_.state;
    const std::vector<Migration>& migrations = plan.migrations;
    const bool nothing_else = plan.evictions.empty() && plan.begins.empty() && plan.unpaid.empty();
    for (std::size_t i = 0; i < migrations.size(); ++i) {
      const WorkloadId id = migrations[i].start.workload;
      const Workload& workload = state.workload(id);
      EXPECT_TRUE(has_room(workload.phase)) << "workload " << id.index();
      if (is_for_its_own_sake(migrations[i])) {
        ++moved_whole_;
        taken_for_moves_ += std::ranges::count(plan.evictions, id, &Eviction::claimant);
        continue;
      }
      EXPECT_TRUE(state.shape(workload.shape).terms.movable);
      EXPECT_TRUE(has_room(state.workload(migrations[i].claimant).phase));
      // Who starts may push up one who is inside above, as ever, and a smaller one may fit into what that one had.
      const QueueId now = state.quotas().unit(workload.unit).covered_at;
      const QueueId before = covered.at(id);
      EXPECT_TRUE(!nothing_else || now.is_none() || now == before || is_at_or_below(before, now) ||
                  some_left(covered, now))
          << "workload " << id.index();
      const auto [last, first] = moved_.try_emplace(id, plan.now);
      EXPECT_TRUE(first || last->second + kMoveCooldown <= plan.now) << "workload " << id.index() << " is moved again";
      last->second = plan.now;
      ++moves_;
    }
  }

  void check_whoever_moved_runs() {
    for (const auto& [id, when] : moved_) {
      const Workload* const workload = engine_.state.workloads().find(id);
      const bool taken = workload == nullptr || workload->evicted_by != EvictionRule::kDefragment;
      EXPECT_TRUE(taken || workload->phase == Phase::kRunning || workload->phase == Phase::kEnded ||
                  workload->phase == Phase::kCancelled)
          << "workload " << id.index();
    }
  }

  static bool is_held_up_by_nobody(const State& state, WorkloadId id) {
    const QueueId line = state.line_of(state.workload(id).queue);
    const auto standing = [&](WorkloadId each) {
      return standing_of(state, line, state.shape(state.workload(each).shape).user, state.key_of(each));
    };
    bool free = true;
    if (state.is_kept_aside(id)) return false;
    if (*state.queues()[line.index()].order != Order::kFifo) return true;
    const Shape& own = state.shape(state.workload(id).shape);
    state.workloads().for_each([&](WorkloadId other, const Workload& workload) {
      if (workload.phase != Phase::kPending || state.line_of(workload.queue) != line) return;
      if (state.is_kept_aside(other) || !(standing(other) < standing(id))) return;
      free = free && !holds_up(state, line, *state.lines()[line.index()]->find(workload.shape), own);
    });
    return free;
  }

  // Its first way is the only one that is looked at; with all of them out who have no run limit, or one that is over by then.
  bool fits_when_others_have_ended(const Claimant& claimant, Time by) {
    State& state = engine_.state;
    Trial trial(state.ledger_for_trial(), state.quotas_for_trial());
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const Terms& terms = state.shape(workload.shape).terms;
      if (workload.phase != Phase::kRunning || (terms.run_limit && state.end_of(id, workload.started) > by)) return;
      for_each_pod(state, id, [&](const Pod& pod) {
        trial.apply(move_of(state.request(pod.request), pod.place(), Move::Direction::kGive));
      });
      trial.remove(workload.unit);
    });
    return PlainClaim(engine_, claimant).fits_without({});
  }

  // Whoever is repaired or moved may be of another flavor then.
  void holds_now(QuotaLedger& quotas, WorkloadId id, const AmountList& held) const {
    const UnitId unit = engine_.state.workload(id).unit;
    if (held != quotas.held_by(unit)) quotas.set_held(unit, held);
  }
  void move_for(WorkloadId claimant, const Plan& plan, QuotaLedger& quotas) const {
    const State& state = engine_.state;
    for (const Migration& each : plan.migrations) {
      const Shape& shape = state.shape(state.workload(each.start.workload).shape);
      if (each.claimant == claimant) holds_now(quotas, each.start.workload, amounts_held(state, shape, each.start));
    }
  }

  // Nobody goes for somebody against whom he is covered, and whoever others go for starts in the same plan.
  void check_who_goes(const Plan& plan) {
    plans_.push_back(plan);
    const State& state = engine_.state;
    QuotaLedger quotas = state.quotas();
    // Whoever begins now ends later than was foreseen, and may be covered in place of others.
    for (const WorkloadId id : plan.begins) {
      const Workload& begins = state.workload(id);
      quotas.set_end(begins.unit, enforced_end(state.shape(begins.shape).terms, plan.now));
    }
    std::size_t gone = 0;
    for (; gone < plan.evictions.size() && plan.evictions[gone].claimant.is_none(); ++gone) {
      EXPECT_TRUE(is_for_nobody(plan.evictions[gone].rule));
      quotas.remove(state.workload(plan.evictions[gone].workload).unit);
    }
    const auto go_for_the_gang = [&](WorkloadId gang) {
      const Workload& claimant = state.workload(gang);
      for (; gone < plan.evictions.size() && plan.evictions[gone].claimant == gang; ++gone) {
        const UnitId victim = state.workload(plan.evictions[gone].workload).unit;
        const QueueId covered_at = quotas.unit(victim).covered_at;
        const WorkloadId minimum = state.minimum_of(plan.evictions[gone].workload);
        const bool with_another = minimum != plan.evictions[gone].workload && is_evicted(plan, minimum);
        EXPECT_TRUE(with_another || covered_at.is_none() || is_at_or_below(claimant.queue, covered_at))
            << "workload " << plan.evictions[gone].workload.index() << " goes for " << gang.index();
        quotas.remove(victim);
      }
    };
    for (const Repair& repair : plan.repairs) {
      go_for_the_gang(repair.workload);
      holds_now(quotas, repair.workload, held_when_repaired(state, repair.workload, repair.pods));
    }
    for (const Migration& migration : plan.migrations) {
      if (!is_for_its_own_sake(migration)) continue;
      go_for_the_gang(migration.claimant);
      move_for(migration.claimant, plan, quotas);
    }
    for (const Start& start : plan.starts) {
      const Workload& claimant = state.workload(start.workload);
      const bool is_step = !claimant.step_of.is_none();
      EXPECT_EQ(state.is_kept_aside(start.workload), is_step) << "workload " << start.workload.index();
      std::vector<UnitId> units;
      for (; gone < plan.evictions.size() && plan.evictions[gone].claimant == start.workload; ++gone) {
        const Workload& victim = state.workload(plan.evictions[gone].workload);
        const QueueId covered_at = quotas.unit(victim.unit).covered_at;
        // Whoever has a right to a minimum has it to what runs beside it.
        const bool with_another = !victim.step_of.is_none() && is_evicted(plan, victim.step_of);
        EXPECT_TRUE(with_another || covered_at.is_none() || is_at_or_below(claimant.queue, covered_at))
            << "workload " << plan.evictions[gone].workload.index() << " goes for " << start.workload.index();
        units.push_back(victim.unit);
        const bool lost = state.lost_to_a_share(start.workload);
        took_on_their_side_ += lost && plan.evictions[gone].rule == EvictionRule::kFairShare ? 1 : 0;
      }
      if (!units.empty()) claimants_.push_back(start.workload);
      const Duration patience = state.queues()[claimant.queue.index()].quota.patience;
      if (!units.empty() && plan.now < claimant.submitted + patience) ++took_at_once_;
      for (const UnitId unit : units) quotas.remove(unit);
      move_for(start.workload, plan, quotas);
      const Shape& shape = state.shape(claimant.shape);
      const UnitId unit = quotas.add({.workload = start.workload,
                                      .queue = claimant.queue,
                                      .priority = shape.terms.priority,
                                      .admitted = plan.now,
                                      .may_be_covered = !shape.terms.best_effort && !start.best_effort,
                                      .end = state.end_of(start.workload, plan.now),
                                      .covered_at = {}},
                                     amounts_held(state, shape, start));
      if (state.borrows_again_at(start.workload) <= plan.now) continue;
      ++cooled_;
      EXPECT_FALSE(quotas.unit(unit).covered_at.is_none()) << "workload " << start.workload.index() << " borrows";
    }
    EXPECT_EQ(gone, plan.evictions.size()) << "each of them for somebody who starts, in the order of the starts";
  }
  static bool is_for_nobody(EvictionRule rule) {
    return rule == EvictionRule::kWindow || rule == EvictionRule::kBudget;
  }
  void note_who_stops(const Plan& plan) {
    for (const Eviction& eviction : plan.evictions) {
      by_window_ += eviction.rule == EvictionRule::kWindow ? 1 : 0;
      by_budget_ += eviction.rule == EvictionRule::kBudget ? 1 : 0;
    }
    unpaid_ += std::ssize(plan.unpaid);
  }
  bool is_at_or_below(QueueId low, QueueId high) const {
    while (!low.is_none() && low != high) low = engine_.state.quotas().tree().parent(low);
    return !low.is_none();
  }

  // Who reclaims has his room within his queue's time, where nobody else is on the way out of his nodes.
  void note_when_they_must_run(const Plan& plan) {
    const State& state = engine_.state;
    std::set<NodeId> left_by_others;
    const auto leaves = [&](WorkloadId id) {
      for_each_pod(state, id, [&](const Pod& pod) { left_by_others.insert(pod.node); });
    };
    for (const WorkloadId id : state.stopping()) leaves(id);
    std::size_t gone = 0;
    for (; gone < plan.evictions.size() && plan.evictions[gone].claimant.is_none(); ++gone) {
      leaves(plan.evictions[gone].workload);
    }
    for (const Start& start : plan.starts) {
      must_run_by_.erase(start.workload);
      const bool alone =
          std::ranges::none_of(start.pods, [&](const PodPlacement& pod) { return left_by_others.contains(pod.node); });
      bool reclaims = gone < plan.evictions.size() && plan.evictions[gone].claimant == start.workload;
      for (; gone < plan.evictions.size() && plan.evictions[gone].claimant == start.workload; ++gone) {
        reclaims = reclaims && plan.evictions[gone].rule == EvictionRule::kReclaim;
        leaves(plan.evictions[gone].workload);
      }
      if (!alone || !reclaims) continue;
      const QueueId queue = state.workload(start.workload).queue;
      must_run_by_[start.workload] = now_ + state.queues()[queue.index()].quota.reclaim_within + Duration{1000};
    }
  }

  // Without news in between, whoever others went for runs, or went in turn.
  void check_who_claimed() {
    for (const WorkloadId id : std::exchange(claimants_, {})) {
      const Workload& workload = engine_.state.workload(id);
      EXPECT_TRUE(workload.phase == Phase::kRunning || workload.evicted_by != EvictionRule::kNone)
          << "workload " << id.index();
    }
  }

  // Open for some hours at a time, far longer than it takes to come to rest.
  void declare_window() {
    State& state = engine_.state;
    Window window;
    const bool are_hours = rng_.below(4) == 0;
    if (!are_hours) window.queue = QueueId(static_cast<std::size_t>(rng_.below(state.queues().size())));
    if (!are_hours && rng_.below(4) != 0) window.guarantee = random_amounts(rng_, 0);
    if (!are_hours && rng_.below(6) == 0) window.limit = random_bounds(rng_, 2);
    if (!are_hours && rng_.below(6) == 0) window.lending_limit = random_amounts(rng_, 0, false);
    if (!are_hours && rng_.below(6) == 0) window.weight_milli = 2000;
    Time at = now_ + Duration{rng_.between(0, 5) * 10'000'000};
    for (int i = 0; i < 20; ++i) {
      const Time to = at + Duration{rng_.between(1, 10) * 10'000'000};
      window.open.push_back({at, to});
      at = to + Duration{rng_.between(0, 5) * 10'000'000};
    }
    window.known_until = at;
    state.apply(TimePassed{now_});
    const Event event = WindowChanged{static_cast<std::uint32_t>(state.windows().size()), window};
    if (!state.refusal(event)) state.apply(event);
  }

  // Who has run as long as he may is ended before.
  void turn_calendar() {
    State& state = engine_.state;
    now_ = std::max(now_, state.next_turn());
    end_who_ran_too_long();
    state.apply(CalendarTurned{now_});
  }
  void end_who_ran_too_long() {
    State& state = engine_.state;
    std::vector<WorkloadId> over;
    state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
      const bool is_over = workload.step_of.is_none() && state.end_of(id, workload.started) <= now_;
      if (workload.phase == Phase::kRunning && is_over) over.push_back(id);
    });
    for (const WorkloadId id : over) state.apply(WorkloadOverran{id});
  }

  void submit() {
    const QueueId queue(static_cast<std::size_t>(rng_.below(engine_.state.queues().size())));
    WorkloadSubmitted job = submission(queue, kind_.racks ? gang_in_racks(rng_) : random_gang(rng_));
    job.name = kind_.name;
    if (kind_.hostile) make_hostile(rng_, job.shape.terms);
    if (kind_.movable) job.shape.terms.movable = rng_.below(3) > 0;
    job.at = now_;
    job.user = one_of(rng_, {"ann", "bob", ""});
    if (rng_.below(8) == 0) job.not_before = now_ + Duration{rng_.between(1, 5) * 1000};
    const std::size_t others = engine_.state.workloads().next_id().index();
    for (std::int64_t left = rng_.below(6) == 0 ? rng_.between(1, 2) : 0; left > 0 && others > 0; --left) {
      const WorkloadId on(static_cast<std::size_t>(rng_.below(others)));
      job.after.push_back({on, static_cast<DependsOn>(rng_.below(kDependsOnCount))});
    }
    if (rng_.below(8) == 0) {
      const auto then = static_cast<AfterWait>(rng_.below(std::size(kAfterWaitNames)));
      const std::int32_t raise = then == AfterWait::kRaise ? 2 : 0;
      job.max_wait = MaxWait{.length = Duration{rng_.between(1, 5) * 1000}, .then = then, .raise = raise};
    }
    const std::vector<Window>& windows = engine_.state.windows();
    for (std::uint32_t i = 0; i < windows.size(); ++i) {
      if (windows[i].queue.is_none() && rng_.below(2) == 0) job.shape.terms.hours = i;
    }
    // Of several kinds of work, of each one or two at a time.
    if (rng_.below(6) == 0) {
      job.series = SeriesId(static_cast<std::size_t>(rng_.below(3)));
      job.at_most = static_cast<std::int32_t>(rng_.between(1, 2));
    }
    if (kind_.elastic) job.shape.terms.resizes_live = rng_.below(2) == 0;
    if (kind_.elastic && rng_.below(4) == 0) set_head_before(job.shape);
    if (kind_.repairs) follow_a_policy(job);
    if (engine_.state.refusal(job)) job.max_wait.reset();  // it insists on a floor
    engine_.state.apply(job);
    if (kind_.elastic && rng_.below(3) > 0) submit_steps(std::move(job));
  }
  // Every other one; by draws of their own, so that all else is as without.
  void follow_a_policy(WorkloadSubmitted& job) {
    Rng rng(Seed{engine_.state.workloads().next_id().index()}, std::uint64_t{1} << 50);
    if (rng.below(2) == 0) job.on_failure = random_failure_policy(rng, job.shape.ways.front().size());
  }
  // A pod set of another kind, which does not grow.
  void set_head_before(WorkloadShape& shape) {
    PodRequest head{.cpu_milli = rng_.between(0, 2) * 1000};
    head.flavors = FlavorSet::all();
    for (PodSets& way : shape.ways) way.insert(way.begin(), PodSet{head, 1});
  }
  void submit_steps(WorkloadSubmitted step) {
    step.step_of = WorkloadId(engine_.state.workloads().next_id().index() - 1);
    step.not_before = {};
    step.after.clear();
    step.series = {};
    step.at_most = 1;
    step.max_wait.reset();
    step.shape.terms.movable = false;
    const std::optional<WorkloadSubmitted> of_last = one_more_of(step, step.shape.ways.front().size() - 1);
    if (!of_last) return;
    const WorkloadSubmitted of_first = *one_more_of(step, 0);
    // By draws of their own, so that all else is as without.
    Rng rng(Seed{engine_.state.workloads().next_id().index()}, std::uint64_t{1} << 51);
    for (std::int64_t left = rng_.between(1, 4); left > 0; --left) {
      engine_.state.apply(rng.below(3) == 0 ? of_first : *of_last);
    }
  }
  // One pod of that set; none if it has slices.
  static std::optional<WorkloadSubmitted> one_more_of(WorkloadSubmitted step, std::size_t set) {
    for (PodSets& way : step.shape.ways) {
      PodSet own = way[set];
      if (own.topology.has_slices()) return std::nullopt;
      own.count = 1;
      way = {own};
    }
    if (step.on_failure) step.on_failure->sets = {step.on_failure->sets[set]};
    return step;
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
      change.now.name = before.name;
      if (kind_.hostile) make_hostile(rng_, change.now.quota);
    }
    if (!state.refusal(change)) state.apply(change);
  }
  // To what has been used of it.
  void cut_a_budget() {
    State& state = engine_.state;
    state.apply(TimePassed{now_});
    for (std::size_t i = 0; i < state.queues().size(); ++i) {
      QueueChanged change{QueueId(i), state.queues()[i]};
      if (!change.now.quota.budget_gpu_us || rng_.below(2) == 0) continue;
      const auto used = static_cast<std::int64_t>(state.budget_of(change.queue).used_gpu_us);
      change.now.quota.budget_gpu_us = std::min(*change.now.quota.budget_gpu_us, used + rng_.between(0, 1'000'000));
      if (!state.refusal(change)) state.apply(change);
    }
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
  SettlingKind kind_;
  Engine engine_;
  Time now_{1'000'000};
  std::vector<Plan> plans_;
  std::map<WorkloadId, Time> must_run_by_;
  std::vector<WorkloadId> claimants_;  // for whom others went since it last came to rest
  std::int64_t by_window_ = 0;
  std::int64_t by_budget_ = 0;
  std::int64_t unpaid_ = 0;
  std::int64_t took_on_their_side_ = 0;  // by rule 14, of those who had lost by it
  std::int64_t took_at_once_ = 0;        // though their queues have patience
  std::int64_t cooled_ = 0;              // starts inside a floor of those who may not borrow
  std::map<WorkloadId, Time> moved_;     // when last
  std::int64_t moves_ = 0;
  std::int64_t repairs_ = 0;
  std::int64_t taken_for_repairs_ = 0;  // who went
  std::int64_t moved_whole_ = 0;
  std::int64_t taken_for_moves_ = 0;  // who went so that a gang could move whole
  std::int64_t given_up_ = 0;
  std::int64_t steps_ = 0;        // that were taken
  std::int64_t shrunk_ = 0;       // that went alone
  std::int64_t whole_ = 0;        // that went with their minimum
  std::int64_t grown_alone_ = 0;  // cycles in which nothing but steps was taken
  std::int64_t left_room_ = 0;    // cycles with steps that were taken beside somebody who goes, and goes on
  std::int64_t took_room_ = 0;    // and where he would have, without them
};

}  // namespace berth
