// What queues held above their floors in the past, on average, where what was held one half-life ago counts half as much as
// what is held now (docs/semantics.md, rule 11). It orders and gives no rights.
//
// Time is cut into steps of a 1024th of the half-life. What is held within a step is summed exactly; when a step ends, its
// mean goes into the average. So the average changes with the steps, and a queue costs something only when what it holds
// changes, or when it is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "base/wide.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/queue.h"
#include "state/quota_ledger.h"

namespace berth {

// Sums of a fleet's amounts are below 2^54.
inline constexpr int kPastFractionBits = 8;

class PastUse {
 public:
  // Whether the past of any queue counts.
  bool counts() const { return counts_; }

  // Up to now the queue and those above it held what the ledger says. Before that changes.
  void advance(const QuotaLedger& quotas, QueueId queue, Time now);
  void advance_all(const QuotaLedger& quotas, Time now);
  // Queues, half-lives or dimensions have changed. PRE: advanced to `now`.
  void lay_out(const std::vector<Queue>& queues, std::size_t dims, Time now);

  // So it was at that moment, which is not later than now, and nothing was held since. PRE: laid out.
  void remember(QueueId queue, const AmountList& average, Time at);

  // By dimension, if it goes on to hold until `now` what it holds; empty where the past does not count.
  AmountsByDim average(const QuotaLedger& quotas, QueueId queue, Time now) const;
  // The same with the part of a step that has passed.
  AmountsByDim up_to(const QuotaLedger& quotas, QueueId queue, Time now) const;
  // For another that goes on from here; nothing where the past does not count.
  std::optional<PastUseKept> keep(const QuotaLedger& quotas, QueueId queue, Time now) const;
  // PRE: laid out.
  void go_on(const PastUseKept& from);

 private:
  // INVARIANT: a queue without a half-life has no amounts.
  struct Memory {
    Duration half_life{0};
    Time begun;                 // the step that has not ended, or the part of it of which anything is known
    Time since;                 // up to here all is counted
    AmountsByDim average;       // of the steps that have ended, in 2^-kPastFractionBits of an amount
    std::vector<Wide> in_step;  // of the step that has not: amounts x ms
  };

  static void advance(Memory& memory, const QuotaLedger& quotas, QueueId queue, Time now);
  static std::int64_t mean_in_step(const Memory& memory, std::size_t dim);

  std::vector<Memory> memories_;  // by queue
  bool counts_ = false;
};

}  // namespace berth
