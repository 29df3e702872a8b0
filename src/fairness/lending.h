// What queues have of each other (docs/semantics.md, lent and borrowed). By dimension, as things are held now.
#pragma once

#include <vector>

#include "state/quota_ledger.h"

namespace berth {

// What the queue and all below it hold above its floor.
AmountsByDim borrowed_by(const QuotaLedger& quotas, QueueId queue);

// What others hold of the queue's idle floor. At one level of the tree what is above floors there (and what the own line of
// their parent holds, and what the parent lends itself) is first in room that is no child's floor: the rest of the parent's
// floor, and what the parent has borrowed. What is not comes from the idle floors of the children, in proportion to how much
// of them is idle; what cannot be divided so comes from the first of them.
AmountsByDim lent_by(const QuotaLedger& quotas, QueueId queue);

// The same of all queues: each parent's children are looked at once.
std::vector<AmountsByDim> lent_by_each(const QuotaLedger& quotas);

}  // namespace berth
