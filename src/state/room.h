// How many pods of one kind a node would still take: the arithmetic of free capacity.
#pragma once

#include <cstdint>

#include "state/ledger.h"

namespace berth {

// Whether it matters who is on a GPU already, and has been; or it is asked what could be if nothing were left of those who have
// been; if all vGPUs were of one profile; or if they all trusted each other, too.
enum class Occupants : std::uint8_t { kMatter, kLeaveNothing, kAreAlike, kAreFriends };
// Whether it matters in which NUMA zones GPUs and CPUs are free; or it is asked what could be if no kubelet had a policy.
enum class Zones : std::uint8_t { kMatter, kAreOne };

// How many of a node's free GPUs have nothing on them of whom the pod's tenant does not trust.
std::int64_t clean_whole_gpus(const Ledger& ledger, NodeId node, const PodRequest& request);

// The number of pods of `request` that could be put on `node` now, one after the other. Which GPU each takes does not
// matter for identical pods: a fraction leaves every GPU to itself, whole GPUs are alike.
std::int64_t room_for(const Ledger& ledger, NodeId node, const PodRequest& request,
                      Occupants occupants = Occupants::kMatter, Zones zones = Zones::kMatter);

// Whether the pod could be put on exactly these devices now, as far as amounts and those who are there, or have its
// domains for themselves, go.
bool is_free(const Ledger& ledger, const PodRequest& request, const PodPlacement& place);

}  // namespace berth
