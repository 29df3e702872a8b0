#include "cycle/run_cycle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "cycle/claim.h"
#include "cycle/deliverable.h"
#include "cycle/elastic.h"
#include "cycle/fallen_limits.h"
#include "cycle/feasibility.h"
#include "cycle/for_each_place.h"
#include "cycle/moving.h"
#include "cycle/parting.h"
#include "cycle/patience.h"
#include "cycle/repairs.h"
#include "cycle/reserved.h"
#include "cycle/shadows.h"
#include "cycle/spares.h"
#include "cycle/spent_budgets.h"
#include "cycle/taking_out.h"
#include "cycle/vacating.h"
#include "fairness/gates.h"
#include "fairness/order.h"
#include "placement/place.h"
#include "placement/refused_requests.h"
#include "state/trial.h"

namespace berth {
namespace {

struct Cycle {
  Engine& engine;
  Trial& trial;
  Effort effort;
  Plan& plan;
  Vacating vacating;
  Reserved& reserved;
  Shadows shadows;
  std::optional<RightsAtAGlance> rights = {};  // as things are held now; none: not looked at since they changed
  bool leads_to_another = false;               // cycle, though in this one all who wait have had their turn
};

// Why a workload was not started.
struct Refused {
  std::int64_t missing = 1;
  ReasonCode gate = ReasonCode::kNone;
  bool by_quota = false;            // in one of its ways
  bool would_break_floors = false;  // somewhere it might have started, but for what is promised to others
  bool may_claim_beside = false;    // what is promised in backfill, of which it would have taken some
};

// One workload on its way through the gates: quotas, room, and the room of others.
class Attempt {
 public:
  // PRE: the trial keeps what `heeding` says from it.
  Attempt(Cycle& cycle, WorkloadId candidate, RefusedRequests& refused, Heeding heeding = Heeding::kAll)
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
    if (shares_against_its_terms(state_, shape_)) return Refused{};
    const bool no_room = refused_.covers(state_, shape_);
    if (!no_room) ++cycle_.plan.attempts;
    if (state_.quotas().budgets().has_any()) {
      const auto refusal = budget_refusal(state_.quotas(), queue_, terms_, asked_by(state_, queue_, shape_, 0));
      if (refusal) return beyond_the_budget(refusal->queue, no_room);
    }
    // Inside its floor it takes back what it prefers before it falls back on something else; outside it rather falls back.
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      const AmountList asked = asked_by(state_, queue_, shape_, way);
      if (auto start = in_free_room(way, asked, no_room)) return Claimed{.start = std::move(*start), .evictions = {}};
      if (auto start = on_spares(way, asked)) return Claimed{.start = std::move(*start), .evictions = {}};
      if (would_be_covered_at(asked).is_none()) continue;
      if (auto claimed = in_others_room(way, asked)) return std::move(*claimed);
    }
    for (std::size_t way = 0; way < shape_.ways.size(); ++way) {
      const AmountList asked = asked_by(state_, queue_, shape_, way);
      if (!would_be_covered_at(asked).is_none()) continue;
      if (auto claimed = in_others_room(way, asked)) return std::move(*claimed);
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
    if (!start || is_let(*start)) return start;
    cycle_.trial.rollback_to(mark);
    if (auto beside = in_room_not_promised(way)) return beside;
    return on_loan(way, asked);
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
  bool is_let(Start& start, Time begins) {
    if (cycle_.shadows.none() && cycle_.reserved.none()) return true;
    start.waits = cycle_.vacating.holds_up(state_, start);
    const bool let = cycle_.shadows.none() || cycle_.shadows.let(start);
    const bool is_free = leaves_reserved_alone(start, begins);
    start.waits = false;
    promised_ = promised_ || !let || !is_free;
    return let && is_free;
  }

  // What is reserved beyond a floor gives way to a guaranteed claim, and to no other.
  bool leaves_reserved_alone(const Start& start, Time begins) const {
    if (heeding_ != Heeding::kInsideFloors) return cycle_.reserved.lets(start, begins, heeding_);
    const QueueId covered_at = start.best_effort ? QueueId() : would_be_covered_at(held_by(start));
    return cycle_.reserved.lets(start, begins, heeding_, covered_at);
  }

  // By then the last of those has left who go for it, and those who are moved leave alone what is reserved, too.
  bool is_let(Claimed& claimed) {
    Time begins = cycle_.plan.now;
    for (const Eviction& each : claimed.evictions) begins = std::max(begins, each.stop_by);
    for (const Migration& each : claimed.migrations) begins = std::max(begins, each.stop_by);
    return is_let(claimed.start, begins) && std::ranges::all_of(claimed.migrations, [&](const Migration& each) {
             return cycle_.reserved.lets(each.start, each.stop_by);
           });
  }

  // What is promised to those ahead is left out from the beginning.
  std::optional<Start> in_room_not_promised(std::size_t way) {
    const Trial::Mark mark = cycle_.trial.mark();
    const std::vector<Move> held = cycle_.shadows.hold(id_);
    ++cycle_.plan.attempts;
    auto outcome = find_places(way);
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
    if (mixes(way) && !would_be_covered_at(asked).is_none()) {
      if (auto start = as_asked(way)) return start;
    }
    const Trial::Mark mark = cycle_.trial.mark();
    auto start = place(way, no_room);
    if (!start) return std::nullopt;
    // Where the flavor was left open, only now it is known what it would hold.
    const auto refusal = quota_refusal(state_.quotas(), queue_, shape_.user, terms_, held_by(*start));
    if (!refusal && leaves_floors_whole(*start)) return start;
    if (refusal && gate_ == ReasonCode::kNone) gate_ = code_of(*refusal, shape_);
    cycle_.trial.rollback_to(mark);
    return as_asked(way);
  }

  Mixture mixture(std::size_t way) const { return mixture_of(state_, queue_, shape_, way); }
  bool mixes(std::size_t way) const {
    return std::ranges::any_of(mixture(way), [](const auto& flavors) { return flavors.size() > 1; });
  }

  bool leaves_floors_whole(const Start& start) {
    if (berth::leaves_floors_whole(state_, cycle_.trial, start)) return true;
    would_break_floors_ = true;
    return false;
  }

  // Of the flavors of which it is known that quotas allow them.
  std::optional<Start> as_asked(std::size_t way) {
    const Trial::Mark mark = cycle_.trial.mark();
    const Mixture asked = mixture(way);
    auto outcome = find_places(way, &asked);
    Start* const start = std::get_if<Start>(&outcome);
    if (start == nullptr) return std::nullopt;
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

  std::optional<Claimed> in_others_room(std::size_t way, const AmountList& asked) {
    // Whoever goes, it would not pass that.
    if (is_above_bounds_alone(state_.quotas(), queue_, asked)) return std::nullopt;
    const Claimant claimant{id_, queue_, shape_.terms, asked, cycle_.plan.now};
    const Trial::Mark mark = cycle_.trial.mark();
    auto claimed = by_moving_or_taking(claimant, way);
    if (claimed && !is_let(*claimed)) {
      cycle_.trial.rollback_to(mark);
      may_claim_beside_ = may_claim_beside_ || !cycle_.shadows.none();
      if (claimed->migrations.empty() || std::exchange(repack_attempts_, 0) == 0) return std::nullopt;
      // The first plan of moves may leave alone what a better one does not.
      return in_others_room(way, asked);
    }
    const Time until = state_.workload(id_).submitted + state_.queues()[queue_.index()].quota.patience;
    if (!claimed || cycle_.plan.now >= until) return claimed;
    const bool all_may_end =
        std::ranges::all_of(claimed->evictions,
                            [&](const Eviction& each) { return may_end_by(state_, each.workload, until); }) &&
        std::ranges::all_of(claimed->migrations,
                            [&](const Migration& each) { return may_end_by(state_, each.start.workload, until); });
    cycle_.trial.rollback_to(mark);
    if (all_may_end ||
        may_fit_by(state_, cycle_.trial, cycle_.engine.index, claimant, way, cycle_.plan.evictions, until)) {
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
    Wide lost = 0;
    if (taken) {
      for (const Eviction& each : taken->evictions) lost += each.lost_gpu_s;
      if (lost < lost_gpu_s(moved->migrations)) return taken;
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
    const ReasonCode gate = patient_              ? ReasonCode::kPatience
                            : some_protected_     ? ReasonCode::kVictimsProtected
                            : would_break_floors_ ? ReasonCode::kKeepsFloorDeliverable
                            : promised_           ? ReasonCode::kReserved
                            : unfit_              ? ReasonCode::kNone
                                                  : gate_;
    return {.missing = missing(),
            .gate = gate,
            .by_quota = would_break_floors_ || gate_ != ReasonCode::kNone,
            .would_break_floors = would_break_floors_,
            .may_claim_beside = may_claim_beside_};
  }
  std::int64_t missing() const { return unfit_ && !promised_ ? unfit_->missing : 1; }

  Cycle& cycle_;
  Heeding heeding_;
  const State& state_;
  WorkloadId id_;
  QueueId queue_;
  const Shape& shape_;
  RefusedRequests& refused_;
  const Growing* growing_ = nullptr;  // of a step
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
  bool patient_ = false;
};

// Beside whole nodes, too.
KeptRoom with_nodes(KeptRoom kept, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> all;
  std::ranges::set_union(kept.nodes, nodes, std::back_inserter(all));
  kept.nodes = std::move(all);
  return kept;
}

// And beside these GPUs. PRE: of each node at most once.
KeptRoom with_gpus(KeptRoom kept, const std::vector<GpusOfNode>& gpus) {
  for (const GpusOfNode& each : gpus) {
    const auto at = std::ranges::lower_bound(kept.gpus, each.node, {}, &GpusOfNode::node);
    if (at == kept.gpus.end() || at->node != each.node) {
      kept.gpus.insert(at, each);
    } else {
      at->gpus = GpuSet::from_bits(at->gpus.bits() | each.gpus.bits());
    }
  }
  return kept;
}

std::variant<Claimed, Refused> attempt_beside(Cycle& cycle, WorkloadId candidate, RefusedRequests& refused,
                                              Heeding heeding, QueueId covered_at = {}) {
  cycle.trial.keep_from_all(cycle.reserved.kept_from(candidate, cycle.plan.now, heeding, covered_at));
  auto outcome = Attempt(cycle, candidate, refused, heeding).make();
  cycle.trial.let_go();
  return outcome;
}

// Whether nothing but reservations is in its way to free room.
bool would_fit_without_reservations(Cycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
  const Trial::Mark mark = cycle.trial.mark();
  auto outcome = Attempt(cycle, candidate, refused, Heeding::kNone).make();
  cycle.trial.rollback_to(mark);
  const Claimed* const claimed = std::get_if<Claimed>(&outcome);
  return claimed != nullptr && claimed->evictions.empty() && claimed->migrations.empty();
}

// First beside all that is reserved; a guaranteed claim then in what is reserved beyond the floors of others.
std::variant<Claimed, Refused> attempt(Cycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
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
  }
  if (would_fit_without_reservations(cycle, candidate, refused)) {
    Refused& why = std::get<Refused>(outcome);
    why = {.missing = 1, .gate = ReasonCode::kReserved, .by_quota = why.by_quota};
  }
  return outcome;
}

// Where it would be in the way of what is promised to others, or of their cells, it looks beside these before it waits.
std::variant<Claimed, Refused> attempt_anywhere(Cycle& cycle, WorkloadId candidate, RefusedRequests& refused) {
  auto outcome = cycle.reserved.none() ? Attempt(cycle, candidate, refused).make() : attempt(cycle, candidate, refused);
  const Refused* const why = std::get_if<Refused>(&outcome);
  if (why == nullptr || (!why->would_break_floors && !why->may_claim_beside)) return outcome;
  const auto beside = [&](KeptRoom kept) {
    cycle.trial.keep_from_all(std::move(kept));
    auto instead = Attempt(cycle, candidate, refused).make();
    cycle.trial.let_go();
    return instead;
  };
  const KeptRoom reserved = cycle.reserved.kept_from(candidate, cycle.plan.now);
  if (why->may_claim_beside) {
    auto instead = beside(with_gpus(reserved, cycle.shadows.kept_from(candidate)));
    if (std::holds_alternative<Claimed>(instead)) return instead;
  }
  if (!why->would_break_floors) return outcome;
  for (const std::vector<NodeId>& cells : nodes_to_leave_alone(cycle.engine.state, cycle.trial, candidate)) {
    auto instead = beside(with_nodes(reserved, cells));
    if (std::holds_alternative<Claimed>(instead)) return instead;
  }
  return outcome;
}

// Whose room has been vacated.
void begin(Cycle& cycle) {
  for (const WorkloadId id : cycle.engine.state.starting()) {
    const State& state = cycle.engine.state;
    // Who migrates has to stop first.
    if (state.workload(id).phase == Phase::kMigrating || cycle.vacating.holds_up(state, id)) continue;
    cycle.vacating.begins(id);
    const Workload& workload = state.workload(id);
    // Of a gang only some begin, and its run limit goes on.
    if (workload.phase != Phase::kRunning)
      cycle.trial.set_end(workload.unit, enforced_end(state.shape(workload.shape).terms, cycle.plan.now));
    cycle.plan.begins.push_back(id);
  }
}

// With an elastic workload go its steps, before it. What all of them lose is said once, of the first.
void evict(Cycle& cycle, Eviction eviction) {
  const State& state = cycle.engine.state;
  const WorkloadId minimum = state.minimum_of(eviction.workload);
  if (state.elastic().contains(minimum)) {
    const auto is_decided = [&](WorkloadId id) {
      return std::ranges::find(cycle.plan.evictions, id, &Eviction::workload) != cycle.plan.evictions.end();
    };
    if (is_decided(eviction.workload)) return;
    const bool restarts = !state.shape(state.workload(minimum).shape).terms.resizes_live;
    if (restarts && std::ranges::any_of(state.steps_of(minimum), is_decided)) eviction.lost_gpu_s = 0;
    for (const WorkloadId step : state.steps_of(eviction.workload)) {
      if (state.workload(step).phase != Phase::kRunning || is_decided(step)) continue;
      evict(cycle, {step, eviction.claimant, eviction.rule, eviction.stop_by, 0});
    }
  }
  cycle.vacating.leaves(state, eviction.workload, eviction.stop_by <= cycle.plan.now);
  std::erase(cycle.plan.unpaid, eviction.workload);
  // Those for nobody's sake go before all others.
  const auto at =
      eviction.claimant.is_none()
          ? std::ranges::find_if(cycle.plan.evictions, [](const Eviction& each) { return !each.claimant.is_none(); })
          : cycle.plan.evictions.end();
  cycle.plan.evictions.insert(at, eviction);
  cycle.leads_to_another = true;  // who was evicted waits now
}

// It stays the unit that it is, and its run limit counts anew.
void migrate(Cycle& cycle, const Migration& migration) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(migration.start.workload);
  const bool at_once = migration.stop_by <= cycle.plan.now;
  cycle.vacating.leaves(state, migration.start.workload, at_once);
  if (migration.start.waits) {
    cycle.vacating.waits(state, migration.start);
  } else {
    cycle.trial.set_end(workload.unit, enforced_end(state.shape(workload.shape).terms, cycle.plan.now));
  }
  cycle.trial.note_placed({workload.unit, migration.start.workload, gpus_of(state, migration.start), true});
  cycle.plan.migrations.push_back(migration);
  cycle.plan.finished = false;  // where they are now the next cycle knows
}

// Where the calendar has lowered them, or the hours are over.
void keep_limits(Cycle& cycle) {
  for (const Eviction& eviction : stop_out_of_hours(cycle.engine.state, cycle.trial, cycle.plan.now)) {
    evict(cycle, eviction);
  }
  for (const Eviction& eviction : stop_above_limits(cycle.engine.state, cycle.trial, cycle.plan.now)) {
    evict(cycle, eviction);
  }
}

// Where they are gone.
void keep_budgets(Cycle& cycle) {
  Unpaid unpaid = stop_unpaid(cycle.engine.state, cycle.trial, cycle.plan.evictions, cycle.plan.now);
  cycle.plan.unpaid = std::move(unpaid.best_effort);
  for (const Eviction& eviction : unpaid.stopped) evict(cycle, eviction);
  if (!cycle.plan.unpaid.empty()) cycle.plan.finished = false;
}

// Nothing is scrubbed where somebody begins who trusts all who have been there.
template <class Placed>
void leave_dirty(Cycle& cycle, const Placed& placed) {
  for_each_place(cycle.engine.state, placed, [&](const PodRequest&, const PodPlacement& place) {
    place.gpus.for_each([&](int gpu) {
      for (const QueueId tenant : cycle.vacating.left_on({place.node, gpu})) {
        cycle.trial.add_residue({place.node, gpu}, tenant);
      }
    });
  });
}

// Somebody who waits looks at who is around, and it is one of those whom he counts.
template <class Placed>
bool may_suit_others(const State& state, const Placed& placed) {
  bool counted = false;
  for_each_place(state, placed, [&](const PodRequest& request, const PodPlacement&) {
    counted = counted || state.ledger().neighbourhood().is_counted(request.neighbours);
  });
  return counted;
}

void add_unit(Cycle& cycle, const Start& start) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(start.workload);
  const Shape& shape = state.shape(workload.shape);
  const UnitId unit = cycle.trial.add({.workload = start.workload,
                                       .queue = workload.queue,
                                       .user = workload.user,
                                       .priority = shape.terms.priority,
                                       .admitted = cycle.plan.now,
                                       .may_be_covered = !shape.terms.best_effort && !start.best_effort,
                                       .only_borrows = start.only_borrows,
                                       .end = state.end_of(start.workload, cycle.plan.now),
                                       .covered_at = {}},
                                      amounts_held(state, shape, start));
  cycle.trial.note_placed({unit, start.workload, gpus_of(state, start)});
}

// Who borrows comes into no floor later where he would be in the way of others' cells then: nobody asks again.
bool borrows_in_the_way(const Cycle& cycle, const Start& start) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(start.workload);
  const Shape& shape = state.shape(workload.shape);
  if (state.flavors_with_cells().empty() || shape.terms.best_effort || start.best_effort) return false;
  const QueueId covered_at = cycle.trial.quotas().would_be_covered_at(workload.queue, amounts_held(state, shape, start),
                                                                      state.end_of(start.workload, cycle.plan.now));
  return covered_at.is_none() && !could_be_covered_there(state, cycle.trial, start);
}

template <class Refusal>
bool stands_back(const Refusal& each) {
  return each.gate == ReasonCode::kReserved;
}

// For what is promised to others, or reserved.
bool some_stand_back(const Cycle& cycle) {
  const State& state = cycle.engine.state;
  bool some = std::ranges::any_of(cycle.plan.blocked, stands_back<Blocked>);
  state.lines_in_use().for_each([&](QueueId queue) {
    const Line& line = *state.lines()[queue.index()];
    some = some || (line.gated() > 0 && std::ranges::any_of(line.shapes(), stands_back<ShapeInLine>));
  });
  return some;
}

void decide(Cycle& cycle, Claimed claimed) {
  const State& state = cycle.engine.state;
  for (const Eviction& eviction : claimed.evictions) evict(cycle, eviction);
  for (const Migration& migration : claimed.migrations) migrate(cycle, migration);
  claimed.start.waits = cycle.vacating.holds_up(state, claimed.start);
  if (claimed.start.waits) {
    cycle.vacating.waits(state, claimed.start);
  } else {
    leave_dirty(cycle, claimed.start);
  }
  claimed.start.only_borrows = borrows_in_the_way(cycle, claimed.start);
  add_unit(cycle, claimed.start);
  // What it is to those who were tried before the next cycle knows.
  if (may_suit_others(state, claimed.start)) cycle.plan.finished = false;
  if (cycle.reserved.started(claimed.start)) cycle.plan.finished = false;
  cycle.plan.starts.push_back(std::move(claimed.start));
  if (cycle.shadows.started(cycle.plan.starts.back())) {
    // Who stood back for what is promised no more is tried again.
    if (some_stand_back(cycle)) cycle.plan.finished = false;
    std::erase_if(cycle.plan.blocked, stands_back<Blocked>);
    cycle.leads_to_another = true;
  }
  cycle.rights.reset();
}

// The answer is shared by all who are alike: another of them, tried for a promise of his own, adds nothing to it.
bool is_said_of_twin(const Plan& plan, const ShapeInLine& known, QueueId line, WorkloadId id) {
  const WorkloadId first = known.waiting.front().workload;
  if (first == id) return false;
  const auto is_of_shape = [&](const Blocked& each) { return each.line == line && each.shape == known.shape; };
  if (std::ranges::any_of(plan.blocked, is_of_shape)) return true;
  return known.blocked() && std::ranges::find(plan.starts, first, &Start::workload) == plan.starts.end();
}

// Said only if it is news: who is tried again and again is not refused anew each time.
void block(Cycle& cycle, WorkloadId id, const Refused& refused, bool never) {
  const State& state = cycle.engine.state;
  const Workload& workload = state.workload(id);
  const Blocked blocked{.line = state.line_of(workload.queue),
                        .shape = workload.shape,
                        .missing = never ? kMissingForever : refused.missing,
                        .gate = never ? ReasonCode::kNone : refused.gate,
                        .by_quota = !never && refused.by_quota};
  const ShapeInLine& known = *state.lines()[blocked.line.index()]->find(blocked.shape);
  if (is_said_of_twin(cycle.plan, known, blocked.line, id)) return;
  const bool same = known.gate == blocked.gate && known.by_quota == blocked.by_quota && known.impossible() == never;
  if (!known.blocked() || !same) {
    cycle.plan.blocked.push_back(blocked);
  }
}

void part_strangers(Cycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.parting().empty()) return;
  for (const Eviction& each : stop_strangers(state, cycle.trial, cycle.plan.evictions, cycle.plan.now)) {
    evict(cycle, each);
  }
}

// What is reserved is chosen anew, and whoever would be in its way is told in time.
void keep_reservations(Cycle& cycle) {
  if (cycle.reserved.none()) return;
  cycle.reserved.choose();
  for (const Eviction& eviction : cycle.reserved.take_due()) evict(cycle, eviction);
}

// Who stood back for what was reserved is tried again where that is not what it was.
void tell_reservations(Cycle& cycle) {
  if (cycle.reserved.none() || !cycle.reserved.have_changed()) return;
  cycle.plan.holdings = cycle.reserved.all();
  cycle.plan.finished = false;
}

// What was promised before, as things are now. Where nothing has changed since it was looked at, nothing has here.
void renew_promises(Cycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.shadows().empty() || !cycle.plan.unpaid.empty() || !cycle.plan.migrations.empty()) return;
  const bool moved = cycle.plan.moves_somebody();
  const auto is_due = [&](const Shadow& each) { return each.at <= cycle.plan.now; };
  const bool stand = cycle.engine.shadows_stand_at == state.news() && !moved && !cycle.reserved.have_changed() &&
                     std::ranges::none_of(state.shadows(), is_due);
  if (stand) return;
  cycle.shadows.renew();
}

// Who stood back for what was promised is tried again where that is not what it was; and whom nothing is promised any more may be
// promised it again.
void tell_promises(Cycle& cycle) {
  if (!cycle.shadows.have_changed()) {
    if (cycle.plan.changes_nothing()) cycle.engine.shadows_stand_at = cycle.engine.state.news();
    return;
  }
  cycle.plan.shadows = cycle.shadows.all();
  cycle.engine.quiet = {};
  if (some_stand_back(cycle)) cycle.plan.finished = false;
}

// The first of whom it is known when he ends has started: lines where nobody could be promised anything before are looked at again.
void tell_first_end(Cycle& cycle) {
  const State& state = cycle.engine.state;
  const bool is_known = std::ranges::any_of(cycle.plan.starts, [&](const Start& start) {
    return state.shape(state.workload(start.workload).shape).terms.run_limit.has_value();
  });
  if (!is_known || state.limited() > 0) return;
  bool some_blocked = false;
  state.lines_in_use().for_each([&](QueueId queue) {
    const auto& shapes = state.lines()[queue.index()]->shapes();
    some_blocked = some_blocked || std::ranges::any_of(shapes, &ShapeInLine::blocked);
  });
  if (!some_blocked) return;
  cycle.engine.quiet = {};
  cycle.plan.finished = false;
}

// Whoever was let ahead on loan goes when that is due, so that nobody starts later for it than he was promised to.
void take_back_loans(Cycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.lent().empty() || cycle.shadows.none() || !cycle.plan.migrations.empty()) return;
  for (const WorkloadId id : cycle.shadows.loans_due()) {
    const Eviction eviction{id, WorkloadId(), EvictionRule::kLoan, end_of_grace(state, id, cycle.plan.now),
                            lost_gpu_s(state, id, cycle.plan.now)};
    take_out(state, cycle.trial, id, Emptied::kIsToBeScrubbed);
    evict(cycle, eviction);
    cycle.shadows.look_again();
  }
}

void put_in_place(Cycle& cycle, Repair repair) {
  const State& state = cycle.engine.state;
  // Those who are on their way for an earlier loss begin together with these.
  const bool others_wait = std::ranges::find(state.starting(), repair.workload) != state.starting().end();
  repair.waits = others_wait || cycle.vacating.holds_up(state, repair);
  if (repair.waits) {
    cycle.vacating.waits(state, repair);
  } else {
    leave_dirty(cycle, repair);
  }
  if (may_suit_others(state, repair)) cycle.plan.finished = false;
  cycle.trial.note_placed({state.workload(repair.workload).unit, repair.workload, gpus_of(state, repair)});
  cycle.plan.repairs.push_back(std::move(repair));
}

bool leaves_reserved_alone(const Cycle& cycle, const Repaired& found, Heeding heeding, QueueId covered_at) {
  if (found.migration)
    return cycle.reserved.lets(found.migration->start, found.migration->stop_by, heeding, covered_at);
  if (heeding == Heeding::kAll) return cycle.reserved.lets(*found.repair);
  // The rest was kept from all, but for parts of GPUs that others leave.
  const State& state = cycle.engine.state;
  const WorkloadId gang = found.repair->workload;
  const KeptRoom kept = cycle.reserved.kept_from(gang, state.workload(gang).started, heeding, covered_at);
  bool alone = true;
  for_each_place(state, *found.repair, [&](const PodRequest&, const PodPlacement& place) {
    const auto held = std::ranges::lower_bound(kept.gpus, place.node, {}, &GpusOfNode::node);
    const bool some = held != kept.gpus.end() && held->node == place.node;
    alone = alone && !(some && (held->gpus.bits() & place.gpus.bits()) != 0);
  });
  return alone;
}

// Its moves stay in the trial, or there is none. `alone`: nodes that are left alone besides.
std::optional<Repaired> find_repair_beside(Cycle& cycle, WorkloadId gang, Heeding heeding, QueueId covered_at = {},
                                           const std::vector<NodeId>& alone = {}) {
  const State& state = cycle.engine.state;
  ++cycle.plan.attempts;
  const Trial::Mark mark = cycle.trial.mark();
  const Time started = state.workload(gang).started;
  cycle.trial.keep_from_all(with_nodes(cycle.reserved.kept_from(gang, started, heeding, covered_at), alone));
  auto found = find_repair(state, cycle.trial, cycle.engine.index, gang, cycle.plan.now);
  cycle.trial.let_go();
  if (!found || leaves_reserved_alone(cycle, *found, heeding, covered_at)) return found;
  cycle.trial.rollback_to(mark);
  return std::nullopt;
}

// Where it would be in the way of others' cells, it looks beside these before it waits.
std::optional<Repaired> find_repair_beside_cells(Cycle& cycle, WorkloadId gang) {
  const State& state = cycle.engine.state;
  if (state.flavors_with_cells().empty()) return std::nullopt;
  for (const std::vector<NodeId>& cells : nodes_to_leave_alone(state, cycle.trial, gang)) {
    if (auto found = find_repair_beside(cycle, gang, Heeding::kAll, {}, cells)) return found;
  }
  return std::nullopt;
}

// First beside all that is reserved; for a guaranteed gang then in what is reserved beyond the floors of others.
std::optional<Repaired> find_repair(Cycle& cycle, WorkloadId gang) {
  auto found = find_repair_beside(cycle, gang, Heeding::kAll);
  if (!found) found = find_repair_beside_cells(cycle, gang);
  const Workload& workload = cycle.engine.state.workload(gang);
  if (found || cycle.reserved.kept_from(gang, workload.started).empty()) return found;
  const QueueId covered_at = cycle.trial.quotas().unit(workload.unit).covered_at;
  if (covered_at.is_none()) return std::nullopt;
  found = find_repair_beside(cycle, gang, Heeding::kInsideFloors, covered_at);
  if (found) cycle.leads_to_another = true;  // what it took is reserved no more: others are chosen then
  return found;
}

// Those whom gangs have lost are replaced before anybody starts, but for who waits with a higher claim.
void repair_gangs(Cycle& cycle) {
  if (!cycle.plan.unpaid.empty()) return;
  const State& state = cycle.engine.state;
  const auto is_told_to_stop = [&](WorkloadId id) {
    return std::ranges::find(cycle.plan.evictions, id, &Eviction::workload) != cycle.plan.evictions.end();
  };
  for (const WorkloadId gang : gangs_to_repair(state)) {
    if (is_told_to_stop(gang)) continue;
    if (cycle.plan.attempts >= cycle.effort.attempts_max) {
      cycle.plan.finished = false;
      return;
    }
    auto found = find_repair(cycle, gang);
    if (!found) continue;
    for (const Eviction& eviction : found->evictions) evict(cycle, eviction);
    cycle.rights.reset();
    if (found->repair) {
      put_in_place(cycle, std::move(*found->repair));
      continue;
    }
    Migration& migration = *found->migration;
    migration.start.waits = migration.stop_by > cycle.plan.now || cycle.vacating.holds_up(state, migration.start);
    migrate(cycle, migration);
    return;
  }
}

// If that is how it is to be. Returns when somebody could start at the earliest, whoever leaves.
Time promise_room(Cycle& cycle, const CandidateOrder& order, WorkloadId candidate, ReasonCode gate) {
  if (!order.wants_promise(gate)) return cycle.plan.now;
  const bool is_promised = cycle.shadows.promise(candidate);
  return is_promised || gate != ReasonCode::kReserved ? cycle.plan.now : cycle.shadows.could_start_from(candidate);
}

// Starts whom the order names, as long as somebody fits.
void allocate(Cycle& cycle) {
  // What they hold counts for nothing, and who was moved is elsewhere, only when the plan has been adopted.
  if (!cycle.plan.unpaid.empty() || !cycle.plan.migrations.empty()) return;
  const State& state = cycle.engine.state;
  // Whoever must go, and promises that are others by now, have moved what the lines are looked at by.
  const bool as_adopted = cycle.plan.evictions.empty() && cycle.plan.repairs.empty() && !cycle.shadows.have_changed();
  CandidateOrder order(state, cycle.plan.now, as_adopted ? &cycle.engine.quiet : nullptr, &cycle.shadows.all());
  RefusedRequests refused;
  while (const auto candidate = order.next()) {
    if (cycle.plan.attempts >= cycle.effort.attempts_max) {
      cycle.plan.finished = false;
      return;
    }
    cycle.shadows.look(*candidate);
    auto outcome = attempt_anywhere(cycle, *candidate, refused);
    if (Claimed* const claimed = std::get_if<Claimed>(&outcome)) {
      if (!claimed->evictions.empty()) {
        order.rank_again();
        refused = {};
      }
      decide(cycle, std::move(*claimed));
      // The state still has those who were moved where they were.
      if (!cycle.plan.migrations.empty()) return;
      order.started();
      continue;
    }
    const Workload& workload = state.workload(*candidate);
    const bool never = reason_never(state, state.shape(workload.shape)) != ReasonCode::kNone;
    const Refused& why = std::get<Refused>(outcome);
    block(cycle, *candidate, why, never);
    if (never) {
      order.passed_over();
    } else {
      order.refused(why.gate, promise_room(cycle, order, *candidate, why.gate));
    }
  }
}

bool would_be_inside_floor(const State& state, WorkloadId step, std::size_t way, Time now) {
  const Workload& workload = state.workload(step);
  const Shape& shape = state.shape(workload.shape);
  const AmountList asked = asked_by(state, workload.queue, shape, way);
  const QueueId at = state.quotas().would_be_covered_at(workload.queue, asked, state.end_of(step, now));
  return !shape.terms.best_effort && !at.is_none();
}

std::optional<Start> place_next_step(Cycle& cycle, const Growing& growing, WorkloadId step) {
  if (cycle.plan.attempts >= cycle.effort.attempts_max) {
    cycle.plan.finished = false;
    return std::nullopt;
  }
  cycle.shadows.look(step);
  RefusedRequests refused;
  KeptRoom kept = cycle.reserved.kept_from(step, cycle.plan.now);
  cycle.trial.keep_from_all(kept);
  Attempt attempt(cycle, step, refused);
  auto start = attempt.grow(growing);
  cycle.trial.let_go();
  if (start || !attempt.would_break_floors()) return start;
  for (const std::vector<NodeId>& cells : nodes_to_leave_alone(cycle.engine.state, cycle.trial, step)) {
    cycle.trial.keep_from_all(with_nodes(kept, cells));
    start = Attempt(cycle, step, refused).grow(growing);
    cycle.trial.let_go();
    if (start) break;
  }
  return start;
}

// Whether it pays to restart it for as many steps as there is room for.
bool pays_to_grow(Cycle& cycle, Growing growing) {
  const State& state = cycle.engine.state;
  const Time now = cycle.plan.now;
  const Wide of_each = state.shape(state.workload(growing.steps.front()).shape).gpu_milli;
  if (growth_pays(state, growing, 0, now)) return true;
  if (!growth_pays(state, growing, of_each * std::ssize(growing.steps), now)) return false;
  const Trial::Mark mark = cycle.trial.mark();
  Wide added = 0;
  for (const WorkloadId step : growing.steps) {
    const auto start = place_next_step(cycle, growing, step);
    if (!start) break;
    add_unit(cycle, *start);
    growing.at.emplace_back(start->pods.front().node);
    added += of_each;
  }
  cycle.trial.rollback_to(mark);
  return growth_pays(state, growing, added, now);
}

// As many as fit, of those that would be inside a floor or of all.
void take_steps(Cycle& cycle, Growing& growing, bool inside_floor) {
  const State& state = cycle.engine.state;
  std::size_t taken = 0;
  for (; taken < growing.steps.size(); ++taken) {
    const WorkloadId step = growing.steps[taken];
    if (inside_floor && !would_be_inside_floor(state, step, *growing.way, cycle.plan.now)) break;
    auto start = place_next_step(cycle, growing, step);
    if (!start) break;
    growing.at.emplace_back(start->pods.front().node);
    decide(cycle, {.start = std::move(*start), .evictions = {}});
  }
  growing.steps.erase(growing.steps.begin(), growing.steps.begin() + static_cast<std::ptrdiff_t>(taken));
}

// Who has to go at once waits by the end of this cycle, so steps leave him the room that he would take. Whether that can be seen:
// there has to be effort enough, and what a budget would leave him is known only when he has stopped.
bool set_evicted_aside(Cycle& cycle) {
  const State& state = cycle.engine.state;
  RefusedRequests refused;
  for (const Eviction& each : cycle.plan.evictions) {
    if (!state.workload(each.workload).step_of.is_none() || each.stop_by > cycle.plan.now) continue;
    if (cycle.plan.attempts == cycle.effort.attempts_max || state.quotas().budgets().has_any()) return false;
    cycle.shadows.look(each.workload);
    cycle.trial.keep_from_all(cycle.reserved.kept_from(each.workload, cycle.plan.now));
    const auto start = Attempt(cycle, each.workload, refused).wait_anew();
    cycle.trial.let_go();
    if (start) add_unit(cycle, *start);
  }
  return true;
}

// Elastic workloads take what nobody who waits had any use for: first those who have floor left, then the others. Where somebody
// has to go, only those who begin: for them there is no later moment at which it costs nothing.
void grow(Cycle& cycle) {
  const State& state = cycle.engine.state;
  if (state.elastic().empty() || !cycle.plan.finished) return;
  std::vector<Growing> all = who_may_grow(state, cycle.plan, cycle.shadows.all());
  if (!cycle.plan.evictions.empty()) {
    std::erase_if(all, [](const Growing& growing) { return !growing.begins; });
    if (all.empty() || !set_evicted_aside(cycle)) return;
  }
  std::erase_if(all, [&](const Growing& growing) { return !pays_to_grow(cycle, growing); });
  for (Growing& growing : all) take_steps(cycle, growing, true);
  for (Growing& growing : all) take_steps(cycle, growing, false);
}

constexpr std::array kPhases = {
    begin,           keep_limits, keep_budgets, part_strangers,    keep_reservations, repair_gangs,  renew_promises,
    take_back_loans, allocate,    grow,         tell_reservations, tell_promises,     tell_first_end};

}  // namespace

Plan run_cycle(Engine& engine, Time now, Effort effort) {
  Plan plan{.now = now, .revision = engine.state.revision()};
#ifdef BERTH_CHECKED
  const std::uint64_t before = engine.state.hash();
#endif
  {
    Trial trial(engine.state.ledger_for_trial(), engine.state.quotas_for_trial());
    Reserved reserved(engine.state, trial, plan);
    Cycle cycle{engine,
                trial,
                effort,
                plan,
                Vacating(engine.state),
                reserved,
                Shadows(engine.state, trial, engine.index, plan, &reserved)};
    for (const auto phase : kPhases) phase(cycle);
    if (cycle.leads_to_another) plan.finished = false;
  }
#ifdef BERTH_CHECKED
  BERTH_ASSERT(engine.state.hash() == before);
#endif
  return plan;
}

}  // namespace berth
