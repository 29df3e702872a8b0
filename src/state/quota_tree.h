// The quota tree as rules 1 to 3 of docs/semantics.md read it. Made anew whenever queues, flavors or the fleet change, and
// never changed: forks share it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/amount.h"
#include "model/calendar.h"
#include "model/flavor.h"
#include "model/queue.h"
#include "model/request.h"

namespace berth {

// By dimension.
using AmountsByDim = std::vector<std::int64_t>;

// What so many pods of a request hold on nodes of a flavor, added to the sums: of a slice its part of a GPU, and itself where
// the sums go so far.
void add_amounts(const PodRequest& request, FlavorId flavor, std::int64_t pods, AmountsByDim& sums);
// Those that are not 0.
AmountList amounts_of(const AmountsByDim& sums);

// No bound is given: larger than any sum.
inline constexpr std::int64_t kNoBound = std::numeric_limits<std::int64_t>::max();
// Nobody gives one.
inline constexpr Duration kNoClock{std::numeric_limits<std::int64_t>::max()};

// A profile of slices that amounts of some queue name, and what one such slice is of a GPU.
struct NamedProfile {
  Dim dim;
  std::int64_t gpu_milli = 0;

  friend bool operator==(const NamedProfile&, const NamedProfile&) = default;
};

// All of them, by dimension, and the flavors that there are beside them. No profiles where no queue names any.
struct NamedProfiles {
  std::size_t flavors = 0;
  std::vector<NamedProfile> profiles = {};
  std::vector<std::pair<QueueId, Dim>> guaranteed_in_windows = {};  // at some hours, so at the others none are

  // How far amounts by dimension have to go.
  std::size_t dims() const { return profiles.empty() ? Dim::count(flavors) : profiles.back().dim.index() + 1; }
};
NamedProfiles profiles_named_by(const std::vector<Queue>& queues, const std::vector<Window>& windows,
                                const std::vector<Flavor>& flavors);

class QuotaTree {
 public:
  QuotaTree() = default;
  // `capacity` is what the nodes that take work have, by dimension; of a profile as many slices as they could be cut into if all
  // were of it. It goes as far as the profiles that are named.
  QuotaTree(const std::vector<Queue>& queues, const AmountsByDim& capacity, const NamedProfiles& named = {});

  std::size_t dims() const { return dims_; }
  // Those that mean anything: where profiles are named, flavors that may come leave a gap before them.
  std::span<const std::uint16_t> dims_in_use() const { return in_use_; }
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
  // Profiles of which the queue, or one below it, was guaranteed slices, be it none: inside its floors they count as slices, and as
  // no part of its GPUs. All others count there as parts of GPUs.
  std::span<const NamedProfile> profiles_of_floor(QueueId queue) const { return at(queue).profiles; }
  bool is_floor_by_profile(QueueId queue, Dim slices) const;
  bool has_floors_by_profile() const { return has_floors_by_profile_; }
  bool same_floors_by_profile(const QuotaTree& other) const;
  // What somebody takes of the queue's floor who holds so much.
  AmountList counted_in_floor(QueueId queue, const AmountList& held) const;
  // Of GPUs of a flavor: what those slices of the queue are of them that are inside what it was promised by profile.
  // `bound`: of each profile so many, by dimension; `held(dim)`: so many it holds.
  template <class Held>
  std::int64_t milli_inside(QueueId queue, Dim gpus, std::span<const std::int64_t> bound, Held held) const {
    std::int64_t milli = 0;
    for (const NamedProfile& each : at(queue).profiles) {
      const bool is_of_them = gpus.resource() == Resource::kGpu && each.dim.flavor() == gpus.flavor();
      if (is_of_them) milli += each.gpu_milli * std::min<std::int64_t>(held(each.dim), bound[each.dim.index()]);
    }
    return milli;
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
    std::vector<NamedProfile> profiles;
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
  void number_dims(const NamedProfiles& named);
  void link(const std::vector<Queue>& queues);
  void name_profiles(const std::vector<Queue>& queues, const NamedProfiles& named);
  void promise(const std::vector<Queue>& queues);
  void scale(QueueId parent, std::span<const std::int64_t> bound);
  void bound(const std::vector<Queue>& queues);
  void set_clocks(const std::vector<Queue>& queues);

  std::size_t dims_ = 0;
  std::vector<std::uint16_t> in_use_;
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
  bool has_floors_by_profile_ = false;
  bool keeps_floors_ = false;
  bool counts_users_ = false;
  bool anybody_takes_ = false;
};

}  // namespace berth
