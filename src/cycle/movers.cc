#include "cycle/movers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/assert.h"
#include "cycle/for_each_place.h"
#include "fairness/gates.h"
#include "fairness/rights.h"
#include "state/room.h"

namespace berth {
namespace {

// The way of its shape in which it runs, if all of its pods are still there.
std::optional<std::size_t> way_as_placed(const State& state, WorkloadId id) {
  const auto& ways = state.shape(state.workload(id).shape).ways;
  for (std::size_t way = 0; way < ways.size(); ++way) {
    PodId at = state.workload(id).first_pod;
    bool same = true;
    for (const NumberedPodSet& set : ways[way]) {
      for (std::int64_t i = 0; same && i < set.count; ++i) {
        same = !at.is_none() && state.pod(at).request == set.request;
        if (same) at = state.pod(at).next;
      }
    }
    if (same && at.is_none()) return way;
  }
  return std::nullopt;
}

std::optional<NodeId> fullest_with_room(const Ledger& ledger, const PodRequest& request, Rng* passes_over) {
  std::optional<NodeId> fullest, passed;
  for (std::size_t node = 0; node < ledger.nodes(); ++node) {
    if (fullest && ledger.node(NodeId(node)).gpu_milli >= ledger.node(*fullest).gpu_milli) continue;
    if (room_for(ledger, NodeId(node), request) == 0) continue;
    const bool passes = passes_over != nullptr && passes_over->below(4) == 0;
    (passes ? passed : fullest) = NodeId(node);
  }
  return fullest ? fullest : passed;
}

}  // namespace

bool may_be_moved(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  if (!terms.movable || workload.phase != Phase::kRunning || terms.disruption_permille > 0) return false;
  // Its steps would be left behind.
  const bool has_steps = std::ranges::any_of(
      state.steps_of(id), [&](WorkloadId step) { return state.workload(step).phase != Phase::kPending; });
  if (has_steps || !workload.step_of.is_none() || workload.lent_until) return false;
  if (workload.started + state.queues()[workload.queue.index()].quota.min_runtime > now) return false;
  if (workload.moved && *workload.moved + kMoveCooldown > now) return false;
  if (state.find_repairing(id) != nullptr || !may_begin_anew(state, id, now)) return false;
  return way_as_placed(state, id).has_value();
}

bool may_begin_anew(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const Terms& terms = state.shape(workload.shape).terms;
  if (terms.run_limit && !state.windows().empty()) return false;
  return !state.quotas().budgets().is_charged(id) && state.end_of(id, workload.started) > now + terms.grace;
}

Mover mover_of(const State& state, WorkloadId id, Time now) {
  return {id, *way_as_placed(state, id), lost_if_taken_gpu_s(state, id, now)};
}

std::vector<Mover> movers_of(const State& state, Time now) {
  std::vector<Mover> movers;
  for (std::size_t queue = 0; queue < state.queues().size(); ++queue) {
    for (const UnitId unit : state.quotas().units_in(QueueId(queue))) {
      const WorkloadId id = state.quotas().unit(unit).workload;
      if (!may_be_moved(state, id, now)) continue;
      movers.push_back(mover_of(state, id, now));
    }
  }
  std::sort(movers.begin(), movers.end(), [](const Mover& a, const Mover& b) {
    if (a.lost_gpu_s != b.lost_gpu_s) return a.lost_gpu_s < b.lost_gpu_s;
    return a.workload > b.workload;
  });
  return movers;
}

bool packs_well(const State& state, const Mover& mover) {
  const auto& sets = state.shape(state.workload(mover.workload).shape).ways[mover.way];
  return std::ranges::all_of(sets, [&](const NumberedPodSet& set) {
    return !set.asks_for_domains() && !set.parallel.is_declared() &&
           state.ledger().matches().likings(state.request(set.request).constraints).empty() &&
           !state.ledger().neighbourhood().matters_to(state.request(set.request).neighbours);
  });
}

void leave(const State& state, Trial& trial, const Pod& pod) {
  trial.depart(move_of(state.request(pod.request), pod.place(), Move::Direction::kGive), Emptied::kCountsAsScrubbed);
}

std::optional<Start> pack(const State& state, Trial& trial, ScoreIndex& index, const Mover& mover, Rng* passes_over) {
  Start start{.workload = mover.workload, .way = static_cast<std::uint32_t>(mover.way), .pods = {}};
  Rng rng(state.seed(), mover.workload.value());
  for (const NumberedPodSet& set : state.shape(state.workload(mover.workload).shape).ways[mover.way]) {
    for (std::int64_t i = 0; i < set.count; ++i) {
      const auto node = fullest_with_room(trial.ledger(), state.request(set.request), passes_over);
      const auto place = node ? index.best_among(state, set.request, std::span(&*node, 1), rng) : std::nullopt;
      if (!place) return std::nullopt;
      trial.apply(move_of(state.request(set.request), *place));
      start.pods.push_back(*place);
    }
  }
  return start;
}

bool holds_what_it_held(const State& state, const Start& start) {
  const Workload& workload = state.workload(start.workload);
  return workload.best_effort ||
         amounts_held(state, state.shape(workload.shape), start) == state.quotas().held_by(workload.unit);
}

Migration migration_of(const State& state, const Mover& mover, Start start, WorkloadId claimant, Time now) {
  const Time stops = now + state.shape(state.workload(mover.workload).shape).terms.grace;
  start.waits = stops > now;
  return {std::move(start), claimant, stops, mover.lost_gpu_s};
}

std::int64_t lost_gpu_s(const std::vector<Migration>& migrations) {
  Wide lost = 0;
  for (const Migration& each : migrations) lost += each.lost_gpu_s;
  return narrow(lost).value_or(INT64_MAX);
}

bool carry_out(const State& state, Trial& trial, const std::vector<Migration>& migrations) {
  for (const Migration& each : migrations) {
    for_each_pod(state, each.start.workload, [&](const Pod& pod) { leave(state, trial, pod); });
  }
  bool all = true;
  for (const Migration& each : migrations) {
    for_each_place(state, each.start, [&](const PodRequest& request, const PodPlacement& place) {
      all = all && is_free(trial.ledger(), request, place) &&
            trial.ledger().matches().allows(request.constraints, place.node);
      if (all) trial.apply(move_of(request, place));
    });
  }
  return all;
}

}  // namespace berth
