// A workload as recorded or generated: machines and jobs with names, before anything is scheduled. What every reader
// and the generator produce, and the simulator consumes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace berth {

// A machine. INVARIANT (kept by the readers): amounts >= 0; 0 <= gpus <= kGpusPerNodeMax; a node with GPUs has a model
// that is known; names are unique within a trace.
struct TraceNode {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  int gpus = 0;
  std::string gpu_model;  // short name of the catalogue; empty without GPUs
};

// A job: `pods` identical members that start together or not at all.
// INVARIANT (kept by the readers): pods >= 1; amounts >= 0; gpu_milli is kMilliPerGpu unless gpus == 1, then 1..1000;
// run >= 0; names are unique within a trace.
struct TraceJob {
  std::string name;
  std::string queue;  // empty = kUnnamedQueue
  std::string user;   // may be empty
  Time submit;        // from the start of the trace
  Duration run;       // how long it will run once started
  std::int64_t pods = 1;
  std::int64_t cpu_milli = 0;  // each pod's
  std::int64_t memory_bytes = 0;
  int gpus = 0;                         // each pod's count of devices
  int gpu_milli = 0;                    // of each device; 0 without GPUs
  std::vector<std::string> gpu_models;  // alternatives, any of which will do; empty = any
};

inline const std::string kUnnamedQueue = "default";
inline std::int64_t gpu_milli_of(const TraceJob& job) { return job.pods * job.gpus * std::int64_t{job.gpu_milli}; }
inline const std::string& queue_name(const TraceJob& job) { return job.queue.empty() ? kUnnamedQueue : job.queue; }

struct Trace {
  std::vector<TraceNode> nodes;
  std::vector<TraceJob> jobs;  // in the order of the file's rows
};

}  // namespace berth
