#include "fairness/rights.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"
#include "fairness/meeting.h"

namespace berth {
namespace {

// Of an elastic workload with a disruption budget: how many of its pods the budget keeps. They are a part of those of its minimum
// and of all its steps, whether these run or not.
std::int64_t pods_kept(const State& state, WorkloadId minimum) {
  const Shape& shape = state.shape(state.workload(minimum).shape);
  const std::int64_t all = shape.pods + std::ssize(state.steps_of(minimum));
  return static_cast<std::int64_t>((Wide{all} * shape.terms.disruption_permille + 999) / 1000);
}

// Whether its budget, if there is one, lets a step go beside those that are not there, or have gone in a trial.
bool may_spare(const State& state, WorkloadId step) {
  const WorkloadId minimum = state.minimum_of(step);
  const Workload& workload = state.workload(minimum);
  const auto units = state.quotas().units_in(workload.queue);
  std::int64_t there = state.shape(workload.shape).pods;
  for (const WorkloadId each : state.steps_of(minimum)) {
    const UnitId unit = state.workload(each).unit;
    const bool runs = state.workload(each).phase == Phase::kRunning && std::ranges::find(units, unit) != units.end();
    there += runs && state.quotas().unit(unit).workload == each ? 1 : 0;
  }
  return there > pods_kept(state, minimum);
}

class Search {
 public:
  Search(const State& state, const Claimant& claimant, OwnerOf owner)
      : state_(state),
        quotas_(state.quotas()),
        tree_(quotas_.tree()),
        claimant_(claimant),
        quota_(state.queues()[claimant.queue.index()].quota),
        covered_at_(claimant.terms.best_effort || owner == OwnerOf::kNoFloor ? QueueId()
                                                                             : covered_with(state, claimant)),
        shares_below_(where_shares_are_his()),
        owner_(owner) {}

  Victims run() {
    if (claimant_.terms.best_effort) return {};
    take_within_the_queue();
    covered_then_ = owner_ == OwnerOf::kFloorThen ? covered_without_lower_priorities() : covered_at_;
    if (!tree_.is_leaf(claimant_.queue)) {
      const Side own_line{claimant_.queue, true};
      for (const QueueId child : tree_.children(claimant_.queue)) take_from(own_line, {child}, false);
    }
    for (QueueId own = claimant_.queue; !own.is_none(); own = tree_.parent(own)) {
      const bool covered = is_covered(tree_, covered_then_, own);
      const QueueId meet = tree_.parent(own);
      for (const QueueId side : tree_.children(meet)) {
        if (side != own) take_from({own}, {side}, covered);
      }
      if (!meet.is_none() && !quotas_.units_in(meet).empty()) take_from({own}, {meet, true}, covered);
    }
    std::sort(found_.takeable.begin(), found_.takeable.end(), [](const Victim& a, const Victim& b) {
      if (const auto order = a.claim <=> b.claim; order != 0) return order < 0;
      if (a.lost_gpu_s != b.lost_gpu_s) return a.lost_gpu_s < b.lost_gpu_s;
      return a.workload > b.workload;
    });
    return std::move(found_);
  }

 private:
  // Of a side, and of the queues below it down to one.
  using Shares = std::vector<Fraction>;

  // Who was raised for it waited too long is not taken from by those who then stood behind it: it would start and go for ever.
  std::int64_t counted_priority(const QuotaUnit& unit) const {
    return std::int64_t{unit.priority} + state_.workload(unit.workload).raised;
  }

  // Rule 15. Best effort is below every priority; to an owner it is in the way wherever it runs (13).
  void take_within_the_queue() {
    const bool preempts = claimant_.terms.preempts && quota_.preempt != Preempt::kNever;
    const EvictionRule best_effort = is_covered(tree_, covered_at_, claimant_.queue) ? EvictionRule::kReclaim
                                     : claimant_.terms.preempts                      ? EvictionRule::kPreempt
                                                                                     : EvictionRule::kNone;
    const Side side{claimant_.queue};
    const Shares shares{share_of(quotas_, state_.flavors(), claimant_.queue)};
    for (const UnitId id : quotas_.units_in(claimant_.queue)) {
      const QuotaUnit& unit = quotas_.unit(id);
      if (is_best_effort(unit)) {
        consider(unit, best_effort, side, side, shares);
      } else if (preempts && counted_priority(unit) < claimant_.terms.priority) {
        consider(unit, EvictionRule::kPreempt, side, side, shares);
      }
    }
  }

  // A right by rule 13 is to what it would be covered by then.
  QueueId covered_without_lower_priorities() const {
    if (holds_its_quota(state_, claimant_)) return covered_at_;
    std::vector<UnitId> gone;
    for (const Victim& victim : found_.takeable) {
      const UnitId unit = state_.workload(victim.workload).unit;
      if (!quotas_.unit(unit).covered_at.is_none()) gone.push_back(unit);
    }
    if (gone.empty()) return covered_at_;
    return quotas_.would_be_covered_without(gone, claimant_.queue, claimant_.asked, quotas_.end_of(claimant_.terms));
  }

  // What is not covered on its own side goes to whoever is covered on his (13), or has the smaller share (14); what counts
  // for nothing also to everyone who counts.
  struct Rules {
    EvictionRule counted = EvictionRule::kNone;
    EvictionRule best_effort = EvictionRule::kNone;
  };

  void take_from(Side own, Side side, bool covered) {
    const AmountList nothing;
    const Fraction share = share_of_side(quotas_, state_.flavors(), side, {.asked = nothing});
    Rules rules;
    if (covered) {
      rules = {EvictionRule::kReclaim, EvictionRule::kReclaim};
    } else {
      if (may_take_towards_its_share(own, share)) rules = {EvictionRule::kFairShare, EvictionRule::kFairShare};
      if (claimant_.terms.preempts) rules.best_effort = EvictionRule::kPreempt;
    }
    if (rules.counted == EvictionRule::kNone && quotas_.best_effort_units(side.queue) == 0) return;
    Shares shares{share};
    take_uncovered(side.queue, own, side, rules, shares);
  }

  // Below which queue he takes by rule 14: who lost his room by it, only on the side that had to give it. None: nowhere; nothing:
  // everywhere.
  std::optional<QueueId> where_shares_are_his() const {
    if (!state_.lost_to_a_share(claimant_.workload)) return std::nullopt;
    const Workload& workload = state_.workload(claimant_.workload);
    const Workload* const taker = state_.workloads().find(workload.evicted_for);
    if (workload.evicted_by != EvictionRule::kFairShare || taker == nullptr) return QueueId();
    return child_towards(tree_, claimant_.queue, where_they_meet(tree_, claimant_.queue, taker->queue));
  }
  bool is_his_side(Side own) const {
    if (!shares_below_) return true;
    QueueId meet = own.own_line ? own.queue : tree_.parent(own.queue);
    while (!meet.is_none() && meet != *shares_below_) meet = tree_.parent(meet);
    return !meet.is_none();
  }

  bool may_take_towards_its_share(Side own, const Fraction& other) const {
    if (quota_.fair_reclaim == FairReclaim::kNever || !is_his_side(own)) return false;
    // Who may not borrow yet is no borrower among others.
    if (state_.shape(state_.workload(claimant_.workload).shape).cools) return false;
    return share_of_side(quotas_, state_.flavors(), own, {.asked = claimant_.asked}) < other;
  }

  void take_uncovered(QueueId queue, Side own, Side side, const Rules& rules, Shares& shares) {
    if (side.own_line || tree_.is_leaf(queue)) return take_line(queue, own, side, rules, shares);
    const AmountList nothing;
    if (!quotas_.units_in(queue).empty()) {
      shares.push_back(own_share_with(quotas_, state_.flavors(), queue, {.asked = nothing}));
      take_line(queue, own, side, rules, shares);
      shares.pop_back();
    }
    for (const QueueId child : tree_.children(queue)) {
      if (quotas_.units_outside(child) == 0 && quotas_.best_effort_units(child) == 0) continue;
      shares.push_back(share_of(quotas_, state_.flavors(), child));
      take_uncovered(child, own, side, rules, shares);
      shares.pop_back();
    }
  }

  // What runs at the queue itself.
  void take_line(QueueId queue, Side own, Side side, const Rules& rules, const Shares& shares) {
    for (const UnitId id : quotas_.units_in(queue)) {
      const QuotaUnit& unit = quotas_.unit(id);
      if (!side.own_line && is_covered(tree_, unit.covered_at, side.queue)) continue;
      consider(unit, is_best_effort(unit) ? rules.best_effort : rules.counted, own, side, shares);
    }
  }

  static bool is_best_effort(const QuotaUnit& unit) { return !unit.may_be_covered; }

  void consider(const QuotaUnit& unit, EvictionRule rule, Side own, Side side, const Shares& shares) {
    const Workload& workload = state_.workload(unit.workload);
    if (rule == EvictionRule::kNone || workload.phase != Phase::kRunning) return;
    // Once between two arrivals or ends is enough (rule 21).
    if (rule == EvictionRule::kFairShare && state_.lost_to_a_share(unit.workload)) return;
    const bool fully = protects_itself(unit, rule);
    const auto stop_by = when_it_can_stop(unit, workload, fully);
    if (!stop_by) {
      found_.some_protected = true;
      return;
    }
    found_.takeable.push_back({.workload = unit.workload,
                               .rule = rule,
                               .claim = {.coverage = coverage_of(state_.quotas(), workload),
                                         .priority = unit.priority,
                                         .share = shares.front(),
                                         .inside = {shares.begin() + 1, shares.end()}},
                               .lost_gpu_s = lost_if_taken_gpu_s(state_, unit.workload, claimant_.now),
                               .stop_by = *stop_by,
                               .side = side,
                               .claimants_side = own,
                               .protects_itself = fully,
                               .gives = rule == EvictionRule::kFairShare ? given_by(workload, side) : AmountList()});
  }

  // Of a step inside the side's floor what counts there only where there is a floor of it.
  AmountList given_by(const Workload& workload, Side side) const {
    const auto& steps = state_.steps_of(quotas_.unit(workload.unit).workload);
    if (steps.empty()) return quotas_.held_by(workload.unit);
    AmountsByDim sums(tree_.dims());
    const auto add = [&](const QuotaUnit& unit, const AmountList& held) {
      const bool inside = !side.own_line && is_covered(tree_, unit.covered_at, side.queue);
      for (const Amount& each : held) {
        if (!inside || tree_.has_floor(side.queue, each.dim.resource())) sums[each.dim.index()] += each.amount;
      }
    };
    add(quotas_.unit(workload.unit), quotas_.held_by(workload.unit));
    for (const WorkloadId id : steps) {
      const Workload& step = state_.workload(id);
      if (has_room(step.phase)) add(quotas_.unit(step.unit), quotas_.held_by(step.unit));
    }
    return amounts_of(sums);
  }

  // Rule 16: what it set for itself holds fully where nobody lent it what it holds: against its own queue while it is inside that
  // one's floor, and where nobody could take that back; else as long as those allow from whom it borrows. For what counts for
  // nothing it is no longer than the claimant's queue says in any case.
  bool protects_itself(const QuotaUnit& unit, EvictionRule rule) const {
    if (rule == EvictionRule::kPreempt && unit.covered_at == unit.queue) return true;
    return clock_of(unit) == kNoClock;
  }
  Duration clock_of(const QuotaUnit& unit) const {
    const Duration clock = quotas_.lenders_clock(unit.queue, unit.covered_at);
    return is_best_effort(unit) ? std::min(clock, quota_.reclaim_within) : clock;
  }
  std::optional<Time> when_it_can_stop(const QuotaUnit& unit, const Workload& workload, bool fully) const {
    const Terms& terms = state_.shape(workload.shape).terms;
    // Whatever protects it, at its run limit it is gone.
    const Time end = state_.end_of(unit.workload, workload.started);
    const Time free_from = workload.started + state_.queues()[workload.queue.index()].quota.min_runtime;
    const bool has_budget = terms.disruption_permille > 0;
    const bool is_step = !workload.step_of.is_none();
    const bool is_protected =
        (has_budget && !(is_step && may_spare(state_, unit.workload))) || free_from > claimant_.now;
    const Time graceful = claimant_.now + terms.grace;
    if (fully) return is_protected ? std::nullopt : std::optional(std::min(graceful, end));
    const Time latest = std::min(end, claimant_.now + clock_of(unit));
    // Of several steps each has the same time: all that there is, unless the budget lets all of them go.
    const bool holds = has_budget && !(is_step && pods_of_minimum(workload) >= pods_kept(state_, workload.step_of));
    if (holds) return latest;
    return std::min(latest, std::max(graceful, free_from));
  }

  std::int64_t pods_of_minimum(const Workload& step) const {
    return state_.shape(state_.workload(step.step_of).shape).pods;
  }

  const State& state_;
  const QuotaLedger& quotas_;
  const QuotaTree& tree_;
  const Claimant& claimant_;
  const Quota& quota_;
  QueueId covered_at_;  // as things are
  std::optional<QueueId> shares_below_;
  OwnerOf owner_;
  QueueId covered_then_;  // with all lower priorities of its queue gone that it may take, or as things are
  Victims found_;
};

}  // namespace

bool is_covered(const QuotaTree& tree, QueueId covered_at, QueueId queue) {
  for (; !covered_at.is_none(); covered_at = tree.parent(covered_at)) {
    if (covered_at == queue) return true;
  }
  return false;
}

std::int32_t coverage_of(const QuotaTree& tree, QueueId covered_at) {
  std::int32_t depth = 0;
  for (; !covered_at.is_none(); covered_at = tree.parent(covered_at)) ++depth;
  return depth;
}

std::int32_t coverage_of(const QuotaLedger& quotas, const Workload& workload) {
  return workload.best_effort ? -1 : coverage_of(quotas.tree(), quotas.unit(workload.unit).covered_at);
}

bool holds_its_quota(const State& state, const Claimant& claimant) {
  return has_room(state.workload(claimant.workload).phase);
}

QueueId covered_with(const State& state, const Claimant& claimant) {
  const QuotaLedger& quotas = state.quotas();
  if (holds_its_quota(state, claimant)) return quotas.unit(state.workload(claimant.workload).unit).covered_at;
  return quotas.would_be_covered_at(claimant.queue, claimant.asked, quotas.end_of(claimant.terms));
}

Victims victims_of(const State& state, const Claimant& claimant, OwnerOf owner) {
  return Search(state, claimant, owner).run();
}

bool is_spared_by_a_budget(const State& state, const Victim& victim) {
  const Workload& workload = state.workload(victim.workload);
  return victim.protects_itself && !workload.step_of.is_none() &&
         state.shape(workload.shape).terms.disruption_permille > 0;
}

bool takeable_whoever_went(const State& state, const Victim& victim) {
  return !is_spared_by_a_budget(state, victim) && (victim.rule != EvictionRule::kFairShare || victim.side.own_line);
}

bool still_takeable(const State& state, const Victim& victim) {
  if (is_spared_by_a_budget(state, victim) && !may_spare(state, victim.workload)) return false;
  if (victim.rule != EvictionRule::kFairShare || victim.side.own_line) return true;
  // Those before it may have left it a floor to be in, and it does not borrow any more.
  const QuotaUnit& unit = state.quotas().unit(state.workload(victim.workload).unit);
  return !is_covered(state.quotas().tree(), unit.covered_at, victim.side.queue);
}

namespace {

AmountList without(AmountList amounts, const AmountList& less) {
  for (const Amount& each : less) {
    const auto at = std::ranges::lower_bound(amounts, each.dim, {}, &Amount::dim);
    if (at != amounts.end() && at->dim == each.dim) {
      at->amount -= each.amount;
    } else {
      amounts.insert(at, {each.dim, -each.amount});
    }
  }
  return amounts;
}

// Of the side of one of them. `next`: who is to go from it besides, and is still there.
bool side_lets_go(const State& state, const Claimant& claimant, std::span<const Victim* const> gone, const Victim& of,
                  const Victim* next) {
  const AmountList nothing;
  // Without its steps: some of them may have gone before.
  const AmountList leaving = next == nullptr ? nothing : state.quotas().held_by(state.workload(next->workload).unit);
  const Fraction after = share_of_side(state.quotas(), state.flavors(), of.claimants_side, {.asked = claimant.asked});
  const auto with = [&](const AmountList& back) {
    const AmountList more = without(back, leaving);
    return share_of_side(state.quotas(), state.flavors(), of.side, {.asked = more});
  };
  if (state.queues()[claimant.queue.index()].quota.fair_reclaim == FairReclaim::kFinalShare) {
    return after <= with(nothing);
  }
  // Before the last loss. Whoever holds most goes last: in every other order there is as much left before each loss, or less before
  // one of them.
  if (next != nullptr && after < with(leaving)) return true;
  const AmountList* tried = next == nullptr ? nullptr : &leaving;
  return std::ranges::any_of(gone, [&](const Victim* last) {
    if (last->side != of.side || (tried != nullptr && *tried == last->gives)) return false;
    tried = &last->gives;
    return after < with(last->gives);
  });
}

// Steps that go with their minimum may leave a floor to be in.
bool has_steps(const State& state, const Victim& victim) { return !state.steps_of(victim.workload).empty(); }
bool would_be_in_floor(const State& state, const Victim& victim) {
  if (victim.side.own_line || victim.gives.empty() || has_steps(state, victim)) return false;
  const Workload& workload = state.workload(victim.workload);
  const QueueId at =
      state.quotas().would_be_covered_at(workload.queue, victim.gives, state.end_of(victim.workload, workload.started));
  return is_covered(state.quotas().tree(), at, victim.side.queue);
}

}  // namespace

bool shares_allow(const State& state, const Claimant& claimant, std::vector<const Victim*> gone) {
  std::erase_if(gone, [](const Victim* each) { return each->rule != EvictionRule::kFairShare; });
  const auto side = [](const Victim* each) { return std::pair(each->side.queue, each->side.own_line); };
  std::ranges::stable_sort(gone, {}, side);
  for (auto begin = gone.begin(); begin != gone.end();) {
    const auto end = std::ranges::upper_bound(begin, gone.end(), side(*begin), {}, side);
    if (!side_lets_go(state, claimant, std::span(begin, end), **begin, nullptr)) return false;
    begin = end;
  }
  return std::ranges::none_of(gone, [&](const Victim* each) { return has_steps(state, *each); }) ||
         std::ranges::none_of(gone, [&](const Victim* each) { return would_be_in_floor(state, *each); });
}

bool shares_allow(const State& state, const Claimant& claimant, std::span<const Victim* const> gone,
                  const Victim& next) {
  return next.rule != EvictionRule::kFairShare || side_lets_go(state, claimant, gone, next, &next);
}

RightsAtAGlance::RightsAtAGlance(const State& state) : state_(state) {
  const QuotaLedger& quotas = state.quotas();
  if (!quotas.tree().anybody_takes()) return;
  has_surplus_.assign(state.queues().size(), false);
  children_.resize(state.queues().size() + 1);
  if (quotas.tree().queues() < 2) return;  // nobody to take from
  const AmountList nothing;
  for (std::size_t i = 0; i < has_surplus_.size(); ++i) {
    const QueueId queue(i);
    if (!quotas.tree().is_leaf(queue) && !quotas.units_in(queue).empty()) {
      note(children_[i], queue, own_share_with(quotas, state.flavors(), queue, {.asked = nothing}));
    }
    // Best-effort work is counted nowhere, and goes all the same.
    has_surplus_[i] = quotas.units_outside(queue) > 0;
    if (!has_surplus_[i]) continue;
    const QueueId parent = quotas.tree().parent(queue);
    note(children_[parent.is_none() ? children_.size() - 1 : parent.index()], queue,
         share_of(quotas, state.flavors(), queue));
  }
}

void RightsAtAGlance::note(Children& children, QueueId child, const Fraction& share) {
  ++children.with_surplus;
  if (children.of_largest.is_none() || children.largest_share < share) {
    children.next_share = std::exchange(children.largest_share, share);
    children.of_largest = child;
  } else if (children.next_share < share) {
    children.next_share = share;
  }
}

bool RightsAtAGlance::any_in(QueueId queue) const {
  const QuotaLedger& quotas = state_.quotas();
  if (quotas.best_effort_units() > 0) return true;
  if (!quotas.tree().anybody_takes()) return false;
  const bool own = !quotas.units_in(queue).empty();
  if (own && state_.queues()[queue.index()].quota.preempt != Preempt::kNever) return true;
  if (!quotas.tree().is_leaf(queue) && others_have_surplus(children_of(queue), own)) return true;
  for (; !queue.is_none(); queue = quotas.tree().parent(queue)) {
    if (others_have_surplus(children_of(quotas.tree().parent(queue)), has_surplus_[queue.index()])) return true;
  }
  return false;
}

bool RightsAtAGlance::may_take(QueueId queue, const Terms& terms, const AmountList& asked, bool by_shares) const {
  const QuotaLedger& quotas = state_.quotas();
  if (terms.best_effort) return false;
  if (quotas.best_effort_units() > 0) return true;
  if (!quotas.tree().anybody_takes()) return false;
  const Quota& quota = state_.queues()[queue.index()].quota;
  if (terms.preempts && quota.preempt != Preempt::kNever && quotas.lowest_priority(queue) < terms.priority) return true;
  const bool fair = by_shares && quota.fair_reclaim != FairReclaim::kNever;
  if (fair && !quotas.tree().is_leaf(queue) &&
      own_share_with(quotas, state_.flavors(), queue, {.asked = asked}) <
          largest_share_beside(children_of(queue), queue)) {
    return true;
  }
  bool covered = false;
  for (QueueId own = queue; !own.is_none(); own = quotas.tree().parent(own)) {
    covered = covered || quotas.fits_floor(own, asked, quotas.end_of(terms));
    const Children& children = children_of(quotas.tree().parent(own));
    if (!others_have_surplus(children, has_surplus_[own.index()])) continue;
    if (covered) return true;
    if (fair && share_with(quotas, state_.flavors(), own, {.asked = asked}) < largest_share_beside(children, own)) {
      return true;
    }
  }
  return false;
}

std::int64_t lost_by_own_pods_gpu_s(const State& state, WorkloadId id, Time now) {
  return narrow(state.lost_gpu_us(id, now) / 1'000'000).value_or(INT64_MAX);
}

std::int64_t lost_if_taken_gpu_s(const State& state, WorkloadId id, Time now) {
  const WorkloadId minimum = state.minimum_of(id);
  if (!state.elastic().contains(minimum)) return lost_by_own_pods_gpu_s(state, id, now);
  // What the pod did is with the others.
  if (id != minimum && state.shape(state.workload(id).shape).terms.resizes_live) return 0;
  Wide lost_gpu_us = state.lost_gpu_us(minimum, now);
  for (const WorkloadId step : state.steps_of(minimum)) {
    if (state.workload(step).phase == Phase::kRunning) lost_gpu_us += state.lost_gpu_us(step, now);
  }
  return narrow(lost_gpu_us / 1'000'000).value_or(INT64_MAX);
}

}  // namespace berth
