#include "state/value_refusals.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace berth {
namespace {

FactRefusal refusal_of_constraints(const NodeConstraints& constraints) {
  const auto few = [](const auto& items) { return items.size() <= kConstraintsMax; };
  const auto few_values = [&](const std::vector<LabelRequirement>& asked) {
    return few(asked) && std::ranges::all_of(asked, [&](const LabelRequirement& each) { return few(each.values); });
  };
  const auto few_asked = [&](const NodeSelectorTerm& term) {
    return few_values(term.labels) && few_values(term.fields);
  };
  const bool all_few = few_values(constraints.select) && few(constraints.any_of) && few(constraints.tolerations) &&
                       few(constraints.preferred) && constraints.images.size() <= kConstraintsMax &&
                       std::ranges::all_of(constraints.any_of, few_asked) &&
                       std::ranges::all_of(constraints.preferred, few_asked, &PreferredTerm::term);
  const bool in_bounds = std::ranges::all_of(
      constraints.preferred, [](const PreferredTerm& each) { return within(each.weight, 1, kPreferenceWeightMax); });
  return first_of(
      [&] {
        return unless(all_few,
                      "a pod's constraints have at most 10,000 terms, requirements, values and tolerations each");
      },
      [&] { return unless(in_bounds, "a preferred term weighs 1 to 100"); });
}

FactRefusal refusal_of_topology(const PodSet& set) {
  const Topology& topology = set.topology;
  return first_of(
      [&] {
        return unless((topology.together == Togetherness::kAnywhere) == topology.level.empty(),
                      "a pod set that is placed together names the level");
      },
      [&] {
        return unless((topology.slice_pods == 0) == topology.slice_level.empty() && topology.slice_pods >= 0,
                      "the slices of a pod set have a size and a level");
      },
      [&] {
        return unless(topology.slice_pods == 0 || set.count % topology.slice_pods == 0,
                      "the pods of a set are whole slices");
      },
      [&] {
        return unless(topology.is_spread() != topology.spread_level.empty(),
                      "a pod set that is spread names the level");
      },
      [&] {
        const bool over_nodes = topology.spread != Spreading::kPreferred || topology.spread_level == kNodeLevel;
        if (!over_nodes) return FactRefusal("a pod set that is rather spread is spread over nodes");
        const bool of_nodes = !topology.has_slices() || topology.slice_level == kNodeLevel;
        return unless(!topology.is_spread() || (of_nodes && topology.together != Togetherness::kPreferred),
                      "a pod set that is spread prefers no domain, and its slices are of nodes");
      },
      [&] {
        const bool says_how = topology.on_nodes != OnNodes::kAnyhow;
        const bool over_more = topology.spread == Spreading::kEven && topology.spread_level != kNodeLevel;
        return unless(!says_how || over_more, "over nodes besides goes what is spread evenly over another level");
      });
}

FactRefusal refusal_of_parallelism(const PodSet& set) {
  const Parallelism& parallel = set.parallel;
  if (parallel == Parallelism()) return std::nullopt;
  const auto in_bounds = [](std::int64_t size) { return within(size, 1, kParallelMax); };
  return first_of(
      [&] {
        return unless(in_bounds(parallel.tensor) && in_bounds(parallel.pipeline) && in_bounds(parallel.data),
                      "parallel sizes are 1 to 1,048,576 each");
      },
      [&] {
        const bool whole =
            set.request.gpus > 0 && set.request.gpu_milli == kMilliPerGpu && set.request.sharing == Sharing::kExclusive;
        return unless(whole, "parallel sizes are of whole GPUs");
      },
      [&] {
        return unless(parallel.gpus() == set.count * set.request.gpus,
                      "the product of the parallel sizes is the number of the set's GPUs");
      },
      [&] {
        const std::int64_t of_pod = set.request.gpus;
        return unless(parallel.tensor % of_pod == 0 || of_pod % parallel.tensor == 0,
                      "a tensor group is whole pods, or a pod whole tensor groups");
      },
      [&] {
        return unless(!set.topology.has_slices() && !set.topology.is_spread() && set.neighbours.asks_nothing(),
                      "a pod set with parallel sizes has no slices, is not spread and asks nothing of the pods around");
      });
}

FactRefusal refusal_of_neighbours(const PodSet& set) {
  const Neighbours& asked = set.neighbours;
  const auto few = [](const auto& terms) { return terms.size() <= kPodTermsMax; };
  const auto is_for_pods = [](const LabelRequirement& each) {
    return each.op != LabelOperator::kGt && each.op != LabelOperator::kLt;
  };
  const auto is_rightly_put = [&](const PodTerm& term) {
    const bool in_order = std::ranges::is_sorted(term.pods.namespaces);
    return in_order && !term.level.empty() && term.pods.labels.size() <= kConstraintsMax &&
           std::ranges::all_of(term.pods.labels, is_for_pods);
  };
  const bool terms_hold = std::ranges::all_of(asked.near, is_rightly_put) &&
                          std::ranges::all_of(asked.apart, is_rightly_put) &&
                          std::ranges::all_of(asked.preferred, is_rightly_put, &PreferredPodTerm::term) &&
                          std::ranges::all_of(asked.spreads, is_rightly_put, &PodSpread::term);
  const bool weights_hold = std::ranges::all_of(asked.preferred, [](const PreferredPodTerm& each) {
    return each.weight != 0 && within(each.weight, -kPreferenceWeightMax, kPreferenceWeightMax);
  });
  const bool spreads_hold = std::ranges::all_of(asked.spreads, [](const PodSpread& each) {
    return within(each.skew_max, 1, kSkewMax) && within(each.domains_min, 1, kSkewMax);
  });
  const bool ports_hold =
      std::ranges::all_of(asked.ports, [](const HostPort& each) { return within(each.port, 1, kPortMax); });
  const bool all_few =
      few(asked.near) && few(asked.apart) && few(asked.preferred) && few(asked.spreads) && few(asked.ports);
  return first_of(
      [&] { return unless(all_few, "a pod has at most 64 terms on the pods around it, and ports, of each kind"); },
      [&] {
        return unless(terms_hold, "a term on pods names a level, namespaces in order, and labels by In or Exists");
      },
      [&] { return unless(weights_hold, "a preferred term on pods weighs 1 to 100, or -100 to -1"); },
      [&] { return unless(spreads_hold, "a spread constraint has a skew and domains of 1 to 1,000,000"); },
      [&] { return unless(ports_hold, "a port of a node is 1 to 65535"); },
      [&] { return unless(!asked.name_space.empty() || asked.labels.empty(), "a pod with labels has a namespace"); },
      [&] {
        const bool in_order =
            std::ranges::adjacent_find(asked.labels, std::ranges::greater_equal(), &Label::key) == asked.labels.end();
        return unless(in_order && asked.labels.size() <= kLabelsMax, "a pod's labels go by their keys, each once");
      },
      [&] {
        return unless(asked.asks_nothing() || set.topology.asks_nothing(),
                      "a pod set that is placed by a topology asks nothing of the pods around it");
      });
}

// The ways of a shape are the same pods in other flavors, and on GPUs or replicas of them.
bool same_but_flavors(const PodSets& a, const PodSets& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    PodRequest request = a[i].request;
    request.flavors = b[i].request.flavors;
    // What a slice is called and how much of a device it is goes by the model.
    if (request.is_slice() && b[i].request.is_slice()) {
      request.slice = b[i].request.slice;
      request.gpu_milli = b[i].request.gpu_milli;
    }
    if (request.is_vgpu() && b[i].request.is_vgpu()) request.gpu_milli = b[i].request.gpu_milli;
    // And how much of one so much memory is.
    if (request.gpus == 1 && request.gpu_memory_mib > 0) request.gpu_milli = b[i].request.gpu_milli;
    const auto takes_turns = [](const PodRequest& each) { return each.is_replica() || each.is_whole_gpu(); };
    if (takes_turns(request) && takes_turns(b[i].request)) request.sharing = b[i].request.sharing;
    if (request != b[i].request || a[i].count != b[i].count || a[i].constraints != b[i].constraints ||
        a[i].topology != b[i].topology || a[i].neighbours != b[i].neighbours || a[i].parallel != b[i].parallel ||
        a[i].exclusive_level != b[i].exclusive_level || a[i].exclusive_part != b[i].exclusive_part) {
      return false;
    }
  }
  return true;
}

bool is_shared_rightly(const PodRequest& request) {
  if (request.is_slice() != (request.slice != kNoSlice) || !request.sharer.is_none() || !request.exclusive.is_none()) {
    return false;
  }
  const bool one = request.gpus == 1;
  switch (request.sharing) {
    case Sharing::kExclusive:
      return true;
    case Sharing::kMig:
      return one && request.flavors != FlavorSet::all() && !request.flavors.empty() && request.gpu_memory_mib == 0;
    case Sharing::kMps:
      return one && request.gpu_milli >= kMpsMilliMin;
    case Sharing::kTimeslice:
      return one && request.gpu_milli == kMilliPerGpu && request.gpu_memory_mib == 0;
    case Sharing::kVgpu:
      return one && request.flavors != FlavorSet::all() && !request.flavors.empty() && request.gpu_memory_mib == 0;
  }
  return false;
}

}  // namespace

bool is_valid(const PodRequest& request, std::size_t flavors) {
  const bool any = request.flavors == FlavorSet::all();
  // Of none: what it asks is of no flavor that is there, and it waits for ever.
  const bool flavors_known = any || FlavorSet::first(flavors).contains_all(request.flavors);
  const bool gpus_fit = request.gpus == 0   ? any && request.gpu_milli == 0 && request.gpu_memory_mib == 0
                        : request.gpus == 1 ? within(request.gpu_milli, 1, kMilliPerGpu)
                                            : request.gpu_milli == kMilliPerGpu;
  const bool has_extra = !request.in_extra || request.cpu_milli > 0 || request.memory_bytes > 0;
  return flavors_known && gpus_fit && has_extra && is_shared_rightly(request) &&
         request.constraints == NodeConstraintsId(0) && request.neighbours == NeighboursId(0) &&
         within(request.gpus, 0, kGpusPerNodeMax) && within(request.gpu_memory_mib, 0, kGpuMemoryMibMax) &&
         within(request.cpu_milli, 0, kNodeCpuMilliMax) && within(request.memory_bytes, 0, kNodeMemoryBytesMax);
}

// Sorted, each once.
FactRefusal refusal_of_images(const std::vector<NodeImage>& images) {
  std::set<std::string_view> names;
  const bool in_bounds = std::ranges::all_of(images, [&](const NodeImage& each) {
    return within(each.bytes, 0, kImageBytesMax) && names.insert(each.name).second;
  });
  return unless(in_bounds && images.size() <= kImagesMax,
                "a node has at most 10,000 images, each name once, of a TiB at most");
}

FactRefusal refusal_of_labels(const Labels& labels, const std::vector<Taint>& taints) {
  if (labels.size() > kLabelsMax || taints.size() > kLabelsMax) return "a node has at most 10,000 labels and taints";
  const bool in_order = std::ranges::adjacent_find(labels, std::ranges::greater_equal(), &Label::key) == labels.end();
  return unless(in_order, "a node's labels go by their keys, each once");
}

FactRefusal refusal_of_terms(const Terms& terms) {
  return first_of(
      [&] { return unless(within(terms.priority, -kPriorityMax, kPriorityMax), "a priority is out of bounds"); },
      [&] { return unless(within(terms.grace.ms, 0, kTimeMax.ms), "a grace is out of bounds"); },
      [&] {
        return unless(!terms.run_limit || within(terms.run_limit->ms, 1, kTimeMax.ms), "a run limit is out of bounds");
      },
      [&] { return unless(within(terms.disruption_permille, 0, 1000), "a disruption budget is out of bounds"); });
}

FactRefusal refusal_of_shape(const WorkloadShape& shape, std::size_t flavors) {
  if (auto refusal = refusal_of_terms(shape.terms)) return refusal;
  if (shape.ways.empty()) return "a workload needs at least one way to run";
  for (const PodSets& way : shape.ways) {
    std::int64_t pods = 0;
    for (const PodSet& set : way) {
      if (!is_valid(set.request, flavors)) return "a pod's request is out of bounds";
      if (!within(set.count, 1, kPodsPerWorkloadMax)) return "a pod set has 1 to 1,000,000 pods";
      if (set.request.is_replica() && (!shape.terms.best_effort || shape.terms.latency_critical)) {
        return "replicas are for best effort that is not critical";
      }
      if (set.request.in_extra && !shape.terms.best_effort) {
        return "only best effort has what nodes promise beyond what they have";
      }
      if (auto refusal = refusal_of_constraints(set.constraints)) return refusal;
      if (auto refusal = refusal_of_topology(set)) return refusal;
      if (auto refusal = refusal_of_parallelism(set)) return refusal;
      if (auto refusal = refusal_of_neighbours(set)) return refusal;
      if (!set.exclusive_level.empty() && set.request.gpus == 0)
        return "a pod set that has domains for itself has GPUs";
      if (set.exclusive_level.empty() && !set.exclusive_part.empty())
        return "a part of a workload has domains for itself only where a level is named";
      pods += set.count;
    }
    if (!within(pods, 1, kPodsPerWorkloadMax)) return "a workload has 1 to 1,000,000 pods";
    if (!same_but_flavors(way, shape.ways.front())) return "the ways of a workload may differ in their flavors only";
  }
  return std::nullopt;
}

namespace {

// What is in turns counts for nothing, and what was cut beforehand stays: such a node is nothing else.
FactRefusal refusal_of_modes(const Node& node) {
  constexpr std::uint8_t kKnown = (1u << std::size(kSharingNames)) - 1;
  if (node.other_modes.empty()) return std::nullopt;
  return first_of(
      [&] { return unless(node.gpus > 0, "a node that shares GPUs has some"); },
      [&] {
        const bool known = (node.other_modes.bits() & ~kKnown) == 0 && !node.other_modes.contains(node.sharing);
        return unless(known, "the modes of a node are several different ones");
      },
      [&] { return unless(!node.may_be(Sharing::kTimeslice), "a time-sliced node is nothing else besides"); },
      [&] { return unless(node.fixed_slices.empty(), "a node that was cut beforehand is nothing else besides"); });
}

FactRefusal refusal_of_what_is_kept(const Node& node) {
  const HostAmounts& kept = node.kept_per_gpu;
  if (kept == HostAmounts()) return std::nullopt;
  if (node.gpus == 0) return "a node that keeps something for its GPUs has some";
  return unless(within(kept.cpu_milli, 0, node.cpu_milli / node.gpus) &&
                    within(kept.memory_bytes, 0, node.memory_bytes / node.gpus),
                "a node keeps no more for its GPUs than it has");
}

FactRefusal refusal_of_what_is_extra(const Node& node) {
  const HostAmounts& extra = node.extra;
  return unless(within(extra.cpu_milli, 0, (kOvercommitMax - 1) * node.cpu_milli) &&
                    within(extra.memory_bytes, 0, (kOvercommitMax - 1) * node.memory_bytes),
                "a node promises at most 10 times what it has");
}

FactRefusal refusal_of_zones(const Node& node) {
  return first_of([&] { return unless(within(node.numa_zones, 1, kNumaZonesMax), "a node has 1 to 8 NUMA zones"); },
                  [&] {
                    const bool counts =
                        node.gpus > 0 && node.sharing == Sharing::kExclusive && node.other_modes.empty();
                    return unless(node.numa_policy == NumaPolicy::kNone || counts,
                                  "a node with a NUMA policy has GPUs that are not shared");
                  });
}

FactRefusal refusal_of_links(const Node& node) {
  const auto in_bounds = [](std::int32_t size) { return within(size, 0, kGpusPerNodeMax); };
  const bool zones_count = node.numa_policy != NumaPolicy::kNone;
  return unless(in_bounds(node.links.pcie) && in_bounds(node.links.nvlink) &&
                    node.links.divide(node.gpus, zones_count ? node.numa_zones : 1),
                "the GPUs of a node, and of each of its zones, are whole groups of those that are near each other");
}

}  // namespace

FactRefusal refusal_of_node(const Node& node, std::size_t flavors) {
  return first_of(
      [&] { return unless(within(node.gpus, 0, kGpusPerNodeMax), "a node has 0 to 64 GPUs"); },
      [&] { return unless(node.flavor.is_none() == (node.gpus == 0), "a node with GPUs has a flavor, others none"); },
      [&] {
        return unless(node.gpus == 0 || node.flavor.index() < flavors, "a node names a flavor that there is not");
      },
      [&] { return unless(within(node.gpu_memory_mib, 0, kGpuMemoryMibMax), "a GPU's memory is out of bounds"); },
      [&] { return unless(within(node.cpu_milli, 0, kNodeCpuMilliMax), "a node has at most 50,000 cores"); },
      [&] { return unless(within(node.memory_bytes, 0, kNodeMemoryBytesMax), "a node has at most a PiB of memory"); },
      [&] { return unless(node.pods_max >= 0, "a node's pods cannot be negative"); },
      [&] { return unless(node.gpus > 0 || node.sharing == Sharing::kExclusive, "a node that shares GPUs has some"); },
      [&] {
        return unless(node.fixed_slices.empty() || node.sharing == Sharing::kMig,
                      "a node with slices has GPUs that are cut");
      },
      [&] {
        return unless(within(node.recut.ms, 0, kRecutMax.ms) && (node.recut.ms == 0 || !node.fixed_slices.empty()),
                      "only slices that were cut beforehand are cut anew, in an hour at most");
      },
      [&] {
        return unless(node.layouts.empty() || (node.recut.ms > 0 && node.layouts.size() <= kNodeLayoutsMax &&
                                               std::ranges::none_of(node.layouts, &MigPlaceSet::empty)),
                      "only slices that are cut anew have layouts, 16 at most, each of some slices");
      },
      [&] { return refusal_of_modes(node); },
      [&] {
        const bool in_turns = node.sharing == Sharing::kTimeslice;
        return unless(within(node.replicas, in_turns ? 2 : 1, in_turns ? kReplicasMax : 1),
                      "a time-sliced GPU counts as 2 to 32 replicas, any other as one");
      },
      [&] { return refusal_of_what_is_kept(node); }, [&] { return refusal_of_what_is_extra(node); },
      [&] { return refusal_of_zones(node); }, [&] { return refusal_of_links(node); },
      [&] { return refusal_of_labels(node.labels, node.taints); }, [&] { return refusal_of_images(node.images); });
}

}  // namespace berth
