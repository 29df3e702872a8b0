// What makes objects into other objects: sets of jobs into jobs and those into pods, owners' ends into their dependents' ends, a namespace's end into
// its objects' ends, silent nodes into nodes that are not ready. All of them run on one thread over one API server,
// through the client's words, until destroyed. Crash-only: everything they know is in the objects.
#pragma once

#include <cstdint>
#include <memory>

#include "kube/alarm.h"
#include "kube/transport.h"
#include "manifest/timestamp.h"

namespace berth {

struct ControllerOptions {
  WallClock now;
  std::uint64_t seed = 1;            // of back-off jitter and generated names
  int in_flight_max = 64;            // calls at a time
  Duration node_grace{40'000};       // a node whose lease is older is not ready (Kubernetes' default)
  Duration eviction_after{300'000};  // its pods are deleted after that much more
};

class Controllers {
 public:
  static std::unique_ptr<Controllers> start(Transport& transport, Alarm& alarm, ControllerOptions options);
  virtual ~Controllers() = default;  // no callback runs after it
  virtual bool synced() const = 0;
};

}  // namespace berth
