// Workloads that come, start, are told to stop and end, and what they hold and use.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "state/elastic_work.h"
#include "state/state.h"

namespace berth {
namespace {

void count_attempt(Workload& workload) {
  ++workload.attempts;
  workload.lost_node = false;
  workload.checkpoint = Time{-1};
  workload.resumed = Time{-1};
  workload.ended_gpu_us = 0;
}

}  // namespace

// As if that had been of this one.
void State::back_off(Workload& workload, const BackOff& before, Time now) {
  workload.evicted_by = before.why;
  (before.why == EvictionRule::kNode ? workload.nodes_lost : workload.failures) = before.times;
  if (before.why == EvictionRule::kNeverReady) workload.retries = before.times;
  if (before.until <= std::max(now, workload.not_before)) return;
  workload.not_before = workload.backs_off_until = before.until;
  workload.too_early = true;
}

void State::on(const WorkloadSubmitted& event) {
  Workload workload;
  workload.shape = intern_shape(event.shape);
  workload.queue = event.queue;
  workload.user = UserId(users_.intern(event.user));
  tell_whose_parts(workload);
  tell_whose_domains(event, workload);
  workload.submitted = event.at;
  workload.declared_run = event.declared_run;
  workload.rank = event.rank;
  workload.shut_out = !closed_at(event.queue).is_none();
  workload.not_before = event.not_before;
  workload.too_early = event.not_before > std::max(clock_, event.at);
  workload.step_of = event.step_of;
  workload.series = event.series;
  workload.awaits_turn = !event.series.is_none();
  workload.goes_first = event.goes_first;
  if (event.backs_off) back_off(workload, *event.backs_off, std::max(clock_, event.at));
  const WorkloadId id = workloads_.add(workload);
  workloads_[id].too_early = workload.too_early || hours_from(event.shape.terms, clock_) > clock_;
  if (!event.step_of.is_none()) {
    steps_[event.step_of].push_back(id);
    history_.add(event.step_of.value());
  }
  follow(id, event.after);
  wait_at_most(id, event.max_wait);
  follow_policy(id, event.on_failure);
  enqueue(id);
  history_.add(digest_of(shapes_[workload.shape.index()]))
      .add(workload.queue.value())
      .add(workload.user.value())
      .add(event.at.ms)
      .add(event.declared_run.ms)
      .add(event.rank)
      .add(event.not_before.ms);
  for (const Dependency& each : event.after) {
    history_.add(each.on.value()).add(static_cast<std::uint64_t>(each.what));
  }
  if (!event.at_home_with.is_none()) history_.add(event.at_home_with.value());
  if (event.goes_first) history_.add(std::uint64_t{event.goes_first});
  if (event.backs_off)
    history_.add(event.backs_off->until.ms)
        .add(static_cast<std::uint64_t>(event.backs_off->why))
        .add(event.backs_off->times);
  if (!event.series.is_none()) take_turns(id, event.series, event.at_most);
}

void State::on(const WorkloadEnded& event) {
  history_.add(event.workload.value());
  end(event.workload, Phase::kEnded, true);
}

void State::on(const WorkloadCancelled& event) {
  history_.add(event.workload.value());
  end(event.workload, Phase::kCancelled, false);
}

// It is over, wherever it was, and with it the waiting of those who waited for that.
void State::end(WorkloadId id, Phase phase, bool done) {
  const Phase before = workloads_[id].phase;
  if (before == Phase::kPending) dequeue(id);
  const bool has_failed = workloads_[id].failure != Failure::kNone;
  if (before == Phase::kRunning && phase == Phase::kEnded && !has_failed) learn_run(id);
  if (has_room(before)) give_room_back(id);
  forget_pods(id);
  forget_max_wait(id);
  workloads_[id].phase = phase;
  failure_policies_.erase(id);
  const SeriesId series = workloads_[id].series;
  workloads_.note_ended(id);
  end_steps(id, phase);
  for (ExclusiveOwner& each : exclusive_owners_) std::erase(each.workloads, id);
  followers_.forget(id);
  tell_followers(id, done ? Followers::News::kDone : Followers::News::kNotDone);
  if (!series.is_none()) have_turns(series_.leave(id, series));
}

void State::on(const WorkloadFound& event) {
  const WorkloadId id = workloads_.next_id();
  on(event.workload);
  if (!event.lost.empty()) {
    repairing_[id] = {
        .since = clock_, .until = event.repair_until, .lost = {}, .lost_gpu_us = 0, .counted_until = clock_};
    history_.add(event.repair_until.ms);
  }
  start({.workload = id, .way = 0, .pods = event.pods, .only_borrows = event.only_borrows}, event.started, event.lost);
  history_.add(event.started.ms);
}

void State::on(const PodEnded& event) {
  history_.add(event.workload.value()).add(event.pod);
  count_waiting(event.workload);
  const std::uint32_t number = end_pod(event);
  if (is_complete(event.workload, set_of(event.workload, number))) end(event.workload, Phase::kEnded, true);
}

// The number of that pod.
std::uint32_t State::end_pod(const PodEnded& event) {
  Workload& workload = workloads_[event.workload];
  const bool migrates = workload.phase == Phase::kMigrating;
  PodId* link = migrates ? &workload.first_leaving : &workload.first_pod;
  for (std::uint32_t at = 0; at < event.pod; ++at) link = &pods_[link->index()].next;
  const PodId ended = *link;
  const Pod pod = std::exchange(pods_[ended.index()], {});
  *link = pod.next;
  free_pods_.push_back(ended);
  // What it holds is elsewhere already, all of it.
  if (migrates) return pod.number;
  const std::int64_t gpu_milli = gpu_milli_of(pod);
  workload.gpu_milli -= gpu_milli;
  workload.ended_gpu_us += gpu_milli * std::max<std::int64_t>(0, (clock_ - workload.started).ms);
  if (workload.phase != Phase::kRunning) return pod.number;
  give_room_back(pod);
  note_what_was_held(workload.queue);
  quotas_.set_held(workload.unit, held_by(event.workload));
  quotas_.keep();
  return pod.number;
}

void State::on(const LeavingFound& event) {
  history_.add(event.workload.value()).add(event.stop_by.ms);
  stop(event.workload, event.stop_by);
}

void State::on(const WorkloadStopped& event) {
  history_.add(event.workload.value());
  if (workloads_[event.workload].phase == Phase::kMigrating) return leave_old_places(event.workload);
  wait_again(event.workload);
}

void State::on(const WorkloadOverran& event) {
  history_.add(event.workload.value());
  workloads_[event.workload].evicted_by = EvictionRule::kOverRun;
  end(event.workload, Phase::kEnded, false);
}

void State::on(const CheckpointReported& event) {
  history_.add(event.workload.value()).add(event.at.ms);
  Workload& workload = workloads_[event.workload];
  const Shape& shape = shapes_[workload.shape.index()];
  // What the steps did, too, its minimum need not do any more.
  if (workload.declared_run != kRunNotDeclared && steps_.contains(event.workload) && !shape.terms.resizes_live) {
    const Wide left = Wide{workload.declared_run.ms} - done_since_safe(*this, event.workload, event.at) / shape.pods;
    workload.declared_run.ms = static_cast<std::int64_t>(std::max<Wide>(0, left));
  }
  workload.checkpoint = event.at;
  for (const WorkloadId step : steps_of(event.workload)) workloads_[step].checkpoint = event.at;
}

NodeConstraintsId State::number(const NodeConstraints& constraints) {
  const NodeConstraintsId id = ledger_.matches().intern({constraints, {}}, *nodes_);
  if (id.index() > 0) history_.add(digest_of(constraints));
  return id;
}

TopologyId State::number(const Topology& topology) {
  const TopologyId id = topologies_.intern(topology, *nodes_);
  if (topology.together != Togetherness::kAnywhere) topologies_.know_network(*nodes_, flavors_);
  if (id != TopologyId(0)) history_.add(digest_of(topology));
  return id;
}

NeighboursId State::number(const Neighbours& neighbours) {
  const NeighboursId id = ledger_.neighbourhood().intern(neighbours, *nodes_);
  if (id != NeighboursId(0)) history_.add(digest_of(neighbours));
  return id;
}

namespace {

// What follows from it that a set is to be alone: nodes that are in no domain are none of its own; and it takes few domains, unless
// it says itself where its pods are beside each other.
PodSet with_own_domains(PodSet set) {
  const std::string& level = set.exclusive_level;
  if (level.empty()) return set;
  LabelRequirement is_in_one{level, LabelOperator::kExists};
  std::vector<LabelRequirement>& select = set.constraints.select;
  if (level != kNodeLevel && std::ranges::find(select, is_in_one) == select.end()) {
    select.push_back(std::move(is_in_one));
  }
  const bool says_where = !set.topology.asks_nothing() || set.parallel.is_declared() || !set.neighbours.asks_nothing();
  if (!says_where && level != kNodeLevel) set.topology = {.together = Togetherness::kPreferred, .level = level};
  return set;
}

}  // namespace

ShapeId State::intern_shape(const WorkloadShape& shape) {
  Shape numbered;
  numbered.terms = shape.terms;
  for (const PodSets& way : shape.ways) {
    auto& sets = numbered.ways.emplace_back();
    for (const PodSet& asked : way) {
      const PodSet set = with_own_domains(asked);
      PodRequest request = set.request;
      request.constraints = number(set.constraints);
      request.neighbours = number(set.neighbours);
      const RequestId id(requests_.intern(request));
      if (request.gpus > 0) request.flavors = request.flavors.kept_to_first();
      sets.push_back({id, set.count, number(set.topology), RequestId(requests_.intern(request)), set.parallel});
      if (set.parallel.is_declared()) {
        topologies_.know_network(*nodes_, flavors_);
        set.parallel.add_to(history_);
      }
      numbered.flavors = numbered.flavors.united_with(set.request.flavors);
      numbered.has_sharers = numbered.has_sharers || ledger_.has_sharer(request);
      if (numbered.ways.size() > 1) continue;
      numbered.pods += set.count;
      numbered.gpu_milli += set.count * set.request.gpu_milli_total();
    }
  }
  return ShapeId(shapes_.intern(numbered));
}

UserId State::find_user(const std::string& name) const {
  const std::vector<std::string>& names = users_.values();
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? UserId() : UserId(static_cast<std::size_t>(found - names.begin()));
}

// What it holds of GPUs where it is.
std::int64_t State::gpu_milli_of(const Pod& pod) const {
  const PodRequest& request = requests_[pod.request.index()];
  return std::int64_t{request.gpus} * ledger_.node(pod.node).milli_of(request);
}

void State::start(const Start& start, Time now, std::span<const std::uint32_t> lost) {
  dequeue(start.workload);
  Workload& workload = workloads_[start.workload];
  BERTH_ASSERT(workload.phase == Phase::kPending);
  workload.phase = start.waits ? Phase::kStarting : Phase::kRunning;
  forget_max_wait(start.workload);
  // It was found running, whoever else has a turn.
  if (std::exchange(workload.awaits_turn, false)) series_.take(start.workload, workload.series);
  workload.shut_out = false;
  workload.goes_first = false;
  if (start.waits) starting_.push_back(start.workload);
  workload.started = now;
  workload.foretold_end.reset();
  if (!start.waits) foretell_end(start.workload);
  workload.evicted_by = EvictionRule::kNone;
  workload.evicted_for = WorkloadId();
  workload.backs_off_until = Time{};
  workload.extended = Duration{0};
  workload.extensions = 0;
  workload.resized.reset();
  count_attempt(workload);
  ++running_;
  const Terms& terms = shapes_[workload.shape.index()].terms;
  if (terms.movable) ++movable_;
  if (terms.run_limit) ++limited_;
  history_.add(start.workload.value())
      .add(start.way)
      .add(std::uint64_t{start.waits})
      .add(std::uint64_t{start.best_effort})
      .add(std::uint64_t{start.only_borrows});
  if (start.lent_until) lend(start.workload, *start.lent_until);
  take_places(start, lost);
  note_what_was_held(workload.queue);
  workload.best_effort = terms.best_effort || start.best_effort;
  workload.only_borrows = start.only_borrows;
  workload.unit = quotas_.add({.workload = start.workload,
                               .queue = workload.queue,
                               .user = workload.user,
                               .priority = terms.priority,
                               .admitted = now,
                               .may_be_covered = !workload.best_effort,
                               .only_borrows = workload.only_borrows,
                               .end = end_of(start.workload, now),
                               .covered_at = {}},
                              held_by(start.workload));
  quotas_.keep();
  if (!start.waits) tell_followers(start.workload, Followers::News::kBegun);
  if (!start.waits && lost.empty()) ask_whether_ready(start.workload, now);
  if (workload.step_of.is_none()) return;
  workloads_[workload.step_of].lost_node = false;
  resize(workload.step_of, false);
}

// Of those with these numbers, ascending, it takes none, and lacks them. PRE: it has no pods, but those that leave; if some are
// lost, it is repaired.
void State::take_places(const Start& start, std::span<const std::uint32_t> lost) {
  Workload& workload = workloads_[start.workload];
  workload.gpu_milli = 0;
  PodId last;
  std::size_t at = 0;
  for (const NumberedPodSet& set : shapes_[workload.shape.index()].ways[start.way]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) {
      const PodPlacement& place = start.pods[at];
      if (!lost.empty() && lost.front() == at) {
        lost = lost.subspan(1);
        repairing_.at(start.workload).lost.push_back({static_cast<std::uint32_t>(at), set.request, place.node});
        // Of budgets all of it was charged until now, as if those had been there.
        const PodRequest& request = requests_[set.request.index()];
        const std::int64_t gpu_milli = std::int64_t{request.gpus} * ledger_.node(place.node).milli_of(request);
        workload.ended_gpu_us += gpu_milli * std::max<std::int64_t>(0, (clock_ - workload.started).ms);
        history_.add(at).add(place.node.value());
        continue;
      }
      ledger_.apply(move_of(requests_[set.request.index()], place));
      const PodId pod = new_pod({set.request, place.node, place.gpus, start.workload, PodId(), place.slice_start, false,
                                 static_cast<std::uint32_t>(at)});
      (last.is_none() ? workload.first_pod : pods_[last.index()].next) = pod;
      last = pod;
      workload.gpu_milli += gpu_milli_of(pods_[pod.index()]);
      history_.add(place.node.value()).add(place.gpus.bits());
      if (requests_[set.request.index()].is_slice()) history_.add(std::uint64_t{place.slice_start});
    }
    retry_who_looks_at(requests_[set.request.index()]);
  }
  BERTH_ASSERT(at == start.pods.size());
}

// Quotas do not see it: it stays the same unit and holds the same.
void State::leave(const Migration& migration, Time now) {
  const WorkloadId id = migration.start.workload;
  Workload& workload = workloads_[id];
  BERTH_ASSERT(workload.phase == Phase::kRunning);
  history_.add(id.value()).add(migration.claimant.value()).add(migration.stop_by.ms).add(migration.lost_gpu_s);
  workload.evicted_by = is_for_its_own_sake(migration) ? EvictionRule::kNode : EvictionRule::kDefragment;
  give_up_those_to_come(id);
  ask_no_more(id);
  repairing_.erase(id);
  partings_.remove(id);
  workload.evicted_for = migration.claimant;
  workload.moved = now;
  workload.stop_by = migration.stop_by;
  for (PodId at = workload.first_pod; !at.is_none(); at = pods_[at.index()].next) give_room_back(pods_[at.index()]);
  workload.first_leaving = std::exchange(workload.first_pod, PodId());
  workload.phase = Phase::kMigrating;
  starting_.push_back(id);
  stopping_.push_back(id);
}

void State::move_to(const Migration& migration, Time now) {
  const WorkloadId id = migration.start.workload;
  take_places(migration.start);
  if (migration.stop_by > now) return;
  leave_old_places(id);
  if (!migration.start.waits) begin(id, now);
}

// It has stopped where it was; it begins elsewhere as soon as nobody else is in its way there.
void State::leave_old_places(WorkloadId id) {
  Workload& workload = workloads_[id];
  forget_pods_from(workload.first_leaving);
  std::erase(stopping_, id);
  workload.phase = Phase::kStarting;
  count_attempt(workload);
}

// The room that it was given and has not begun in is lost. Who migrates is still where it was, and stops there.
void State::lose_room_to_come(WorkloadId id) {
  if (workloads_[id].phase == Phase::kRunning) return give_up_those_to_come(id);
  give_room_back(id);
  Workload& workload = workloads_[id];
  if (workload.phase != Phase::kMigrating) return wait_again(id);
  forget_pods_from(workload.first_pod);
  workload.first_pod = std::exchange(workload.first_leaving, PodId());
  workload.phase = Phase::kStopping;
}

// Best-effort work counts nowhere; what is lost and is to be replaced counts as it did.
AmountList State::held_by(WorkloadId id) const {
  if (workloads_[id].best_effort) return {};
  AmountsByDim sums(quotas_.tree().dims());
  for_each_pod(*this, id,
               [&](const Pod& pod) { add_amounts(requests_[pod.request.index()], node(pod.node).flavor, 1, sums); });
  if (const Repairing* const repairing = find_repairing(id)) {
    for (const LostMember& lost : repairing->lost) {
      add_amounts(requests_[lost.request.index()], node(lost.node).flavor, 1, sums);
    }
  }
  return amounts_of(sums);
}

// Those who were there have stopped: it runs from now on.
void State::begin(WorkloadId id, Time now) {
  Workload& workload = workloads_[id];
  history_.add(id.value());
  if (workload.phase == Phase::kRunning) return join(id, now);
  BERTH_ASSERT(workload.phase == Phase::kStarting);
  workload.phase = Phase::kRunning;
  workload.started = now;
  foretell_end(id);
  workload.extended = Duration{0};
  workload.extensions = 0;
  note_what_was_held(workload.queue);
  quotas_.set_end(workload.unit, end_of(id, now));
  quotas_.keep();
  std::erase(starting_, id);
  tell_followers(id, Followers::News::kBegun);
  ask_whether_ready(id, now);
}

void State::evict(const Eviction& eviction, Time now) {
  Workload& workload = workloads_[eviction.workload];
  BERTH_ASSERT(workload.phase == Phase::kRunning);
  workload.evicted_by = eviction.rule;
  workload.evicted_for = eviction.claimant;
  if (eviction.rule == EvictionRule::kFairShare) workload.lost_to_a_share_in = stretch_;
  if (eviction.rule == EvictionRule::kReclaim || eviction.rule == EvictionRule::kFairShare) workload.gave_back = now;
  history_.add(eviction.workload.value()).add(eviction.claimant.value()).add(eviction.stop_by.ms);
  history_.add(static_cast<std::uint64_t>(eviction.rule)).add(eviction.lost_gpu_s);
  if (eviction.stop_by > now) return stop(eviction.workload, eviction.stop_by);
  give_room_back(eviction.workload);
  wait_again(eviction.workload);
}

void State::stop(WorkloadId id, Time stop_by) {
  give_room_back(id);
  workloads_[id].phase = Phase::kStopping;
  workloads_[id].stop_by = stop_by;
  stopping_.push_back(id);
}

// Its room and what it counted for; its pods may be there still.
void State::give_room_back(WorkloadId id) {
  Workload& workload = workloads_[id];
  BERTH_ASSERT(has_room(workload.phase));
  --running_;
  if (shapes_[workload.shape.index()].terms.movable) --movable_;
  if (shapes_[workload.shape.index()].terms.run_limit) --limited_;
  if (workload.phase == Phase::kStarting || workload.phase == Phase::kMigrating) std::erase(starting_, id);
  stop_steps(id);
  ask_no_more(id);
  give_up_those_to_come(id);
  repairing_.erase(id);
  partings_.remove(id);
  note_what_was_held(workload.queue);
  quotas_.remove(workload.unit);
  quotas_.keep();
  workload.unit = UnitId();
  take_back_loan(id);
  for (PodId at = workload.first_pod; !at.is_none(); at = pods_[at.index()].next) give_room_back(pods_[at.index()]);
}

// It goes on as best effort, and what it used so far is paid.
void State::count_for_nothing(WorkloadId id) {
  history_.add(id.value());
  Workload& workload = workloads_[id];
  BERTH_ASSERT(workload.phase == Phase::kRunning && !workload.best_effort);
  quotas_.budgets().settle(id, gpu_us_used_by(id));
  note_what_was_held(workload.queue);
  QuotaUnit unit = quotas_.unit(workload.unit);
  quotas_.remove(workload.unit);
  workload.best_effort = true;
  unit.may_be_covered = false;
  workload.unit = quotas_.add(unit, {});
  quotas_.keep();
}

Wide State::gpu_us_used_by(WorkloadId id) const {
  const Workload& workload = workloads_[id];
  if (!is_there(workload.phase)) return 0;
  return workload.ended_gpu_us + Wide{workload.gpu_milli} * std::max<std::int64_t>(0, (clock_ - workload.started).ms);
}

BudgetState State::budget_of(QueueId queue) const {
  BudgetState budget = quotas_.budgets().state_of(queue, clock_);
  Wide used = 0;
  for (const Wide of_pot : gpu_us_used_of(queue)) used += of_pot;
  budget.reserved_gpu_us -= used - budget.used_gpu_us;
  budget.used_gpu_us = used;
  return budget;
}

std::vector<Wide> State::gpu_us_used_of(QueueId queue) const {
  return quotas_.budgets().used_of_each_pot(queue, [&](WorkloadId id) { return gpu_us_used_by(id); });
}

void State::forget_pods(WorkloadId id) {
  Workload& workload = workloads_[id];
  quotas_.budgets().settle(id, gpu_us_used_by(id));
  if (workload.phase == Phase::kStopping || workload.phase == Phase::kMigrating) std::erase(stopping_, id);
  forget_pods_from(workload.first_pod);
  forget_pods_from(workload.first_leaving);
}

void State::forget_pods_from(PodId& first) {
  PodId next = std::exchange(first, PodId());
  while (!next.is_none()) {
    const PodId at = next;
    next = pods_[at.index()].next;
    pods_[at.index()] = {};
    free_pods_.push_back(at);
  }
}

void State::wait_again(WorkloadId id) {
  forget_pods(id);
  Workload& workload = workloads_[id];
  workload.phase = Phase::kPending;
  workload.extended = Duration{0};
  workload.too_early = is_too_early(id);
  enqueue(id);
  if (workload.step_of.is_none()) return;
  // Who left for nobody may come again at once: growing takes nothing back (rule 18).
  const bool was_taken = !workload.evicted_for.is_none();
  const WorkloadId minimum = workload.step_of;
  const std::optional<Time> resized = workloads_[minimum].resized;
  resize(minimum, true);
  if (!was_taken) workloads_[minimum].resized = resized;
}

PodId State::new_pod(const Pod& pod) {
  if (free_pods_.empty()) {
    pods_.push_back(pod);
    return PodId(pods_.size() - 1);
  }
  const PodId id = free_pods_.back();
  free_pods_.pop_back();
  pods_[id.index()] = pod;
  return id;
}

}  // namespace berth
