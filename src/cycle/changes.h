// The smallest changes that would start at once who waits: fewer pods, another type, a looser topology, whose end, which bound
// of which queue. Each is proven by the engine on a fork of the state, where it was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/event.h"
#include "model/ids.h"
#include "state/state.h"

namespace berth {

enum class ChangeKind : std::uint8_t {
  kPods,      // of one of its pod sets; the size is how many fewer
  kGpus,      // of each pod of one of its pod sets; how many fewer
  kFlavor,    // of GPUs, that it does not ask for as it is; 1
  kTopology,  // its pods need not be so close together; the number of the step away from what it asks
  kSpread,    // nor so far apart, or in slices; 1
  kBorrow,    // it does not insist on a floor any more; 1
  kRunLimit,  // by how many milliseconds it is shorter; of who has none: by how many it is below 10,000 years
  kPriority,  // by how much it is higher
  kBounds,    // of queues on its way; the sum by which they are higher
  kEnd,       // of somebody who runs; what he holds, in thousandths of a GPU
  kNodes,     // that join, of a kind that there is; how many
};
inline constexpr std::string_view kChangeKindNames[] = {
    "pods", "gpus", "flavor", "topology", "spread", "borrow", "run-limit", "priority", "bounds", "end", "nodes"};
constexpr std::string_view name_of(ChangeKind kind) { return kChangeKindNames[static_cast<std::size_t>(kind)]; }

// A change of the work itself is made as its owner makes it: it is cancelled, and submitted anew behind those who wait already.
struct SmallestChange {
  ChangeKind kind;
  std::int64_t size = 0;      // of two changes of one kind and one subject
  std::uint64_t subject = 0;  // which pod set, flavor, or kind of node it is about
  std::vector<Event> events;  // these facts, and a cycle later it has room
  std::string text;           // "with 3 of its 4 pods"; where others have to leave first, with how long they have
  WorkloadId other = {};      // of kEnd: who ends
  std::string graces = {};    // of the text: how long they have

  // The text of kEnd, with the name of who ends.
  std::string text_naming(std::string_view who_ends) const { return "if " + std::string(who_ends) + " ended" + graces; }
};

// What is tried of each kind and subject, at most; what is not found in that is not told.
inline constexpr std::int64_t kChangeTriesMax = 256;

// Nothing is said of changes of the work where it would be given room if it just came anew: who lost his room does not take back for a while.
// Nor where it is kept aside for something that no such change ends: others whom it follows, its turn, a moment, or its queue.
// Of each kind and subject the smallest, if there is one: no smaller one starts it. In the order of the kinds.
// PRE: the workload is known. Nothing for who does not wait, is a step of another, or would be given room in the next cycle as it is.
std::vector<SmallestChange> smallest_changes(const State& state, WorkloadId workload, Time now,
                                             std::int64_t tries_max = kChangeTriesMax);

// Asked before each try of a kind: whether enough of it was tried. The kind is then broken off, and nothing of it is told.
using EnoughOf = std::function<bool(ChangeKind)>;

struct ChangesFound {
  std::vector<SmallestChange> changes;
  std::vector<ChangeKind> broken_off;  // ascending: there may be one of these kinds
};

// The same for whoever has not the time for all tries.
ChangesFound find_changes(const State& state, WorkloadId workload, Time now, std::int64_t tries_max,
                          const EnoughOf& enough);

// Whether the workload, or what is submitted by the last of these events, is given room by one cycle after them.
bool starts_after(const State& state, WorkloadId workload, Time now, const std::vector<Event>& events);

}  // namespace berth
