// Alibaba's openb lists: machines and pods of a GPU cluster, with fractions of GPUs.
#include "base/wording.h"
#include "model/gpu.h"
#include "sim/readers.h"
#include "sim/table.h"

namespace berth {

namespace {

enum NodeColumn { kSn, kNodeCpuMilli, kNodeMemoryMib, kGpu, kModel };
constexpr std::string_view kNodeColumns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};

enum PodColumn { kName, kCpuMilli, kMemoryMib, kNumGpu, kGpuMilli, kGpuSpec, kCreationTime, kDeletionTime };
constexpr std::string_view kPodColumns[] = {"name",      "cpu_milli", "memory_mib",    "num_gpu",
                                            "gpu_milli", "gpu_spec",  "creation_time", "deletion_time",
                                            "qos",       "pod_phase", "scheduled_time"};

TraceNode read_node(std::span<const CsvField> fields, FieldParser& parser) {
  TraceNode node;
  node.name = parser.unique_name(fields[kSn], "sn");
  node.cpu_milli = parser.whole(fields[kNodeCpuMilli], "cpu_milli", 0, kCpuMilliMax, "thousandths of a core");
  node.memory_bytes = parser.whole(fields[kNodeMemoryMib], "memory_mib", 0, kMemoryMibMax, "MiB") << 20;
  node.gpus = static_cast<int>(parser.whole(fields[kGpu], "gpu", 0, kGpusPerNodeMax, "a number of GPUs"));
  if (node.gpus > 0) node.gpu_model = parser.gpu_model(fields[kModel], "model");
  parser.count_gpus(fields[kGpu], "gpu", node.gpus);
  return node;
}

// A pod's share of each of its GPUs. The format gives it a meaning only for pods with one.
int read_gpu_milli(const CsvField& field, int gpus, FieldParser& parser) {
  if (gpus == 0) {
    if (parse_integer(field.text, 0, 0)) return 0;
    parser.complain(field, "gpu_milli", quote(field.text) + " of a pod without GPUs; write 0");
    return 0;
  }
  const auto milli = parser.whole(field, "gpu_milli", 1, kMilliPerGpu, "thousandths of a GPU");
  return gpus == 1 ? static_cast<int>(milli) : kMilliPerGpu;
}

TraceJob read_pod(std::span<const CsvField> fields, FieldParser& parser) {
  TraceJob job;
  job.name = parser.unique_name(fields[kName], "name");
  job.cpu_milli = parser.whole(fields[kCpuMilli], "cpu_milli", 0, kCpuMilliMax, "thousandths of a core");
  job.memory_bytes = parser.whole(fields[kMemoryMib], "memory_mib", 0, kMemoryMibMax, "MiB") << 20;
  const std::size_t before_gpus = parser.complaint_count();
  job.gpus = static_cast<int>(parser.whole(fields[kNumGpu], "num_gpu", 0, kGpusPerNodeMax, "a number of GPUs"));
  if (parser.complaint_count() == before_gpus) job.gpu_milli = read_gpu_milli(fields[kGpuMilli], job.gpus, parser);
  if (job.gpus > 0) job.gpu_models = parser.gpu_models(fields[kGpuSpec], "gpu_spec");
  const CsvField& creation = fields[kCreationTime];
  const CsvField& deletion = fields[kDeletionTime];
  if (creation.line > 0) job.submit.ms = 1000 * parser.whole(creation, "creation_time", 0, kSecondsMax, "seconds");
  if (creation.line > 0 && deletion.line > 0) {
    const std::size_t before_end = parser.complaint_count();
    const Time end{1000 * parser.whole(deletion, "deletion_time", 0, kSecondsMax, "seconds")};
    if (parser.complaint_count() != before_end) return job;
    if (end < job.submit) {
      parser.complain(deletion, "deletion_time",
                      quote(deletion.text) + " is before creation_time; write seconds from " +
                          std::to_string(job.submit.ms / 1000) + " on");
    } else {
      job.run = end - job.submit;
    }
  }
  return job;
}

}  // namespace

const TableFormat kOpenbNodes = {"openb nodes", "an openb node list", kNodeColumns, 5, true};
const TableFormat kOpenbJobs = {"openb pods", "an openb pod list", kPodColumns, 5, true};

Result<std::vector<TraceNode>> read_openb_nodes(std::string_view file_name, std::string_view text) {
  return read_table<TraceNode>(file_name, text, kOpenbNodes, read_node);
}

Result<std::vector<TraceJob>> read_openb_jobs(std::string_view file_name, std::string_view text) {
  return read_table<TraceJob>(file_name, text, kOpenbJobs, read_pod);
}

}  // namespace berth
