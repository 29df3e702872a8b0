#include "cycle/shadows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "cycle/deliverable.h"
#include "cycle/for_each_place.h"
#include "cycle/neighbours_text.h"
#include "fairness/gates.h"
#include "fairness/meeting.h"
#include "fairness/rights.h"
#include "placement/place.h"
#include "state/room.h"
#include "state/turns.h"
#include "state/zones.h"

namespace berth {
namespace {

const Terms& terms_of(const State& state, WorkloadId id) { return state.shape(state.workload(id).shape).terms; }

// Both may be on the same GPUs, and where pods of the first may be depends on where others are, or those of the other keep some away
// from them.
bool mind_each_other(const State& state, WorkloadId id, WorkloadId other) {
  const Shape& shape = state.shape(state.workload(id).shape);
  if (!shape.flavors.meets(state.shape(state.workload(other).shape).flavors)) return false;
  const bool spread = std::ranges::any_of(
      shape.ways.front(), [&](const NumberedPodSet& set) { return state.topologies()[set.topology].is_spread(); });
  return spread || looks_around(state, shape) || looks_around(state, state.shape(state.workload(other).shape));
}

// So many turns of the calendar are looked ahead.
constexpr std::size_t kTurnsMax = 100;

bool asks_parts(const State& state, WorkloadId id) {
  const Shape& shape = state.shape(state.workload(id).shape);
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    return std::ranges::any_of(way,
                               [&](const NumberedPodSet& set) { return state.request(set.request).is_fraction(); });
  });
}

// Whether one of these fits, of which each does if one before it does; then the last that was found to fit is the first that does.
// `mostly_not`: mostly none does, and the last says so.
template <class Fits>
bool first_that_fits(std::size_t first, std::size_t end, bool mostly_not, Fits fits) {
  std::size_t fits_at = mostly_not ? end - 1 : first;
  for (std::size_t step = 1; !fits(fits_at); step *= 2) {
    first = fits_at + 1;
    if (first == end) return false;
    fits_at = std::min(fits_at + step, end - 1);
  }
  while (first < fits_at) {
    const std::size_t middle = first + (fits_at - first) / 2;
    if (fits(middle)) {
      fits_at = middle;
    } else {
      first = middle + 1;
    }
  }
  return true;
}

// The first moment at which it would not start any more in the hours that are; kForever: it keeps none.
Time too_late_in_its_hours(const State& state, WorkloadId id, Time now) {
  const Terms& terms = terms_of(state, id);
  if (!terms.hours) return kForever;
  const Time end = state.hours_end(terms, now);
  return terms.run_limit ? Time{end.ms - terms.run_limit->ms + 1} : end;
}

QueueId would_be_covered_at(const State& state, WorkloadId id) {
  const Shape& shape = state.shape(state.workload(id).shape);
  if (shape.terms.best_effort) return {};
  const QuotaLedger& quotas = state.quotas();
  return quotas.would_be_covered_at(state.workload(id).queue, asked_by(state, state.workload(id).queue, shape, 0),
                                    quotas.end_of(shape.terms));
}

// `by_priority`: whether it counts in its queue.
bool has_stronger_claim(const State& state, WorkloadId id, WorkloadId other, bool by_priority) {
  const Terms& own = terms_of(state, id);
  const Terms& others = terms_of(state, other);
  if (own.best_effort) return false;
  if (others.best_effort) return true;
  const QueueId queue = state.workload(id).queue;
  const QueueId of_other = state.workload(other).queue;
  if (queue == of_other) {
    return by_priority && own.priority > std::int64_t{others.priority} + state.workload(other).raised;
  }
  const QuotaTree& tree = state.quotas().tree();
  const QueueId meet = where_they_meet(tree, queue, of_other);
  const QueueId own_side = child_towards(tree, queue, meet);
  const QueueId side = child_towards(tree, of_other, meet);
  if (own_side.is_none() || !is_covered(tree, would_be_covered_at(state, id), own_side)) return false;
  return side.is_none() || !is_covered(tree, would_be_covered_at(state, other), side);
}

}  // namespace

bool outranks(const State& state, WorkloadId id, WorkloadId other) {
  const QueueId queue = state.workload(id).queue;
  const bool preempts = state.queues()[queue.index()].quota.preempt != Preempt::kNever;
  return has_stronger_claim(state, id, other, preempts && terms_of(state, id).preempts);
}

bool takes_promises_of(const State& state, WorkloadId id, WorkloadId other) {
  // A step comes behind all who wait, and may have what it could take from who runs.
  const bool stands_ahead = state.workload(id).step_of.is_none();
  return stands_ahead ? has_stronger_claim(state, id, other, true) : outranks(state, id, other);
}

// The trial as it will be: whoever ends up to a moment is out of it. INVARIANT: at its end the trial is as it was found.
class Shadows::Later {
 public:
  // `clean_from`: when what all have left now has been scrubbed.
  Later(Shadows& shadows, Time clean_from)
      : shadows_(shadows),
        begin_(shadows.trial_.mark()),
        clean_from_(shadows.state_.scrub() > Duration{0} ? clean_from : kForever) {}
  ~Later() {
    shadows_.trial_.rollback_to(begin_);
    if (!shadows_.openings_.empty()) shadows_.trial_.end_maintenance({});
  }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

  // Those whose end is not later, and no others.
  void go_to(Time then) {
    open_by(then);
    scrub_by(then);
    while (!marks_.empty() && shadows_.ends_[marks_.size() - 1].at > then) {
      shadows_.trial_.rollback_to(marks_.back());
      marks_.pop_back();
    }
    while (marks_.size() < shadows_.ends_.size() && shadows_.ends_[marks_.size()].at <= then) {
      const End& end = shadows_.ends_[marks_.size()];
      marks_.push_back(shadows_.trial_.mark());
      take_out(end);
    }
  }

 private:
  void open_by(Time then) {
    if (shadows_.openings_.empty()) return;
    std::vector<NodeId> open;
    for (const Opening& each : shadows_.openings_) {
      if (each.at <= then) open.push_back(each.node);
    }
    shadows_.trial_.end_maintenance(std::move(open));
  }

  void scrub_by(Time then) {
    if (are_clean_ == (then >= clean_from_)) return;
    are_clean_ = !are_clean_;
    shadows_.trial_.rollback_to(begin_);
    marks_.clear();
    if (are_clean_) shadows_.trial_.scrub_idle();
  }

  void take_out(const End& end) {
    shadows_.for_each_pod_of(end, [&](const PodRequest& request, const PodPlacement& place) {
      shadows_.trial_.depart(move_of(request, place, Move::Direction::kGive), Emptied::kCountsAsScrubbed);
    });
  }

  Shadows& shadows_;
  Trial::Mark begin_;
  std::vector<Trial::Mark> marks_;  // before each of the ends
  Time clean_from_;
  bool are_clean_ = false;
};

Shadows::Shadows(const State& state, Trial& trial, ScoreIndex& index, const Plan& plan, const Reserved* reserved)
    : state_(state),
      trial_(trial),
      index_(index),
      plan_(plan),
      reserved_(reserved),
      all_(state.shadows()),
      then_(all_.size()) {}

bool Shadows::have_changed() const {
  std::vector<Shadow> adopted = state_.shadows();
  std::erase_if(adopted, [&](const Shadow& each) {
    return std::ranges::find(plan_.starts, each.start.workload, &Start::workload) != plan_.starts.end();
  });
  return adopted != all_;
}

std::optional<std::size_t> Shadows::index_of(WorkloadId id) const {
  const auto found = std::ranges::find(all_, id, [](const Shadow& each) { return each.start.workload; });
  return found == all_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - all_.begin()));
}

bool Shadows::waits(WorkloadId id) const {
  const Workload& workload = state_.workload(id);
  if (workload.phase != Phase::kPending || state_.is_kept_aside(id)) return false;
  if (std::ranges::find(plan_.starts, id, &Start::workload) != plan_.starts.end()) return false;
  const QueueId line = state_.line_of(workload.queue);
  const Queue& queue = state_.queues()[line.index()];
  if (queue.order != Order::kFifo || queue.quota.backfill == Backfill::kNone) return false;
  return !state_.lines()[line.index()]->find(workload.shape)->impossible();
}

// What quotas allow now they most often allow then: that is looked at once the places are known.
std::optional<Start> Shadows::place_beside_quotas(WorkloadId id, std::size_t way, Time then, std::size_t others) {
  const Workload& workload = state_.workload(id);
  const Shape& shape = state_.shape(workload.shape);
  const auto refused = [&](const AmountList& amounts) {
    return quota_refusal(state_.quotas(), workload.queue, shape.user, shape.terms, amounts) &&
           !has_quota(id, amounts, then, others, WorkloadId());
  };
  if (refused(asked_by(state_, workload.queue, shape, way))) return std::nullopt;
  const Mixture asked = mixture_of(state_, workload.queue, shape, way);
  for (const Mixture* const mixture : {static_cast<const Mixture*>(nullptr), &asked}) {
    const Trial::Mark mark = trial_.mark();
    // A stream of its own: what is only thought of changes no draw.
    Rng rng(state_.seed(), id.value());
    auto outcome = place_in_way(state_, trial_, index_, id, way, rng, mixture);
    Start* const start = std::get_if<Start>(&outcome);
    if (start == nullptr) return std::nullopt;
    if (!refused(amounts_held(state_, shape, *start))) return std::move(*start);
    trial_.rollback_to(mark);
  }
  return std::nullopt;
}

// False: not all of it, and nothing then.
bool Shadows::put_if_free(const Start& start) {
  const Trial::Mark mark = trial_.mark();
  bool free = true;
  for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
    free = free && is_free(trial_.ledger(), request, place) &&
           trial_.ledger().matches().allows(request.constraints, place.node);
    if (free) trial_.apply(move_of(request, place));
  });
  if (!free) trial_.rollback_to(mark);
  return free;
}

// So that nobody takes what others were promised before: where they will be then, they are; where they come later, what they
// need is not there for whoever would still have it.
bool Shadows::take_others(WorkloadId id, Time then, std::size_t others) {
  std::vector<std::size_t> later;
  for (std::size_t i = 0; i < others; ++i) {
    const Shadow& other = all_[i];
    const WorkloadId whose = other.start.workload;
    if (whose == id || takes_promises_of(state_, id, whose)) continue;
    if (other.at > then) {
      if (end_of(id, then) > other.at) later.push_back(i);
    } else if (end_of(whose, other.at) > then && !put_if_free(other.start)) {
      return false;
    }
  }
  std::vector<Move> moves;
  for (const std::size_t each : later) hold_back(each, asks_parts(state_, id), moves);
  return true;
}

// Those who come later than it would, and before it has ended. Who was promised his room beside it minds it no more.
bool Shadows::leaves_others(const Start& start, Time then, std::size_t others, bool is_new) {
  const Time end = end_of(start.workload, then);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (whose == start.workload || all_[i].at <= then || takes_promises_of(state_, start.workload, whose)) continue;
    if (!leaves_hours(all_[i], start, then, others)) return false;
    if (end <= all_[i].at) continue;
    if (keep_apart(all_[i].start, start)) return false;
    std::vector<NodeThen> beside = then_[i];
    if (is_new && mind_each_other(state_, whose, start.workload)) return false;
    if (!fits_beside(beside, start)) return false;
    if (!leaves_quota(all_[i], start, then, others)) return false;
  }
  return true;
}

// PRE: the trial is as it will be then.
std::optional<Start> Shadows::fits_then(WorkloadId id, Time then, std::size_t others) {
  const Trial::Mark mark = trial_.mark();
  std::optional<Start> start;
  const std::size_t ways = state_.shape(state_.workload(id).shape).ways.size();
  if (take_others(id, then, others)) {
    if (reserved_ != nullptr) trial_.keep_from_all(reserved_->kept_from(id, then));
    for (std::size_t way = 0; !start && way < ways; ++way) start = place_beside_quotas(id, way, then, others);
    trial_.let_go();
  }
  if (start && would_break_floors_now(*start, then)) start.reset();
  trial_.rollback_to(mark);
  const bool goes =
      start && leaves_others(*start, then, others, true) && has_quota({then, *start}, others, WorkloadId());
  return goes ? start : std::nullopt;
}

// As far as it is known, and no further than so many turns.
const std::vector<LaterTree>& Shadows::calendar() {
  if (calendar_) return *calendar_;
  calendar_.emplace();
  if (state_.windows().empty()) return *calendar_;
  const QuotaLedger& quotas = state_.quotas();
  std::map<OpenWindows, const QuotaTree*> trees = {{state_.open_windows(), &quotas.tree()}};
  for (const Turn& turn : turns_after(state_.windows(), state_.clock())) {
    if (calendar_->size() == kTurnsMax) break;
    const auto tree = trees.emplace(turn.open, &quotas.tree_at(turn.at)).first->second;
    // The state has it for longer than this is looked at.
    calendar_->push_back({turn.at, std::shared_ptr<const QuotaTree>(std::shared_ptr<const QuotaTree>(), tree)});
  }
  return *calendar_;
}

// The moments up to one between which the more fits, the more have ended.
std::vector<Time> Shadows::turns(WorkloadId id, Time until) {
  const std::optional<Duration> run_limit = terms_of(state_, id).run_limit;
  std::vector<Time> found;
  if (reserved_ != nullptr) found = reserved_->turns(run_limit, until);
  for (const LaterTree& each : calendar()) {
    found.push_back(each.from);
    if (run_limit) found.push_back(Time{each.from.ms - run_limit->ms + 1});
  }
  std::ranges::sort(found);
  return found;
}

Time Shadows::loans_gone_by() const {
  Time gone = Time{INT64_MIN};
  const auto goes = [&](Time stop_by) { gone = std::max(gone, stop_by + state_.scrub()); };
  for (const WorkloadId id : state_.stopping()) {
    if (state_.workload(id).evicted_by == EvictionRule::kLoan) goes(state_.workload(id).stop_by);
  }
  for (const Eviction& each : plan_.evictions) {
    if (each.rule == EvictionRule::kLoan && each.stop_by > plan_.now) goes(each.stop_by);
  }
  return gone;
}

// When somebody ends, or somebody to whom room is promised would, or the calendar turns; ascending, each once.
std::vector<Time> Shadows::moments(WorkloadId id, Time before, std::size_t others) {
  std::vector<Time> found;
  for (const End& each : ends_) found.push_back(each.at);
  if (reserved_ != nullptr) std::ranges::copy(reserved_->ends(), std::back_inserter(found));
  std::ranges::transform(calendar(), std::back_inserter(found), &LaterTree::from);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (whose != id) found.push_back(end_of(whose, all_[i].at));
  }
  // Whose loan is over is still in room that the trial has back.
  const Time clear = loans_gone_by();
  if (clear > plan_.now) found.push_back(clear);
  if (state_.scrub() > Duration{0} && !trial_.ledger().dirty().empty()) found.push_back(plan_.now + state_.scrub());
  std::erase_if(found, [&](Time each) { return each >= before || each < clear; });
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found;
}

// The first of these moments at which as many GPUs may be free as it asks, wherever they are.
std::size_t Shadows::enough_come_free_at(WorkloadId id, const std::vector<Time>& moments) const {
  const Shape& shape = state_.shape(state_.workload(id).shape);
  std::int64_t free = 0;
  for (std::size_t flavor = 0; flavor < state_.flavors().size(); ++flavor) {
    if (shape.flavors.contains(FlavorId(flavor))) free += trial_.ledger().totals(FlavorId(flavor)).gpu_milli;
  }
  std::size_t at = 0;
  auto opening = openings_.begin();
  for (auto end = ends_.begin(); at < moments.size(); ++at) {
    const auto count = [&](const PodRequest& request, const PodPlacement& place) {
      const NodeFree& node = trial_.ledger().node(place.node);
      if (request.gpus > 0 && node.has_flavor_of(shape.flavors))
        free += std::int64_t{request.gpus} * node.milli_of(request);
    };
    for (; end != ends_.end() && end->at <= moments[at]; ++end) for_each_pod_of(*end, count);
    for (; opening != openings_.end() && opening->at <= moments[at]; ++opening) {
      const NodeFree& node = trial_.ledger().node(opening->node);
      if (node.gpus > 0 && node.has_flavor_of(shape.flavors)) free += node.gpu_milli;
    }
    if (free >= shape.gpu_milli) break;
  }
  return at;
}

std::optional<Shadow> Shadows::earliest(WorkloadId id, Time before, std::size_t others) {
  // Behind the hours that are it is kept aside, and nothing is promised to it.
  before = std::min(before, too_late_in_its_hours(state_, id, plan_.now));
  find_ends();
  look(others, id);
  const std::vector<Time> at = moments(id, before, others);
  std::size_t first = enough_come_free_at(id, at);
  if (first == at.size()) return std::nullopt;
  const std::vector<Time> turns_up_to_last = turns(id, at.back());
  Later later(*this, plan_.now + state_.scrub());
  std::optional<Shadow> found;
  const auto fits = [&](std::size_t index) {
    later.go_to(at[index]);
    auto start = fits_then(id, at[index], others);
    if (start) found = Shadow{at[index], std::move(*start)};
    return start.has_value();
  };
  // What is promised to queues and what is reserved may be another after a turn: then less may fit than before.
  while (first < at.size()) {
    const auto turn = std::ranges::upper_bound(turns_up_to_last, at[first]);
    const auto end = turn == turns_up_to_last.end() ? at.end() : std::ranges::lower_bound(at, *turn);
    const auto last = static_cast<std::size_t>(end - at.begin());
    if (first_that_fits(first, last, before != kForever, fits)) return found;
    first = last;
  }
  return std::nullopt;
}

// Whom others' floors keep from starting (rule 28) is promised no start at once: it would be refused and promised anew for ever. Who
// gives back by a later moment is not known. PRE: its places are taken in the trial.
bool Shadows::would_break_floors_now(const Start& start, Time at) const {
  return at <= plan_.now && !leaves_floors_whole(state_, trial_, start);
}

bool Shadows::is_still_there(const Shadow& shadow, std::size_t others) {
  if (shadow.at >= too_late_in_its_hours(state_, shadow.start.workload, plan_.now)) return false;
  find_ends();
  look(others, shadow.start.workload);
  Later later(*this, plan_.now + Duration{1});
  later.go_to(shadow.at);
  const Trial::Mark mark = trial_.mark();
  bool there = take_others(shadow.start.workload, shadow.at, others);
  if (there && reserved_ != nullptr) trial_.keep_from_all(reserved_->kept_from(shadow.start.workload, shadow.at));
  there = there && put_if_free(shadow.start) && !would_break_floors_now(shadow.start, shadow.at);
  trial_.let_go();
  trial_.rollback_to(mark);
  return there && leaves_others(shadow.start, shadow.at, others, false) && has_quota(shadow, others, WorkloadId());
}

// What the others leave beside it is another then.
void Shadows::replace(std::size_t shadow, std::optional<Shadow> with) {
  if (with) {
    all_[shadow] = std::move(*with);
  } else {
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(shadow));
  }
  then_.assign(all_.size(), {});
}

// Of those of a line who are alike the first comes first, also if he comes back when another of them was promised room, for others
// took his: else that would keep him from starting, and he the other. Who was there on loan has had the better of them once.
void Shadows::give_to_who_is_ahead() {
  for (std::size_t i = all_.size(); i-- > 0;) {
    const WorkloadId id = all_[i].start.workload;
    if (!waits(id)) continue;
    const Workload& workload = state_.workload(id);
    const ShapeInLine& alike = *state_.lines()[state_.line_of(workload.queue).index()]->find(workload.shape);
    auto at = alike.waiting.begin_cursor();
    const PendingKey* twin = alike.waiting.at(at);
    const auto may_have_it = [&](WorkloadId other) {
      // Nor is it a stronger claim to have waited long enough to go ahead.
      const bool is_owed = state_.workload(other).raised <= state_.workload(id).raised &&
                           (state_.workload(other).attempts == 0 || !state_.workload(other).evicted_for.is_none());
      return other == id || (is_owed && !index_of(other) && waits(other));
    };
    while (twin != nullptr && !may_have_it(twin->workload)) {
      alike.waiting.advance(at);
      twin = alike.waiting.at(at);
    }
    if (twin != nullptr) all_[i].start.workload = twin->workload;
  }
}

// Whoever could take the room of another stands before him, as he was promised his own without regard to that one.
void Shadows::put_stronger_claims_first() {
  for (std::size_t i = 1; i < all_.size(); ++i) {
    const WorkloadId id = all_[i].start.workload;
    const Terms& terms = terms_of(state_, id);
    const bool covered = !would_be_covered_at(state_, id).is_none();
    const auto gives_way = [&](const Shadow& each) {
      const WorkloadId other = each.start.workload;
      // Most often nothing tells two of them apart, and that costs nothing.
      const bool may =
          covered || terms_of(state_, other).best_effort || terms.priority > terms_of(state_, other).priority;
      return may && takes_promises_of(state_, id, other);
    };
    const auto own = all_.begin() + static_cast<std::ptrdiff_t>(i);
    const auto first = std::find_if(all_.begin(), own, gives_way);
    std::rotate(first, own, own + 1);
  }
}

// In this order: each stands beside those before it. Whoever can start earlier leaves everybody else where
// he is; of places that come at one moment none is better than another.
void Shadows::renew() {
  // Who could not start in time, for what was reserved since he was promised that, is promised anew: others were promised his places
  // for behind his end, and would wait for each other.
  const bool may_be_late = state_.next_reservation() != ReservationId(0);
  if (may_be_late) std::erase_if(all_, [&](const Shadow& each) { return each.at < plan_.now; });
  give_to_who_is_ahead();
  put_stronger_claims_first();
  then_.assign(all_.size(), {});
  for (std::size_t i = 0; i < all_.size();) {
    const WorkloadId id = all_[i].start.workload;
    if (!waits(id)) {
      replace(i, std::nullopt);
      continue;
    }
    // Nobody starts in the past: who was not looked at in time would be in the way of those behind him from now on, and they in his.
    all_[i].at = std::max(all_[i].at, plan_.now);
    const Shadow known = all_[i];
    const bool there = is_still_there(known, i);
    auto earlier = there ? earliest(id, known.at, all_.size()) : earliest(id, kForever, i);
    const bool gone = !earlier && !there;
    if (earlier || gone) replace(i, std::move(earlier));
    if (!gone) ++i;
  }
}

bool Shadows::promise(WorkloadId id) {
  if (all_.size() >= kShadowsMax || !waits(id) || !plan_.migrations.empty() || index_of(id)) return false;
  auto found = earliest(id, kForever, all_.size());
  if (!found) return false;
  all_.push_back(std::move(*found));
  then_.assign(all_.size(), {});
  give_way_to(id);
  return true;
}

// Those whose promises it takes, as its claim is the stronger, are promised what is left.
void Shadows::give_way_to(WorkloadId id) {
  const auto gives_way = [&](const Shadow& each) { return takes_promises_of(state_, id, each.start.workload); };
  if (std::none_of(all_.begin(), std::prev(all_.end()), gives_way)) return;
  put_stronger_claims_first();
  then_.assign(all_.size(), {});
  promise_anew_from(*index_of(id) + 1);
}

// Those who are not where they were promised to be any more; one after the other, as one who goes elsewhere may be in the way of those
// behind him.
void Shadows::promise_anew_from(std::size_t first) {
  for (std::size_t i = first; i < all_.size();) {
    const Shadow known = all_[i];
    if (is_still_there(known, i)) {
      ++i;
      continue;
    }
    auto other = earliest(known.start.workload, kForever, i);
    const bool gone = !other;
    replace(i, std::move(other));
    if (!gone) ++i;
  }
}

// False: somebody is about to leave or to come, or lacks pods.
bool Shadows::take_out_all() {
  if (!plan_.evictions.empty() || !plan_.repairs.empty() || !plan_.migrations.empty()) return false;
  std::vector<End> all;
  for (std::size_t queue = 0; queue < state_.queues().size(); ++queue) {
    for (const UnitId unit : trial_.quotas().units_in(QueueId(queue))) {
      const WorkloadId id = trial_.quotas().unit(unit).workload;
      const auto start = std::ranges::find(plan_.starts, id, &Start::workload);
      const bool starts = start != plan_.starts.end() && !start->waits;
      const bool runs = state_.workload(id).phase == Phase::kRunning && state_.find_repairing(id) == nullptr;
      if (!starts && !runs) return false;
      all.push_back({plan_.now, id, starts ? &*start : nullptr});
    }
  }
  for (const End& each : all) {
    for_each_pod_of(each, [&](const PodRequest& request, const PodPlacement& place) {
      trial_.depart(move_of(request, place, Move::Direction::kGive), Emptied::kCountsAsScrubbed);
    });
  }
  return true;
}

Time Shadows::could_start_from(WorkloadId id) {
  if (reserved_ == nullptr || reserved_->none()) return plan_.now;
  const std::size_t ways = state_.shape(state_.workload(id).shape).ways.size();
  const auto fits_idle = [&](Time then) {
    const Trial::Mark mark = trial_.mark();
    trial_.keep_from_all(reserved_->kept_from(id, then));
    bool fits = false;
    for (std::size_t way = 0; !fits && way < ways; ++way) {
      Rng rng(state_.seed(), id.value());
      fits = std::holds_alternative<Start>(place_in_way(state_, trial_, index_, id, way, rng));
    }
    trial_.let_go();
    trial_.rollback_to(mark);
    return fits;
  };
  std::vector<Time> moments = reserved_->ends();
  moments.push_back(plan_.now);
  std::erase_if(moments, [&](Time each) { return each < plan_.now; });
  std::ranges::sort(moments);
  const Trial::Mark mark = trial_.mark();
  const bool idle = take_out_all();
  const auto first = idle ? std::ranges::find_if(moments, fits_idle) : moments.begin();
  trial_.rollback_to(mark);
  return first == moments.end() ? kForever : *first;
}

void Shadows::look(WorkloadId candidate) {
  for (const Shadow& each : all_) {
    const QueueId line = state_.line_of(state_.workload(each.start.workload).queue);
    if (each.at > plan_.now && state_.queues()[line.index()].quota.foresight) foretell(each.start.workload);
  }
  look(all_.size(), index_of(candidate) ? candidate : WorkloadId());
}

void Shadows::look(std::size_t others, WorkloadId without) {
  if (others != looked_others_ || without != looked_without_) then_.assign(all_.size(), {});
  looked_others_ = others;
  looked_without_ = without;
  for (std::size_t i = 0; i < others; ++i) {
    if (then_[i].empty()) then_[i] = look_then(i, others, without);
  }
}

// With all who will be there then, those to whom it is promised included.
std::vector<NodeThen> Shadows::look_then(std::size_t shadow, std::size_t others, WorkloadId without) {
  find_ends();
  const Shadow& own = all_[shadow];
  Later later(*this, plan_.now + Duration{1});
  later.go_to(own.at);
  const Trial::Mark mark = trial_.mark();
  // Before those whose promises it takes, who are promised anew only in the next cycle.
  put_if_free(own.start);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    const bool is_there = whose != without && all_[i].at <= own.at && end_of(whose, all_[i].at) > own.at;
    if (i != shadow && is_there) put_if_free(all_[i].start);
  }
  const Ledger& ledger = trial_.ledger();
  std::map<NodeId, NodeThen> nodes;
  for_each_place(state_, own.start, [&](const PodRequest& request, const PodPlacement& place) {
    NodeThen& then = nodes[place.node];
    then.parts.resize(ledger.node(place.node).gpus);
    if (request.gpus > 0) then.mode = request.sharing;
    const bool is_in_one_zone = in_zones(ledger, place.node, request) == InZones::kOne;
    place.gpus.for_each([&](int gpu) {
      if (request.is_fraction()) then.parts[static_cast<std::size_t>(gpu)] = request.sharer;
      if (!is_in_one_zone) return;
      const int zones = ledger.zones(place.node).zones;
      then.is_owed[static_cast<std::size_t>(zone_of_gpu(gpu, ledger.node(place.node).gpus, zones))] = true;
    });
    if (!then.node.is_none()) return;
    const NodeFree& node = ledger.node(place.node);
    const auto milli = ledger.gpu_milli(place.node);
    const auto memory = ledger.gpu_memory_mib(place.node);
    const auto layouts = ledger.layouts(place.node);
    then.node = place.node;
    then.cpu_milli = node.cpu_milli;
    then.memory_bytes = node.memory_bytes;
    then.rest = ledger.rest(place.node);
    if (node.numa != NumaPolicy::kNone) then.zones_milli = ledger.zones(place.node).cpu_milli;
    then.pods = node.pods;
    then.gpu_milli.assign(milli.begin(), milli.end());
    then.gpu_memory_mib.assign(memory.begin(), memory.end());
    then.layouts.assign(layouts.begin(), layouts.end());
  });
  trial_.rollback_to(mark);
  std::vector<NodeThen> all;
  for (auto& [node, then] : nodes) all.push_back(std::move(then));
  return all;
}

// CPUs and memory, of all accounts that know of it, and its place among the pods.
bool Shadows::host_fits_beside(NodeThen& then, const PodRequest& request, const PodPlacement& place) const {
  const NodeFree& node = trial_.ledger().node(place.node);
  then.cpu_milli -= request.cpu_milli;
  then.memory_bytes -= request.memory_bytes;
  then.pods -= 1;
  bool fits = then.cpu_milli >= 0 && then.memory_bytes >= 0 && then.pods >= 0;
  if (request.gpus == 0) {
    then.rest.cpu_milli -= request.cpu_milli;
    then.rest.memory_bytes -= request.memory_bytes;
    fits = fits && (request.cpu_milli == 0 || then.rest.cpu_milli >= 0) &&
           (request.memory_bytes == 0 || then.rest.memory_bytes >= 0);
  }
  if (!node.counts_by_zone(request)) return fits;
  for_each_zone_of(node, trial_.ledger().zones(place.node).zones, request, place.gpus,
                   [&](std::size_t zone, std::int64_t cpu_milli) {
                     then.zones_milli[zone] -= cpu_milli;
                     fits = fits && (cpu_milli == 0 || !then.is_owed[zone] || then.zones_milli[zone] >= 0);
                   });
  return fits;
}

// Whether what it takes is free then, too, beside the shadow; if so it is taken there.
bool Shadows::fits_beside(std::vector<NodeThen>& then, const Start& start) const {
  const Trust& trust = trial_.ledger().trust();
  const auto may_be_beside = [&](SharerId part, SharerId own) {
    return part.is_none() || trust.all_together() || trust.may_be_together(part, own);
  };
  bool fits = true;
  for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
    const auto at = std::ranges::lower_bound(then, place.node, {}, &NodeThen::node);
    if (!fits || at == then.end() || at->node != place.node) return;
    const NodeFree& node = trial_.ledger().node(place.node);
    fits = host_fits_beside(*at, request, place);
    fits = fits && (request.gpus == 0 || !at->mode || *at->mode == request.sharing);
    place.gpus.for_each([&](int gpu) {
      const auto each = static_cast<std::size_t>(gpu);
      at->gpu_milli[each] = static_cast<std::int16_t>(at->gpu_milli[each] - node.milli_of(request));
      at->gpu_memory_mib[each] -= static_cast<std::int32_t>(gpu_memory_taken(request, node.gpu_memory_mib));
      fits = fits && at->gpu_milli[each] >= 0 && at->gpu_memory_mib[each] >= 0;
      fits = fits && (!request.is_fraction() || may_be_beside(at->parts[each], request.sharer));
      if (!fits || !request.is_slice()) return;
      const auto slice = node.geometry().find_place(request.slice, place.slice_start);
      MigPlaceSet& layout = at->layouts[each];
      fits = slice && trial_.ledger().open_beside(place.node, each, layout).contains(*slice);
      if (fits) layout = layout.with(*slice);
    });
  });
  return fits;
}

// Whether one of the two is to have a domain for itself in which the other has GPUs.
bool Shadows::keep_apart(const Start& start, const Start& other) const {
  const ExclusiveDomains& exclusives = trial_.ledger().exclusives();
  if (exclusives.none()) return false;
  std::set<std::pair<ExclusiveId, NodeId>> there;
  for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
    if (request.gpus > 0) there.emplace(request.exclusive, place.node);
  });
  bool apart = false;
  std::optional<std::pair<ExclusiveId, NodeId>> last;
  for_each_place(state_, other, [&](const PodRequest& request, const PodPlacement& place) {
    const std::pair<ExclusiveId, NodeId> looked_at{request.exclusive, place.node};
    if (apart || request.gpus == 0 || last == looked_at) return;
    last = looked_at;
    apart = std::ranges::any_of(there, [&](const auto& each) {
      return exclusives.excludes(request, place.node, PodRequest{.gpus = 1, .exclusive = each.first}, each.second);
    });
  });
  return apart;
}

// By then whoever is let ahead of it has to be gone, or be beside it. Who starts as he was promised himself has been looked at then.
Time Shadows::due(std::size_t shadow, WorkloadId for_whom) const {
  const Shadow& own = all_[shadow];
  if (index_of(for_whom)) return own.at;
  const auto found = foretold_.find(own.start.workload);
  return found != foretold_.end() && found->second.promised == own.at ? found->second.at : own.at;
}

bool Shadows::let(std::size_t shadow, const Start& start, Time end, Time due) {
  const WorkloadId whose = all_[shadow].start.workload;
  if (whose == start.workload) return true;
  // Who is where his queue has reserved is in the way of nobody there who has not reserved it, too.
  if (reserved_ != nullptr && reserved_->is_inside_own(start, state_.workload(whose).queue)) return true;
  if (end <= due) return leaves_hours(all_[shadow], start, plan_.now, all_.size());
  // That somebody to whom room is promised leaves others what they need was seen when it was.
  if (!index_of(start.workload) && mind_each_other(state_, whose, start.workload)) return false;
  if (keep_apart(all_[shadow].start, start)) return false;
  std::vector<NodeThen> beside = then_[shadow];
  return fits_beside(beside, start) && leaves_quota(all_[shadow], start, plan_.now, all_.size());
}

bool Shadows::let(const Start& start) { return let_moved(start, start.workload); }

bool Shadows::let_moved(const Start& moved, WorkloadId claimant) {
  const Time end = end_of(moved);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool goes_before = !claimant.is_none() && takes_promises_of(state_, claimant, all_[i].start.workload);
    if (!let(i, moved, end, due(i, claimant)) && !goes_before) return false;
  }
  return true;
}

bool Shadows::lend(Start& start, Time foretold_end) {
  const WorkloadId id = start.workload;
  // A start of its own is better than a loan.
  if (index_of(id)) return false;
  const Time end = end_of(start);
  Time until = kForever;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (let(i, start, end, all_[i].at) || takes_promises_of(state_, id, all_[i].start.workload)) continue;
    until = std::min(until, Time{all_[i].at.ms - state_.scrub().ms});
  }
  if (until == kForever || foretold_end + terms_of(state_, id).grace > until) return false;
  start.lent_until = until;
  const Time taken_back = end_of(start);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (let(i, start, taken_back, all_[i].at) || takes_promises_of(state_, id, all_[i].start.workload)) continue;
    start.lent_until.reset();
    return false;
  }
  return true;
}

// Whether somebody would not start as promised if that one stayed, who could just be told to stop in time.
bool Shadows::delays_when_due(WorkloadId id) {
  const Time gone = end_of_running(id);
  const Time told_by = plan_.now + terms_of(state_, id).grace + state_.scrub();
  find_ends();
  const std::vector<End> ends = ends_;
  std::erase_if(ends_, [&](const End& each) { return each.workload == id; });
  then_.assign(all_.size(), {});
  bool delays = false;
  for (std::size_t i = 0; !delays && i < all_.size(); ++i) {
    if (all_[i].at >= gone && all_[i].at <= told_by) delays = !is_still_there(all_[i], i);
  }
  ends_ = ends;
  then_.assign(all_.size(), {});
  return delays;
}

std::vector<WorkloadId> Shadows::loans_due() {
  std::vector<WorkloadId> due;
  for (const WorkloadId id : state_.lent()) {
    const bool goes = std::ranges::find(plan_.evictions, id, &Eviction::workload) != plan_.evictions.end();
    if (!goes && state_.workload(id).phase == Phase::kRunning && delays_when_due(id)) due.push_back(id);
  }
  return due;
}

void Shadows::look_again() {
  known_ends_ = false;
  then_.assign(all_.size(), {});
}

bool Shadows::started(const Start& start) {
  known_ends_ = false;
  if (all_.empty()) return false;
  const Time end = end_of(start);
  std::vector<WorkloadId> in_the_way;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (whose == start.workload || end <= all_[i].at) continue;
    const bool apart = keep_apart(all_[i].start, start);
    if (apart || then_[i].empty() || !fits_beside(then_[i], start)) in_the_way.push_back(whose);
  }
  const auto own = index_of(start.workload);
  if (own) replace(*own, std::nullopt);
  // The trial has those elsewhere who move for it; the next cycle looks at what that leaves.
  if (!plan_.migrations.empty()) return own.has_value();
  const auto is_displaced = [&](WorkloadId whose) {
    const std::size_t at = *index_of(whose);
    return !is_still_there(all_[at], at);
  };
  const auto first = std::ranges::find_if(in_the_way, is_displaced);
  if (first == in_the_way.end()) return own.has_value();
  promise_anew_from(*index_of(*first));
  return true;
}

// If it had that room from now on, and ended then.
bool Shadows::would_delay(std::size_t shadow, WorkloadId id, Time end) const {
  const WorkloadId whose = all_[shadow].start.workload;
  return whose != id && end > due(shadow, id) && !takes_promises_of(state_, id, whose);
}

std::vector<Move> Shadows::hold(WorkloadId id) {
  std::vector<Move> moves;
  const Time end = end_of(id, plan_.now);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (!would_delay(i, id, end)) continue;
    std::vector<GpusOfNode> own;
    if (reserved_ != nullptr) own = reserved_->own_places(state_.workload(id).queue, state_.workload(whose).queue);
    hold_back(i, asks_parts(state_, id), moves, own);
  }
  return moves;
}

std::vector<GpusOfNode> Shadows::kept_from(WorkloadId id) const {
  const Time end = end_of(id, plan_.now);
  std::map<NodeId, std::uint64_t> kept;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Shadow& each = all_[i];
    if (!would_delay(i, id, end)) continue;
    for (const PodPlacement& pod : each.start.pods) kept[pod.node] |= pod.gpus.bits();
  }
  std::vector<GpusOfNode> gpus;
  for (const auto& [node, bits] : kept) {
    if (bits != 0) gpus.push_back({node, GpuSet::from_bits(bits)});
  }
  return gpus;
}

std::vector<NodeId> Shadows::nodes_kept_from(WorkloadId id) const {
  const ExclusiveDomains& exclusives = trial_.ledger().exclusives();
  std::set<NodeId> nodes;
  if (exclusives.none()) return {};
  const Time end = end_of(id, plan_.now);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const Shadow& each = all_[i];
    if (!would_delay(i, id, end)) continue;
    for_each_place(state_, each.start, [&](const PodRequest& request, const PodPlacement& place) {
      if (nodes.contains(place.node)) return;
      const std::vector<NodeId> own = exclusives.own_nodes(request, place.node);
      nodes.insert(own.begin(), own.end());
    });
  }
  return {nodes.begin(), nodes.end()};
}

std::optional<Start> Shadows::own_room(WorkloadId id) {
  const auto own = index_of(id);
  if (!own || looks_around(state_, state_.shape(state_.workload(id).shape))) return std::nullopt;
  return put_if_free(all_[*own].start) ? std::optional(all_[*own].start) : std::nullopt;
}

void Shadows::give_back(const std::vector<Move>& moves) {
  for (const Move& move : moves) trial_.apply(inverse(move));
}

}  // namespace berth
