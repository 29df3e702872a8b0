#include "cycle/taking.h"

#include <algorithm>
#include <utility>

#include "cycle/taking_out.h"
#include "placement/place.h"

namespace berth {
namespace {

Chosen only(const Chosen& chosen, const std::vector<bool>& these) {
  Chosen left;
  for (std::size_t at = 0; at < chosen.size(); ++at) {
    if (these[at]) left.push_back(chosen[at]);
  }
  return left;
}

}  // namespace

Taking::Taking(const State& state, Trial& trial, ScoreIndex& index, const Claimant& claimant, std::size_t way)
    : state_(state),
      trial_(trial),
      index_(index),
      claimant_(claimant),
      asking_(state, claimant, way),
      begin_(trial.mark()),
      together_(state) {
  note(victims_of(state, claimant));
  if (asking_.mixes_freely()) look_who_is_his_without_own();
}

// Once those of his queue have gone who are less important than he, its floors may hold another mixture than now.
void Taking::look_who_is_his_without_own() {
  Chosen own;
  for (std::size_t each = 0; each < victims_.size(); ++each) {
    const Victim& victim = victims_[each];
    if (victim.rule == EvictionRule::kPreempt && victim.side == Side{claimant_.queue}) own.push_back(each);
  }
  for (const std::size_t each : own) {
    if (!together_.goes_with_another(each, own)) take(victims_[each]);
  }
  const AmountList then = asking_.asked();
  const bool is_inside = !would_be_covered().is_none();
  trial_.rollback_to(begin_);
  if (!is_inside || then == claimant_.asked) return;
  note(victims_of(state_, {claimant_.workload, claimant_.queue, claimant_.terms, then, claimant_.now}));
}

void Taking::note(Victims victims) {
  victims_ = std::move(victims.takeable);
  some_budget_ = std::ranges::any_of(victims_, [&](const Victim& each) { return is_spared_by_a_budget(state_, each); });
  some_protected_ = some_protected_ || victims.some_protected || some_budget_;
  std::vector<TakenTogether::One> all;
  for (const Victim& victim : victims_) all.push_back({victim.workload, victim.lost_gpu_s});
  together_.put(std::move(all));
  forget_taken();
  number_claims();
}

// The victims are sorted by claim.
void Taking::number_claims() {
  claims_.assign(victims_.size(), 0);
  for (std::size_t i = 1; i < victims_.size(); ++i) {
    claims_[i] = claims_[i - 1] + (victims_[i].claim == victims_[i - 1].claim ? 0 : 1);
  }
}

void Taking::begin_again() {
  trial_.rollback_to(begin_);
  forget_taken();
}

void Taking::forget_taken() {
  taken_.assign(victims_.size(), false);
  taken_by_share_.clear();
}

bool Taking::have_other_rights_now() {
  trial_.rollback_to(begin_);
  if (owner_ == OwnerOf::kFloorThen && !owns_all()) {
    owner_ = OwnerOf::kFloorNow;
  } else if (asking_.mixes_freely() && owner_ != OwnerOf::kNoFloor && !covered_with(state_, claimant_).is_none()) {
    owner_ = OwnerOf::kNoFloor;
  } else {
    return false;
  }
  note(victims_of(state_, claimant_, owner_));
  return true;
}

QueueId Taking::would_be_covered() const {
  return asking_.covered_at(trial_.quotas(), asking_.asked(), trial_.quotas().end_of(claimant_.terms));
}

bool Taking::owns_all() const {
  const QueueId at = would_be_covered();
  return std::ranges::all_of(victims_, [&](const Victim& victim) { return is_an_owner(victim, at); });
}

// Rule 13, of those whom he takes by it.
bool Taking::is_an_owner(const Victim& victim, QueueId covered_at) const {
  return victim.rule != EvictionRule::kReclaim ||
         is_covered(trial_.quotas().tree(), covered_at, victim.claimants_side.queue);
}

// ---- a set of them, looked at by itself --------------------------------------------------------------------------------

std::optional<Start> Taking::fit_without(const Chosen& chosen) {
  trial_.rollback_to(begin_);
  if (floors_in_vain_ >= floors_in_vain_max()) return std::nullopt;
  for (const std::size_t each : chosen) {
    if (together_.goes_with_another(each, chosen)) continue;
    if (!still_takeable(state_, victims_[each])) return std::nullopt;
    take(victims_[each]);
  }
  return fit_as_they_are_gone(chosen);
}

// PRE: these are gone in the trial, and nobody else.
std::optional<Start> Taking::fit_as_they_are_gone(const Chosen& chosen) {
  const Trial::Mark mark = trial_.mark();
  auto start = fit_as_asked(chosen);
  if (start || !asking_.mixes_freely()) return start;
  trial_.rollback_to(mark);
  return fit_in_any_mixture(chosen);
}

std::optional<Start> Taking::fit_as_asked(const Chosen& chosen) {
  const AmountList asked = asking_.asked();
  if (!may_take_all(chosen, asked)) return std::nullopt;
  auto outcome = asking_.place(trial_, index_);
  Start* const start = std::get_if<Start>(&outcome);
  if (start == nullptr || !asking_.is_as_asked(trial_, *start, asked)) return std::nullopt;
  // What runs without GPUs may be counted there otherwise than was assumed, and then its share is another.
  const bool is_counted_otherwise = !asking_.is_repair() && asking_.held_by(*start) != asked;
  if (is_counted_otherwise && !may_take_all(chosen, asking_.held_by(*start))) return std::nullopt;
  return leaves_floors_whole(*start, chosen) ? std::optional(std::move(*start)) : std::nullopt;
}

// What it asks shows where it finds room. Where there is none in any, there is none in one.
std::optional<Start> Taking::fit_in_any_mixture(const Chosen& chosen) {
  const Trial::Mark mark = trial_.mark();
  auto anywhere = asking_.place_in(trial_, index_, nullptr);
  if (std::holds_alternative<Unfit>(anywhere)) return std::nullopt;
  if (auto start = if_it_may_be(std::move(anywhere), chosen)) return start;
  trial_.rollback_to(mark);
  const auto mixture = asking_.mixture_with_room(trial_);
  return mixture ? if_it_may_be(asking_.place_in(trial_, index_, &*mixture), chosen) : std::nullopt;
}

std::optional<Start> Taking::if_it_may_be(std::variant<Start, Unfit> outcome, const Chosen& chosen) {
  Start* const start = std::get_if<Start>(&outcome);
  if (start == nullptr || !may_take_all(chosen, asking_.held_by(*start))) return std::nullopt;
  return leaves_floors_whole(*start, chosen) ? std::optional(std::move(*start)) : std::nullopt;
}

// With so much it may take all of these, and its quotas let it in.
bool Taking::may_take_all(const Chosen& chosen, const AmountList& asked) {
  const Claimant asking{claimant_.workload, claimant_.queue, claimant_.terms, asked, claimant_.now};
  return shares_allow(state_, asking, all_of(chosen)) && !asking_.refusal(trial_.quotas(), asked) &&
         !takes_a_stronger_claim(chosen, asked);
}

bool Taking::leaves_floors_whole(Start& start, const Chosen& chosen) {
  if (asking_.leaves_floors_whole(trial_, start, gone_after(chosen))) return true;
  would_break_floors_ = true;
  ++floors_in_vain_;
  breaks_floors_on_.clear();
  for (const PodPlacement& each : start.pods) breaks_floors_on_.push_back(each.node);
  return false;
}

std::variant<Start, Unfit> Taking::place() {
  if (one_set_) return asking_.place_set(*one_set_, trial_, index_);
  auto outcome = asking_.place(trial_, index_);
  if (std::holds_alternative<Start>(outcome) || !asking_.mixes_freely()) return outcome;
  const Trial::Mark mark = trial_.mark();
  outcome = asking_.place_in(trial_, index_, nullptr);
  const Start* const start = std::get_if<Start>(&outcome);
  if (start == nullptr || !asking_.refusal(trial_.quotas(), asking_.held_by(*start))) return outcome;
  trial_.rollback_to(mark);
  const auto mixture = asking_.mixture_with_room(trial_);
  return mixture ? asking_.place_in(trial_, index_, &*mixture) : Unfit{1};
}

Chosen Taking::needed_of(const Chosen& chosen) {
  trial_.rollback_to(begin_);
  if (chosen.empty()) return chosen;
  std::vector<bool> needed(chosen.size(), true);
  if (std::ranges::all_of(chosen, [&](std::size_t each) { return takeable_whoever_went(state_, victims_[each]); })) {
    look_who_is_needed(chosen, 0, chosen.size(), needed);
    return only(chosen, needed);
  }
  for (std::size_t at = chosen.size(); at-- > 0;) {
    needed[at] = false;
    needed[at] = !fit_without(only(chosen, needed));
  }
  return only(chosen, needed);
}

// Of chosen[begin .. end), of some. PRE: all before them are gone, and of those behind them whoever is needed; so it is afterwards.
void Taking::look_who_is_needed(const Chosen& chosen, std::size_t begin, std::size_t end, std::vector<bool>& needed) {
  const Trial::Mark mark = trial_.mark();
  if (end - begin == 1) {
    needed[begin] = false;
    const Chosen others = only(chosen, needed);
    needed[begin] = floors_in_vain_ >= floors_in_vain_max() || !fit_as_they_are_gone(others);
    trial_.rollback_to(mark);
    return;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  for (std::size_t at = begin; at < middle; ++at) take(victims_[chosen[at]]);
  look_who_is_needed(chosen, middle, end, needed);
  trial_.rollback_to(mark);
  for (std::size_t at = middle; at < end; ++at) {
    if (needed[at]) take(victims_[chosen[at]]);
  }
  look_who_is_needed(chosen, begin, middle, needed);
  trial_.rollback_to(mark);
}

std::vector<const Victim*> Taking::all_of(const Chosen& chosen) const {
  std::vector<const Victim*> all;
  for (const std::size_t each : chosen) all.push_back(&victims_[each]);
  return all;
}

// Each time the whole fleet is looked at.
std::int64_t Taking::floors_in_vain_max() const {
  const auto looks = static_cast<std::int64_t>(1 + state_.nodes() + state_.pods().size());
  return std::max<std::int64_t>(64, 100'000 / looks);
}

// His run limit counts from when the last of them has stopped.
Time Taking::end_after(const Chosen& chosen) const { return enforced_end(claimant_.terms, gone_after(chosen)); }

Time Taking::gone_after(const Chosen& chosen) const {
  Time gone = claimant_.now;
  for (const std::size_t each : chosen) gone = std::max(gone, victims_[each].stop_by);
  return gone;
}

// Of the floor that these leave another's unit may take what the claimant had counted on, or the floor may fall before its
// end. He reclaims only as the owner that he is then, and takes nothing that is held more strongly than what he would have:
// coverage stands before priority (rule 21).
bool Taking::takes_a_stronger_claim(const Chosen& chosen, const AmountList& asked) {
  const QuotaLedger& quotas = trial_.quotas();
  const QueueId at_once = asking_.covered_at(quotas, asked, quotas.end_of(claimant_.terms));
  const QueueId then = asking_.covered_at(quotas, asked, end_after(chosen));
  some_protected_ = some_protected_ || then != at_once;
  const std::int32_t own = coverage_of(quotas.tree(), then);
  if (claimant_.terms.guaranteed_only && own == 0) return true;
  return std::any_of(chosen.begin(), chosen.end(), [&](std::size_t each) {
    const Victim& victim = victims_[each];
    return victim.claim.coverage > own || !is_an_owner(victim, then);
  });
}

ClaimCost Taking::cost_of(const Chosen& chosen) const {
  ClaimCost cost;
  for (const std::size_t each : chosen) {
    cost.highest_claim = std::max(cost.highest_claim, claims_[each]);
    cost.count += static_cast<int>(stopped_with(each));
  }
  cost.lost_gpu_s = lost_by(chosen);
  return cost;
}

bool Taking::is_among(WorkloadId id, const Chosen& chosen) const {
  return std::ranges::any_of(chosen, [&](std::size_t each) { return victims_[each].workload == id; });
}

// ---- who is taken, one after the other ---------------------------------------------------------------------------------

void Taking::take(const Victim& victim) { take_out(state_, trial_, victim.workload, Emptied::kCountsAsScrubbed); }

bool Taking::take_if_allowed(std::size_t each) {
  if (!may_be_taken(each)) return false;
  take(victims_[each]);
  taken_[each] = true;
  if (victims_[each].rule == EvictionRule::kFairShare) taken_by_share_.push_back(&victims_[each]);
  return true;
}

bool Taking::take_all(const Chosen& victims) {
  const Trial::Mark mark = trial_.mark();
  const std::size_t by_share = taken_by_share_.size();
  for (std::size_t i = 0; i < victims.size(); ++i) {
    if (is_gone(victims[i]) || take_if_allowed(victims[i])) continue;
    trial_.rollback_to(mark);
    taken_by_share_.resize(by_share);
    while (i > 0) taken_[victims[--i]] = false;
    return false;
  }
  return true;
}

bool Taking::is_gone(std::size_t each) const {
  if (taken_[each] || !together_.is_step(each)) return taken_[each];
  for (std::size_t other = 0; other < victims_.size(); ++other) {
    if (taken_[other] && victims_[other].workload == together_.minimum(each)) return true;
  }
  return false;
}

Chosen Taking::all_taken() const {
  Chosen chosen;
  for (std::size_t each = 0; each < victims_.size(); ++each) {
    if (taken_[each]) chosen.push_back(each);
  }
  return chosen;
}

Wide Taking::lost_besides(const Chosen& victims) const {
  if (!together_.some_elastic()) return lost_by(victims);
  Chosen all = all_taken();
  const Wide before = lost_by(all);
  all.insert(all.end(), victims.begin(), victims.end());
  return lost_by(all) - before;
}

void Taking::rollback_to(Taken before) {
  trial_.rollback_to(before.mark);
  taken_ = std::move(before.victims);
  taken_by_share_.resize(before.by_share);
}

}  // namespace berth
