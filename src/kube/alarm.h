// Delays. One thread that runs functions after a while; tests turn one by hand (kube/hand_turned_alarm.h). Everything
// that waits (back-off of mirrors, controllers, leases, simulated pods) waits here, so that a whole system can run on
// virtual time.
#pragma once

#include <functional>
#include <memory>

#include "base/time.h"

namespace berth {

class Alarm {
 public:
  // Cancels when destroyed: after that the run does not begin. It never waits for a run that has begun, so it may be
  // destroyed under any lock, and from within the run itself; owners that must know keep a Gate (kube/gate.h).
  class Handle {
   public:
    virtual ~Handle() = default;
  };

  // Runs must be quick: they share one thread. Runs that are due together come in the order of their time, then of
  // asking.
  static std::unique_ptr<Alarm> start();
  // Waits for the run that has begun; those that have not never will. PRE: not called from a run. Handles may outlive
  // it.
  virtual ~Alarm() = default;

  // A delay of nothing or less runs as soon as possible, never within this call.
  [[nodiscard]] virtual std::unique_ptr<Handle> after(Duration delay, std::function<void()> run) = 0;
  virtual Time now() const = 0;  // never goes back; since when is not said
};

}  // namespace berth
