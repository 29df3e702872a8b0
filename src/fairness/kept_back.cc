#include "fairness/kept_back.h"

#include <algorithm>

#include "fairness/gates.h"

namespace berth {

bool KeptBack::is_wanted_by(const State& state, QueueId line, const Shape& shape) const {
  if (room_.meets(shape.flavors)) return true;
  const bool of_others = std::ranges::none_of(of_, [&](FlavorSet kept) { return kept.meets(shape.flavors); });
  if (of_others && slices_.empty()) return false;
  // Best-effort work counts for nothing, so no bound leaves less for its sake.
  return std::ranges::any_of(asked_by(state, line, shape, 0), [&](const Amount& each) {
    if (each.dim.is_of_slices()) return std::ranges::find(slices_, each.dim) != slices_.end();
    return of_[static_cast<std::size_t>(each.dim.resource())].meets(shape.flavors);
  });
}

bool lacks_hours(const State& state, QueueId line, const Shape& shape) {
  if (!state.quotas().budgets().has_any()) return false;
  const auto refusal = budget_refusal(state, line, shape, shape.terms);
  if (!refusal) return false;
  // It may run there unpaid, for which it needs room.
  const bool goes_on = state.queues()[refusal->queue.index()].quota.budget_end == BudgetEnd::kBestEffort;
  return shape.terms.guaranteed_only || !goes_on;
}

void keep_back(const State& state, QueueId line, const Shape& shape, ReasonCode gate, KeptBack& from_all,
               KeptBack& from_his_user) {
  if (gate == ReasonCode::kCooldown || lacks_hours(state, line, shape)) return;
  if (!is_quota_gate(gate)) return from_all.keep_room(shape.flavors);
  const QuotaLedger& quotas = state.quotas();
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    const AmountList asked = asked_by(state, line, shape, way);
    const auto refusal = quota_refusal(quotas, line, shape.user, shape.terms, asked);
    // It will be tried anew; or it was refused for the place alone that was found for it.
    if (!refusal && holds_up_nobody(gate)) continue;
    const bool kept_by_owners = refusal && refusal->code == ReasonCode::kLendingLimit;
    if (kept_by_owners && is_above_lending_alone(quotas, line, asked)) continue;
    // What owners keep to themselves is room like any other that is not free.
    if (!refusal || kept_by_owners) {
      from_all.keep_room(shape.flavors);
    } else if (!holds_up_nobody(refusal->code) && !is_above_bounds_alone(quotas, line, asked)) {
      KeptBack& kept = refusal->code == ReasonCode::kUserLimit ? from_his_user : from_all;
      kept.keep(refusal->dim);
    }
  }
}

bool holds_up(const State& state, QueueId line, const ShapeInLine& ahead, const Shape& behind) {
  const Shape& shape = state.shape(ahead.shape);
  if (!ahead.blocked() || ahead.impossible()) return false;
  KeptBack from_all;
  KeptBack from_his_user;
  keep_back(state, line, shape, ahead.gate, from_all, from_his_user);
  return from_all.is_wanted_by(state, line, behind) ||
         (shape.user == behind.user && from_his_user.is_wanted_by(state, line, behind));
}

}  // namespace berth
