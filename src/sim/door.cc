#include "sim/door.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/assert.h"
#include "base/wide.h"
#include "model/gpu.h"

namespace berth {
namespace {

std::size_t index_in(const auto& sorted, const auto& value) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), value);
  BERTH_ASSERT(place != sorted.end() && *place == value);
  return static_cast<std::size_t>(place - sorted.begin());
}

FlavorId flavor_named(const std::vector<Flavor>& flavors, const std::string& name) {
  const GpuModel* const model = find_gpu_model(name);
  for (std::size_t i = 0; i < flavors.size(); ++i) {
    if (flavors[i].model == model->name) return FlavorId(i);
  }
  BERTH_ASSERT(false);
  return {};
}

int largest_divisor(int of, int at_most) {
  for (int divisor = std::min(of, at_most); divisor > 1; --divisor) {
    if (of % divisor == 0) return divisor;
  }
  return 1;
}

}  // namespace

// The smallest GPUs first, then in the catalogue's order: a gang that takes any type tries them so, and leaves the large
// ones to those who need them. The order of a file's lines decides nothing.
std::vector<Flavor> flavors_of_trace(const Trace& trace) {
  std::vector<const GpuModel*> models;
  const auto note = [&](const std::string& name) {
    const GpuModel* const model = find_gpu_model(name);
    BERTH_ASSERT(model != nullptr);
    if (std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  };
  for (const TraceNode& node : trace.nodes) {
    if (node.gpus > 0) note(node.gpu_model);
  }
  for (const TraceJob& job : trace.jobs) {
    for (const std::string& model : job.gpu_models) note(model);
  }
  std::sort(models.begin(), models.end(), [](const GpuModel* a, const GpuModel* b) {
    return std::tuple(a->memory_mib, a) < std::tuple(b->memory_mib, b);
  });
  std::vector<Flavor> flavors;
  for (const GpuModel* model : models) {
    flavors.push_back({std::string(model->short_name), std::string(model->name), model->memory_mib});
  }
  return flavors;
}

void count_gpus_only(Trace& trace, std::int64_t gpus) {
  trace.nodes.clear();
  trace.nodes.reserve(static_cast<std::size_t>(gpus));
  for (std::int64_t i = 0; i < gpus; ++i) {
    trace.nodes.push_back({.name = "gpu-" + std::to_string(i), .gpus = 1, .gpu_model = "gpu"});
  }
  for (TraceJob& job : trace.jobs) {
    job.cpu_milli = 0;
    job.memory_bytes = 0;
    job.gpu_models.clear();
    if (job.gpus <= 1) continue;
    job.pods *= job.gpus;
    job.gpus = 1;
  }
}

void split_large_jobs(Trace& trace) {
  int largest = 1;
  for (const TraceNode& node : trace.nodes) largest = std::max(largest, node.gpus);
  for (TraceJob& job : trace.jobs) {
    if (job.gpus <= largest) continue;
    const int gpus_per_pod = largest_divisor(job.gpus, largest);
    job.pods *= job.gpus / gpus_per_pod;
    job.gpus = gpus_per_pod;
  }
}

std::vector<TypicalPod> typical_pods(const std::vector<WorkloadSubmitted>& submissions) {
  using Kind = std::tuple<std::int64_t, std::int32_t, std::int32_t, std::uint64_t>;
  std::map<Kind, std::int64_t> pods_of;
  std::int64_t all = 0;
  for (const WorkloadSubmitted& submission : submissions) {
    for (const PodSet& set : submission.shape.ways.front()) {
      FlavorSet flavors;
      for (const PodSets& way : submission.shape.ways) flavors = flavors.united_with(way.front().request.flavors);
      pods_of[{set.request.cpu_milli, set.request.gpus, set.request.gpu_milli, flavors.bits()}] += set.count;
      all += set.count;
    }
  }
  std::vector<std::pair<Kind, std::int64_t>> kinds(pods_of.begin(), pods_of.end());
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<TypicalPod> typical;
  // Weights are shares: counts beyond the bound are scaled down, half way so that rounding up stays inside.
  const bool scaled = all > kTypicalWeightMax / 2;
  const auto weight = [&](std::int64_t pods) {
    return scaled ? static_cast<std::int64_t>(Wide{pods} * (kTypicalWeightMax / 2) / all) + 1 : pods;
  };
  std::int64_t covered = 0;
  for (const auto& [kind, pods] : kinds) {
    if (covered * 100 >= all * 95 || typical.size() == kTypicalPodsMax) break;
    const auto& [cpu_milli, gpus, gpu_milli, flavors] = kind;
    typical.push_back({cpu_milli, gpus, gpu_milli, FlavorSet::from_bits(flavors), weight(pods)});
    covered += pods;
  }
  return typical;
}

Result<Door> Door::open(const Trace& trace, const DoorOptions& options, const std::string& source) {
  Complaints complaints;
  if (trace.nodes.empty()) complaints.add({source}, "there are no nodes; name a file of nodes with --nodes");
  Door door;
  door.options_ = options;
  door.flavors_ = flavors_of_trace(trace);
  if (door.flavors_.size() > kFlavorsMax) {
    complaints.add({source}, "more than 64 GPU types are named; a cluster has at most 64");
  }
  if (options.tree) {
    BERTH_ASSERT(options.tree->flavor_weights.size() == door.flavors_.size());
    for (std::size_t i = 0; i < door.flavors_.size(); ++i) door.flavors_[i].weight = options.tree->flavor_weights[i];
  }
  Wide memory_bytes = 0;
  for (const TraceNode& node : trace.nodes) memory_bytes += node.memory_bytes;
  if (memory_bytes > kFleetMemoryBytesMax) {
    complaints.add({source}, "the nodes have more than 4 EiB of memory together; look for a unit that is too large");
  }
  for (const TraceJob& job : trace.jobs) {
    if (job.pods > kPodsPerWorkloadMax) {
      complaints.add({source}, "job '" + job.name + "' has more than 1,000,000 pods; split it into several jobs");
    }
    if (job.gpus > kGpusPerNodeMax) {
      complaints.add({source},
                     "job '" + job.name + "' asks more than 64 GPUs in one pod; say how many pods share them");
    }
  }
  if (!complaints.empty()) return complaints;
  for (const TraceJob& job : trace.jobs) door.queues_.push_back(queue_name(job));
  std::sort(door.queues_.begin(), door.queues_.end());
  door.queues_.erase(std::unique(door.queues_.begin(), door.queues_.end()), door.queues_.end());
  for (const TraceNode& node : trace.nodes) {
    Node made{.name = node.name,
              .flavor = {},
              .gpus = node.gpus,
              .gpu_memory_mib = 0,
              .cpu_milli = node.cpu_milli,
              .memory_bytes = node.memory_bytes};
    if (node.gpus > 0) {
      made.flavor = flavor_named(door.flavors_, node.gpu_model);
      made.gpu_memory_mib = door.flavors_[made.flavor.index()].memory_mib;
    }
    door.nodes_.push_back(std::move(made));
  }
  return door;
}

std::vector<Event> Door::opening() const {
  std::vector<Event> events{RunConfigured{options_.seed, options_.policy}};
  const auto in_line = [&](Quota quota) {
    quota.backfill = options_.order.backfill;
    quota.foresight = options_.order.foresight;
    return quota;
  };
  for (const Flavor& flavor : flavors_) events.push_back(FlavorAdded{flavor});
  if (options_.tree) {
    for (const Queue& queue : options_.tree->queues) events.push_back(QueueAdded{queue});
  } else if (one_line()) {
    events.push_back(QueueAdded{
        {.name = "cluster", .parent = {}, .order = options_.order.order, .quota = in_line(taking_nothing())}});
    for (const std::string& queue : queues_) {
      events.push_back(
          QueueAdded{{.name = "cluster/" + queue, .parent = QueueId(0), .order = {}, .quota = taking_nothing()}});
    }
  } else {
    for (const std::string& queue : queues_) {
      const auto quota = options_.quotas.find(queue);
      BERTH_ASSERT(quota != options_.quotas.end());
      events.push_back(
          QueueAdded{{.name = queue, .parent = {}, .order = options_.order.order, .quota = in_line(quota->second)}});
    }
  }
  events.push_back(NodesAdded{nodes_});
  return events;
}

FlavorSet Door::flavors_of(const TraceJob& job) const {
  // A fleet without GPUs has no flavors; a job that asks for some stays one that can never run.
  if (job.gpus == 0 || flavors_.empty()) return FlavorSet::all();
  if (job.gpu_models.empty()) return FlavorSet::first(flavors_.size());
  FlavorSet flavors;
  for (const std::string& model : job.gpu_models) flavors.add(flavor_named(flavors_, model));
  return flavors;
}

QueueId Door::queue_of(const TraceJob& job) const {
  if (options_.tree) return options_.tree->queue_of.at(queue_name(job));
  return QueueId((one_line() ? 1 : 0) + index_in(queues_, queue_name(job)));
}

WorkloadSubmitted Door::submission(const TraceJob& job, Time at) const {
  PodRequest request{.cpu_milli = job.cpu_milli,
                     .memory_bytes = job.memory_bytes,
                     .gpus = job.gpus,
                     .gpu_milli = job.gpu_milli,
                     .flavors = flavors_of(job)};
  WorkloadSubmitted submitted{.name = job.name, .queue = queue_of(job), .at = at, .declared_run = job.run, .shape = {}};
  // Quotas are of flavors: under a policy each of them is tried by itself.
  const bool any_node = job.pods == 1 && !options_.tree;
  if (any_node || job.gpus == 0 || flavors_.empty()) {
    submitted.shape.ways.push_back({{request, job.pods}});
    return submitted;
  }
  // A gang runs in one flavor, the smallest GPUs tried first.
  const FlavorSet flavors = request.flavors;
  for (std::size_t flavor = 0; flavor < flavors_.size(); ++flavor) {
    if (!flavors.contains(FlavorId(flavor))) continue;
    request.flavors = FlavorSet::of(FlavorId(flavor));
    submitted.shape.ways.push_back({{request, job.pods}});
  }
  return submitted;
}

}  // namespace berth
