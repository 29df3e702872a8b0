// A fleet after a day of small jobs that come and go: in pieces, as fleets are. Defragmentation is shown on it.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "sim/session.h"

namespace berth {

// Nodes of eight GPUs are full all day, of jobs of one, two and four GPUs (two of one for each of the others), which run ten
// minutes to eight hours, all alike likely, and report no checkpoint; every minute what has ended is replaced. Then nothing
// comes any more until no more than so much is allocated. All of it is drawn from the seed.
// Uneven, the jobs are of one, two, three and five GPUs (two of one for each of the others), every fourth of two such pods, and ask
// 4, 12 or 20 CPUs a GPU of nodes that have 96, so that what is left of a node is seldom what somebody needs.
struct ChurnSpec {
  std::int64_t nodes = 1000;
  std::int64_t hours = 24;
  std::int64_t allocated_percent = 85;
  std::int64_t movable_percent = 100;  // of the jobs
  bool uneven = false;
  Seed seed{1};
};
inline constexpr std::int32_t kChurnNodeGpus = 8;

// When it is over. PRE: the session is new; 1 <= nodes; 0 <= allocated_percent, movable_percent <= 100.
Time churn(Session& session, const ChurnSpec& spec);

// A gang of so many pods of whole nodes, to wait in the one queue that there is.
WorkloadSubmitted whole_node_gang(std::int64_t pods, Time at);

}  // namespace berth
