// What follows when members fail, are lost with their nodes or end, and work that is tried again for that or has failed
// (docs/semantics.md, rule 23).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "state/state.h"

namespace berth {

void State::follow_policy(WorkloadId id, const std::optional<FailurePolicy>& policy) {
  if (!policy) return;
  failure_policies_.emplace(id, std::make_shared<const FailurePolicy>(*policy));
  history_.add(policy->retries.value_or(-1)).add(policy->retry_after.ms);
  history_.add(policy->never_ready ? policy->never_ready->ms : std::int64_t{-1});
  for (const MemberPolicy& set : policy->sets) {
    history_.add(static_cast<std::uint64_t>(set.on_fail)).add(static_cast<std::uint64_t>(set.on_evict));
    history_.add(std::uint64_t{set.completes}).add(std::uint64_t{set.on_exit.size()});
    for (const ExitRule& rule : set.on_exit) history_.add(rule.code).add(static_cast<std::uint64_t>(rule.then));
  }
}

std::size_t State::set_of(WorkloadId id, std::uint32_t pod) const {
  const auto& sets = shapes_[workloads_[id].shape.index()].ways.front();
  std::size_t at = 0;
  for (std::int64_t before = sets[at].count; before <= pod; before += sets[at].count) ++at;
  return at;
}

// Of those of its pods that are lost the strongest.
template <class IsLost>
MemberAction State::what_follows(WorkloadId id, IsLost is_lost, std::optional<std::int32_t> exit_code) const {
  const FailurePolicy* const policy = failure_policy_of(id);
  MemberAction strongest = MemberAction::kRestart;
  if (policy == nullptr) return strongest;
  for_each_pod(*this, id, [&](const Pod& pod) {
    if (pod.comes || !is_lost(pod)) return;
    const MemberPolicy& of_set = policy->sets[set_of(id, pod.number)];
    strongest = std::max(strongest, exit_code ? of_set.after_failure(*exit_code) : of_set.on_evict);
  });
  return strongest;
}

void State::on(const PodFailed& event) {
  history_.add(event.workload.value()).add(event.pod);
  if (event.exit_code != 0) history_.add(event.exit_code);
  const WorkloadId whole = minimum_of(event.workload);
  workloads_[whole].exit_code = event.exit_code;
  const auto is_it = [&](const Pod& pod) { return pod.number == event.pod; };
  switch (what_follows(event.workload, is_it, event.exit_code)) {
    case MemberAction::kAbort:
      return fail(whole, Failure::kMember);
    case MemberAction::kComplete:
      return end(whole, Phase::kEnded, true);
    case MemberAction::kRestartGang:
      return restart_after_failure(whole, EvictionRule::kRestart);
    case MemberAction::kRestart:
      break;
  }
  if (failure_policy_of(whole) == nullptr) return lose_failed(event);
  if (!retry(whole, Failure::kRetries)) return;
  lose_failed(event);
  if (workloads_[whole].phase != Phase::kPending) return;
  // Nobody was left to wait for another in its place.
  dequeue(whole);
  wait_out(whole, failure_policy_of(whole)->retry_after, workloads_[whole].failures);
  workloads_[whole].too_early = is_too_early(whole);
  enqueue(whole);
}

// Some of it had to leave their nodes; `backs_off`: whether for one node too many. Whether more was done than to lose these.
template <class IsLost>
bool State::follow_eviction(WorkloadId id, IsLost is_lost, bool backs_off) {
  const WorkloadId whole = minimum_of(id);
  MemberAction action = MemberAction::kRestart;
  if (workloads_[id].phase == Phase::kRunning) action = what_follows(id, is_lost, std::nullopt);
  if (action >= MemberAction::kComplete) {
    workloads_[whole].exit_code = 0;
    action == MemberAction::kAbort ? fail(whole, Failure::kMember) : end(whole, Phase::kEnded, true);
    return true;
  }
  if (backs_off) {
    back_off(whole);
    return true;
  }
  // That is no failure of its own, and it need not wait.
  if (action == MemberAction::kRestartGang) restart(whole, EvictionRule::kNode);
  return action == MemberAction::kRestartGang;
}

// The node failed under it.
bool State::follow_lost_node(WorkloadId id, NodeId node) {
  const bool backs_off = workloads_[minimum_of(id)].nodes_lost >= kNodesLostMax;
  return follow_eviction(id, [&](const Pod& pod) { return pod.node == node; }, backs_off);
}

void State::on(const PodsEvicted& event) {
  history_.add(event.workload.value()).add(event.stop_by.ms).add(std::uint64_t{event.pods.size()});
  for (const std::uint32_t pod : event.pods) history_.add(pod);
  const auto is_it = [&](const Pod& pod) {
    return pod.workload == event.workload && std::ranges::binary_search(event.pods, pod.number);
  };
  if (!follow_eviction(event.workload, is_it, false)) lose_evicted(event);
}

// Whether it is tried once more; else it has failed.
bool State::retry(WorkloadId id, Failure otherwise) {
  Workload& workload = workloads_[id];
  const FailurePolicy& policy = *failure_policy_of(id);
  if (policy.retries && workload.retries >= *policy.retries) {
    fail(id, otherwise);
    return false;
  }
  workload.retries = std::min(workload.retries + 1, kRetriesMax);
  const bool soon = clock_ - std::max(workload.started, workload.resumed) <= kNodeLostSoon;
  constexpr std::uint8_t kMost = std::numeric_limits<std::uint8_t>::max();
  workload.failures = soon ? static_cast<std::uint8_t>(std::min<int>(workload.failures + 1, kMost)) : std::uint8_t{1};
  return true;
}

// PRE: it has a policy.
void State::restart_after_failure(WorkloadId id, EvictionRule rule) {
  if (!retry(id, rule == EvictionRule::kNeverReady ? Failure::kNeverReady : Failure::kRetries)) return;
  wait_out(id, failure_policy_of(id)->retry_after, workloads_[id].failures);
  restart(id, rule);
}

// All stop at once, as those do whose repair is given up: what they did together since the last checkpoint is lost already. Who
// ran goes on before others do; who never came to it had his turn.
void State::restart(WorkloadId id, EvictionRule rule) {
  workloads_[id].evicted_by = rule;
  workloads_[id].goes_first = rule != EvictionRule::kNeverReady;
  give_room_back(id);
  wait_again(id);
}

void State::fail(WorkloadId id, Failure failure) {
  workloads_[id].failure = failure;
  end(id, Phase::kEnded, false);
}

// So long for the first time in a row, and with each further one twice as long.
void State::wait_out(WorkloadId id, Duration first, int times) {
  Workload& workload = workloads_[id];
  const Time until = clock_ + back_off_after(first, times);
  if (until < workload.not_before) return;
  workload.not_before = workload.backs_off_until = until;
}

// Nobody of that set is left, or lost, or to come.
bool State::is_complete(WorkloadId id, std::size_t set) const {
  const FailurePolicy* const policy = failure_policy_of(id);
  if (policy == nullptr || !policy->sets[set].completes) return false;
  bool some = false;
  const auto look = [&](const Pod& pod) { some = some || set_of(id, pod.number) == set; };
  workloads_[id].phase == Phase::kMigrating ? for_each_leaving_pod(*this, id, look) : for_each_pod(*this, id, look);
  if (const Repairing* const repairing = find_repairing(id)) {
    for (const LostMember& lost : repairing->lost) some = some || set_of(id, lost.number) == set;
  }
  return !some;
}

// It begins, or goes on after a repair.
void State::ask_whether_ready(WorkloadId id, Time from) {
  const FailurePolicy* const policy = failure_policy_of(id);
  if (policy == nullptr || !policy->never_ready || !workloads_[id].step_of.is_none()) return;
  ask_no_more(id);
  workloads_[id].ready_by = from + *policy->never_ready;
  unready_.emplace(*workloads_[id].ready_by, id);
}

void State::ask_no_more(WorkloadId id) {
  std::optional<Time>& ready_by = workloads_[id].ready_by;
  if (ready_by) unready_.erase({*ready_by, id});
  ready_by.reset();
}

void State::on(const WorkloadReady& event) {
  history_.add(event.workload.value());
  ask_no_more(event.workload);
}

void State::on(const NeverReady& event) {
  history_.add(event.workload.value());
  restart_after_failure(event.workload, EvictionRule::kNeverReady);
}

}  // namespace berth
