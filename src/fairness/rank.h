// How those who wait compare across queues (docs/semantics.md, rule 9): whom a queue names, and which of the children of one
// queue goes first. CandidateOrder decides by it, and what people are told comes from it too.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "base/time.h"
#include "fairness/share.h"
#include "model/amount.h"
#include "state/state.h"

namespace berth {

// Whom a line or a queue names.
struct Candidate {
  WorkloadId workload;
  AmountList asked = {};  // in the first way in which it would be covered, else in its first
  Time end = kForever;    // by its run limit
  bool covered = false;   // at the queue that names it, or below
  bool best_effort = false;
};

// How a child's candidate compares with those of the other children; the smaller goes first.
struct Rank {
  bool counts_for_nothing = false;  // best-effort work stands behind all that counts
  bool outside = false;             // of the child's floor
  Fraction fraction;                // of its floor, as used before; outside: its share afterwards
  WorkloadId candidate;

  friend std::strong_ordering operator<=>(const Rank&, const Rank&) = default;
  friend bool operator==(const Rank&, const Rank&) = default;
};

// The first of a queue's line as its candidate.
Candidate candidate_of(const State& state, QueueId line, WorkloadId first);

// `child` may be the parent itself: what waits in its own line, beside its children. `past` is what the child held before,
// by dimension, where that counts.
bool is_outside(const State& state, QueueId parent, QueueId child, const Candidate& candidate);
Fraction fraction_of(const State& state, QueueId parent, QueueId child, const Candidate& candidate, bool outside,
                     std::span<const std::int64_t> past);

}  // namespace berth
