#include "cycle/run_cycle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "cycle/above_bounds.h"
#include "cycle/attempt.h"
#include "cycle/cycle.h"
#include "cycle/deciding.h"
#include "cycle/defragment.h"
#include "cycle/fallen_limits.h"
#include "cycle/feasibility.h"
#include "cycle/growing.h"
#include "cycle/kept_out.h"
#include "cycle/parting.h"
#include "cycle/recutting.h"
#include "cycle/repair_gangs.h"
#include "cycle/spent_budgets.h"
#include "cycle/taking_out.h"
#include "fairness/kept_back.h"
#include "fairness/order.h"
#include "state/kept_out.h"

namespace berth {
namespace {

// Whose room has been vacated.
void begin(OneCycle& cycle) {
  for (const WorkloadId id : cycle.engine.state.starting()) {
    const State& state = cycle.engine.state;
    // Who migrates has to stop first.
    if (state.workload(id).phase == Phase::kMigrating || cycle.vacating.holds_up(state, id)) continue;
    cycle.vacating.begins(id);
    const Workload& workload = state.workload(id);
    // Of a gang only some begin, and its run limit goes on.
    if (workload.phase != Phase::kRunning) cycle.trial.set_end(workload.unit, state.end_of(id, cycle.plan.now));
    cycle.plan.begins.push_back(id);
  }
}

// Where the calendar has lowered them, or the hours are over.
void keep_limits(OneCycle& cycle) {
  for (const Eviction& eviction : stop_out_of_hours(cycle.engine.state, cycle.trial, cycle.plan.now)) {
    evict(cycle, eviction);
  }
  for (const Eviction& eviction : stop_above_limits(cycle.engine.state, cycle.trial, cycle.plan.now)) {
    evict(cycle, eviction);
  }
}

// Where they are gone.
void keep_budgets(OneCycle& cycle) {
  Unpaid unpaid = stop_unpaid(cycle.engine.state, cycle.trial, cycle.plan.evictions, cycle.plan.now);
  cycle.plan.unpaid = std::move(unpaid.best_effort);
  for (const Eviction& eviction : unpaid.stopped) evict(cycle, eviction);
  if (!cycle.plan.unpaid.empty()) cycle.plan.finished = false;
}

// The answer is shared by all who are alike: another of them, tried for a promise of his own, adds nothing to it.
bool is_said_of_twin(const Plan& plan, const ShapeInLine& known, QueueId line, WorkloadId id) {
  const WorkloadId first = known.waiting.front().workload;
  if (first == id) return false;
  const auto is_of_shape = [&](const Blocked& each) { return each.line == line && each.shape == known.shape; };
  if (std::ranges::any_of(plan.blocked, is_of_shape)) return true;
  return known.blocked() && std::ranges::find(plan.starts, first, &Start::workload) == plan.starts.end();
}

// Whether nobody waits behind it, as nothing that ends would let it start.
enum class Never : std::uint8_t {
  kNo,
  kNoPlace,      // on any node
  kKeptOut,      // by others' floors
  kNowhere,      // for all of it together, as far as could be found
  kAboveBounds,  // wherever there is a place
  kNearNobody,   // as long as those do not come whom it is to be near
};

// Whom others' floors keep out, and who finds no place on the empty cluster, the state knows (find_kept_out() below).
Never never_starts(const OneCycle& cycle, WorkloadId id) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(id);
  if (reason_never(state, state.shape(workload.shape)) != ReasonCode::kNone) return Never::kNoPlace;
  const ShapeInLine& known = *state.lines()[state.line_of(workload.queue).index()]->find(workload.shape);
  if (is_kept_out(known)) return Never::kKeptOut;
  if (is_nowhere(known)) return Never::kNowhere;
  const Shape& shape = state.shape(workload.shape);
  if (is_above_bounds_where_it_fits(state, workload.queue, shape)) return Never::kAboveBounds;
  return lacks_whom_to_be_near(state, cycle.trial.ledger(), shape) ? Never::kNearNobody : Never::kNo;
}

// What floors leave to others, and what bounds are, may be another before long: it is tried again as who was refused by quotas.
ReasonCode gate_of(Never never, const ShapeInLine& known, ReasonCode refused) {
  if (never == Never::kKeptOut || never == Never::kNowhere) return known.gate;
  if (never == Never::kNearNobody) return ReasonCode::kAffinity;
  if (never != Never::kAboveBounds) return ReasonCode::kNone;
  return is_quota_gate(refused) ? refused : ReasonCode::kQuotaLimit;
}

// Said only if it is news: who is tried again and again is not refused anew each time.
void block(OneCycle& cycle, WorkloadId id, const Refused& refused, Never never) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(id);
  Blocked blocked{.line = state.line_of(workload.queue),
                  .shape = workload.shape,
                  .missing = refused.missing,
                  .gate = refused.gate,
                  .by_quota = refused.by_quota};
  const ShapeInLine& known = *state.lines()[blocked.line.index()]->find(blocked.shape);
  if (never != Never::kNo) {
    const bool by_quota = never == Never::kKeptOut || never == Never::kAboveBounds;
    blocked.missing = kMissingForever;
    blocked.gate = gate_of(never, known, refused.gate);
    blocked.by_quota = by_quota;
  }
  if (is_said_of_twin(cycle.plan, known, blocked.line, id)) return;
  const bool same =
      known.gate == blocked.gate && known.by_quota == blocked.by_quota && known.impossible() == (never != Never::kNo);
  if (!known.blocked() || !same) {
    cycle.plan.blocked.push_back(blocked);
  }
}

void part_strangers(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.partings().none()) return;
  for (const Eviction& each : stop_strangers(state, cycle.trial, cycle.plan.evictions, cycle.plan.now)) {
    evict(cycle, each);
  }
}

// What is reserved is chosen anew, and whoever would be in its way is told in time.
void keep_reservations(OneCycle& cycle) {
  if (cycle.reserved.none()) return;
  cycle.reserved.choose();
  for (const Eviction& eviction : cycle.reserved.take_due()) evict(cycle, eviction);
}

// Who stood back for what was reserved is tried again where that is not what it was.
void tell_reservations(OneCycle& cycle) {
  if (cycle.reserved.none() || !cycle.reserved.have_changed()) return;
  cycle.plan.holdings = cycle.reserved.all();
  cycle.plan.finished = false;
}

// What was promised before, as things are now. Where nothing has changed since it was looked at, nothing has here.
void renew_promises(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.shadows().empty() || !cycle.plan.unpaid.empty() || !cycle.plan.migrations.empty()) return;
  const bool moved = cycle.plan.moves_somebody();
  const auto is_due = [&](const Shadow& each) { return each.at <= cycle.plan.now; };
  const bool stand = cycle.engine.shadows_stand_at == state.news() && !moved && !cycle.reserved.have_changed() &&
                     std::ranges::none_of(state.shadows(), is_due);
  if (stand) return;
  cycle.shadows.renew();
}

// Who stood back for what was promised is tried again where that is not what it was; and whom nothing is promised any more may be
// promised it again.
void tell_promises(OneCycle& cycle) {
  if (!cycle.shadows.have_changed()) {
    if (cycle.plan.changes_nothing()) cycle.engine.shadows_stand_at = cycle.engine.state.news();
    return;
  }
  cycle.plan.shadows = cycle.shadows.all();
  cycle.engine.quiet = {};
  if (some_stand_back(cycle)) cycle.plan.finished = false;
}

// The first of whom it is known when he ends has started: lines where nobody could be promised anything before are looked at again.
void tell_first_end(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  const bool is_known = std::ranges::any_of(cycle.plan.starts, [&](const Start& start) {
    return state.shape(state.workload(start.workload).shape).terms.run_limit.has_value();
  });
  if (!is_known || state.limited() > 0) return;
  bool some_blocked = false;
  state.lines_in_use().for_each([&](QueueId queue) {
    const auto& shapes = state.lines()[queue.index()]->shapes();
    some_blocked = some_blocked || std::ranges::any_of(shapes, &ShapeInLine::blocked);
  });
  if (!some_blocked) return;
  cycle.engine.quiet = {};
  cycle.plan.finished = false;
}

// Whoever was let ahead on loan goes when that is due, so that nobody starts later for it than he was promised to.
void take_back_loans(OneCycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.lent().empty() || cycle.shadows.none() || !cycle.plan.migrations.empty()) return;
  for (const WorkloadId id : cycle.shadows.loans_due()) {
    const Eviction eviction{id, WorkloadId(), EvictionRule::kLoan, end_of_grace(state, id, cycle.plan.now),
                            lost_if_taken_gpu_s(state, id, cycle.plan.now)};
    take_out(state, cycle.trial, id, Emptied::kIsToBeScrubbed);
    evict(cycle, eviction);
    cycle.shadows.look_again();
  }
}

// If that is how it is to be. Returns when somebody could start at the earliest, whoever leaves. Who may take the room of others
// does not wait for what reservations leave; and whom only what is promised to others keeps out will have none of that before it is due,
// so whoever has ended by then is not in his way.
Time promise_room(OneCycle& cycle, const CandidateOrder& order, WorkloadId candidate, ReasonCode gate) {
  if (!order.wants_promise(gate)) {
    const bool is_never = order.may_hold_up_in_vain(gate) && cycle.shadows.could_start_from(candidate) == kForever;
    return is_never ? kForever : cycle.plan.now;
  }
  const bool has_a_right = gate == ReasonCode::kPatience || gate == ReasonCode::kVictimsProtected;
  const bool is_promised = cycle.shadows.promise(candidate);
  if (is_promised || has_a_right) return cycle.plan.now;
  const Time from = cycle.shadows.could_start_from(candidate);
  return gate == ReasonCode::kReserved ? std::max(from, cycle.shadows.next_due()) : from;
}

// Starts whom the order names, as long as somebody fits.
void allocate(OneCycle& cycle) {
  // What they hold counts for nothing, and who was moved is elsewhere, only when the plan has been adopted.
  if (!cycle.plan.unpaid.empty() || !cycle.plan.migrations.empty()) return;
  const State& state = cycle.engine.state;
  // Whoever must go, and promises that are others by now, have moved what the lines are looked at by.
  const bool as_adopted = cycle.plan.evictions.empty() && cycle.plan.repairs.empty() && !cycle.shadows.have_changed();
  CandidateOrder order(state, cycle.plan.now, as_adopted ? &cycle.engine.quiet : nullptr, &cycle.shadows.all());
  RefusedRequests refused;
  while (const auto candidate = order.next()) {
    if (cycle.plan.attempts >= cycle.effort.attempts_max) {
      cycle.plan.finished = false;
      return;
    }
    cycle.shadows.look(*candidate);
    auto outcome = attempt_anywhere(cycle, *candidate, refused);
    if (Claimed* const claimed = std::get_if<Claimed>(&outcome)) {
      std::erase_if(cycle.waited_for, [&](const Start& each) { return each.workload == *candidate; });
      if (!claimed->evictions.empty()) {
        order.rank_again();
        refused = {};
      }
      decide(cycle, std::move(*claimed));
      // The state still has those who were moved where they were.
      if (!cycle.plan.migrations.empty()) return;
      order.started();
      continue;
    }
    const Refused& why = std::get<Refused>(outcome);
    const Never never = never_starts(cycle, *candidate);
    block(cycle, *candidate, why, never);
    if (never != Never::kNo) {
      order.passed_over();
    } else {
      order.refused(why.gate, promise_room(cycle, order, *candidate, why.gate), why.rather_waits);
    }
  }
}

// Whom others' floors refuse now, and did not before nodes or floors changed last: the next cycle looks past those whom they would
// refuse if nobody else ran, too, and promises them nothing; and past those of strict lines who lack room now, and would if nobody else
// ran. Asked of the state as it is without the plan.
void find_kept_out(Engine& engine, Plan& plan) {
  const State& state = engine.state;
  std::optional<State> idle;
  for (Blocked& each : plan.blocked) {
    const bool by_floors = is_newly_refused_for_floors(state, each);
    if (!by_floors && !may_be_nowhere(state, each)) continue;
    const ShapeInLine& known = *state.lines()[each.line.index()]->find(each.shape);
    const WorkloadId first = known.waiting.front().workload;
    if (!idle) idle = emptied(state);
    if (by_floors) {
      if (finds_place_beside_floors(*idle, first)) continue;
    } else {
      const std::optional<ReasonCode> reason = reason_nowhere(*idle, first);
      if (!reason) continue;
      each.gate = *reason;
    }
    each.missing = kMissingForever;
    engine.shadows_stand_at = 0;
    plan.finished = false;
  }
}

// A shape of a strict line.
struct WaitsInLine {
  QueueId line;
  ShapeId shape;
};

std::vector<WaitsInLine> who_lack_hours(const State& state) {
  std::vector<WaitsInLine> found;
  if (!state.quotas().budgets().has_any()) return found;
  state.lines_in_use().for_each([&](QueueId queue) {
    const Line& line = *state.lines()[queue.index()];
    if (line.order() != Order::kFifo) return;
    for (const ShapeInLine& each : line.shapes()) {
      const bool may_hold_up = !each.waiting.empty() && !each.in_nobodys_way();
      if (may_hold_up && lacks_hours(state, queue, state.shape(each.shape))) found.push_back({queue, each.shape});
    }
  });
  return found;
}

// Whose hours others take who start in this plan holds up nobody any more. Who stands behind it and was looked at before is looked at
// again in the next cycle. Asked of the state as it is without the plan.
void tell_hours_taken(const Engine& engine, Plan& plan, const std::vector<WaitsInLine>& lack_hours) {
  const State& state = engine.state;
  const auto had_them = [&](const WaitsInLine& each) {
    return !lacks_hours(state, each.line, state.shape(each.shape));
  };
  if (std::ranges::any_of(lack_hours, had_them)) plan.finished = false;
}

constexpr std::array kPhases = {begin,        keep_limits,       keep_budgets,    part_strangers, keep_reservations,
                                repair_gangs, renew_promises,    take_back_loans, allocate,       grow,
                                defragment,   tell_reservations, tell_promises,   tell_first_end, cut_anew};

}  // namespace

Plan run_cycle(Engine& engine, Time now, Effort effort) {
  Plan plan{.now = now, .revision = engine.state.revision()};
#ifdef BERTH_CHECKED
  const std::uint64_t before = engine.state.hash();
#endif
  std::vector<WaitsInLine> lack_hours;  // when all have started who do in this plan
  {
    Trial trial(engine.state.ledger_for_trial(), engine.state.quotas_for_trial());
    Reserved reserved(engine.state, trial, plan);
    OneCycle cycle{engine,
                   trial,
                   effort,
                   plan,
                   Vacating(engine.state),
                   reserved,
                   Shadows(engine.state, trial, engine.index, plan, &reserved)};
    for (const auto phase : kPhases) phase(cycle);
    if (cycle.leads_to_another) plan.finished = false;
    if (!plan.starts.empty()) lack_hours = who_lack_hours(engine.state);
  }
  let_go_of_cuts(engine);
  find_kept_out(engine, plan);
  tell_hours_taken(engine, plan, lack_hours);
#ifdef BERTH_CHECKED
  BERTH_ASSERT(engine.state.hash() == before);
#endif
  return plan;
}

}  // namespace berth
