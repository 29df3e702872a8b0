// Whom a claimant may take, in a trial: who of them is gone, what that costs, and whether the claimant fits then.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/wide.h"
#include "cycle/asking.h"
#include "cycle/taken_together.h"
#include "fairness/gates.h"
#include "fairness/rights.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// Sets compare by it.
struct ClaimCost {
  std::size_t highest_claim = 0;  // as a number: equal claims have the same
  Wide lost_gpu_s = 0;
  int count = 0;
  std::uint32_t set = 0;  // among equals

  friend std::strong_ordering operator<=>(const ClaimCost& a, const ClaimCost& b) {
    if (const auto order = a.highest_claim <=> b.highest_claim; order != 0) return order;
    if (a.lost_gpu_s != b.lost_gpu_s) {
      return a.lost_gpu_s < b.lost_gpu_s ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    if (const auto order = a.count <=> b.count; order != 0) return order;
    return a.set <=> b.set;
  }
};

class Taking {
 public:
  Taking(const State& state, Trial& trial, ScoreIndex& index, const Claimant& claimant, std::size_t way);

  const State& state() const { return state_; }
  Trial& trial() { return trial_; }
  const Trial& trial() const { return trial_; }
  const Asking& asking() const { return asking_; }
  const std::vector<Victim>& victims() const { return victims_; }
  const Victim& victim(std::size_t each) const { return victims_[each]; }
  // Equal claims have the same number, higher ones a larger.
  std::size_t claim(std::size_t each) const { return claims_[each]; }

  // Nobody is taken.
  void begin_again();
  // When all came to nothing: whom he could have reclaimed once others had gone he may take as a borrower, without them; and so whom he
  // could have reclaimed in a mixture of flavors inside floors he may take in another. They take the place of the victims; false: there
  // are no others.
  bool have_other_rights_now();

  // ---- what he asks: all his pod sets, or one of them -----------------------------------------------------------------

  void ask_for_all() { one_set_.reset(); }
  void ask_for(std::size_t set) { one_set_ = set; }
  std::span<const NumberedPodSet> asked_sets() const {
    const std::span<const NumberedPodSet> all(asking_.sets());
    return one_set_ ? all.subspan(*one_set_, 1) : all;
  }
  std::optional<QuotaRefusal> refusal() const { return asking_.refusal(trial_.quotas(), asking_.asked()); }
  // The moves stay in the trial.
  std::variant<Start, Unfit> place();
  QueueId would_be_covered() const;
  // Whether all whom he takes by rule 13 are his by what he would be covered by as things are in the trial.
  bool owns_all() const;

  // ---- a set of them, looked at by itself -----------------------------------------------------------------------------

  // His places with these gone, which then stay in the trial; none if one of them may not be taken any more by then, or if he does
  // not fit.
  std::optional<Start> fit_without(const Chosen& chosen);
  // From the last on, each is put back if he fits all the same without those who are left then. Where it is the same who goes first,
  // halves are looked at while the others are gone, so each is taken once for each halving and not once for each of the others.
  // PRE: he fits without all of them.
  Chosen needed_of(const Chosen& chosen);
  ClaimCost cost_of(const Chosen& chosen) const;
  Wide lost_by(const Chosen& chosen) const { return together_.lost_by(chosen); }
  std::int64_t stopped_with(std::size_t victim) const { return together_.stopped_with(victim); }
  bool says_it_twice(const Chosen& chosen) const { return together_.says_it_twice(chosen); }
  bool is_among(WorkloadId id, const Chosen& chosen) const;
  // A step of one who is among these.
  bool is_step_of(const Chosen& chosen, std::size_t victim) const {
    return together_.is_step(victim) && is_among(together_.minimum(victim), chosen);
  }

  // ---- who is taken, one after the other ------------------------------------------------------------------------------

  bool may_be_taken(std::size_t each) const {
    return !is_gone(each) && still_takeable(state_, victims_[each]) &&
           shares_allow(state_, claimant_, taken_by_share_, victims_[each]);
  }
  bool take_if_allowed(std::size_t each);
  // All of them, or none if one may not be taken any more by then.
  bool take_all(const Chosen& victims);
  // Taken, or with the workload of which it is a step.
  bool is_gone(std::size_t each) const;
  Chosen all_taken() const;
  // What of it would be lost beside what all lose who are taken.
  Wide lost_besides(const Chosen& victims) const;
  struct Taken {
    Trial::Mark mark;
    std::vector<bool> victims;
    std::size_t by_share = 0;
  };
  Taken mark() const { return {trial_.mark(), taken_, taken_by_share_.size()}; }
  void rollback_to(Taken before);
  bool was_taken(const Taken& before, std::size_t each) const { return before.victims[each]; }

  // ---- why nobody fits ------------------------------------------------------------------------------------------------

  bool some_protected() const { return some_protected_; }
  bool some_budget() const { return some_budget_; }  // lets some of them go, and not all at a time
  bool would_break_floors() const { return would_break_floors_; }
  // Where he was placed last and was in the way of floors.
  const std::vector<NodeId>& breaks_floors_on() const { return breaks_floors_on_; }
  void forget_broken_floors() { breaks_floors_on_.clear(); }
  // Floors are looked at so many times in vain, and then no more; they are counted anew.
  void look_anew() { floors_in_vain_ = 0; }

 private:
  void note(Victims victims);
  void number_claims();
  void look_who_is_his_without_own();
  void take(const Victim& victim);
  void forget_taken();
  std::optional<Start> fit_as_they_are_gone(const Chosen& chosen);
  std::optional<Start> fit_as_asked(const Chosen& chosen);
  std::optional<Start> fit_in_any_mixture(const Chosen& chosen);
  std::optional<Start> if_it_may_be(std::variant<Start, Unfit> outcome, const Chosen& chosen);
  bool may_take_all(const Chosen& chosen, const AmountList& asked);
  bool leaves_floors_whole(Start& start, const Chosen& chosen);
  void look_who_is_needed(const Chosen& chosen, std::size_t begin, std::size_t end, std::vector<bool>& needed);
  std::vector<const Victim*> all_of(const Chosen& chosen) const;
  std::int64_t floors_in_vain_max() const;
  Time end_after(const Chosen& chosen) const;
  Time gone_after(const Chosen& chosen) const;
  bool takes_a_stronger_claim(const Chosen& chosen, const AmountList& asked);
  bool is_an_owner(const Victim& victim, QueueId covered_at) const;

  const State& state_;
  Trial& trial_;
  ScoreIndex& index_;
  const Claimant& claimant_;
  Asking asking_;
  OwnerOf owner_ = OwnerOf::kFloorThen;
  Trial::Mark begin_;
  // The one that is looked at alone; none: all of them.
  std::optional<std::size_t> one_set_;
  std::vector<Victim> victims_;      // by claim: so are those that are chosen of them
  std::vector<std::size_t> claims_;  // of each victim: as a number
  TakenTogether together_;           // the victims
  std::vector<bool> taken_;
  std::vector<const Victim*> taken_by_share_;  // of them, as they were taken
  bool some_budget_ = false;
  bool some_protected_ = false;
  bool would_break_floors_ = false;
  std::int64_t floors_in_vain_ = 0;
  std::vector<NodeId> breaks_floors_on_;
};

}  // namespace berth
