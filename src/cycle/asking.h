// What a claimant asks to be placed: all pods of a workload that waits, in one way of its shape; or those that a gang has lost, or
// all of it where it moves whole: it holds its quota already, so that no gate is asked (docs/semantics.md, rules 19 and 23).
#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "cycle/mixtures.h"
#include "fairness/gates.h"
#include "fairness/rights.h"
#include "model/plan.h"
#include "placement/place.h"
#include "placement/score_index.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// A start in which the pods of a repair are those that the gang lacks.
class Asking {
 public:
  Asking(const State& state, const Claimant& claimant, std::size_t way);

  const std::vector<NumberedPodSet>& sets() const { return sets_; }
  // Whether some of its pods are to be of another flavor than the first that is left open; then how many of which.
  bool mixes() const { return mixes_; }
  const Mixture& mixture() const { return mixture_; }
  // Whether it may also be in another mixture than quotas have it.
  bool mixes_freely() const { return mixes_freely_; }
  // It has its quota already, and lacks places.
  bool is_repair() const { return holds_its_quota(state_, claimant_); }
  // What it asks as things are in the trial. PRE: that is on the state's own ledgers.
  AmountList asked() const;
  // What it holds there.
  AmountList held_by(const Start& start) const { return amounts_held(state_, shape_, start); }
  std::optional<QuotaRefusal> refusal(const QuotaLedger& quotas, const AmountList& asked) const;
  // In the mixture that it asks; the moves stay in the trial, or there are none.
  std::variant<Start, Unfit> place(Trial& trial, ScoreIndex& index) const;
  // In this, or in any.
  std::variant<Start, Unfit> place_in(Trial& trial, ScoreIndex& index, const Mixture* mixture) const;
  std::vector<std::int64_t> most_by_flavor() const {
    return berth::most_by_flavor(state_, claimant_.queue, shape_, way_);
  }
  // Where there is room and quotas allow it; PRE as of asked().
  std::optional<Mixture> mixture_with_room(const Trial& trial) const {
    return berth::mixture_with_room(state_, trial, claimant_.queue, shape_, way_);
  }
  // Several, each of which can be looked at by itself.
  bool has_sets_apart() const { return sets_.size() > 1 && !mixes_; }
  // The first of them that asks the same, of the flavor to which it has a right and beside the same pods: most often itself.
  std::size_t first_alike(std::size_t set) const;
  // One of them alone, in that flavor.
  std::variant<Start, Unfit> place_set(std::size_t set, Trial& trial, ScoreIndex& index) const;
  // Whether it holds there what it asked for, or what it may hold as well. PRE: place() has moved it there.
  bool is_as_asked(Trial& trial, const Start& start, const AmountList& asked) const;
  // `gone`: when the last of those has left who go for it.
  bool leaves_floors_whole(Trial& trial, Start& start, Time gone) const;
  // Where it would be covered if it came now and stayed until then.
  QueueId covered_at(const QuotaLedger& quotas, const AmountList& asked, Time end) const;

 private:
  // Beside those who are left.
  bool replaces() const { return is_repair() && !claimant_.moves_whole; }
  UnitId unit() const { return state_.workload(claimant_.workload).unit; }

  const State& state_;
  const Claimant& claimant_;
  std::size_t way_;
  const Shape& shape_;
  Mixture mixture_;  // nothing for a set that leaves no flavor open, and of a repair
  bool mixes_ = false;
  bool mixes_freely_ = false;
  std::vector<NumberedPodSet> sets_;
};

// What a gang will hold with these in the place of those that it has lost.
AmountList held_when_repaired(const State& state, WorkloadId gang, const std::vector<PodPlacement>& places);

}  // namespace berth
