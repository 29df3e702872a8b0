// Watches over nodes: one whose lease is silent is not ready, what is not ready gets no pods and loses those it has.
#pragma once

#include <cstdint>
#include <memory>

#include "base/time.h"
#include "controllers/controller.h"

namespace berth {

struct NodePatience {
  Duration grace;           // of silence
  Duration eviction_after;  // being bad
};
std::unique_ptr<Controller> make_node_controller(const Means& means, NodePatience patience, std::uint64_t seed);

}  // namespace berth
