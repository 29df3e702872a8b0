// Amounts that a queue has at certain hours instead of its usual ones (docs/semantics.md, rule 7). Clocks, zones and
// weekdays are the shell's business: here are moments only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/quota.h"

namespace berth {

// From a moment until just before another. INVARIANT: from < to.
struct Interval {
  Time from;
  Time to;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// INVARIANT: `open` is in order, and its intervals do not overlap.
struct Window {
  QueueId queue;  // none: it changes nothing of a queue, and is the hours of work that runs in no others (Terms::hours)
  // Instead of the queue's own while it is open: each dimension that is named. Of two windows that name the same one the
  // later one of the list holds.
  AmountList guarantee = {};
  AmountList limit = {};
  AmountList borrowing_limit = {};
  AmountList lending_limit = {};
  std::optional<std::int64_t> weight_milli = {};
  std::vector<Interval> open = {};
  Time known_until = {};  // what comes after has not been told yet

  void change(Quota& quota) const;
  friend bool operator==(const Window&, const Window&) = default;
};

// So many bits has a set of windows.
inline constexpr std::size_t kWindowsMax = 64;
inline constexpr std::size_t kOpeningsMax = 10'000;

}  // namespace berth
