// What became of an afternoon, from the objects that it left in the control plane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "demo/played.h"
#include "manifest/value.h"
#include "sim/cluster_run.h"
#include "sim/trace.h"

namespace berth {

// Takes Jobs and pods one by one, in any order, and keeps only their times.
class Outcome {
 public:
  // PRE: `jobs` outlives it; names are unique.
  explicit Outcome(const std::vector<TraceJob>& jobs);

  void take_job(const Value& job);
  void take_pod(const Value& pod);

  std::size_t complete() const { return complete_; }
  std::size_t failed() const { return failed_; }
  std::size_t found() const { return found_; }
  // Neither complete nor failed.
  std::size_t open() const { return found_ - complete_ - failed_; }

  // In the afternoon's time. The objects' times are whole seconds, rounded down: one length may be off by a second of the
  // clock, their mean is not.
  ClusterRun run(const Trace& trace, const Played& played, std::int64_t speed) const;

 private:
  struct Seen {
    bool found = false, complete = false;
    Time created, started, ended;  // by the clock; zero: not known. Started: all pods of it
  };
  const std::vector<TraceJob>& jobs_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<Seen> seen_;
  std::size_t found_ = 0, complete_ = 0, failed_ = 0;
};

// GPUs in use by each team at equal steps of time, for a plot: the k-th series is that of kTeams[k].
struct TeamUse {
  std::vector<Time> at;
  std::vector<std::vector<std::int64_t>> gpu_milli;
};
TeamUse use_by_team(const ClusterRun& run, const Trace& trace);

}  // namespace berth
