// Workloads that run larger than their minimum: each pod above it is a step, a workload and a unit of its own, which runs while
// its minimum does (docs/semantics.md, rules 5 and 18).
#include <algorithm>
#include <vector>

#include "state/state.h"

namespace berth {

const std::vector<WorkloadId>& State::steps_of(WorkloadId id) const {
  static const std::vector<WorkloadId> kNone;
  const auto found = steps_.find(id);
  return found == steps_.end() ? kNone : found->second;
}

Time State::end_of(WorkloadId id, Time started) const {
  const Workload& minimum = workloads_[minimum_of(id)];
  const bool joins = !workloads_[id].step_of.is_none() && minimum.phase == Phase::kRunning;
  const Time end = enforced_end(shapes_[minimum.shape.index()].terms, joins ? minimum.started : started);
  return end == kForever ? end : end + minimum.extended;
}

// Its minimum goes, or is not whole any more.
void State::stop_steps(WorkloadId minimum) {
  for (const WorkloadId step : steps_of(minimum)) {
    if (!has_room(workloads_[step].phase)) continue;
    workloads_[step].evicted_by = workloads_[minimum].evicted_by;
    workloads_[step].evicted_for = workloads_[minimum].evicted_for;
    give_room_back(step);
    wait_again(step);
  }
}

void State::end_steps(WorkloadId minimum, Phase phase) {
  const auto found = steps_.find(minimum);
  if (found == steps_.end()) return;
  const std::vector<WorkloadId> steps = found->second;
  steps_.erase(found);
  for (const WorkloadId step : steps) end(step, phase, false);
}

// Unless it resizes live all go on from the last checkpoint. Who takes steps as it starts, or restarts, restarts nothing more.
void State::resize(WorkloadId minimum, bool smaller) {
  Workload& workload = workloads_[minimum];
  const bool begins = workload.started == clock_ || workload.resumed == clock_;
  if (workload.phase != Phase::kRunning || (!smaller && begins)) return;
  const bool restarts = !shapes_[workload.shape.index()].terms.resizes_live;
  if (smaller || restarts) {
    workload.resized = clock_;
    wakes_.emplace(clock_ + kResizeCooldown, minimum);
  }
  if (!restarts) return;
  workload.resumed = clock_;
  for (const WorkloadId step : steps_of(minimum)) workloads_[step].resumed = clock_;
}

}  // namespace berth
