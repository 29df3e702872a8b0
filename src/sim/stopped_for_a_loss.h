// Whom a fact stops that nobody decided: a node or a pod is lost, pods have to leave, who was to be ready is not, a repair is given up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/event.h"
#include "model/plan.h"
#include "state/state.h"

namespace berth {

class StoppedForALoss {
 public:
  // Before it is applied. Of the steps and the minimum of elastic work each is looked at by itself.
  StoppedForALoss(const State& state, const Event& event, Time now);

  // Who may be stopped by it.
  const std::vector<WorkloadId>& looked_at() const { return looked_at_; }
  // After it has been applied: those whom it has. Who has not been stopped is repaired; who is over is over.
  std::vector<Eviction> evictions(const State& state) const;

 private:
  void look_at(WorkloadId workload, std::int64_t lost_gpu_s);
  void look_at_with_minimum(const State& state, WorkloadId workload);

  Time now_;
  std::optional<Time> stop_by_;  // of who has to leave
  std::vector<WorkloadId> looked_at_;
  std::vector<std::int64_t> lost_gpu_s_;  // of each of these, if it is
};

}  // namespace berth
