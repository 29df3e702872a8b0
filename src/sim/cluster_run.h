// Arrivals, run times and departures in virtual time. At one instant first all ends, then all arrivals, then one pass.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/policy.h"
#include "model/reason.h"
#include "sim/door.h"
#include "sim/line_order.h"
#include "sim/session.h"
#include "sim/statistics.h"
#include "sim/trace.h"

namespace berth {

// Who looks on, and changes nothing. Jobs are numbered in the order of their submission.
struct RunWatch {
  // They were submitted at this moment, a pass was made, and they wait.
  std::function<void(const State& state, std::span<const WorkloadId> waiting, Time now)> submitted = {};
  std::function<void(WorkloadId job, Time now)> started = {};
  std::function<void(const State& state, WorkloadId job, Duration ran)> ended = {};  // just before it has
};

struct RunOptions {
  PlacementPolicy policy = PlacementPolicy::kFgd;
  LineOrder order = Order::kFifoSkip;
  Seed seed;
  // Of every queue of the trace, which then has a line of its own. Empty: one line for all, and nobody takes anything.
  std::map<std::string, Quota> quotas = {};
  // GPU thousandths of every queue of the trace, to measure how evenly they get what is due to them; they change nothing.
  std::map<std::string, std::int64_t> floors_milli = {};
  // What an evicted job did up to the last full period is kept; none: it starts anew.
  std::optional<Duration> checkpoint_every = {};
  // The run limit of each job is its run time x U(1, k), drawn from the run's seed, in thousandths of k; none: no job has one.
  std::optional<std::int64_t> limits_up_to_milli = {};
  // In place of `quotas`: a tree of queues, as a policy has it.
  std::optional<TraceQueues> tree = {};
  RunWatch watch = {};
};

// What the cluster looked like after the pass at one moment.
struct RunSample {
  Time at;
  std::int64_t allocated_milli = 0;
  std::int64_t unusable_milli = 0;  // free, but of no use to the usual pods; weighted mean
  std::int64_t pending_jobs = 0;
  std::int64_t pending_gpu_milli = 0;
  std::int64_t running_jobs = 0;
  double evenness = 1;  // since the sample before
};

struct JobTimes {
  Time submit;
  Time start;  // of the last attempt; meaningful if started
  Time end;    // meaningful if ended
  bool started = false;
  std::int64_t evictions = 0;
  Duration lost;  // for how long it ran in vain
};

struct QueueWaits {
  std::string queue;
  std::int64_t jobs = 0;
  std::int64_t gpu_seconds = 0;           // of the jobs that started
  std::int64_t arriving_gpu_seconds = 0;  // held until the last submission of all, to whatever purpose
  Waits waits;
  std::int64_t starts = 0;  // with those of attempts that were evicted
  std::int64_t evictions = 0;
  std::int64_t lost_gpu_seconds = 0;
};

// From its submission to its end, all that it did not run to a purpose: of a job that was never evicted, from its
// submission to its start. PRE: it started.
Duration wait_of(const TraceJob& job, const JobTimes& times);
// By queue, of the jobs for which include(row) holds.
std::vector<QueueWaits> waits_by_queue(const Trace& trace, const std::vector<JobTimes>& times,
                                       const std::function<bool(std::size_t)>& include);

// Why a job never started.
struct LeftWaiting {
  std::string job;
  ReasonCode code = ReasonCode::kNone;
  std::string text;  // with numbers
};

// What was promised to jobs that waited (rule 24), and came of it.
struct Promises {
  std::int64_t jobs = 0;    // to whom a start was
  std::int64_t later = 0;   // promises that a later one followed
  std::int64_t broken = 0;  // jobs that started later than ever promised
};

// A job of so many GPUs is a large one.
inline constexpr std::int64_t kLargeJobGpus = 16;

struct ClusterRun {
  static constexpr std::size_t kLeftShown = 20;

  std::int64_t nodes = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t jobs = 0;
  std::int64_t never_started = 0;
  std::vector<LeftWaiting> left_waiting;  // the first kLeftShown of them, in the order of arrival
  std::int64_t cycles = 0;
  std::int64_t decisions = 0;  // starts
  Waits wait;                  // of jobs that started
  Waits wait_of_large;         // of those of kLargeJobGpus and more
  Promises promises;
  Waits completion;                         // of jobs that started: from submission to end
  double utilisation_percent = 0;           // GPU time given out, of capacity from the first submission to the last end
  double arriving_utilisation_percent = 0;  // the same, from the first submission to the last
  std::int64_t evictions = 0;
  std::int64_t gpu_seconds = 0;           // of what was run to a purpose
  std::int64_t lost_gpu_seconds = 0;      // run in vain
  double evenness = 1;                    // until the last submission (sim/evenness.h), if floors were given
  std::int64_t short_of_floor_gpu_s = 0;  // the same
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
