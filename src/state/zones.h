// What the policy of a node's kubelet lets in: whole GPUs, and the CPUs beside them, in few NUMA zones (docs/semantics.md, NUMA).
#pragma once

#include <array>
#include <cstdint>

#include "state/ledger.h"

namespace berth {

// Where a pod may be on a node for its policy's sake.
enum class InZones : std::uint8_t {
  kAnywhere,  // it counts by no zone, or the policy lets it in wherever it is
  kOne,       // all its GPUs are in one zone, and all its CPUs
  kNever,
};

// Strict policies want a pod that would fit one zone of the idle node in one. What is larger than a zone has no chance under
// kSingleNumaNode. Under kRestricted it has to have the fewest zones in which it ever could be there: if these are all, or if no
// zone has more than one GPU, it has them wherever it is; between those Berth sends it elsewhere, for which GPUs one pod takes
// would then decide how many others fit.
InZones in_zones(const Ledger& ledger, NodeId node, const PodRequest& request);

// What is free for a request in each zone.
struct FreeInZone {
  std::int64_t gpus = 0;  // whole, and clean for it
  std::int64_t cpu_milli = 0;
};
// PRE: the node's kubelet has a policy.
std::array<FreeInZone, kNumaZonesMax> free_in_zones(const Ledger& ledger, NodeId node, const PodRequest& request);

// How many pods the zones have room for, each in one of them.
std::int64_t room_in_zones(const Ledger& ledger, NodeId node, const PodRequest& request);

// Whether the policy lets the pod have these GPUs now. PRE: they are free.
bool suits_zones(const Ledger& ledger, const PodRequest& request, const PodPlacement& place);

}  // namespace berth
