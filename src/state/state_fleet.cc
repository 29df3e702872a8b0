// Nodes that come, go and come back, and the room that comes free on them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/gpu_hardware.h"
#include "state/kept_out.h"
#include "state/room.h"
#include "state/starting.h"
#include "state/state.h"

namespace berth {
namespace {

// Streams of the seed for batches of nodes; those of workloads are numbered from 0.
constexpr std::uint64_t kNodeStreams = std::uint64_t{1} << 48;

// To be written to: copies share them.
std::vector<Node>& own(std::shared_ptr<std::vector<Node>>& nodes) {
  if (nodes.use_count() > 1) nodes = std::make_shared<std::vector<Node>>(*nodes);
  return *nodes;
}

// It is not just to begin there.
bool is_on(const State& state, WorkloadId id, NodeId node) {
  bool found = false;
  if (!is_there(state.workload(id).phase)) return found;
  for_each_leaving_pod(state, id, [&](const Pod& pod) { found = found || pod.node == node; });
  return found;
}

}  // namespace

template <class Change>
void State::freeing(NodeId node, Change change) {
  // Of a shape with one pod set every node's room adds up exactly, so what came free is counted (its ways differ in their
  // flavors, and a node has one). Of several sets it does not: a node may have had room for either and now has it for
  // both. So there any room at all where something came free is reason enough to try again. Whom a gate refused does not
  // wait for room; whom others' floors refused is tried again without that, and known for it until nodes or floors change.
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
        const bool by_gate = is_quota_gate(entry.gate) || entry.gate == ReasonCode::kKeepsFloorDeliverable;
        if (entry.blocked() && !entry.impossible() && !by_gate) visit(*line, at, entry);
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
    // What is free on a spare is room for these alone, and is not counted.
    if (ledger_.node(node).spare && shape.terms.replaces) return line.set_missing(at, 0);
    const std::int64_t freed = room_of(shape) - (shape.ways.front().size() == 1 ? before : 0);
    if (freed > 0) line.set_missing(at, entry.missing - freed, entry.gate, entry.by_quota);
  });
}

void State::on(const NodesAdded& event) {
  // The order in which nodes are looked at, and so who wins a tie, is drawn here, once; a name never decides.
  std::vector<Node> added = event.nodes;
  Rng rng(seed_, kNodeStreams + nodes_->size());
  rng.shuffle(std::span(added));
  auto nodes = std::make_shared<std::vector<Node>>(*nodes_);
  nodes->insert(nodes->end(), added.begin(), added.end());
  nodes_ = std::move(nodes);
  ledger_.matches().look_at(*nodes_, nodes_->size() - added.size(), added.size());
  topologies_.look_at(*nodes_, flavors_);
  ledger_.neighbourhood().look_at(*nodes_);
  ledger_.exclusives().look_at(*nodes_);
  ledger_.tenants().look_at(ledger_.trust(), *nodes_);
  AmountsByDim with_them = capacity();
  for (const Node& node : added) {
    const NodeId id = ledger_.add(node, geometry_of(node));
    // A closed node has no room, so opening it is what frees the room that it brings.
    ledger_.set_open(id, false);
    freeing(id, [&] { set_open(id, true, with_them); });
    history_.add(node.cpu_milli).add(node.memory_bytes).add(node.gpus).add(node.flavor.value());
    if (node.sharing != Sharing::kExclusive) history_.add(static_cast<std::uint64_t>(node.sharing)).add(node.replicas);
    if (!node.other_modes.empty()) history_.add(std::uint64_t{node.other_modes.bits()});
    if (!node.fixed_slices.empty()) history_.add(std::uint64_t{node.fixed_slices.bits()});
    if (node.recut > Duration{0}) history_.add(node.recut.ms);
    for (const MigPlaceSet layout : node.layouts) history_.add(std::uint64_t{layout.bits()});
    if (node.kept_per_gpu != HostAmounts()) {
      history_.add(node.kept_per_gpu.cpu_milli).add(node.kept_per_gpu.memory_bytes);
    }
    if (node.extra != HostAmounts()) history_.add(node.extra.cpu_milli).add(node.extra.memory_bytes);
    if (node.numa_policy != NumaPolicy::kNone) {
      history_.add(node.numa_zones).add(static_cast<std::uint64_t>(node.numa_policy));
    }
    if (!node.links.are_all_alike()) history_.add(node.links.pcie).add(node.links.nvlink);
    if (node.spare) history_.add(std::uint64_t{node.spare});
    for (const NodeImage& each : node.images) history_.add(each.name).add(each.bytes);
    add_to_history(node.labels, node.taints);
  }
  rebuild_quotas(std::move(with_them));
  count_types(added);
  retry_the_impossible();
}

const MigGeometry* State::geometry_of(const Node& node) const {
  return node.may_be(Sharing::kMig) ? mig_of(flavors_[node.flavor.index()]) : nullptr;
}

// Opens or closes a node, and counts what it has. A spare takes work, and is not open for that: what it has is nobody's.
void State::set_open(NodeId id, bool takes_work, AmountsByDim& counted) {
  const Node& node = (*nodes_)[id.index()];
  ledger_.set_spare(id, takes_work && node.spare);
  const bool open = takes_work && !node.spare;
  if (ledger_.node(id).open == open) return;
  ledger_.set_open(id, open);
  const std::int64_t sign = open ? 1 : -1;
  const auto count = [&](Resource resource, std::int64_t amount) {
    counted[Dim(node.flavor, resource).index()] += sign * amount;
  };
  if (node.gpus > 0) {
    const auto broken = std::ranges::count(ledger_.broken(), id, &Device::node);
    const std::int64_t of_each = milli_to_promise(node, flavors_[node.flavor.index()]);
    count(Resource::kGpu, (std::int64_t{node.gpus} - broken) * of_each);
  }
  count(Resource::kCpu, node.cpu_milli);
  count(Resource::kMemory, node.memory_bytes >> 20);
  count_slices(id, sign, 0, counted);
}

// Of each profile that is counted, from a dimension on: as many as there could be if all GPUs were cut into it.
void State::count_slices(NodeId id, std::int64_t sign, std::size_t from, AmountsByDim& counted) const {
  if (counted.size() <= std::max(from, Dim::count(kFlavorsMax))) return;
  const Node& node = (*nodes_)[id.index()];
  const MigGeometry* const geometry = node.gpus > 0 ? geometry_of(node) : nullptr;
  if (geometry == nullptr) return;
  const std::int64_t gpus = node.gpus - std::ranges::count(ledger_.broken(), id, &Device::node);
  for (std::size_t shape = 0; shape < geometry->shapes().size(); ++shape) {
    const std::size_t dim = Dim::of_slices(node.flavor, shape).index();
    if (dim >= from && dim < counted.size()) {
      counted[dim] += sign * gpus * most_slices(node, *geometry, shape);
    }
  }
}

void State::set_open(NodeId id, bool takes_work) {
  AmountsByDim then = capacity();
  set_open(id, takes_work, then);
  rebuild_quotas(std::move(then));
  if (!ledger_.node(id).open) retry_who_is_spread_evenly();
}

std::vector<NodeId> State::spares() const {
  std::vector<NodeId> spares;
  for (std::size_t i = 0; i < nodes(); ++i) {
    if (ledger_.node(NodeId(i)).spare) spares.emplace_back(i);
  }
  return spares;
}

void State::count_types(const std::vector<Node>& nodes) {
  auto types = std::make_shared<NodeTypes>(*node_types_);
  for (Node node : nodes) {
    node.name.clear();
    node.labels.clear();
    node.images.clear();
    node.taints.clear();
    node.spare = false;
    const std::size_t type = types->nodes.intern(node);
    types->of_node.push_back(static_cast<std::uint32_t>(type));
    if (type == types->counts.size()) {
      types->counts.push_back(0);
      types->idle.add(node, geometry_of(node));
      types->keep_for_gpus = types->keep_for_gpus || node.kept_per_gpu != HostAmounts();
      types->overcommit = types->overcommit || node.extra != HostAmounts();
      types->have_zones = types->have_zones || node.numa_policy != NumaPolicy::kNone;
      types->restrict_zones = types->restrict_zones || node.numa_policy == NumaPolicy::kRestricted;
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
  down_.insert(event.node);
  set_open(event.node, false);
  // Nothing new begins there: who has his room and waits for others to leave it is new, too.
  for (const WorkloadId id : starting_on(*this, event.node)) lose_room_to_come(id);
  history_.add(event.node.value());
}

void State::on(const NodeRestored& event) {
  down_.erase(event.node);
  freeing(event.node, [&] { open_mended(event.node); });
  history_.add(event.node.value());
}

void State::reopen(NodeId node) {
  freeing(node, [&] { set_open(node, true); });
}

void State::on(const DeviceScrubbed& event) {
  history_.add(event.node.value()).add(event.gpu).add(std::uint64_t{event.failed});
  const Device device{event.node, event.gpu};
  if (event.failed) return break_down(device);
  freeing(event.node, [&] { ledger_.clean(device); });
}

void State::on(const SlicesRecut& event) {
  history_.add(event.node.value()).add(event.gpu);
  const Device device{event.node, event.gpu};
  const MigPlaceSet slices = ledger_.cut_of(device.node, static_cast<std::size_t>(device.gpu))->slices;
  being_cut_.erase(device);
  rests_.emplace(clock_ + Duration{node(event.node).recut.ms * kRecutsOfRest}, device);
  freeing(event.node, [&] { ledger_.set_cut(device, {.slices = slices, .to_come = {}, .rests = true}); });
}

// Who is yet to begin there, on a slice that is not among these, waits again.
void State::on(const CutFound& event) {
  for (const WorkloadId id : starting_on(*this, event.node)) {
    bool is_lost = false;
    for_each_coming_pod(*this, id, [&](const Pod& pod) {
      const PodRequest& request = requests_[pod.request.index()];
      if (pod.node != event.node || !request.is_slice()) return;
      const auto place = ledger_.node(pod.node).geometry().find_place(request.slice, pod.slice_start);
      is_lost = is_lost || !event.slices.contains(*place);
    });
    if (is_lost) lose_room_to_come(id);
  }
  history_.add(event.node.value()).add(std::uint64_t{event.slices.bits()}).add(std::uint64_t{event.is_coming});
  history_.add(event.rests_until.ms);
  ask_anew_who_is_kept_out(lines_);
  const bool rests = !event.is_coming && event.rests_until > clock_;
  freeing(event.node, [&] {
    for (int gpu = 0; gpu < ledger_.node(event.node).gpus; ++gpu) {
      const Device device{event.node, gpu};
      std::erase_if(rests_, [&](const auto& each) { return each.second == device; });
      being_cut_.erase(device);
      if (event.is_coming) being_cut_.insert(device);
      if (rests) rests_.emplace(event.rests_until, device);
      const MigPlaceSet to_come = event.is_coming ? event.slices : MigPlaceSet();
      ledger_.set_cut(device, {.slices = event.slices, .to_come = to_come, .rests = rests});
    }
  });
}

void State::end_rests() {
  while (!rests_.empty() && rests_.begin()->first <= clock_) {
    const Device device = rests_.begin()->second;
    rests_.erase(rests_.begin());
    const MigPlaceSet slices = ledger_.cut_of(device.node, static_cast<std::size_t>(device.gpu))->slices;
    freeing(device.node, [&] { ledger_.set_cut(device, {.slices = slices, .to_come = {}}); });
  }
}

void State::on(const NodeRelabelled& event) {
  const std::vector<WorkloadId> in_vain = starting_in_vain(*this, event);
  const bool turns = event.spare != (*nodes_)[event.node.index()].spare;
  Node& node = own(nodes_)[event.node.index()];
  const Labels before = std::exchange(node.labels, event.labels);
  node.taints = event.taints;
  node.spare = event.spare;
  freeing(event.node, [&] {
    if (turns) set_open(event.node, ledger_.node(event.node).takes_work());
    ledger_.matches().look_at(*nodes_, event.node.index(), 1);
    topologies_.look_at(*nodes_, flavors_, before, node.labels);
    if (before != node.labels) ledger_.neighbourhood().look_at(*nodes_);
    if (before != node.labels) look_at_exclusives();
    if (before != node.labels) look_at_tenants(event.node);
    ledger_.touch(event.node);
  });
  for (const WorkloadId id : in_vain) lose_room_to_come(id);
  ask_anew_who_is_kept_out(lines_);
  retry_the_impossible();
  retry_who_asks_for_domains();
  history_.add(event.node.value());
  if (turns) history_.add(std::uint64_t{event.spare});
  add_to_history(event.labels, event.taints);
}

// Who waits for room and has a pod set that `asks` so.
template <class Asks>
void State::retry_who(Asks asks) {
  for (auto& line : lines_) {
    if (!line) continue;
    for (std::size_t at = 0; at < line->shapes().size(); ++at) {
      const ShapeInLine& entry = line->shapes()[at];
      const auto& sets = shapes_[entry.shape.index()].ways.front();
      const bool waits_for_room = entry.blocked() && !is_quota_gate(entry.gate);
      if (waits_for_room && std::ranges::any_of(sets, asks)) line->set_missing(at, 0);
    }
  }
}

// It may be for others than before.
void State::retry_who_waits_for_room() {
  retry_who([](const NumberedPodSet&) { return true; });
}

// The room that there is may be nearer together than it was.
void State::retry_who_asks_for_domains() {
  retry_who([&](const NumberedPodSet& set) {
    const PodRequest& request = requests_[set.request.index()];
    const bool minds_others = request.gpus > 0 && ledger_.some_keep_apart();
    return set.asks_for_domains() || minds_others || ledger_.neighbourhood().refuses(request.neighbours);
  });
}

// Some whom it counts have come or gone: what kept it away may not do so any more.
void State::retry_who_looks_at(const PodRequest& counted) {
  const ExclusiveDomains& exclusives = ledger_.exclusives();
  if (counted.gpus > 0 && !exclusives.none()) {
    retry_who([&](const NumberedPodSet& set) {
      const PodRequest& waiting = requests_[set.request.index()];
      return waiting.gpus > 0 &&
             (exclusives.is_exclusive(counted.exclusive) || exclusives.is_exclusive(waiting.exclusive));
    });
  }
  // Of his own node the room is counted.
  if (counted.gpus > 0 && ledger_.trust().apart_levels().size() > 1) {
    retry_who([&](const NumberedPodSet& set) {
      const PodRequest& waiting = requests_[set.request.index()];
      return waiting.gpus > 0 && ledger_.trust().may_keep_apart(counted, waiting);
    });
  }
  const Neighbourhood& around = ledger_.neighbourhood();
  if (!around.is_counted(counted.neighbours)) return;
  retry_who([&](const NumberedPodSet& set) {
    return around.looks_at(requests_[set.request.index()].neighbours, counted.neighbours);
  });
}

// Another node may be in the domain of another now: who is there stays, and is in the way, or no more, of those who come.
void State::look_at_exclusives() {
  if (ledger_.exclusives().none()) return;
  ledger_.exclusives().look_at(*nodes_);
  for (std::size_t node = 0; node < nodes(); ++node) ledger_.touch(NodeId(node));
}

void State::on(const NodeImagesChanged& event) {
  history_.add(event.node.value());
  const std::vector<NodeImage> before = std::exchange(own(nodes_)[event.node.index()].images, event.images);
  std::vector<std::string> changed;
  const auto note = [&](const std::vector<NodeImage>& of, const std::vector<NodeImage>& others) {
    for (const NodeImage& each : of) {
      if (std::ranges::find(others, each) == others.end()) changed.push_back(each.name);
    }
  };
  note(before, event.images);
  note(event.images, before);
  for (const std::string& each : changed) history_.add(each);
  for (const NodeId node : ledger_.matches().look_at_images(changed, *nodes_)) ledger_.touch(node);
}

void State::on(const NodeFailureFound& event) {
  history_.add(event.node.value()).add(event.at.ms);
  failures_.note(event.node, event.at);
  forget_failures();
  ledger_.set_avoided(event.node, failures_.are_many(event.node));
}

// Moments that are told decide when a node is as good as others again.
void State::forget_failures() {
  for (const NodeId node : failures_.forget(clock_)) ledger_.set_avoided(node, failures_.are_many(node));
}

// A domain less may count, so that those without it are even.
void State::retry_who_is_spread_evenly() {
  const auto is_even = [&](TopologyId id) { return topologies_[id].spread == Spreading::kEven; };
  const Neighbourhood& around = ledger_.neighbourhood();
  const auto is_spread = [&](NeighboursId id) { return id != NeighboursId(0) && !around.kind(id).spreads.empty(); };
  bool some = around.any_spread();
  for (std::size_t id = 0; id < topologies_.size(); ++id) some = some || is_even(TopologyId(id));
  if (!some) return;
  retry_who([&](const NumberedPodSet& set) {
    return is_even(set.topology) || is_spread(requests_[set.request.index()].neighbours);
  });
}

// Which nodes are whose. Who waits for room may have it now.
void State::dedicate() {
  std::vector<Dedication> list;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (queues_[i].quota.dedicated.empty()) continue;
    QueueId above = queues_[i].parent;
    while (!above.is_none() && queues_[above.index()].quota.dedicated.empty()) above = queues_[above.index()].parent;
    list.push_back({QueueId(i), above, queues_[i].quota.dedicated});
  }
  ledger_.matches().dedicate(std::move(list), *nodes_);
  for (std::size_t i = 0; i < nodes(); ++i) ledger_.touch(NodeId(i));
  for (const WorkloadId id : starting_on_others_nodes(*this)) lose_room_to_come(id);
  retry_who_waits_for_room();
}

void State::add_to_history(const Labels& labels, const std::vector<Taint>& taints) {
  history_.add(std::uint64_t{labels.size()}).add(std::uint64_t{taints.size()});
  for (const Label& label : labels) history_.add(label.key).add(label.value);
  for (const Taint& taint : taints) {
    history_.add(taint.key).add(taint.value).add(static_cast<std::uint64_t>(taint.effect));
  }
}

void State::on(const NodeFailed& event) {
  history_.add(event.node.value());
  down_.insert(event.node);
  failures_.note(event.node, clock_);
  ledger_.set_avoided(event.node, failures_.are_many(event.node));
  set_open(event.node, false);
  std::vector<WorkloadId> lost;
  for (const Pod& pod : pods_) {
    if (!pod.workload.is_none() && pod.node == event.node) lost.push_back(pod.workload);
  }
  std::sort(lost.begin(), lost.end());
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  for (const WorkloadId id : lost) {
    const Workload* const found = workloads_.find(id);
    // A step: it has stopped, or is over, with its minimum.
    if (found == nullptr || (!has_room(found->phase) && !is_there(found->phase))) continue;
    if (is_on(*this, id, event.node)) {
      note_lost_node(id);
      if (follow_lost_node(id, event.node)) continue;
    }
    const Workload& workload = workloads_[id];
    if (workload.phase == Phase::kMigrating) {
      migrates_without(id, event.node);
      continue;
    }
    if (workload.phase == Phase::kRunning) {
      lose_on(event.node, id);
      continue;
    }
    // Who was evicted already has only lost what was left of its grace.
    if (has_room(workload.phase)) give_room_back(id);
    wait_again(id);
  }
}

// The node where it still is, or is to be, or both.
void State::migrates_without(WorkloadId id, NodeId node) {
  bool is_there = false;
  bool was_to_be_there = false;
  for_each_leaving_pod(*this, id, [&](const Pod& pod) { is_there = is_there || pod.node == node; });
  for_each_pod(*this, id, [&](const Pod& pod) { was_to_be_there = was_to_be_there || pod.node == node; });
  if (!was_to_be_there) return leave_old_places(id);
  workloads_[id].evicted_by = EvictionRule::kNode;
  lose_room_to_come(id);
  if (is_there) wait_again(id);
}

void State::give_room_back(const Pod& pod) {
  const Move give = move_of(requests_[pod.request.index()], pod.place(), Move::Direction::kGive);
  // Who has not begun leaves nothing behind.
  const bool was_there = workloads_[pod.workload].phase == Phase::kRunning && !pod.comes;
  retry_who_looks_at(give.request);
  freeing(pod.node, [&] {
    if (was_there) {
      ledger_.depart(give, Emptied::kIsToBeScrubbed);
      // Whoever is not there yet may never come, and does not stand for those of his tenant who have been.
      for (const Device& device : shared_with_starting(*this, pod))
        ledger_.add_residue(device, ledger_.trust()[give.request.sharer].tenant);
    } else {
      ledger_.withdraw(give);
    }
  });
  drop_partings(pod.workload);
}

}  // namespace berth
