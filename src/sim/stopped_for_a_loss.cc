#include "sim/stopped_for_a_loss.h"

#include <algorithm>
#include <set>
#include <variant>

#include "fairness/rights.h"

namespace berth {

StoppedForALoss::StoppedForALoss(const State& state, const Event& event, Time now) : now_(now) {
  if (const auto* const failed = std::get_if<NodeFailed>(&event)) {
    std::set<WorkloadId> there;
    for (const Pod& pod : state.pods()) {
      if (pod.workload.is_none() || pod.node != failed->node) continue;
      const Workload& workload = state.workload(pod.workload);
      // Who has been evicted already, or has not begun, is not evicted by this.
      if (workload.phase != Phase::kRunning) continue;
      there.insert(pod.workload);
      // The minimum stops with a step where it backs off.
      if (!workload.step_of.is_none()) there.insert(workload.step_of);
    }
    for (const WorkloadId id : there) look_at(id, lost_by_own_pods_gpu_s(state, id, now));
  } else if (const auto* const pod = std::get_if<PodFailed>(&event)) {
    look_at_with_minimum(state, pod->workload);
  } else if (const auto* const evicted = std::get_if<PodsEvicted>(&event)) {
    look_at_with_minimum(state, evicted->workload);
    stop_by_ = evicted->stop_by;
  } else if (const auto* const unready = std::get_if<NeverReady>(&event)) {
    look_at(unready->workload, lost_if_taken_gpu_s(state, unready->workload, now));
  } else if (const auto* const given_up = std::get_if<RepairGivenUp>(&event)) {
    look_at(given_up->workload, lost_if_taken_gpu_s(state, given_up->workload, now));
  }
}

void StoppedForALoss::look_at(WorkloadId id, std::int64_t lost_gpu_s) {
  looked_at_.push_back(id);
  lost_gpu_s_.push_back(lost_gpu_s);
}

void StoppedForALoss::look_at_with_minimum(const State& state, WorkloadId id) {
  look_at(id, lost_by_own_pods_gpu_s(state, id, now_));
  const WorkloadId minimum = state.workload(id).step_of;
  if (!minimum.is_none()) look_at(minimum, lost_by_own_pods_gpu_s(state, minimum, now_));
}

std::vector<Eviction> StoppedForALoss::evictions(const State& state) const {
  std::vector<Eviction> evictions;
  for (std::size_t i = 0; i < looked_at_.size(); ++i) {
    const Workload* const workload = state.workloads().find(looked_at_[i]);
    const Phase phase = workload == nullptr ? Phase::kEnded : workload->phase;
    if (phase == Phase::kPending) evictions.push_back({looked_at_[i], {}, workload->evicted_by, now_, lost_gpu_s_[i]});
    // Who leaves with all that he has left is told to stop, and has his grace.
    if (phase == Phase::kStopping && i == 0 && stop_by_)
      evictions.push_back({looked_at_[i], {}, EvictionRule::kNode, *stop_by_, lost_gpu_s_[i]});
  }
  return evictions;
}

}  // namespace berth
