#include "cycle/attempt.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cycle/deciding.h"
#include "cycle/deliverable.h"
#include "cycle/feasibility.h"
#include "cycle/for_each_place.h"
#include "cycle/left_alone.h"
#include "cycle/mixtures.h"
#include "cycle/moving.h"
#include "cycle/patience.h"
#include "cycle/recutting.h"
#include "cycle/spares.h"
#include "cycle/taken_together.h"
#include "cycle/taking_out.h"
#include "fairness/gates.h"
#include "placement/place.h"

namespace berth {
namespace {

// One workload on its way through the gates: quotas, room, and the room of others.
class Attempt {
 public:
  // PRE: the trial keeps what `heeding` says from it.
  Attempt(OneCycle& cycle, WorkloadId candidate, RefusedRequests& refused, Heeding heeding = Heeding::kAll)
      : cycle_(cycle),
        heeding_(heeding),
        state_(cycle.engine.state),
        id_(candidate),
        queue_(state_.workload(candidate).queue),
        shape_(state_.shape(state_.workload(candidate).shape)),
        refused_(refused),
        terms_(shape_.terms),
        // A stream per workload: what one draws does not depend on who was tried before it.
        rng_(state_.seed(), candidate.value()),
        repack_attempts_(
            std::clamp<std::int64_t>(cycle.effort.attempts_max - cycle.plan.attempts, 0, kRepackAttempts)) {}

  // As in the next cycle it would: by no claim to what others have.
  std::optional<Start> wait_anew() {
    ++cycle_.plan.attempts;
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      if (auto start = in_free_room(way, asked_by(state_, queue_, shape_, way), false)) return start;
    }
    return std::nullopt;
  }

  // One more pod beside those that an elastic workload has: in free room, and for it nobody goes.
  std::optional<Start> grow(const Growing& growing) {
    growing_ = &growing;
    // It ends when the others do.
    if (const Time end = state_.end_of(id_, cycle_.plan.now); end != kForever) terms_.run_limit = end - cycle_.plan.now;
    ++cycle_.plan.attempts;
    const AmountList asked = asked_by(state_, queue_, shape_, *growing.way);
    if (budget_refusal(state_.quotas(), queue_, terms_, asked)) return std::nullopt;
    const Trial::Mark mark = cycle_.trial.mark();
    auto start = in_free_room(*growing.way, asked, false);
    if (start && !cycle_.vacating.holds_up(state_, *start)) return start;
    cycle_.trial.rollback_to(mark);
    return std::nullopt;
  }

  bool would_break_floors() const { return would_break_floors_; }

  std::variant<Claimed, Refused> make() {
    if (contradicts_itself(terms_) || shares_against_its_terms(state_, shape_)) return Refused{};
    const bool no_room = refused_.covers(state_, shape_);
    if (!no_room) ++cycle_.plan.attempts;
    if (state_.quotas().budgets().has_any()) {
      const auto refusal = budget_refusal(state_, queue_, shape_, terms_);
      if (refusal) return beyond_the_budget(refusal->queue, no_room);
    }
    // Inside its floor it takes back what it prefers before it falls back on something else, another mixture of flavors too; outside it
    // rather falls back.
    only_inside_ = true;
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      const AmountList asked = asked_by(state_, queue_, shape_, way);
      if (auto start = in_free_room(way, asked, no_room)) return Claimed{.start = std::move(*start), .evictions = {}};
      if (auto start = on_spares(way, asked)) return Claimed{.start = std::move(*start), .evictions = {}};
      if (would_be_covered_at(asked).is_none()) continue;
      if (auto claimed = in_others_room(way, asked)) return std::move(*claimed);
    }
    only_inside_ = false;
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      const AmountList asked = asked_by(state_, queue_, shape_, way);
      if (is_inside_a_floor_in_its_mixture(way, asked)) {
        if (auto start = in_free_room(way, asked, no_room)) return Claimed{.start = std::move(*start), .evictions = {}};
        if (auto start = on_spares(way, asked)) return Claimed{.start = std::move(*start), .evictions = {}};
      }
      const bool mixes_freely = leaves_flavors_open(state_, shape_.ways[way]);
      if (!mixes_freely && !would_be_covered_at(asked).is_none()) continue;
      if (auto claimed = in_others_room(way, asked, mixes_freely)) return std::move(*claimed);
    }
    if (auto own = in_own_room()) return Claimed{.start = std::move(*own), .evictions = {}};
    return why_not();
  }

 private:
  // Where it was promised room, though other places would have been looked for now.
  std::optional<Start> in_own_room() {
    const Trial::Mark mark = cycle_.trial.mark();
    auto start = cycle_.shadows.own_room(id_);
    if (start && passes_all(*start)) return start;
    cycle_.trial.rollback_to(mark);
    return std::nullopt;
  }

  std::optional<Start> in_free_room(std::size_t way, const AmountList& asked, bool no_room) {
    const Trial::Mark mark = cycle_.trial.mark();
    auto start = in_any_free_room(way, asked, no_room);
    if (start && would_rather_wait(way, *start, mark)) return std::nullopt;
    if (!start || is_let(*start)) return start;
    cycle_.trial.rollback_to(mark);
    if (auto beside = in_room_not_promised(way, asked)) return beside;
    return on_loan(way, asked);
  }

  // A GPU would be cut anew for it, and what it asks comes free by itself before that would be over.
  bool would_rather_wait(std::size_t way, const Start& start, Trial::Mark before) {
    if (growing_ != nullptr || longest_cut(state_, start) == Duration{0}) return false;
    cycle_.trial.rollback_to(before);
    rather_waits_ = rather_waits_ || comes_free_before_a_cut(cycle_, way, start);
    if (rather_waits_) return true;
    for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
      cycle_.trial.apply(move_of(request, place));
    });
    return false;
  }

  // In room that is promised to others, who start later than it is foretold to end.
  std::optional<Start> on_loan(std::size_t way, const AmountList& asked) {
    const auto run = state_.foretold_run(id_);
    if (!run || cycle_.shadows.none()) return std::nullopt;
    const Trial::Mark mark = cycle_.trial.mark();
    ++cycle_.plan.attempts;
    auto start = in_any_free_room(way, asked, false);
    if (start && !cycle_.vacating.holds_up(state_, *start) && leaves_reserved_alone(*start, cycle_.plan.now) &&
        cycle_.shadows.lend(*start, cycle_.plan.now + *run)) {
      return start;
    }
    cycle_.trial.rollback_to(mark);
    return std::nullopt;
  }

  // Where other free room will not do, and it is for whom spares are. What is missing there is missing in all.
  std::optional<Start> on_spares(std::size_t way, const AmountList& asked) {
    if (!terms_.replaces) return std::nullopt;
    const std::size_t before = std::exchange(ways_without_room_, shape_.ways.size());
    auto start = find_on_fewest_spares(
        state_, cycle_.trial, [&] { return in_any_free_room(way, asked, false); },
        [](const Start& found) -> const auto& { return found.pods; });
    ways_without_room_ = before;
    if (!start) return std::nullopt;
    const Trial::Mark mark = cycle_.trial.mark();
    for_each_place(state_, *start, [&](const PodRequest& request, const PodPlacement& place) {
      cycle_.trial.apply(move_of(request, place));
    });
    if (is_let(*start)) return start;
    cycle_.trial.rollback_to(mark);
    return std::nullopt;
  }

  // Nobody is ahead of it whom it would delay, and nothing of it is reserved for others.
  bool is_let(Start& start) { return is_let(start, cycle_.plan.now); }
  bool is_let(Start& start, Time gone) {
    if (cycle_.shadows.none() && cycle_.reserved.none() && !terms_.hours) return true;
    start.waits = cycle_.vacating.holds_up(state_, start);
    const bool is_in_time = begins_in_its_hours(start, gone);
    const bool let = cycle_.shadows.none() || cycle_.shadows.let(start, cycle_.reserved.begins_by(start, gone));
    const bool is_free = leaves_reserved_alone(start, gone);
    start.waits = false;
    if (!is_in_time) return false;
    promised_ = promised_ || !let || !is_free;
    is_cut_too_late_ = is_cut_too_late_ || (!is_free && cut_before(state_, start) > Duration{0});
    // Beside domains that others are to have for themselves there may be room.
    may_claim_beside_ = may_claim_beside_ || (!let && !cycle_.shadows.nodes_kept_from(id_).empty());
    return let && is_free;
  }

  // Those of now, and so that its run limit ends it before they are over: though it begins later than it has its room.
  bool begins_in_its_hours(const Start& start, Time gone) const {
    if (!terms_.hours) return true;
    const Time begins = cycle_.reserved.begins_by(start, gone);
    return state_.hours_from(terms_, begins) <= begins;
  }

  // What is reserved beyond a floor gives way to a guaranteed claim, and to no other.
  bool leaves_reserved_alone(const Start& start, Time gone) const {
    if (heeding_ == Heeding::kAll || heeding_ == Heeding::kNone) return cycle_.reserved.lets(start, gone, heeding_);
    const QueueId covered_at = start.best_effort ? QueueId() : would_be_covered_at(held_by(start));
    return cycle_.reserved.lets(start, gone, heeding_, covered_at);
  }

  // By then the last of those has left who go for it, and those who are moved leave alone what is reserved and promised, too.
  bool is_let(Claimed& claimed) {
    Time gone = cycle_.plan.now;
    for (const Eviction& each : claimed.evictions) gone = std::max(gone, each.stop_by);
    for (const Migration& each : claimed.migrations) gone = std::max(gone, each.stop_by);
    return is_let(claimed.start, gone) && std::ranges::all_of(claimed.migrations, [&](const Migration& each) {
             const bool let = cycle_.shadows.none() || cycle_.shadows.let_moved(each.start, id_, each.stop_by);
             promised_ = promised_ || !let;
             return let && cycle_.reserved.lets(each.start, each.stop_by);
           });
  }

  // What is promised to those ahead is left out from the beginning.
  std::optional<Start> in_room_not_promised(std::size_t way, const AmountList& asked) {
    ++cycle_.plan.attempts;
    if (is_inside_a_floor_in_its_mixture(way, asked)) {
      const Mixture inside = mixture(way);
      if (auto start = beside_promises(way, &inside)) return start;
      if (only_inside_) return std::nullopt;
    }
    if (auto start = beside_promises(way, nullptr)) return start;
    const Trial::Mark mark = cycle_.trial.mark();
    cycle_.shadows.hold(id_);
    const auto with_room = mixture_with_room(state_, cycle_.trial, queue_, shape_, way);
    cycle_.trial.rollback_to(mark);
    return with_room ? beside_promises(way, &*with_room) : std::nullopt;
  }
  std::optional<Start> beside_promises(std::size_t way, const Mixture* mixture) {
    const Trial::Mark mark = cycle_.trial.mark();
    const std::vector<Move> held = cycle_.shadows.hold(id_);
    auto outcome = find_places(way, mixture);
    if (Start* const start = std::get_if<Start>(&outcome)) {
      cycle_.shadows.give_back(held);
      if (passes_all(*start)) return std::move(*start);
    }
    cycle_.trial.rollback_to(mark);
    return std::nullopt;
  }

  bool passes_all(Start& start) {
    const bool passes = !quota_refusal(state_.quotas(), queue_, shape_.user, terms_, held_by(start));
    return passes && leaves_floors_whole(start) && is_let(start);
  }

  std::optional<Start> in_any_free_room(std::size_t way, const AmountList& asked, bool no_room) {
    if (const auto refusal = quota_refusal(state_.quotas(), queue_, shape_.user, terms_, asked)) {
      if (gate_ == ReasonCode::kNone) gate_ = code_of(*refusal, shape_);
      return std::nullopt;
    }
    // Inside a floor in that mixture of flavors, it might borrow in another.
    if (!no_room && is_inside_a_floor_in_its_mixture(way, asked)) {
      if (auto start = in_mixture(way, mixture(way))) return start;
      if (only_inside_) return std::nullopt;
    }
    const Trial::Mark mark = cycle_.trial.mark();
    auto start = place(way, no_room);
    if (!start) return std::nullopt;
    // Where the flavor was left open, only now it is known what it would hold.
    const auto refusal = quota_refusal(state_.quotas(), queue_, shape_.user, terms_, held_by(*start));
    if (!refusal && leaves_floors_whole(*start)) return start;
    cycle_.trial.rollback_to(mark);
    std::optional<Unfit> unfit;
    if (auto as_asked = in_mixture(way, mixture(way), &unfit)) return as_asked;
    if (const auto with_room = mixture_with_room(state_, cycle_.trial, queue_, shape_, way)) {
      if (auto instead = in_mixture(way, *with_room)) return instead;
    }
    if (!refusal) return std::nullopt;
    if (unfit && may_mix(state_, shape_.ways[way])) {
      // Quotas allow one mixture: there its room is missing. They may allow another one day.
      some_mixture_refused_ = true;
      unfit_ = Unfit{std::min(unfit->missing, unfit_ ? unfit_->missing : INT64_MAX)};
    } else if (gate_ == ReasonCode::kNone) {
      gate_ = code_of(*refusal, shape_);
    }
    return std::nullopt;
  }

  Mixture mixture(std::size_t way) const { return mixture_of(state_, queue_, shape_, way); }
  bool is_inside_a_floor_in_its_mixture(std::size_t way, const AmountList& asked) const {
    return may_mix(state_, shape_.ways[way]) && !would_be_covered_at(asked).is_none();
  }

  bool leaves_floors_whole(Start& start) {
    if (leaves_floors_whole_at_best(state_, cycle_.trial, start, gone_for(start))) return true;
    would_break_floors_ = true;
    return false;
  }

  // When all have left who are in its way, where it matters to others' floors how late it ends.
  Time gone_for(const Start& start) const {
    if (!terms_.run_limit || state_.quotas().rises().empty()) return cycle_.plan.now;
    Start there = start;
    there.waits = cycle_.vacating.holds_up(state_, start);
    return gone_by(cycle_, there);
  }

  // Of the flavors of which it is known that quotas allow them.
  std::optional<Start> in_mixture(std::size_t way, const Mixture& mixture, std::optional<Unfit>* unfit = nullptr) {
    const Trial::Mark mark = cycle_.trial.mark();
    auto outcome = find_places(way, &mixture);
    Start* const start = std::get_if<Start>(&outcome);
    if (start == nullptr) {
      if (unfit != nullptr) *unfit = std::get<Unfit>(outcome);
      return std::nullopt;
    }
    const bool passes = !quota_refusal(state_.quotas(), queue_, shape_.user, terms_, held_by(*start));
    if (passes && leaves_floors_whole(*start)) return std::move(*start);
    cycle_.trial.rollback_to(mark);
    return std::nullopt;
  }

  // What is to be spread evenly over all of its flavors may be even over the domains of one.
  bool counts_fewer_domains_in_one_flavor(std::size_t way) const {
    return std::ranges::any_of(shape_.ways[way], [&](const NumberedPodSet& set) {
      return set.in_first_flavor != set.request && state_.topologies()[set.topology].spread == Spreading::kEven;
    });
  }

  std::variant<Start, Unfit> find_places(std::size_t way, const Mixture* mixture = nullptr) {
    if (growing_ == nullptr) return place_in_way(state_, cycle_.trial, cycle_.engine.index, id_, way, rng_, mixture);
    auto start = place_step(state_, cycle_.trial, cycle_.engine.index, *growing_, id_, rng_, mixture);
    if (!start) return Unfit{};
    return std::move(*start);
  }

  std::optional<Start> place(std::size_t way, bool no_room) {
    if (no_room) {
      unfit_ = Unfit{1};
      return std::nullopt;
    }
    auto outcome = find_places(way);
    if (std::holds_alternative<Unfit>(outcome) && counts_fewer_domains_in_one_flavor(way)) {
      const Mixture asked = mixture(way);
      auto in_first = find_places(way, &asked);
      if (std::holds_alternative<Start>(in_first)) outcome = std::move(in_first);
    }
    if (const Unfit* const unfit = std::get_if<Unfit>(&outcome)) {
      unfit_ = Unfit{std::min(unfit->missing, unfit_ ? unfit_->missing : INT64_MAX)};
      // Where something is kept from it, others may have more room.
      const bool of_all = cycle_.trial.kept().empty();
      if (++ways_without_room_ == shape_.ways.size() && of_all) refused_.add(state_, shape_);
      return std::nullopt;
    }
    return std::move(std::get<Start>(outcome));
  }

  // It takes nothing from others. Where the queue whose budget it is says so, it runs in free room as best effort.
  std::variant<Claimed, Refused> beyond_the_budget(QueueId refusing, bool no_room) {
    gate_ = ReasonCode::kBudget;
    const bool best_effort = state_.queues()[refusing.index()].quota.budget_end == BudgetEnd::kBestEffort;
    for (std::size_t way = 0; best_effort && !shape_.terms.guaranteed_only && way < shape_.ways.size(); ++way) {
      const Trial::Mark mark = cycle_.trial.mark();
      auto start = place(way, no_room);
      if (!start) continue;
      start->best_effort = true;
      if (!is_let(*start)) {
        cycle_.trial.rollback_to(mark);
        continue;
      }
      return Claimed{.start = std::move(*start), .evictions = {}};
    }
    return why_not();
  }

  std::optional<Claimed> in_others_room(std::size_t way, const AmountList& asked, bool mixes_freely = false) {
    // Whoever goes, it would not pass that; and nobody goes for hours.
    if (rather_waits_ || patient_ || is_above_bounds_alone(state_.quotas(), queue_, asked)) return std::nullopt;
    if (budget_refusal(state_.quotas(), queue_, terms_, asked)) return std::nullopt;
    const Claimant claimant{.workload = id_,
                            .queue = queue_,
                            .terms = shape_.terms,
                            .asked = asked,
                            .now = cycle_.plan.now,
                            .mixes_freely = mixes_freely};
    const Trial::Mark mark = cycle_.trial.mark();
    auto claimed = by_moving_or_taking(claimant, way);
    if (claimed && !is_let(*claimed)) {
      cycle_.trial.rollback_to(mark);
      may_claim_beside_ = may_claim_beside_ || !cycle_.shadows.none();
      if (claimed->migrations.empty() || std::exchange(repack_attempts_, 0) == 0) return std::nullopt;
      // The first plan of moves may leave alone what a better one does not.
      return in_others_room(way, asked, mixes_freely);
    }
    const Time until = state_.workload(id_).submitted + state_.queues()[queue_.index()].quota.patience;
    if (!claimed || cycle_.plan.now >= until) return claimed;
    const bool all_may_end =
        std::ranges::all_of(claimed->evictions,
                            [&](const Eviction& each) { return may_end_by(state_, each.workload, until); }) &&
        std::ranges::all_of(claimed->migrations,
                            [&](const Migration& each) { return may_end_by(state_, each.start.workload, until); });
    cycle_.trial.rollback_to(mark);
    if (all_may_end || may_fit_by(state_, cycle_.trial, cycle_.engine.index, id_, cycle_.plan.evictions, until)) {
      patient_ = true;
      return std::nullopt;
    }
    // Waiting would spare nobody. The same again, and this time it stays.
    return by_moving_or_taking(claimant, way);
  }

  // Where both would do, by which less work is lost; if it is the same, nobody loses his room.
  std::optional<Claimed> by_moving_or_taking(const Claimant& claimant, std::size_t way) {
    const Trial::Mark mark = cycle_.trial.mark();
    const auto moved = by_moving(claimant, way);
    if (moved) cycle_.trial.rollback_to(mark);
    auto taken = by_taking(claimant, way);
    if (!moved) return taken;
    if (taken) {
      if (lost_by(state_, taken->evictions) < lost_gpu_s(moved->migrations)) return taken;
      cycle_.trial.rollback_to(mark);
    }
    return by_moving(claimant, way);  // the same again, and this time it stays
  }

  // However often it is asked for the sake of one workload, it is the same search.
  std::optional<Claimed> by_moving(const Claimant& claimant, std::size_t way) {
    std::int64_t attempts = repack_attempts_;
    auto moved = room_by_moving(state_, cycle_.trial, cycle_.engine.index, cycle_.vacating, claimant, way, attempts);
    cycle_.plan.attempts += repack_attempts_ - attempts;
    if (!moved) return std::nullopt;
    return Claimed{.start = std::move(moved->start), .evictions = {}, .migrations = std::move(moved->migrations)};
  }

  std::optional<Claimed> by_taking(const Claimant& claimant, std::size_t way) {
    if (!cycle_.rights) cycle_.rights.emplace(state_);
    if (!cycle_.rights->any_in(queue_)) return std::nullopt;
    auto outcome = claim_room(state_, cycle_.trial, cycle_.engine.index, claimant, way);
    if (const Unclaimed* const unclaimed = std::get_if<Unclaimed>(&outcome)) {
      some_protected_ = some_protected_ || unclaimed->some_protected;
      would_break_floors_ = would_break_floors_ || unclaimed->would_break_floors;
      return std::nullopt;
    }
    return std::move(std::get<Claimed>(outcome));
  }

  QueueId would_be_covered_at(const AmountList& asked) const {
    return state_.quotas().would_be_covered_at(queue_, asked, state_.quotas().end_of(terms_));
  }
  AmountList held_by(const Start& start) const { return amounts_held(state_, shape_, start); }

  Refused why_not() const {
    const ReasonCode gate = patient_ || rather_waits_ ? ReasonCode::kPatience
                            : some_protected_         ? ReasonCode::kVictimsProtected
                            : would_break_floors_     ? ReasonCode::kKeepsFloorDeliverable
                            : promised_               ? ReasonCode::kReserved
                            : unfit_                  ? ReasonCode::kNone
                                                      : gate_;
    return {.missing = missing(),
            .gate = gate,
            .by_quota = would_break_floors_ || some_mixture_refused_ || gate_ != ReasonCode::kNone,
            .would_break_floors = would_break_floors_,
            .may_claim_beside = may_claim_beside_,
            .rather_waits = rather_waits_,
            .is_cut_too_late = is_cut_too_late_};
  }
  std::int64_t missing() const { return unfit_ && !promised_ ? unfit_->missing : 1; }

  OneCycle& cycle_;
  Heeding heeding_;
  const State& state_;
  WorkloadId id_;
  QueueId queue_;
  const Shape& shape_;
  RefusedRequests& refused_;
  const Growing* growing_ = nullptr;  // of a step
  bool rather_waits_ = false;         // than that a GPU is cut anew for it
  bool some_mixture_refused_ = false;
  bool only_inside_ = false;  // where it is inside a floor in one mixture of flavors, in no other
  Terms terms_;
  Rng rng_;
  std::int64_t repack_attempts_;
  std::optional<Unfit> unfit_;  // in one of its ways only room was missing
  ReasonCode gate_ = ReasonCode::kNone;
  std::size_t ways_without_room_ = 0;
  bool some_protected_ = false;
  bool would_break_floors_ = false;
  bool promised_ = false;  // there would be room, but for those to whom it is promised
  bool may_claim_beside_ = false;
  bool is_cut_too_late_ = false;
  bool patient_ = false;
};

std::variant<Claimed, Refused> attempt_beside(OneCycle& cycle, WorkloadId candidate, RefusedRequests& refused,
                                              Heeding heeding, QueueId covered_at = {}) {
  cycle.trial.keep_from_all(cycle.reserved.kept_from(candidate, cycle.plan.now, heeding, covered_at));
  auto outcome = Attempt(cycle, candidate, refused, heeding).make();
  cycle.trial.let_go();
  return outcome;
}

// In what is reserved and could be held elsewhere as well.
std::optional<Claimed> attempt_with_reservations_elsewhere(OneCycle& cycle, WorkloadId candidate,
                                                           RefusedRequests& refused, QueueId covered_at) {
  const Trial::Mark mark = cycle.trial.mark();
  auto outcome = attempt_beside(cycle, candidate, refused, Heeding::kUnlessElsewhere, covered_at);
  Claimed* const claimed = std::get_if<Claimed>(&outcome);
  if (claimed == nullptr) return std::nullopt;
  auto elsewhere = cycle.reserved.elsewhere(*claimed);
  if (!elsewhere) {
    cycle.trial.rollback_to(mark);
    return std::nullopt;
  }
  for (Eviction& each : elsewhere->evictions) {
    take_out(cycle.engine.state, cycle.trial, each.workload, Emptied::kIsToBeScrubbed);
    claimed->evictions.push_back(std::move(each));
  }
  claimed->held_elsewhere = std::move(elsewhere->holdings);
  return std::move(*claimed);
}

// As if nothing were reserved. The trial is left as it was found.
std::variant<Claimed, Refused> attempt_without_reservations(OneCycle& cycle, WorkloadId candidate,
                                                            RefusedRequests& refused) {
  const Trial::Mark mark = cycle.trial.mark();
  auto outcome = Attempt(cycle, candidate, refused, Heeding::kNone).make();
  cycle.trial.rollback_to(mark);
  return outcome;
}

// In free room, or in what is promised to others there.
bool is_of_free_room(const std::variant<Claimed, Refused>& outcome) {
  if (const Refused* const why = std::get_if<Refused>(&outcome)) return why->gate == ReasonCode::kReserved;
  const Claimed& claimed = std::get<Claimed>(outcome);
  return claimed.evictions.empty() && claimed.migrations.empty();
}

// First beside all that is reserved; a guaranteed claim then in what is reserved beyond the floors of others, and then in what others
// may have as well somewhere else.
std::variant<Claimed, Refused> attempt(OneCycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
  const bool bound = !cycle.reserved.kept_from(candidate, cycle.plan.now).empty();
  auto outcome = attempt_beside(cycle, candidate, refused, Heeding::kAll);
  if (!bound || std::holds_alternative<Claimed>(outcome)) return outcome;
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(candidate);
  const Shape& shape = state.shape(workload.shape);
  const Time end = state.quotas().end_of(shape.terms);
  const QueueId covered_at =
      shape.terms.best_effort
          ? QueueId()
          : state.quotas().would_be_covered_at(workload.queue, asked_by(state, workload.queue, shape, 0), end);
  if (!covered_at.is_none()) {
    auto instead = attempt_beside(cycle, candidate, refused, Heeding::kInsideFloors, covered_at);
    if (std::holds_alternative<Claimed>(instead)) return instead;
    if (auto claimed = attempt_with_reservations_elsewhere(cycle, candidate, refused, covered_at)) return *claimed;
  }
  const auto without = attempt_without_reservations(cycle, candidate, refused);
  Refused& why = std::get<Refused>(outcome);
  if (is_of_free_room(without)) {
    why = {.missing = 1, .gate = ReasonCode::kReserved, .by_quota = why.by_quota};
  } else if (const Refused* const lacks = std::get_if<Refused>(&without)) {
    // As soon as only what is reserved is in its way it is tried again, and told so.
    why.missing = std::min(why.missing, lacks->missing);
  }
  return outcome;
}

std::variant<Claimed, Refused> attempt_there(OneCycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
  return cycle.reserved.none() ? Attempt(cycle, candidate, refused).make() : attempt(cycle, candidate, refused);
}

// Room that is free, and leaves also its own queue what that is promised besides.
bool is_free_and_spoils_nothing(const OneCycle& cycle, const std::variant<Claimed, Refused>& outcome) {
  const Claimed* const claimed = std::get_if<Claimed>(&outcome);
  return claimed != nullptr && claimed->evictions.empty() && claimed->migrations.empty() &&
         leaves_own_floor_whole(cycle.engine.state, cycle.trial, claimed->start);
}

}  // namespace

std::variant<Claimed, Refused> attempt_anywhere(OneCycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
  const Trial::Mark mark = cycle.trial.mark();
  auto outcome = attempt_there(cycle, candidate, refused);
  const auto beside = [&](KeptRoom kept) {
    cycle.trial.keep_from_all(std::move(kept));
    auto instead = Attempt(cycle, candidate, refused).make();
    cycle.trial.let_go();
    return instead;
  };
  if (const Claimed* const claimed = std::get_if<Claimed>(&outcome)) {
    const bool is_free = claimed->evictions.empty() && claimed->migrations.empty();
    if (!is_free || is_free_and_spoils_nothing(cycle, outcome)) return outcome;
    cycle.trial.rollback_to(mark);
    const KeptRoom reserved = cycle.reserved.kept_from(candidate, cycle.plan.now);
    for (KeptRoom& kept : rooms_to_leave_alone(cycle.engine.state, cycle.trial, candidate, reserved)) {
      auto instead = beside(std::move(kept));
      if (is_free_and_spoils_nothing(cycle, instead)) return instead;
      cycle.trial.rollback_to(mark);
    }
    return attempt_there(cycle, candidate, refused);  // the same again, and this time it stays
  }
  const Refused* const why = std::get_if<Refused>(&outcome);
  if (why->is_cut_too_late) {
    auto instead = beside(cycle.reserved.kept_if_late(candidate, cycle.plan.now, longest_recut(cycle.engine.state)));
    if (std::holds_alternative<Claimed>(instead)) return instead;
  }
  if (!why->would_break_floors && !why->may_claim_beside) return outcome;
  const KeptRoom reserved = cycle.reserved.kept_from(candidate, cycle.plan.now);
  if (why->may_claim_beside) {
    const KeptRoom domains = with_nodes(reserved, cycle.shadows.nodes_kept_from(candidate));
    auto instead = beside(with_gpus(domains, cycle.shadows.kept_from(candidate)));
    if (std::holds_alternative<Claimed>(instead)) return instead;
  }
  if (!why->would_break_floors) return outcome;
  for (KeptRoom& kept : rooms_to_leave_alone(cycle.engine.state, cycle.trial, candidate, reserved)) {
    auto instead = beside(std::move(kept));
    if (std::holds_alternative<Claimed>(instead)) return instead;
  }
  return outcome;
}

std::optional<Start> attempt_anew(OneCycle& cycle, WorkloadId evicted, RefusedRequests& refused) {
  cycle.trial.keep_from_all(cycle.reserved.kept_from(evicted, cycle.plan.now));
  auto start = Attempt(cycle, evicted, refused).wait_anew();
  cycle.trial.let_go();
  return start;
}

namespace {

// Where it would be covered, in what is reserved beyond the floors of others. PRE: it found nothing beside that.
std::optional<Start> step_beyond_floors(OneCycle& cycle, WorkloadId step, const Growing& growing) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(step);
  const Shape& shape = state.shape(workload.shape);
  if (shape.terms.best_effort) return std::nullopt;
  const QueueId covered_at = state.quotas().would_be_covered_at(
      workload.queue, asked_by(state, workload.queue, shape, *growing.way), state.end_of(step, cycle.plan.now));
  if (covered_at.is_none()) return std::nullopt;
  RefusedRequests refused;
  cycle.trial.keep_from_all(cycle.reserved.kept_from(step, cycle.plan.now, Heeding::kInsideFloors, covered_at));
  auto start = Attempt(cycle, step, refused, Heeding::kInsideFloors).grow(growing);
  cycle.trial.let_go();
  return start;
}

}  // namespace

std::optional<Start> attempt_step(OneCycle& cycle, WorkloadId step, const Growing& growing) {
  RefusedRequests refused;
  KeptRoom kept = cycle.reserved.kept_from(step, cycle.plan.now);
  cycle.trial.keep_from_all(kept);
  Attempt attempt(cycle, step, refused);
  auto start = attempt.grow(growing);
  cycle.trial.let_go();
  if (!start && !kept.empty()) start = step_beyond_floors(cycle, step, growing);
  if (start || !attempt.would_break_floors()) return start;
  for (KeptRoom& more : rooms_to_leave_alone(cycle.engine.state, cycle.trial, step, kept)) {
    cycle.trial.keep_from_all(std::move(more));
    start = Attempt(cycle, step, refused).grow(growing);
    cycle.trial.let_go();
    if (start) break;
  }
  return start;
}

}  // namespace berth
