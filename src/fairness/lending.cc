#include "fairness/lending.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/wide.h"

namespace berth {
namespace {

// Slices of a profile of which a queue was promised none are of its GPUs.
std::int64_t borrowed_in(const QuotaLedger& quotas, QueueId queue, std::size_t dim) {
  const Dim of = Dim::at(dim);
  if (of.is_of_slices() && !quotas.tree().is_floor_by_profile(queue, of)) return 0;
  return std::max<std::int64_t>(0, quotas.used_of_floor(queue, Dim::at(dim)) - quotas.tree().floor(queue)[dim]);
}
std::int64_t idle_in(const QuotaLedger& quotas, QueueId queue, std::size_t dim) {
  return std::max<std::int64_t>(0, quotas.tree().floor(queue)[dim] - quotas.used_of_floor(queue, Dim::at(dim)));
}

// All that the children of a queue, none being the cluster, have lent together.
std::int64_t lent_by_children(const QuotaLedger& quotas, QueueId parent, std::int64_t lent_by_parent, std::size_t dim) {
  const QuotaTree& tree = quotas.tree();
  const bool is_cluster = parent.is_none();
  std::int64_t room = is_cluster ? quotas.capacity()[dim] : tree.floor(parent)[dim];
  std::int64_t above =
      (is_cluster ? quotas.used_by_all()[dim] : quotas.used_of_floor(parent, Dim::at(dim))) + lent_by_parent;
  std::int64_t idle = 0;
  for (const QueueId child : tree.children(parent)) {
    room -= tree.floor(child)[dim];
    const std::int64_t used = quotas.used_of_floor(child, Dim::at(dim));
    above -= std::min(used, tree.floor(child)[dim]);
    // Slices that are promised by their profile are nobody's GPUs.
    if (is_cluster) above -= quotas.used(child)[dim] - used;
    idle += idle_in(quotas, child, dim);
  }
  // Of what the parent has borrowed itself nothing counts against it: then all that its children leave idle is in use.
  return std::clamp<std::int64_t>(above - std::max<std::int64_t>(0, room), 0, idle);
}

// What of it each of them has lent, in the order of the children.
std::vector<std::int64_t> parts_of(const QuotaLedger& quotas, std::span<const QueueId> children, std::int64_t lent,
                                   std::size_t dim) {
  std::vector<std::int64_t> parts(children.size());
  Wide idle = 0;
  for (const QueueId child : children) idle += idle_in(quotas, child, dim);
  if (idle == 0) return parts;
  std::int64_t left = lent;
  for (std::size_t i = 0; i < children.size(); ++i) {
    parts[i] = static_cast<std::int64_t>(Wide{idle_in(quotas, children[i], dim)} * lent / idle);
    left -= parts[i];
  }
  // Less than one for each of those who have not lent all that they could.
  for (std::size_t i = 0; i < children.size() && left > 0; ++i) {
    if (parts[i] == idle_in(quotas, children[i], dim)) continue;
    ++parts[i];
    --left;
  }
  return parts;
}

// Of the children of `parent`, and of all below them.
void note_lent_below(const QuotaLedger& quotas, QueueId parent, std::vector<AmountsByDim>& lent) {
  const std::span<const QueueId> children = quotas.tree().children(parent);
  for (const std::size_t dim : quotas.tree().dims_in_use()) {
    if (children.empty()) break;
    const std::int64_t by_parent = parent.is_none() ? 0 : lent[parent.index()][dim];
    const std::int64_t together = lent_by_children(quotas, parent, by_parent, dim);
    if (together == 0) continue;
    const std::vector<std::int64_t> parts = parts_of(quotas, children, together, dim);
    for (std::size_t i = 0; i < children.size(); ++i) lent[children[i].index()][dim] = parts[i];
  }
  for (const QueueId child : children) note_lent_below(quotas, child, lent);
}

std::int64_t lent_in(const QuotaLedger& quotas, QueueId queue, std::size_t dim) {
  if (idle_in(quotas, queue, dim) == 0) return 0;
  const QueueId parent = quotas.tree().parent(queue);
  const std::int64_t lent_by_parent = parent.is_none() ? 0 : lent_in(quotas, parent, dim);
  const std::span<const QueueId> children = quotas.tree().children(parent);
  const std::int64_t together = lent_by_children(quotas, parent, lent_by_parent, dim);
  return parts_of(quotas, children, together,
                  dim)[static_cast<std::size_t>(std::ranges::find(children, queue) - children.begin())];
}

}  // namespace

AmountsByDim borrowed_by(const QuotaLedger& quotas, QueueId queue) {
  AmountsByDim amounts(quotas.tree().dims());
  for (std::size_t dim = 0; dim < amounts.size(); ++dim) amounts[dim] = borrowed_in(quotas, queue, dim);
  return amounts;
}

std::vector<AmountsByDim> lent_by_each(const QuotaLedger& quotas) {
  std::vector<AmountsByDim> lent(quotas.tree().queues(), AmountsByDim(quotas.tree().dims()));
  note_lent_below(quotas, QueueId(), lent);
  return lent;
}

AmountsByDim lent_by(const QuotaLedger& quotas, QueueId queue) {
  AmountsByDim amounts(quotas.tree().dims());
  for (std::size_t dim = 0; dim < amounts.size(); ++dim) amounts[dim] = lent_in(quotas, queue, dim);
  return amounts;
}

}  // namespace berth
