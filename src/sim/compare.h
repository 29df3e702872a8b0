// One trace on one pool of GPUs, shared in three ways: queues with floors that borrow from each other, a static partition
// for each queue, and a single line for all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/cluster_run.h"
#include "sim/door.h"
#include "sim/line_order.h"
#include "sim/trace.h"

namespace berth {

// What a queue is promised; its partition has as much.
struct QueueFloor {
  std::string queue;
  std::int64_t gpus = 0;

  friend bool operator==(const QueueFloor&, const QueueFloor&) = default;
};

// In proportion to the GPU time that the jobs of each queue ask for, at least one GPU each, in the order of names. They add
// up to `gpus`. A complaint if that are fewer GPUs than queues.
Result<std::vector<QueueFloor>> floors_by_load(const Trace& trace, std::int64_t gpus, const std::string& source);

// Berth's table: queue,gpus. Every queue of the trace stands in it, and they add up to `gpus` at most.
Result<std::vector<QueueFloor>> read_floors(std::string_view file_name, std::string_view text, const Trace& trace,
                                            std::int64_t gpus);

struct CompareOptions {
  LineOrder order = Order::kFifo;
  Seed seed;
  FairReclaim fair_reclaim = FairReclaim::kNever;
  Duration patience{0};
  Duration cooldown{0};
  std::optional<Duration> checkpoint_every = {};
};

struct Comparison {
  // In one arrangement.
  struct Way {
    std::string name;
    ClusterRun run;
  };
  // A job that its partition cannot hold. It is in none of the three runs, so that they have equal jobs.
  struct Apart {
    std::string queue;
    std::int64_t jobs = 0;
    std::int64_t largest_gpus = 0;
    Waits waits;  // in `with_all`
  };

  std::int64_t gpus = 0;
  std::vector<QueueFloor> floors;  // by name
  Trace trace;                     // with the jobs that are compared
  Way shared;
  Way partitioned;
  Way one_line;
  std::vector<Apart> apart;            // by queue
  std::optional<ClusterRun> with_all;  // shared, with the jobs that stand apart; if there are any

  // The three, in the order of columns.
  std::vector<const Way*> ways() const { return {&shared, &partitioned, &one_line}; }
  std::int64_t jobs_apart() const;
};

// PRE: the trace is one of GPUs only (count_gpus_only), and `floors` name all its queues, in the order of names.
Result<Comparison> compare(Trace trace, std::vector<QueueFloor> floors, const CompareOptions& options,
                           const std::string& source,
                           const std::function<void(std::int64_t, std::int64_t)>& progress = {});

// Queues whose mean or p90 wait in `way` is longer than in `than`, by name.
std::vector<std::string> worse_off(const Comparison::Way& way, const Comparison::Way& than);

}  // namespace berth
