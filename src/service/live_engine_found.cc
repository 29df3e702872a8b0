// How a LiveEngine takes in pods that run already: where they are, on the devices that their bindings named.
#include <algorithm>
#include <tuple>
#include <utility>

#include "manifest/parallelism.h"
#include "model/vgpu_profiles.h"
#include "placement/slice_choice.h"
#include "service/live_engine.h"
#include "state/starting.h"

namespace berth {
namespace {

// What is free on nodes beside pods that are looked at together.
class DevicesLeft {
 public:
  explicit DevicesLeft(const Ledger& ledger) : ledger_(ledger) {}

  // The devices that its binding named, whether they are free or not. Where it named none, or others than such a pod has:
  // the first that are free.
  PodPlacement take(const PodRequest& request, NodeId node, const GivenGpus& given, const std::string& profile) {
    const bool named = given.gpus.size() == request.gpus && given.profile == profile;
    if (request.is_slice()) return take_slice(request, node, named ? &given : nullptr);
    const PodPlacement place{node, named ? given.gpus : first_free(request, node)};
    if (!request.is_fraction()) place.gpus.for_each([&](int gpu) { whole_[node].add(gpu); });
    return place;
  }

 private:
  GpuSet first_free(const PodRequest& request, NodeId node) {
    GpuSet gpus;
    const auto free = ledger_.gpu_milli(node);
    for (std::size_t gpu = 0; gpu < free.size() && gpus.size() < request.gpus; ++gpu) {
      const int index = static_cast<int>(gpu);
      const bool fits = free[gpu] >= ledger_.node(node).milli_of(request) && has_its_profile(request, node, gpu);
      if (fits && !whole_[node].contains(index)) gpus.add(index);
    }
    return gpus;
  }

  // Of vGPUs: all that are there are as large.
  bool has_its_profile(const PodRequest& request, NodeId node, std::size_t gpu) const {
    return !request.is_vgpu() || std::ranges::all_of(ledger_.occupants(node, gpu), [&](const Occupant& each) {
      return ledger_.trust()[each.sharer].vgpu_milli == request.gpu_milli;
    });
  }

  PodPlacement take_slice(const PodRequest& request, NodeId node, const GivenGpus* given) {
    const auto [at, is_new] = layouts_.try_emplace(node);
    std::vector<MigPlaceSet>& layouts = at->second;
    if (is_new) layouts.assign(ledger_.layouts(node).begin(), ledger_.layouts(node).end());
    const NodeFree& free = ledger_.node(node);
    PodPlacement place{node, {}};
    const MigPlaceSet fixed = slices_there(node);
    if (given != nullptr && (fixed.empty() || is_free(*given, request, node, layouts))) {
      place.gpus = given->gpus;
      place.slice_start = given->slice_start;
    } else if (const auto cut = choose_slice(slice_costs_of(free.family), request.slice, layouts, fixed)) {
      place.gpus.add(static_cast<int>(cut->device));
      place.slice_start = free.geometry().places()[cut->place].start;
    }
    const auto index = free.geometry().find_place(request.slice, place.slice_start);
    place.gpus.for_each([&](int gpu) {
      const auto device = static_cast<std::size_t>(gpu);
      if (index && device < layouts.size()) layouts[device] = layouts[device].with(*index);
    });
    return place;
  }

  // Of slices that others have cut the node itself chooses among those that are alike: a pod has one of their number, and that
  // which was named if nobody else has.
  bool is_free(const GivenGpus& given, const PodRequest& slice, NodeId node,
               const std::vector<MigPlaceSet>& layouts) const {
    const MigGeometry& mig = ledger_.node(node).geometry();
    const auto place = mig.find_place(slice.slice, given.slice_start);
    bool free = place.has_value();
    given.gpus.for_each([&](int gpu) {
      const auto device = static_cast<std::size_t>(gpu);
      free = free && device < layouts.size() && mig.open_beside(layouts[device], slices_there(node)).contains(*place);
    });
    return free;
  }

  // Those that were cut beforehand, and are there, whether they stay or not; empty: it is cut as pods ask.
  MigPlaceSet slices_there(NodeId node) const {
    return ledger_.is_cut_at_once(node) ? ledger_.cut_of(node, 0)->slices : ledger_.fixed_slices(node);
  }

  const Ledger& ledger_;
  std::map<NodeId, GpuSet> whole_;
  std::map<NodeId, std::vector<MigPlaceSet>> layouts_;  // of nodes that are cut
};

// How it holds GPUs of its node; none: it holds none, or slices that somebody else has cut.
std::optional<Sharing> held_as(const PodFacts& pod) {
  if (!pod.asks_slice()) return pod.request.gpus > 0 ? std::optional(pod.request.sharing) : std::nullopt;
  return pod.given && !pod.given->profile.empty() ? std::optional(Sharing::kMig) : std::nullopt;
}

}  // namespace

// Its node has become another since: what it holds there nobody counts.
bool LiveEngine::holds_otherwise(const Member& member) const {
  const PodFacts& pod = member.facts;
  const auto node = nodes_.find(pod.node);
  const std::optional<Sharing> held = held_as(pod);
  if (pod.stage != PodStage::kBound || node == nodes_.end() || node->second.gpus == 0 || !held) return false;
  const bool other_replicas = pod.request.is_replica() && pod.given && pod.given->milli > 0 &&
                              pod.given->milli != kMilliPerGpu / node->second.replicas;
  return !node->second.may_be(*held) || other_replicas;
}

// Such nodes take nobody before those have gone, so that no device is two things at a time.
void LiveEngine::close_what_is_held_otherwise() {
  for (const std::string& uid : found_) {
    const Member& member = members_.at(uid);
    const auto id = node_ids_.find(member.facts.node);
    if (id == node_ids_.end() || !holds_otherwise(member) || !held_otherwise_.insert(id->first).second) continue;
    for (const WorkloadId run : starting_on(state(), id->second)) give_up_start(run);
    const Event closed = NodeDrained{id->second};
    if (!state().refusal(closed)) session_->apply(closed);
  }
}

// Those of one group that run are one workload, in the order in which they were given their places; those that were told
// to leave are another, and so are those that count for nothing.
void LiveEngine::place_found(Time now) {
  close_what_is_held_otherwise();
  std::map<std::tuple<std::string, bool, bool>, std::vector<Member*>> together;
  for (const std::string& uid : std::exchange(found_, {})) {
    Member& member = members_.at(uid);
    if (!member.running.is_none()) continue;
    if (member.facts.leaving_until) {
      member.stop_by = member.facts.leaving_until;
      if (!member.facts.leaves_for.empty()) member.leaves_for = member.facts.leaves_for;
    }
    together[{member.group, member.stop_by.has_value(), member.facts.terms.best_effort || member.best_effort}]
        .push_back(&member);
  }
  // Best effort last: of CPUs that a node promises more than once who counts is sure, also where some of it was about to be told to leave.
  std::vector<std::tuple<bool, Time, std::uint64_t, std::vector<Member*>*>> in_order;
  for (auto& [key, members] : together) {
    std::ranges::sort(members, {}, [](const Member* member) { return member->sequence; });
    const Member& first = *members.front();
    in_order.emplace_back(std::get<2>(key), first.facts.bound_at.value_or(now), first.sequence, &members);
  }
  std::ranges::sort(in_order);
  for (const auto& [counts_for_nothing, at, sequence, members] : in_order) {
    std::string why_not;
    const Member& first = *members->front();
    const std::vector<Member*> heirs = first.stop_by ? std::vector<Member*>() : who_stand_in(first.group, *members);
    if (!heirs.empty() && find_places(*members, heirs, now, why_not)) continue;
    if (!heirs.empty()) groups_.at(first.group).whole_by.reset();
    if (find_places(*members, {}, now, why_not)) continue;
    for (Member* const member : *members) {
      if (members->size() > 1 && find_places({member}, {}, now, why_not)) continue;
      if (is_found_beyond_the_promise(*member, now, why_not)) continue;
      // One that is only about to be bound gets another place as any that waits.
      if (member->facts.stage != PodStage::kBound) continue;
      found_.insert(member->facts.uid);
      without_room_[member->facts.uid] = why_not;
    }
  }
}

// It asked what its node promised more than once, which the node no longer does: it stays, and holds of that nothing.
bool LiveEngine::is_found_beyond_the_promise(Member& member, Time now, std::string& why_not) {
  if (!member.facts.request.in_extra || member.facts.stage != PodStage::kBound) return false;
  member.beyond_promise = true;
  if (find_places({&member}, {}, now, why_not)) return true;
  member.beyond_promise = false;
  return false;
}

// All of them, as one workload that runs where they are, and lacks those whose heirs these are; false: why not.
bool LiveEngine::find_places(const std::vector<Member*>& members, const std::vector<Member*>& heirs, Time now,
                             std::string& why_not) {
  std::vector<Member*> in_order;
  WorkloadFound found = found_as(members, heirs, now, in_order);
  found.workload.at_home_with = one_at_work(groups_.at(members.front()->group));
  const auto is_heir = [&](const Member* member) { return std::ranges::find(heirs, member) != heirs.end(); };
  DevicesLeft left(state().ledger());
  for (const Member* const member : in_order) {
    const PodFacts& pod = member->facts;
    if (is_heir(member)) {
      const auto counts_at = node_ids_.find(node_it_counts_at(*member, members));
      if (counts_at == node_ids_.end()) return false;
      found.lost.push_back(static_cast<std::uint32_t>(found.pods.size()));
      found.pods.push_back({counts_at->second, {}});
      continue;
    }
    const auto id = node_ids_.find(where(*member));
    if (id == node_ids_.end()) {
      why_not = "its node " + where(*member) + " is not there";
      return false;
    }
    const GivenGpus given = pod.stage == PodStage::kBound ? pod.given.value_or(GivenGpus()) : member->given;
    const PodRequest request = holds_on(id->first, pod);
    found.pods.push_back(left.take(request, id->second, given, request.is_slice() ? profile_on(id->first, pod) : ""));
  }
  std::optional<Time>& whole_by = groups_.at(members.front()->group).whole_by;
  if (!heirs.empty()) {
    if (now > state().clock()) session_->apply(TimePassed{now});
    if (!whole_by || *whole_by <= now) whole_by = now + members.front()->facts.repair;
    found.repair_until = std::max(*whole_by, state().clock());
  }
  if (const auto refusal = state().refusal(found)) {
    why_not = *refusal;
    return false;
  }
  const WorkloadId id = state().workloads().next_id();
  session_->apply(found);
  Run& run = runs_[id];
  run.stop_by = members.front()->stop_by;
  for (std::size_t at = 0; at < in_order.size(); ++at) {
    Member& member = *in_order[at];
    if (is_heir(&member)) {
      run.vacancies.push_back({static_cast<std::uint32_t>(at), member.facts, member.facts.uid});
      heirs_[member.facts.uid] = id;
      lacking_[id] = member.group;
      continue;
    }
    without_room_.erase(member.facts.uid);
    member.running = id;
    member.node = state().node(found.pods[at].node).name;
    member.given = given_at(found.pods[at], member.facts);
    uncounted_.insert(member.group);
    if (member.facts.stage == PodStage::kBound) note_use(member);
    run.uids.push_back(member.facts.uid);
    run.numbers.push_back(static_cast<std::uint32_t>(at));
  }
  if (!run.stop_by) {
    note_limit(id);
    note_movable(id);
    ask_whether_ready(id);
    note_moved_before(members.front()->facts, now);
  }
  if (run.stop_by) session_->apply(LeavingFound{id, std::max(*run.stop_by, now)});
  return true;
}

const std::string& LiveEngine::where(const Member& member) {
  return member.facts.stage == PodStage::kBound ? member.facts.node : member.node;
}

// The profile that it asks there, or was given: what it needs goes by the model.
std::string LiveEngine::profile_on(const std::string& name, const PodFacts& pod) const {
  if (!pod.slice_need) return pod.slice;
  if (pod.given && !pod.given->profile.empty()) return pod.given->profile;
  const auto node = nodes_.find(name);
  const auto flavor = node == nodes_.end() ? std::nullopt : flavor_named(flavor_name_of(node->second));
  const auto slice = flavor ? slice_in(pod, state().flavors()[flavor->index()]) : std::nullopt;
  if (!slice) return "";
  return std::string(hardware_of(state().flavors()[flavor->index()])->mig_profiles[slice->shape].name);
}

// What slices of that name are on the node; nothing where Berth does not cut it, or not so.
std::optional<NamedSlice> LiveEngine::slice_on(const NodeFacts& node, const std::string& profile) const {
  const auto flavor = node.may_be(Sharing::kMig) ? flavor_named(flavor_name_of(node)) : std::nullopt;
  return flavor ? find_slice(state().flavors()[flavor->index()], profile) : std::nullopt;
}

// It holds what it holds: of a part by memory as much as was said when it was given. A slice that is none of Berth's takes
// nothing of the node's GPUs.
PodRequest LiveEngine::holds_on(const std::string& node, const PodFacts& pod) const {
  PodRequest request = pod.request;
  request.flavors = FlavorSet::all();
  const auto facts = nodes_.find(node);
  if (!pod.asks_slice()) {
    if (!pod.vgpu.empty()) return vgpu_on(node, std::move(request));
    if (pod.needs_memory()) request.gpu_memory_mib = 0;  // what it needs was looked at when it came
    if (!pod.asks_memory()) return request;
    const auto flavor = facts == nodes_.end() ? std::nullopt : flavor_named(flavor_name_of(facts->second));
    const auto there = flavor ? request_of(pod, *flavor) : std::nullopt;
    const bool said = pod.given && pod.given->milli > 0;
    request.gpu_milli = said ? pod.given->milli : there ? there->gpu_milli : kMilliPerGpu;
    return request;
  }
  const auto slice = facts == nodes_.end() ? std::nullopt : slice_on(facts->second, profile_on(node, pod));
  request.gpus = slice ? 1 : 0;
  request.gpu_milli = slice ? slice->gpu_milli : 0;
  request.sharing = slice ? Sharing::kMig : Sharing::kExclusive;
  request.slice = slice ? slice->shape : kNoSlice;
  if (slice) request.flavors = FlavorSet::of(*flavor_named(flavor_name_of(facts->second)));
  return request;
}

// It is of the profile that its node's GPUs have by that name: where they have none, its node has become another, and it takes nothing.
PodRequest LiveEngine::vgpu_on(const std::string& node, PodRequest request) const {
  const auto facts = nodes_.find(node);
  const auto flavor = facts == nodes_.end() || !facts->second.may_be(Sharing::kVgpu)
                          ? std::nullopt
                          : flavor_named(flavor_name_of(facts->second));
  if (flavor && find_vgpu(state().flavors()[flavor->index()], request.gpu_milli)) {
    request.flavors = FlavorSet::of(*flavor);
    return request;
  }
  request.gpus = 0;
  request.gpu_milli = 0;
  request.sharing = Sharing::kExclusive;
  return request;
}

// Who counts has his CPUs there at once, whoever of best effort is still leaving.
bool LiveEngine::overcommits_cpus(const std::string& node) const {
  const auto facts = nodes_.find(node);
  return facts != nodes_.end() && facts->second.extra.cpu_milli > 0;
}

GivenGpus LiveEngine::given_at(const PodPlacement& place, const PodFacts& pod) const {
  const PodRequest request = holds_on(state().node(place.node).name, pod);
  return {.gpus = place.gpus,
          .profile = place.gpus.empty() ? "" : profile_on(state().node(place.node).name, pod),
          .slice_start = place.slice_start,
          .milli = request.is_fraction() ? state().ledger().node(place.node).milli_of(request) : 0};
}

// The workload that they are together, with those who are to come, without their places; `in_order` has them as its shape does.
WorkloadFound LiveEngine::found_as(const std::vector<Member*>& members, const std::vector<Member*>& heirs, Time now,
                                   std::vector<Member*>& in_order) {
  const PodFacts& first = members.front()->facts;
  const auto queue = queue_ids_.find(first.queue);
  Terms terms = terms_of(members);
  terms.best_effort = terms.best_effort || members.front()->best_effort;
  std::string no_hours;  // then it runs on, as it does already
  terms.hours = hours_of(first, now, no_hours);
  if (first.moved_at && *first.moved_at + kMoveCooldown > now) terms.movable = false;
  PodSets sets;
  std::vector<std::vector<Member*>> of_set;
  std::vector<Member*> all = members;
  all.insert(all.end(), heirs.begin(), heirs.end());
  std::ranges::stable_sort(all, {}, rank_order);
  // Where it has to be matters to who comes in the place of another.
  const bool is_whole = std::ssize(all) == first.group_size;
  for (Member* const member : all) {
    const bool is_heir = std::ranges::find(heirs, member) != heirs.end();
    const std::string& at = is_heir ? node_it_counts_at(*member, members) : where(*member);
    PodRequest request = holds_on(at, member->facts);
    if (request.in_extra && member->stop_by && overcommits_cpus(at)) request.cpu_milli = 0;
    if (member->beyond_promise) request.cpu_milli = request.memory_bytes = 0;
    request.in_extra = terms.best_effort && (request.cpu_milli > 0 || request.memory_bytes > 0) && request.in_extra;
    const Topology topology = is_whole ? member->facts.topology : Topology();
    Neighbours neighbours = neighbours_of(member->facts);
    const auto same = std::ranges::find_if(sets, [&](const PodSet& set) {
      const auto& first_of_it = of_set[static_cast<std::size_t>(&set - sets.data())].front()->facts;
      return first_of_it.pod_set == member->facts.pod_set && set.request == request && set.neighbours == neighbours &&
             set.parallel == member->facts.parallel && set.constraints == member->facts.constraints &&
             set.topology == topology && set.exclusive_level == member->facts.exclusive_level;
    });
    const auto number = static_cast<std::size_t>(same - sets.begin());
    if (same == sets.end()) {
      sets.push_back({.request = request,
                      .count = 0,
                      .constraints = member->facts.constraints,
                      .topology = topology,
                      .neighbours = std::move(neighbours),
                      .parallel = member->facts.parallel,
                      .exclusive_level = member->facts.exclusive_level,
                      .exclusive_part = part_of(member->facts)});
      of_set.emplace_back();
    }
    ++sets[number].count;
    of_set[number].push_back(member);
  }
  for (std::size_t at = 0; at < sets.size(); ++at) {
    if (!sets[at].parallel.is_declared()) continue;
    // Whose gang is not whole puts nothing on the network that could be told.
    if (!problem_of(sets[at].parallel, sets[at].count, sets[at].request.gpus).empty()) sets[at].parallel = {};
  }
  for (const auto& each : of_set) in_order.insert(in_order.end(), each.begin(), each.end());
  return {.workload = {.name = first.group.empty() ? first.name_space + "/" + first.name : first.group,
                       .queue = queue == queue_ids_.end() ? queue_ids_.at(std::string(kDefaultQueue)) : queue->second,
                       .at = first.queued,
                       .declared_run = first.run,
                       .shape = {.ways = {sets}, .terms = terms},
                       .user = first.user,
                       .series = series_of(first)},
          .pods = {},
          .started = std::min(first.bound_at.value_or(now), now),
          .only_borrows = std::ranges::any_of(
              members, [](const Member* member) { return member->only_borrows || member->facts.only_borrows; })};
}

}  // namespace berth
