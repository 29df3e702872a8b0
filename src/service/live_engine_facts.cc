// What a LiveEngine is told: queues, flavors, nodes, pods and disruption budgets, one after the other.
#include <algorithm>
#include <iterator>
#include <utility>

#include "service/live_engine.h"
#include "state/starting.h"

namespace berth {

bool LiveEngine::asks_the_same(const PodFacts& a, const PodFacts& b) {
  return a.queue == b.queue && a.request == b.request && a.slice == b.slice && a.slice_need == b.slice_need &&
         a.vgpu == b.vgpu && a.gpu_models == b.gpu_models && a.closed_flavors == b.closed_flavors && a.run == b.run &&
         a.constraints == b.constraints && a.topology == b.topology && a.exclusive_level == b.exclusive_level &&
         a.pod_set == b.pod_set && a.neighbours == b.neighbours && a.parallel == b.parallel && a.number == b.number &&
         a.group_size == b.group_size && a.user == b.user && a.terms == b.terms && a.problem == b.problem &&
         a.time == b.time && a.has_begun == b.has_begun;
}

// In the place of another: which number it has among its Job's pods matters where those number their GPUs.
bool LiveEngine::may_stand_in(const PodFacts& heir, const PodFacts& lost) {
  PodFacts as_it = heir;
  as_it.group_size = lost.group_size;  // fewer are left to run since
  if (!lost.parallel.is_declared()) as_it.number = lost.number;
  if (lost.extensions > 0) std::tie(as_it.run, as_it.terms.run_limit) = std::tie(lost.run, lost.terms.run_limit);
  return asks_the_same(as_it, lost);
}

void LiveEngine::set_queue(const QueueFacts& queue) {
  const auto known = queues_.find(queue.name);
  if (known != queues_.end() && known->second.same_queue(queue)) return;
  // What it says of itself is what was written here, but for the first time.
  const auto record = records_.find(queue.name);
  if (record == records_.end() || (known != queues_.end() && known->second.uid != queue.uid)) {
    forgotten_.insert(queue.name);
    records_[queue.name] = queue.record;
    for (const auto& [controller, at] : queue.record.gave_back) gave_back_.try_emplace(controller, queue.name, at);
    for (const auto& [key, tries] : queue.record.tries) tries_.try_emplace(key, queue.name, tries);
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

// It took work, and is not ready any more: who is cordoned first does not fail. Its object keeps the last such moment alone, so a
// scheduler that is started anew counts from then on.
void LiveEngine::note_failure(const NodeFacts& node) {
  const auto before = nodes_.find(node.name);
  if (before == nodes_.end() || !before->second.open || !node.not_ready_since) return;
  std::vector<Time>& times = failures_[node.name];
  times.push_back(*node.not_ready_since);
  if (times.size() > kNodeFailuresMany) times.erase(times.begin());
  const auto id = node_ids_.find(node.name);
  if (anew_ || id == node_ids_.end()) return;
  const Event failed = NodeFailureFound{id->second, *node.not_ready_since};
  if (!state().refusal(failed)) session_->apply(failed);
}

// Whoever is lost while it is not ready, or was told to leave by then, is lost with it.
void LiveEngine::note_who_is_on(const NodeFacts& node) {
  const auto before = nodes_.find(node.name);
  if (before == nodes_.end() || before->second.not_ready_since.has_value() == node.not_ready_since.has_value()) return;
  for (auto& [uid, member] : members_) {
    if (member.running.is_none() || member.node != node.name) continue;
    member.node_failed = node.not_ready_since.has_value() || (member.node_failed && member.facts.deleted);
  }
}

// To a state in which the node is new.
void LiveEngine::tell_failures(const std::string& name) {
  const auto found = failures_.find(name);
  if (found == failures_.end()) return;
  for (const Time at : found->second) {
    const Event failed = NodeFailureFound{node_ids_.at(name), at};
    if (!state().refusal(failed)) session_->apply(failed);
  }
}

void LiveEngine::set_node(const NodeFacts& node) {
  note_records(node);
  note_cut(node);
  note_failure(node);
  note_who_is_on(node);
  const auto known = nodes_.find(node.name);
  if (known == nodes_.end()) {
    new_nodes_.insert(node.name);
    // Whoever leaves its flavor open may use this one from now on.
    const auto flavor = flavor_ids_.find(flavor_name_of(node));
    if (node.gpus > 0 && (flavor == flavor_ids_.end() || !models_.contains(flavor->second) || !is_of_its_flavor(node)))
      anew_ = true;
    if (!node.unused_slices.empty() || lowers_memory(node) || raises_memory(node)) anew_ = true;
    if (is_maintained(node.name)) anew_ = true;
  } else if (!known->second.same_machine(node) || flavor_name_of(known->second) != flavor_name_of(node)) {
    anew_ = true;
  } else if (node_ids_.contains(node.name) && !anew_) {
    change_node(node_ids_.at(node.name), known->second, node);
  }
  NodeFacts& now = nodes_[node.name];
  if (now.images != node.images) {
    count_images(now.images, -1);
    count_images(node.images, 1);
  }
  now = node;
}

void LiveEngine::count_images(const std::vector<NodeImage>& images, std::int64_t more) {
  for (const NodeImage& each : images) {
    std::int64_t& nodes = images_there_[each.name];
    nodes += more;
    if (nodes == 0) images_there_.erase(each.name);
  }
}

std::vector<NodeImage> LiveEngine::images_of(const NodeFacts& node) const {
  std::vector<NodeImage> asked;
  std::ranges::copy_if(node.images, std::back_inserter(asked),
                       [&](const NodeImage& each) { return asked_images_.contains(each.name); });
  return asked;
}

void LiveEngine::tell_images(NodeId id, const NodeFacts& node) {
  const NodeImagesChanged changed{id, images_of(node)};
  if (changed.images != state().node(id).images && !state().refusal(changed)) session_->apply(changed);
}

// An image that nobody had asked is told with the nodes that have it.
void LiveEngine::note_images(const PodFacts& pod) {
  std::set<std::string> unknown;
  for (const std::string& image : pod.images) {
    if (asked_images_.insert(image).second) unknown.insert(image);
  }
  if (unknown.empty() || anew_) return;
  for (const auto& [name, node] : nodes_) {
    const auto id = node_ids_.find(name);
    const bool has_some =
        std::ranges::any_of(node.images, [&](const NodeImage& each) { return unknown.contains(each.name); });
    if (has_some && id != node_ids_.end()) tell_images(id->second, node);
  }
}

void LiveEngine::change_node(NodeId id, const NodeFacts& before, const NodeFacts& now) {
  if (before.images != now.images) tell_images(id, now);
  const bool was_open = takes_work(before), is_open = takes_work(now);
  if (was_open == is_open && before.says == now.says) return;
  if (before.says != now.says) {
    const NodeRelabelled relabelled{id, now.says.labels, now.says.taints, now.says.spare};
    if (!state().refusal(relabelled)) {
      for (const WorkloadId run : starting_in_vain(state(), relabelled)) give_up_start(run);
      session_->apply(relabelled);
    }
  }
  if (was_open != is_open) {
    if (!is_open) {
      for (const WorkloadId run : starting_on(state(), id)) give_up_start(run);
    }
    session_->apply(is_open ? Event(NodeRestored{id}) : Event(NodeDrained{id}));
  }
  for (const auto& [workload, group] : pending_groups_) untold_.insert(group);
}

void LiveEngine::remove_node(const std::string& name) {
  new_nodes_.erase(name);
  failures_.erase(name);
  const auto known = nodes_.find(name);
  if (known != nodes_.end()) {
    count_images(known->second.images, -1);
    nodes_.erase(known);
    anew_ = true;
  }
  uses_.erase(name);
  cuts_.erase(name);
  cut_unknown_.erase(name);
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
      groups_[member.group].refused = groups_[member.group].given_up = false;
      if (const Run* const run = run_of(member); run != nullptr && run->starting) give_up_start(member.running);
    }
    // What it is to others who runs.
    if (!member.running.is_none() && neighbours_of(member.facts) != neighbours_of(pod)) anew_ = true;
    // Whether it consents to being moved.
    if (!member.running.is_none() && member.facts.terms.movable != pod.terms.movable) anew_ = true;
  }
  if (pod.checkpoint && pod.checkpoint != member.facts.checkpoint) checkpoints_.insert(pod.uid);
  // It was told by a scheduler that was not there for long enough to write it down.
  if (pod.gave_back && !gave_back_.contains(pod.maker_uid)) note_gave_back(pod.maker_uid, pod.queue, *pod.gave_back);
  member.facts = pod;
  member.group = group;
  member.was_ready = member.was_ready || pod.ready;
  if (pod.rank) member.rank = pod.rank;
  note_who_is_selected(pod.neighbours);
  note_asked(member);
  if (is_new) note_images(pod);
  if (groups_[group].members.insert(member.sequence).second) groups_[group].refused = false;
  touch(group);

  const bool elsewhere =
      !member.running.is_none() && (member.node != pod.node || (pod.given && !pod.given->same_place(member.given)));
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
    look_who_left_ = true;
    end(member, pod.stage == PodStage::kFailed ? Ending::kLost : Ending::kEnded);
  }
}

// By labels that nobody selects by so far, those are not known who are there.
void LiveEngine::note_who_is_selected(const Neighbours& asked) {
  const auto note = [&](const PodTerm& term) {
    anew_ = !std::exchange(somebody_selects_, true) || anew_;
    for (const LabelRequirement& each : term.pods.labels) anew_ = selected_keys_.insert(each.key).second || anew_;
  };
  std::ranges::for_each(asked.near, note);
  std::ranges::for_each(asked.apart, note);
  std::ranges::for_each(asked.preferred, note, &PreferredPodTerm::term);
  std::ranges::for_each(asked.spreads, note, &PodSpread::term);
}

// Without what makes no difference to anybody: most pods have labels of their own, and are alike all the same.
Neighbours LiveEngine::neighbours_of(const PodFacts& pod) const {
  Neighbours known = pod.neighbours;
  if (!somebody_selects_) known.name_space.clear();
  std::erase_if(known.labels, [&](const Label& each) { return !selected_keys_.contains(each.key); });
  return known;
}

void LiveEngine::remove_pod(const std::string& uid) {
  const auto at = members_.find(uid);
  if (at == members_.end()) return;
  end(at->second, Ending::kLost);
  leave_group(at->second);
  forget_asked(at->second);
  by_sequence_.erase(at->second.sequence);
  look_who_left_ = true;
  found_.erase(uid);
  without_room_.erase(uid);
  members_.erase(at);
}

void LiveEngine::refuse_binding(const std::string& uid) {
  const auto at = members_.find(uid);
  if (at == members_.end() || at->second.confirmed || at->second.running.is_none()) return;
  if (run_of(at->second)->starting) return;
  at->second.refused = true;
  end(at->second, at->second.stands_in ? Ending::kLost : Ending::kEnded);
}

void LiveEngine::leave_group(Member& member) {
  Group& group = groups_[member.group];
  withdraw(group);
  group.refused = false;
  group.members.erase(member.sequence);
  touch(member.group);
}

}  // namespace berth
