// What time does to those who wait and run: turns of a series, waits that are long enough, hours, and loans.
#include <algorithm>
#include <vector>

#include "state/state.h"

namespace berth {

// PRE: it waits for its turn.
void State::take_turns(WorkloadId id, SeriesId series, std::int32_t at_most) {
  history_.add(series.value()).add(at_most);
  have_turns(series_.join(id, series, at_most));
}

void State::have_turns(const std::vector<WorkloadId>& ids) {
  for (const WorkloadId id : ids) {
    dequeue(id);
    workloads_[id].awaits_turn = false;
    enqueue(id);
  }
}

void State::wait_at_most(WorkloadId id, const std::optional<MaxWait>& max_wait) {
  if (!max_wait) return;
  workloads_[id].max_wait = max_wait;
  max_waits_.emplace(workloads_[id].submitted + max_wait->length, id);
  history_.add(max_wait->length.ms).add(static_cast<std::uint64_t>(max_wait->then)).add(max_wait->raise);
}

void State::forget_max_wait(WorkloadId id) {
  Workload& workload = workloads_[id];
  if (!workload.max_wait) return;
  max_waits_.erase({workload.submitted + workload.max_wait->length, id});
  workload.max_wait.reset();
}

void State::on(const MaxWaitPassed& event) {
  const WorkloadId id = event.workload;
  history_.add(id.value());
  const MaxWait waited = *workloads_[id].max_wait;
  if (waited.then == AfterWait::kCancel) return end(id, Phase::kCancelled, false);
  forget_max_wait(id);
  const std::vector<Shadow> promised = shadows_;
  dequeue(id);
  Workload& workload = workloads_[id];
  workload.raised += waited.raise;
  if (waited.then == AfterWait::kBestEffort) {
    Shape shape = shapes_[workload.shape.index()];
    shape.terms.best_effort = true;
    shape.terms.guaranteed_only = false;  // it insists on none: it had to cool down
    shape.cools = false;
    workload.shape = ShapeId(shapes_.intern(shape));
  }
  enqueue(id);
  if (waited.then == AfterWait::kRaise && !is_kept_aside(id)) shadows_ = promised;
}

Time State::hours_from(const Terms& terms, Time at) const {
  if (!terms.hours) return at;
  for (const Interval& open : (*windows_)[*terms.hours].open) {
    const Time last = terms.run_limit ? Time{open.to.ms - terms.run_limit->ms} : Time{open.to.ms - 1};
    const Time first = std::max(at, open.from);
    if (first <= last) return first;
  }
  return kForever;
}

Time State::hours_end(const Terms& terms, Time started) const {
  if (!terms.hours) return kForever;
  for (const Interval& open : (*windows_)[*terms.hours].open) {
    if (open.from <= started && started < open.to) return open.to;
  }
  return started;
}

// These hours are others than before, or known further ahead.
void State::retry_who_keeps_hours(std::uint32_t window) {
  std::vector<WorkloadId> waiting;
  workloads_.for_each([&](WorkloadId id, const Workload& workload) {
    const bool keeps_them = shapes_[workload.shape.index()].terms.hours == window;
    if (workload.phase == Phase::kPending && keeps_them) waiting.push_back(id);
  });
  for (const WorkloadId id : waiting) {
    dequeue(id);
    workloads_[id].too_early = is_too_early(id);
    enqueue(id);
  }
}

// What is left of an elastic workload's or a repaired gang's run says little of others'.
void State::learn_run(WorkloadId id) {
  const Workload& workload = workloads_[id];
  if (!learns_runs_ || !workload.step_of.is_none() || steps_.contains(id)) return;
  ended_runs_.add({line_of(workload.queue), workload.user, shapes_[workload.shape.index()].gpu_milli},
                  clock_ - workload.started);
  retry_who_stands_back();
}

// Each time that has passed it is foretold anew, of those of its kind that ran longer still.
void State::foretell_end(WorkloadId id) {
  Workload& workload = workloads_[id];
  if (!learns_runs_ || !workload.step_of.is_none() || steps_.contains(id)) return;
  const RunKind kind{line_of(workload.queue), workload.user, shapes_[workload.shape.index()].gpu_milli};
  const auto run = ended_runs_.half_of_those_beyond(kind, clock_ - workload.started);
  workload.foretold_end.reset();
  if (!run) return;
  workload.foretold_end = workload.started + *run;
  wakes_.emplace(*workload.foretold_end, id);
}

std::optional<Duration> State::foretold_run(WorkloadId id) const {
  const Workload& workload = workloads_[id];
  const std::int32_t percent = queues_[line_of(workload.queue).index()].quota.loans_percent;
  if (percent == 0 || !workload.step_of.is_none() || steps_.contains(id)) return std::nullopt;
  return ended_runs_.foretell({line_of(workload.queue), workload.user, shapes_[workload.shape.index()].gpu_milli},
                              percent);
}

void State::look_for_foresight() {
  learns_runs_ = std::ranges::any_of(
      queues_, [](const Queue& queue) { return queue.quota.loans_percent > 0 || queue.foresees(); });
  extends_limits_ =
      std::ranges::any_of(queues_, [](const Queue& queue) { return queue.quota.over_run == OverRun::kExtend; });
}

// All that is known of its end is so much later; that of its steps, too.
void State::on(const LimitExtended& event) {
  history_.add(event.workload.value()).add(event.by.ms);
  Workload& workload = workloads_[event.workload];
  workload.extended = workload.extended + event.by;
  ++workload.extensions;
  const Time end = end_of(event.workload, workload.started);
  note_what_was_held(workload.queue);
  quotas_.set_end(workload.unit, end);
  for (const WorkloadId step : steps_of(event.workload)) {
    if (has_room(workloads_[step].phase)) quotas_.set_end(workloads_[step].unit, end);
  }
  quotas_.keep();
}

// Whose room is to be free by then has to be told in time.
void State::lend(WorkloadId id, Time until) {
  history_.add(until.ms);
  Workload& workload = workloads_[id];
  workload.lent_until = until;
  lent_.insert(id);
  if (!shapes_[workload.shape.index()].terms.run_limit) ++limited_;
  wakes_.emplace(Time{until.ms - shapes_[workload.shape.index()].terms.grace.ms}, id);
  // Who is promised room for later may need his, too, if he stays beyond that.
  for (const Shadow& each : shadows_) wake_who_is_lent(id, each.at);
}

void State::take_back_loan(WorkloadId id) {
  if (lent_.erase(id) == 0) return;
  Workload& workload = workloads_[id];
  workload.lent_until.reset();
  if (!shapes_[workload.shape.index()].terms.run_limit) --limited_;
}

// Whoever is there on loan may have to go for it, and then in time.
void State::take_loans_back_for(Time promised) {
  for (const WorkloadId id : lent_) wake_who_is_lent(id, promised);
}

void State::wake_who_is_lent(WorkloadId id, Time promised) {
  const Duration grace = shapes_[workloads_[id].shape.index()].terms.grace;
  const Time due{promised.ms - grace.ms - scrub_.ms};
  if (due > clock_) wakes_.emplace(due, id);
}

}  // namespace berth
