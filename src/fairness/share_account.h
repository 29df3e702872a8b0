// What a queue's share is made of, to be told: the same sums as share_of(), by resource and flavor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fairness/share.h"
#include "model/amount.h"
#include "model/flavor.h"
#include "state/quota_ledger.h"

namespace berth {

// Of one flavor: what is held above the floor, and what all nodes that take work have.
struct SharePart {
  Dim dim;
  std::int64_t above = 0;
  std::int64_t capacity = 0;
  std::int64_t weight = 1;  // of the flavor

  friend bool operator==(const SharePart&, const SharePart&) = default;
};

// Sum of weight x above over sum of weight x capacity, over the weight of the queue.
struct ShareOfResource {
  Resource resource = Resource::kGpu;
  std::vector<SharePart> parts;  // of the flavors that there are
  Fraction share;
};

struct ShareAccount {
  std::int64_t weight_milli = 1000;        // of the queue
  std::vector<ShareOfResource> resources;  // those that there are
  Fraction share;                          // the largest of theirs
};

ShareAccount account_of_share(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue);

}  // namespace berth
