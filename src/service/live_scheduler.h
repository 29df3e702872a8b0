// The scheduler of a live cluster: watches nodes, queues and pods of an API server, lets the engine decide, binds, and
// tells every waiting pod why. It decides nothing before it has seen everything once, and only while it holds the lease.
// Crash-only: what a later decision needs is in the API's objects.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kube/alarm.h"
#include "kube/transport.h"
#include "manifest/scheduler_name.h"
#include "manifest/timestamp.h"
#include "model/policy.h"
#include "service/live_engine.h"

namespace berth {

struct LiveSchedulerOptions {
  WallClock now;
  Seed seed{1};
  PlacementPolicy policy = PlacementPolicy::kBestFit;
  Scrubs scrubs = Scrubs::kNone;
  std::string identity;           // in the lease; of this process and no other
  std::uint64_t events_seed = 1;  // of the names of its events; another for every process
  std::string journal_folder;     // empty: no journal
  bool finds_changes = false;     // it tells those who wait by which small changes they would start at once
  // Pods that name one of these in spec.schedulerName are placed; all others are counted where they run.
  std::vector<std::string> scheduler_names = {std::begin(kOwnSchedulerNames), std::end(kOwnSchedulerNames)};
  int in_flight_max = 64;
  std::function<void(const std::string&)> log;  // one line
};

struct SchedulerProgress {
  bool leading = false;
  bool synced = false;
  std::int64_t decisions = 0;  // rounds
  std::int64_t bound = 0;      // bindings that the server took
  std::int64_t refused = 0;    // that it did not
};

class LiveScheduler {
 public:
  // `lost` runs once when the lease was lost: the process should end, and a new one begin from what is true then.
  static std::unique_ptr<LiveScheduler> start(Transport& transport, Alarm& alarm, LiveSchedulerOptions options,
                                              std::function<void()> lost);
  virtual ~LiveScheduler() = default;
  virtual SchedulerProgress progress() const = 0;
};

}  // namespace berth
