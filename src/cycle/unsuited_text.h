// What is said of nodes that a pod does not select, or whose taints it does not tolerate: which label, which taint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/request.h"
#include "state/state.h"

namespace berth {

// Nodes that are unsuited for one and the same thing.
struct UnsuitedNodes {
  std::int64_t nodes = 0;
  std::string one, many;  // "does not match rack=r1", "do not match rack=r1"
};

// The open nodes that the pod does not select, by the first label that is missing; the most first.
std::vector<UnsuitedNodes> nodes_not_selected(const State& state, const PodRequest& request);
// Of the others those with a taint that it does not tolerate, by the first one.
std::vector<UnsuitedNodes> nodes_not_tolerated(const State& state, const PodRequest& request);

}  // namespace berth
