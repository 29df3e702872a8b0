#include "fairness/order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "fairness/gates.h"
#include "fairness/standing.h"
#include "state/moves_may_help.h"

namespace berth {
namespace {

constexpr auto kLaterKey = [](const auto& a, const auto& b) { return a.key > b.key; };
constexpr auto kLaterParty = [](const auto& a, const auto& b) {
  const auto& first = a.heap.front().key;
  const auto& second = b.heap.front().key;
  return std::tie(first.lower_first, a.holds, first) > std::tie(second.lower_first, b.holds, second);
};
constexpr auto kLaterRank = [](const auto& a, const auto& b) { return a.rank > b.rank; };

template <class Entry, class Later>
void pop(std::vector<Entry>& heap, Later later) {
  std::pop_heap(heap.begin(), heap.end(), later);
  heap.pop_back();
}

template <class Entry, class Later>
void push(std::vector<Entry>& heap, Entry entry, Later later) {
  heap.push_back(std::move(entry));
  std::push_heap(heap.begin(), heap.end(), later);
}

}  // namespace

CandidateOrder::CandidateOrder(const State& state, Time now, QuietLines* quiet, const std::vector<Shadow>* shadows)
    : state_(state), now_(now), shadows_(shadows), known_(FlavorSet::first(state.flavors().size())), places_(1) {
  if (quiet != nullptr) quiet->look_at(state);
  state.lines_in_use().for_each([&](QueueId queue) {
    const Line& line = *state.lines()[queue.index()];
    if (quiet != nullptr && quiet->holds(queue, line)) return;
    const bool somebody = add_turn(queue, line);
    if (quiet != nullptr && !somebody) quiet->note(queue, line);
  });
}

const RightsAtAGlance& CandidateOrder::rights() {
  if (!rights_) rights_.emplace(state_);
  return *rights_;
}

// A new one moves the others: only add_turn() asks for queues that have none yet.
CandidateOrder::Place& CandidateOrder::place(QueueId queue) {
  if (queue.is_none()) return places_.front();
  if (place_of_.empty()) place_of_.resize(state_.queues().size());
  std::uint32_t& at = place_of_[queue.index()];
  if (at == 0) {
    at = static_cast<std::uint32_t>(places_.size());
    places_.emplace_back();
  }
  return places_[at];
}

// Who was blocked, and not for want of room alone, or may take others' room, or have others moved.
bool CandidateOrder::may_be_possible_now(QueueId queue, const ShapeInLine& entry) {
  const Shape& shape = state_.shape(entry.shape);
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    const AmountList asked = asked_by(state_, queue, shape, way);
    if (entry.by_quota && !quota_refusal(state_.quotas(), queue, shape.user, shape.terms, asked)) return true;
    if (rights().may_take(queue, shape.terms, asked, !shape.cools)) return true;
    if (moves_may_help(state_, shape, way) && !quota_refusal(state_.quotas(), queue, shape.user, shape.terms, asked)) {
      return true;
    }
  }
  return false;
}

// Somebody is ended by his limit, though he starts only now, a node that is closed opens again, or the calendar turns: so some start
// can be promised.
bool CandidateOrder::some_end_is_known() const {
  return limited_started_ || state_.limited() > 0 || !state_.reservations().empty() || !state_.windows().empty();
}

bool CandidateOrder::has_shadow(WorkloadId workload) const {
  return shadows_ != nullptr && std::ranges::find(*shadows_, workload, [](const Shadow& each) {
                                  return each.start.workload;
                                }) != shadows_->end();
}

bool CandidateOrder::has_shadow_in(QueueId line) const {
  return shadows_ != nullptr && std::ranges::any_of(*shadows_, [&](const Shadow& each) {
           return state_.line_of(state_.workload(each.start.workload).queue) == line;
         });
}

// Of those who are alike, from one of them on, the first who was promised to start by then. Not always the first of all has a promise:
// others who came earlier may have joined the line after it was made, or have been let ahead on loan.
std::optional<CandidateOrder::Cursor> CandidateOrder::first_promised(QueueId line, const ShapeInLine& shape,
                                                                     Cursor from, Time by) const {
  const PendingKey* const one = shape.waiting.at(from);
  if (shadows_ == nullptr || one == nullptr) return std::nullopt;
  std::optional<PendingKey> first;
  for (const Shadow& each : *shadows_) {
    const Workload& workload = state_.workload(each.start.workload);
    const bool waits = workload.phase == Phase::kPending && !state_.is_kept_aside(each.start.workload);
    if (!waits || each.at > by || workload.shape != shape.shape || state_.line_of(workload.queue) != line) continue;
    const PendingKey key = state_.key_of(each.start.workload);
    if (key >= *one && (!first || key < *first)) first = key;
  }
  return first ? std::optional(shape.waiting.cursor_at(*first)) : std::nullopt;
}

// Of those who are alike the first to whom nothing is promised stands behind those who have a promise.
bool CandidateOrder::twin_wants_promise(const ShapeInLine& shape) const {
  auto at = shape.waiting.begin_cursor();
  const PendingKey* twin = shape.waiting.at(at);
  while (twin != nullptr && has_shadow(twin->workload)) {
    shape.waiting.advance(at);
    twin = shape.waiting.at(at);
  }
  return twin != nullptr;
}

// Among those of a line with backfill who are known not to fit: somebody whom nothing is promised to, and might be.
bool CandidateOrder::somebody_wants_promise(QueueId queue, const Line& line) const {
  if (shadows_ == nullptr || shadows_->size() >= kShadowsMax || !some_end_is_known()) return false;
  PromisedInLine promised(state_.queues()[queue.index()].quota.backfill);
  bool wanted = false;
  line.heads().for_each([&](const Head& head) {
    const ShapeInLine& entry = line.shapes()[head.shape_index];
    if (wanted || !entry.blocked()) return;
    const FlavorSet flavors = state_.shape(entry.shape).flavors;
    const bool has_one = has_shadow(head.key.workload);
    wanted = has_one ? promised.is_for_all() && waits_for_room(entry.gate) && twin_wants_promise(entry)
                     : promised.wants_promise(entry.gate, flavors);
    promised.lets_pass(entry.gate, flavors, has_one);
  });
  return wanted;
}

// Most often a strict line stands still behind its first, and there is nothing to set up.
bool CandidateOrder::stands_still(QueueId queue, const Line& line) const {
  const Head& first = line.heads().front();
  const ShapeInLine& entry = line.shapes()[first.shape_index];
  const Shape& shape = state_.shape(entry.shape);
  if (!entry.blocked() || !shape.flavors.contains_all(known_) || lacks_hours(state_, queue, shape)) return false;
  if (!waits_for_room(entry.gate)) return true;
  if (state_.queues()[queue.index()].quota.backfill == Backfill::kNone) return state_.reservations().empty();
  return !has_shadow_in(queue) && !somebody_wants_promise(queue, line);
}

bool CandidateOrder::add_turn(QueueId queue, const Line& line) {
  const bool strict = line.order() == Order::kFifo;
  const bool retry = line.gated() > 0 || rights().any_in(queue) || state_.movable() > 0;
  const bool fair = is_fair_to_users(state_, queue);
  if (strict && !retry && !fair && !line.heads().empty() && stands_still(queue, line)) return false;
  std::vector<Entry> entries;
  // Whoever is to start by now at the latest is tried in any case.
  const auto add = [&](const ShapeInLine& shape, bool blocked) {
    const PendingKey& first = shape.waiting.front();
    const auto at = shape.waiting.begin_cursor();
    entries.push_back({first, &shape, at, blocked && !first_promised(queue, shape, at, now_)});
  };
  line.heads().for_each([&](const Head& head) {
    const ShapeInLine& shape = line.shapes()[head.shape_index];
    if (!shape.blocked() || !retry) add(shape, shape.blocked());
  });
  for (const ShapeInLine& shape : line.shapes()) {
    if (!retry || !shape.blocked() || shape.impossible_for_good() || shape.waiting.empty()) continue;
    const bool again = may_be_possible_now(queue, shape);
    if (again || (strict && !shape.in_nobodys_way())) add(shape, !again);
  }
  // Where all are blocked they hold each other up, and nobody else.
  const bool all_blocked = std::ranges::all_of(entries, [](const Entry& entry) { return entry.blocked; });
  if (entries.empty() || (all_blocked && !(strict && somebody_wants_promise(queue, line)))) return false;
  const Backfill backfill = shadows_ != nullptr ? state_.queues()[queue.index()].quota.backfill : Backfill::kNone;
  Turn turn{.line = &line,
            .queue = queue,
            .fair = fair,
            .parties = {},
            .kept = {},
            .kept_later = {},
            .promised = PromisedInLine(backfill),
            .has_shadows = has_shadow_in(queue)};
  add_parties(turn, std::move(entries));
  place(queue).turn = turns_.size();
  turns_.push_back(std::move(turn));
  // The first time that a queue is reached it becomes one of those below its parent.
  const QuotaTree& tree = state_.quotas().tree();
  for (QueueId child = queue; !child.is_none(); child = tree.parent(child)) {
    std::vector<QueueId>& siblings = place(tree.parent(child)).below;
    if (std::find(siblings.begin(), siblings.end(), child) != siblings.end()) break;
    siblings.push_back(child);
    place(child).past = state_.past_use(child, now_);
  }
  return true;
}

void CandidateOrder::add_parties(Turn& turn, std::vector<Entry> entries) const {
  const auto user_of = [&](const Entry& entry) { return state_.shape(entry.shape->shape).user; };
  const bool one_user =
      std::ranges::all_of(entries, [&](const Entry& entry) { return user_of(entry) == user_of(entries.front()); });
  if (!one_user) std::ranges::stable_sort(entries, {}, user_of);
  for (Entry& entry : entries) {
    const UserId user = user_of(entry);
    if (turn.parties.empty() || turn.parties.back().user != user) {
      turn.parties.push_back({.user = user, .holds = {}, .heap = {}, .kept = {}});
    }
    turn.parties.back().heap.push_back(std::move(entry));
  }
  for (Party& party : turn.parties) std::make_heap(party.heap.begin(), party.heap.end(), kLaterKey);
}

// By what users hold now.
void CandidateOrder::arrange(Turn& turn) const {
  for (Party& party : turn.parties) {
    if (turn.fair) party.holds = share_of_user(state_.quotas(), state_.flavors(), turn.queue, party.user);
  }
  std::make_heap(turn.parties.begin(), turn.parties.end(), kLaterParty);
}

CandidateOrder::Cursor CandidateOrder::behind_it(const Entry& entry) {
  Cursor next = entry.at;
  entry.shape->waiting.advance(next);
  return next;
}

// Whoever is first has been tried. If it started its user holds more; the next of its shape may stand in its place.
void CandidateOrder::drop_first(Turn& turn, std::optional<Cursor> next_of_shape) {
  std::pop_heap(turn.parties.begin(), turn.parties.end(), kLaterParty);
  Party& party = turn.parties.back();
  Entry entry = party.heap.front();
  pop(party.heap, kLaterKey);
  if (next_of_shape) {
    entry.at = *next_of_shape;
    if (const PendingKey* const following = entry.shape->waiting.at(entry.at)) {
      entry.key = *following;
      push(party.heap, entry, kLaterKey);
    }
    if (turn.fair) party.holds = share_of_user(state_.quotas(), state_.flavors(), turn.queue, party.user);
  }
  if (party.heap.empty()) {
    turn.parties.pop_back();
  } else {
    std::push_heap(turn.parties.begin(), turn.parties.end(), kLaterParty);
  }
}

// It is tried again for that.
bool CandidateOrder::may_be_promised(const Turn& turn, ReasonCode gate, const Shape& shape) const {
  return shadows_ != nullptr && shadows_->size() < kShadowsMax && some_end_is_known() &&
         turn.promised.wants_promise(gate, shape.flavors);
}

// Where nobody is promised anything it is asked, too, whether reservations leave him a moment at all.
bool CandidateOrder::may_hold_up_in_vain(const Turn& turn, ReasonCode gate) const {
  const bool promises = state_.queues()[turn.queue.index()].quota.backfill != Backfill::kNone;
  return shadows_ != nullptr && !promises && waits_for_room(gate) && !state_.reservations().empty();
}

// The answer is shared by all who are alike, but a promise is of one: where everybody is to have one, the next is looked at, too.
bool CandidateOrder::twins_are_promised_room(const Turn& turn, ReasonCode gate, WorkloadId workload) const {
  return turn.promised.is_for_all() && waits_for_room(gate) && shadows_->size() < kShadowsMax && has_shadow(workload);
}

bool CandidateOrder::is_kept_later(const Turn& turn, const Shape& shape) const {
  return std::ranges::any_of(turn.kept_later, [&](const KeptLater& each) {
    return each.flavors.meets(shape.flavors) && enforced_end(shape.terms, now_) > each.from;
  });
}

void CandidateOrder::drop_the_held(Turn& turn) {
  if (turn.line->order() != Order::kFifo) return;
  while (!turn.parties.empty()) {
    if (turn.kept.is_everything(known_) && !turn.has_shadows) {
      turn.parties.clear();
      return;
    }
    Party& party = turn.parties.front();
    const Entry& first = party.heap.front();
    const Shape& shape = shape_of(first);
    // To whom room is promised stands behind nobody.
    const bool has_one = turn.has_shadows && has_shadow(first.key.workload);
    const bool behind = !has_one && (turn.kept.is_wanted_by(state_, turn.queue, shape) ||
                                     party.kept.is_wanted_by(state_, turn.queue, shape) || is_kept_later(turn, shape));
    if (!first.blocked && !behind) return;
    bool looks_at_twin = false;
    // Who did not fit when it was tried holds others also from behind: whoever comes before it lets nobody pass it.
    if (first.shape->blocked() && !first.shape->impossible()) {
      const ReasonCode gate = first.shape->gate;
      const bool is_asked = may_be_promised(turn, gate, shape) || may_hold_up_in_vain(turn, gate);
      if (!behind && !has_one && is_asked) return;
      if (!turn.promised.lets_pass(gate, shape.flavors, has_one)) {
        keep_back(state_, turn.queue, shape, gate, turn.kept, party.kept);
      }
      looks_at_twin = twins_are_promised_room(turn, gate, first.key.workload);
    }
    // Who is due starts, though the first of those like him joined the line later and stands behind somebody.
    const Cursor next = behind_it(first);
    drop_first(turn, looks_at_twin ? std::optional(next) : first_promised(turn.queue, *first.shape, next, now_));
  }
}

std::optional<WorkloadId> CandidateOrder::next() {
  if (!ranked_) {
    build(QueueId());
    ranked_ = true;
  }
  path_.clear();
  current_ = nullptr;
  for (QueueId queue;;) {
    const Place& at = place(queue);
    if (at.named.empty()) {
      if (!at.turn) return std::nullopt;
      current_ = &turns_[*at.turn];
      break;
    }
    const QueueId child = at.named.front().queue;
    path_.push_back(child);
    if (child == queue) {
      current_ = &turns_[*at.turn];
      break;
    }
    queue = child;
  }
  return current_->first().key.workload;
}

void CandidateOrder::started() {
  BERTH_ASSERT(current_ != nullptr);
  limited_started_ = limited_started_ || shape_of(current_->first()).terms.run_limit.has_value();
  drop_first(*current_, behind_it(current_->first()));
  moved_on();
}

bool CandidateOrder::wants_promise(ReasonCode gate) const {
  BERTH_ASSERT(current_ != nullptr);
  if (current_->line->order() != Order::kFifo) return false;
  const Entry& first = current_->parties.front().heap.front();
  return !has_shadow(first.key.workload) && may_be_promised(*current_, gate, shape_of(first));
}

bool CandidateOrder::may_hold_up_in_vain(ReasonCode gate) const {
  BERTH_ASSERT(current_ != nullptr);
  return current_->line->order() == Order::kFifo && may_hold_up_in_vain(*current_, gate);
}

void CandidateOrder::refused(ReasonCode gate, Time from, bool next_may_fit) {
  BERTH_ASSERT(current_ != nullptr);
  const Cursor next = behind_it(current_->first());
  std::optional<Cursor> twin = next_may_fit ? std::optional(next) : std::nullopt;
  if (current_->line->order() == Order::kFifo) {
    Party& party = current_->parties.front();
    const Entry& first = party.heap.front();
    const Shape& shape = shape_of(first);
    const bool lets_pass = current_->promised.lets_pass(gate, shape.flavors, has_shadow(first.key.workload));
    if (!lets_pass && from > now_) {
      current_->kept_later.push_back({shape.flavors, from});
    } else if (!lets_pass) {
      keep_back(state_, current_->queue, shape, gate, current_->kept, party.kept);
    }
    if (twins_are_promised_room(*current_, gate, first.key.workload)) twin = next;
    // What is promised to one who is alike keeps him out, and lets that one start, also before it is due.
    const bool may_be_for_twin = gate != ReasonCode::kNone && waits_for_room(gate);
    if (!twin) twin = first_promised(current_->queue, *first.shape, next, may_be_for_twin ? kForever : now_);
  }
  drop_first(*current_, twin);
  moved_on();
}

void CandidateOrder::passed_over() {
  BERTH_ASSERT(current_ != nullptr);
  drop_first(*current_, std::nullopt);
  moved_on();
}

void CandidateOrder::rank_again() { ranked_ = false; }

// Whoever was next has gone; from its queue upwards each names another, and only those queues hold more than before.
void CandidateOrder::moved_on() {
  current_ = nullptr;
  if (!ranked_) return;
  for (std::size_t level = path_.size(); level-- > 0;) {
    const QueueId child = path_[level];
    const QueueId parent = level == 0 ? QueueId() : path_[level - 1];
    pop(place(parent).named, kLaterRank);
    auto candidate = child == parent ? named_by_line(*place(child).turn) : named_by(child);
    if (candidate) name(parent, child, std::move(*candidate));
  }
}

void CandidateOrder::build(QueueId queue) {
  Place& at = place(queue);
  at.named.clear();
  if (at.turn) arrange(turns_[*at.turn]);
  for (const QueueId child : at.below) {
    build(child);
    if (auto candidate = named_by(child)) name(queue, child, std::move(*candidate));
  }
  if (!at.turn || at.named.empty()) return;
  if (auto candidate = named_by_line(*at.turn)) name(queue, queue, std::move(*candidate));
}

std::optional<Candidate> CandidateOrder::named_by(QueueId queue) {
  const Place& at = place(queue);
  if (at.named.empty()) return at.turn ? named_by_line(*at.turn) : std::nullopt;
  Candidate candidate = at.named.front().candidate;
  candidate.covered = !at.named.front().rank.outside;
  return candidate;
}

std::optional<Candidate> CandidateOrder::named_by_line(std::size_t turn_index) {
  Turn& turn = turns_[turn_index];
  drop_the_held(turn);
  if (turn.parties.empty()) return std::nullopt;
  const Entry& first = turn.first();
  if (turns_.size() == 1) return Candidate{.workload = first.key.workload};  // nobody to be compared with
  return candidate_of(state_, turn.queue, first.key.workload);
}

void CandidateOrder::name(QueueId parent, QueueId child, Candidate candidate) {
  Rank rank{.counts_for_nothing = candidate.best_effort,
            .outside = is_outside(state_, parent, child, candidate),
            .fraction = {},
            .candidate = candidate.workload};
  if (turns_.size() > 1) {
    rank.fraction = fraction_of(state_, parent, child, candidate, rank.outside, place(child).past);
  }
  push(place(parent).named, Child{rank, std::move(candidate), child}, kLaterRank);
}

}  // namespace berth
