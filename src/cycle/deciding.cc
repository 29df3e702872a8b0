#include "cycle/deciding.h"

#include <algorithm>
#include <utility>

#include "cycle/deliverable.h"
#include "cycle/ranks.h"
#include "cycle/recutting.h"
#include "fairness/gates.h"

namespace berth {
namespace {

// Who borrows comes into no floor later where he would be in the way of others' cells then: nobody asks again.
bool borrows_in_the_way(const OneCycle& cycle, const Start& start) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(start.workload);
  const Shape& shape = state.shape(workload.shape);
  if (state.flavors_with_cells().empty() || shape.terms.best_effort || start.best_effort) return false;
  const QueueId covered_at = cycle.trial.quotas().would_be_covered_at(workload.queue, amounts_held(state, shape, start),
                                                                      state.end_of(start.workload, cycle.plan.now));
  return covered_at.is_none() && !could_be_covered_there(state, cycle.trial, start, gone_by(cycle, start));
}

template <class Refusal>
bool stands_back(const Refusal& each) {
  return each.gate == ReasonCode::kReserved;
}

}  // namespace

Time gone_by(const OneCycle& cycle, const Start& start) {
  if (!start.waits) return cycle.plan.now;
  return cycle.reserved.begins_by(start, cycle.plan.now) + (Duration{0} - cut_before(cycle.engine.state, start));
}

void evict(OneCycle& cycle, Eviction eviction) {
  const State& state = cycle.engine.state;
  const WorkloadId minimum = state.minimum_of(eviction.workload);
  if (state.elastic().contains(minimum)) {
    const auto is_decided = [&](WorkloadId id) {
      return std::ranges::find(cycle.plan.evictions, id, &Eviction::workload) != cycle.plan.evictions.end();
    };
    if (is_decided(eviction.workload)) return;
    const bool restarts = !state.shape(state.workload(minimum).shape).terms.resizes_live;
    if (restarts && std::ranges::any_of(state.steps_of(minimum), is_decided)) eviction.lost_gpu_s = 0;
    for (const WorkloadId step : state.steps_of(eviction.workload)) {
      if (state.workload(step).phase != Phase::kRunning || is_decided(step)) continue;
      evict(cycle, {step, eviction.claimant, eviction.rule, eviction.stop_by, 0});
    }
  }
  cycle.vacating.leaves(state, eviction.workload, eviction.stop_by <= cycle.plan.now);
  std::erase(cycle.plan.unpaid, eviction.workload);
  // Those for nobody's sake go before all others.
  const auto at =
      eviction.claimant.is_none()
          ? std::ranges::find_if(cycle.plan.evictions, [](const Eviction& each) { return !each.claimant.is_none(); })
          : cycle.plan.evictions.end();
  cycle.plan.evictions.insert(at, eviction);
  cycle.leads_to_another = true;  // who was evicted waits now
}

void migrate(OneCycle& cycle, const Migration& migration) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(migration.start.workload);
  const bool at_once = migration.stop_by <= cycle.plan.now;
  cycle.vacating.leaves(state, migration.start.workload, at_once);
  if (migration.start.waits) {
    cycle.vacating.waits(state, migration.start);
  } else {
    cycle.trial.set_end(workload.unit, enforced_end(state.shape(workload.shape).terms, cycle.plan.now));
    hold_cuts(cycle, migration.start);
  }
  cycle.trial.note_placed({workload.unit, migration.start.workload, gpus_of(state, migration.start), true});
  cycle.plan.migrations.push_back(migration);
  Start& start = cycle.plan.migrations.back().start;
  start = along_the_tree(state, std::move(start));
  cycle.plan.finished = false;  // where they are now the next cycle knows
}

void add_unit(OneCycle& cycle, const Start& start) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(start.workload);
  const Shape& shape = state.shape(workload.shape);
  const UnitId unit = cycle.trial.add({.workload = start.workload,
                                       .queue = workload.queue,
                                       .user = workload.user,
                                       .priority = shape.terms.priority,
                                       .admitted = cycle.plan.now,
                                       .may_be_covered = !shape.terms.best_effort && !start.best_effort,
                                       .only_borrows = start.only_borrows,
                                       .end = state.end_of(start.workload, cycle.plan.now),
                                       .covered_at = {}},
                                      amounts_held(state, shape, start));
  cycle.trial.note_placed({unit, start.workload, gpus_of(state, start)});
}

bool some_stand_back(const OneCycle& cycle) {
  const State& state = cycle.engine.state;
  bool some = std::ranges::any_of(cycle.plan.blocked, stands_back<Blocked>);
  state.lines_in_use().for_each([&](QueueId queue) {
    const Line& line = *state.lines()[queue.index()];
    some = some || (line.gated() > 0 && std::ranges::any_of(line.shapes(), stands_back<ShapeInLine>));
  });
  return some;
}

void decide(OneCycle& cycle, Claimed claimed) {
  const State& state = cycle.engine.state;
  for (const Eviction& eviction : claimed.evictions) evict(cycle, eviction);
  for (const Migration& migration : claimed.migrations) migrate(cycle, migration);
  claimed.start.waits = cycle.vacating.holds_up(state, claimed.start);
  if (claimed.start.waits) {
    cycle.vacating.waits(state, claimed.start);
  } else {
    leave_dirty(cycle, claimed.start);
    hold_cuts(cycle, claimed.start);
  }
  claimed.start.only_borrows = borrows_in_the_way(cycle, claimed.start);
  add_unit(cycle, claimed.start);
  // What it is to those who were tried before the next cycle knows.
  if (may_suit_others(state, claimed.start)) cycle.leads_to_another = true;
  if (cycle.reserved.started(claimed.start, claimed.held_elsewhere)) cycle.leads_to_another = true;
  cycle.plan.starts.push_back(along_the_tree(state, std::move(claimed.start)));
  if (cycle.shadows.started(cycle.plan.starts.back())) {
    // Who stood back for what is promised no more is tried again.
    if (some_stand_back(cycle)) cycle.plan.finished = false;
    std::erase_if(cycle.plan.blocked, stands_back<Blocked>);
    cycle.leads_to_another = true;
  }
  cycle.rights.reset();
}

}  // namespace berth
