// What is admitted as one: its pods start together or not at all.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/request.h"

namespace berth {

// Identical pods of a workload.
struct PodSet {
  PodRequest request;
  std::int64_t count = 1;

  friend bool operator==(const PodSet&, const PodSet&) = default;
};

// One way in which a workload may run: all its pod sets, each with the flavors it then uses.
using PodSets = std::vector<PodSet>;

// Nobody said how long it will run.
inline constexpr Duration kRunNotDeclared{-1};

// Most pods of one workload, in all its pod sets.
inline constexpr std::int64_t kPodsPerWorkloadMax = 1'000'000;

// What a workload asks, apart from who asks and when. INVARIANT: at least one way, the preferred first; every way has
// the same pod sets but for their flavors, and at least one pod.
struct WorkloadShape {
  std::vector<PodSets> ways;

  friend bool operator==(const WorkloadShape&, const WorkloadShape&) = default;
};

enum class Phase : std::uint8_t { kPending, kRunning, kEnded, kCancelled };

// Why the last attempt ended before its time.
enum class EvictionRule : std::uint8_t { kNone, kNode };

// A workload as the state holds it. INVARIANT: first_pod is none exactly when it is not running.
struct Workload {
  ShapeId shape;
  QueueId queue;
  Time submitted;
  Duration declared_run = kRunNotDeclared;
  std::int64_t rank = 0;  // as it was submitted with
  Time started;           // of the current or the last attempt
  PodId first_pod;
  std::uint32_t attempts = 0;
  Phase phase = Phase::kPending;
  EvictionRule evicted_by = EvictionRule::kNone;
};

}  // namespace berth
