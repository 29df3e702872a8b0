// Berth's own tables: what a user writes by hand, and what the generator writes.
#include <algorithm>

#include "base/wording.h"
#include "model/gpu.h"
#include "sim/own_rows.h"
#include "sim/readers.h"
#include "sim/table.h"

namespace berth {

namespace {

enum OwnNodeColumn { kOwnNodeName, kOwnNodeCpu, kOwnNodeMemory, kOwnNodeGpus, kOwnGpuModel };
constexpr std::string_view kOwnNodeColumns[] = {"name", "cpu", "memory", "gpus", "gpu_model"};

enum OwnJobColumn {
  kOwnName,
  kOwnSubmit,
  kOwnRun,
  kOwnGpus,
  kOwnPods,
  kOwnCpu,
  kOwnMemory,
  kOwnQueue,
  kOwnUser,
  kOwnGpuModels
};
constexpr std::string_view kOwnJobColumns[] = {"name", "submit_s", "run_s", "gpus", "pods",
                                               "cpu",  "memory",   "queue", "user", "gpu_models"};

// "12.345", without zeros at the end.
std::string seconds_text(std::int64_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 == 0) return text;
  std::string decimals = std::to_string(1000 + ms % 1000).substr(1);
  while (decimals.ends_with('0')) decimals.pop_back();
  return text + "." + decimals;
}

std::string gpus_text(const TraceJob& job) {
  return job.gpus == 1 ? format_milli(job.gpu_milli) : std::to_string(job.gpus);
}

std::string joined(const std::vector<std::string>& models) {
  std::string text;
  for (const std::string& model : models) text += (text.empty() ? "" : "|") + model;
  return text;
}

// PRE: the text is a name or label that a reader let through: no line ends, no blanks at its ends.
std::string cell(std::string_view text) {
  if (text.find_first_of(",\"") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

const TableFormat kOwnNodes = {"nodes", "a node list", kOwnNodeColumns, 4, false};
const TableFormat kOwnJobs = {"jobs", "a job list", kOwnJobColumns, 4, false};

TraceNode read_own_node(std::span<const CsvField> fields, FieldParser& parser) {
  TraceNode node;
  node.name = parser.unique_name(fields[kOwnNodeName], "name");
  node.cpu_milli = parser.cpu_milli(fields[kOwnNodeCpu], "cpu");
  node.memory_bytes = parser.memory_bytes(fields[kOwnNodeMemory], "memory");
  const std::size_t complaints_before = parser.complaint_count();
  node.gpus = static_cast<int>(parser.whole(fields[kOwnNodeGpus], "gpus", 0, kGpusPerNodeMax, "a number of GPUs"));
  const bool gpus_known = parser.complaint_count() == complaints_before;
  parser.count_gpus(fields[kOwnNodeGpus], "gpus", node.gpus);
  const CsvField& model = fields[kOwnGpuModel];
  if (node.gpus > 0 && model.text.empty()) {
    const CsvField& place = model.line > 0 ? model : fields[kOwnNodeGpus];
    parser.complain(place, "gpu_model",
                    "a node with GPUs has no model; write one such as H100, or gpu where the kind does not matter");
  } else if (node.gpus > 0) {
    node.gpu_model = parser.gpu_model(model, "gpu_model");
  } else if (gpus_known && !model.text.empty()) {
    parser.complain(model, "gpu_model",
                    quote(model.text) + " of a node without GPUs; leave it empty, or write how many GPUs it has");
  }
  return node;
}

TraceJob read_own_job(std::span<const CsvField> fields, FieldParser& parser) {
  TraceJob job;
  job.name = parser.unique_name(fields[kOwnName], "name");
  job.submit = Time{parser.seconds_ms(fields[kOwnSubmit], "submit_s")};
  job.run = Duration{parser.seconds_ms(fields[kOwnRun], "run_s")};
  const std::size_t complaints_before = parser.complaint_count();
  const std::int64_t milli_gpus = parser.milli_gpus(fields[kOwnGpus], "gpus");
  const bool gpus_known = parser.complaint_count() == complaints_before;
  job.gpus = static_cast<int>(milli_gpus < kMilliPerGpu ? (milli_gpus > 0 ? 1 : 0) : milli_gpus / kMilliPerGpu);
  job.gpu_milli = static_cast<int>(std::min<std::int64_t>(milli_gpus, kMilliPerGpu));
  const CsvField& pods = fields[kOwnPods];
  if (!pods.text.empty())
    job.pods = std::max<std::int64_t>(parser.whole(pods, "pods", 1, kJobPodsMax, "a number of pods"), 1);
  if (job.pods * job.gpus > kTraceGpusMax) {
    parser.complain(fields[kOwnGpus], "gpus",
                    std::to_string(job.pods) + " pods with " + std::to_string(job.gpus) +
                        " GPUs each are too many; write at most " + std::to_string(kTraceGpusMax) + " for all pods");
  }
  if (!fields[kOwnCpu].text.empty()) job.cpu_milli = parser.cpu_milli(fields[kOwnCpu], "cpu");
  if (!fields[kOwnMemory].text.empty()) job.memory_bytes = parser.memory_bytes(fields[kOwnMemory], "memory");
  job.queue = parser.label(fields[kOwnQueue], "queue");
  job.user = parser.label(fields[kOwnUser], "user");
  job.gpu_models = parser.gpu_models(fields[kOwnGpuModels], "gpu_models");
  if (gpus_known && job.gpus == 0 && !job.gpu_models.empty()) {
    parser.complain(fields[kOwnGpuModels], "gpu_models",
                    quote(fields[kOwnGpuModels].text) + " of a job without GPUs; leave it empty");
  }
  return job;
}

Result<std::vector<TraceNode>> read_own_csv_nodes(std::string_view file_name, std::string_view text) {
  return read_table<TraceNode>(file_name, text, kOwnNodes, read_own_node);
}

Result<std::vector<TraceJob>> read_own_csv_jobs(std::string_view file_name, std::string_view text) {
  return read_table<TraceJob>(file_name, text, kOwnJobs, read_own_job);
}

std::string write_nodes_csv(std::span<const TraceNode> nodes) {
  std::string text = "name,cpu,memory,gpus,gpu_model\n";
  for (const TraceNode& node : nodes) {
    text += cell(node.name) + "," + format_milli(node.cpu_milli) + "," + format_bytes(node.memory_bytes) + "," +
            std::to_string(node.gpus) + "," + node.gpu_model + "\n";
  }
  return text;
}

std::string write_jobs_csv(std::span<const TraceJob> jobs) {
  std::string text = "name,queue,user,submit_s,run_s,pods,gpus,cpu,memory,gpu_models\n";
  for (const TraceJob& job : jobs) {
    text += cell(job.name) + "," + cell(job.queue) + "," + cell(job.user) + "," + seconds_text(job.submit.ms) + "," +
            seconds_text(job.run.ms) + "," + std::to_string(job.pods) + "," + gpus_text(job) + "," +
            format_milli(job.cpu_milli) + "," + format_bytes(job.memory_bytes) + "," + joined(job.gpu_models) + "\n";
  }
  return text;
}

}  // namespace berth
