// Gangs that lose members, and get others in their place (docs/semantics.md, rule 23).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "state/state.h"

namespace berth {
namespace {

// What a member of a gang is one of, and in which domain it has to be: that of the others, or where it was; none: in any.
struct Belonging {
  TopologyId topology;
  std::optional<DomainId> domain;
};

template <class IsLost>
Belonging belonging_of(const State& state, WorkloadId gang, const Pod& member, IsLost is_lost) {
  std::uint32_t first = 0;
  for (const NumberedPodSet& set : state.shape(state.workload(gang).shape).ways.front()) {
    const auto end = first + static_cast<std::uint32_t>(set.count);
    Belonging to{set.topology, {}};
    if (member.number < end) {
      if (state.topologies()[set.topology].together != Togetherness::kRequired) return to;
      to.domain = state.topologies().domains(set.topology).of(member.node);
      for_each_pod(state, gang, [&](const Pod& pod) {
        const bool is_beside = first <= pod.number && pod.number < end && !is_lost(pod);
        if (is_beside) to.domain = state.topologies().domains(set.topology).of(pod.node);
      });
      return to;
    }
    first = end;
  }
  return {TopologyId(0), {}};
}

bool belongs(const State& state, const Belonging& to, WorkloadId step, NodeId node) {
  const NumberedPodSet& own = state.shape(state.workload(step).shape).ways.front().front();
  return own.topology == to.topology && (!to.domain || state.topologies().domains(to.topology).of(node) == *to.domain);
}

}  // namespace

void State::on(const RepairChosen& event) {
  history_.add(event.within.ms);
  repair_within_ = event.within;
}

// A step stands in for it, or it is repaired, or all of it stops.
void State::lose_failed(const PodFailed& event) {
  const auto steps_there = [&] {
    return std::ranges::count_if(steps_of(event.workload),
                                 [&](WorkloadId step) { return has_room(workloads_[step].phase); });
  };
  const auto is_lost = [&](const Pod& pod) { return pod.workload == event.workload && pod.number == event.pod; };
  const auto before = steps_there();
  let_steps_stand_in(event.workload, is_lost);
  if (steps_there() == before) lose(event.workload, is_lost);
}

// Where a step stands in for one, that is elsewhere.
void State::lose_evicted(const PodsEvicted& event) {
  std::map<std::uint32_t, PodPlacement> left;
  for_each_pod(*this, event.workload, [&](const Pod& pod) {
    if (std::ranges::binary_search(event.pods, pod.number)) left.emplace(pod.number, pod.place());
  });
  const auto is_lost = [&](const Pod& pod) {
    const auto found = left.find(pod.number);
    return pod.workload == event.workload && found != left.end() && found->second == pod.place();
  };
  lose(event.workload, is_lost, event.stop_by);
}

// A step's count as its workload's. Nodes that fail together, or while it is still repaired, are one: it has not begun on a
// second.
void State::note_lost_node(WorkloadId id) {
  const Workload& part = workloads_[id];
  Workload& workload = part.step_of.is_none() ? workloads_[id] : workloads_[part.step_of];
  if (std::exchange(workload.lost_node, true)) return;
  const bool soon = clock_ - std::max(part.started, part.resumed) <= kNodeLostSoon;
  if (soon && workload.nodes_lost == std::numeric_limits<std::uint8_t>::max()) --workload.nodes_lost;
  workload.nodes_lost = soon ? static_cast<std::uint8_t>(workload.nodes_lost + 1) : std::uint8_t{0};
}

// Whatever is left of it would only take the next node along. PRE: it lost a node just now.
void State::back_off(WorkloadId id) {
  Workload& workload = workloads_[id];
  wait_out(id, kBackOffFirst, workload.nodes_lost - kNodesLostMax + 1);
  if (workload.phase == Phase::kMigrating) {
    workload.evicted_by = EvictionRule::kNode;
    lose_room_to_come(id);
  }
  workload.phase == Phase::kRunning ? stop_for_a_loss(id) : wait_again(id);
}

void State::lose_on(NodeId node, WorkloadId id) {
  lose(id, [&](const Pod& pod) { return pod.node == node; });
}

// Of an elastic workload first those above its minimum make up for it; where others are left, these are kept. Of whom nobody is
// left he stops: at once, or until then.
template <class IsLost>
void State::lose(WorkloadId id, IsLost is_lost, std::optional<Time> stop_by) {
  let_steps_stand_in(id, is_lost);
  bool some = false;
  bool others = false;
  for_each_pod(*this, id, [&](const Pod& pod) {
    some = some || is_lost(pod);
    others = others || (!pod.comes && !is_lost(pod));
  });
  if (!some) return;
  if (!others && stop_by && *stop_by > clock_) {
    workloads_[id].evicted_by = EvictionRule::kNode;
    return stop(id, *stop_by);
  }
  // What was lent is not held while others are looked for.
  if (!others || repair_within_ == Duration{0} || workloads_[id].lent_until) return stop_for_a_loss(id);
  const std::optional<Time> resized = workloads_[id].resized;
  stop_steps(id);
  workloads_[id].resized = resized;
  lose_members(id, is_lost);
}

// Each in the place of one that is lost, the last to come first; it stops as if it had been there. Quotas do not see it.
template <class IsLost>
void State::let_steps_stand_in(WorkloadId minimum, IsLost is_lost) {
  std::vector<WorkloadId> steps = steps_of(minimum);
  std::erase_if(steps, [&](WorkloadId step) {
    const Workload& workload = workloads_[step];
    return workload.phase != Phase::kRunning || is_lost(pods_[workload.first_pod.index()]);
  });
  for (PodId at = workloads_[minimum].first_pod; !at.is_none() && !steps.empty(); at = pods_[at.index()].next) {
    Pod& lost = pods_[at.index()];
    if (!is_lost(lost)) continue;
    const Belonging to = belonging_of(*this, minimum, lost, is_lost);
    const auto is_like_it = [&](WorkloadId step) {
      const Pod& other = pods_[workloads_[step].first_pod.index()];
      return other.request == lost.request && belongs(*this, to, step, other.node) &&
             node(other.node).flavor == node(lost.node).flavor && gpu_milli_of(other) == gpu_milli_of(lost);
    };
    const auto found = std::ranges::find_if(steps.rbegin(), steps.rend(), is_like_it);
    if (found == steps.rend()) continue;
    const WorkloadId step = *found;
    Pod& other = pods_[workloads_[step].first_pod.index()];
    std::swap(lost.node, other.node);
    std::swap(lost.gpus, other.gpus);
    std::swap(lost.slice_start, other.slice_start);
    std::erase(steps, step);
    // From whom that one had to part there it has to now.
    const Partings::Others strangers = partings_.of(step);
    for (const auto& [stranger, by] : strangers) partings_.add(minimum, stranger, by);
    stop_for_a_loss(step);
    drop_partings(minimum);
  }
}

void State::stop_for_a_loss(WorkloadId id) {
  workloads_[id].evicted_by = EvictionRule::kNode;
  give_room_back(id);
  wait_again(id);
}

void State::on(const RepairGivenUp& event) {
  history_.add(event.workload.value());
  workloads_[event.workload].goes_first = true;
  stop_for_a_loss(event.workload);
}

// Quotas do not see it. PRE: it runs.
template <class IsLost>
void State::lose_members(WorkloadId id, IsLost is_lost) {
  Workload& workload = workloads_[id];
  if (!repairing_.contains(id)) {
    const Wide lost_gpu_us = this->lost_gpu_us(id, clock_);
    repairing_[id] = {.since = clock_,
                      .until = clock_ + repair_within_,
                      .lost = {},
                      .lost_gpu_us = lost_gpu_us,
                      .counted_until = clock_};
  }
  count_waiting(id);
  ask_no_more(id);
  std::vector<LostMember>& lost = repairing_[id].lost;
  bool some_come = false;
  PodId* link = &workload.first_pod;
  while (!link->is_none()) {
    const PodId at = *link;
    if (!is_lost(pods_[at.index()])) {
      some_come = some_come || pods_[at.index()].comes;
      link = &pods_[at.index()].next;
      continue;
    }
    const Pod pod = std::exchange(pods_[at.index()], {});
    *link = pod.next;
    free_pods_.push_back(at);
    lost.push_back({pod.number, pod.request, pod.node});
    if (!pod.comes) {
      workload.gpu_milli -= gpu_milli_of(pod);
      workload.ended_gpu_us += gpu_milli_of(pod) * std::max<std::int64_t>(0, (clock_ - workload.started).ms);
    }
    give_room_back(pod);
  }
  std::ranges::sort(lost, {}, &LostMember::number);
  if (!some_come) std::erase(starting_, id);
}

// The room in which some of it were to replace others is lost.
void State::give_up_those_to_come(WorkloadId id) {
  const auto comes = [](const Pod& pod) { return pod.comes; };
  bool some_come = false;
  for_each_pod(*this, id, [&](const Pod& pod) { some_come = some_come || comes(pod); });
  if (some_come) lose_members(id, comes);
}

// The devices that it holds while it is repaired are held in vain.
void State::count_waiting(WorkloadId id) {
  const auto found = repairing_.find(id);
  if (found == repairing_.end()) return;
  found->second.lost_gpu_us = lost_gpu_us(id, clock_);
  found->second.counted_until = std::max(found->second.counted_until, clock_);
}

Wide State::lost_gpu_us(WorkloadId id, Time now) const {
  const Workload& workload = workloads_[id];
  const auto held_for = [&](Duration duration) { return Wide{workload.gpu_milli} * duration.ms; };
  if (const Repairing* const repairing = find_repairing(id)) {
    return repairing->lost_gpu_us + held_for(std::max(Duration{0}, now - repairing->counted_until));
  }
  const Time resumed = std::max(workload.started, workload.resumed);
  if (workload.checkpoint >= resumed) return held_for(now - workload.checkpoint);
  return held_for(std::min(now - resumed, kUnreportedWorkMax));
}

// Before which a pod of that number stands.
PodId& State::link_before(WorkloadId id, std::uint32_t number) {
  PodId* link = &workloads_[id].first_pod;
  while (!link->is_none() && pods_[link->index()].number < number) link = &pods_[link->index()].next;
  return *link;
}

void State::repair(const Repair& repair, Time now) {
  const WorkloadId id = repair.workload;
  Workload& workload = workloads_[id];
  BERTH_ASSERT(workload.phase == Phase::kRunning);
  history_.add(id.value()).add(std::uint64_t{repair.waits}).add(repair.lost_gpu_s);
  Repairing& repairing = repairing_.at(id);
  BERTH_ASSERT(repair.pods.size() == repairing.lost.size());
  for (std::size_t i = 0; i < repair.pods.size(); ++i) {
    const LostMember& lost = repairing.lost[i];
    const PodPlacement& place = repair.pods[i];
    const PodRequest& request = requests_[lost.request.index()];
    ledger_.apply(move_of(request, place));
    const PodId pod =
        new_pod({lost.request, place.node, place.gpus, id, PodId(), place.slice_start, true, lost.number});
    PodId& link = link_before(id, lost.number);
    pods_[pod.index()].next = link;
    link = pod;
    history_.add(place.node.value()).add(place.gpus.bits());
    if (request.is_slice()) history_.add(std::uint64_t{place.slice_start});
    retry_who_looks_at(request);
  }
  // What it lost by now is told in the decision.
  repairing.lost.clear();
  repairing.lost_gpu_us = 0;
  repairing.counted_until = now;
  if (const AmountList held = held_by(id); held != quotas_.held_by(workload.unit)) {
    note_what_was_held(workload.queue);
    quotas_.set_held(workload.unit, held);
    quotas_.keep();
  }
  if (std::ranges::find(starting_, id) == starting_.end()) starting_.push_back(id);
  if (!repair.waits) join(id, now);
}

// Those who were in the way have stopped. If nobody is missing, it goes on from its last checkpoint.
void State::join(WorkloadId id, Time now) {
  Workload& workload = workloads_[id];
  count_waiting(id);
  for (PodId at = workload.first_pod; !at.is_none(); at = pods_[at.index()].next) {
    Pod& pod = pods_[at.index()];
    if (!std::exchange(pod.comes, false)) continue;
    workload.gpu_milli += gpu_milli_of(pod);
    workload.ended_gpu_us -= gpu_milli_of(pod) * std::max<std::int64_t>(0, (now - workload.started).ms);
  }
  std::erase(starting_, id);
  if (!repairing_.at(id).lost.empty()) return;
  repairing_.erase(id);
  workload.resumed = now;
  workload.lost_node = false;
  ask_whether_ready(id, now);
}

}  // namespace berth
