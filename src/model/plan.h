// What one cycle wants: decisions, and the reasons that changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/reason.h"
#include "model/reservation.h"
#include "model/workload.h"

namespace berth {

// One pod's place.
struct PodPlacement {
  NodeId node;
  GpuSet gpus;
  std::uint8_t slice_start = 0;  // of a slice: the first of its memory slices on its one GPU

  friend bool operator==(const PodPlacement&, const PodPlacement&) = default;
};

// Start all pods of a workload, in the way of its shape with index `way`; pods in the order of its pod sets.
struct Start {
  WorkloadId workload;
  std::uint32_t way = 0;
  std::vector<PodPlacement> pods;
  bool waits = false;         // until those have stopped who are still there
  bool best_effort = false;   // a budget had not enough left for it
  bool only_borrows = false;  // it is in no floor as long as it runs: there it would be in the way of others' cells
  std::optional<Time> lent_until = {};  // on loan: whoever it is let ahead of starts then, and it goes before

  friend bool operator==(const Start&, const Start&) = default;
};

// Take a workload's room away, for the sake of another that is proven to fit then.
struct Eviction {
  WorkloadId workload;
  WorkloadId claimant;  // none: its queue holds more than it may, or has used more than it was given
  EvictionRule rule = EvictionRule::kNone;
  Time stop_by;                    // the plan's own time: at once
  std::int64_t lost_gpu_s = 0;     // work since its last checkpoint, in GPU-seconds
  ReservationId reservation = {};  // in whose way it was

  friend bool operator==(const Eviction&, const Eviction&) = default;
};

// Stop a workload that consents to it, or that is repaired, and start it in other places, which are its own from now on; it stays the unit that it
// is, with its coverage and its place among others. INVARIANT: in the way in which it runs, holding the same amounts.
struct Migration {
  Start start;  // `waits`: until it has stopped itself
  WorkloadId
      claimant;  // for whose sake; none: so that whole nodes come free; itself: it cannot be repaired where it is
  Time stop_by;  // the plan's own time: at once
  std::int64_t lost_gpu_s = 0;

  friend bool operator==(const Migration&, const Migration&) = default;
};

// Put other pods in the place of those that a gang has lost. Those that are left stay where they are.
struct Repair {
  WorkloadId workload;
  std::vector<PodPlacement> pods;  // of all that it lacks, in their order
  bool waits = false;              // until those have stopped who are still there
  std::int64_t lost_gpu_s = 0;     // since its last checkpoint until it lost the first, and in waiting since

  friend bool operator==(const Repair&, const Repair&) = default;
};

// Cut a GPU anew whose slices were cut beforehand, as somebody is to have one that is not there. What both layouts have stays as it
// is; of the rest nobody has any but who is about to leave. INVARIANT: of each GPU one at most.
struct Repartition {
  NodeId node;
  std::int32_t gpu = 0;
  MigPlaceSet before;
  MigPlaceSet after;
  WorkloadId claimant;  // the first who is to have some of what it brings
  Duration takes{0};
  std::int64_t lost_gpu_s = 0;  // what it brings is nobody's meanwhile; rounded up

  friend bool operator==(const Repartition&, const Repartition&) = default;
};

inline bool is_for_its_own_sake(const Migration& migration) { return migration.claimant == migration.start.workload; }

// The fleet could not hold it even if nothing ran: not tried again before nodes are added.
inline constexpr std::int64_t kMissingForever = INT64_MAX;

// A shape was tried in a line and did not fit: nobody of that shape is tried there again before room for `missing` more
// pods may have come free.
struct Blocked {
  QueueId line;
  ShapeId shape;
  std::int64_t missing = 1;
  ReasonCode gate = ReasonCode::kNone;  // which gate refused; none: there was no room
  bool by_quota = false;                // a quota refused one of its ways: with another quota it may fit

  friend bool operator==(const Blocked&, const Blocked&) = default;
};

// Where and when at the latest somebody will start who waits for room (rules 24 and 25): whoever is let ahead of it leaves it
// that. No promise to it alone: where somebody with a stronger claim takes the room, or a node is lost, it is made anew.
struct Shadow {
  Time at;
  Start start;

  friend bool operator==(const Shadow&, const Shadow&) = default;
};

// Most at a time.
inline constexpr std::size_t kShadowsMax = 100;

// INVARIANT: made for one revision of the state, and adopted at that revision only.
struct Plan {
  Time now;
  std::uint64_t revision = 0;
  std::vector<WorkloadId> begins = {};  // whose room has been vacated
  // First those for nobody's sake, then in the order of the repairs and starts of their claimants, each before that one.
  std::vector<Eviction> evictions = {};
  // Who run, whose budget is gone, and who go on as best effort.
  std::vector<WorkloadId> unpaid = {};
  // As evictions are ordered, and who moves for its own sake behind all repairs. Those of one claimant may go to each other's places: all leave theirs before the first has new ones.
  std::vector<Migration> migrations = {};
  std::vector<Repair> repairs = {};
  std::vector<Start> starts = {};
  std::vector<Repartition> repartitions = {};  // by node and GPU; of those who have places there by then
  std::vector<Blocked> blocked = {};
  std::optional<std::vector<Shadow>> shadows = {};  // all that there are from now on, where they are others than before
  std::optional<std::vector<HeldPlaces>> holdings = {};  // of all reservations, where they are others than before
  bool defragmented = false;  // the moves that were asked for are decided, as far as they hold
  std::int64_t attempts = 0;
  bool finished = true;  // false: there is more to try, for the effort was used up or somebody was evicted

  bool moves_somebody() const {
    return !begins.empty() || !evictions.empty() || !unpaid.empty() || !migrations.empty() || !repairs.empty() ||
           !starts.empty();
  }
  bool changes_nothing() const {
    return !moves_somebody() && blocked.empty() && !shadows && !holdings && !defragmented;
  }
  friend bool operator==(const Plan&, const Plan&) = default;
};

// The bound of a search, in attempts to place a workload.
struct Effort {
  std::int64_t attempts_max = 0;

  static constexpr Effort unbounded() { return {INT64_MAX}; }
};

}  // namespace berth
