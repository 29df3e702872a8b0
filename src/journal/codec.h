// The journal's records as bytes. One thing has one encoding: what decodes encodes back to the same bytes.
//
// Integers are LEB128 varints of at most ten bytes, signed ones zigzagged; text is its length and its bytes; a record is
// its type (one byte: the Event's index, or one of those below) and its fields in the order of the struct. This is
// format version 17; version 1 had no quotas, terms, gates and evictions, version 2 no found gangs, no queues and workloads
// that change, version 3 no labels, taints and constraints, version 4 no slices, version 5 nothing that is spread, version 6 no
// GPUs that are shared by MPS or in turns, version 7 no circles of trust, and no scrubs, version 8 nobody who is moved, version 9 no slices
// that were cut beforehand, and nothing of the pods around, version 10 nothing that is promised, no parallel sizes, and no gang
// that is repaired, version 11 no elastic workloads and no reservations, version 12 nothing that is kept for GPUs, no NUMA zones, no
// nodes of several modes, no floors in whole domains, none of slices by their profile, no turns, longest waits and hours of workloads,
// no loans, no spares, and no reservations that were found, version 13 no gangs that were found while they were repaired, and nobody who
// goes first from the start, version 14 no GPUs that are nearer to each other than others, nobody who is moved for nobody's sake, no
// slices that are cut anew, nobody who has domains for himself, no failure policies, no exit codes, nobody who is ready, or not in time,
// and no limits that are extended, version 15 nothing reserved on days of a calendar, no parts of work with domains for themselves,
// nobody who backs off from the start, nobody who keeps strangers further away than from a device, no images of containers, nobody who
// leaves a tainted node, and nothing that is spread over nodes besides, version 16 no vGPUs, nothing that nodes promise beyond what they
// have, no nodes whose GPUs are cut anew all at once, and no moves for slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/event.h"
#include "model/plan.h"

namespace berth {

inline constexpr std::uint32_t kJournalVersion = 17;

using Bytes = std::vector<std::uint8_t>;

// A cycle is asked for; the plan that it must make follows if it changes anything.
struct CycleAsked {
  Time now;
  Effort effort;
};

// The run is over, with this state hash.
struct RunClosed {
  std::uint64_t state_hash = 0;
};

using JournalRecord = std::variant<Event, CycleAsked, Plan, RunClosed>;

Bytes encode(const JournalRecord& record);

// The record, or what is wrong with the bytes. Any bytes may be given.
std::expected<JournalRecord, std::string> decode(std::span<const std::uint8_t> bytes);

}  // namespace berth
