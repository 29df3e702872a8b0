#include "state/state.h"

#include <algorithm>
#include <span>
#include <utility>

#include "state/room.h"

namespace berth {
namespace {

// Streams of the seed for batches of nodes; those of workloads are numbered from 0.
constexpr std::uint64_t kNodeStreams = std::uint64_t{1} << 48;

}  // namespace

std::uint64_t digest_of(const PodRequest& request) {
  Hasher hasher;
  request.add_to(hasher);
  return hasher.digest();
}

std::uint64_t digest_of(const Node& node) {
  return Hasher()
      .add(node.name)
      .add(node.flavor.value())
      .add(node.gpus)
      .add(node.gpu_memory_mib)
      .add(node.cpu_milli)
      .add(node.memory_bytes)
      .add(node.pods_max)
      .digest();
}

std::uint64_t digest_of(const std::string& name) { return Hasher().add(name).digest(); }

std::uint64_t digest_of(const Shape& shape) {
  Hasher hasher;
  hasher.add(shape.user.value()).add(std::uint64_t{shape.cools});
  for (const auto& way : shape.ways) {
    hasher.add(std::uint64_t{way.size()});
    for (const NumberedPodSet& set : way) hasher.add(set.request.value()).add(set.count);
  }
  const Terms& terms = shape.terms;
  hasher.add(terms.priority).add(std::uint64_t{terms.preempts}).add(std::uint64_t{terms.guaranteed_only});
  hasher.add(std::uint64_t{terms.best_effort}).add(terms.grace.ms).add(terms.disruption_permille);
  hasher.add(terms.run_limit ? terms.run_limit->ms : std::int64_t{-1});
  return hasher.digest();
}

void State::apply(const Event& event) {
  ++revision_;
  history_.add(std::uint64_t{event.index()});
  const bool is_news = !std::holds_alternative<WorkloadStopped>(event) &&
                       !std::holds_alternative<CheckpointReported>(event) && !std::holds_alternative<TimePassed>(event);
  if (is_news) ++stretch_;
  std::visit([this](const auto& fact) { on(fact); }, event);
}

void State::adopt(const Plan& plan) {
  BERTH_ASSERT(plan.revision == revision_);
  ++revision_;
  history_.add(plan.now.ms);
  clock_ = std::max(clock_, plan.now);
  for (const WorkloadId id : plan.begins) begin(id, plan.now);
  // Before the evictions: some were refused before the room of others came free, and may fit what is left of it.
  for (const Blocked& blocked : plan.blocked) {
    Line& line = *lines_[blocked.line.index()];
    line.set_missing(line.index_of(blocked.shape), blocked.missing, blocked.gate, blocked.by_quota);
    history_.add(blocked.line.value()).add(blocked.shape.value()).add(blocked.missing);
    history_.add(static_cast<std::uint64_t>(blocked.gate)).add(static_cast<std::uint64_t>(blocked.by_quota));
  }
  // In the order of the decisions: what is covered depends on who came and went before.
  std::size_t evicted = 0;
  for (; evicted < plan.evictions.size() && plan.evictions[evicted].claimant.is_none(); ++evicted) {
    evict(plan.evictions[evicted], plan.now);
  }
  for (const WorkloadId id : plan.unpaid) count_for_nothing(id);
  for (const Start& decision : plan.starts) {
    for (; evicted < plan.evictions.size() && plan.evictions[evicted].claimant == decision.workload; ++evicted) {
      evict(plan.evictions[evicted], plan.now);
    }
    start(decision, plan.now);
  }
  BERTH_ASSERT(evicted == plan.evictions.size());
}

std::uint64_t State::hash() const {
  Hasher hasher = history_;
  ledger_.add_to(hasher);
  return hasher.add(std::uint64_t{running_}).add(std::uint64_t{pending_}).digest();
}

void State::on(const RunConfigured& event) {
  seed_ = event.seed;
  policy_ = event.policy;
  history_.add(seed_.value).add(static_cast<std::uint64_t>(policy_));
}

void State::on(const FlavorAdded& event) {
  flavors_.push_back(event.flavor);
  rebuild_quotas(capacity());
  history_.add(event.flavor.name).add(event.flavor.memory_mib).add(event.flavor.weight);
}

void State::on(const TypicalPodsChosen& event) {
  typical_pods_ = std::make_shared<const std::vector<TypicalPod>>(event.pods);
  ++typical_pods_version_;
  for (const TypicalPod& pod : event.pods) {
    history_.add(pod.cpu_milli).add(pod.gpus).add(pod.gpu_milli).add(pod.flavors.bits()).add(pod.weight);
  }
}

void State::on(const NodesAdded& event) {
  // The order in which nodes are looked at, and so who wins a tie, is drawn here, once; a name never decides.
  std::vector<Node> added = event.nodes;
  Rng rng(seed_, kNodeStreams + nodes_->size());
  rng.shuffle(std::span(added));
  auto nodes = std::make_shared<std::vector<Node>>(*nodes_);
  nodes->insert(nodes->end(), added.begin(), added.end());
  nodes_ = std::move(nodes);
  AmountsByDim with_them = capacity();
  for (const Node& node : added) {
    const NodeId id = ledger_.add(node);
    // A closed node has no room, so opening it is what frees the room that it brings.
    ledger_.set_open(id, false);
    freeing(id, [&] { set_open(id, true, with_them); });
    history_.add(node.cpu_milli).add(node.memory_bytes).add(node.gpus).add(node.flavor.value());
  }
  rebuild_quotas(std::move(with_them));
  count_types(added);
  retry_the_impossible();
}

// Opens or closes a node, and counts what it has.
void State::set_open(NodeId id, bool open, AmountsByDim& counted) {
  if (ledger_.node(id).open == open) return;
  ledger_.set_open(id, open);
  const Node& node = (*nodes_)[id.index()];
  const std::int64_t sign = open ? 1 : -1;
  const auto count = [&](Resource resource, std::int64_t amount) {
    counted[Dim(node.flavor, resource).index()] += sign * amount;
  };
  count(Resource::kGpu, std::int64_t{node.gpus} * kMilliPerGpu);
  count(Resource::kCpu, node.cpu_milli);
  count(Resource::kMemory, node.memory_bytes >> 20);
}

void State::set_open(NodeId id, bool open) {
  AmountsByDim then = capacity();
  set_open(id, open, then);
  rebuild_quotas(std::move(then));
}

AmountsByDim State::capacity() const {
  AmountsByDim capacity = quotas_.capacity();
  capacity.resize(Dim::count(flavors_.size()));
  return capacity;
}

void State::rebuild_quotas(AmountsByDim capacity) {
  const auto tree_while = [&](OpenWindows open) {
    if (open == 0) return std::make_shared<const QuotaTree>(queues_, capacity);
    return std::make_shared<const QuotaTree>(queues_while(queues_, *windows_, open), capacity);
  };
  std::vector<LaterTree> later;
  for (const Turn& turn : later_) later.push_back({turn.at, tree_while(turn.open)});
  past_.advance_all(quotas_, clock_);
  idle_.advance_all(quotas_, clock_);
  quotas_.budgets().set_budgets(queues_);
  auto tree = tree_while(open_);
  quotas_.replace_tree(std::move(tree), std::move(capacity), std::move(later));
  past_.lay_out(queues_, quotas_.tree().dims(), clock_);
  idle_.lay_out(queues_, quotas_, clock_);
}

void State::note_what_was_held(QueueId queue) {
  past_.advance(quotas_, queue, clock_);
  idle_.advance(quotas_, queue, clock_);
}

// What is open now, and what will be.
void State::turn_calendar() {
  open_ = open_at(*windows_, clock_);
  const std::vector<Turn> turns = turns_after(*windows_, clock_);
  later_ = first_of_each(turns, open_);
  next_turn_ = turns.empty() ? kForever : turns.front().at;
  rebuild_quotas(capacity());
}

void State::count_types(const std::vector<Node>& nodes) {
  auto types = std::make_shared<NodeTypes>(*node_types_);
  for (Node node : nodes) {
    node.name.clear();
    const std::size_t type = types->nodes.intern(node);
    if (type == types->counts.size()) {
      types->counts.push_back(0);
      types->idle.add(node);
    }
    ++types->counts[type];
  }
  node_types_ = std::move(types);
}

void State::retry_the_impossible() {
  for (auto& line : lines_) {
    if (!line) continue;
    for (std::size_t at = 0; at < line->shapes().size(); ++at) {
      if (line->shapes()[at].impossible()) line->set_missing(at, 0);
    }
  }
}

void State::on(const NodeDrained& event) {
  set_open(event.node, false);
  history_.add(event.node.value());
}

void State::on(const NodeRestored& event) {
  freeing(event.node, [&] { set_open(event.node, true); });
  history_.add(event.node.value());
}

void State::on(const NodeFailed& event) {
  history_.add(event.node.value());
  set_open(event.node, false);
  std::vector<WorkloadId> lost;
  for (const Pod& pod : pods_) {
    if (!pod.workload.is_none() && pod.node == event.node) lost.push_back(pod.workload);
  }
  std::sort(lost.begin(), lost.end());
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  for (const WorkloadId id : lost) {
    Workload& workload = workloads_[id];
    // Who was evicted already has only lost what was left of its grace.
    if (has_room(workload.phase)) {
      if (workload.phase == Phase::kRunning) workload.evicted_by = EvictionRule::kNode;
      give_room_back(id);
    }
    wait_again(id);
  }
}

void State::on(const WorkloadSubmitted& event) {
  Workload workload;
  workload.shape = intern_shape(event.shape);
  workload.queue = event.queue;
  workload.user = UserId(users_.intern(event.user));
  workload.submitted = event.at;
  workload.declared_run = event.declared_run;
  workload.rank = event.rank;
  workload.shut_out = !closed_at(event.queue).is_none();
  workload.not_before = event.not_before;
  workload.too_early = event.not_before > std::max(clock_, event.at);
  const WorkloadId id = workloads_.add(workload);
  follow(id, event.after);
  enqueue(id);
  history_.add(digest_of(shapes_[workload.shape.index()]))
      .add(workload.queue.value())
      .add(workload.user.value())
      .add(event.at.ms)
      .add(event.declared_run.ms)
      .add(event.rank)
      .add(event.not_before.ms);
  for (const Dependency& each : event.after) history_.add(each.on.value()).add(std::uint64_t{each.only_if_done});
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
  if (has_room(before)) give_room_back(id);
  forget_pods(id);
  workloads_[id].phase = phase;
  workloads_.note_ended(id);
  followers_.forget(id);
  for (const WorkloadId follower : followers_.ended(id, done)) {
    dequeue(follower);
    workloads_[follower].follows = false;
    enqueue(follower);
  }
}

void State::on(const WorkloadFound& event) {
  const WorkloadId id = workloads_.next_id();
  on(event.workload);
  start({.workload = id, .way = 0, .pods = event.pods}, event.started);
  history_.add(event.started.ms);
}

void State::on(const PodEnded& event) {
  history_.add(event.workload.value()).add(event.pod);
  Workload& workload = workloads_[event.workload];
  PodId* link = &workload.first_pod;
  for (std::uint32_t at = 0; at < event.pod; ++at) link = &pods_[link->index()].next;
  const PodId ended = *link;
  const Pod pod = std::exchange(pods_[ended.index()], {});
  *link = pod.next;
  free_pods_.push_back(ended);
  const std::int64_t gpu_milli = requests_[pod.request.index()].gpu_milli_total();
  workload.ended_gpu_milli += gpu_milli;
  workload.ended_gpu_us += gpu_milli * std::max<std::int64_t>(0, (clock_ - workload.started).ms);
  if (workload.phase != Phase::kRunning) return;
  give_room_back(pod);
  note_what_was_held(workload.queue);
  quotas_.set_held(workload.unit, held_by(event.workload));
}

void State::on(const LeavingFound& event) {
  history_.add(event.workload.value()).add(event.stop_by.ms);
  stop(event.workload, event.stop_by);
}

void State::on(const WorkloadStopped& event) {
  history_.add(event.workload.value());
  wait_again(event.workload);
}

void State::on(const WorkloadOverran& event) {
  history_.add(event.workload.value());
  workloads_[event.workload].evicted_by = EvictionRule::kOverRun;
  end(event.workload, Phase::kEnded, false);
}

void State::on(const WindowChanged& event) {
  auto windows = std::make_shared<std::vector<Window>>(*windows_);
  if (event.number == windows->size()) windows->emplace_back();
  (*windows)[event.number] = event.window;
  windows_ = std::move(windows);
  turn_calendar();
  Quota changes;
  event.window.change(changes);
  changes.add_to(history_);
  history_.add(event.number).add(event.window.queue.value());
  for (const Interval& interval : event.window.open) history_.add(interval.from.ms).add(interval.to.ms);
}

void State::on(const GrantAdded& event) {
  quotas_.budgets().grant(event.queue, event.gpu_us, event.until);
  history_.add(event.queue.value()).add(event.gpu_us).add(event.until.ms);
}

void State::on(const GpuTimeUsed& event) {
  quotas_.budgets().note_used(event.queue, event.pot, event.gpu_us);
  history_.add(event.queue.value()).add(event.pot).add(event.gpu_us);
}

void State::on(const PastUseFound& event) {
  past_.remember(event.queue, event.average, event.at);
  history_.add(event.queue.value()).add(event.at.ms);
  for (const Amount& each : event.average) history_.add(std::uint64_t{each.dim.index()}).add(each.amount);
}

void State::on(const CalendarTurned& event) {
  on(TimePassed{event.at});
  turn_calendar();
}

void State::on(const CheckpointReported& event) {
  history_.add(event.workload.value()).add(event.at.ms);
  workloads_[event.workload].checkpoint = event.at;
}

ShapeId State::intern_shape(const WorkloadShape& shape) {
  Shape numbered;
  numbered.terms = shape.terms;
  for (const PodSets& way : shape.ways) {
    auto& sets = numbered.ways.emplace_back();
    for (const PodSet& set : way) {
      sets.push_back({RequestId(requests_.intern(set.request)), set.count});
      numbered.flavors = numbered.flavors.united_with(set.request.flavors);
      if (numbered.ways.size() > 1) continue;
      numbered.pods += set.count;
      numbered.gpu_milli += set.count * set.request.gpu_milli_total();
    }
  }
  return ShapeId(shapes_.intern(numbered));
}

void State::start(const Start& start, Time now) {
  dequeue(start.workload);
  Workload& workload = workloads_[start.workload];
  BERTH_ASSERT(workload.phase == Phase::kPending);
  workload.phase = start.waits ? Phase::kStarting : Phase::kRunning;
  workload.shut_out = false;
  if (start.waits) starting_.push_back(start.workload);
  workload.started = now;
  workload.checkpoint = Time{-1};
  workload.ended_gpu_us = 0;
  workload.evicted_by = EvictionRule::kNone;
  workload.evicted_for = WorkloadId();
  workload.ended_gpu_milli = 0;
  ++workload.attempts;
  ++running_;
  history_.add(start.workload.value())
      .add(start.way)
      .add(std::uint64_t{start.waits})
      .add(std::uint64_t{start.best_effort});
  PodId last;
  std::size_t at = 0;
  for (const NumberedPodSet& set : shapes_[workload.shape.index()].ways[start.way]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) {
      const PodPlacement& place = start.pods[at];
      ledger_.apply({.request = requests_[set.request.index()], .node = place.node, .gpus = place.gpus});
      const PodId pod = new_pod({set.request, place.node, place.gpus, start.workload, PodId()});
      (last.is_none() ? workload.first_pod : pods_[last.index()].next) = pod;
      last = pod;
      history_.add(place.node.value()).add(place.gpus.bits());
    }
  }
  BERTH_ASSERT(at == start.pods.size());
  const Terms& terms = shapes_[workload.shape.index()].terms;
  note_what_was_held(workload.queue);
  workload.best_effort = terms.best_effort || start.best_effort;
  workload.unit = quotas_.add({.workload = start.workload,
                               .queue = workload.queue,
                               .user = workload.user,
                               .priority = terms.priority,
                               .admitted = now,
                               .may_be_covered = !workload.best_effort,
                               .end = enforced_end(terms, now),
                               .covered_at = {}},
                              held_by(start.workload));
  quotas_.keep();
}

// Best-effort work counts nowhere.
AmountList State::held_by(WorkloadId id) const {
  if (workloads_[id].best_effort) return {};
  AmountsByDim sums(quotas_.tree().dims());
  for_each_pod(*this, id,
               [&](const Pod& pod) { add_amounts(requests_[pod.request.index()], node(pod.node).flavor, 1, sums); });
  return amounts_of(sums);
}

// Those who were there have stopped: it runs from now on.
void State::begin(WorkloadId id, Time now) {
  Workload& workload = workloads_[id];
  BERTH_ASSERT(workload.phase == Phase::kStarting);
  workload.phase = Phase::kRunning;
  workload.started = now;
  quotas_.set_end(workload.unit, enforced_end(shapes_[workload.shape.index()].terms, now));
  std::erase(starting_, id);
  history_.add(id.value());
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
  if (workload.phase == Phase::kStarting) std::erase(starting_, id);
  note_what_was_held(workload.queue);
  quotas_.remove(workload.unit);
  quotas_.keep();
  workload.unit = UnitId();
  for (PodId at = workload.first_pod; !at.is_none(); at = pods_[at.index()].next) give_room_back(pods_[at.index()]);
}

void State::give_room_back(const Pod& pod) {
  freeing(pod.node, [&] {
    ledger_.apply({.request = requests_[pod.request.index()],
                   .node = pod.node,
                   .gpus = pod.gpus,
                   .direction = Move::Direction::kGive});
  });
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
  const std::int64_t gpu_milli = shapes_[workload.shape.index()].gpu_milli - workload.ended_gpu_milli;
  return workload.ended_gpu_us + Wide{gpu_milli} * std::max<std::int64_t>(0, (clock_ - workload.started).ms);
}

BudgetState State::budget_of(QueueId queue) const {
  BudgetState budget = quotas_.budgets().state_of(queue, clock_);
  quotas_.budgets().for_each_charged(queue, [&](WorkloadId id) {
    const Wide used = gpu_us_used_by(id);
    budget.used_gpu_us += used;
    budget.reserved_gpu_us -= used;
  });
  return budget;
}

std::vector<Wide> State::gpu_us_used_of(QueueId queue) const {
  return quotas_.budgets().used_of_each_pot(queue, [&](WorkloadId id) { return gpu_us_used_by(id); });
}

void State::forget_pods(WorkloadId id) {
  Workload& workload = workloads_[id];
  quotas_.budgets().settle(id, gpu_us_used_by(id));
  if (workload.phase == Phase::kStopping) std::erase(stopping_, id);
  PodId next = workload.first_pod;
  workload.first_pod = PodId();
  while (!next.is_none()) {
    const PodId at = next;
    next = pods_[at.index()].next;
    pods_[at.index()] = {};
    free_pods_.push_back(at);
  }
}

void State::wait_again(WorkloadId id) {
  forget_pods(id);
  workloads_[id].phase = Phase::kPending;
  enqueue(id);
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

template <class Change>
void State::freeing(NodeId node, Change change) {
  // Of a shape with one pod set every node's room adds up exactly, so what came free is counted (its ways differ in their
  // flavors, and a node has one). Of several sets it does not: a node may have had room for either and now has it for
  // both. So there any room at all where something came free is reason enough to try again. Whom a gate refused does not
  // wait for room.
  const auto room_of = [&](const Shape& shape) {
    std::int64_t room = 0;
    for (const auto& way : shape.ways) {
      for (const NumberedPodSet& set : way) room += room_for(ledger_, node, requests_[set.request.index()]);
    }
    return room;
  };
  const auto for_each_blocked = [&](auto visit) {
    for (auto& line : lines_) {
      if (!line) continue;
      for (std::size_t at = 0; at < line->shapes().size(); ++at) {
        const ShapeInLine& entry = line->shapes()[at];
        if (entry.blocked() && !entry.impossible() && !is_quota_gate(entry.gate)) visit(*line, at, entry);
      }
    }
  };
  room_before_.clear();
  for_each_blocked([&](Line&, std::size_t, const ShapeInLine& entry) {
    room_before_.push_back(room_of(shapes_[entry.shape.index()]));
  });
  change();
  std::size_t next = 0;
  for_each_blocked([&](Line& line, std::size_t at, const ShapeInLine& entry) {
    const Shape& shape = shapes_[entry.shape.index()];
    const std::int64_t before = room_before_[next++];
    const std::int64_t freed = room_of(shape) - (shape.ways.front().size() == 1 ? before : 0);
    if (freed > 0) line.set_missing(at, entry.missing - freed, entry.gate, entry.by_quota);
  });
}

}  // namespace berth
