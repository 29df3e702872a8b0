// When those who hold room end, and what of it comes free then.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cycle/for_each_place.h"
#include "cycle/recutting.h"
#include "cycle/shadows.h"
#include "cycle/terms_of.h"

namespace berth {
namespace {

// Who is late is expected a second after his end, then two, four, eight: so what stands behind him moves a few times, and not with
// every look at the clock.
Time expected_again(Time end, Time now) {
  if (end >= now) return end;
  Duration late = seconds(1);
  while (end + late < now) late = late + late;
  return end + late;
}

// Who is still stopping.
class LeavingBy {
 public:
  LeavingBy(const State& state, const Plan& plan) : state_(state) {
    for (const WorkloadId id : state.stopping()) note(id, state.workload(id).stop_by);
    for (const Eviction& each : plan.evictions) {
      if (each.stop_by > plan.now) note(each.workload, each.stop_by);
    }
    for (const Migration& each : plan.migrations) {
      if (each.stop_by > plan.now) note(each.start.workload, each.stop_by);
    }
  }

  // When the last has gone of those whose GPUs somebody is to have, or from whom he is to be apart, wherever they are: whatever else he
  // waits for, they are in his way. Where there are none, the last of the node. None: nobody is stopping there.
  std::optional<Time> from(const PodRequest& request, const PodPlacement& place) const {
    std::optional<Time> in_his_way, of_node;
    if (const auto found = by_node_.find(place.node); found != by_node_.end()) {
      for (const auto& [gpus, until] : found->second) {
        of_node = std::max(of_node.value_or(until), until);
        if ((gpus.bits() & place.gpus.bits()) != 0) in_his_way = std::max(in_his_way.value_or(until), until);
      }
    }
    const Ledger& ledger = state_.ledger();
    for (const Leaving& each : may_keep_apart_) {
      const bool apart =
          ledger.keep_apart(request, place.node, *each.request, each.node) ||
          ledger.neighbourhood().excludes(request.neighbours, place.node, each.request->neighbours, each.node);
      if (apart) in_his_way = std::max(in_his_way.value_or(each.until), each.until);
    }
    return in_his_way ? in_his_way : of_node;
  }

 private:
  struct Leaving {
    const PodRequest* request;
    NodeId node;
    Time until;
  };

  void note(WorkloadId id, Time until) {
    for_each_leaving_pod(state_, id, [&](const Pod& pod) {
      by_node_[pod.node].emplace_back(pod.gpus, until);
      const PodRequest& request = state_.request(pod.request);
      const bool may_keep_apart = state_.ledger().some_keep_apart() || request.exclusive != ExclusiveId() ||
                                  request.neighbours != NeighboursId(0);
      if (may_keep_apart) may_keep_apart_.push_back({&request, pod.node, until});
    });
  }

  const State& state_;
  std::map<NodeId, std::vector<std::pair<GpuSet, Time>>> by_node_;
  std::vector<Leaving> may_keep_apart_;
};

}  // namespace

// What others leave is scrubbed first.
Time Shadows::end_of(WorkloadId id, Time started) const {
  const Time end = state_.end_of(id, started);
  return end == kForever ? end : expected_again(end, plan_.now) + state_.scrub();
}

// Who stays beyond what was lent to him, as nobody needed his room then, may be told to stop at any moment.
Time Shadows::taken_back_by(WorkloadId id, Time lent_until) const {
  return std::max(lent_until, plan_.now + terms_of(state_, id).grace) + state_.scrub();
}

Time Shadows::end_of(const Start& start, Time begins) const {
  const Time end = end_of(start.workload, begins);
  return start.lent_until ? std::min(end, taken_back_by(start.workload, *start.lent_until)) : end;
}

Time Shadows::end_of_running(WorkloadId id) const {
  const Workload& workload = state_.workload(id);
  const Time end = end_of(id, workload.started);
  return workload.lent_until ? std::min(end, taken_back_by(id, *workload.lent_until)) : end;
}

Time Shadows::end_of(const Shadow& promised) const {
  return end_of(promised.start.workload, begins_by(state_, promised));
}

// Who has room that others are leaving begins when they have gone, at the latest, and a GPU has been cut for him; where nobody is left
// that was begun when he was given it. A gang that lacks some of its pods ends when all of it would have: earlier, if it finds none in
// their place.
void Shadows::find_ends() {
  if (known_ends_) return;
  known_ends_ = true;
  ends_.clear();
  std::map<WorkloadId, const Start*> starts;
  for (const Start& start : plan_.starts) starts.emplace(start.workload, &start);
  for (const Migration& each : plan_.migrations) starts.emplace(each.start.workload, &each.start);
  std::map<WorkloadId, const Repair*> repairs;
  for (const Repair& repair : plan_.repairs) repairs.emplace(repair.workload, &repair);
  const LeavingBy leaving(state_, plan_);
  const QuotaLedger& quotas = trial_.quotas();
  for (std::size_t queue = 0; queue < state_.queues().size(); ++queue) {
    for (const UnitId id : quotas.units_in(QueueId(queue))) {
      const WorkloadId workload = quotas.unit(id).workload;
      // Who has to go, and is set down in the trial where he would go on, is not where the state has him.
      if (std::ranges::find(plan_.evictions, workload, &Eviction::workload) != plan_.evictions.end()) continue;
      End end{kForever, workload};
      if (const auto repair = repairs.find(workload); repair != repairs.end()) end.repair = repair->second;
      if (const auto start = starts.find(workload); start != starts.end()) end.start = start->second;
      const Phase phase = state_.workload(workload).phase;
      if (end.start == nullptr && phase == Phase::kRunning) {
        end.at = end_of_running(workload);
      } else {
        const bool begins_now =
            end.start != nullptr ? !end.start->waits : std::ranges::find(plan_.begins, workload) != plan_.begins.end();
        std::optional<Time> begins = begins_now ? std::optional(plan_.now) : std::nullopt;
        const Time since = end.start != nullptr ? plan_.now : state_.workload(workload).started;
        const auto wait_until = [&](Time then) { begins = std::max(begins.value_or(then), then); };
        if (!begins) {
          for_each_pod_of(end, [&](const PodRequest& request, const PodPlacement& place) {
            const Duration cut = cut_at(state_, request.slice, place);
            if (const auto gone = leaving.from(request, place)) {
              wait_until(*gone + state_.scrub() + cut);
            } else if (cut > Duration{0}) {
              wait_until(expected_again(since + cut, plan_.now));
            }
          });
        }
        if (begins) end.at = end.start != nullptr ? end_of(*end.start, *begins) : end_of(workload, *begins);
      }
      if (end.at != kForever) ends_.push_back(end);
    }
  }
  std::ranges::sort(ends_);
  find_openings();
}

// Of who begins in this plan, at once.
std::optional<Time> Shadows::foretold_end(const Start& start) const {
  const Workload& workload = state_.workload(start.workload);
  if (start.waits || !workload.step_of.is_none() || state_.elastic().contains(start.workload)) return std::nullopt;
  const RunKind kind{state_.line_of(workload.queue), workload.user, state_.shape(workload.shape).gpu_milli};
  const auto run = state_.ended_runs().half_of_those_beyond(kind, Duration{0});
  return run ? std::optional(plan_.now + *run + state_.scrub()) : std::nullopt;
}

// Of whom it is foretold, then, and of the others when it is enforced.
std::vector<Shadows::End> Shadows::foretold_ends() {
  find_ends();
  std::vector<End> ends;
  std::set<WorkloadId> known;
  for (End each : ends_) {
    const Workload& workload = state_.workload(each.workload);
    known.insert(each.workload);
    const bool runs = each.start == nullptr && workload.phase == Phase::kRunning;
    if (runs && workload.foretold_end && *workload.foretold_end > plan_.now)
      each.at = std::min(each.at, *workload.foretold_end + state_.scrub());
    if (each.start != nullptr) each.at = std::min(each.at, foretold_end(*each.start).value_or(each.at));
    ends.push_back(each);
  }
  for (const Start& start : plan_.starts) {
    const auto end = known.contains(start.workload) ? std::nullopt : foretold_end(start);
    if (end) ends.push_back({*end, start.workload, &start});
  }
  const QuotaLedger& quotas = trial_.quotas();
  for (std::size_t queue = 0; queue < state_.queues().size(); ++queue) {
    for (const UnitId unit : quotas.units_in(QueueId(queue))) {
      const WorkloadId id = quotas.unit(unit).workload;
      const Workload& workload = state_.workload(id);
      const bool goes = std::ranges::find(plan_.evictions, id, &Eviction::workload) != plan_.evictions.end();
      if (workload.phase != Phase::kRunning || goes || known.contains(id)) continue;
      if (workload.foretold_end && *workload.foretold_end > plan_.now)
        ends.push_back({*workload.foretold_end + state_.scrub(), id});
    }
  }
  std::ranges::sort(ends);
  return ends;
}

// Somebody who is promised room: when he can start if others end as foretold, if that is earlier. PRE: the trial has the places of nobody
// who is tried.
void Shadows::foretell(WorkloadId id) {
  const std::size_t own = *index_of(id);
  const Time promised = all_[own].at;
  if (const auto found = foretold_.find(id); found != foretold_.end() && found->second.promised == promised) return;
  std::vector<End> enforced = std::exchange(ends_, foretold_ends());
  const auto earlier = earliest(id, promised, own);
  ends_ = std::move(enforced);
  then_.assign(all_.size(), {});
  foretold_.insert_or_assign(id, Foretold{promised, earlier ? earlier->at : promised});
}

// Nodes come back by themselves when their maintenance is over, if nothing else keeps them closed.
void Shadows::find_openings() {
  std::map<NodeId, Time> until;
  for (const auto& [id, reservation] : state_.reservations()) {
    if (!reservation.is_maintenance() || !reservation.has_begun(plan_.now)) continue;
    for (const NodeId node : reservation.nodes) {
      if (state_.is_down(node)) continue;
      const auto known = until.try_emplace(node, reservation.to()).first;
      known->second = std::max(known->second, reservation.to());
    }
  }
  openings_.clear();
  for (const auto& [node, at] : until) openings_.push_back({at, node});
  std::ranges::sort(openings_);
}

}  // namespace berth
