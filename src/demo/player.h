// Plays an afternoon: submits each job when its time has come, and keeps its place in the control plane. Whoever plays the
// same afternoon again from the kept place submits some jobs a second time, which are refused as they exist already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "demo/played.h"
#include "kube/transport.h"
#include "sim/trace.h"

namespace berth {

class Player {
 public:
  // PRE: the transport outlives it; the foundations (objects.h) are there. `jobs` in the order of submission.
  static std::unique_ptr<Player> start(Transport& transport, const AfternoonSpec& spec,
                                       const std::vector<TraceJob>& jobs, Played played);
  virtual ~Player() = default;
  // Sends what is due, and the place; to be called again and again, from one thread. Complains when the server says no
  // for good; what passes is tried again.
  virtual Complaints step(Time clock) = 0;
  // The same until the server has it: the last word.
  virtual void finish(Time clock) = 0;
  virtual const Played& played() const = 0;
  virtual Time afternoon_time() const = 0;  // as of the last step
  virtual std::size_t sent() const = 0;     // jobs, known or not to have arrived
};

// Makes what jobs need, and the kept afternoon if there is none; what is there already stays as it is. The afternoon
// that is kept now, which may be another than the one wished for. Waits while the server has trouble.
Result<KeptAfternoon> open_afternoon(Transport& transport, const AfternoonSpec& wished);

}  // namespace berth
