#include "cycle/over_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cycle/engine.h"
#include "cycle/run_cycle.h"

namespace berth {
namespace {

// What becomes of everybody else in this moment.
struct Aftermath {
  std::set<WorkloadId> served;  // started, repaired, or given room that others still leave
  std::set<WorkloadId> taken;   // who has to go for others
  std::map<WorkloadId, Time> promised;
  std::map<ReservationId, std::int64_t> holds;
};

Aftermath after(const State& state, const Event& event, Time now) {
  Engine engine{.state = state.fork()};
  engine.state.apply(event);
  Aftermath after;
  for (bool finished = false; !finished;) {
    const Plan plan = run_cycle(engine, now, Effort::unbounded());
    for (const Eviction& each : plan.evictions) after.taken.insert(each.workload);
    for (const Start& start : plan.starts) after.served.insert(start.workload);
    for (const Repair& repair : plan.repairs) after.served.insert(repair.workload);
    for (const Migration& move : plan.migrations) after.served.insert(move.start.workload);
    finished = plan.finished;
    if (!plan.changes_nothing()) engine.state.adopt(plan);
  }
  for (const Shadow& shadow : engine.state.shadows()) after.promised.emplace(shadow.start.workload, shadow.at);
  for (const HeldPlaces& each : engine.state.holdings()) after.holds.emplace(each.reservation, each.count());
  return after;
}

// Nobody has less, or later, in the first.
bool is_as_good(const Aftermath& extended, const Aftermath& ended) {
  const bool all_served =
      std::ranges::includes(extended.served, ended.served) && std::ranges::includes(ended.taken, extended.taken);
  const bool all_promised = std::ranges::all_of(ended.promised, [&](const auto& each) {
    const auto found = extended.promised.find(each.first);
    const bool starts = extended.served.contains(each.first);
    return starts || (found != extended.promised.end() && found->second <= each.second);
  });
  return all_served && all_promised && std::ranges::all_of(ended.holds, [&](const auto& each) {
           const auto found = extended.holds.find(each.first);
           return found != extended.holds.end() && found->second >= each.second;
         });
}

// Whom no promise protects: he has a better right to the room than who is over his time. Budgets are no room.
bool somebody_waits_without_a_promise(const State& state, FlavorSet flavors) {
  bool some = false;
  state.lines_in_use().for_each([&](QueueId queue) {
    for (const ShapeInLine& entry : state.lines()[queue.index()]->shapes()) {
      const bool is_for_it =
          state.shape(entry.shape).flavors.meets(flavors) && !entry.impossible() && entry.gate != ReasonCode::kBudget;
      if (!is_for_it) continue;
      entry.waiting.for_each([&](const PendingKey& key) { some = some || state.shadow_of(key.workload) == nullptr; });
    }
  });
  return some;
}

// When at the latest it has to have gone for what was reserved, and for what the calendar turns.
Time free_until(const State& state, WorkloadId id, Time now) {
  const Shape& shape = state.shape(state.workload(id).shape);
  Time until = state.next_turn();
  if (shape.terms.hours) until = std::min(until, state.hours_end(shape.terms, now));
  std::set<NodeId> nodes;
  const auto note = [&](const Pod& pod) { nodes.insert(pod.node); };
  for_each_pod(state, id, note);
  for (const WorkloadId step : state.steps_of(id)) {
    if (has_room(state.workload(step).phase)) for_each_pod(state, step, note);
  }
  for (const auto& [number, reservation] : state.reservations()) {
    const bool is_of_its_nodes =
        std::ranges::any_of(reservation.nodes, [&](NodeId node) { return nodes.contains(node); });
    const bool is_of_its_kind = !reservation.is_maintenance() && shape.flavors.contains(reservation.flavor);
    if (!is_of_its_nodes && !is_of_its_kind) continue;
    if (is_of_its_nodes && reservation.has_begun(now)) return now;
    if (const auto next = reservation.time_after(now)) until = std::min(until, Time{next->from.ms - state.scrub().ms});
  }
  return until;
}

}  // namespace

std::optional<Duration> extension_of(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Quota& quota = state.queues()[workload.queue.index()].quota;
  if (quota.over_run != OverRun::kExtend || workload.extensions >= quota.extensions) return std::nullopt;
  // Of hours that were not reserved nothing is paid, and on loan it is for others.
  if (state.quotas().budgets().is_charged(id) || workload.lent_until) return std::nullopt;
  if (somebody_waits_without_a_promise(state, state.shape(workload.shape).flavors)) return std::nullopt;
  Time until = std::min(now + quota.extend, free_until(state, id, now));
  // Gone before the first start that is promised of his flavors: then whatever is promised behind that one stands, too.
  for (const Shadow& shadow : state.shadows()) {
    const Shape& promised = state.shape(state.workload(shadow.start.workload).shape);
    if (promised.flavors.meets(state.shape(workload.shape).flavors))
      until = std::min(until, Time{shadow.at.ms - state.scrub().ms});
  }
  if (until <= now) return std::nullopt;
  Aftermath ended = after(state, WorkloadOverran{id}, now);
  // What was promised holds, though others may be over their time as well in this moment.
  for (const Shadow& shadow : state.shadows()) {
    const auto [at, is_new] = ended.promised.emplace(shadow.start.workload, shadow.at);
    if (!is_new) at->second = std::min(at->second, shadow.at);
  }
  const Duration by = until - now;
  return is_as_good(after(state, LimitExtended{id, by}, now), ended) ? std::optional(by) : std::nullopt;
}

}  // namespace berth
