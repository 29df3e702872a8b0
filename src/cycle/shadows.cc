#include "cycle/shadows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include "cycle/deliverable.h"
#include "cycle/for_each_place.h"
#include "cycle/mixtures.h"
#include "cycle/outranks.h"
#include "cycle/recutting.h"
#include "cycle/shadows_later.h"
#include "cycle/terms_of.h"
#include "fairness/gates.h"
#include "placement/place.h"
#include "state/idle_room.h"
#include "state/neighbours_apart.h"
#include "state/room.h"
#include "state/turns.h"

namespace berth {
namespace {

// So many turns of the calendar are looked ahead.
constexpr std::size_t kTurnsMax = 100;
// And the ends of reservations of so long: a week of days that are not alike, and the night behind it.
constexpr Duration kReservationsAhead = seconds(std::int64_t{8} * 24 * 3600);

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

bool is_kept(const KeptRoom& kept, NodeId node) {
  return std::ranges::binary_search(kept.nodes, node) ||
         std::ranges::binary_search(kept.gpus, node, {}, &GpusOfNode::node);
}

// Whether it fits open nodes of which nothing is kept, were they idle. Most often it does, and that costs little. Who asks for more
// than room on nodes, or is of several sets, is not looked at.
bool fits_idle_nodes(const State& state, const Shape& shape, const KeptRoom& kept) {
  return std::ranges::any_of(shape.ways, [&](const auto& way) {
    const NumberedPodSet& set = way.front();
    const PodRequest& request = state.request(set.request);
    const bool is_alone = state.ledger().exclusives().is_exclusive(request.exclusive);
    if (way.size() > 1 || set.asks_for_domains() || is_alone || request.neighbours != NeighboursId(0)) return false;
    std::int64_t room = 0;
    for (std::size_t node = 0; node < state.nodes() && room < set.count; ++node) {
      const NodeId id(node);
      if (state.ledger().node(id).open && !is_kept(kept, id)) room += idle_room_on(state, request, id);
    }
    return room >= set.count;
  });
}

// Whether as many whole GPUs of each flavor are free as are kept.
bool has_whole_ones(const Trial& trial, const KeptRoom& kept) {
  const Ledger& ledger = trial.ledger();
  std::map<std::size_t, std::int64_t> lacking;
  for (const GpusOfNode& each : kept.gpus) lacking[ledger.node(each.node).flavor] += each.gpus.size();
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    const NodeFree& node = ledger.node(NodeId(i));
    const auto asked = lacking.find(node.flavor);
    if (node.open && node.gpus > 0 && asked != lacking.end()) asked->second -= node.whole_gpus;
  }
  return std::ranges::all_of(lacking, [](const auto& each) { return each.second <= 0; });
}

}  // namespace

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
  std::optional<Start> found;
  bool no_room = false;
  likes_a_mixture(state_, trial_, workload.queue, shape, way, [&](const Mixture* mixture) {
    const Trial::Mark mark = trial_.mark();
    // A stream of its own: what is only thought of changes no draw.
    Rng rng(state_.seed(), id.value());
    auto outcome = place_in_way(state_, trial_, index_, id, way, rng, mixture);
    Start* const start = std::get_if<Start>(&outcome);
    no_room = start == nullptr && mixture == nullptr;
    if (start != nullptr && !refused(amounts_held(state_, shape, *start))) found = std::move(*start);
    if (!found) trial_.rollback_to(mark);
    return found || no_room;
  });
  return found;
}

// False: not all of it, and nothing then.
bool Shadows::put_if_free(const Start& start) {
  const Trial::Mark mark = trial_.mark();
  bool free = true;
  for_each_place(state_, start, [&](const PodRequest& request, const PodPlacement& place) {
    free = free && is_free(trial_.ledger(), request, place) &&
           trial_.ledger().matches().allows(request.constraints, place.node) &&
           !is_kept_away(trial_.ledger().neighbourhood(), request.neighbours, place.node);
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
    } else if (end_of(other) > then && !put_if_free(other.start)) {
      return false;
    }
  }
  std::vector<Move> moves;
  for (const std::size_t each : later) hold_back(each, id, moves);
  return true;
}

// Those who come later than it would, and before it has ended. Who was promised his room beside it minds it no more.
bool Shadows::leaves_others(const Start& start, Time then, std::size_t others, bool is_new) {
  const Time begins = begins_by(state_, start, then);
  const Time end = end_of(start.workload, begins);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (whose == start.workload || all_[i].at <= then || takes_promises_of(state_, start.workload, whose)) continue;
    if (!leaves_hours(all_[i], start, begins, others)) return false;
    if (end <= all_[i].at) continue;
    if (keep_apart(all_[i].start, start)) return false;
    std::vector<NodeThen> beside = then_[i];
    if (is_new && mind_each_other(whose, start.workload)) return false;
    if (!fits_beside(beside, start)) return false;
    if (!leaves_quota(all_[i], start, begins, others)) return false;
  }
  return true;
}

// Before its hours are over, and before what is reserved there, though GPUs are cut for it first.
bool Shadows::ends_in_time(const Shadow& shadow) const {
  const bool in_its_hours = begins_by(state_, shadow) < too_late_in_its_hours(state_, shadow.start.workload, plan_.now);
  return in_its_hours && (reserved_ == nullptr || reserved_->lets_then(shadow.start, shadow.at));
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
  if (start && would_break_floors(*start, then)) start.reset();
  if (start && !ends_in_time({then, *start})) start.reset();
  if (start && reserved_ != nullptr && !reserved_->leaves_what_they_lack(id, then)) start.reset();
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

// When somebody ends, or somebody to whom room is promised would, or a GPU may be cut anew, or the calendar turns; ascending, each once.
std::vector<Time> Shadows::moments(WorkloadId id, Time before, std::size_t others) {
  std::vector<Time> found;
  for (const End& each : ends_) found.push_back(each.at);
  const bool cuts = std::ranges::any_of(state_.shape(state_.workload(id).shape).ways, [&](const auto& way) {
    return std::ranges::any_of(way, [&](const auto& set) { return state_.request(set.request).is_slice(); });
  });
  for (const auto& [until, device] : state_.resting()) {
    if (cuts) found.push_back(until);
  }
  if (reserved_ != nullptr) std::ranges::copy(reserved_->ends(), std::back_inserter(found));
  std::ranges::transform(calendar(), std::back_inserter(found), &LaterTree::from);
  for (std::size_t i = 0; i < others; ++i) {
    const WorkloadId whose = all_[i].start.workload;
    if (whose != id) found.push_back(end_of(all_[i]));
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
// But where the calendar has hours of queues, a turn is a moment of its own, at which nobody gives back, and which lowers a floor that
// rises again: then it is asked of that moment, beside all whose limits have not ended them.
bool Shadows::would_break_floors(const Start& start, Time at) {
  if (at <= plan_.now) return !leaves_floors_whole(state_, trial_, start, plan_.now);
  const auto is_of_a_queue = [](const Window& each) { return !each.queue.is_none(); };
  if (std::ranges::none_of(state_.windows(), is_of_a_queue)) return false;
  return !leaves_floors_whole_then(state_, trial_, start, at, hours_from(at));
}

// That of the moment, and then each as it first comes. What comes after all turns that are looked at may be any of them.
std::vector<FloorRise> Shadows::hours_from(Time at) {
  const auto next = std::ranges::upper_bound(calendar(), at, {}, &LaterTree::from);
  const auto not_owned = [](const QuotaTree& tree) {
    return std::shared_ptr<const QuotaTree>(std::shared_ptr<const QuotaTree>(), &tree);
  };
  const auto first = next == calendar().begin() ? not_owned(state_.quotas().tree()) : std::prev(next)->tree;
  std::vector<FloorRise> hours = {{at, first, FlavorSet::all()}};
  const auto add = [&](Time from, const std::shared_ptr<const QuotaTree>& tree) {
    const bool is_known = std::ranges::find(hours, tree, &FloorRise::tree) != hours.end();
    if (!is_known) hours.push_back({from, tree, FlavorSet::all()});
  };
  for (auto later = next; later != calendar().end(); ++later) add(later->from, later->tree);
  for (auto before = calendar().begin(); before != next; ++before) add(calendar().back().from, before->tree);
  return hours;
}

bool Shadows::is_still_there(const Shadow& shadow, std::size_t others) {
  if (!ends_in_time(shadow)) return false;
  find_ends();
  look(others, shadow.start.workload);
  Later later(*this, plan_.now + Duration{1});
  later.go_to(shadow.at);
  const Trial::Mark mark = trial_.mark();
  bool there = take_others(shadow.start.workload, shadow.at, others);
  if (there && reserved_ != nullptr) trial_.keep_from_all(reserved_->kept_from(shadow.start.workload, shadow.at));
  there = there && put_if_free(shadow.start) && !would_break_floors(shadow.start, shadow.at);
  trial_.let_go();
  there = there && (reserved_ == nullptr || reserved_->leaves_what_they_lack(shadow.start.workload, shadow.at));
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

// Of those of a line who are alike he comes first who was evicted and comes back before one of them to whom room was promised, for others
// took his: else that would keep him from starting, and he the other. Who was there on loan has had the better of them once; and who
// joins the line ahead since his moment or his turn has come, or from another queue, has lost nothing: it stays with whom it was made to.
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
      const bool is_owed =
          state_.workload(other).raised <= state_.workload(id).raised && !state_.workload(other).evicted_for.is_none();
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
  look_again();
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

// With what quotas count of them. False: somebody is about to leave or to come, or lacks pods.
bool Shadows::take_out_all() {
  if (!plan_.evictions.empty() || !plan_.repairs.empty() || !plan_.migrations.empty()) return false;
  std::vector<End> all;
  std::vector<UnitId> units;
  for (std::size_t queue = 0; queue < state_.queues().size(); ++queue) {
    for (const UnitId unit : trial_.quotas().units_in(QueueId(queue))) {
      const WorkloadId id = trial_.quotas().unit(unit).workload;
      const auto start = std::ranges::find(plan_.starts, id, &Start::workload);
      const bool starts = start != plan_.starts.end() && !start->waits;
      const bool runs = state_.workload(id).phase == Phase::kRunning && state_.find_repairing(id) == nullptr;
      if (!starts && !runs) return false;
      all.push_back({plan_.now, id, starts ? &*start : nullptr});
      units.push_back(unit);
    }
  }
  for (const End& each : all) {
    for_each_pod_of(each, [&](const PodRequest& request, const PodPlacement& place) {
      trial_.depart(move_of(request, place, Move::Direction::kGive), Emptied::kCountsAsScrubbed);
    });
  }
  for (const UnitId unit : units) trial_.remove(unit);
  return true;
}

void Shadows::open_by(Time then) {
  if (!state_.resting().empty()) {
    std::vector<Device> rested;
    for (const auto& [until, device] : state_.resting()) {
      if (until <= then) rested.push_back(device);
    }
    trial_.end_rests(std::move(rested));
  }
  if (openings_.empty()) return;
  std::vector<NodeId> open;
  for (const Opening& each : openings_) {
    if (each.at <= then) open.push_back(each.node);
  }
  trial_.end_maintenance(std::move(open));
}

void Shadows::open_no_more() {
  if (!state_.resting().empty()) trial_.end_rests({});
  if (!openings_.empty()) trial_.end_maintenance({});
}

// PRE: all are out of the trial. What is reserved keeps its places, or may be elsewhere if as much is left then.
bool Shadows::fits_beside(WorkloadId id, const KeptRoom& kept) {
  const std::size_t ways = state_.shape(state_.workload(id).shape).ways.size();
  const auto fits = [&](KeptRoom besides, auto leaves) {
    const Trial::Mark mark = trial_.mark();
    trial_.keep_from_all(std::move(besides));
    bool found = false;
    for (std::size_t way = 0; !found && way < ways; ++way) {
      Rng rng(state_.seed(), id.value());
      found = std::holds_alternative<Start>(place_in_way(state_, trial_, index_, id, way, rng)) && leaves();
    }
    trial_.let_go();
    trial_.rollback_to(mark);
    return found;
  };
  if (fits(kept, [] { return true; })) return true;
  return !kept.gpus.empty() && fits({.gpus = {}, .nodes = kept.nodes}, [&] { return has_whole_ones(trial_, kept); });
}

Time Shadows::could_start_from(WorkloadId id) {
  if (reserved_ == nullptr || reserved_->none()) return plan_.now;
  const Workload& workload = state_.workload(id);
  const Shape& shape = state_.shape(workload.shape);
  if (fits_idle_nodes(state_, shape, reserved_->kept_from(id, plan_.now))) return plan_.now;
  find_ends();
  Time first = plan_.now;
  const Trial::Mark mark = trial_.mark();
  if (take_out_all()) {
    open_by(kForever);
    // Where something else is in its way, too, it waits for that.
    if (fits_beside(id, {})) first = fits_idle_from(id);
    open_no_more();
  }
  trial_.rollback_to(mark);
  return first;
}

// PRE: all are out of the trial. What is reserved beyond the floors of others gives way to who would be covered then (rule 13).
Time Shadows::fits_idle_from(WorkloadId id) {
  const Workload& workload = state_.workload(id);
  const Shape& shape = state_.shape(workload.shape);
  const QuotaLedger& quotas = trial_.quotas();
  const QueueId covered_at =
      shape.terms.best_effort ? QueueId()
                              : quotas.would_be_covered_at(workload.queue, asked_by(state_, workload.queue, shape, 0),
                                                           quotas.end_of(shape.terms));
  const Heeding heeding = covered_at.is_none() ? Heeding::kAll : Heeding::kInsideFloors;
  std::vector<Time> moments = reserved_->turns(std::nullopt, plan_.now + kReservationsAhead);
  moments.push_back(plan_.now);
  std::erase_if(moments, [&](Time each) { return each < plan_.now; });
  std::ranges::sort(moments);
  std::optional<KeptRoom> kept_before;
  for (const Time then : moments) {
    open_by(then);
    KeptRoom kept = reserved_->kept_from(id, then, heeding, covered_at);
    // Most often it is the same each day.
    if (kept_before && kept_before->gpus == kept.gpus && kept_before->nodes == kept.nodes) continue;
    if (fits_beside(id, kept)) return then;
    kept_before = std::move(kept);
  }
  return kForever;
}

}  // namespace berth
