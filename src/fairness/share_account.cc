#include "fairness/share_account.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace berth {

ShareAccount account_of_share(const QuotaLedger& quotas, const std::vector<Flavor>& flavors, QueueId queue) {
  ShareAccount account;
  account.weight_milli = quotas.tree().weight_milli(queue);
  for (const Resource resource : {Resource::kGpu, Resource::kCpu, Resource::kMemory}) {
    ShareOfResource made;
    made.resource = resource;
    Wide above = 0;
    Wide whole = 0;
    for (const std::size_t at : quotas.tree().dims_in_use()) {
      const Dim dim = Dim::at(at);
      if (dim.resource() != resource) continue;
      const std::int64_t weight = dim.flavor().is_none() ? 1 : flavors[dim.flavor().index()].weight;
      const SharePart part{dim, quotas.above_floor(queue, dim), quotas.capacity()[at], weight};
      above += Wide{part.above} * weight;
      whole += Wide{part.capacity} * weight;
      if (part.above > 0 || part.capacity > 0) made.parts.push_back(part);
    }
    if (whole == 0) continue;
    made.share = Fraction(above * 1000, whole * account.weight_milli);
    account.share = std::max(account.share, made.share);
    account.resources.push_back(std::move(made));
  }
  return account;
}

}  // namespace berth
