// Of several equal programs one at a time leads: whoever holds a coordination.k8s.io Lease. Nobody's wall clock
// decides: each counts from the moment at which he himself saw the lease change, on a clock that never goes back.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "kube/alarm.h"
#include "kube/transport.h"
#include "manifest/timestamp.h"

namespace berth {

// INVARIANT: retry < renew_deadline < lease. A leader that could not renew for renew_deadline stops, others may follow
// after lease: the difference is what clocks that run at different speeds may differ by.
struct LeaderElectionOptions {
  std::string name_space = "kube-system";
  std::string name = {};      // of the lease
  std::string identity = {};  // of this process and of no other, ever: host name and something random
  Duration lease = seconds(15);
  Duration renew_deadline = seconds(10);
  Duration retry = seconds(2);
  std::uint64_t jitter_seed = 1;
};

class LeaderElection {
 public:
  struct Callbacks {
    // The epoch grows with every new leader (the lease's leaseTransitions): what a later one wrote wins over an
    // earlier's.
    std::function<void(std::int64_t epoch)> on_started_leading;
    std::function<void(const std::string& why)> on_stopped_leading;
  };

  // PRE: transport and alarm outlive it. The callbacks run one at a time on the transport's or the alarm's thread.
  static std::unique_ptr<LeaderElection> start(Transport& transport, Alarm& alarm, WallClock clock,
                                               LeaderElectionOptions options, Callbacks callbacks);
  // As if the process had died: no callback runs afterwards, the lease runs out by itself. Waits for a callback that
  // runs, unless that one destroys it; never destroy it while holding a lock that a callback takes.
  virtual ~LeaderElection() = default;

  // Whether it leads at this moment, by the clock: false as soon as others might follow, also before
  // on_stopped_leading.
  virtual bool leads() const = 0;
  virtual std::int64_t epoch() const = 0;   // of the last leadership; 0: never led
  virtual std::string leader() const = 0;   // whoever holds the lease as far as is known; may be empty
  virtual std::string trouble() const = 0;  // why the lease cannot be read or written just now; empty: all well
  // Orderly stop: on_stopped_leading, then the lease is given back so that others follow at once, then done(). It takes
  // part no more.
  virtual void release(std::function<void()> done) = 0;
};

}  // namespace berth
