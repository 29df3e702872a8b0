#include "sim/churn.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "state/room.h"

namespace berth {
namespace {

constexpr std::uint64_t kJobStream = std::uint64_t{1} << 52;  // not one of the engine's

WorkloadSubmitted job_of(std::int64_t pods, std::int32_t gpus, Time at) {
  WorkloadSubmitted submitted{.name = "", .queue = QueueId(0), .at = at, .shape = {}};
  PodSet set{.request = {.gpus = gpus, .gpu_milli = kMilliPerGpu, .flavors = FlavorSet::of(FlavorId(0))},
             .count = pods};
  submitted.shape.ways.push_back({set});
  return submitted;
}

class Day {
 public:
  Day(Session& session, const ChurnSpec& spec) : session_(session), spec_(spec), rng_(spec.seed, kJobStream) {}

  Time pass() {
    open();
    for (std::int64_t minute = 0; minute < spec_.hours * 60; ++minute) {
      now_ = Time{minute * kMinuteMs};
      while (!ends_.empty() && ends_.top().first <= now_) end_one();
      fill();
    }
    while (!ends_.empty() && 100 * free_gpus() < (100 - spec_.allocated_percent) * spec_.nodes * kChurnNodeGpus) {
      now_ = std::max(now_, ends_.top().first);
      end_one();
    }
    return now_;
  }

 private:
  void open() {
    session_.apply(RunConfigured{spec_.seed, PlacementPolicy::kBestFit});
    session_.apply(FlavorAdded{{.name = "gpu", .model = "", .memory_mib = 0}});
    session_.apply(QueueAdded{{.name = "all", .parent = {}, .order = Order::kFifoSkip}});
    NodesAdded added;
    for (std::int64_t i = 0; i < spec_.nodes; ++i) {
      Node node{.name = "n" + std::to_string(i + 1), .flavor = FlavorId(0), .gpus = kChurnNodeGpus};
      if (spec_.uneven) node.cpu_milli = 96'000;
      added.nodes.push_back(node);
    }
    session_.apply(added);
  }

  std::int64_t free_gpus() const { return session_.state().ledger().totals(FlavorId(0)).gpu_milli / kMilliPerGpu; }

  void end_one() {
    session_.apply(WorkloadEnded{ends_.top().second});
    ends_.pop();
  }

  // Jobs come until one would find no room: nobody is moved for it here, so that the fleet is in the pieces that it fell into.
  void fill() {
    while (free_gpus() > 0) {
      WorkloadSubmitted job = spec_.uneven ? uneven_job() : even_job();
      if (!has_room_for(job.shape.ways.front().front())) return;
      job.shape.terms.movable = static_cast<std::int64_t>(rng_.below(100)) < spec_.movable_percent;
      const Duration run{rng_.between(10 * kMinuteMs, 8 * 60 * kMinuteMs)};
      const WorkloadId id = session_.state().workloads().next_id();
      session_.apply(job);
      session_.decide(now_, [](const Plan&) {});
      ends_.push({now_ + run, id});
    }
  }

  bool has_room_for(const PodSet& set) const {
    std::int64_t room = 0;
    for (std::size_t node = 0; room < set.count && node < session_.state().nodes(); ++node) {
      room += room_for(session_.state().ledger(), NodeId(node), set.request);
    }
    return room >= set.count;
  }

  WorkloadSubmitted even_job() {
    constexpr std::int32_t kGpus[] = {1, 1, 2, 4};
    return job_of(1, kGpus[rng_.below(std::size(kGpus))], now_);
  }

  WorkloadSubmitted uneven_job() {
    constexpr std::int32_t kGpus[] = {1, 1, 2, 3, 5};
    constexpr std::int64_t kCpusOfEach[] = {4, 12, 20};
    const std::int32_t gpus = kGpus[rng_.below(std::size(kGpus))];
    const std::int64_t cpus_of_each = kCpusOfEach[rng_.below(std::size(kCpusOfEach))];
    const std::int64_t pods = rng_.below(4) == 0 ? 2 : 1;
    WorkloadSubmitted job = job_of(pods, gpus, now_);
    job.shape.ways.front().front().request.cpu_milli = gpus * cpus_of_each * 1000;
    return job;
  }

  using End = std::pair<Time, WorkloadId>;

  Session& session_;
  const ChurnSpec& spec_;
  Rng rng_;
  Time now_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

Time churn(Session& session, const ChurnSpec& spec) { return Day(session, spec).pass(); }

WorkloadSubmitted whole_node_gang(std::int64_t pods, Time at) { return job_of(pods, kChurnNodeGpus, at); }

}  // namespace berth
