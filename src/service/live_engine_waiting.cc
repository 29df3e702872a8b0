// What of a LiveEngine's pods waits in its engine: groups that are whole, as workloads; and what keeps the others out.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/wording.h"
#include "cycle/explain.h"
#include "manifest/gpu_part.h"
#include "manifest/labels.h"
#include "manifest/parallelism.h"
#include "manifest/slice_resources.h"
#include "model/vgpu_profiles.h"
#include "service/live_engine.h"

namespace berth {
namespace {

// Nobody has gone at the moment when he is told to.
constexpr Duration kGraceMin = seconds(1);

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

bool names_no_flavor(const QueueSpec& spec) {
  const auto none = [](const FlavorAmount& each) { return each.flavor == kOnlyFlavor; };
  return std::ranges::any_of(spec.guarantee, none) || std::ranges::any_of(spec.limit, none);
}

}  // namespace

// They are one pod set.
bool LiveEngine::are_alike(const PodFacts& a, const PodFacts& b) const {
  return a.request == b.request && a.slice == b.slice && a.slice_need == b.slice_need && a.vgpu == b.vgpu &&
         a.constraints == b.constraints && a.topology == b.topology && a.exclusive_level == b.exclusive_level &&
         a.pod_set == b.pod_set && neighbours_of(a) == neighbours_of(b) && a.parallel == b.parallel;
}

void LiveEngine::settle(Time now) {
  // A new life finds out first who has to.
  if (!anew_) forget_who_parted();
  if (!anew_) settle_losses(now);
  if (!anew_) anew_ = std::ranges::any_of(unsettled_, [&](const auto& key) { return needs_a_new_life(key, now); });
  if (anew_) rebuild(now);
  if (!new_nodes_.empty()) add_new_nodes(now);
  if (!found_.empty() && std::exchange(room_came_free_, false)) place_found(now);
  if (!checkpoints_.empty()) note_checkpoints(now);
  if (!anew_ && !new_reservations_.empty()) tell_reservations(now);
  settle_circles(now);
  settle_scrubs();
  settle_cuts(now);
  if (anew_) rebuild(now);
  learn_typical_pods();
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
      ++groups_gone_;
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
      (heirs_.contains(pod.uid) ? tally.heirs : tally.waiting).push_back(&member);
    } else if (pod.stage == PodStage::kSucceeded) {
      ++tally.succeeded;
    } else if (pod.stage == PodStage::kFailed) {
      ++tally.failed;
    }
  }
  const bool none_waits = tally.waiting.empty() && tally.heirs.empty();
  if (tally.placed + tally.leaving == 0 && none_waits) tally.size = std::max(tally.size, size_of_ended);
  return tally;
}

std::pair<std::string, std::string> LiveEngine::obstacle(const Tally& tally) const {
  if (!tally.waiting.empty() && groups_.at(tally.waiting.front()->group).given_up) {
    return {"MaxWait", "it has waited for as long as it was to, and is being ended"};
  }
  for (const Member* member : tally.waiting) {
    const PodFacts& pod = member->facts;
    if (!pod.problem.empty()) return {"NotFollowed", pod.problem};
    if (!pod.shut.code.empty()) return {pod.shut.code, pod.shut.text};
    if (!pod.follows.code.empty()) return {pod.follows.code, pod.follows.text};
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
    if (!flavors_of(pod)) return {std::string(name_of(ReasonCode::kGpuType)), why_no_flavor(pod)};
  }
  const std::int64_t needed = std::max<std::int64_t>(1, tally.lacks() - std::ssize(tally.heirs));
  const auto waiting = static_cast<std::int64_t>(tally.waiting.size());
  if (waiting >= needed) return {};
  return {"GangIncomplete", "its group starts together, and " + with_separators(needed - waiting) + " of " +
                                with_separators(tally.size) + " pods have not been created"};
}

// None of its flavors is there, or can be cut as it asks.
std::string LiveEngine::why_no_flavor(const PodFacts& pod) const {
  std::string models;
  for (const std::string& model : pod.gpu_models) models += (models.empty() ? " of type " : " or ") + model;
  if (!pod.closed_flavors.empty()) models += " of a flavor whose Topology has the levels that it asks";
  if (pod.needs_memory()) {
    std::int64_t most = 0;
    for (const auto& [flavor, memory] : memories_most_) most = std::max(most, memory);
    return "no node is known to have a GPU" + models + " with " + with_separators(pod.request.gpu_memory_mib) +
           " MiB of memory, as each of its GPUs needs" + in_brackets(pod.need_counted) +
           (most == 0 ? "; nodes say it by the label " + std::string(kGpuMemoryLabel)
                      : "; the largest has " + with_separators(most));
  }
  if (pod.asks_memory()) {
    return "no node is known to have a GPU" + models + " with " + with_separators(pod.request.gpu_memory_mib) +
           " MiB of memory (label " + std::string(kGpuMemoryLabel) + ")";
  }
  if (pod.slice_need) return why_no_slice(pod, models);
  if (!pod.vgpu.empty()) return "no node has GPUs" + models + " that have vGPUs " + pod.vgpu + of_modes(Sharing::kVgpu);
  if (pod.slice.empty()) return "no node has a GPU" + models;
  return "no node has GPUs" + models + " that can be cut into a " + pod.slice + of_unused_slices(pod.slice);
}

// By need: none is so large, or nobody cuts them as pods ask.
std::string LiveEngine::why_no_slice(const PodFacts& pod, const std::string& models) const {
  const SliceNeed& need = *pod.slice_need;
  std::string asked =
      need.part > 0 ? std::to_string(need.part) + "/" + std::to_string(need.whole) + " of its processors" : "";
  if (need.memory_mib > 0)
    asked += (asked.empty() ? "" : " and ") + with_separators(need.memory_mib) + " MiB of memory";
  return "no node has GPUs" + models + " that can be cut into a slice with " + asked + in_brackets(pod.need_counted) +
         of_named_slices();
}

// Slices that are there already, and are not for who asks by need.
std::string LiveEngine::of_named_slices() const {
  std::int64_t offering = 0;
  std::string profile;
  for (const auto& [name, node] : nodes_) {
    if (node.fixed_slices.empty()) continue;
    ++offering;
    const GpuHardware* const hardware = hardware_of({.name = {}, .model = node.gpu_model});
    if (hardware == nullptr || !profile.empty()) continue;
    node.fixed_slices.for_each([&](std::size_t place) {
      if (profile.empty()) profile = hardware->mig_profiles[hardware->mig->places()[place].shape].name;
    });
  }
  if (offering == 0 || profile.empty()) return "";
  return "; " + with_separators(offering) + (offering == 1 ? " node offers" : " nodes offer") +
         " some that were cut beforehand, which kubelets hand out by name alone: ask one as in " +
         slice_resource(profile) + ": 1";
}

// To who asks such a slice it looks as if they were there for him.
std::string LiveEngine::of_unused_slices(const std::string& profile) const {
  const auto found = unused_slices_.find(slice_resource(profile));
  if (found == unused_slices_.end()) return "";
  const bool one = found->second == 1;
  return "; " + with_separators(found->second) + (one ? " node offers" : " nodes offer") +
         " some that are cut beforehand, which Berth does not hand out: " + (one ? "its event" : "their events") +
         " SlicesNotUsed " + (one ? "says why" : "say why");
}

// How a node says that it has such GPUs, where none does.
std::string LiveEngine::of_modes(Sharing asked) const {
  const auto is_it = [&](const auto& node) { return node.second.may_be(asked) && node.second.problem.empty(); };
  if (asked == Sharing::kExclusive || std::ranges::any_of(nodes_, is_it)) return "";
  return "; nodes say that theirs are by the label " + std::string(kGpuModeLabel) + "=" + std::string(name_of(asked));
}

// Of a GPU of the flavor, or of the slice of it that would do.
std::int64_t LiveEngine::memory_given(const PodFacts& pod, FlavorId id) const {
  const Flavor& flavor = state().flavors()[id.index()];
  const auto slice = pod.slice_need ? slice_in(pod, flavor) : std::nullopt;
  return slice ? hardware_of(flavor)->mig_profiles[slice->shape].memory_mib : flavor.memory_mib;
}

// Which one it asks there.
std::optional<NamedSlice> LiveEngine::slice_in(const PodFacts& pod, const Flavor& flavor) {
  if (!pod.slice_need) return find_slice(flavor, pod.slice);
  const GpuHardware* const hardware = hardware_of(flavor);
  const auto shape = hardware == nullptr ? std::nullopt : cheapest_mig_profile(*hardware, *pod.slice_need);
  return shape ? find_slice(flavor, *shape) : std::nullopt;
}

// Those that some node has, the preferred first: as named, else the smallest GPUs, or slices. None if no node has any of those that
// are named, or that can be cut into its slice, or have its part of memory.
std::optional<std::vector<FlavorId>> LiveEngine::flavors_of(const PodFacts& pod) const {
  std::vector<FlavorId> flavors;
  for (const std::string& wanted : pod.gpu_models) {
    const std::string name = flavor_amount_named(wanted).flavor;
    for (const auto& [flavor, model] : models_) {
      const bool named = model == wanted || state().flavors()[flavor.index()].name == name;
      if (named && std::ranges::find(flavors, flavor) == flavors.end()) flavors.push_back(flavor);
    }
  }
  if (pod.gpu_models.empty()) {
    for (const auto& [flavor, model] : models_) flavors.push_back(flavor);
    std::ranges::stable_sort(flavors, {}, [&](FlavorId flavor) { return memory_given(pod, flavor); });
  }
  std::erase_if(flavors, [&](FlavorId flavor) {
    const std::string& name = state().flavors()[flavor.index()].name;
    return !request_of(pod, flavor) || std::ranges::find(pod.closed_flavors, name) != pod.closed_flavors.end();
  });
  const bool names_some = !pod.gpu_models.empty() || pod.asks_slice() || !pod.vgpu.empty() ||
                          pod.request.gpu_memory_mib > 0 || !pod.closed_flavors.empty();
  return names_some && flavors.empty() ? std::nullopt : std::optional(flavors);
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
  if (members.lacks() <= 0) group.whole_by.reset();
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
  if (group.unsubmitted_code.empty() && !has_room_already(group, members)) submit(key, group, members, now);
}

// One of its group that asks the same and runs already; nullptr if none does.
const LiveEngine::Member* LiveEngine::one_that_runs(const Group& group, const PodFacts& pod) const {
  for (const std::uint64_t sequence : group.members) {
    const Member& other = members_.at(by_sequence_.at(sequence));
    if (!other.running.is_none() && are_alike(other.facts, pod) && nodes_.contains(other.node)) return &other;
  }
  return nullptr;
}

// Of the group's workloads one that has its place; none: none has. What it is alone in is of all of them.
WorkloadId LiveEngine::one_at_work(const Group& group) const {
  for (const std::uint64_t sequence : group.members) {
    const WorkloadId running = members_.at(by_sequence_.at(sequence)).running;
    if (!running.is_none()) return running;
  }
  return {};
}

// So many of a set. Where others of it run already, these go to the domain that it requires, and their slices and parallel sizes
// have been broken anyway.
PodSet LiveEngine::set_of(const Group& group, const PodFacts& pod, const PodRequest& request, std::size_t pods) const {
  PodSet set{request,
             static_cast<std::int64_t>(pods),
             pod.constraints,
             pod.topology,
             neighbours_of(pod),
             pod.parallel,
             pod.exclusive_level,
             part_of(pod)};
  // Images that no node has make no difference, and would only tell equal work apart.
  const auto is_there = [&](const std::string& image) { return images_there_.contains(image); };
  if (std::ranges::any_of(pod.images, is_there)) set.constraints.images = pod.images;
  const bool is_placed_whole = !pod.topology.asks_nothing() || pod.parallel.is_declared();
  const Member* const other = is_placed_whole ? one_that_runs(group, pod) : nullptr;
  if (other == nullptr) return set;
  set.parallel = {};
  set.topology.slice_pods = 0;
  set.topology.slice_level.clear();
  if (pod.topology.together != Togetherness::kRequired) return set;
  if (pod.topology.level == kNodeLevel) {
    const LabelRequirement same_node{"metadata.name", LabelOperator::kIn, {other->node}};
    if (set.constraints.any_of.empty()) set.constraints.any_of = {{{}, {same_node}}};
    for (NodeSelectorTerm& term : set.constraints.any_of) {
      // One that asks nothing selects nothing, and has to go on doing so.
      if (!term.labels.empty() || !term.fields.empty()) term.fields.push_back(same_node);
    }
  } else if (const auto* const domain = find_label(nodes_.at(other->node).says.labels, pod.topology.level)) {
    set.constraints.select.push_back({pod.topology.level, LabelOperator::kIn, {*domain}});
  }
  return set;
}

// What it asks in a flavor: which slice goes by the model, of vGPUs each has those with its name, and which part of a GPU so much memory is; none: there is no such
// thing, nor a GPU with the memory that it needs.
std::optional<PodRequest> LiveEngine::request_of(const PodFacts& pod, FlavorId flavor) const {
  PodRequest request = pod.request;
  if (pod.asks_slice()) {
    const auto slice = slice_in(pod, state().flavors()[flavor.index()]);
    if (!slice) return std::nullopt;
    request.sharing = Sharing::kMig;
    request.slice = slice->shape;
    request.gpu_milli = slice->gpu_milli;
  } else if (!pod.vgpu.empty()) {
    if (!find_vgpu(state().flavors()[flavor.index()], pod.vgpu)) return std::nullopt;
  } else if (pod.asks_memory()) {
    const GpuPart part{.memory_mib = request.gpu_memory_mib, .sharing = request.sharing};
    const auto milli = part.milli_of(memory_of(flavor), 1);
    if (!milli) return std::nullopt;
    request.gpu_milli = *milli;
  } else if (pod.needs_memory() && request.gpu_memory_mib > memory_most_of(flavor)) {
    return std::nullopt;
  }
  return request;
}

// What it asks in the way of a flavor: there, if it may be there. Those are together in which it asks the same.
PodRequest LiveEngine::request_in(const PodFacts& pod, const std::vector<FlavorId>& flavors, FlavorId flavor) const {
  if (flavors.empty()) return pod.request;
  const bool there = std::ranges::find(flavors, flavor) != flavors.end();
  std::optional<PodRequest> request;
  FlavorSet same;
  for (const FlavorId each : there ? std::vector{flavor} : flavors) {
    const PodRequest here = *request_of(pod, each);
    if (request.value_or(here) != here) continue;
    request = here;
    same.add(each);
  }
  request->flavors = same;
  return *request;
}

// A gang runs in one flavor: each that the first of its pods with GPUs may use is a way, and in it the others keep to that
// flavor if they may. `uids` has the pods in the order of the sets, which is the same in every way.
std::vector<PodSets> LiveEngine::ways_of(const Group& group, const std::vector<Member*>& members,
                                         std::vector<std::string>& uids) const {
  struct Equal {
    const PodFacts* asks;
    std::vector<FlavorId> flavors;
    std::vector<const Member*> pods;
  };
  std::vector<Equal> sets;
  // Ranks, and with parallel sizes the network, go by it.
  std::vector<Member*> in_order = members;
  std::ranges::stable_sort(in_order, {}, rank_order);
  for (const Member* const member : in_order) {
    std::vector<FlavorId> flavors;
    if (member->facts.request.gpus > 0) flavors = *flavors_of(member->facts);
    auto same = std::ranges::find_if(
        sets, [&](const Equal& set) { return are_alike(*set.asks, member->facts) && set.flavors == flavors; });
    if (same == sets.end()) same = sets.insert(sets.end(), {&member->facts, std::move(flavors), {}});
    same->pods.push_back(member);
  }
  for (const Equal& set : sets) {
    for (const Member* const pod : set.pods) uids.push_back(pod->facts.uid);
  }
  const auto with_gpus = std::ranges::find_if(sets, [](const Equal& set) { return !set.flavors.empty(); });
  std::vector<PodSets> ways;
  for (const FlavorId flavor : with_gpus == sets.end() ? std::vector{FlavorId()} : with_gpus->flavors) {
    PodSets& way = ways.emplace_back();
    for (const Equal& set : sets) {
      way.push_back(set_of(group, *set.asks, request_in(*set.asks, set.flavors, flavor), set.pods.size()));
    }
  }
  return ways;
}

void LiveEngine::submit(const std::string& key, Group& group, const Tally& tally, Time now) {
  std::vector<std::string> uids;
  const PodFacts& first = tally.waiting.front()->facts;
  Duration run = kRunNotDeclared;
  for (const Member* const member : tally.waiting) run = std::max(run, member->facts.run);
  std::vector<PodSets> ways = ways_of(group, tally.waiting, uids);
  for (const PodSet& set : ways.front()) {
    if (!set.parallel.is_declared()) continue;
    const std::string problem = problem_of(set.parallel, set.count, set.request.gpus);
    if (problem.empty()) continue;
    group.unsubmitted_code = name_of(ReasonCode::kInvalid);
    group.unsubmitted_why = "annotation " + std::string(kParallelismAnnotation) + ": " + problem;
    group.refused = true;
    return;
  }
  for (const PodSet& set : ways.front()) {
    if (set.topology.slice_pods == 0 || set.count % set.topology.slice_pods == 0) continue;
    const std::string slice = with_separators(set.topology.slice_pods);
    group.unsubmitted_code = name_of(ReasonCode::kInvalid);
    group.unsubmitted_why = "its " + with_separators(set.count) + " pods are not whole slices of " + slice +
                            "; start a multiple of " + slice + " together, or ask for other slices";
    group.refused = true;
    return;
  }
  Terms terms = terms_of(tally.waiting);
  // Others of a gang run, and fewer than start together: these are in the place of those that it lost.
  terms.replaces = tally.placed > 0 && tally.placed + tally.succeeded < tally.size;
  std::string no_hours;
  terms.hours = hours_of(first, now, no_hours);
  if (!no_hours.empty()) {
    group.unsubmitted_code = "NotFollowed";
    group.unsubmitted_why = "annotation " + std::string(kHoursAnnotation) + ": " + no_hours;
    group.refused = true;
    return;
  }
  Time not_before;
  for (const Member* const member : tally.waiting) {
    not_before = std::max(not_before, member->facts.time.not_before.value_or(Time{}));
  }
  // Who comes in place of another has the turn that its group has, and its group has begun.
  const bool is_first = tally.placed == 0;
  const Event submitted =
      WorkloadSubmitted{.name = first.group.empty() ? first.name_space + "/" + first.name : key,
                        .queue = queue_ids_.at(first.queue),
                        .at = first.queued,
                        .declared_run = run,
                        .shape = {std::move(ways), terms},
                        .user = first.user,
                        .not_before = not_before,
                        .at_home_with = one_at_work(group),
                        .series = is_first ? series_of(first) : SeriesId(),
                        .max_wait = is_first && !first.has_begun ? first.time.max_wait : std::nullopt,
                        .goes_first = goes_first_.contains(key),
                        .backs_off = is_first ? backs_off(first, now) : std::nullopt};
  if (const auto refusal = state().refusal(submitted)) {
    group.unsubmitted_code = "NotFollowed";
    group.unsubmitted_why = *refusal;
    group.refused = true;
    return;
  }
  // How long it still waits is told from now on.
  const bool waits_for_time = is_first && backs_off(first, now);
  if (waits_for_time && now > state().clock()) session_->apply(TimePassed{now});
  group.pending = state().workloads().next_id();
  session_->apply(submitted);
  cool_down(group.pending, first);
  // Whether it cools down is settled when it comes into its line.
  if (state().is_kept_aside(group.pending)) cooling_[group.pending] = state().workload(group.pending).shape;
  group.submitted = std::move(uids);
  pending_groups_[group.pending] = key;
  groups_by_shape_[state().workload(group.pending).shape].insert(key);
}

void LiveEngine::forget_shape_of(WorkloadId id, const std::string& key) {
  const auto cools = cooling_.find(id);
  const auto groups = groups_by_shape_.find(cools == cooling_.end() ? state().workload(id).shape : cools->second);
  groups->second.erase(key);
  if (groups->second.empty()) groups_by_shape_.erase(groups);
  if (cools != cooling_.end()) cooling_.erase(cools);
}

void LiveEngine::withdraw(Group& group) {
  if (group.pending.is_none()) return;
  if (!anew_) {
    forget_shape_of(group.pending, pending_groups_.at(group.pending));
    session_->apply(WorkloadCancelled{group.pending});
  }
  pending_groups_.erase(group.pending);
  group.pending = WorkloadId();
  group.submitted.clear();
}

}  // namespace berth
