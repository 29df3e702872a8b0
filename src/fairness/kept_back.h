// Who stands behind whom in a strict line (docs/semantics.md, "fifo"): whoever does not fit lets nobody pass who would take
// what he waits for.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "model/amount.h"
#include "model/flavor.h"
#include "model/quota.h"
#include "model/reason.h"
#include "state/state.h"

namespace berth {

// Refused by it somebody waits for nothing that those behind him in a line would take from him: he insists on his terms, or
// lacks hours, which waiting does not bring back.
constexpr bool holds_up_nobody(ReasonCode code) {
  return code == ReasonCode::kQuotaFloor || code == ReasonCode::kCalendar || code == ReasonCode::kBudget ||
         code == ReasonCode::kCooldown;
}

// Refused by it somebody waits for room: others have it, or were promised it, or keep it for themselves, or he may not take it yet.
constexpr bool waits_for_room(ReasonCode code) {
  return code == ReasonCode::kNone || code == ReasonCode::kReserved || code == ReasonCode::kLendingLimit ||
         code == ReasonCode::kVictimsProtected || code == ReasonCode::kPatience;
}

// Of a line with backfill: who of it has a promise, and whom that lets pass. To be asked about everybody who does not fit, in
// their order.
class PromisedInLine {
 public:
  explicit PromisedInLine(Backfill backfill) : backfill_(backfill) {}

  // Everybody who waits for room is promised some, not only the first who could use a flavor.
  bool is_for_all() const { return backfill_ == Backfill::kConservative; }

  // Whether nothing needs to be kept back for somebody who waits for room: there is a shadow that sees to it, his or that of
  // somebody ahead who could use the same.
  bool lets_pass(ReasonCode gate, FlavorSet flavors, bool has_shadow) {
    if (has_shadow) flavors_ = flavors_.united_with(flavors);
    return has_shadow || (backfill_ != Backfill::kNone && waits_for_room(gate) && flavors_.meets(flavors));
  }
  // Whether he is one of those who are promised room, if there is any to be promised.
  bool wants_promise(ReasonCode gate, FlavorSet flavors) const {
    if (backfill_ == Backfill::kNone || !waits_for_room(gate)) return false;
    return backfill_ == Backfill::kConservative || !flavors_.meets(flavors);
  }

 private:
  Backfill backfill_;
  FlavorSet flavors_;  // that those could use who have a shadow
};

// What those of a line wait for who do not fit, and nobody behind them gets.
class KeptBack {
 public:
  // Room: all who could use one of these flavors.
  void keep_room(FlavorSet flavors) { room_ = room_.united_with(flavors); }
  // What a bound leaves of one resource: all who ask of it and could use one of its flavors; of a profile all who ask its slices.
  void keep(Dim dim) {
    if (dim.is_of_slices()) return slices_.push_back(dim);
    FlavorSet& kept = of_[static_cast<std::size_t>(dim.resource())];
    kept = kept.united_with(dim.flavor().is_none() ? FlavorSet::all() : FlavorSet::of(dim.flavor()));
  }

  // From everybody, whatever he asks. `known`: the flavors that there are.
  bool is_everything(FlavorSet known) const { return room_.contains_all(known) && !room_.empty(); }
  bool is_wanted_by(const State& state, QueueId line, const Shape& shape) const;

 private:
  FlavorSet room_;
  std::array<FlavorSet, kResources> of_{};
  std::vector<Dim> slices_;
};

// Whether a budget has too little left for it now: it waits for hours, whatever else was in its way when it was tried.
bool lacks_hours(const State& state, QueueId line, const Shape& shape);

// Adds what somebody of this line and shape waits for whom `gate` refused (none: he lacks room). What he may not have of
// what one user may is kept from that user's own work alone. Quotas are asked as they are now: others may have taken, or left, since it was
// tried. Nothing is kept where nobody else's work has to end for him: he
// insists on his terms, or asks more than a bound allows or owners lend in the first place.
void keep_back(const State& state, QueueId line, const Shape& shape, ReasonCode gate, KeptBack& from_all,
               KeptBack& from_his_user);

// Whether somebody known not to fit holds up one who stands behind him in the same strict line. PRE: nothing lets that one pass.
bool holds_up(const State& state, QueueId line, const ShapeInLine& ahead, const Shape& behind);

}  // namespace berth
