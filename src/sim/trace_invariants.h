// What trace.h promises of every trace a reader lets through: for tests and fuzzers. Empty if kept.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "base/assert.h"
#include "base/result.h"
#include "base/wording.h"
#include "model/gpu.h"
#include "sim/readers.h"
#include "sim/trace.h"

namespace berth {

// The catalogue's short name, and not another spelling of it.
inline bool is_short_gpu_name(const std::string& name) {
  const GpuModel* const model = find_gpu_model(name);
  return model != nullptr && model->short_name == name;
}

inline std::string broken_invariant(const std::vector<TraceNode>& nodes) {
  std::set<std::string> names;
  for (const TraceNode& node : nodes) {
    if (node.name.empty() || !names.insert(node.name).second) return "name of " + node.name;
    if (has_control_characters(node.name)) return "control characters of " + node.name;
    if (node.cpu_milli < 0 || node.cpu_milli > kCpuMilliMax) return "cpu of " + node.name;
    if (node.memory_bytes < 0 || node.memory_bytes >> 20 > kMemoryMibMax) return "memory of " + node.name;
    if (node.gpus < 0 || node.gpus > kGpusPerNodeMax) return "gpus of " + node.name;
    if (node.gpus > 0 ? !is_short_gpu_name(node.gpu_model) : !node.gpu_model.empty()) return "model of " + node.name;
  }
  return nodes.empty() ? "no nodes" : "";
}

inline std::string broken_invariant(const std::vector<TraceJob>& jobs) {
  std::set<std::string> names;
  for (const TraceJob& job : jobs) {
    if (job.name.empty() || !names.insert(job.name).second) return "name of " + job.name;
    if (has_control_characters(job.name + job.queue + job.user)) return "control characters of " + job.name;
    if (job.submit < Time{} || job.submit.ms > 1000 * kSecondsMax) return "submit of " + job.name;
    if (job.run < Duration{} || job.run.ms > 1000 * kSecondsMax) return "run of " + job.name;
    if (job.pods < 1 || job.pods > kJobPodsMax) return "pods of " + job.name;
    if (job.cpu_milli < 0 || job.cpu_milli > kCpuMilliMax) return "cpu of " + job.name;
    if (job.memory_bytes < 0 || job.memory_bytes >> 20 > kMemoryMibMax) return "memory of " + job.name;
    if (job.gpus < 0 || job.gpus > kJobGpusMax || job.pods * job.gpus > kTraceGpusMax) return "gpus of " + job.name;
    const bool whole_gpus = job.gpu_milli == (job.gpus > 0 ? kMilliPerGpu : 0);
    const bool part_of_one = job.gpus == 1 && job.gpu_milli >= 1 && job.gpu_milli <= kMilliPerGpu;
    if (!whole_gpus && !part_of_one) return "gpu_milli of " + job.name;
    if (!std::ranges::all_of(job.gpu_models, is_short_gpu_name)) return "models of " + job.name;
    if (std::set(job.gpu_models.begin(), job.gpu_models.end()).size() != job.gpu_models.size())
      return "same models of " + job.name;
    if (job.gpus == 0 && !job.gpu_models.empty()) return "models without GPUs of " + job.name;
  }
  return jobs.empty() ? "no jobs" : "";
}

// For fuzzers: entries that keep the invariants, or complaints that say where and what.
template <class Entry>
void assert_read(const Result<std::vector<Entry>>& entries) {
  if (entries) {
    BERTH_ASSERT(broken_invariant(*entries).empty());
    return;
  }
  BERTH_ASSERT(!entries.error().empty());
  for (const Complaint& complaint : entries.error().kept()) {
    BERTH_ASSERT(!complaint.place.file.empty() && !complaint.text.empty() && complaint.text.size() < 20'000);
    BERTH_ASSERT(complaint.text.find_first_of(std::string_view("\0\n\r\x1b", 4)) == std::string::npos);
  }
}

}  // namespace berth
