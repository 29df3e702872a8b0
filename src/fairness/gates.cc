#include "fairness/gates.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "base/wide.h"
#include "fairness/rights.h"
#include "state/pod_amounts.h"

namespace berth {
namespace {

// As bits.
std::uint64_t usable_flavors(const State& state, const PodRequest& request) {
  return request.flavors.bits() & FlavorSet::first(state.flavors().size()).bits();
}

FlavorId first_flavor(const State& state, const PodRequest& request) {
  if (request.gpus > 0) {
    // Any flavor: those there are; without any it runs nowhere, and counts as if it ran where no GPUs are.
    const std::uint64_t usable = usable_flavors(state, request);
    return usable == 0 ? FlavorId() : FlavorId(static_cast<std::size_t>(std::countr_zero(usable)));
  }
  const AmountsByDim& capacity = state.quotas().capacity();
  if (capacity[Dim(FlavorId(), Resource::kCpu).index()] > 0 || state.flavors().empty()) return {};
  return FlavorId(0);
}

std::int64_t gpus_in(std::span<const std::int64_t> amounts) {
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < amounts.size(); ++at) {
    sum += Dim::at(at).resource() == Resource::kGpu ? amounts[at] : 0;
  }
  return sum;
}

// What of an amount is compared with the guarantee and what is borrowed beyond it: slices that were guaranteed by their profile are
// no GPUs there. `held(dim)`: so much is held.
template <class Held>
std::int64_t beside_slices(const QuotaTree& tree, QueueId queue, Dim dim, Held held) {
  return held(dim) - tree.milli_inside(queue, dim, tree.guarantee(queue), held);
}

// How much of the GPUs is above what each flavor has of the guarantee.
std::int64_t gpus_borrowed(const QuotaTree& tree, QueueId queue, const AmountsByDim& amounts) {
  std::int64_t sum = 0;
  const auto held = [&](Dim dim) { return amounts[dim.index()]; };
  for (const std::size_t at : tree.dims_in_use()) {
    const Dim dim = Dim::at(at);
    if (dim.resource() != Resource::kGpu) continue;
    sum += std::max<std::int64_t>(0, beside_slices(tree, queue, dim, held) - tree.guarantee(queue)[at]);
  }
  return sum;
}

// The bounds of the GPUs of all flavors together.
std::optional<QuotaRefusal> above_bounds_of_sums(const QuotaLedger& quotas, QueueId queue, UserId user,
                                                 const AmountList& asked) {
  const QuotaTree& tree = quotas.tree();
  const std::size_t all = kGpusOfAllFlavors.index();
  const std::int64_t gpus = gpu_milli_of(asked);
  if (gpus == 0) return std::nullopt;
  const auto refusal = [&](ReasonCode code, std::int64_t more, std::int64_t held, std::int64_t bound, UserId whose) {
    return held + more > bound ? std::optional(QuotaRefusal{code, queue, kGpusOfAllFlavors, more, held, bound, whose})
                               : std::nullopt;
  };
  if (const std::int64_t bound = tree.user_limit(queue)[all]; bound != kNoBound) {
    if (auto found = refusal(ReasonCode::kUserLimit, gpus, gpus_in(quotas.held_by_user(queue, user)), bound, user))
      return found;
  }
  if (const std::int64_t bound = tree.limit(queue)[all]; bound != kNoBound) {
    if (auto found = refusal(ReasonCode::kQuotaLimit, gpus, gpus_in(quotas.used(queue)), bound, {})) return found;
  }
  const std::int64_t bound = tree.borrowing_end(queue)[all];
  if (bound == kNoBound) return std::nullopt;
  const auto used = quotas.used(queue);
  AmountsByDim held(used.begin(), used.end());
  const std::int64_t borrowed = gpus_borrowed(tree, queue, held);
  for (const Amount& each : asked) held[each.dim.index()] += each.amount;
  const std::int64_t more = gpus_borrowed(tree, queue, held) - borrowed;
  return more == 0 ? std::nullopt : refusal(ReasonCode::kBorrowingLimit, more, borrowed, bound, {});
}

std::optional<QuotaRefusal> above_bounds(const QuotaLedger& quotas, QueueId queue, UserId user,
                                         const AmountList& asked) {
  const QuotaTree& tree = quotas.tree();
  for (; !queue.is_none(); queue = tree.parent(queue)) {
    if (!tree.is_bounded(queue)) continue;
    const auto used = quotas.used(queue);
    const auto users = tree.counts_users(queue) ? quotas.held_by_user(queue, user) : std::span<const std::int64_t>();
    for (const Amount& each : asked) {
      const std::size_t at = each.dim.index();
      const std::int64_t held = users.empty() ? 0 : users[at];
      if (held + each.amount > tree.user_limit(queue)[at]) {
        return QuotaRefusal{ReasonCode::kUserLimit,     queue, each.dim, each.amount, held,
                            tree.user_limit(queue)[at], user};
      }
      const auto refuse = [&](ReasonCode code, std::int64_t then, std::int64_t bound) {
        return QuotaRefusal{code, queue, each.dim, each.amount, then - each.amount, bound};
      };
      const auto held_then = [&](Dim dim) { return used[dim.index()] + amount_of(asked, dim); };
      const std::int64_t then = held_then(each.dim);
      if (then > tree.limit(queue)[at]) return refuse(ReasonCode::kQuotaLimit, then, tree.limit(queue)[at]);
      const std::int64_t borrows = beside_slices(tree, queue, each.dim, held_then);
      if (borrows > tree.borrowing_end(queue)[at]) {
        return refuse(ReasonCode::kBorrowingLimit, borrows, tree.borrowing_end(queue)[at]);
      }
    }
    if (auto refusal = above_bounds_of_sums(quotas, queue, user, asked)) return refusal;
  }
  return std::nullopt;
}

// What a queue keeps for itself of its idle floor, or its children do of theirs. `used(queue)`: what it holds.
template <class Used>
std::int64_t kept_by(const QuotaTree& tree, QueueId queue, std::size_t dim, Used used) {
  std::int64_t by_children = 0;
  for (const QueueId child : tree.children(queue)) by_children += kept_by(tree, child, dim, used);
  const std::int64_t lendable = tree.lendable(queue)[dim];
  const std::int64_t own = lendable == kNoBound ? 0 : tree.floor(queue)[dim] - lendable - used(queue);
  return std::max({std::int64_t{0}, own, by_children});
}

// What all others keep from a queue that is inside the floor of this one, or of none.
template <class Used>
std::int64_t kept_from(const QuotaTree& tree, QueueId queue, QueueId covered_at, std::size_t dim, Used used) {
  std::int64_t kept = 0;
  for (QueueId below = queue; !below.is_none() && below != covered_at; below = tree.parent(below)) {
    for (const QueueId sibling : tree.children(tree.parent(below))) {
      if (sibling != below) kept += kept_by(tree, sibling, dim, used);
    }
  }
  return kept;
}

// Whose room somebody takes who would be inside the floor of a queue: that queue's, or where others below it keep too much of
// its floor that of one above it, or nobody's. `used(queue, dim)` and `covered(queue, dim)`: what it holds, and inside its floor.
template <class Used, class Covered>
QueueId whose_room(const QuotaTree& tree, QueueId queue, QueueId covered_at, const AmountList& asked, Used used,
                   Covered covered) {
  const auto keeps_too_much = [&](const Amount& each) {
    const std::int64_t left = tree.floor(covered_at)[each.dim.index()] - covered(covered_at, each.dim);
    const auto used_of_it = [&](QueueId of) { return used(of, each.dim); };
    const std::int64_t kept = kept_from(tree, queue, covered_at, each.dim.index(), used_of_it);
    return kept > 0 && each.amount > left - kept;
  };
  while (!covered_at.is_none() && std::ranges::any_of(asked, keeps_too_much)) covered_at = tree.parent(covered_at);
  return covered_at;
}

// Who is not inside a floor below a queue leaves alone what that queue's other children keep.
std::optional<QuotaRefusal> kept_by_others(const QuotaLedger& quotas, QueueId queue, const Terms& terms,
                                           const AmountList& asked) {
  const QuotaTree& tree = quotas.tree();
  if (!tree.keeps_floors()) return std::nullopt;
  const auto used_of = [&](QueueId of, Dim dim) { return quotas.used_of_floor(of, dim); };
  const auto covered = [&](QueueId of, Dim dim) { return quotas.covered(of)[dim.index()]; };
  const QueueId inside = quotas.would_be_covered_at(queue, asked, quotas.end_of(terms));
  const QueueId covered_at = whose_room(tree, queue, inside, asked, used_of, covered);
  for (const Amount& each : asked) {
    const std::size_t at = each.dim.index();
    const std::int64_t free = quotas.capacity()[at] - quotas.used_by_all()[at];
    if (each.amount > free) continue;  // that is no matter of quotas
    const auto used = [&](QueueId of) { return used_of(of, each.dim); };
    const std::int64_t kept = kept_from(tree, queue, covered_at, at, used);
    if (each.amount > free - kept) {
      return QuotaRefusal{ReasonCode::kLendingLimit, queue, each.dim, each.amount, quotas.used(queue)[at], free - kept};
    }
  }
  return std::nullopt;
}

bool is_open(const NumberedPodSet& set) { return set.in_first_flavor != set.request; }

bool may_mix(const NumberedPodSet& set) {
  return is_open(set) && !set.asks_for_domains() && !set.parallel.is_declared();
}

// A pod alone is of one flavor.
bool has_several_pods_with_gpus(const State& state, const std::vector<NumberedPodSet>& way) {
  std::int64_t pods = 0;
  for (const NumberedPodSet& set : way) pods += state.request(set.request).gpus > 0 ? set.count : 0;
  return pods > 1;
}

// What few pods hold, of the many dimensions that a tree may have.
class HeldAmounts {
 public:
  explicit HeldAmounts(const QuotaTree& tree) : dims_(tree.dims()) {}

  void add(const PodRequest& request, FlavorId flavor, std::int64_t pods) {
    for_each_amount(request, flavor, pods, [&](Dim dim, std::int64_t amount) {
      if (amount == 0 || dim.index() >= dims_) return;
      const auto at = std::ranges::lower_bound(held_, dim, {}, &Amount::dim);
      if (at != held_.end() && at->dim == dim) {
        at->amount += amount;
      } else {
        held_.insert(at, {dim, amount});
      }
    });
  }
  const AmountList& all() const { return held_; }
  AmountList take() && { return std::move(held_); }

 private:
  std::size_t dims_;
  AmountList held_;  // ascending, none of them 0
};

// Flavor by flavor, as many pods as it is asked for.
class Mixing {
 public:
  // PRE: `room`, if it is given, stays.
  Mixing(const State& state, QueueId queue, const Shape& shape, std::size_t way, const RoomByFlavor* room = nullptr)
      : state_(state), quotas_(state.quotas()), queue_(queue), shape_(shape), sets_(shape.ways[way]), room_(room) {}

  Mixture run() {
    if (!berth::may_mix(state_, sets_) || !tells_flavors_apart(quotas_.tree(), queue_)) return all_in_first();
    if (auto now = passing_now()) return *std::move(now);
    auto possible = fill([&](const AmountList& held) { return might_pass(held); });
    return possible ? *std::move(possible) : all_in_first();
  }

  // Each set as if the others were not.
  std::vector<std::int64_t> most_by_flavor() const {
    std::vector<std::int64_t> most(state_.flavors().size());
    const HeldAmounts nothing(quotas_.tree());
    const auto is_possible = [&](const AmountList& held) { return shape_.terms.best_effort || might_pass(held); };
    for (const NumberedPodSet& set : sets_) {
      const PodRequest& request = state_.request(set.request);
      for (std::size_t at = 0; at < most.size(); ++at) {
        const FlavorId flavor(at);
        if (!request.flavors.contains(flavor)) continue;
        most[at] += most_allowed(request, flavor, set.count, nothing, is_possible);
      }
    }
    return most;
  }

  // Inside floors, as far down as may be, or else as bounds allow.
  std::optional<Mixture> passing_now() const {
    const Time end = quotas_.end_of(shape_.terms);
    const QuotaTree& tree = quotas_.tree();
    for (QueueId owner = queue_; !owner.is_none(); owner = tree.parent(owner)) {
      const auto is_inside = [&](const AmountList& held) {
        return is_covered(tree, quotas_.would_be_covered_at(queue_, held, end), owner);
      };
      if (auto inside = fill(is_inside)) return inside;
    }
    const auto passes = [&](const AmountList& held) {
      return !quota_refusal(quotas_, queue_, shape_.user, shape_.terms, held);
    };
    return fill(passes);
  }

 private:
  bool might_pass(const AmountList& held) const { return !is_above_bounds_alone(quotas_, queue_, held); }

  Mixture all_in_first() const {
    Mixture mixture(sets_.size());
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (is_open(sets_[i])) mixture[i] = {{first_flavor(state_, state_.request(sets_[i].request)), sets_[i].count}};
    }
    return mixture;
  }

  // As many as are `allowed` together with those before them, set by set as they stand, or else the largest pods first; nothing if that
  // is not all either.
  template <class Allowed>
  std::optional<Mixture> fill(Allowed allowed) const {
    std::vector<std::size_t> order(sets_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    auto mixture = fill_in_order(order, allowed);
    if (mixture || order.size() == 1) return mixture;
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t i) { return state_.request(sets_[i].request).gpus; });
    return fill_in_order(order, allowed);
  }

  template <class Allowed>
  std::optional<Mixture> fill_in_order(const std::vector<std::size_t>& order, Allowed allowed) const {
    Mixture mixture = all_in_first();
    HeldAmounts sums(quotas_.tree());
    for (const NumberedPodSet& set : sets_) {
      const PodRequest& request = state_.request(set.request);
      if (!may_mix(set)) sums.add(request, first_flavor(state_, request), set.count);
    }
    for (const std::size_t i : order) {
      if (!may_mix(sets_[i])) continue;
      const PodRequest& request = state_.request(sets_[i].request);
      std::int64_t left = sets_[i].count;
      mixture[i].clear();
      for (std::size_t at = 0; at < state_.flavors().size() && left > 0; ++at) {
        const FlavorId flavor(at);
        if (!request.flavors.contains(flavor)) continue;
        const std::int64_t most = room_ == nullptr ? left : std::min(left, (*room_)[i][at]);
        const std::int64_t pods = most_allowed(request, flavor, most, sums, allowed);
        if (pods == 0) continue;
        sums.add(request, flavor, pods);
        mixture[i].push_back({flavor, pods});
        left -= pods;
      }
      if (left > 0) return std::nullopt;
    }
    return mixture;
  }

  template <class Allowed>
  static std::int64_t most_allowed(const PodRequest& request, FlavorId flavor, std::int64_t pods,
                                   const HeldAmounts& sums, Allowed allowed) {
    std::int64_t least = 0;
    for (std::int64_t most = pods; least < most;) {
      const std::int64_t middle = least + (most - least + 1) / 2;
      HeldAmounts with = sums;
      with.add(request, flavor, middle);
      if (allowed(with.all())) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    return least;
  }

  const State& state_;
  const QuotaLedger& quotas_;
  QueueId queue_;
  const Shape& shape_;
  const std::vector<NumberedPodSet>& sets_;
  const RoomByFlavor* room_;  // none: wherever that is
};

}  // namespace

bool may_mix(const State& state, const std::vector<NumberedPodSet>& way) {
  return std::ranges::any_of(way, [](const NumberedPodSet& set) { return may_mix(set); }) &&
         has_several_pods_with_gpus(state, way);
}

bool tells_flavors_apart(const QuotaTree& tree, QueueId queue) {
  while (!queue.is_none() && !tree.is_bounded(queue)) queue = tree.parent(queue);
  return !queue.is_none() || tree.has_floors();
}

bool leaves_flavors_open(const State& state, const std::vector<NumberedPodSet>& way) {
  const bool is_any = std::ranges::any_of(way, [&](const NumberedPodSet& set) {
    return is_open(set) && std::popcount(usable_flavors(state, state.request(set.request))) > 1;
  });
  return is_any && has_several_pods_with_gpus(state, way);
}

Mixture mixture_of(const State& state, QueueId queue, const Shape& shape, std::size_t way) {
  return Mixing(state, queue, shape, way).run();
}

std::optional<Mixture> mixture_within(const State& state, QueueId queue, const Shape& shape, std::size_t way,
                                      const RoomByFlavor& room) {
  return Mixing(state, queue, shape, way, &room).passing_now();
}

std::vector<std::int64_t> most_by_flavor(const State& state, QueueId queue, const Shape& shape, std::size_t way) {
  const bool mix = std::ranges::all_of(shape.ways[way], [](const NumberedPodSet& set) { return may_mix(set); });
  if (!mix || !tells_flavors_apart(state.quotas().tree(), queue)) return {};
  return Mixing(state, queue, shape, way).most_by_flavor();
}

AmountList asked_by(const State& state, QueueId queue, const Shape& shape, std::size_t way) {
  if (shape.terms.best_effort) return {};
  const std::vector<NumberedPodSet>& sets = shape.ways[way];
  HeldAmounts sums(state.quotas().tree());
  // Most often there is nothing to mix, and nothing is allocated for it.
  const bool mixes = may_mix(state, sets) && tells_flavors_apart(state.quotas().tree(), queue);
  const Mixture mixture = mixes ? mixture_of(state, queue, shape, way) : Mixture();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const PodRequest& request = state.request(sets[i].request);
    if (mixture.empty() || mixture[i].empty()) {
      sums.add(request, first_flavor(state, request), sets[i].count);
    } else {
      for (const PodsOfFlavor& each : mixture[i]) sums.add(request, each.flavor, each.pods);
    }
  }
  return std::move(sums).take();
}

AmountList amounts_held(const State& state, const Shape& shape, const Start& start) {
  if (shape.terms.best_effort || start.best_effort) return {};
  HeldAmounts sums(state.quotas().tree());
  std::size_t at = 0;
  for (const NumberedPodSet& set : shape.ways[start.way]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) {
      sums.add(state.request(set.request), state.node(start.pods[at].node).flavor, 1);
    }
  }
  return std::move(sums).take();
}

std::optional<QuotaRefusal> budget_refusal(const QuotaLedger& quotas, QueueId queue, const Terms& terms,
                                           const AmountList& asked) {
  const std::int64_t gpu_milli = gpu_milli_of(asked);
  if (!quotas.budgets().has_any() || gpu_milli == 0) return std::nullopt;
  const Time end = quotas.end_of(terms);
  const GpuTimeAsked gpu_time{.gpu_milli = gpu_milli, .from = quotas.now(), .end = end};
  const auto refusal = quotas.budgets().refusal(quotas.tree(), queue, gpu_time);
  if (!refusal) return std::nullopt;
  return QuotaRefusal{.code = ReasonCode::kBudget,
                      .queue = refusal->queue,
                      .dim = {},
                      .asked = narrow(gpu_time.gpu_us()).value_or(INT64_MAX),
                      .bound = narrow(refusal->left_gpu_us).value_or(INT64_MAX),
                      .end = end};
}

std::optional<QuotaRefusal> budget_refusal(const State& state, QueueId queue, const Shape& shape, const Terms& terms) {
  std::optional<QuotaRefusal> first;
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    auto refusal = budget_refusal(state.quotas(), queue, terms, asked_by(state, queue, shape, way));
    if (!refusal) return std::nullopt;
    if (!first) first = std::move(refusal);
  }
  return first;
}

std::optional<QuotaRefusal> quota_refusal(const QuotaLedger& quotas, QueueId queue, UserId user, const Terms& terms,
                                          const AmountList& asked) {
  if (auto refusal = budget_refusal(quotas, queue, terms, asked)) return refusal;
  if (terms.guaranteed_only && quotas.would_be_covered_at(queue, asked, quotas.end_of(terms)).is_none()) {
    if (const auto covered = covered_for_a_while(quotas, queue, asked, quotas.end_of(terms))) {
      return QuotaRefusal{.code = ReasonCode::kCalendar,
                          .queue = covered->queue,
                          .dim = {},
                          .until = covered->until,
                          .end = quotas.end_of(terms)};
    }
    return QuotaRefusal{.code = ReasonCode::kQuotaFloor, .queue = queue, .dim = {}};
  }
  if (auto refusal = above_bounds(quotas, queue, user, asked)) return refusal;
  return kept_by_others(quotas, queue, terms, asked);
}

bool is_above_bounds_alone(const QuotaLedger& quotas, QueueId queue, const AmountList& asked) {
  const QuotaTree& tree = quotas.tree();
  for (; !queue.is_none(); queue = tree.parent(queue)) {
    if (!tree.is_bounded(queue)) continue;
    for (const Amount& each : asked) {
      const std::size_t at = each.dim.index();
      if (each.amount > std::min(tree.limit(queue)[at], tree.user_limit(queue)[at])) return true;
      const auto held = [&](Dim dim) { return amount_of(asked, dim); };
      if (beside_slices(tree, queue, each.dim, held) > tree.borrowing_end(queue)[at]) return true;
    }
    const std::size_t all = kGpusOfAllFlavors.index();
    if (gpu_milli_of(asked) > std::min(tree.limit(queue)[all], tree.user_limit(queue)[all])) return true;
    AmountsByDim alone(tree.dims());
    for (const Amount& each : asked) alone[each.dim.index()] = each.amount;
    if (gpus_borrowed(tree, queue, alone) > tree.borrowing_end(queue)[all]) return true;
  }
  return false;
}

bool is_above_lending_alone(const QuotaLedger& quotas, QueueId queue, const AmountList& asked) {
  const QuotaTree& tree = quotas.tree();
  if (!tree.keeps_floors()) return false;
  const auto is_inside = [&](QueueId at) {
    return std::ranges::all_of(tree.counted_in_floor(at, asked),
                               [&](const Amount& each) { return each.amount <= tree.floor(at)[each.dim.index()]; });
  };
  QueueId inside = queue;
  while (!inside.is_none() && !is_inside(inside)) inside = tree.parent(inside);
  const auto none = [](QueueId, Dim) { return std::int64_t{0}; };
  const QueueId covered_at = whose_room(tree, queue, inside, asked, none, none);
  return std::ranges::any_of(asked, [&](const Amount& each) {
    const std::size_t at = each.dim.index();
    const auto nothing = [](QueueId) { return std::int64_t{0}; };
    return each.amount > quotas.capacity()[at] - kept_from(tree, queue, covered_at, at, nothing);
  });
}

ReasonCode code_of(const QuotaRefusal& refusal, const Shape& shape) {
  const bool of_floor = refusal.code == ReasonCode::kQuotaFloor || refusal.code == ReasonCode::kCalendar;
  return shape.cools && of_floor ? ReasonCode::kCooldown : refusal.code;
}

std::optional<CoveredForAWhile> covered_for_a_while(const QuotaLedger& quotas, QueueId queue, const AmountList& asked,
                                                    Time end) {
  std::optional<CoveredForAWhile> longest;
  for (; !queue.is_none(); queue = quotas.tree().parent(queue)) {
    const Time until = quotas.fits_floor_until(queue, asked, end);
    if (until > quotas.now() && (!longest || until > longest->until)) longest = {queue, until};
  }
  return longest;
}

}  // namespace berth
