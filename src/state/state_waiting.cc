// Queues, and who waits where in them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "state/state.h"

namespace berth {

namespace {

// The strongest best effort stands behind the weakest of all that count, however much it was raised.
constexpr std::int64_t kBehindAllPriorities = 3 * std::int64_t{kPriorityMax} + 1;

// Who stands elsewhere in his line from now on keeps what he was promised: the next cycle looks whether it holds.
std::vector<Shadow> of_who_still_waits(const State& state, std::vector<Shadow> promised) {
  std::erase_if(promised, [&](const Shadow& each) { return state.is_kept_aside(each.start.workload); });
  return promised;
}

}  // namespace

QueueId State::line_of(QueueId queue) const {
  while (!queues_[queue.index()].order) queue = queues_[queue.index()].parent;
  return queue;
}

PendingKey State::key_of(WorkloadId id) const {
  const Workload& workload = workloads_[id];
  const Terms& terms = shapes_[workload.shape.index()].terms;
  const std::int64_t lower_first = (terms.best_effort ? kBehindAllPriorities : 0) - terms.priority - workload.raised;
  if (workload.goes_first) {
    return {.lower_first = lower_first,
            .first = std::numeric_limits<std::int64_t>::min(),
            .second = workload.submitted.ms,
            .workload = id};
  }
  if (lines_[line_of(workload.queue).index()]->order() != Order::kSjf) {
    // Who is submitted anew with the time of an earlier attempt has its place again.
    return {.lower_first = lower_first, .first = workload.submitted.ms, .workload = id};
  }
  const bool declared = workload.declared_run != kRunNotDeclared;
  return {.lower_first = lower_first,
          .first = declared ? workload.declared_run.ms : std::numeric_limits<std::int64_t>::max(),
          .second = shapes_[workload.shape.index()].gpu_milli,
          .third = workload.rank,
          .workload = id};
}

QueueId State::tenant_of(QueueId queue) const {
  const auto is_tenant = [&](QueueId at) {
    return queues_[at.index()].parent.is_none() || ledger_.trust().was_named(at);
  };
  while (!is_tenant(queue)) queue = queues_[queue.index()].parent;
  return queue;
}

QueueId State::held_at(QueueId queue) const {
  while (!queue.is_none() && !queues_[queue.index()].held) queue = queues_[queue.index()].parent;
  return queue;
}

QueueId State::closed_at(QueueId queue) const {
  while (!queue.is_none() && !queues_[queue.index()].closed) queue = queues_[queue.index()].parent;
  return queue;
}

bool State::is_kept_aside(WorkloadId id) const {
  const Workload& workload = workloads_[id];
  const bool aside = workload.shut_out || workload.too_early || workload.follows || workload.awaits_turn ||
                     !workload.step_of.is_none();
  return workload.phase == Phase::kPending && (aside || !held_at(workload.queue).is_none());
}

Time State::borrows_again_at(WorkloadId id) const {
  const Workload& workload = workloads_[id];
  return workload.gave_back ? *workload.gave_back + queues_[workload.queue.index()].quota.cooldown : Time{INT64_MIN};
}

bool State::is_below(QueueId queue, QueueId above) const {
  while (!queue.is_none() && queue != above) queue = queues_[queue.index()].parent;
  return !queue.is_none();
}

// At the queue too.
std::vector<WorkloadId> State::waiting_below(QueueId queue) const {
  std::vector<WorkloadId> waiting;
  workloads_.for_each([&](WorkloadId id, const Workload& workload) {
    if (workload.phase == Phase::kPending && is_below(workload.queue, queue)) waiting.push_back(id);
  });
  return waiting;
}

bool State::users_matter(QueueId queue) const {
  // What is foretold of a run is of its user's, too.
  if (queues_[line_of(queue).index()].quota.loans_percent > 0) return true;
  while (!queue.is_none() && !queues_[queue.index()].quota.looks_at_users()) queue = queues_[queue.index()].parent;
  return !queue.is_none();
}

QueueId State::home_of(QueueId queue) const {
  if (ledger_.matches().dedications().empty()) return {};
  while (!queue.is_none() && queues_[queue.index()].quota.dedicated.empty()) queue = queues_[queue.index()].parent;
  return queue;
}

// All that it asks, in every way.
template <class Change>
void State::change_requests(Shape& shape, Change change) {
  const auto changed = [&](RequestId id) {
    PodRequest request = requests_[id.index()];
    change(request);
    return RequestId(requests_.intern(request));
  };
  for (auto& way : shape.ways) {
    for (NumberedPodSet& set : way) {
      set.request = changed(set.request);
      set.in_first_flavor = changed(set.in_first_flavor);
    }
  }
}

void State::go_home(Shape& shape, QueueId home) {
  change_requests(shape, [&](PodRequest& request) {
    request.constraints = ledger_.matches().with_home(request.constraints, home, *nodes_);
  });
}

// Identical work of two is not the same where it may not be together.
void State::tell_whose_parts(Workload& workload) {
  if (!shapes_[workload.shape.index()].has_sharers) return;
  const QueueId tenant = tenant_of(workload.queue);
  Shape shape = shapes_[workload.shape.index()];
  change_requests(shape, [&](PodRequest& request) {
    if (!ledger_.has_sharer(request)) return;
    request.sharer = ledger_.trust().intern({.tenant = tenant,
                                             .user = request.is_mps() ? workload.user : UserId(),
                                             .vgpu_milli = request.is_vgpu() ? request.gpu_milli : 0});
  });
  workload.shape = ShapeId(shapes_.intern(shape));
}

// Under which this part of it has domains for itself, or is at home with who has. Numbers are used again: what is kept for each
// distinct request does not grow with the work that has come and gone.
std::uint32_t State::number_as_owner(WorkloadId id, WorkloadId at_home_with, const std::string& part) {
  const auto is_of = [&](const ExclusiveOwner& each, WorkloadId of) {
    return each.part == part && std::ranges::find(each.workloads, of) != each.workloads.end();
  };
  const auto first = [&](const auto& which) { return std::ranges::find_if(exclusive_owners_, which); };
  auto found = first([&](const ExclusiveOwner& each) { return is_of(each, id); });
  if (found == exclusive_owners_.end() && !at_home_with.is_none())
    found = first([&](const ExclusiveOwner& each) { return is_of(each, at_home_with); });
  if (found == exclusive_owners_.end())
    found = first([](const ExclusiveOwner& each) { return each.workloads.empty(); });
  if (found == exclusive_owners_.end()) found = exclusive_owners_.emplace(found);
  if (!is_of(*found, id)) found->workloads.push_back(id);
  found->part = part;
  return static_cast<std::uint32_t>(found - exclusive_owners_.begin());
}

// A step is at home in the domains of its minimum, and so are the pod sets of an exclusive workload that do not mind others.
void State::tell_whose_domains(const WorkloadSubmitted& event, Workload& workload) {
  const WorkloadId with = event.step_of.is_none() ? event.at_home_with : event.step_of;
  const bool minds_others =
      std::ranges::any_of(event.shape.ways.front(), [](const PodSet& set) { return !set.exclusive_level.empty(); });
  const bool is_at_home = std::ranges::any_of(exclusive_owners_, [&](const ExclusiveOwner& each) {
    return !with.is_none() && std::ranges::find(each.workloads, with) != each.workloads.end();
  });
  if (!minds_others && !is_at_home) return;
  const WorkloadId id = workloads_.next_id();
  Shape shape = shapes_[workload.shape.index()];
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    for (std::size_t at = 0; at < shape.ways[way].size(); ++at) {
      const std::string& level = event.shape.ways[way][at].exclusive_level;
      const std::string& part = event.shape.ways[way][at].exclusive_part;
      history_.add(level);
      if (!part.empty()) history_.add(part);
      NumberedPodSet& set = shape.ways[way][at];
      if (requests_[set.request.index()].gpus == 0) continue;
      const std::uint32_t owner = number_as_owner(id, with, part);
      for (RequestId* const each : {&set.request, &set.in_first_flavor}) {
        PodRequest request = requests_[each->index()];
        request.exclusive = ledger_.exclusives().intern({owner, level, part}, *nodes_);
        *each = RequestId(requests_.intern(request));
      }
    }
  }
  workload.shape = ShapeId(shapes_.intern(shape));
}

// Where users make a difference, identical work of two of them does not share an answer; nor does work that may borrow with
// work that may not yet, or work of queues that have nodes of their own with others'.
void State::know_as_it_waits(WorkloadId id) {
  Workload& workload = workloads_[id];
  const Shape& before = shapes_[workload.shape.index()];
  const UserId user = users_matter(workload.queue) ? workload.user : UserId();
  const bool cools = !before.insists() && borrows_again_at(id) > clock_;
  if (cools) wakes_.emplace(borrows_again_at(id), id);
  const QueueId home = home_of(workload.queue);
  const PodRequest& first = requests_[before.ways.front().front().request.index()];
  const bool is_home = ledger_.matches().home_of(first.constraints) == home;
  if (before.user == user && before.cools == cools && is_home) return;
  Shape shape = before;
  if (!is_home) go_home(shape, home);
  shape.user = user;
  shape.terms.guaranteed_only = before.insists() || cools;
  shape.cools = cools;
  workload.shape = ShapeId(shapes_.intern(shape));
}

namespace {

// Whether it waits for that no longer.
bool is_met(const Dependency& dependency, const Workload* on) {
  if (on == nullptr || on->phase == Phase::kEnded || on->phase == Phase::kCancelled) return true;
  const bool has_begun = on->attempts > 0 && on->phase != Phase::kStarting;
  return dependency.what == DependsOn::kBegin && has_begun;
}

// PRE: it has ended, and it is known how.
bool is_not_done(const Workload& workload) {
  return workload.phase == Phase::kCancelled || workload.evicted_by == EvictionRule::kOverRun ||
         workload.failure != Failure::kNone;
}

}  // namespace

void State::follow(WorkloadId id, const std::vector<Dependency>& after) {
  std::vector<Dependency> open;
  bool in_vain = false;
  for (const Dependency& each : after) {
    const Workload* const other = workloads_.find(each.on);
    const bool is_over = is_met(each, other);
    if (!is_over) open.push_back(each);
    if (each.what != DependsOn::kDone) continue;
    in_vain = in_vain || (is_over ? is_not_done(*other) : followers_.waits_in_vain(each.on));
  }
  if (open.empty() && !in_vain) return;
  workloads_[id].follows = true;
  followers_.add(id, open, in_vain);
}

void State::tell_followers(WorkloadId id, Followers::News news) {
  for (const WorkloadId follower : followers_.tell(id, news)) {
    dequeue(follower);
    workloads_[follower].follows = false;
    enqueue(follower);
  }
}

bool State::is_too_early(WorkloadId id) const {
  const Workload& workload = workloads_[id];
  return workload.not_before > clock_ || hours_from(shapes_[workload.shape.index()].terms, clock_) > clock_;
}

// Those for whom it is late enough.
void State::wake() {
  while (!wakes_.empty() && wakes_.begin()->first <= clock_) {
    const WorkloadId id = wakes_.begin()->second;
    wakes_.erase(wakes_.begin());
    const Workload* const workload = workloads_.find(id);
    if (workload == nullptr) continue;
    if (workload->phase == Phase::kRunning && workload->foretold_end && *workload->foretold_end <= clock_) {
      foretell_end(id);
      retry_who_stands_back();
    }
    if (workload->phase != Phase::kPending) continue;
    const bool has_backed_off = workload->backs_off_until > Time{} && workload->not_before <= clock_;
    if (has_backed_off) workloads_[id].backs_off_until = Time{};
    const bool too_early = is_too_early(id);
    // To whom room is promised from now on is tried again where he stands.
    if (!too_early && shadow_of(id) != nullptr && !shapes_[workload->shape.index()].cools) {
      Line& line = *lines_[line_of(workload->queue).index()];
      line.set_missing(line.index_of(workload->shape), 0);
      wake_in_time(id);  // it may be in other hours by now than those whose end it was to be looked at
      continue;
    }
    dequeue(id);
    workloads_[id].too_early = too_early;
    enqueue(id);
  }
}

// When to look again at who is too early, or will be too late for the hours that are now.
void State::wake_in_time(WorkloadId id) {
  const Workload& workload = workloads_[id];
  const Terms& terms = shapes_[workload.shape.index()].terms;
  if (workload.not_before > clock_) {
    wakes_.emplace(workload.not_before, id);
  } else if (workload.too_early) {
    if (const Time from = hours_from(terms, clock_); from != kForever) wakes_.emplace(from, id);
  } else if (terms.hours) {
    const Time end = hours_end(terms, clock_);
    wakes_.emplace(terms.run_limit ? Time{end.ms - terms.run_limit->ms + 1} : end, id);
  }
}

void State::enqueue(WorkloadId id) {
  ++pending_;
  wake_in_time(id);
  const bool aside = is_kept_aside(id);
  if (!aside || !workloads_[id].step_of.is_none()) know_as_it_waits(id);
  if (aside) return;
  const QueueId of_line = line_of(workloads_[id].queue);
  Line& line = *lines_[of_line.index()];
  if (line.size() == 0) lines_in_use_.insert(of_line);
  line.add(workloads_[id].shape, key_of(id));
}

void State::dequeue(WorkloadId id) {
  --pending_;
  forget_shadow(id);
  if (is_kept_aside(id)) return;
  const QueueId of_line = line_of(workloads_[id].queue);
  Line& line = *lines_[of_line.index()];
  line.remove(workloads_[id].shape, key_of(id));
  if (line.size() == 0) lines_in_use_.erase(of_line);
}

const Shadow* State::shadow_of(WorkloadId id) const {
  const auto found = std::ranges::find(shadows_, id, [](const Shadow& each) { return each.start.workload; });
  return found == shadows_.end() ? nullptr : &*found;
}

// It starts, or waits no longer as it did.
void State::forget_shadow(WorkloadId id) {
  if (shadow_of(id) == nullptr) return;
  std::erase_if(shadows_, [&](const Shadow& each) { return each.start.workload == id; });
  retry_who_stands_back();
}

void State::promise(const std::vector<Shadow>& shadows) {
  shadows_ = shadows;
  history_.add(std::uint64_t{shadows.size()});
  for (const Shadow& each : shadows) {
    if (each.at > clock_) wakes_.emplace(each.at, each.start.workload);
    take_loans_back_for(each.at);
    history_.add(each.at.ms).add(each.start.workload.value()).add(each.start.way);
    for (const PodPlacement& place : each.start.pods) {
      history_.add(place.node.value()).add(place.gpus.bits()).add(std::uint64_t{place.slice_start});
    }
  }
}

// What is promised is not what it was.
void State::retry_who_stands_back() {
  lines_in_use_.for_each([&](QueueId queue) {
    Line& line = *lines_[queue.index()];
    if (line.gated() == 0) return;
    for (std::size_t at = 0; at < line.shapes().size(); ++at) {
      if (line.shapes()[at].gate == ReasonCode::kReserved) line.set_missing(at, 0);
    }
  });
}

void State::add_to_history(const Queue& queue) {
  queue.quota.add_to(history_);
  history_.add(queue.name).add(queue.parent.value());
  history_.add(queue.order ? static_cast<std::uint64_t>(*queue.order) : ~std::uint64_t{0});
  history_.add(std::uint64_t{queue.held}).add(std::uint64_t{queue.closed});
}

void State::number_cells(QueueId queue) {
  std::vector<TopologyId>& levels = levels_of_cells_[queue.index()];
  levels.clear();
  for (const FloorCells& each : queues_[queue.index()].quota.cells) {
    levels.push_back(number({.together = Togetherness::kRequired, .level = each.level}));
  }
  flavors_with_cells_ = FlavorSet();
  for (const Queue& each : queues_) {
    for (const FloorCells& cells : each.quota.cells) flavors_with_cells_.add(cells.flavor);
  }
}

void State::on(const QueueAdded& event) {
  queues_.push_back(event.queue);
  lines_.emplace_back();
  levels_of_cells_.emplace_back();
  number_cells(QueueId(queues_.size() - 1));
  if (event.queue.order) lines_.back().emplace(*event.queue.order);
  rebuild_quotas(capacity());
  if (!event.queue.quota.dedicated.empty()) dedicate();
  add_to_history(event.queue);
  look_for_foresight();
}

// Other amounts wake nobody by themselves: whom a quota refused, and who may take others' room, is looked at in each cycle.
void State::on(const QueueChanged& event) {
  history_.add(event.queue.value());
  add_to_history(event.now);
  const Queue& before = queues_[event.queue.index()];
  const bool dedicates = before.quota.dedicated != event.now.quota.dedicated;
  const bool stands_otherwise =
      before.order != event.now.order || before.held != event.now.held || before.closed != event.now.closed ||
      before.quota.looks_at_users() != event.now.quota.looks_at_users() ||
      before.quota.cooldown != event.now.quota.cooldown || before.quota.backfill != event.now.quota.backfill ||
      before.quota.loans_percent != event.now.quota.loans_percent || before.foresees() != event.now.foresees() ||
      dedicates;
  std::vector<WorkloadId> waiting;
  const std::vector<Shadow> promised = shadows_;
  const Backfill before_backfill = before.quota.backfill;
  if (stands_otherwise) waiting = waiting_below(event.queue);
  for (const WorkloadId id : waiting) dequeue(id);
  std::optional<Line>& line = lines_[event.queue.index()];
  if (line && line->order() != *event.now.order) line.emplace(*event.now.order);
  queues_[event.queue.index()] = event.now;
  number_cells(event.queue);
  if (dedicates) dedicate();
  for (const WorkloadId id : waiting) {
    Workload& workload = workloads_[id];
    workload.shut_out = workload.shut_out && !closed_at(workload.queue).is_none();
    enqueue(id);
  }
  // Of a line that promised to all, only one is promised anything now.
  const bool promises_less =
      before_backfill == Backfill::kConservative && event.now.quota.backfill != Backfill::kConservative;
  if (!promises_less) shadows_ = of_who_still_waits(*this, promised);
  rebuild_quotas(capacity());
  look_for_foresight();
}

// Another priority is another shape: it is tried anew.
void State::on(const WorkloadPrioritized& event) {
  history_.add(event.workload.value()).add(event.priority);
  prioritize(event.workload, event.priority);
  for (const WorkloadId step : steps_of(event.workload)) prioritize(step, event.priority);
}

void State::prioritize(WorkloadId id, std::int32_t priority) {
  Workload& workload = workloads_[id];
  Shape shape = shapes_[workload.shape.index()];
  shape.terms.priority = priority;
  const bool waits = workload.phase == Phase::kPending;
  const std::vector<Shadow> promised = shadows_;
  if (waits) dequeue(id);
  workload.shape = ShapeId(shapes_.intern(shape));
  if (waits) enqueue(id);
  if (waits) shadows_ = of_who_still_waits(*this, promised);
  if (has_room(workload.phase)) quotas_.set_priority(workload.unit, priority);
}

void State::on(const TimePassed& event) {
  history_.add(event.now.ms);
  clock_ = std::max(clock_, event.now);
  forget_failures();
  quotas_.tell_time(clock_);
  wake();
  end_rests();
  pass_reservations();
}

// To a closed queue it comes as a new one would.
void State::on(const WorkloadMoved& event) {
  history_.add(event.workload.value()).add(event.queue.value());
  if (workloads_[event.workload].queue == event.queue) return;
  move_to_queue(event.workload, event.queue);
  for (const WorkloadId step : steps_of(event.workload)) move_to_queue(step, event.queue);
}

void State::move_to_queue(WorkloadId id, QueueId queue) {
  Workload& workload = workloads_[id];
  const std::vector<Shadow> promised = shadows_;
  dequeue(id);
  workload.queue = queue;
  workload.goes_first = false;
  tell_whose_parts(workload);
  workload.shut_out = !closed_at(queue).is_none();
  enqueue(id);
  shadows_ = of_who_still_waits(*this, promised);
}

}  // namespace berth
