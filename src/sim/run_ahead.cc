#include "sim/run_ahead.h"

#include <algorithm>
#include <utility>

#include "cycle/over_run.h"
#include "cycle/patience.h"
#include "cycle/run_cycle.h"
#include "sim/stopped_for_a_loss.h"

namespace berth {

template <class Record>
void RunAhead::note(const Record& record) {
  if (watch_) watch_(state(), JournalRecord(record));
}

RunAhead::RunAhead(const State& state, Time now, LengthOfRun length_of_run, RecordWatch watch)
    : engine_{.state = state.fork()}, now_(now), length_of_run_(std::move(length_of_run)), watch_(std::move(watch)) {
  pass_time_to(now);
  state.workloads().for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase == Phase::kRunning) expect_end_of(id);
  });
}

void RunAhead::apply(const Event& event) {
  const StoppedForALoss loss(state(), event, now_);
  engine_.state.apply(event);
  note(event);
  for (const Eviction& each : loss.evictions(state())) note_stopped(each);
}

void RunAhead::note_stopped(const Eviction& eviction) {
  const bool is_step = !state().workload(eviction.workload).step_of.is_none();
  stopped_.push_back({eviction.workload, now_, eviction.rule, eviction.lost_gpu_s, is_step});
}

void RunAhead::decide() {
  for (bool finished = false; !finished;) {
    const Plan plan = run_cycle(engine_, now_, Effort::unbounded());
    note(CycleAsked{now_, Effort::unbounded()});
    finished = plan.finished;
    if (!plan.changes_nothing()) adopt(plan);
  }
  for (const Device device : state().to_recut()) recuts_.emplace(device, now_ + state().node(device.node).recut);
  if (state().scrub() == Duration{0}) return;
  for (const Device device : state().to_scrub()) scrubs_.emplace(device, now_ + state().scrub());
}

void RunAhead::adopt(const Plan& plan) {
  std::vector<WorkloadId> begins = plan.begins;
  for (const Start& start : plan.starts) {
    if (!start.waits) begins.push_back(start.workload);
  }
  for (const Migration& move : plan.migrations) {
    if (!move.start.waits) begins.push_back(move.start.workload);
  }
  for (const Eviction& each : plan.evictions) note_stopped(each);
  engine_.state.adopt(plan);
  note(plan);
  for (const WorkloadId id : begins) note_begun(id);
}

void RunAhead::note_begun(WorkloadId id) {
  begun_.push_back({id, now_});
  expect_end_of(id);
}

void RunAhead::expect_end_of(WorkloadId id) {
  const Workload& workload = state().workload(id);
  if (!workload.step_of.is_none()) return;  // it ends with its minimum
  const Time limit = state().end_of(id, workload.started);
  const Time end = workload.started + length_of_run_(state(), id);
  ends_.push({.at = std::max(now_, std::min(end, limit)),
              .enforced = limit < end,
              .workload = id,
              .attempt = workload.attempts});
}

bool RunAhead::is_over(const Due& due) const {
  const Workload* const workload = state().workloads().find(due.workload);
  return workload == nullptr || workload->attempts != due.attempt || !is_there(workload->phase) ||
         (due.enforced && workload->phase != Phase::kRunning);
}

Time RunAhead::next_stop() const {
  Time next = kForever;
  for (const WorkloadId id : state().stopping()) next = std::min(next, state().workload(id).stop_by);
  return next;
}

Time RunAhead::next_deadline() const {
  Time next = state().partings().next_after(now_);
  for (const auto& [id, repairing] : state().repairing()) {
    if (!repairing.lost.empty()) next = std::min(next, repairing.until);
  }
  return next;
}

Time RunAhead::next_moment() {
  while (!ends_.empty() && is_over(ends_.top())) ends_.pop();
  Time next = ends_.empty() ? kForever : ends_.top().at;
  for (const auto& [device, until] : scrubs_) next = std::min(next, until);
  for (const auto& [device, until] : recuts_) next = std::min(next, until);
  return std::min({next, next_stop(), next_deadline(), state().next_wake(), state().next_max_wait(),
                   state().next_turn(), next_end_of_protection(state(), now_)});
}

void RunAhead::pass_time_to(Time moment) {
  now_ = std::max(now_, moment);
  if (state().next_turn() <= now_) apply(CalendarTurned{now_});
  if (state().keeps_time() && now_ > state().clock()) apply(TimePassed{now_});
}

bool RunAhead::go_on(Time horizon, Time not_before) {
  const Time next = next_moment();
  if (next == kForever || next > horizon) return false;
  pass_time_to(std::max(next, not_before));
  end_who_is_due();
  scrub_what_is_due();
  cut_what_is_due();
  decide();
  return true;
}

void RunAhead::end_who_is_due() {
  while (!ends_.empty() && ends_.top().at <= now_) {
    const Due due = ends_.top();
    ends_.pop();
    if (is_over(due)) continue;
    const Repairing* const repairing = state().find_repairing(due.workload);
    if (due.enforced) {
      const std::optional<Duration> by = extension_of(state(), due.workload, now_);
      by ? apply(LimitExtended{due.workload, *by}) : apply(WorkloadOverran{due.workload});
      if (by) expect_end_of(due.workload);
    } else if (repairing != nullptr && repairing->until > now_) {
      // Who lacks some of its pods does not go on.
      ends_.push({.at = repairing->until, .enforced = false, .workload = due.workload, .attempt = due.attempt});
    } else {
      apply(WorkloadEnded{due.workload});
    }
  }
  while (next_stop() <= now_) {
    const auto due =
        std::ranges::find_if(state().stopping(), [&](WorkloadId id) { return state().workload(id).stop_by <= now_; });
    apply(WorkloadStopped{*due});
  }
  while (next_deadline() <= now_) {
    const auto due = std::ranges::find_if(
        state().repairing(), [&](const auto& each) { return !each.second.lost.empty() && each.second.until <= now_; });
    apply(RepairGivenUp{due->first});
  }
  while (state().next_max_wait() <= now_) apply(MaxWaitPassed{state().max_waits().begin()->second});
}

void RunAhead::scrub_what_is_due() {
  for (auto scrub = scrubs_.begin(); scrub != scrubs_.end();) {
    if (scrub->second > now_) {
      ++scrub;
      continue;
    }
    apply(DeviceScrubbed{scrub->first.node, scrub->first.gpu});
    scrub = scrubs_.erase(scrub);
  }
}

// One whose node was closed meanwhile is cut when it is open.
void RunAhead::cut_what_is_due() {
  const std::vector<Device> ready = state().to_recut();
  for (auto recut = recuts_.begin(); recut != recuts_.end();) {
    if (recut->second > now_) {
      ++recut;
      continue;
    }
    const Device device = recut->first;
    recut = recuts_.erase(recut);
    if (std::ranges::find(ready, device) != ready.end()) apply(SlicesRecut{device.node, device.gpu});
  }
}

std::optional<Time> RunAhead::start_of(WorkloadId id, Time horizon) {
  std::size_t seen = 0;
  do {
    for (; seen < begun_.size(); ++seen) {
      if (begun_[seen].workload == id) return begun_[seen].at;
    }
  } while (go_on(horizon));
  return std::nullopt;
}

}  // namespace berth
