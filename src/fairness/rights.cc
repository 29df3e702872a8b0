#include "fairness/rights.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"

namespace berth {
namespace {

// Where a claim from `queue` meets those of another queue: the two children of the place where their paths join.
struct Sides {
  QueueId claimant;
  QueueId victim;
};

bool is_covered(const QuotaTree& tree, QueueId covered_at, QueueId queue) {
  for (; !covered_at.is_none(); covered_at = tree.parent(covered_at)) {
    if (covered_at == queue) return true;
  }
  return false;
}

std::int32_t depth_of(const QuotaTree& tree, QueueId queue) {
  std::int32_t depth = 0;
  for (; !queue.is_none(); queue = tree.parent(queue)) ++depth;
  return depth;
}

class Search {
 public:
  Search(const State& state, const Claimant& claimant)
      : state_(state),
        quotas_(state.quotas()),
        tree_(quotas_.tree()),
        claimant_(claimant),
        quota_(state.queues()[claimant.queue.index()].quota),
        covered_at_(claimant.terms.best_effort ? QueueId()
                                               : quotas_.would_be_covered_at(claimant.queue, claimant.asked)) {}

  Victims run() {
    if (claimant_.terms.best_effort) return {};
    take_lower_priorities();
    for (QueueId own = claimant_.queue; !own.is_none(); own = tree_.parent(own)) {
      const bool covered = is_covered(tree_, covered_at_, own);
      for (const QueueId side : tree_.children(tree_.parent(own))) {
        if (side != own) take_from({own, side}, covered);
      }
    }
    std::sort(found_.takeable.begin(), found_.takeable.end(), [](const Victim& a, const Victim& b) {
      if (const auto order = a.claim <=> b.claim; order != 0) return order < 0;
      if (a.lost_gpu_s != b.lost_gpu_s) return a.lost_gpu_s < b.lost_gpu_s;
      return a.workload > b.workload;
    });
    return std::move(found_);
  }

 private:
  // Rule 15.
  void take_lower_priorities() {
    if (!claimant_.terms.preempts || quota_.preempt == Preempt::kNever) return;
    const Fraction share = share_of(quotas_, state_.flavors(), claimant_.queue);
    for (const UnitId id : quotas_.units_in(claimant_.queue)) {
      const Unit& unit = quotas_.unit(id);
      if (unit.priority < claimant_.terms.priority) consider(unit, EvictionRule::kPreempt, claimant_.queue, share);
    }
  }

  // Rules 13 and 14: what is not covered on its own side goes to whoever is covered on his, or has the smaller share.
  void take_from(const Sides& sides, bool covered) {
    const Fraction share = share_of(quotas_, state_.flavors(), sides.victim);
    const EvictionRule rule = covered ? EvictionRule::kReclaim : EvictionRule::kFairShare;
    if (!covered && !is_below(sides.claimant, share)) return;
    take_uncovered(sides.victim, sides.victim, rule, share);
  }

  bool is_below(QueueId own, const Fraction& other) const {
    if (quota_.fair_reclaim == FairReclaim::kNever) return false;
    const Fraction after = share_with(quotas_, state_.flavors(), own, {.asked = claimant_.asked});
    return after < other;
  }

  void take_uncovered(QueueId queue, QueueId side, EvictionRule rule, const Fraction& share) {
    for (const UnitId id : quotas_.units_in(queue)) {
      const Unit& unit = quotas_.unit(id);
      if (!is_covered(tree_, unit.covered_at, side)) consider(unit, rule, side, share);
    }
    for (const QueueId child : tree_.children(queue)) take_uncovered(child, side, rule, share);
  }

  void consider(const Unit& unit, EvictionRule rule, QueueId side, const Fraction& share) {
    const Workload& workload = state_.workload(unit.workload);
    if (workload.phase != Phase::kRunning) return;
    const auto stop_by = when_it_can_stop(unit, workload);
    if (!stop_by) {
      found_.some_protected = true;
      return;
    }
    const Terms& terms = state_.shape(workload.shape).terms;
    const std::int32_t coverage = terms.best_effort ? -1 : depth_of(tree_, unit.covered_at);
    found_.takeable.push_back({.workload = unit.workload,
                               .rule = rule,
                               .claim = {coverage, unit.priority, share},
                               .lost_gpu_s = lost_gpu_s(state_, unit.workload, claimant_.now),
                               .stop_by = *stop_by,
                               .side = side});
  }

  // Rule 16: what it set for itself holds fully inside its floor; outside of it up to the claimant's time.
  std::optional<Time> when_it_can_stop(const Unit& unit, const Workload& workload) const {
    const Terms& terms = state_.shape(workload.shape).terms;
    const Time free_from = workload.started + state_.queues()[workload.queue.index()].quota.min_runtime;
    const bool is_protected = terms.disruption_permille > 0 || free_from > claimant_.now;
    const Time graceful = claimant_.now + terms.grace;
    if (!unit.covered_at.is_none()) return is_protected ? std::nullopt : std::optional(graceful);
    const Time latest = claimant_.now + quota_.reclaim_within;
    if (terms.disruption_permille > 0) return latest;
    return std::min(latest, std::max(graceful, free_from));
  }

  const State& state_;
  const QuotaLedger& quotas_;
  const QuotaTree& tree_;
  const Claimant& claimant_;
  const Quota& quota_;
  QueueId covered_at_;
  Victims found_;
};

}  // namespace

Victims victims_of(const State& state, const Claimant& claimant) { return Search(state, claimant).run(); }

bool still_takeable(const State& state, const Claimant& claimant, const Victim& victim) {
  if (victim.rule != EvictionRule::kFairShare) return true;
  const QuotaLedger& quotas = state.quotas();
  QueueId own = claimant.queue;
  while (quotas.tree().parent(own) != quotas.tree().parent(victim.side)) own = quotas.tree().parent(own);
  const Fraction after = share_with(quotas, state.flavors(), own, {.asked = claimant.asked});
  if (state.queues()[claimant.queue.index()].quota.fair_reclaim == FairReclaim::kInitialShare) {
    return after < share_of(quotas, state.flavors(), victim.side);
  }
  AmountList loss = quotas.held_by(state.workload(victim.workload).unit);
  for (Amount& each : loss) each.amount = -each.amount;
  return after <= share_with(quotas, state.flavors(), victim.side, {.asked = loss});
}

RightsAtAGlance::RightsAtAGlance(const State& state)
    : state_(state), has_surplus_(state.queues().size(), false), children_(state.queues().size() + 1) {
  const QuotaLedger& quotas = state.quotas();
  if (quotas.tree().queues() < 2) return;  // nobody to take from
  for (std::size_t i = 0; i < has_surplus_.size(); ++i) {
    const QueueId queue(i);
    // Best-effort work is counted nowhere, and goes all the same.
    has_surplus_[i] = quotas.units_outside(queue) > 0;
    if (!has_surplus_[i]) continue;
    const QueueId parent = quotas.tree().parent(queue);
    Children& children = children_[parent.is_none() ? children_.size() - 1 : parent.index()];
    ++children.with_surplus;
    const Fraction share = share_of(quotas, state.flavors(), queue);
    if (children.largest_share < share) {
      children.next_share = std::exchange(children.largest_share, share);
      children.of_largest = queue;
    } else if (children.next_share < share) {
      children.next_share = share;
    }
  }
}

bool RightsAtAGlance::another_has_surplus(QueueId queue) const {
  return children_of(state_.quotas().tree().parent(queue)).with_surplus > (has_surplus_[queue.index()] ? 1u : 0u);
}

const Fraction& RightsAtAGlance::largest_share_beside(QueueId queue) const {
  const Children& children = children_of(state_.quotas().tree().parent(queue));
  return children.of_largest == queue ? children.next_share : children.largest_share;
}

bool RightsAtAGlance::any_in(QueueId queue) const {
  const QuotaLedger& quotas = state_.quotas();
  if (state_.queues()[queue.index()].quota.preempt != Preempt::kNever && !quotas.units_in(queue).empty()) return true;
  for (; !queue.is_none(); queue = quotas.tree().parent(queue)) {
    if (another_has_surplus(queue)) return true;
  }
  return false;
}

bool RightsAtAGlance::may_take(QueueId queue, const Terms& terms, const AmountList& asked) const {
  if (terms.best_effort) return false;
  const QuotaLedger& quotas = state_.quotas();
  const Quota& quota = state_.queues()[queue.index()].quota;
  if (terms.preempts && quota.preempt != Preempt::kNever && quotas.lowest_priority(queue) < terms.priority) return true;
  bool covered = false;
  for (QueueId own = queue; !own.is_none(); own = quotas.tree().parent(own)) {
    covered = covered || quotas.fits_floor(own, asked);
    if (!another_has_surplus(own)) continue;
    if (covered) return true;
    if (quota.fair_reclaim == FairReclaim::kNever) continue;
    if (share_with(quotas, state_.flavors(), own, {.asked = asked}) < largest_share_beside(own)) return true;
  }
  return false;
}

std::int64_t lost_gpu_s(const State& state, WorkloadId id, Time now) {
  const Workload& workload = state.workload(id);
  const bool reported = workload.checkpoint >= workload.started;
  const Duration since = reported ? now - workload.checkpoint : std::min(now - workload.started, kUnreportedWorkMax);
  return narrow(Wide{state.shape(workload.shape).gpu_milli} * since.ms / 1'000'000).value_or(INT64_MAX);
}

}  // namespace berth
