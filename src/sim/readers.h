// Recorded workloads in, in every format that is understood; docs/formats.md is the users' page about them. The world is
// doubted here: what comes out keeps the invariants of trace.h, what does not is a complaint with file, line and column.
// Not here: opening files (files.h), splitting a job into pods, choosing which jobs to replay.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/node.h"
#include "sim/trace.h"

namespace berth {

// Beyond these an input is a mistake and not a cluster.
inline constexpr std::int64_t kTraceRowsMax = 16'000'000;
inline constexpr std::int64_t kTraceGpusMax = 16'777'216;             // of all nodes together, and of one job
inline constexpr std::int64_t kCpuMilliMax = kNodeCpuMilliMax;        // of a node, and of a pod
inline constexpr std::int64_t kMemoryMibMax = std::int64_t{1} << 30;  // 1 PiB
inline constexpr std::int64_t kJobGpusMax = 1'000'000;                // of a job whose pods are not told apart
inline constexpr std::int64_t kJobPodsMax = 1'000'000;
inline constexpr std::int64_t kSecondsMax = 5'000'000'000;  // 158 years

// The format is known by the content: JSON by its first brace, SWF by its comments or its bare numbers, a table by the
// format that shares most columns with its header. `file_name` is for complaints only.
Result<std::vector<TraceNode>> read_nodes(std::string_view file_name, std::string_view text);
Result<std::vector<TraceJob>> read_jobs(std::string_view file_name, std::string_view text);

// Alibaba openb. A pod is a job of one pod; it runs from its creation to its deletion, 0 where these are not given.
Result<std::vector<TraceNode>> read_openb_nodes(std::string_view file_name, std::string_view text);
Result<std::vector<TraceJob>> read_openb_jobs(std::string_view file_name, std::string_view text);

// Microsoft Philly. GPUs are of model "gpu"; cpu and memory were not recorded and are 0, on nodes as in jobs. A job has
// one pod with all its GPUs, also where no node has so many: whoever runs it decides how to split it.
Result<std::vector<TraceNode>> read_philly_nodes(std::string_view file_name, std::string_view text);
Result<std::vector<TraceJob>> read_philly_jobs(std::string_view file_name, std::string_view text);

// Standard Workload Format 2.2. A processor counts as a GPU; one pod has them all, as in Philly.
struct SwfJobs {
  std::vector<TraceJob> jobs;
  std::int64_t left_out = 0;  // cancelled or failed before they ran, and parts of jobs that were checkpointed
};
Result<SwfJobs> read_swf(std::string_view file_name, std::string_view text);
// How many jobs read_jobs leaves out of this text without a complaint; 0 for other formats, and where it complains.
std::int64_t swf_jobs_left_out(std::string_view file_name, std::string_view text);
// What the header comment "MaxProcs" says.
std::optional<std::int64_t> swf_max_procs(std::string_view text);

// Berth's own tables and JSON.
Result<std::vector<TraceNode>> read_own_csv_nodes(std::string_view file_name, std::string_view text);
Result<std::vector<TraceJob>> read_own_csv_jobs(std::string_view file_name, std::string_view text);
Result<std::vector<TraceNode>> read_own_json_nodes(std::string_view file_name, std::string_view text);
Result<std::vector<TraceJob>> read_own_json_jobs(std::string_view file_name, std::string_view text);

// Tables that read_own_csv_* reads back to the same.
std::string write_nodes_csv(std::span<const TraceNode> nodes);
std::string write_jobs_csv(std::span<const TraceJob> jobs);

}  // namespace berth
