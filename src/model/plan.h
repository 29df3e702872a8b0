// What one cycle wants: decisions, and the reasons that changed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/node.h"

namespace berth {

// One pod's place.
struct PodPlacement {
  NodeId node;
  GpuSet gpus;

  friend bool operator==(const PodPlacement&, const PodPlacement&) = default;
};

// Start all pods of a workload, in the way of its shape with index `way`; pods in the order of its pod sets.
struct Start {
  WorkloadId workload;
  std::uint32_t way = 0;
  std::vector<PodPlacement> pods;

  friend bool operator==(const Start&, const Start&) = default;
};

// The fleet could not hold it even if nothing ran: not tried again before nodes are added.
inline constexpr std::int64_t kMissingForever = INT64_MAX;

// A shape was tried in a line and did not fit: nobody of that shape is tried there again before room for `missing` more
// pods may have come free.
struct Blocked {
  QueueId line;
  ShapeId shape;
  std::int64_t missing = 1;

  friend bool operator==(const Blocked&, const Blocked&) = default;
};

// INVARIANT: made for one revision of the state, and adopted at that revision only.
struct Plan {
  Time now;
  std::uint64_t revision = 0;
  std::vector<Start> starts;
  std::vector<Blocked> blocked;
  std::int64_t attempts = 0;
  bool finished = true;  // false: the effort was used up and there is more to try

  bool changes_nothing() const { return starts.empty() && blocked.empty(); }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The bound of a search, in attempts to place a workload.
struct Effort {
  std::int64_t attempts_max = 0;

  static constexpr Effort unbounded() { return {INT64_MAX}; }
};

}  // namespace berth
