// What falls with every eviction, every start and every repair, so that everything comes to rest (docs/semantics.md, rule 21; the proof:
// docs/decisions/0015-everything-comes-to-rest.md, and 0033 for repairs).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "state/state.h"

namespace berth {

// Of one stretch without news: no arrival, end or change of the fleet.
struct Measure {
  // A unit that has room for all of it: how strongly it is held, but for its share.
  struct Held {
    std::int32_t coverage = 0;
    std::int32_t priority = 0;

    friend auto operator<=>(const Held&, const Held&) = default;
  };

  std::int64_t may_lose_to_a_share = 0;  // workloads that rule 14 has not taken the room of in this stretch
  std::vector<Held> held;                // the strongest first

  bool is_below(const Measure& other) const {
    if (may_lose_to_a_share != other.may_lose_to_a_share) return may_lose_to_a_share < other.may_lose_to_a_share;
    return held > other.held;  // more of the strongest, or the same and more of the rest
  }
};

// Looks at every workload that has not ended.
Measure measure_of(const State& state);

}  // namespace berth
