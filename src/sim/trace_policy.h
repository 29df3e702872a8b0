// A policy on a trace: its queues with amounts of the trace's GPUs, and in which of them the trace's jobs are.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"
#include "sim/door.h"
#include "sim/trace.h"

namespace berth {

// What of a policy makes no difference on the trace, in words.
using Unmatched = std::vector<std::string>;

// Complaints if a queue of the trace is none of the policy's, if flavors cannot be told apart on the trace's nodes, or if the
// policy has what a trace cannot show; `source` names the policy. A queue goes by its name, or by that of a LocalQueue that
// leads to it.
Result<TraceQueues> queues_on_trace(const Policy& policy, const Trace& trace, const std::string& source,
                                    Unmatched& unmatched);

}  // namespace berth
