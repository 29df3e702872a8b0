// From a trace with names to the events that the core understands with ids.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "sim/line_order.h"
#include "sim/trace.h"

namespace berth {

// The queues of a policy, and in which of them each queue of a trace is.
struct TraceQueues {
  std::vector<Queue> queues;                     // parents first; amounts by the numbers of flavors_of_trace()
  std::vector<std::int64_t> flavor_weights;      // by those numbers
  std::map<std::string, QueueId> queue_of = {};  // by the trace's names: all of them

  const Quota& quota_of(const std::string& name) const { return queues[queue_of.at(name).index()].quota; }
};

// The GPU models that it names, the smallest memory first; a run numbers them so.
std::vector<Flavor> flavors_of_trace(const Trace& trace);

struct DoorOptions {
  Seed seed;
  PlacementPolicy policy = PlacementPolicy::kFgd;
  LineOrder order = Order::kFifoSkip;
  std::map<std::string, Quota> quotas = {};  // of the trace's queues, each of which then has a line of its own
  std::optional<TraceQueues> tree = {};      // these in place of quotas
};

// Most GPUs of such a pool: twice the largest fleet that is planned for.
inline constexpr std::int64_t kPoolGpusMax = 2'000'000;

// A fleet of one-GPU nodes in which only GPUs count; `gpus` of them take the place of the trace's nodes, and its jobs
// ask no CPU, memory or type. A job of n GPUs is a gang of n pods.
void count_gpus_only(Trace& trace, std::int64_t gpus);

// Jobs that ask more GPUs than the largest node has become gangs of equal pods, as few as possible.
void split_large_jobs(Trace& trace);

// Pods that make up 95 % of the trace's, the most frequent kinds first; as in Weng et al. (USENIX ATC 2023).
std::vector<TypicalPod> typical_pods(const std::vector<WorkloadSubmitted>& submissions);

// The trace's queues and GPU models, numbered. Without quotas all queues share one line, so the order holds for the whole
// cluster.
class Door {
 public:
  // What is wrong with the trace as a whole (no nodes, too many flavors) is complained about here; `source` names it.
  static Result<Door> open(const Trace& trace, const DoorOptions& options, const std::string& source);

  // The run's first events, nodes included.
  std::vector<Event> opening() const;
  // A job as it is submitted at `at`. Its declared run is the one that it will have.
  WorkloadSubmitted submission(const TraceJob& job, Time at) const;

 private:
  FlavorSet flavors_of(const TraceJob& job) const;
  bool one_line() const { return options_.quotas.empty() && !options_.tree; }
  QueueId queue_of(const TraceJob& job) const;

  DoorOptions options_;
  std::vector<Flavor> flavors_;
  std::vector<std::string> queues_;  // sorted; the cluster's own line, if there is one, is queue 0, these follow
  std::vector<Node> nodes_;
};

}  // namespace berth
