// What queues have left of their floors for longer than they should: "use it or lose it" (docs/semantics.md, idle floors).
//
// Of each queue that names a time the most that it held within that time is known: of what it held before, whatever was
// followed by as much or more says nothing, so what is kept falls with time, and a change costs only what it outdoes.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/time.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/queue.h"
#include "state/quota_ledger.h"

namespace berth {

class IdleFloors {
 public:
  // Whether any queue names a time.
  bool counts() const { return counts_; }

  // Up to now the queue and those above it held what the ledger says. Before that changes.
  void advance(const QuotaLedger& quotas, QueueId queue, Time now);
  void advance_all(const QuotaLedger& quotas, Time now);
  // Queues or floors have changed. What a floor has more than before counts as used until now. PRE: advanced to `now`.
  void lay_out(const std::vector<Queue>& queues, const QuotaLedger& quotas, Time now);

  // What is known of it from before: what was held of so large a floor. To be laid out again. PRE: laid out.
  void remember(QueueId queue, const AmountList& floor, const std::vector<FloorUse>& held);
  // The same of now; nothing where the queue names no time.
  std::vector<FloorUse> held(const QuotaLedger& quotas, QueueId queue, Time now) const;

  bool counts(QueueId queue) const { return memories_[queue.index()].idle_after.ms > 0; }
  // By dimension, what of its floor the queue has not held at any moment since so long; nothing where it names no time.
  AmountsByDim idle(const QuotaLedger& quotas, QueueId queue, Time now) const;

 private:
  // So much was held until then. INVARIANT of a list: later ones are smaller.
  struct Peak {
    std::int64_t amount = 0;
    Time until;
  };
  struct Memory {
    Duration idle_after{0};
    AmountsByDim floor;                    // as it was when queues or floors last changed
    std::vector<std::deque<Peak>> before;  // by dimension, what was held within that time
  };

  static void note(Memory& memory, std::size_t dim, std::int64_t amount, Time now);
  static void advance(Memory& memory, const QuotaLedger& quotas, QueueId queue, Time now);

  std::vector<Memory> memories_;  // by queue
  bool counts_ = false;
};

}  // namespace berth
