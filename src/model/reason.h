// Why a workload does not run: a closed list of codes. The numbers that go with a code are counted when somebody asks
// (cycle/explain.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth {

enum class ReasonCode : std::uint8_t {
  kNone,        // it runs, or has not been tried
  kGpuType,     // no node has a GPU of a flavor it accepts
  kInvalid,     // never: more than any node has, or more pods than the whole fleet holds
  kCapacity,    // enough of the right thing exists, in use
  kFragmented,  // free in sum, not in shape
  kBehind,      // strict order behind a blocked head
  kQuotaFloor,  // it insists on being guaranteed, and what is left of the floor is too little
  kQuotaLimit,
  kBorrowingLimit,
  kLendingLimit,           // there is room, which its owners keep for themselves
  kVictimsProtected,       // it had a right to the room of others, whose protection holds
  kPatience,               // it had a right to the room of others, and its queue waits a while before it takes
  kQueueHeld,              // nothing of its queue starts until it is released
  kQueueClosed,            // it came after its queue was closed
  kUserLimit,              // its user would hold more than one user may
  kCalendar,               // it insists on being guaranteed, and the floor that has room for it falls before its end
  kBudget,                 // what a queue has left of its GPU time is less than it may use
  kCooldown,               // it had to give back what it had borrowed, and does not borrow again so soon
  kNotBefore,              // it is not to start before a moment that has not come
  kDependency,             // it is to start after others, of whom some have not ended, or not as they should have
  kNodeSelector,           // never: no node that it selects could hold it
  kTopology,               // no domain has room for it, or ever could have
  kTaint,                  // never: every node that could hold it has a taint that it does not tolerate
  kSpread,                 // its pods, or those with which it is spread, would not be spread as it asks
  kReserved,               // there is room, promised to somebody ahead; or never, as all of it is kept for other queues
  kSliceGeometry,          // a device has as much free as the slice asks, in pieces in which it cannot be cut
  kTrust,                  // what is free is on devices of others with whom it may not share them
  kIsolation,              // what is free, or what it asks, is shared in a way that is not for it
  kDirty,                  // what is free is on devices where others have been with whom it may not share them
  kKeepsFloorDeliverable,  // it would take parts of devices that others were promised whole
  kAffinity,               // there is room for it, and not near those pods, or not apart from those, as it or they ask
  kPorts,                  // there is room for it where others have a port that it asks for
  kRepairing,              // it has lost some of its pods, and keeps the others until these are replaced
  kBackOff,                // one node after the other failed soon after it began there
  kNuma,                   // there is room, or would be when all is idle, in more NUMA zones than kubelets let it have
};

inline constexpr std::string_view kReasonNames[] = {"None",
                                                    "GpuType",
                                                    "Invalid",
                                                    "Capacity",
                                                    "Fragmented",
                                                    "Behind",
                                                    "QuotaFloor",
                                                    "QuotaLimit",
                                                    "BorrowingLimit",
                                                    "LendingLimit",
                                                    "VictimsProtected",
                                                    "Patience",
                                                    "QueueHeld",
                                                    "QueueClosed",
                                                    "UserLimit",
                                                    "Calendar",
                                                    "Budget",
                                                    "Cooldown",
                                                    "NotBefore",
                                                    "Dependency",
                                                    "NodeSelector",
                                                    "Topology",
                                                    "Taint",
                                                    "Spread",
                                                    "Reserved",
                                                    "SliceGeometry",
                                                    "Trust",
                                                    "Isolation",
                                                    "Dirty",
                                                    "KeepsFloorDeliverable",
                                                    "Affinity",
                                                    "Ports",
                                                    "Repairing",
                                                    "BackOff",
                                                    "Numa"};

constexpr std::string_view name_of(ReasonCode code) { return kReasonNames[static_cast<std::size_t>(code)]; }

// A gate of its queue's refused it, so that room alone does not help.
constexpr bool is_quota_gate(ReasonCode code) {
  return code == ReasonCode::kQuotaFloor || code == ReasonCode::kQuotaLimit || code == ReasonCode::kBorrowingLimit ||
         code == ReasonCode::kLendingLimit || code == ReasonCode::kUserLimit || code == ReasonCode::kCalendar ||
         code == ReasonCode::kBudget || code == ReasonCode::kCooldown;
}

// It can never run on the nodes that exist, whatever ends.
constexpr bool is_impossible(ReasonCode code) {
  return code == ReasonCode::kGpuType || code == ReasonCode::kInvalid || code == ReasonCode::kNodeSelector ||
         code == ReasonCode::kTaint || code == ReasonCode::kReserved;
}

}  // namespace berth
