#include "service/live_engine.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "base/wording.h"
#include "cycle/explain.h"

namespace berth {
namespace {

// One cycle tries so many workloads; then the outside gets its turn.
constexpr Effort kEffort{10'000};

// Devices for a pod whose binding named none: the first that are free.
GpuSet first_free(const State& state, NodeId node, const PodRequest& request) {
  GpuSet gpus;
  const auto free = state.ledger().gpu_milli(node);
  for (std::size_t gpu = 0; gpu < free.size() && gpus.size() < request.gpus; ++gpu) {
    if (free[gpu] >= request.gpu_milli) gpus.add(static_cast<int>(gpu));
  }
  return gpus;
}

bool asks_the_same(const PodFacts& a, const PodFacts& b) {
  return a.queue == b.queue && a.request == b.request && a.gpu_models == b.gpu_models && a.run == b.run &&
         a.group_size == b.group_size && a.problem == b.problem;
}

}  // namespace

LiveEngine::LiveEngine(Seed seed, PlacementPolicy policy, NewJournal new_journal)
    : seed_(seed), policy_(policy), new_journal_(std::move(new_journal)), session_(std::make_unique<Session>()) {}

void LiveEngine::set_queue(const QueueFacts& queue) {
  const auto known = queues_.find(queue.name);
  if (known != queues_.end() && known->second == queue) return;
  queues_[queue.name] = queue;
  anew_ = true;
}

void LiveEngine::remove_queue(const std::string& name) { anew_ = queues_.erase(name) > 0 || anew_; }

void LiveEngine::set_node(const NodeFacts& node) {
  const auto known = nodes_.find(node.name);
  if (known == nodes_.end()) {
    new_nodes_.insert(node.name);
  } else if (!known->second.same_machine(node)) {
    anew_ = true;
  } else if (known->second.open != node.open && node_ids_.contains(node.name) && !anew_) {
    const NodeId id = node_ids_.at(node.name);
    session_->apply(node.open ? Event(NodeRestored{id}) : Event(NodeDrained{id}));
    for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
  }
  nodes_[node.name] = node;
}

void LiveEngine::remove_node(const std::string& name) {
  new_nodes_.erase(name);
  if (nodes_.erase(name) > 0) anew_ = true;
}

void LiveEngine::set_pod(const PodFacts& pod) {
  const auto [at, is_new] = members_.try_emplace(pod.uid);
  Member& member = at->second;
  const std::string group = pod.group.empty() ? "pod " + pod.uid : pod.group;
  if (is_new) {
    member.sequence = next_sequence_++;
    by_sequence_[member.sequence] = pod.uid;
    member.told = pod.told;
  } else {
    if (group != member.group) leave_group(member);
    if (!asks_the_same(member.facts, pod)) withdraw(groups_[member.group]);
  }
  member.facts = pod;
  member.group = group;
  groups_[group].members.insert(member.sequence);
  unsettled_.insert(group);

  const bool elsewhere =
      !member.running.is_none() && (member.node != pod.node || (pod.gpus && *pod.gpus != member.gpus));
  if (pod.stage == PodStage::kBound) {
    if (!member.running.is_none() && elsewhere) end(member);
    member.confirmed = true;
    if (member.running.is_none()) {
      found_.insert(pod.uid);
      room_came_free_ = true;  // perhaps it fits where it is
    }
  } else if (pod.stage == PodStage::kSucceeded || pod.stage == PodStage::kFailed) {
    found_.erase(pod.uid);
    end(member);
  }
}

void LiveEngine::remove_pod(const std::string& uid) {
  const auto at = members_.find(uid);
  if (at == members_.end()) return;
  end(at->second);
  leave_group(at->second);
  by_sequence_.erase(at->second.sequence);
  found_.erase(uid);
  without_room_.erase(uid);
  members_.erase(at);
}

void LiveEngine::refuse_binding(const std::string& uid) {
  const auto at = members_.find(uid);
  if (at == members_.end() || at->second.confirmed || at->second.running.is_none()) return;
  at->second.refused = true;
  end(at->second);
}

void LiveEngine::leave_group(Member& member) {
  Group& group = groups_[member.group];
  withdraw(group);
  group.members.erase(member.sequence);
  unsettled_.insert(member.group);
}

// Gives back its place, if it has one.
void LiveEngine::end(Member& member) {
  unsettled_.insert(member.group);
  without_room_.erase(member.facts.uid);
  if (member.running.is_none()) return;
  // In an engine that will be made anew nothing needs to be told any more.
  if (!anew_) session_->apply(WorkloadEnded{member.running});
  member.running = WorkloadId();
  member.confirmed = false;
  room_came_free_ = true;
}

// ---- the engine's life ------------------------------------------------------------------------------------------------

void LiveEngine::rebuild(Time now) {
  session_->close();
  session_ = std::make_unique<Session>(new_journal_ ? new_journal_() : Session::Recorder());
  queue_ids_.clear();
  node_ids_.clear();
  flavor_ids_.clear();
  pending_groups_.clear();
  groups_by_shape_.clear();
  without_room_.clear();
  session_->apply(RunConfigured{seed_, policy_});
  add_queues();
  new_nodes_.clear();
  for (const auto& [name, node] : nodes_) new_nodes_.insert(name);
  anew_ = false;
  add_new_nodes();
  for (auto& [key, group] : groups_) {
    group.pending = WorkloadId();
    group.submitted.clear();
    unsettled_.insert(key);
  }
  for (auto& [uid, member] : members_) {
    const bool holds = !member.running.is_none() || member.facts.stage == PodStage::kBound;
    member.running = WorkloadId();
    if (holds) found_.insert(uid);
  }
  place_found(now);
}

void LiveEngine::add_queues() {
  const std::string otherwise(kDefaultQueue);
  queues_.try_emplace(otherwise, QueueFacts{.name = otherwise, .parent = {}, .order = Order::kFifoSkip});
  std::set<std::string> on_the_way;
  add_queue(otherwise, on_the_way);
  for (const auto& [name, queue] : queues_) add_queue(name, on_the_way);
}

// Parents first. A parent that there is not, or that is below its own child, counts as none.
QueueId LiveEngine::add_queue(const std::string& name, std::set<std::string>& on_the_way) {
  if (const auto known = queue_ids_.find(name); known != queue_ids_.end()) return known->second;
  const auto queue = queues_.find(name);
  if (queue == queues_.end() || !on_the_way.insert(name).second) return QueueId();
  const QueueId parent = queue->second.parent.empty() ? QueueId() : add_queue(queue->second.parent, on_the_way);
  std::optional<Order> order = queue->second.order;
  if (parent.is_none() && !order) order = Order::kFifoSkip;
  session_->apply(QueueAdded{{.name = name, .parent = parent, .order = order, .quota = taking_nothing()}});
  return queue_ids_[name] = QueueId(session_->state().queues().size() - 1);
}

FlavorId LiveEngine::flavor_of(const NodeFacts& node) {
  if (const auto known = flavor_ids_.find(node.gpu_model); known != flavor_ids_.end()) return known->second;
  const Event added = FlavorAdded{{.name = node.gpu_model, .model = node.gpu_model, .memory_mib = node.gpu_memory_mib}};
  if (session_->state().refusal(added)) return FlavorId();
  session_->apply(added);
  for (const auto& [key, group] : groups_) {
    if (group.pending.is_none()) unsettled_.insert(key);
  }
  return flavor_ids_[node.gpu_model] = FlavorId(session_->state().flavors().size() - 1);
}

void LiveEngine::add_new_nodes() {
  NodesAdded added;
  for (const std::string& name : new_nodes_) {
    const NodeFacts& facts = nodes_.at(name);
    Node node{.name = name,
              .flavor = facts.gpus > 0 ? flavor_of(facts) : FlavorId(),
              .gpus = facts.gpus,
              .gpu_memory_mib = facts.gpu_memory_mib,
              .cpu_milli = facts.cpu_milli,
              .memory_bytes = facts.memory_bytes,
              .pods_max = facts.pods_max};
    const bool too_many_flavors = facts.gpus > 0 && node.flavor.is_none();
    if (facts.problem.empty() && !too_many_flavors && !session_->state().refusal(NodesAdded{{node}})) {
      added.nodes.push_back(std::move(node));
    }
  }
  new_nodes_.clear();
  if (added.nodes.empty() || session_->state().refusal(added)) return;
  const std::size_t first = session_->state().nodes();
  session_->apply(added);
  for (std::size_t at = first; at < session_->state().nodes(); ++at) {
    const std::string& name = session_->state().node(NodeId(at)).name;
    node_ids_[name] = NodeId(at);
    if (!nodes_.at(name).open) session_->apply(NodeDrained{NodeId(at)});
  }
  room_came_free_ = true;  // for pods that were found on nodes that were not there yet
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

// ---- what runs ----------------------------------------------------------------------------------------------------------

void LiveEngine::place_found(Time now) {
  const std::set<std::string> found = std::exchange(found_, {});
  for (const std::string& uid : found) find_place(members_.at(uid), now);
}

void LiveEngine::find_place(Member& member, Time now) {
  if (!member.running.is_none()) return;
  const PodFacts& pod = member.facts;
  const bool bound = pod.stage == PodStage::kBound;
  const std::string node = bound ? pod.node : member.node;
  // One that is only about to be bound gets another place as any that waits.
  const auto wait = [&](std::string why) {
    if (!bound) return;
    found_.insert(pod.uid);
    without_room_[pod.uid] = std::move(why);
  };
  const auto id = node_ids_.find(node);
  if (id == node_ids_.end()) return wait("its node " + node + " is not there");
  PodRequest request = pod.request;
  request.flavors = FlavorSet::all();  // it holds what it holds
  PodPlacement place{id->second, bound ? pod.gpus.value_or(GpuSet()) : member.gpus};
  if (place.gpus.size() != request.gpus) place.gpus = first_free(state(), place.node, request);
  const auto queue = queue_ids_.find(pod.queue);
  const WorkloadSubmitted as{
      .name = pod.name_space + "/" + pod.name,
      .queue = queue == queue_ids_.end() ? queue_ids_.at(std::string(kDefaultQueue)) : queue->second,
      .at = now,
      .declared_run = pod.run,
      .shape = {{{{request, 1}}}}};
  if (const auto refusal = state().refusal(WorkloadFound{as, {place}, now})) return wait(*refusal);
  without_room_.erase(pod.uid);
  member.node = node;
  hold(member, as, place);
}

void LiveEngine::hold(Member& member, const WorkloadSubmitted& as, const PodPlacement& place) {
  member.running = state().workloads().next_id();
  member.gpus = place.gpus;
  session_->apply(WorkloadFound{as, {place}, as.at});
}

// ---- what waits ---------------------------------------------------------------------------------------------------------

void LiveEngine::settle(Time now) {
  if (anew_) rebuild(now);
  if (!new_nodes_.empty()) add_new_nodes();
  if (!found_.empty() && std::exchange(room_came_free_, false)) place_found(now);
  // Who came first is submitted first, also when everything is submitted anew.
  std::vector<std::tuple<Time, std::uint64_t, std::string>> in_order;
  for (const std::string& key : std::exchange(unsettled_, {})) {
    const auto group = groups_.find(key);
    if (group == groups_.end()) continue;
    if (group->second.members.empty()) {
      groups_.erase(group);
      partial_.erase(key);
      continue;
    }
    const std::uint64_t first = *group->second.members.begin();
    in_order.emplace_back(members_.at(by_sequence_.at(first)).facts.created, first, key);
  }
  std::ranges::sort(in_order);
  for (const auto& [created, first, key] : in_order) settle_group(key, now);
}

LiveEngine::Tally LiveEngine::tally(const Group& group) {
  Tally tally;
  // A group may be smaller since some of it have ended: what counts is what those say who have not.
  std::int64_t size_of_ended = 1;
  for (const std::uint64_t sequence : group.members) {
    Member& member = members_.at(by_sequence_.at(sequence));
    const PodFacts& pod = member.facts;
    const bool ended = pod.stage == PodStage::kSucceeded || pod.stage == PodStage::kFailed;
    std::int64_t& size = ended ? size_of_ended : tally.size;
    size = std::max(size, pod.group_size);
    if (tally.first == nullptr) tally.first = &pod;
    if (pod.stage == PodStage::kBound || !member.running.is_none()) {
      ++tally.placed;
      if (pod.bound_at) tally.first_bound_at = std::min(tally.first_bound_at.value_or(*pod.bound_at), *pod.bound_at);
    } else if (pod.stage == PodStage::kWaiting) {
      tally.waiting.push_back(&member);
    } else if (pod.stage == PodStage::kSucceeded) {
      ++tally.succeeded;
    } else if (pod.stage == PodStage::kFailed) {
      ++tally.failed;
    }
  }
  if (tally.placed == 0 && tally.waiting.empty()) tally.size = std::max(tally.size, size_of_ended);
  return tally;
}

std::pair<std::string, std::string> LiveEngine::obstacle(const Tally& tally) const {
  for (const Member* member : tally.waiting) {
    const PodFacts& pod = member->facts;
    if (!pod.problem.empty()) return {"NotFollowed", pod.problem};
    const auto queue = queues_.find(pod.queue);
    if (queue == queues_.end()) {
      return {"QueueUnknown", "there is no queue " + quote(pod.queue) + "; create it, or name another in the label " +
                                  std::string(kQueueLabel)};
    }
    if (const std::string held = held_by(pod.queue); !held.empty())
      return {"Held", "queue " + quote(held) + " is on hold"};
    if (pod.queue != tally.waiting.front()->facts.queue) {
      return {"NotFollowed", "its group's pods name several queues; name one"};
    }
    if (!flavors_of(pod)) {
      std::string models;
      for (const std::string& model : pod.gpu_models) models += (models.empty() ? "" : " or ") + model;
      return {std::string(name_of(ReasonCode::kGpuType)), "no node has a GPU of type " + models};
    }
  }
  const std::int64_t needed = std::max<std::int64_t>(1, tally.size - tally.placed - tally.succeeded);
  const auto waiting = static_cast<std::int64_t>(tally.waiting.size());
  if (waiting >= needed) return {};
  return {"GangIncomplete", "its group starts together, and " + with_separators(needed - waiting) + " of " +
                                with_separators(tally.size) + " pods have not been created"};
}

// The queue on hold that this one is, or is below; empty: none.
std::string LiveEngine::held_by(const std::string& name) const {
  std::set<std::string> seen;
  for (auto queue = queues_.find(name); queue != queues_.end() && seen.insert(queue->first).second;
       queue = queues_.find(queue->second.parent)) {
    if (queue->second.hold) return queue->first;
  }
  return "";
}

// Those of its models that some node has; none if no node has any.
std::optional<FlavorSet> LiveEngine::flavors_of(const PodFacts& pod) const {
  if (pod.gpu_models.empty()) return FlavorSet::all();
  FlavorSet flavors;
  for (const std::string& model : pod.gpu_models) {
    if (const auto known = flavor_ids_.find(model); known != flavor_ids_.end()) flavors.add(known->second);
  }
  if (flavors.empty()) return std::nullopt;
  return flavors;
}

void LiveEngine::settle_group(const std::string& key, Time now) {
  Group& group = groups_.at(key);
  const Tally members = tally(group);
  note_partial(key, group, members, now);
  untold_.insert(key);
  std::vector<std::string> waiting;
  for (const Member* member : members.waiting) waiting.push_back(member->facts.uid);
  if (!group.pending.is_none()) {
    std::vector<std::string> submitted = group.submitted;
    std::ranges::sort(submitted);
    std::ranges::sort(waiting);
    if (submitted == waiting && obstacle(members).first.empty()) return;
    withdraw(group);
  }
  if (members.waiting.empty()) return;
  std::tie(group.unsubmitted_code, group.unsubmitted_why) = obstacle(members);
  if (group.unsubmitted_code.empty()) submit(key, group, members);
}

void LiveEngine::submit(const std::string& key, Group& group, const Tally& tally) {
  PodSets sets;
  std::vector<std::vector<std::string>> uids;
  Duration run = kRunNotDeclared;
  for (const Member* member : tally.waiting) {
    PodRequest request = member->facts.request;
    if (request.gpus > 0) request.flavors = *flavors_of(member->facts);
    const auto same = std::ranges::find(sets, request, &PodSet::request);
    const auto at = static_cast<std::size_t>(same - sets.begin());
    if (same == sets.end()) {
      sets.push_back({request, 0});
      uids.emplace_back();
    }
    ++sets[at].count;
    uids[at].push_back(member->facts.uid);
    run = std::max(run, member->facts.run);
  }
  const PodFacts& first = tally.waiting.front()->facts;
  const Event submitted = WorkloadSubmitted{.name = first.group.empty() ? first.name_space + "/" + first.name : key,
                                            .queue = queue_ids_.at(first.queue),
                                            .at = first.created,
                                            .declared_run = run,
                                            .shape = {{sets}}};
  if (const auto refusal = state().refusal(submitted)) {
    group.unsubmitted_code = "NotFollowed";
    group.unsubmitted_why = *refusal;
    return;
  }
  group.pending = state().workloads().next_id();
  session_->apply(submitted);
  group.submitted.clear();
  for (const auto& of_set : uids) group.submitted.insert(group.submitted.end(), of_set.begin(), of_set.end());
  pending_groups_[group.pending] = key;
  groups_by_shape_[state().workload(group.pending).shape].insert(key);
}

void LiveEngine::withdraw(Group& group) {
  if (group.pending.is_none()) return;
  if (!anew_) {
    const ShapeId shape = state().workload(group.pending).shape;
    groups_by_shape_[shape].erase(pending_groups_.at(group.pending));
    session_->apply(WorkloadCancelled{group.pending});
  }
  pending_groups_.erase(group.pending);
  group.pending = WorkloadId();
  group.submitted.clear();
}

// ---- deciding -----------------------------------------------------------------------------------------------------------

Round LiveEngine::decide(Time now) {
  Round round;
  settle(now);
  for (bool finished = false; !finished;) {
    const Plan plan = session_->one_cycle(now, kEffort);
    finished = plan.finished;
    for (const Blocked& blocked : plan.blocked) {
      for (const std::string& key : groups_by_shape_[blocked.shape]) untold_.insert(key);
    }
    for (const Start& start : plan.starts) {
      const Group& group = groups_.at(pending_groups_.at(start.workload));
      const std::vector<std::string> uids = group.submitted;
      take(start, now);
      for (const std::string& uid : uids) {
        const Member& member = members_.at(uid);
        round.bindings.push_back({{uid, member.facts.name_space, member.facts.name}, member.node, member.gpus});
      }
    }
  }
  roll_back(round, now);
  tell(round, now);
  return round;
}

// The workload has its places: from now on each of its pods is one of its own.
void LiveEngine::take(const Start& start, Time now) {
  const std::string key = pending_groups_.at(start.workload);
  Group& group = groups_.at(key);
  untold_.insert(key);
  unsettled_.insert(key);
  const std::vector<std::string> uids = std::exchange(group.submitted, {});
  BERTH_ASSERT(uids.size() == start.pods.size());
  pending_groups_.erase(start.workload);
  groups_by_shape_[state().workload(start.workload).shape].erase(key);
  group.pending = WorkloadId();
  const QueueId queue = state().workload(start.workload).queue;
  if (uids.size() > 1) session_->apply(WorkloadEnded{start.workload});
  for (std::size_t at = 0; at < uids.size(); ++at) {
    Member& member = members_.at(uids[at]);
    member.node = state().node(start.pods[at].node).name;
    member.confirmed = false;
    member.refused = false;
    member.told.clear();
    if (uids.size() == 1) {
      member.running = start.workload;
      member.gpus = start.pods[at].gpus;
      continue;
    }
    PodRequest request = member.facts.request;
    request.flavors = FlavorSet::all();
    hold(member,
         {.name = member.facts.name_space + "/" + member.facts.name,
          .queue = queue,
          .at = now,
          .declared_run = member.facts.run,
          .shape = {{{{request, 1}}}}},
         start.pods[at]);
  }
}

}  // namespace berth
