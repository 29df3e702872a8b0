#include "cycle/repair_gangs.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "cycle/attempt.h"
#include "cycle/deciding.h"
#include "cycle/deliverable.h"
#include "cycle/left_alone.h"
#include "cycle/recutting.h"
#include "cycle/repairs.h"
#include "cycle/spares.h"

namespace berth {
namespace {

void put_in_place(OneCycle& cycle, Repair repair) {
  const State& state = cycle.engine.state;
  // Those who are on their way for an earlier loss begin together with these.
  const bool others_wait = std::ranges::find(state.starting(), repair.workload) != state.starting().end();
  repair.waits = others_wait || cycle.vacating.holds_up(state, repair);
  if (repair.waits) {
    cycle.vacating.waits(state, repair);
  } else {
    leave_dirty(cycle, repair);
    hold_cuts(cycle, repair);
  }
  if (may_suit_others(state, repair)) cycle.leads_to_another = true;
  cycle.trial.note_placed({state.workload(repair.workload).unit, repair.workload, gpus_of(state, repair)});
  cycle.plan.repairs.push_back(std::move(repair));
}

// PRE: the promises were looked at. Who goes elsewhere begins anew, with its whole run limit; who is repaired ends when it would have.
bool leaves_alone(OneCycle& cycle, const Repaired& found, Heeding heeding, QueueId covered_at) {
  if (found.migration) {
    const Migration& migration = *found.migration;
    Time begins = migration.stop_by;
    for (const Eviction& each : found.evictions) begins = std::max(begins, each.stop_by);
    const bool let = cycle.shadows.none() || cycle.shadows.let_moved(migration.start, migration.start.workload, begins);
    return let && cycle.reserved.lets(migration.start, begins, heeding, covered_at);
  }
  if (heeding == Heeding::kAll) return cycle.reserved.lets(*found.repair);
  // The rest was kept from all, but for parts of GPUs that others leave.
  const State& state = cycle.engine.state;
  const WorkloadId gang = found.repair->workload;
  const KeptRoom kept = cycle.reserved.kept_from(gang, state.workload(gang).started, heeding, covered_at);
  bool alone = true;
  for_each_place(state, *found.repair, [&](const PodRequest&, const PodPlacement& place) {
    const auto held = std::ranges::lower_bound(kept.gpus, place.node, {}, &GpusOfNode::node);
    const bool some = held != kept.gpus.end() && held->node == place.node;
    alone = alone && !(some && (held->gpus.bits() & place.gpus.bits()) != 0);
  });
  return alone;
}

// Its moves stay in the trial, or there is none. `alone`: what is left alone besides.
std::optional<Repaired> find_repair_beside(OneCycle& cycle, WorkloadId gang, Heeding heeding, QueueId covered_at = {},
                                           const KeptRoom& alone = {}) {
  const State& state = cycle.engine.state;
  ++cycle.plan.attempts;
  if (!cycle.shadows.none()) cycle.shadows.look(gang);
  const Trial::Mark mark = cycle.trial.mark();
  const Time started = state.workload(gang).started;
  const KeptRoom reserved = cycle.reserved.kept_from(gang, started, heeding, covered_at);
  cycle.trial.keep_from_all(with_gpus(with_nodes(reserved, alone.nodes), alone.gpus));
  auto found = find_repair(state, cycle.trial, cycle.engine.index, gang, cycle.plan.now);
  cycle.trial.let_go();
  if (!found || leaves_alone(cycle, *found, heeding, covered_at)) return found;
  cycle.trial.rollback_to(mark);
  return std::nullopt;
}

// Where it would be in the way of what floors promise, it looks elsewhere before it waits.
std::optional<Repaired> find_repair_beside_floors(OneCycle& cycle, WorkloadId gang) {
  const State& state = cycle.engine.state;
  if (!state.quotas().tree().has_floors()) return std::nullopt;
  for (const KeptRoom& kept : rooms_to_leave_alone(state, cycle.trial, gang)) {
    if (auto found = find_repair_beside(cycle, gang, Heeding::kAll, {}, kept)) return found;
  }
  return std::nullopt;
}

// So that it stays and nobody goes for it.
bool is_in_free_room(const Repaired& found) { return !found.migration && found.evictions.empty(); }

std::optional<Repaired> find_repair_beside_promises(OneCycle& cycle, WorkloadId gang, bool (*suits)(const Repaired&)) {
  const std::vector<GpusOfNode> promised = cycle.shadows.kept_from(gang);
  if (promised.empty()) return std::nullopt;
  const Trial::Mark mark = cycle.trial.mark();
  auto found = find_repair_beside(cycle, gang, Heeding::kAll, {}, {.gpus = promised, .nodes = {}});
  if (found && suits(*found)) return found;
  cycle.trial.rollback_to(mark);
  return std::nullopt;
}

// It comes before all who wait with no higher claim, but needs nothing of what they are promised where there is other free room, and
// goes elsewhere beside that alone. For a guaranteed gang then in what is reserved beyond the floors of others.
std::optional<Repaired> find_repair(OneCycle& cycle, WorkloadId gang) {
  auto found = find_repair_beside_promises(cycle, gang, is_in_free_room);
  if (!found) found = find_repair_beside(cycle, gang, Heeding::kAll);
  if (!found) found = find_repair_beside_promises(cycle, gang, [](const Repaired&) { return true; });
  if (!found) found = find_repair_beside_floors(cycle, gang);
  const Workload& workload = cycle.engine.state.workload(gang);
  if (found || cycle.reserved.kept_from(gang, workload.started).empty()) return found;
  const QueueId covered_at = cycle.trial.quotas().unit(workload.unit).covered_at;
  if (covered_at.is_none()) return std::nullopt;
  found = find_repair_beside(cycle, gang, Heeding::kInsideFloors, covered_at);
  if (found) cycle.leads_to_another = true;  // what it took is reserved no more: others are chosen then
  return found;
}

}  // namespace

void repair_gangs(OneCycle& cycle) {
  if (!cycle.plan.unpaid.empty()) return;
  const State& state = cycle.engine.state;
  const auto is_told_to_stop = [&](WorkloadId id) {
    return std::ranges::find(cycle.plan.evictions, id, &Eviction::workload) != cycle.plan.evictions.end();
  };
  for (const WorkloadId gang : gangs_to_repair(state)) {
    if (is_told_to_stop(gang)) continue;
    if (cycle.plan.attempts >= cycle.effort.attempts_max) {
      cycle.plan.finished = false;
      return;
    }
    auto found = find_repair(cycle, gang);
    if (!found) continue;
    for (const Eviction& eviction : found->evictions) evict(cycle, eviction);
    cycle.rights.reset();
    if (found->repair) {
      put_in_place(cycle, std::move(*found->repair));
      cycle.shadows.look_again();
      continue;
    }
    Migration& migration = *found->migration;
    migration.start.waits = migration.stop_by > cycle.plan.now || cycle.vacating.holds_up(state, migration.start);
    migrate(cycle, migration);
    return;
  }
}

}  // namespace berth
