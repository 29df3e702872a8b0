// Random clusters and random work for property tests. AmountList are few and round, so that nodes fill up and ties and
// exact fits are common. For tests only: nothing that is shipped includes this.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "model/event.h"
#include "model/gpu_hardware.h"
#include "model/replica_ways.h"
#include "model/vgpu_profiles.h"
#include "state/state.h"

namespace berth {

template <class T>
T one_of(Rng& rng, std::initializer_list<T> values) {
  return values.begin()[rng.below(values.size())];
}

// Mostly nested: racks 1 and 2 are in zone 1.
inline Labels random_labels(Rng& rng) {
  Labels labels;
  if (rng.below(2) == 0) return labels;
  const char* const rack = one_of(rng, {"1", "2", "3"});
  labels.push_back({"rack", rack});
  if (rng.below(3) > 0) labels.push_back({"zone", rng.below(6) == 0 || rack[0] < '3' ? "1" : "2"});
  return labels;
}

inline std::vector<Taint> random_taints(Rng& rng) {
  if (rng.below(8) > 0) return {};
  return {{"team", one_of(rng, {"a", "b"}),
           one_of(rng, {TaintEffect::kNoSchedule, TaintEffect::kNoExecute, TaintEffect::kPreferNoSchedule})}};
}

// What the flavors of random worlds are, by their number: of two families that are cut differently.
inline Flavor random_world_flavor(FlavorId id) {
  return {.name = "flavor", .model = id.index() % 2 == 0 ? "A100-80GB" : "A30", .memory_mib = 0};
}

inline const MigGeometry* geometry_in_random_world(const Node& node) {
  return node.may_be(Sharing::kMig) ? mig_of(random_world_flavor(node.flavor)) : nullptr;
}

inline void add_to_ledger(Ledger& ledger, const Node& node) { ledger.add(node, geometry_in_random_world(node)); }

// Most queues have no nodes of their own.
inline std::vector<Label> random_dedicated(Rng& rng) {
  std::vector<Label> labels;
  if (rng.below(5) != 0) return labels;
  labels.push_back({"rack", one_of<std::string>(rng, {"1", "2", "3", "4"})});
  if (rng.below(3) == 0) labels.push_back({"zone", "1"});
  return labels;
}

// Mostly what most nodes are.
inline Sharing random_mode(Rng& rng) {
  return rng.below(2) == 0 ? Sharing::kExclusive : static_cast<Sharing>(rng.below(std::size(kSharingNames)));
}

// One or two, of which it is none yet and which may be of a node that has several.
inline void add_other_modes(Rng& rng, Node& node) {
  for (const Sharing mode : {Sharing::kExclusive, Sharing::kMig, Sharing::kMps, Sharing::kVgpu}) {
    if (mode != node.sharing && rng.below(2) == 0) node.other_modes.add(mode);
  }
}

// So many slices as fit beside each other, of up to four draws; mostly none.
inline MigPlaceSet random_fixed_slices(Rng& rng, const MigGeometry& mig) {
  MigPlaceSet fixed;
  for (std::int64_t left = rng.below(2) == 0 ? rng.between(1, 4) : 0; left > 0; --left) {
    const auto place = static_cast<std::size_t>(rng.below(mig.places().size()));
    if (mig.is_layout(fixed.with(place))) fixed = fixed.with(place);
  }
  return fixed;
}

// For each GPU a part of what the node has, all of it now and then; of most nodes nothing.
inline HostAmounts random_kept(Rng& rng, const Node& node) {
  if (node.gpus == 0 || rng.below(4) > 0) return {};
  const std::int64_t cpu_parts = rng.between(1, 4);
  const std::int64_t memory_parts = rng.between(1, 4);
  return {node.cpu_milli / node.gpus / cpu_parts, node.memory_bytes / node.gpus / memory_parts};
}

// Up to twice as much again, of CPUs or of both; of most nodes nothing.
inline HostAmounts random_extra(Rng& rng, const Node& node) {
  if (rng.below(4) > 0) return {};
  const std::int64_t cpus_milli = one_of<std::int64_t>(rng, {1'001, 1'250, 2'000, 3'000});
  const std::int64_t memory_milli = one_of<std::int64_t>(rng, {1'000, 1'000, 1'500});
  return {extra_of(node.cpu_milli, cpus_milli), extra_of(node.memory_bytes, memory_milli)};
}

// Most kubelets have none.
inline void divide_into_zones(Node& node, Rng& rng) {
  if (node.gpus == 0 || node.sharing != Sharing::kExclusive || !node.other_modes.empty() || rng.below(2) > 0) return;
  node.numa_zones = one_of(rng, {1, 2, 2, 3, 4, 8});
  node.numa_policy = static_cast<NumaPolicy>(rng.below(std::size(kNumaPolicyNames)));
}

// Most machines have GPUs that are all alike to each other.
inline void join_some_gpus(Node& node, Rng& rng) {
  if (rng.below(4) > 0) return;
  const std::int32_t pcie = one_of(rng, {0, 2, 4, 4});
  const std::int32_t nvlink = one_of(rng, {0, 2, 4});
  const std::int32_t zones = node.numa_policy == NumaPolicy::kNone ? 1 : node.numa_zones;
  if (const GpuLinks links{pcie, nvlink}; links.divide(node.gpus, zones)) node.links = links;
}

inline Node random_node(Rng& rng, std::size_t flavors) {
  Node node;
  node.name = "node";
  node.gpus = flavors == 0 ? 0 : one_of(rng, {0, 1, 2, 4, 8});
  if (node.gpus > 0) {
    node.flavor = FlavorId(static_cast<std::size_t>(rng.below(flavors)));
    node.gpu_memory_mib = one_of<std::int64_t>(rng, {0, 999, 16'384, 16'384});
    node.sharing = random_mode(rng);
    if (node.sharing == Sharing::kTimeslice) node.replicas = static_cast<std::int32_t>(rng.between(2, 7));
    if (node.sharing != Sharing::kTimeslice && rng.below(4) == 0) add_other_modes(rng, node);
    if (node.sharing == Sharing::kMig && node.other_modes.empty())
      node.fixed_slices = random_fixed_slices(rng, *geometry_in_random_world(node));
    if (!node.fixed_slices.empty() && rng.below(2) == 0) node.recut = one_of(rng, {seconds(1), seconds(60)});
  }
  node.cpu_milli = one_of<std::int64_t>(rng, {0, 7'999, 16'000, 64'000, 128'000});
  node.memory_bytes = one_of<std::int64_t>(rng, {0, 8, 64, 256}) << 30;
  if (rng.below(6) == 0) node.pods_max = static_cast<std::int32_t>(rng.between(0, 4));
  node.labels = random_labels(rng);
  node.taints = random_taints(rng);
  node.kept_per_gpu = random_kept(rng, node);
  node.extra = random_extra(rng, node);
  divide_into_zones(node, rng);
  join_some_gpus(node, rng);
  node.spare = rng.below(12) == 0;
  return node;
}

// Half of them are like the one before.
inline std::vector<Node> random_nodes(Rng& rng, std::size_t flavors, std::int64_t least, std::int64_t most) {
  std::vector<Node> nodes;
  for (std::int64_t left = rng.between(least, most); left > 0; --left) {
    const bool again = !nodes.empty() && rng.below(2) == 0;
    nodes.push_back(again ? nodes.back() : random_node(rng, flavors));
  }
  return nodes;
}

inline FlavorSet random_flavors(Rng& rng, std::size_t flavors) {
  if (flavors == 0 || rng.below(3) == 0) return FlavorSet::all();
  return FlavorSet::from_bits(1 + rng.below((std::uint64_t{1} << flavors) - 1));
}

// Of one flavor, since on others it is called something else.
inline void make_slice(PodRequest& request, Rng& rng, std::size_t flavors) {
  const FlavorId flavor(static_cast<std::size_t>(rng.below(flavors)));
  const MigGeometry& mig = *mig_of(random_world_flavor(flavor));
  const auto shape = static_cast<std::size_t>(rng.below(mig.shapes().size()));
  request.gpus = 1;
  request.gpu_milli = find_slice(random_world_flavor(flavor), shape)->gpu_milli;
  request.flavors = FlavorSet::of(flavor);
  request.sharing = Sharing::kMig;
  request.slice = static_cast<std::uint8_t>(shape);
}

inline void make_share(PodRequest& request, Rng& rng) {
  request.gpus = 1;
  request.gpu_milli = one_of(rng, {30, 100, 250, 250, 500, 600, 1000});
  request.sharing = Sharing::kMps;
}

// Of one flavor, as slices are.
inline void make_vgpu(PodRequest& request, Rng& rng, std::size_t flavors) {
  const FlavorId flavor(static_cast<std::size_t>(rng.below(flavors)));
  const std::vector<VgpuProfile> profiles = vgpu_profiles(random_world_flavor(flavor));
  request.gpus = 1;
  request.gpu_milli = profiles[static_cast<std::size_t>(rng.below(profiles.size()))].gpu_milli();
  request.flavors = FlavorSet::of(flavor);
  request.sharing = Sharing::kVgpu;
}

inline PodRequest random_request(Rng& rng, std::size_t flavors) {
  PodRequest request;
  request.cpu_milli = one_of<std::int64_t>(rng, {0, 500, 1'000, 4'000, 16'000});
  request.memory_bytes = one_of<std::int64_t>(rng, {0, 1, 4, 32}) << 30;
  const std::uint64_t kind = rng.below(13);
  if (kind == 0) return request;
  if (kind == 12 && flavors > 0) {
    make_vgpu(request, rng, flavors);
    return request;
  }
  if (kind == 9 && flavors > 0) {
    make_slice(request, rng, flavors);
    return request;
  }
  if (kind == 11) {
    request.gpus = 1;
    request.gpu_milli = kMilliPerGpu;
    request.flavors = random_flavors(rng, flavors);
    request.sharing = Sharing::kTimeslice;
    return request;
  }
  request.gpus = kind < 7 || kind == 12 ? 1 : one_of(rng, {2, 2, 4, 8});
  request.gpu_milli = kind < 5 ? one_of(rng, {1, 100, 250, 333, 500, 500, 500, 700, 999}) : kMilliPerGpu;
  request.flavors = random_flavors(rng, flavors);
  if (kind == 10) make_share(request, rng);
  if (rng.below(3) == 0) request.gpu_memory_mib = one_of<std::int64_t>(rng, {100, 999, 8'192, 16'384, 16'384, 40'000});
  return request;
}

// As large as vGPUs of the two models are, each once.
inline constexpr std::int32_t kRandomVgpus[] = {1000, 500, 333, 250, 200, 166, 125, 100, 50};

// Three tenants who may have parts of devices. The one in the middle trusts both others, who do not trust each other.
inline void introduce_sharers(Ledger& ledger) {
  for (const std::size_t tenant : {0u, 1u, 2u}) ledger.trust().intern({QueueId(tenant), UserId()});
  for (const std::size_t tenant : {0u, 1u, 2u}) {
    for (const std::int32_t milli : kRandomVgpus) {
      ledger.trust().intern({.tenant = QueueId(tenant), .user = UserId(), .vgpu_milli = milli});
    }
  }
  ledger.trust().set_circles({{{QueueId(0), QueueId(1)}}, {{QueueId(1), QueueId(2)}}});
}

// As a pod that is there: somebody's, if that matters.
inline PodRequest somebodys_request(Rng& rng, std::size_t flavors) {
  PodRequest request = random_request(rng, flavors);
  const bool asks_host = request.cpu_milli > 0 || request.memory_bytes > 0;
  request.in_extra = asks_host && rng.below(3) == 0;
  if (!request.is_fraction()) return request;
  const auto tenant = static_cast<std::size_t>(rng.below(3));
  const auto* const vgpu = std::ranges::find(kRandomVgpus, request.gpu_milli);
  request.sharer = SharerId(!request.is_vgpu() ? tenant
                                               : 3 + tenant * std::size(kRandomVgpus) +
                                                     static_cast<std::size_t>(vgpu - std::begin(kRandomVgpus)));
  return request;
}

// Of most pods none.
inline NodeConstraints random_constraints(Rng& rng) {
  NodeConstraints constraints;
  if (rng.below(6) == 0) constraints.select = {{"rack", LabelOperator::kIn, {one_of(rng, {"1", "2"})}}};
  if (rng.below(12) == 0) {
    constraints.any_of = {{{{"rack", LabelOperator::kGt, {"1"}}}}, {{{"rack", LabelOperator::kDoesNotExist}}}};
  }
  if (rng.below(6) == 0) constraints.tolerations = {{.key = "team", .value = one_of(rng, {"a", "b"})}};
  if (rng.below(6) == 0) {
    constraints.preferred = {{{{{"rack", LabelOperator::kIn, {one_of(rng, {"1", "2", "3"})}}}}, 2},
                             {{{{"zone", LabelOperator::kExists}}}, 1}};
  }
  return constraints;
}

// Of most pods none; else for so many.
inline Topology random_topology(Rng& rng, std::int64_t pods) {
  Topology topology;
  if (rng.below(4) > 0) return topology;
  if (rng.below(3) > 0) {
    topology.together = one_of(rng, {Togetherness::kPreferred, Togetherness::kRequired});
    topology.level = one_of(rng, {"rack", "rack", "zone", "node"});
  }
  if (topology.together != Togetherness::kPreferred && rng.below(3) == 0) {
    topology.spread = one_of(rng, {Spreading::kPreferred, Spreading::kEven, Spreading::kApart});
    topology.spread_level = topology.spread == Spreading::kPreferred ? "node" : one_of(rng, {"node", "rack", "zone"});
    if (topology.spread == Spreading::kEven && topology.spread_level != "node" && rng.below(2) == 0) {
      topology.on_nodes = one_of(rng, {OnNodes::kFew, OnNodes::kEvenly, OnNodes::kOneEach});
    }
    if (rng.below(3) == 0) {
      const std::int64_t slice = rng.between(1, 3);
      topology.slice_pods = pods % slice == 0 ? slice : pods;
      topology.slice_level = "node";
    }
    return topology;
  }
  const std::int64_t slice = rng.between(1, 4);
  if (topology.asks_nothing() || rng.below(3) == 0) {
    topology.slice_pods = pods % slice == 0 ? slice : pods;
    topology.slice_level = one_of(rng, {"node", "node", "rack", "zone"});
  }
  return topology;
}

// For some of those who may have any.
inline Parallelism random_parallelism(Rng& rng, const PodSet& set) {
  const PodRequest& request = set.request;
  const bool whole = request.gpus > 0 && request.gpu_milli == kMilliPerGpu && request.sharing == Sharing::kExclusive;
  if (!whole || set.topology.has_slices() || set.topology.is_spread() || rng.below(3) > 0) return {};
  const std::int64_t tensor = request.gpus * (set.count % 2 == 0 ? rng.between(1, 2) : 1);
  const std::int64_t left = set.count * request.gpus / tensor;
  const std::int64_t stages = left % 2 == 0 ? rng.between(1, 2) : 1;
  return {tensor, stages, left / stages};
}

// One way or several, one pod set or several. With replicas in it, it is best effort.
inline WorkloadShape random_shape(Rng& rng, std::size_t flavors) {
  PodSets sets;
  for (std::int64_t left = rng.below(3) == 0 ? rng.between(2, 3) : 1; left > 0; --left) {
    const PodRequest request = random_request(rng, flavors);
    const std::int64_t count = rng.below(3) == 0 ? rng.between(2, 9) : 1;
    PodSet& set = sets.emplace_back(PodSet{request, count, random_constraints(rng), random_topology(rng, count)});
    set.parallel = random_parallelism(rng, set);
  }
  WorkloadShape shape{{sets}};
  const auto is_replica = [](const PodSet& set) { return set.request.is_replica(); };
  shape.terms.best_effort = std::ranges::any_of(sets, is_replica) || rng.below(8) == 0;
  shape.terms.replaces = rng.below(8) == 0;
  shape.terms.latency_critical = std::ranges::none_of(sets, is_replica) && rng.below(8) == 0;
  for (std::int64_t more = rng.below(4) == 0 ? rng.between(1, 2) : 0; more > 0; --more) {
    for (PodSet& set : sets) {
      if (set.request.gpus > 0 && !set.request.is_slice() && !set.request.is_vgpu())
        set.request.flavors = random_flavors(rng, flavors);
    }
    shape.ways.push_back(sets);
  }
  if (shape.terms.best_effort && rng.below(4) > 0) offer_extra(shape);
  add_replica_ways(shape);
  return shape;
}

// Whole GPUs of the first two flavors: what a quota gives of them. And slices of two profiles of the first.
inline AmountList random_amounts(Rng& rng, std::int64_t least, bool with_slices = true) {
  AmountList amounts;
  for (const std::size_t flavor : {0u, 1u}) {
    if (rng.below(2) == 0) {
      amounts.push_back({Dim(FlavorId(flavor), Resource::kGpu), rng.between(least, 8) * kMilliPerGpu});
    }
  }
  for (const char* const profile : {"1g.10gb", "3g.40gb"}) {
    if (!with_slices || rng.below(4) != 0) continue;
    const std::size_t shape = find_slice(random_world_flavor(FlavorId(0)), profile)->shape;
    amounts.push_back({Dim::of_slices(FlavorId(0), shape), rng.between(least, 4)});
  }
  return amounts;
}

// The same, or of all flavors together: what bounds.
inline AmountList random_bounds(Rng& rng, std::int64_t least) {
  AmountList amounts = random_amounts(rng, least);
  if (rng.below(3) == 0) amounts.insert(amounts.begin(), {kGpusOfAllFlavors, rng.between(least, 8) * kMilliPerGpu});
  return amounts;
}

inline std::vector<TypicalPod> random_typical_pods(Rng& rng, std::size_t flavors) {
  std::vector<TypicalPod> pods;
  for (std::int64_t left = rng.between(1, 12); left > 0; --left) {
    const PodRequest request = random_request(rng, flavors);
    pods.push_back({request.cpu_milli, request.gpus, request.gpu_milli, request.flavors, rng.between(1, 1000)});
  }
  return pods;
}

inline WorkloadSubmitted submission(QueueId queue, WorkloadShape shape, Duration declared_run = kRunNotDeclared) {
  return {.name = "job", .queue = queue, .at = Time{}, .declared_run = declared_run, .shape = std::move(shape)};
}

inline WorkloadShape single_pod(const PodRequest& request) { return {{{{request, 1}}}}; }

// A state without nodes: flavors and one queue of each given order, side by side.
inline State new_state(Seed seed, PlacementPolicy policy, std::size_t flavors, std::initializer_list<Order> orders) {
  State state;
  state.apply(RunConfigured{seed, policy});
  for (std::size_t i = 0; i < flavors; ++i) state.apply(FlavorAdded{random_world_flavor(FlavorId(i))});
  for (const Order order : orders) state.apply(QueueAdded{{.name = "queue", .parent = QueueId(), .order = order}});
  return state;
}

// Any place for a slice on a cut device, or any such slice that there is, found by trying all.
inline std::optional<PodPlacement> some_cut(const Ledger& ledger, NodeId id, const PodRequest& slice, Rng& rng) {
  const NodeFree& node = ledger.node(id);
  const MigPlaceSet fixed = ledger.fixed_slices(id);
  std::vector<PodPlacement> found;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const MigPlaceSet layout = ledger.layouts(id)[static_cast<std::size_t>(gpu)];
    for (std::size_t place = 0; place < node.geometry().places().size(); ++place) {
      const MigPlace& at = node.geometry().places()[place];
      if (at.shape != slice.slice || layout.contains(place) || !node.geometry().is_layout(layout.with(place))) continue;
      if (!fixed.empty() && !fixed.contains(place)) continue;
      const GpuCut* const cut = ledger.cut_of(id, static_cast<std::size_t>(gpu));
      if (cut != nullptr && (cut->rests || !cut->to_come.empty()) && !cut->slices.contains(place)) continue;
      GpuSet device;
      device.add(gpu);
      found.push_back({id, device, at.start});
    }
  }
  if (found.empty()) return std::nullopt;
  return found[static_cast<std::size_t>(rng.below(found.size()))];
}

// Those who have a GPU as vGPUs have all that is taken of it in parts of one size.
inline bool are_vgpus_of(const Ledger& ledger, NodeId id, std::size_t gpu, std::int32_t milli) {
  std::int64_t pods = 0;
  for (const Occupant& each : ledger.occupants(id, gpu)) pods += each.pods;
  return ledger.is_broken({id, static_cast<std::int32_t>(gpu)}) ||
         ledger.gpu_milli(id)[gpu] == kMilliPerGpu - pods * milli;
}

// To all who are on the GPU, and to all who left something there.
inline bool is_welcome(const Ledger& ledger, NodeId id, std::size_t gpu, const PodRequest& request) {
  const Trust& trust = ledger.trust();
  const SharerId sharer = request.sharer;
  const auto trusts_occupant = [&](const Occupant& there) { return trust.may_be_together(there.sharer, sharer); };
  const auto trusts_tenant = [&](QueueId tenant) { return trust.trust(tenant, trust[sharer].tenant); };
  const bool suits = request.is_vgpu() ? are_vgpus_of(ledger, id, gpu, request.gpu_milli)
                                       : std::ranges::all_of(ledger.occupants(id, gpu), trusts_occupant);
  return suits && std::ranges::all_of(ledger.residue(id, gpu), trusts_tenant);
}

// All who have GPUs there ask for the same mode, and the node may be of it.
inline bool suits_those_there(const Ledger& ledger, NodeId id, const PodRequest& request) {
  const bool idle = std::ranges::all_of(ledger.kinds(id), [](std::uint16_t pods) { return pods == 0; });
  return idle ? ledger.may_be(id, request.sharing) : ledger.node(id).sharing == request.sharing;
}

// What each zone has.
struct PlainZones {
  std::vector<std::int64_t> gpus, cpu_milli;  // when nothing runs
};

inline PlainZones plain_zones(const NodeFree& node, const NodeZones& zones) {
  PlainZones plain{std::vector<std::int64_t>(zones.zones, 0), std::vector<std::int64_t>(zones.zones, 0)};
  for (int gpu = 0; gpu < node.gpus; ++gpu) ++plain.gpus[static_cast<std::size_t>(gpu * zones.zones / node.gpus)];
  for (int zone = 0; zone < zones.zones; ++zone) {
    plain.cpu_milli[static_cast<std::size_t>(zone)] =
        zones.cpu_milli_in_all * (zone + 1) / zones.zones - zones.cpu_milli_in_all * zone / zones.zones;
  }
  return plain;
}

// The fewest zones of an idle node that have so many GPUs and CPUs together, found by trying all sets of them; none: not all have.
inline std::optional<int> fewest_zones(const PlainZones& zones, const PodRequest& request) {
  std::optional<int> fewest;
  for (std::uint32_t set = 1; set < std::uint32_t{1} << zones.gpus.size(); ++set) {
    std::int64_t gpus = 0;
    std::int64_t cpu_milli = 0;
    for (std::size_t zone = 0; zone < zones.gpus.size(); ++zone) {
      gpus += ((set >> zone) & 1) * zones.gpus[zone];
      cpu_milli += ((set >> zone) & 1) * zones.cpu_milli[zone];
    }
    const int size = std::popcount(set);
    if (gpus >= request.gpus && cpu_milli >= request.cpu_milli && (!fewest || size < *fewest)) fewest = size;
  }
  return fewest;
}

// Any of the usable GPUs that a strict kubelet lets a pod have, by trying all sets that are in as few zones as it could have; none:
// there are none, or it depends on which whether others fit, and so Berth does not send it there.
inline std::optional<GpuSet> some_gpus_in_zones(const Ledger& ledger, NodeId id, const PodRequest& request,
                                                std::vector<int> usable, Rng& rng) {
  const NodeFree& node = ledger.node(id);
  const NodeZones& zones = ledger.zones(id);
  const PlainZones plain = plain_zones(node, zones);
  const std::optional<int> fewest = fewest_zones(plain, request);
  if (!fewest) return std::nullopt;
  if (node.numa == NumaPolicy::kSingleNumaNode && *fewest > 1) return std::nullopt;
  rng.shuffle(std::span(usable));
  GpuSet gpus;
  const auto zone_of = [&](int gpu) { return static_cast<std::size_t>(gpu * zones.zones / node.gpus); };
  if (*fewest > 1) {
    if (std::ranges::max(plain.gpus) > 1 && *fewest < zones.zones) return std::nullopt;
    for (int i = 0; i < request.gpus; ++i) gpus.add(usable[static_cast<std::size_t>(i)]);
    return gpus;
  }
  std::vector<std::size_t> order(zones.zones);
  for (std::size_t zone = 0; zone < order.size(); ++zone) order[zone] = zone;
  rng.shuffle(std::span(order));
  for (const std::size_t zone : order) {
    gpus = {};
    for (const int gpu : usable) {
      if (zone_of(gpu) == zone && gpus.size() < request.gpus) gpus.add(gpu);
    }
    const bool has_cpus = request.cpu_milli == 0 || zones.cpu_milli[zone] >= request.cpu_milli;
    if (gpus.size() == request.gpus && has_cpus) return gpus;
  }
  return std::nullopt;
}

// Any devices that one pod could take on a node as it is, written down plainly: the reading of a request that filters,
// room and scores are compared with. None if the node cannot take it.
inline std::optional<PodPlacement> some_place(const Ledger& ledger, NodeId id, const PodRequest& request, Rng& rng) {
  const NodeFree& node = ledger.node(id);
  if (!node.open || node.pods < 1) return std::nullopt;
  // Best effort has what is left of the extra besides, each pod as much as the node has at most.
  if (request.cpu_milli > ledger.has(id).cpu_milli || request.memory_bytes > ledger.has(id).memory_bytes)
    return std::nullopt;
  const ExtraLeft extra = request.in_extra ? ledger.extra(id) : ExtraLeft();
  if (node.cpu_milli + std::max<std::int64_t>(0, extra.all.cpu_milli) < request.cpu_milli) return std::nullopt;
  if (node.memory_bytes + std::max<std::int64_t>(0, extra.all.memory_bytes) < request.memory_bytes) return std::nullopt;
  if (request.gpus == 0) {
    // All that pods without GPUs may have is what the node has beside what it keeps.
    const HostAmounts& rest = ledger.rest(id);
    const HostAmounts& beside = extra.without_gpus;
    const std::int64_t cpu_milli = rest.cpu_milli + std::max<std::int64_t>(0, beside.cpu_milli);
    const std::int64_t memory_bytes = rest.memory_bytes + std::max<std::int64_t>(0, beside.memory_bytes);
    if (request.cpu_milli > std::max<std::int64_t>(0, cpu_milli)) return std::nullopt;
    if (request.memory_bytes > std::max<std::int64_t>(0, memory_bytes)) return std::nullopt;
    return PodPlacement{id, {}};
  }
  if (node.gpus == 0 || !request.flavors.contains(FlavorId(node.flavor))) return std::nullopt;
  if (!suits_those_there(ledger, id, request)) return std::nullopt;
  if (request.is_slice()) return some_cut(ledger, id, request, rng);
  const std::int64_t device_mib = node.gpu_memory_mib;
  if (request.gpu_memory_mib > device_mib) return std::nullopt;
  std::int64_t share_mib = request.is_replica() ? 0 : device_mib;
  const std::int32_t milli = request.is_replica() ? kMilliPerGpu / node.replicas : request.gpu_milli;
  if (request.gpu_milli < kMilliPerGpu || request.is_mps()) {
    share_mib = request.gpu_memory_mib > 0 ? request.gpu_memory_mib : device_mib * request.gpu_milli / kMilliPerGpu;
  }
  std::vector<int> usable;
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    const bool welcome = !ledger.minds_others(request) || is_welcome(ledger, id, at, request);
    if (welcome && ledger.gpu_milli(id)[at] >= milli && ledger.gpu_memory_mib(id)[at] >= share_mib)
      usable.push_back(gpu);
  }
  if (static_cast<int>(usable.size()) < request.gpus) return std::nullopt;
  const bool strict = node.numa == NumaPolicy::kRestricted || node.numa == NumaPolicy::kSingleNumaNode;
  const bool whole = request.gpu_milli == kMilliPerGpu && request.sharing == Sharing::kExclusive;
  if (strict && whole) {
    const auto gpus = some_gpus_in_zones(ledger, id, request, usable, rng);
    return gpus ? std::optional(PodPlacement{id, *gpus}) : std::nullopt;
  }
  rng.shuffle(std::span(usable));
  GpuSet gpus;
  for (int i = 0; i < request.gpus; ++i) gpus.add(usable[static_cast<std::size_t>(i)]);
  return PodPlacement{id, gpus};
}

// Some of those who are there go for good, and leave something behind where others still are.
inline void let_some_go(Ledger& ledger, Rng& rng, std::vector<Move>& moves) {
  std::erase_if(moves, [&](const Move& move) {
    const bool goes = rng.below(4) == 0;
    if (goes) ledger.depart(inverse(move), Emptied::kIsToBeScrubbed);
    return goes;
  });
}

// Some GPUs that may be cut anew are being, or were a short while ago. PRE: nobody has room there yet.
inline void cut_some_anew(Ledger& ledger, Rng& rng) {
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    for (int gpu = 0; gpu < ledger.node(NodeId(i)).gpus; ++gpu) {
      const GpuCut* const cut = ledger.cut_of(NodeId(i), static_cast<std::size_t>(gpu));
      if (cut == nullptr || rng.below(2) == 0) continue;
      GpuCut next{.slices = random_fixed_slices(rng, ledger.node(NodeId(i)).geometry()), .to_come = {}};
      if (next.slices.empty()) continue;
      next.rests = rng.below(2) == 0;
      if (!next.rests) next.to_come = next.slices.minus(cut->slices);
      ledger.set_cut({NodeId(i), gpu}, next);
    }
  }
}

// Puts random pods on random nodes and closes some, without asking who they belong to; the moves that were made.
inline std::vector<Move> crowd(Ledger& ledger, Rng& rng, std::size_t flavors, std::int64_t tries) {
  std::vector<Move> moves;
  if (ledger.nodes() == 0) return moves;
  introduce_sharers(ledger);
  for (; tries > 0; --tries) {
    const NodeId node(static_cast<std::size_t>(rng.below(ledger.nodes())));
    if (rng.below(20) == 0) ledger.set_open(node, !ledger.node(node).open);
    const PodRequest request = somebodys_request(rng, flavors);
    const std::optional<PodPlacement> place = some_place(ledger, node, request, rng);
    if (!place) continue;
    moves.push_back(move_of(request, *place));
    ledger.apply(moves.back());
  }
  return moves;
}

// What follows when its pods fail or end; mostly they are replaced.
inline MemberAction random_action(Rng& rng) {
  return rng.below(2) == 0 ? MemberAction::kRestart
                           : static_cast<MemberAction>(rng.below(std::size(kMemberActionNames)));
}
inline FailurePolicy random_failure_policy(Rng& rng, std::size_t sets) {
  FailurePolicy policy{.sets = {}};
  for (std::size_t i = 0; i < sets; ++i) {
    MemberPolicy& set = policy.sets.emplace_back();
    set.on_fail = random_action(rng);
    set.on_evict = random_action(rng);
    if (rng.below(2) == 0) set.on_exit.push_back({1, random_action(rng)});
    if (rng.below(2) == 0) set.on_exit.push_back({2, random_action(rng)});
    set.completes = rng.below(4) == 0;
  }
  if (rng.below(2) == 0) policy.retries = static_cast<std::int32_t>(rng.between(0, 3));
  policy.retry_after = Duration{rng.between(0, 3) * 1000};
  if (rng.below(3) == 0) policy.never_ready = Duration{rng.between(1, 5) * 1000};
  return policy;
}

}  // namespace berth
