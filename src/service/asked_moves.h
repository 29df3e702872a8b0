// Moves for nobody's sake by the names of the API, which outlive a life of the engine.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/node.h"

namespace berth {

// Where what is made in the place of a pod is to go.
struct AskedPlace {
  std::string uid;  // of the pod
  std::string node;
  GpuSet gpus;
  std::uint8_t slice_start = 0;

  friend bool operator==(const AskedPlace&, const AskedPlace&) = default;
};

// Of a workload's pods, all of them in their order.
using AskedMove = std::vector<AskedPlace>;

struct AskedMoves {
  std::vector<AskedMove> moves;
  std::int32_t gpus = 0;  // of a pod for which room is made
  std::string slice;      // its profile, if it asks one,
  std::string flavor;     // and of which GPUs
  Duration use;           // for how long that is of use
};

// What came of them.
struct MovesDecided {
  std::set<std::string> uids;  // of pods that go
  std::int64_t moves = 0;
  std::int64_t lost_gpu_s = 0;
};

}  // namespace berth
