// What a LiveEngine's engine has to know of what was before it: GPU time that is used, what queues held, since when they
// take no new work. From one life of the engine to the next it is remembered here; a scheduler that is started anew has it
// from the status of the queues.
//
// A record holds for a moment. What was used until then is in it, of the budget and of each grant; whoever runs is charged
// from that moment on. Who ran after that moment and ended unseen has it in his pod, and it is added.
#include <algorithm>
#include <set>
#include <utility>

#include "model/gpu_hardware.h"
#include "service/live_engine.h"

namespace berth {
namespace {

std::int64_t as_event(Wide gpu_us) {
  return static_cast<std::int64_t>(std::clamp<Wide>(gpu_us, -Wide{kGpuTimeMax}, Wide{kGpuTimeMax}));
}

}  // namespace

void LiveEngine::remember() {
  remember_reservations();
  for (const auto& [name, id] : queue_ids_) {
    const bool has_budget = state().quotas().budgets().has_budget(id);
    const Quota& quota = state().queues()[id.index()].quota;
    const bool has_past = quota.half_life.ms > 0 || quota.idle_after.ms > 0;
    kept_past_.erase(name);
    if (forgotten_.contains(name)) continue;
    QueueRecord& record = records_[name];
    record.as_of.reset();
    record.floor_use = {};
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
    record.floor_use = floor_record_of(id).value_or(FloorRecord());
    if (const auto past = state().past_to_keep(id, state().clock())) {
      kept_past_[name] = {past->begun, by_name(past->average), by_name(past->in_step)};
    }
  }
}

// For a life in which flavors have other numbers.
std::vector<FlavorAmount> LiveEngine::by_name(const AmountList& amounts) const {
  std::vector<FlavorAmount> named;
  for (const auto& [dim, amount] : amounts) {
    const std::string flavor = dim.flavor().is_none() ? "" : state().flavors()[dim.flavor().index()].name;
    named.push_back({flavor, dim.resource(), amount, profile_named(dim)});
  }
  return named;
}

// PRE: the queues are there, and nothing runs.
void LiveEngine::tell_what_was_before(Time now) {
  for (const std::string& name : std::exchange(forgotten_, {})) kept_past_.erase(name);
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
    if (quota.half_life.ms > 0) tell_past(name, record);
  }
  tell_what_was_missed(now);
}

std::string LiveEngine::profile_named(Dim dim) const {
  if (!dim.is_of_slices()) return "";
  return std::string(name_of_slice(state().flavors()[dim.flavor().index()], dim.shape()));
}

std::optional<Dim> LiveEngine::dim_named(const FlavorAmount& amount) const {
  const auto flavor = flavor_named(amount.flavor);
  if (!flavor || amount.resource != Resource::kSlice) {
    return flavor ? std::optional(Dim(*flavor, amount.resource)) : std::nullopt;
  }
  const auto slice = find_slice(state().flavors()[flavor->index()], amount.profile);
  return slice ? std::optional(Dim::of_slices(*flavor, slice->shape)) : std::nullopt;
}

// Nothing where the queue names no time.
std::optional<FloorRecord> LiveEngine::floor_record_of(QueueId queue) const {
  if (!state().looks_at_idle_floor(queue)) return std::nullopt;
  FloorRecord record;
  const auto floor = state().quotas().tree().floor(queue);
  for (std::size_t at = 0; at < floor.size(); ++at) {
    const Dim dim = Dim::at(at);
    if (floor[at] > 0 && !dim.flavor().is_none()) {
      record.floor.push_back(
          {state().flavors()[dim.flavor().index()].name, dim.resource(), floor[at], profile_named(dim)});
    }
  }
  for (const FloorUse& each : state().floor_use(queue, state().clock())) {
    if (each.dim.flavor().is_none()) continue;
    const std::string& flavor = state().flavors()[each.dim.flavor().index()].name;
    record.held.push_back({{flavor, each.dim.resource(), each.amount, profile_named(each.dim)}, each.until});
  }
  return record;
}

// PRE: nodes are there, for floors are theirs, and who runs. What cannot have been so was not written by a scheduler.
void LiveEngine::tell_floor_use() {
  for (const auto& [name, id] : queue_ids_) {
    const FloorRecord& record = records_[name].floor_use;
    if (!state().looks_at_idle_floor(id) || record.floor.empty()) continue;
    FloorUseFound found{.queue = id, .floor = amounts_of(record.floor), .held = {}};
    for (const HeldUntil& each : record.held) {
      const auto dim = dim_named(each.held);
      if (dim && each.until <= state().clock()) found.held.push_back({*dim, each.held.amount, each.until});
    }
    std::ranges::stable_sort(found.held, {}, [](const FloorUse& each) { return std::pair(each.dim, each.until); });
    if (!state().refusal(found)) session_->apply(found);
  }
}

// A life of this scheduler knows it exactly, the status of the queue to a thousandth.
void LiveEngine::tell_past(const std::string& name, const QueueRecord& record) {
  const QueueId id = queue_ids_.at(name);
  const auto kept = kept_past_.find(name);
  Event told = PastUseFound{id, *record.as_of, amounts_of(record.past_use)};
  if (kept != kept_past_.end()) {
    told = PastUseKept{id, kept->second.begun, *record.as_of, amounts_of(kept->second.average),
                       amounts_of(kept->second.in_step)};
  }
  if (!state().refusal(told)) session_->apply(told);
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
  session_->apply(GpuTimeCounted{id, *record.as_of});
}

// Only a scheduler that was not there can have missed it: while one is, its record is of this very moment.
void LiveEngine::tell_what_was_missed(Time now) {
  if (!state().quotas().budgets().has_any()) return;
  for (const auto& [uid, member] : members_) {
    const PodFacts& pod = member.facts;
    const auto queue = queue_ids_.find(pod.queue);
    if (queue == queue_ids_.end() || !pod.bound_at || !pod.ended_at || pod.terms.best_effort) continue;
    const Time until = std::min(*pod.ended_at, now);
    const GpuTimeMissed missed{queue->second, holds_on(pod.node, pod).gpu_milli_total(), std::min(*pod.bound_at, until),
                               until};
    if (missed.gpu_milli > 0 && !state().refusal(missed)) session_->apply(missed);
  }
}

// ---- queues that are stopped --------------------------------------------------------------------------------------------

// What holds since a moment keeps that moment.
void LiveEngine::note_condition(const std::string& queue, QueueCondition condition) {
  set_condition(records_[queue].conditions, std::move(condition));
}

const std::vector<QueueCondition>& LiveEngine::conditions_of(const std::string& queue) const {
  static const std::vector<QueueCondition> none;
  const auto record = records_.find(queue);
  return record == records_.end() ? none : record->second.conditions;
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
// needs an engine in which the queue is not drained yet: but not who cannot be submitted there either.
bool LiveEngine::needs_a_new_life(const std::string& key, Time now) {
  const auto at = groups_.find(key);
  if (at == groups_.end()) return false;
  const Group& group = at->second;
  if (group.whole_by && is_repaired_anew(key, group, tally(group), now)) return true;
  if (group.refused) return false;
  const bool came_before = std::ranges::any_of(group.members, [&](std::uint64_t sequence) {
    const Member& member = members_.at(by_sequence_.at(sequence));
    const PodFacts& pod = member.facts;
    if (pod.stage != PodStage::kWaiting || !member.running.is_none() || came_after_the_drain(pod)) return false;
    return drained_since(pod.queue) && std::ranges::find(group.submitted, pod.uid) == group.submitted.end();
  });
  return came_before && obstacle(tally(group)).first.empty();
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
