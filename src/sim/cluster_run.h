// Arrivals, run times and departures in virtual time. At one instant first all ends, then all arrivals, then one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/policy.h"
#include "model/queue.h"
#include "model/reason.h"
#include "sim/session.h"
#include "sim/statistics.h"
#include "sim/trace.h"

namespace berth {

struct RunOptions {
  PlacementPolicy policy = PlacementPolicy::kFgd;
  Order order = Order::kFifoSkip;
  Seed seed;
};

// What the cluster looked like after the pass at one moment.
struct RunSample {
  Time at;
  std::int64_t allocated_milli = 0;
  std::int64_t unusable_milli = 0;  // free, but of no use to the usual pods; weighted mean
  std::int64_t pending_jobs = 0;
  std::int64_t pending_gpu_milli = 0;
  std::int64_t running_jobs = 0;
};

struct JobTimes {
  Time submit;
  Time start;  // meaningful if started
  Time end;    // meaningful if ended
  bool started = false;
};

struct QueueWaits {
  std::string queue;
  std::int64_t jobs = 0;
  std::int64_t gpu_seconds = 0;  // of the jobs that started
  Waits waits;
};

// Why a job never started.
struct LeftWaiting {
  std::string job;
  ReasonCode code = ReasonCode::kNone;
  std::string text;  // with numbers
};

struct ClusterRun {
  static constexpr std::size_t kLeftShown = 20;

  std::int64_t nodes = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t jobs = 0;
  std::int64_t never_started = 0;
  std::vector<LeftWaiting> left_waiting;  // the first kLeftShown of them, in the order of arrival
  std::int64_t cycles = 0;
  std::int64_t decisions = 0;               // starts
  Waits wait;                               // of jobs that started: from submission to start
  Waits completion;                         // of jobs that started: from submission to end
  double utilisation_percent = 0;           // GPU time given out, of capacity from the first submission to the last end
  double arriving_utilisation_percent = 0;  // the same, from the first submission to the last
  Time first_submit;
  Time last_end;
  std::vector<QueueWaits> queues;  // by name
  std::vector<JobTimes> times;     // in the trace's order
  std::vector<RunSample> samples;  // until nobody arrives or waits any more
  std::uint64_t state_hash = 0;
};

// `progress(done, of)` counts submitted and ended jobs.
Result<ClusterRun> run_cluster(const Trace& trace, const RunOptions& options, const std::string& source,
                               Session::Recorder recorder = nullptr,
                               const std::function<void(std::int64_t, std::int64_t)>& progress = {});

}  // namespace berth
