// Room that belongs to somebody already while others are still stopping in it.
#pragma once

#include <vector>

#include "model/plan.h"
#include "state/state.h"

namespace berth {

// The pods that are still there though their room is no longer their own.
class Vacating {
 public:
  // Of everyone who is stopping.
  explicit Vacating(const State& state);

  // Somebody who is told to stop now.
  void add(const State& state, WorkloadId workload);

  // Whether a workload's places are not clear yet. PRE: its room is taken in the state's ledger.
  bool holds_up(const State& state, WorkloadId workload) const;
  bool holds_up(const State& state, const Start& start) const;

 private:
  struct Leaving {
    NodeId node;
    GpuSet gpus;
    std::int64_t cpu_milli = 0;
    std::int64_t memory_bytes = 0;
  };

  bool holds_up(const State& state, NodeId node, GpuSet gpus) const;

  std::vector<Leaving> leaving_;
};

}  // namespace berth
