// The quota tree as rules 1 to 3 of docs/semantics.md read it. Made anew whenever queues, flavors or the fleet change, and
// never changed: forks share it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/time.h"
#include "model/amount.h"
#include "model/queue.h"
#include "model/request.h"

namespace berth {

// By dimension.
using AmountsByDim = std::vector<std::int64_t>;

// What so many pods of a request hold on nodes of a flavor, added to the sums.
void add_amounts(const PodRequest& request, FlavorId flavor, std::int64_t pods, AmountsByDim& sums);
// Those that are not 0.
AmountList amounts_of(const AmountsByDim& sums);

// No bound is given: larger than any sum.
inline constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
// Nobody gives one.
inline constexpr Duration kNoClock{std::numeric_limits<std::int64_t>::max()};

class QuotaTree {
 public:
  QuotaTree() = default;
  // `capacity` is what the nodes that take work have, by dimension.
  QuotaTree(const std::vector<Queue>& queues, const AmountsByDim& capacity);

  std::size_t dims() const { return dims_; }
  std::size_t queues() const { return queues_.size(); }
  QueueId parent(QueueId queue) const { return at(queue).parent; }
  // None: the children of the cluster, which are the queues without a parent.
  std::span<const QueueId> children(QueueId queue) const { return queue.is_none() ? tops_ : at(queue).children; }
  bool is_leaf(QueueId queue) const { return at(queue).children.empty(); }

  // What the queue was promised: as given; of an inner queue that says nothing, the sum of its children's.
  std::span<const std::int64_t> guarantee(QueueId queue) const { return row(guarantee_, queue); }
  // What of it can be kept: where siblings are promised more than there is, each gets its part, rounded down.
  std::span<const std::int64_t> floor(QueueId queue) const { return row(floor_, queue); }
  std::span<const std::int64_t> limit(QueueId queue) const { return row(limit_, queue); }
  // Guarantee and borrowing limit together.
  std::span<const std::int64_t> borrowing_end(QueueId queue) const { return row(borrowing_end_, queue); }
  // How much of the floor others may have.
  std::span<const std::int64_t> lendable(QueueId queue) const { return row(lendable_, queue); }
  // How much one user may hold at the queue and below it.
  std::span<const std::int64_t> user_limit(QueueId queue) const { return row(user_limit_, queue); }
  std::int64_t weight_milli(QueueId queue) const { return at(queue).weight_milli; }

  bool has_floors() const { return has_floors_; }
  bool has_floor(QueueId queue) const { return at(queue).has_floor; }
  // Whether the queue was promised any of the resource, in whatever flavor.
  bool has_floor(QueueId queue, Resource resource) const {
    return at(queue).floored[static_cast<std::size_t>(resource)];
  }
  // Whether it matters there what one user holds; and whether it does anywhere.
  bool counts_users(QueueId queue) const { return at(queue).counts_users; }
  bool counts_users() const { return counts_users_; }
  // Whether it has a limit, a borrowing limit or a limit of one user.
  bool is_bounded(QueueId queue) const { return at(queue).bounded; }
  // Whether there may be anybody with a right to what others hold: by a floor, or by a policy of his queue.
  bool anybody_takes() const { return anybody_takes_; }
  // The shortest time that a queue gives a borrower (`reclaim_within`) which could take back, by its floor or by one above it,
  // what somebody in `queue` holds who is covered at `covered_at`; kNoClock if none could.
  Duration owners_clock(QueueId queue, QueueId covered_at) const;
  // Whether any queue keeps a part of its idle floor to itself.
  bool keeps_floors() const { return keeps_floors_; }

 private:
  struct Place {
    QueueId parent;
    std::vector<QueueId> children;
    std::int64_t weight_milli = 1000;
    Duration owners_beside =
        kNoClock;  // the shortest clock of those at or below its siblings who could be covered there
    Duration owners_below = kNoClock;  // and of those at or below its children
    std::array<bool, kResources> floored{};
    bool has_floor = false;
    bool bounded = false;
    bool counts_users = false;
  };

  const Place& at(QueueId queue) const { return queues_[queue.index()]; }
  std::span<const std::int64_t> row(const AmountsByDim& table, QueueId queue) const {
    return std::span(table).subspan(queue.index() * dims_, dims_);
  }
  std::int64_t& cell(AmountsByDim& table, QueueId queue, std::size_t dim) const {
    return table[queue.index() * dims_ + dim];
  }
  void link(const std::vector<Queue>& queues);
  void promise(const std::vector<Queue>& queues);
  void scale(QueueId parent, std::span<const std::int64_t> bound);
  void bound(const std::vector<Queue>& queues);
  void set_clocks(const std::vector<Queue>& queues);

  std::size_t dims_ = 0;
  std::vector<Place> queues_;
  std::vector<QueueId> tops_;
  // Rows of `dims_` amounts, one a queue.
  AmountsByDim guarantee_;
  AmountsByDim floor_;
  AmountsByDim limit_;
  AmountsByDim borrowing_end_;
  AmountsByDim lendable_;
  AmountsByDim user_limit_;
  bool has_floors_ = false;
  bool keeps_floors_ = false;
  bool counts_users_ = false;
  bool anybody_takes_ = false;
};

}  // namespace berth
