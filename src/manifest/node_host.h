// What a Node object says of itself that Kubernetes does not know of: how much of its CPUs and memory is kept for pods that ask GPUs, how much more than that it promises to best effort,
// how they are divided into NUMA zones, which of its GPUs are nearer to each other, and whether it is a spare.
#pragma once

#include <cstdint>
#include <string>

#include "manifest/value.h"
#include "model/node.h"

namespace berth {

struct NodeHost {
  HostAmounts kept_per_gpu = {};
  HostAmounts extra = {};
  std::int32_t numa_zones = 1;
  NumaPolicy numa_policy = NumaPolicy::kNone;
  GpuLinks links = {};
  bool spare = false;
  std::string problem = {};  // why the node cannot be used, and what to write instead; empty: it can
};

// `gpus`: as many as it has, shared so; `has`: its allocatable amounts.
NodeHost read_node_host(const Value& node, std::int32_t gpus, Sharing sharing, const HostAmounts& has);

}  // namespace berth
