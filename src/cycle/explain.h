// Why a workload does not run, with numbers. Counted when somebody asks, by the same table of filters that decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.h"
#include "model/reason.h"
#include "model/request.h"
#include "state/state.h"

namespace berth {

// Of nodes that are closed: for maintenance alone, and open again by themselves.
inline constexpr std::string_view kInMaintenance = "closed for maintenance";

// How many nodes refuse a pod for the same thing.
struct NodeTally {
  std::string_view refuses_with;
  std::int64_t nodes = 0;
  std::int64_t most = 0;  // that one of them has free of what is too little: GPUs or thousandths of one, CPUs, bytes

  friend bool operator==(const NodeTally&, const NodeTally&) = default;
};

struct Explanation {
  ReasonCode code = ReasonCode::kNone;
  std::int64_t nodes_that_fit = 0;  // at least one of its pods
  std::int64_t pods_that_fit = 0;   // at once, in its best way
  std::int64_t pods = 0;
  PodRequest asked;                // what the nodes were asked for: by those of its pods that fewest nodes take
  std::vector<NodeTally> tallies;  // most nodes first
  // "no node has 8 GPUs free (1,523 nodes: 912 have 6 or fewer free, 310 have no GPU, 301 have other GPUs)"
  std::string text;
};

// PRE: the workload is known.
ReasonCode reason_of(const State& state, WorkloadId workload);
Explanation explain(const State& state, WorkloadId workload);

// The ends and beginnings for which it is to wait, where that is its reason; none where they will never be.
std::vector<Dependency> awaited_by(const State& state, WorkloadId workload);

// Those of its line that stand before it, the first first; nobody before who stands in none.
std::vector<WorkloadId> ahead_of(const State& state, WorkloadId workload);

// 1523 -> "1,523".
std::string with_separators(std::int64_t value);

}  // namespace berth
