// A gang that has lost some of its members and waits for others in their place (docs/semantics.md, rule 23).
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "model/ids.h"

namespace berth {

struct LostMember {
  std::uint32_t number = 0;  // from 0, in the order of its pod sets
  RequestId request;
  NodeId node;  // where it was: its quota is held for it as it was there
};

// INVARIANT: its workload runs, with some pod that is there, and with some that are lost or have room that others have yet to
// leave. What is lost counts against quotas still.
struct Repairing {
  Time since;                    // it lost the first
  Time until;                    // it is given up if some are lost still
  std::vector<LostMember> lost;  // ascending
  Wide lost_gpu_us = 0;          // until then: GPU time since its last checkpoint, and in which it waited
  Time counted_until;
};

}  // namespace berth
