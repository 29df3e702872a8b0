// What a LiveEngine's engine has to know of what was before it: GPU time that is used, what queues held, since when they
// take no new work. From one life of the engine to the next it is remembered here; a scheduler that is started anew has it
// from the status of the queues.
//
// A record holds for a moment. Of those who run, what they used until then is in it, and their engine charges them from
// their start: that much is taken off. Who ran after that moment and ended unseen has it in his pod, and it is added.
#include <algorithm>
#include <set>
#include <utility>

#include "service/live_engine.h"

namespace berth {
namespace {

std::int64_t as_event(Wide gpu_us) {
  return static_cast<std::int64_t>(std::clamp<Wide>(gpu_us, -Wide{kGpuTimeMax}, Wide{kGpuTimeMax}));
}

}  // namespace

void LiveEngine::remember() {
  for (const auto& [name, id] : queue_ids_) {
    const bool has_budget = state().quotas().budgets().has_budget(id);
    const bool has_past = state().queues()[id.index()].quota.half_life.ms > 0;
    if (forgotten_.contains(name)) continue;
    QueueRecord& record = records_[name];
    record.as_of.reset();
    if (!has_budget && !has_past) continue;
    record.as_of = state().clock();
    record.of_grants.clear();
    record.past_use.clear();
    if (has_budget) {
      const std::vector<Wide> used = state().gpu_us_used_of(id);
      record.used_gpu_us = used.front();
      for (std::size_t grant = 1; grant < used.size(); ++grant) {
        record.of_grants[grants_.at(name)[grant - 1]] = used[grant];
      }
    }
    for (const auto& [dim, amount] : past_use_of(id)) {
      record.past_use.push_back({state().flavors()[dim.flavor().index()].name, dim.resource(), amount});
    }
  }
}

// PRE: the queues are there, and nothing runs.
void LiveEngine::tell_what_was_before(Time now) {
  forgotten_.clear();
  tell_windows(now);
  if (state().keeps_time()) session_->pass_time(now);
  grants_.clear();
  for (const auto& [name, id] : queue_ids_) {
    QueueRecord& record = records_[name];
    const Quota& quota = state().queues()[id.index()].quota;
    if (!record.as_of || *record.as_of > now) record.as_of = now;
    if (!quota.budget_gpu_us) {
      record.used_gpu_us = 0;
      record.of_grants.clear();
    } else {
      tell_budget(name);
    }
    if (quota.half_life.ms > 0 && !record.past_use.empty()) {
      const PastUseFound past{id, *record.as_of, amounts_of(record.past_use)};
      if (!state().refusal(past)) session_->apply(past);
    }
  }
}

void LiveEngine::tell_budget(const std::string& name) {
  const QueueId id = queue_ids_.at(name);
  QueueRecord& record = records_.at(name);
  const auto tell_used = [&](std::uint32_t pot, Wide gpu_us) {
    const GpuTimeUsed used{id, pot, as_event(gpu_us)};
    if (used.gpu_us != 0) session_->apply(used);
  };
  tell_used(0, record.used_gpu_us);
  std::vector<Time>& told = grants_[name];
  for (const GrantSpec& grant : queues_.at(name).spec.grants) {
    const GrantAdded added{id, grant.gpu_us, grant.until};
    if (const auto refusal = state().refusal(added)) {
      queue_problems_[name] = "spec.budget.grants: " + *refusal;
      continue;
    }
    session_->apply(added);
    told.push_back(grant.until);
    const auto used = record.of_grants.find(grant.until);
    if (used != record.of_grants.end()) tell_used(static_cast<std::uint32_t>(told.size()), used->second);
  }
}

// Adds GPU time to the budget of the queue and of those above it, each as far as it was after its record.
void LiveEngine::charge(QueueId queue, std::int64_t gpu_milli, Time from, Time to, Charge which) {
  for (; !queue.is_none(); queue = state().queues()[queue.index()].parent) {
    if (!state().quotas().budgets().has_budget(queue)) continue;
    const Time as_of = *records_.at(state().queues()[queue.index()].name).as_of;
    const Duration length = which == Charge::kKnown ? std::min(to, as_of) - from : to - std::max(from, as_of);
    if (length.ms <= 0) continue;
    const Wide gpu_us = Wide{gpu_milli} * length.ms;
    session_->apply(GpuTimeUsed{queue, 0, as_event(which == Charge::kKnown ? -gpu_us : gpu_us)});
  }
}

void LiveEngine::take_off_what_is_known(WorkloadId found) {
  if (!state().quotas().budgets().is_charged(found)) return;
  const Workload& workload = state().workload(found);
  charge(workload.queue, state().shape(workload.shape).gpu_milli, workload.started, kTimeMax, Charge::kKnown);
}

// Only a scheduler that was not there can have missed it: while one is, its record is of this very moment.
void LiveEngine::add_what_was_missed(Time now) {
  if (!state().quotas().budgets().has_any()) return;
  for (const auto& [uid, member] : members_) {
    const PodFacts& pod = member.facts;
    const auto queue = queue_ids_.find(pod.queue);
    if (queue == queue_ids_.end() || !pod.bound_at || !pod.ended_at || pod.terms.best_effort) continue;
    charge(queue->second, pod.request.gpu_milli_total(), *pod.bound_at, std::min(*pod.ended_at, now), Charge::kMissed);
  }
}

// ---- queues that are stopped --------------------------------------------------------------------------------------------

// What holds since a moment keeps that moment.
void LiveEngine::note_condition(const std::string& queue, QueueCondition condition) {
  std::vector<QueueCondition>& known = records_[queue].conditions;
  const auto at = std::ranges::find(known, condition.type, &QueueCondition::type);
  if (at == known.end()) {
    known.push_back(std::move(condition));
    return;
  }
  if (at->holds == condition.holds && at->reason == condition.reason) condition.since = at->since;
  *at = std::move(condition);
}

void LiveEngine::note_stops(Time now) {
  to_drain_.clear();
  for (const auto& [name, id] : queue_ids_) {
    const QueueStop stop = queues_.at(name).spec.stop;
    if (stop == QueueStop::kNone) {
      std::erase_if(records_[name].conditions,
                    [](const QueueCondition& each) { return each.type == kStoppedCondition; });
      continue;
    }
    const bool held = stop == QueueStop::kHold;
    note_condition(name, {.type = std::string(kStoppedCondition),
                          .holds = true,
                          .reason = held ? "Held" : std::string(kDrainedReason),
                          .message = held ? "nothing of it starts; what runs goes on"
                                          : "what has come since does not start; what waited before may",
                          .since = now});
    if (!held) to_drain_.insert(name);
  }
}

// Since when the queue, or one above it, takes no new work; none: it does.
std::optional<Time> LiveEngine::drained_since(const std::string& name) const {
  std::optional<Time> first;
  const auto queue = queue_ids_.find(name);
  if (queue == queue_ids_.end()) return first;
  for (QueueId at = queue->second; !at.is_none(); at = state().queues()[at.index()].parent) {
    for (const QueueCondition& each : records_.at(state().queues()[at.index()].name).conditions) {
      if (each.type != kStoppedCondition || each.reason != kDrainedReason) continue;
      if (!first || each.since < *first) first = each.since;
    }
  }
  return first;
}

bool LiveEngine::came_after_the_drain(const PodFacts& pod) const {
  const auto since = drained_since(pod.queue);
  return since && pod.queued > *since;
}

// The engine takes in who comes to a drained queue as one who has to wait. Who had come before, and is submitted only now,
// needs an engine in which the queue is not drained yet.
bool LiveEngine::needs_a_new_life(const std::string& key) const {
  const auto at = groups_.find(key);
  if (at == groups_.end()) return false;
  const Group& group = at->second;
  return std::ranges::any_of(group.members, [&](std::uint64_t sequence) {
    const Member& member = members_.at(by_sequence_.at(sequence));
    const PodFacts& pod = member.facts;
    if (pod.stage != PodStage::kWaiting || !member.running.is_none() || came_after_the_drain(pod)) return false;
    return drained_since(pod.queue) && std::ranges::find(group.submitted, pod.uid) == group.submitted.end();
  });
}

void LiveEngine::drain_queues() {
  for (const std::string& name : std::exchange(to_drain_, {})) {
    const QueueId id = queue_ids_.at(name);
    Queue closed = state().queues()[id.index()];
    closed.closed = true;
    session_->apply(QueueChanged{id, std::move(closed)});
  }
}

}  // namespace berth
