#include "fairness/lending.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/wide.h"

namespace berth {
namespace {

std::int64_t borrowed_in(const QuotaLedger& quotas, QueueId queue, std::size_t dim) {
  return std::max<std::int64_t>(0, quotas.used(queue)[dim] - quotas.tree().floor(queue)[dim]);
}
std::int64_t idle_in(const QuotaLedger& quotas, QueueId queue, std::size_t dim) {
  return std::max<std::int64_t>(0, quotas.tree().floor(queue)[dim] - quotas.used(queue)[dim]);
}

// All that the children of a queue, none being the cluster, have lent together.
std::int64_t lent_by_children(const QuotaLedger& quotas, QueueId parent, std::int64_t lent_by_parent, std::size_t dim) {
  const QuotaTree& tree = quotas.tree();
  const bool is_cluster = parent.is_none();
  std::int64_t room = is_cluster ? quotas.capacity()[dim] : tree.floor(parent)[dim] + borrowed_in(quotas, parent, dim);
  std::int64_t above = (is_cluster ? quotas.used_by_all()[dim] : quotas.used(parent)[dim]) + lent_by_parent;
  std::int64_t idle = 0;
  for (const QueueId child : tree.children(parent)) {
    room -= tree.floor(child)[dim];
    above -= std::min(quotas.used(child)[dim], tree.floor(child)[dim]);
    idle += idle_in(quotas, child, dim);
  }
  return std::clamp<std::int64_t>(above - std::max<std::int64_t>(0, room), 0, idle);
}

std::int64_t part_of(const QuotaLedger& quotas, QueueId queue, std::int64_t lent, std::size_t dim) {
  const std::span<const QueueId> siblings = quotas.tree().children(quotas.tree().parent(queue));
  Wide idle = 0;
  for (const QueueId sibling : siblings) idle += idle_in(quotas, sibling, dim);
  if (idle == 0) return 0;
  const auto part = [&](QueueId sibling) {
    return static_cast<std::int64_t>(Wide{idle_in(quotas, sibling, dim)} * lent / idle);
  };
  std::int64_t left = lent;
  for (const QueueId sibling : siblings) left -= part(sibling);
  // Less than one for each of those who have not lent all that they could.
  for (const QueueId sibling : siblings) {
    const std::int64_t more = part(sibling) < idle_in(quotas, sibling, dim) && left > 0 ? 1 : 0;
    if (sibling == queue) return part(sibling) + more;
    left -= more;
  }
  return 0;
}

std::int64_t lent_in(const QuotaLedger& quotas, QueueId queue, std::size_t dim) {
  if (idle_in(quotas, queue, dim) == 0) return 0;
  const QueueId parent = quotas.tree().parent(queue);
  const std::int64_t lent_by_parent = parent.is_none() ? 0 : lent_in(quotas, parent, dim);
  return part_of(quotas, queue, lent_by_children(quotas, parent, lent_by_parent, dim), dim);
}

}  // namespace

AmountsByDim borrowed_by(const QuotaLedger& quotas, QueueId queue) {
  AmountsByDim amounts(quotas.tree().dims());
  for (std::size_t dim = 0; dim < amounts.size(); ++dim) amounts[dim] = borrowed_in(quotas, queue, dim);
  return amounts;
}

AmountsByDim lent_by(const QuotaLedger& quotas, QueueId queue) {
  AmountsByDim amounts(quotas.tree().dims());
  for (std::size_t dim = 0; dim < amounts.size(); ++dim) amounts[dim] = lent_in(quotas, queue, dim);
  return amounts;
}

}  // namespace berth
