// How much a queue has above its floor, and how much of its floor it uses: exact fractions, compared in 128 bits, so that
// two machines never disagree about whose turn it is.
//
// The share is weighted Dominant Resource Fairness (Ghodsi et al., NSDI 2011) of what is above the floor, at every level of
// the tree (docs/semantics.md, rule 10).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/wide.h"
#include "model/flavor.h"
#include "state/quota_ledger.h"

namespace berth {

// part / whole. INVARIANT: 0 <= part < 2^53, 0 < whole < 2^73: products stay inside 127 bits (the bounds of a fleet are
// in model/node.h and model/amount.h).
class Fraction {
 public:
  constexpr Fraction() = default;
  constexpr Fraction(Wide part, Wide whole) : part_(part), whole_(whole) { BERTH_ASSERT(part >= 0 && whole > 0); }

  constexpr Wide part() const { return part_; }
  constexpr Wide whole() const { return whole_; }

  friend constexpr std::strong_ordering operator<=>(const Fraction& a, const Fraction& b) {
    const Wide left = a.part_ * b.whole_;
    const Wide right = b.part_ * a.whole_;
    return left < right   ? std::strong_ordering::less
           : left > right ? std::strong_ordering::greater
                          : std::strong_ordering::equal;
  }
  friend constexpr bool operator==(const Fraction& a, const Fraction& b) { return (a <=> b) == 0; }

 private:
  Wide part_ = 0;
  Wide whole_ = 1;
};

// What a queue's amounts are asked with: so much more, by a unit that would be inside its floor or not. Negative amounts:
// so much less, by one that is not.
struct More {
  const AmountList& asked;
  bool covered = false;
};

// The dominant resource's amount above the floor, over the cluster's capacity of it and over the queue's weight.
Fraction share_of(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue);
Fraction share_with(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, const More& more);
// Of what waits at an inner queue itself: as of a child that has no floor, with the weight of 1.
Fraction own_share_with(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, const More& more);

// What is held, over the floor: of the resource of which it is most.
Fraction use_of_floor(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue);

}  // namespace berth
