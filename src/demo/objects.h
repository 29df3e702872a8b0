// An afternoon as API objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manifest/value.h"
#include "sim/trace.h"

namespace berth {

// A List of Nodes, for a file that `berth node-agent` reads.
Value nodes_of(const Trace& trace);

// Namespaces and queues: what must be there before jobs are.
struct NamedObject {
  std::string qualified;  // "namespaces"
  Value object;
};
std::vector<NamedObject> foundations();

// In the namespace and the queue of its team, running so many times as short.
Value job_object(const TraceJob& job, std::int64_t speed);

}  // namespace berth
