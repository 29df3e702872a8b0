#include "state/quota_tree.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/wide.h"
#include "model/gpu_hardware.h"
#include "state/pod_amounts.h"

namespace berth {

void add_amounts(const PodRequest& request, FlavorId flavor, std::int64_t pods, AmountsByDim& sums) {
  for_each_amount(request, flavor, pods, [&](Dim dim, std::int64_t amount) {
    if (dim.index() < sums.size()) sums[dim.index()] += amount;
  });
}

AmountList amounts_of(const AmountsByDim& sums) {
  AmountList amounts;
  for (std::size_t dim = 0; dim < sums.size(); ++dim) {
    if (sums[dim] != 0) amounts.push_back({Dim::at(dim), sums[dim]});
  }
  return amounts;
}

NamedProfiles profiles_named_by(const std::vector<Queue>& queues, const std::vector<Window>& windows,
                                const std::vector<Flavor>& flavors) {
  std::set<Dim> dims;
  const auto add = [&](const AmountList& amounts) {
    for (const Amount& each : amounts) {
      if (each.dim.is_of_slices()) dims.insert(each.dim);
    }
  };
  for (const Queue& queue : queues) {
    for (const AmountList* const amounts : queue.quota.amounts()) add(*amounts);
  }
  NamedProfiles named{.flavors = flavors.size()};
  for (const Window& window : windows) {
    for (const AmountList* const amounts : {&window.guarantee, &window.limit, &window.borrowing_limit}) add(*amounts);
    for (const Amount& each : window.guarantee) {
      if (each.dim.is_of_slices()) named.guaranteed_in_windows.emplace_back(window.queue, each.dim);
    }
  }
  for (const Dim dim : dims) {
    const auto slice = find_slice(flavors[dim.flavor().index()], dim.shape());
    named.profiles.push_back({dim, slice ? slice->gpu_milli : 0});
  }
  return named;
}

QuotaTree::QuotaTree(const std::vector<Queue>& queues, const AmountsByDim& capacity, const NamedProfiles& named)
    : dims_(capacity.size()) {
  number_dims(named);
  link(queues);
  name_profiles(queues, named);
  promise(queues);
  floor_.assign(guarantee_.size(), 0);
  if (has_floors_) scale(QueueId(), capacity);
  bound(queues);
  if (has_floors_) set_clocks(queues);
  anybody_takes_ = has_floors_ || std::ranges::any_of(queues, [](const Queue& queue) {
                     return queue.quota.fair_reclaim != FairReclaim::kNever || queue.quota.preempt != Preempt::kNever;
                   });
}

void QuotaTree::number_dims(const NamedProfiles& named) {
  // Tables stay as long as they were when some queue named a profile.
  const bool known = named.flavors > 0 || !named.profiles.empty();
  const std::size_t plain = known ? std::min(dims_, Dim::count(named.flavors)) : dims_;
  for (std::size_t dim = 0; dim < plain; ++dim) in_use_.push_back(static_cast<std::uint16_t>(dim));
  for (const NamedProfile& each : named.profiles) in_use_.push_back(static_cast<std::uint16_t>(each.dim.index()));
}

// A parent names what its children name.
void QuotaTree::name_profiles(const std::vector<Queue>& queues, const NamedProfiles& named) {
  if (named.profiles.empty()) return;
  for (std::size_t i = queues.size(); i-- > 0;) {
    const auto is_named = [&](const NamedProfile& each) {
      const auto by_child = [&](QueueId child) { return is_floor_by_profile(child, each.dim); };
      const AmountList& guarantee = queues[i].quota.guarantee;
      const std::pair in_a_window(QueueId(i), each.dim);
      return std::ranges::find(guarantee, each.dim, &Amount::dim) != guarantee.end() ||
             std::ranges::find(named.guaranteed_in_windows, in_a_window) != named.guaranteed_in_windows.end() ||
             std::ranges::any_of(queues_[i].children, by_child);
    };
    std::ranges::copy_if(named.profiles, std::back_inserter(queues_[i].profiles), is_named);
  }
}

bool QuotaTree::is_floor_by_profile(QueueId queue, Dim slices) const {
  return std::ranges::find(at(queue).profiles, slices, &NamedProfile::dim) != at(queue).profiles.end();
}

bool QuotaTree::same_floors_by_profile(const QuotaTree& other) const {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const bool is_known = i < other.queues_.size();
    if (is_known ? queues_[i].profiles != other.queues_[i].profiles : !queues_[i].profiles.empty()) return false;
  }
  return true;
}

AmountList QuotaTree::counted_in_floor(QueueId queue, const AmountList& held) const {
  AmountList counted;
  for (const Amount& each : held) {
    if (each.dim.is_of_slices() && !is_floor_by_profile(queue, each.dim)) continue;
    Amount amount = each;
    for (const NamedProfile& profile : at(queue).profiles) {
      const bool is_part = each.dim == Dim(profile.dim.flavor(), Resource::kGpu);
      if (is_part) amount.amount -= profile.gpu_milli * amount_of(held, profile.dim);
    }
    if (amount.amount != 0) counted.push_back(amount);
  }
  return counted;
}

void QuotaTree::link(const std::vector<Queue>& queues) {
  queues_.resize(queues.size());
  for (std::size_t i = 0; i < queues.size(); ++i) {
    queues_[i].parent = queues[i].parent;
    queues_[i].weight_milli = queues[i].quota.weight_milli;
    (queues[i].parent.is_none() ? tops_ : queues_[queues[i].parent.index()].children).emplace_back(i);
  }
}

// A parent stands before its children in the table, so going backwards meets children first.
void QuotaTree::promise(const std::vector<Queue>& queues) {
  constexpr std::int64_t kNotGiven = -1;
  guarantee_.assign(queues.size() * dims_, kNotGiven);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    for (const Amount& given : queues[i].quota.guarantee)
      cell(guarantee_, QueueId(i), given.dim.index()) = given.amount;
  }
  for (std::size_t i = queues.size(); i-- > 0;) {
    Place& place = queues_[i];
    if (!place.profiles.empty()) {
      place.floored[static_cast<std::size_t>(Resource::kSlice)] = has_floors_by_profile_ = true;
    }
    for (std::size_t dim = 0; dim < dims_; ++dim) {
      std::int64_t& guarantee = cell(guarantee_, QueueId(i), dim);
      if (guarantee == kNotGiven) {
        guarantee = 0;
        for (const QueueId child : place.children) guarantee += cell(guarantee_, child, dim);
      }
      if (guarantee == 0) continue;
      place.floored[static_cast<std::size_t>(Dim::at(dim).resource())] = true;
      place.has_floor = has_floors_ = true;
    }
  }
}

void QuotaTree::scale(QueueId parent, std::span<const std::int64_t> bound) {
  const std::span<const QueueId> siblings = children(parent);
  for (const std::size_t dim : in_use_) {
    Wide promised = 0;
    for (const QueueId child : siblings) promised += cell(guarantee_, child, dim);
    for (const QueueId child : siblings) {
      const std::int64_t guarantee = cell(guarantee_, child, dim);
      cell(floor_, child, dim) =
          promised <= bound[dim] ? guarantee : static_cast<std::int64_t>(Wide{guarantee} * bound[dim] / promised);
    }
  }
  for (const QueueId child : siblings) {
    if (!at(child).children.empty() && at(child).has_floor) scale(child, floor(child));
  }
}

void QuotaTree::bound(const std::vector<Queue>& queues) {
  limit_.assign(queues.size() * dims_, kNoBound);
  borrowing_end_.assign(queues.size() * dims_, kNoBound);
  lendable_.assign(queues.size() * dims_, kNoBound);
  user_limit_.assign(queues.size() * dims_, kNoBound);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const Quota& quota = queues[i].quota;
    const QueueId queue(i);
    for (const Amount& given : quota.limit) cell(limit_, queue, given.dim.index()) = given.amount;
    for (const Amount& given : quota.borrowing_limit) {
      cell(borrowing_end_, queue, given.dim.index()) = cell(guarantee_, queue, given.dim.index()) + given.amount;
    }
    for (const Amount& given : quota.lending_limit) cell(lendable_, queue, given.dim.index()) = given.amount;
    for (const Amount& given : quota.user_limit) cell(user_limit_, queue, given.dim.index()) = given.amount;
    queues_[i].bounded = !quota.limit.empty() || !quota.borrowing_limit.empty() || !quota.user_limit.empty();
    queues_[i].counts_users = quota.looks_at_users();
    counts_users_ = counts_users_ || quota.looks_at_users();
    keeps_floors_ = keeps_floors_ || !quota.lending_limit.empty();
  }
}

void QuotaTree::set_clocks(const std::vector<Queue>& queues) {
  // Of all at or below a queue, and of those of them who could be covered there.
  std::vector<Duration> all(queues.size(), kNoClock);
  std::vector<Duration> owners(queues.size(), kNoClock);
  for (std::size_t i = queues.size(); i-- > 0;) {
    Place& place = queues_[i];
    all[i] = queues[i].quota.reclaim_within;
    for (const QueueId child : place.children) {
      all[i] = std::min(all[i], all[child.index()]);
      place.owners_below = std::min(place.owners_below, owners[child.index()]);
    }
    owners[i] = place.has_floor ? all[i] : place.owners_below;
  }
  const auto tell_siblings = [&](std::span<const QueueId> siblings) {
    for (const bool backwards : {false, true}) {
      Duration shortest = kNoClock;  // of those before it, from either end
      for (std::size_t i = 0; i < siblings.size(); ++i) {
        const QueueId child = siblings[backwards ? siblings.size() - 1 - i : i];
        Duration& beside = queues_[child.index()].owners_beside;
        beside = std::min(beside, shortest);
        shortest = std::min(shortest, owners[child.index()]);
      }
    }
  };
  tell_siblings(tops_);
  for (const Place& place : queues_) tell_siblings(place.children);
}

// What waits in an inner queue's own line and runs there is on no side of that one's children.
Duration QuotaTree::owners_clock(QueueId queue, QueueId covered_at) const {
  Duration shortest = at(queue).owners_below;
  for (; !queue.is_none() && queue != covered_at; queue = parent(queue)) {
    shortest = std::min(shortest, at(queue).owners_beside);
  }
  return shortest;
}

}  // namespace berth
