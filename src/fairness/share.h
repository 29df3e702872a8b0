// How much a queue has above its floor, and how much of its floor it uses: exact fractions, compared exactly, so that
// two machines never disagree about whose turn it is.
//
// The share is weighted Dominant Resource Fairness (Ghodsi et al., NSDI 2011) of what is above the floor, at every level of
// the tree (docs/semantics.md, rule 10).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/wide.h"
#include "model/flavor.h"
#include "state/quota_ledger.h"

namespace berth {

// part / whole. INVARIANT: part >= 0, whole > 0. Their products may leave 128 bits, for a workload may ask far more than
// there is; they are compared exactly all the same.
class Fraction {
 public:
  constexpr Fraction() = default;
  constexpr Fraction(Wide part, Wide whole) : part_(part), whole_(whole) { BERTH_ASSERT(part >= 0 && whole > 0); }

  constexpr Wide part() const { return part_; }
  constexpr Wide whole() const { return whole_; }

  friend constexpr std::strong_ordering operator<=>(const Fraction& a, const Fraction& b) {
    Wide left = 0;
    Wide right = 0;
    const bool too_large =
        __builtin_mul_overflow(a.part_, b.whole_, &left) || __builtin_mul_overflow(b.part_, a.whole_, &right);
    return too_large ? by_quotients(a, b) : ordered(left, right);
  }
  friend constexpr bool operator==(const Fraction& a, const Fraction& b) { return (a <=> b) == 0; }

 private:
  static constexpr std::strong_ordering ordered(Wide left, Wide right) {
    return left < right   ? std::strong_ordering::less
           : left > right ? std::strong_ordering::greater
                          : std::strong_ordering::equal;
  }

  // As Euclid divides: first the integer parts, then what is left of either, turned upside down.
  static constexpr std::strong_ordering by_quotients(Fraction a, Fraction b) {
    while (true) {
      if (const auto order = ordered(a.part_ / a.whole_, b.part_ / b.whole_); order != 0) return order;
      const Wide left = a.part_ % a.whole_;
      const Wide right = b.part_ % b.whole_;
      if (left == 0 || right == 0) return ordered(left, right);
      const Fraction turned(a.whole_, left);
      a = Fraction(b.whole_, right);
      b = turned;
    }
  }

  Wide part_ = 0;
  Wide whole_ = 1;
};

std::string to_text(const Fraction& fraction);  // in lowest terms: "23/161"

// What a queue's amounts are asked with: so much more, by a unit that would be inside its floor or not. Negative amounts:
// so much less, by one that is not.
struct More {
  const AmountList& asked;
  bool covered = false;
  std::span<const std::int64_t> past = {};  // by dimension, what counts beside what is held (rule 11)
};

// The dominant resource's amount above the floor, over the cluster's capacity of it and over the queue's weight.
Fraction share_of(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue);
Fraction share_with(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, const More& more);
// Of what waits at an inner queue itself: as of a child that has no floor, with the weight of 1.
Fraction own_share_with(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, const More& more);

// A child of a queue, or what waits and runs at the queue itself, which counts as a child without a floor.
struct Side {
  QueueId queue;  // of an own line: the parent
  bool own_line = false;

  friend bool operator==(const Side&, const Side&) = default;
};
Fraction share_of_side(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, Side side, const More& more);

// Of what one user holds at a queue and below it, as of a queue without a floor, with the weight of 1. PRE: users count
// there.
Fraction share_of_user(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue, UserId user);

// What is held, over the floor: of the resource of which it is most.
Fraction use_of_floor(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue);

}  // namespace berth
