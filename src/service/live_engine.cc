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
// Nobody has gone at the moment when he is told to.
constexpr Duration kGraceMin = seconds(1);

bool asks_the_same(const PodFacts& a, const PodFacts& b) {
  return a.queue == b.queue && a.request == b.request && a.gpu_models == b.gpu_models && a.run == b.run &&
         a.group_size == b.group_size && a.user == b.user && a.terms == b.terms && a.problem == b.problem;
}

bool names_no_flavor(const QueueSpec& spec) {
  const auto none = [](const FlavorAmount& each) { return each.flavor == kOnlyFlavor; };
  return std::ranges::any_of(spec.guarantee, none) || std::ranges::any_of(spec.limit, none);
}

}  // namespace

LiveEngine::LiveEngine(Seed seed, PlacementPolicy policy, NewJournal new_journal)
    : seed_(seed), policy_(policy), new_journal_(std::move(new_journal)), session_(std::make_unique<Session>()) {}

void LiveEngine::set_queue(const QueueFacts& queue) {
  const auto known = queues_.find(queue.name);
  if (known != queues_.end() && known->second.same_queue(queue)) return;
  // What it says of itself is what was written here, but for the first time.
  const auto record = records_.find(queue.name);
  if (record == records_.end() || (known != queues_.end() && known->second.uid != queue.uid)) {
    forgotten_.insert(queue.name);
    records_[queue.name] = queue.record;
  }
  queues_[queue.name] = queue;
  anew_ = true;
}

void LiveEngine::remove_queue(const std::string& name) {
  anew_ = queues_.erase(name) > 0 || anew_;
  forgotten_.insert(name);
  records_.erase(name);
}

void LiveEngine::set_flavor(const FlavorFacts& flavor) {
  const auto known = flavors_.find(flavor.name);
  if (known != flavors_.end() && known->second == flavor) return;
  flavors_[flavor.name] = flavor;
  anew_ = true;
}

void LiveEngine::remove_flavor(const std::string& name) {
  anew_ = flavors_.erase(flavor_amount_named(name).flavor) > 0 || anew_;
}

void LiveEngine::set_other_flavors(std::vector<FlavorFacts> flavors) {
  if (flavors == other_flavors_) return;
  other_flavors_ = std::move(flavors);
  anew_ = true;
}

// Whether its controller has counted anew does not matter: a budget that would keep any keeps all.
void LiveEngine::set_budget(const BudgetFacts& budget) {
  const auto [at, is_new] = budgets_.try_emplace({budget.name_space, budget.name});
  const bool same = at->second.protects == budget.protects && at->second.pods.to_string() == budget.pods.to_string();
  at->second = budget;
  if (is_new ? budget.protects : !same) anew_ = true;
}

void LiveEngine::remove_budget(const std::string& name_space, const std::string& name) {
  anew_ = budgets_.erase({name_space, name}) > 0 || anew_;
}

void LiveEngine::set_node(const NodeFacts& node) {
  const auto known = nodes_.find(node.name);
  if (known == nodes_.end()) {
    new_nodes_.insert(node.name);
    // Whoever leaves its flavor open may use this one from now on.
    const auto flavor = flavor_ids_.find(flavor_name_of(node));
    if (node.gpus > 0 && (flavor == flavor_ids_.end() || !models_.contains(flavor->second))) anew_ = true;
  } else if (!known->second.same_machine(node) || flavor_name_of(known->second) != flavor_name_of(node)) {
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
    if (!asks_the_same(member.facts, pod)) {
      withdraw(groups_[member.group]);
      if (const Run* const run = run_of(member); run != nullptr && run->starting) give_up_start(member.running);
    }
  }
  if (pod.checkpoint && pod.checkpoint != member.facts.checkpoint) checkpoints_.insert(pod.uid);
  member.facts = pod;
  member.group = group;
  groups_[group].members.insert(member.sequence);
  unsettled_.insert(group);

  const bool elsewhere =
      !member.running.is_none() && (member.node != pod.node || (pod.gpus && *pod.gpus != member.gpus));
  if (pod.stage == PodStage::kBound) {
    if (!member.running.is_none() && elsewhere) end(member);
    member.confirmed = true;
    // Somebody else told it to leave, or this scheduler did before it was started anew.
    if (const Run* const run = run_of(member); pod.leaving_until && run != nullptr && !run->stop_by) anew_ = true;
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
  if (run_of(at->second)->starting) return;
  at->second.refused = true;
  end(at->second);
}

void LiveEngine::leave_group(Member& member) {
  Group& group = groups_[member.group];
  withdraw(group);
  group.members.erase(member.sequence);
  unsettled_.insert(member.group);
}

LiveEngine::Run* LiveEngine::run_of(const Member& member) {
  const auto at = runs_.find(member.running);
  return at == runs_.end() ? nullptr : &at->second;
}
const LiveEngine::Run* LiveEngine::run_of(const Member& member) const {
  const auto at = runs_.find(member.running);
  return at == runs_.end() ? nullptr : &at->second;
}

// Gives back its place, if it has one. Also an engine that will be made anew is told: it is asked what was used.
void LiveEngine::end(Member& member) {
  unsettled_.insert(member.group);
  without_room_.erase(member.facts.uid);
  member.stop_by.reset();
  if (member.running.is_none()) return;
  const WorkloadId id = member.running;
  Run& run = runs_.at(id);
  room_came_free_ = true;
  if (run.starting) return give_up_start(id);
  const auto at = std::ranges::find(run.uids, member.facts.uid);
  if (run.uids.size() > 1) {
    session_->apply(PodEnded{id, static_cast<std::uint32_t>(at - run.uids.begin())});
  } else {
    session_->apply(run.stop_by ? Event(WorkloadCancelled{id}) : Event(WorkloadEnded{id}));
  }
  run.uids.erase(at);
  if (run.uids.empty()) runs_.erase(id);
  member.running = WorkloadId();
  member.confirmed = false;
}

// One of those who were to start together is gone, or is another: they wait again.
void LiveEngine::give_up_start(WorkloadId id) {
  const Run run = std::move(runs_.at(id));
  runs_.erase(id);
  for (const std::string& uid : run.uids) {
    Member& member = members_.at(uid);
    member.running = WorkloadId();
    unsettled_.insert(member.group);
  }
  if (!anew_) session_->apply(WorkloadCancelled{id});
  room_came_free_ = true;
}

// What is reported for a time to come is believed of now.
void LiveEngine::note_checkpoints(Time now) {
  for (const std::string& uid : std::exchange(checkpoints_, {})) {
    const auto at = members_.find(uid);
    if (at == members_.end() || at->second.running.is_none() || !at->second.facts.checkpoint) continue;
    const Time reported = std::min(*at->second.facts.checkpoint, now);
    const CheckpointReported event{at->second.running, reported};
    if (reported > state().workload(event.workload).checkpoint && !state().refusal(event)) session_->apply(event);
  }
}

// ---- what waits ---------------------------------------------------------------------------------------------------------

void LiveEngine::settle(Time now) {
  if (!anew_) anew_ = std::ranges::any_of(unsettled_, [&](const auto& key) { return needs_a_new_life(key); });
  if (anew_) rebuild(now);
  if (!new_nodes_.empty()) add_new_nodes();
  if (!found_.empty() && std::exchange(room_came_free_, false)) place_found(now);
  if (!checkpoints_.empty()) note_checkpoints(now);
  const std::vector<std::string> in_order = take_unsettled();
  std::vector<std::string> late;
  for (const std::string& key : in_order) {
    const PodFacts& first = members_.at(by_sequence_.at(*groups_.at(key).members.begin())).facts;
    if (!to_drain_.empty() && came_after_the_drain(first)) {
      late.push_back(key);
    } else {
      settle_group(key, now);
    }
  }
  drain_queues();
  for (const std::string& key : late) settle_group(key, now);
}

// Who came first is submitted first, also when everything is submitted anew.
std::vector<std::string> LiveEngine::take_unsettled() {
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
    in_order.emplace_back(members_.at(by_sequence_.at(first)).facts.queued, first, key);
  }
  std::ranges::sort(in_order);
  std::vector<std::string> keys;
  for (auto& [created, first, key] : in_order) keys.push_back(std::move(key));
  return keys;
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
    const Run* const run = run_of(member);
    if (!ended && (member.stop_by || pod.leaving_until)) {
      ++tally.leaving;
    } else if (pod.stage == PodStage::kBound || run != nullptr) {
      ++tally.placed;
      if (run != nullptr && run->starting) tally.starting.push_back(&member);
      if (pod.bound_at) tally.first_bound_at = std::min(tally.first_bound_at.value_or(*pod.bound_at), *pod.bound_at);
    } else if (pod.stage == PodStage::kWaiting) {
      tally.waiting.push_back(&member);
    } else if (pod.stage == PodStage::kSucceeded) {
      ++tally.succeeded;
    } else if (pod.stage == PodStage::kFailed) {
      ++tally.failed;
    }
  }
  if (tally.placed + tally.leaving == 0 && tally.waiting.empty()) tally.size = std::max(tally.size, size_of_ended);
  return tally;
}

std::pair<std::string, std::string> LiveEngine::obstacle(const Tally& tally) const {
  for (const Member* member : tally.waiting) {
    const PodFacts& pod = member->facts;
    if (!pod.problem.empty()) return {"NotFollowed", pod.problem};
    if (!pod.shut.code.empty()) return {pod.shut.code, pod.shut.text};
    const auto queue = queues_.find(pod.queue);
    if (queue == queues_.end() && pod.queue.starts_with("volcano/")) {
      return {"QueueUnknown", "Volcano's queue " + quote(pod.queue.substr(pod.queue.find('/') + 1)) +
                                  " is not there; create it, or name another in the annotation " +
                                  std::string(kVolcanoQueueAnnotation)};
    }
    if (queue == queues_.end()) {
      return {"QueueUnknown", "there is no queue " + quote(pod.queue) + "; create it, or name another in the label " +
                                  std::string(kQueueLabel)};
    }
    if (pod.queue != tally.waiting.front()->facts.queue) {
      return {"NotFollowed", "its group's pods name several queues; name one"};
    }
    if (!queue->second.problem.empty()) {
      return {"NotFollowed", "queue " + quote(pod.queue) + ": " + queue->second.problem};
    }
    if (!only_flavor_ && names_no_flavor(queue->second.spec)) {
      return {"NotFollowed", "queue " + quote(pod.queue) +
                                 ": its amounts name no kind of GPU, so nodes must have one kind; they have none or "
                                 "several"};
    }
    if (const auto problem = queue_problems_.find(pod.queue); problem != queue_problems_.end()) {
      return {"NotFollowed", "queue " + quote(pod.queue) + ": " + problem->second};
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

// Those that some node has, the preferred first: as named, else the smallest GPUs. None if no node has any of those that
// are named.
std::optional<std::vector<FlavorId>> LiveEngine::flavors_of(const PodFacts& pod) const {
  std::vector<FlavorId> flavors;
  for (const std::string& wanted : pod.gpu_models) {
    const std::string name = flavor_amount_named(wanted).flavor;
    for (const auto& [flavor, model] : models_) {
      const bool named = model == wanted || state().flavors()[flavor.index()].name == name;
      if (named && std::ranges::find(flavors, flavor) == flavors.end()) flavors.push_back(flavor);
    }
  }
  if (!pod.gpu_models.empty()) return flavors.empty() ? std::nullopt : std::optional(flavors);
  for (const auto& [flavor, model] : models_) flavors.push_back(flavor);
  std::ranges::stable_sort(flavors, {}, [&](FlavorId flavor) { return state().flavors()[flavor.index()].memory_mib; });
  return flavors;
}

// Its nodes end each pod at its own limit: of several, the last one ends the workload.
Terms LiveEngine::terms_of(const std::vector<Member*>& members) const {
  const PodFacts& pod = members.front()->facts;
  Terms terms = pod.terms;
  for (const Member* const member : members) {
    const std::optional<Duration> limit = member->facts.terms.run_limit;
    if (!limit || !terms.run_limit) terms.run_limit.reset();
    if (terms.run_limit) terms.run_limit = std::max(*terms.run_limit, *limit);
  }
  terms.grace = std::max(terms.grace, kGraceMin);
  const auto of_namespace = budgets_.lower_bound({pod.name_space, ""});
  for (auto at = of_namespace; at != budgets_.end() && at->first.first == pod.name_space; ++at) {
    if (at->second.protects && at->second.pods.matches(pod.labels)) terms.disruption_permille = 1000;
  }
  return terms;
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

// A gang runs in one flavor: each that the first of its pods with GPUs may use is a way, and in it the others keep to that
// flavor if they may. `uids` has the pods in the order of the sets, which is the same in every way.
std::vector<PodSets> LiveEngine::ways_of(const std::vector<Member*>& members, std::vector<std::string>& uids) const {
  struct Equal {
    PodRequest request;
    std::vector<FlavorId> flavors;
    std::vector<std::string> uids;
  };
  std::vector<Equal> sets;
  for (const Member* const member : members) {
    const PodRequest& request = member->facts.request;
    std::vector<FlavorId> flavors;
    if (request.gpus > 0) flavors = *flavors_of(member->facts);
    auto same =
        std::ranges::find_if(sets, [&](const Equal& set) { return set.request == request && set.flavors == flavors; });
    if (same == sets.end()) same = sets.insert(sets.end(), {request, std::move(flavors), {}});
    same->uids.push_back(member->facts.uid);
  }
  for (const Equal& set : sets) uids.insert(uids.end(), set.uids.begin(), set.uids.end());
  const auto with_gpus = std::ranges::find_if(sets, [](const Equal& set) { return !set.flavors.empty(); });
  std::vector<PodSets> ways;
  for (const FlavorId flavor : with_gpus == sets.end() ? std::vector{FlavorId()} : with_gpus->flavors) {
    PodSets& way = ways.emplace_back();
    for (const Equal& set : sets) {
      PodRequest request = set.request;
      if (!set.flavors.empty()) {
        request.flavors = FlavorSet();
        for (const FlavorId each : set.flavors) request.flavors.add(each);
        if (request.flavors.contains(flavor)) request.flavors = FlavorSet::of(flavor);
      }
      way.push_back({request, static_cast<std::int64_t>(set.uids.size())});
    }
  }
  return ways;
}

void LiveEngine::submit(const std::string& key, Group& group, const Tally& tally) {
  std::vector<std::string> uids;
  const PodFacts& first = tally.waiting.front()->facts;
  Duration run = kRunNotDeclared;
  for (const Member* const member : tally.waiting) run = std::max(run, member->facts.run);
  const Event submitted = WorkloadSubmitted{.name = first.group.empty() ? first.name_space + "/" + first.name : key,
                                            .queue = queue_ids_.at(first.queue),
                                            .at = first.queued,
                                            .declared_run = run,
                                            .shape = {ways_of(tally.waiting, uids), terms_of(tally.waiting)},
                                            .user = first.user};
  if (const auto refusal = state().refusal(submitted)) {
    group.unsubmitted_code = "NotFollowed";
    group.unsubmitted_why = *refusal;
    return;
  }
  group.pending = state().workloads().next_id();
  session_->apply(submitted);
  group.submitted = std::move(uids);
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
  it_is(now);
  settle(now);
  note_overruns(now);
  for (bool finished = false; !finished;) {
    const Plan plan = session_->one_cycle(now, kEffort);
    finished = plan.finished;
    carry_out(plan, round, now);
  }
  if (const auto next = next_moment(now); next && (!round.again_at || *next < *round.again_at)) round.again_at = next;
  roll_back(round, now);
  tell(round, now);
  return round;
}

void LiveEngine::carry_out(const Plan& plan, Round& round, Time now) {
  for (const Blocked& blocked : plan.blocked) {
    for (const std::string& key : groups_by_shape_[blocked.shape]) untold_.insert(key);
  }
  for (const WorkloadId id : plan.begins) bind(id, round);
  for (const Eviction& eviction : plan.evictions) evict(eviction, round, now);
  for (const WorkloadId id : plan.unpaid) note_unpaid(id, round);
  for (const Start& start : plan.starts) {
    take(start);
    if (!start.waits) bind(start.workload, round);
  }
}

// Its room is its own from now on.
void LiveEngine::take(const Start& start) {
  const std::string key = pending_groups_.at(start.workload);
  Group& group = groups_.at(key);
  untold_.insert(key);
  unsettled_.insert(key);
  Run& run = runs_[start.workload];
  run = {.uids = std::exchange(group.submitted, {}), .starting = start.waits, .stop_by = {}};
  BERTH_ASSERT(run.uids.size() == start.pods.size());
  pending_groups_.erase(start.workload);
  groups_by_shape_[state().workload(start.workload).shape].erase(key);
  group.pending = WorkloadId();
  for (std::size_t at = 0; at < run.uids.size(); ++at) {
    Member& member = members_.at(run.uids[at]);
    member.running = start.workload;
    member.node = state().node(start.pods[at].node).name;
    member.gpus = start.pods[at].gpus;
    member.stop_by.reset();
    member.confirmed = false;
    member.refused = false;
    member.best_effort = start.best_effort;
  }
}

// Nobody is left in its room.
void LiveEngine::bind(WorkloadId id, Round& round) {
  Run& run = runs_.at(id);
  run.starting = false;
  const std::string coverage = coverage_in_words(id);
  const bool best_effort = state().workload(id).best_effort;
  note_limit(id);
  for (const std::string& uid : run.uids) {
    Member& member = members_.at(uid);
    untold_.insert(member.group);
    unsettled_.insert(member.group);
    member.told.clear();
    round.bindings.push_back({.pod = {uid, member.facts.name_space, member.facts.name},
                              .node = member.node,
                              .gpus = member.gpus,
                              .coverage = coverage,
                              .best_effort = best_effort && !member.facts.terms.best_effort});
  }
}

// Its pods say so from now on, for a scheduler that is started anew; who is bound in this very round says it in his binding.
void LiveEngine::note_unpaid(WorkloadId id, Round& round) {
  for (const std::string& uid : runs_.at(id).uids) {
    Member& member = members_.at(uid);
    member.best_effort = true;
    round.best_effort.push_back({uid, member.facts.name_space, member.facts.name});
  }
}

void LiveEngine::evict(const Eviction& eviction, Round& round, Time now) {
  Run& run = runs_.at(eviction.workload);
  if (unbind(run, round)) {
    give_up_start(eviction.workload);
    round.again_at = now;
    return;
  }
  run.stop_by = eviction.stop_by;
  const std::string why = eviction_in_words(eviction) + loss_in_words(eviction.workload, now);
  if (const auto taken = room_taken(eviction)) round.taken.push_back(*taken);
  for (const std::string& uid : run.uids) {
    Member& member = members_.at(uid);
    groups_.at(member.group).evicted_why = why;
    untold_.insert(member.group);
    unsettled_.insert(member.group);
    member.stop_by = eviction.stop_by;
    round.evictions.push_back({.pod = {uid, member.facts.name_space, member.facts.name},
                               .owner = member.facts.owner,
                               .signal_at = std::max(now, Time{eviction.stop_by.ms - member.facts.terms.grace.ms}),
                               .stop_by = eviction.stop_by,
                               .why = why});
  }
}

// Whoever was given his place in this very round has not heard of it: nobody has to be told to leave.
bool LiveEngine::unbind(const Run& run, Round& round) const {
  if (members_.at(run.uids.front()).confirmed) return false;
  const auto of_run = [&](const Binding& binding) {
    return std::ranges::find(run.uids, binding.pod.uid) != run.uids.end();
  };
  if (std::ranges::none_of(round.bindings, of_run)) return false;
  std::erase_if(round.bindings, of_run);
  return true;
}

}  // namespace berth
