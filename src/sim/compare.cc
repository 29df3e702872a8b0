#include "sim/compare.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/wide.h"
#include "model/gpu.h"
#include "sim/table.h"

namespace berth {
namespace {

std::map<std::string, Wide> loads_of(const Trace& trace) {
  std::map<std::string, Wide> loads;
  for (const TraceJob& job : trace.jobs)
    loads[queue_name(job)] += Wide{job.pods * job.gpus} * job.gpu_milli * job.run.ms;
  return loads;
}

constexpr std::string_view kFloorColumns[] = {"queue", "gpus"};

AmountList gpus_of(const QueueFloor& floor) {
  return {{Dim(FlavorId(0), Resource::kGpu), floor.gpus * std::int64_t{kMilliPerGpu}}};
}

}  // namespace

Result<std::vector<QueueFloor>> floors_by_load(const Trace& trace, std::int64_t gpus, const std::string& source) {
  const std::map<std::string, Wide> loads = loads_of(trace);
  if (static_cast<std::int64_t>(loads.size()) > gpus) {
    return Complaints({source}, "has " + std::to_string(loads.size()) + " queues, more than there are GPUs (" +
                                    std::to_string(gpus) + "); give every queue one at least");
  }
  Wide load_left = 0;
  for (const auto& [queue, load] : loads) load_left += load;
  std::map<std::string, std::int64_t> floors;
  std::int64_t left = gpus;
  // Who has less than one GPU's worth gets one; that makes it less for the others, and so it may come to one of those.
  for (bool again = true; again;) {
    again = false;
    for (const auto& [queue, load] : loads) {
      if (floors.contains(queue) || load * left >= load_left) continue;
      floors[queue] = 1;
      load_left -= load;
      --left;
      again = true;
    }
  }
  // The others by the largest remainder; equal ones by name.
  std::vector<std::pair<Wide, std::string>> remainders;
  std::int64_t given = 0;
  for (const auto& [queue, load] : loads) {
    if (floors.contains(queue)) continue;
    floors[queue] = static_cast<std::int64_t>(load_left == 0 ? 1 : load * left / load_left);
    given += floors[queue];
    remainders.emplace_back(load_left == 0 ? 0 : -(load * left % load_left), queue);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; given < left && !remainders.empty(); ++i, ++given)
    ++floors[remainders[i % remainders.size()].second];
  std::vector<QueueFloor> made;
  for (const auto& [queue, floor] : floors) made.push_back({queue, floor});
  return made;
}

const TableFormat kFloors = {"floors", "a list of floors", kFloorColumns, 2, false};

Result<std::vector<QueueFloor>> read_floors(std::string_view file_name, std::string_view text, const Trace& trace,
                                            std::int64_t gpus) {
  auto floors =
      read_table<QueueFloor>(file_name, text, kFloors, [](std::span<const CsvField> row, FieldParser& parser) {
        return QueueFloor{parser.unique_name(row[0], "queue"), parser.whole(row[1], "gpus", 0, kPoolGpusMax, "GPUs")};
      });
  if (!floors) return floors;
  Complaints complaints;
  std::int64_t sum = 0;
  std::map<std::string, Wide> loads = loads_of(trace);
  for (const QueueFloor& floor : *floors) {
    sum += floor.gpus;
    if (loads.erase(floor.queue) == 0) {
      complaints.add({std::string(file_name)},
                     "no job is in queue '" + floor.queue + "'; leave it out, or write its name as the jobs do");
    }
  }
  for (const auto& [queue, load] : loads) {
    complaints.add({std::string(file_name)}, "queue '" + queue + "' of the jobs is missing; add a row for it");
  }
  if (sum > gpus) {
    complaints.add({std::string(file_name)}, "the floors add up to " + std::to_string(sum) + " GPUs, and there are " +
                                                 std::to_string(gpus) + "; write smaller ones");
  }
  if (!complaints.empty()) return complaints;
  std::ranges::sort(*floors, {}, &QueueFloor::queue);
  return floors;
}

std::int64_t Comparison::jobs_apart() const {
  std::int64_t jobs = 0;
  for (const Apart& each : apart) jobs += each.jobs;
  return jobs;
}

Result<Comparison> compare(Trace trace, std::vector<QueueFloor> floors, const CompareOptions& options,
                           const std::string& source, const std::function<void(std::int64_t, std::int64_t)>& progress) {
  Comparison made;
  made.gpus = static_cast<std::int64_t>(trace.nodes.size());
  made.floors = std::move(floors);
  RunOptions alone{.order = options.order, .seed = options.seed};
  std::map<std::string, std::int64_t> floor_of;
  for (const QueueFloor& floor : made.floors) {
    floor_of[floor.queue] = floor.gpus;
    alone.floors_milli[floor.queue] = floor.gpus * kMilliPerGpu;
  }
  RunOptions with_floors = alone;
  with_floors.checkpoint_every = options.checkpoint_every;
  RunOptions in_partitions = alone;
  for (const QueueFloor& floor : made.floors) {
    with_floors.quotas[floor.queue] = {.guarantee = gpus_of(floor),
                                       .fair_reclaim = options.fair_reclaim,
                                       .patience = options.patience,
                                       .cooldown = options.cooldown};
    in_partitions.quotas[floor.queue] = {.limit = gpus_of(floor), .fair_reclaim = FairReclaim::kNever};
  }

  const auto is_apart = [&](const TraceJob& job) {
    return job.pods * job.gpus * std::int64_t{job.gpu_milli} > floor_of.at(queue_name(job)) * kMilliPerGpu;
  };
  made.trace.nodes = trace.nodes;
  for (const TraceJob& job : trace.jobs) {
    if (!is_apart(job)) made.trace.jobs.push_back(job);
  }
  const bool some_apart = made.trace.jobs.size() < trace.jobs.size();
  const std::int64_t runs = some_apart ? 4 : 3;
  std::int64_t run = 0;
  const auto go = [&](const Trace& of, const RunOptions& with) {
    auto done = run_cluster(of, with, source, nullptr, [&](std::int64_t at, std::int64_t all) {
      if (progress) progress(run * all + at, runs * all);
    });
    ++run;
    return done;
  };
  for (const auto& [name, with, way] :
       {std::tuple("floors", &with_floors, &made.shared), std::tuple("partitions", &in_partitions, &made.partitioned),
        std::tuple("one line", &alone, &made.one_line)}) {
    auto done = go(made.trace, *with);
    if (!done) return done.error();
    *way = {name, std::move(*done)};
  }
  if (!some_apart) return made;
  auto done = go(trace, with_floors);
  if (!done) return done.error();
  made.with_all = std::move(*done);
  for (const QueueWaits& queue :
       waits_by_queue(trace, made.with_all->times, [&](std::size_t row) { return is_apart(trace.jobs[row]); })) {
    made.apart.push_back({queue.queue, queue.jobs, 0, queue.waits});
  }
  for (const TraceJob& job : trace.jobs) {
    if (!is_apart(job)) continue;
    const auto at = std::ranges::find(made.apart, queue_name(job), &Comparison::Apart::queue);
    at->largest_gpus = std::max(at->largest_gpus, job.pods * job.gpus);
  }
  return made;
}

std::vector<std::string> worse_off(const Comparison::Way& way, const Comparison::Way& than) {
  BERTH_ASSERT(way.run.queues.size() == than.run.queues.size());
  std::vector<std::string> worse;
  for (std::size_t i = 0; i < way.run.queues.size(); ++i) {
    const Waits& here = way.run.queues[i].waits;
    const Waits& there = than.run.queues[i].waits;
    if (here.mean_s > there.mean_s || here.p90_s > there.p90_s) worse.push_back(way.run.queues[i].queue);
  }
  return worse;
}

}  // namespace berth
