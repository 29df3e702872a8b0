// How values of the model stand in a journal, field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "journal/wire.h"
#include "model/event.h"
#include "model/plan.h"

namespace berth::wire {

// Every type's fields once, for writing and for reading: `io` is a Writer with a const value, or a Reader.
template <class Io>
constexpr bool kReads = std::is_same_v<Io, Reader>;

template <class Io, class Tag>
void fields(Io& io, Id<Tag>& id) {
  std::uint32_t value = id.value();
  io(value);
  id = Id<Tag>(value);
}

template <class Io, class Enum>
  requires std::is_enum_v<Enum>
void enumerator(Io& io, Enum& value, std::size_t size) {
  auto number = static_cast<std::uint32_t>(value);
  io(number);
  if constexpr (kReads<Io>) {
    if (number >= size) io.fail();
  }
  value = static_cast<Enum>(number);
}

template <class Io>
void fields(Io& io, Time& time) {
  io(time.ms);
}

template <class Io>
void fields(Io& io, Duration& duration) {
  io(duration.ms);
}

template <class Io>
void fields(Io& io, std::int64_t& number) {
  io(number);
}

template <class Io>
void fields(Io& io, std::int32_t& number) {
  io(number);
}

template <class Io>
void fields(Io& io, std::uint32_t& number) {
  io(number);
}

template <class Io, class Value>
void fields(Io& io, std::optional<Value>& value) {
  bool given = value.has_value();
  io(given);
  if constexpr (kReads<Io>) value = given ? std::optional<Value>(Value()) : std::nullopt;
  if (value) fields(io, *value);
}

template <class Io>
void fields(Io& io, FlavorSet& flavors) {
  std::uint64_t bits = flavors.bits();
  io(bits);
  flavors = FlavorSet::from_bits(bits);
}

template <class Io>
void fields(Io& io, GpuSet& gpus) {
  std::uint64_t bits = gpus.bits();
  io(bits);
  gpus = GpuSet::from_bits(bits);
}

template <class Io>
void fields(Io& io, SharingSet& modes) {
  std::uint8_t bits = modes.bits();
  io(bits);
  modes = SharingSet::from_bits(bits);
}

template <class Io>
void fields(Io& io, MigPlaceSet& places) {
  std::uint32_t bits = places.bits();
  io(bits);
  places = MigPlaceSet::from_bits(bits);
}

template <class Io, class Item>
void fields(Io& io, std::vector<Item>& items) {
  if constexpr (kReads<Io>) {
    const std::size_t count = io.count();
    items.clear();
    for (std::size_t i = 0; i < count && !io.failed(); ++i) fields(io, items.emplace_back());
  } else {
    io(std::uint64_t{items.size()});
    for (Item& item : items) fields(io, item);
  }
}

template <class Io>
void fields(Io& io, std::string& text) {
  io(text);
}

template <class Io>
void fields(Io& io, Label& label) {
  io(label.key);
  io(label.value);
}

template <class Io>
void fields(Io& io, Taint& taint) {
  io(taint.key);
  io(taint.value);
  enumerator(io, taint.effect, std::size(kTaintEffectNames));
}

template <class Io>
void fields(Io& io, LabelRequirement& asked) {
  io(asked.key);
  enumerator(io, asked.op, std::size(kLabelOperatorNames));
  fields(io, asked.values);
}

template <class Io>
void fields(Io& io, NodeSelectorTerm& term) {
  fields(io, term.labels);
  fields(io, term.fields);
}

template <class Io>
void fields(Io& io, Toleration& toleration) {
  io(toleration.key);
  io(toleration.any_value);
  io(toleration.value);
  io(toleration.any_effect);
  enumerator(io, toleration.effect, std::size(kTaintEffectNames));
}

template <class Io>
void fields(Io& io, PreferredTerm& preferred) {
  fields(io, preferred.term);
  io(preferred.weight);
}

template <class Io>
void fields(Io& io, NodeConstraints& constraints) {
  fields(io, constraints.select);
  fields(io, constraints.any_of);
  fields(io, constraints.tolerations);
  fields(io, constraints.preferred);
  fields(io, constraints.images);
}

template <class Io>
void fields(Io& io, PodTerm& term) {
  fields(io, term.pods.namespaces);
  fields(io, term.pods.labels);
  io(term.level);
}

template <class Io>
void fields(Io& io, PreferredPodTerm& preferred) {
  fields(io, preferred.term);
  io(preferred.weight);
}

template <class Io>
void fields(Io& io, PodSpread& spread) {
  fields(io, spread.term);
  io(spread.skew_max);
  io(spread.domains_min);
  io(spread.required);
  io(spread.heeds_selection);
  io(spread.heeds_taints);
}

template <class Io>
void fields(Io& io, HostPort& port) {
  io(port.port);
  enumerator(io, port.protocol, std::size(kProtocolNames));
  io(port.address);
}

template <class Io>
void fields(Io& io, Neighbours& neighbours) {
  io(neighbours.name_space);
  fields(io, neighbours.labels);
  fields(io, neighbours.near);
  fields(io, neighbours.apart);
  fields(io, neighbours.preferred);
  fields(io, neighbours.spreads);
  fields(io, neighbours.ports);
}

template <class Io>
void fields(Io& io, Topology& topology) {
  enumerator(io, topology.together, 3);
  io(topology.level);
  io(topology.slice_pods);
  io(topology.slice_level);
  enumerator(io, topology.spread, 4);
  io(topology.spread_level);
  enumerator(io, topology.on_nodes, kOnNodesCount);
}

template <class Io>
void fields(Io& io, Parallelism& parallel) {
  io(parallel.tensor);
  io(parallel.pipeline);
  io(parallel.data);
}

template <class Io>
void fields(Io& io, NodeImage& image) {
  io(image.name);
  io(image.bytes);
}

template <class Io>
void fields(Io& io, Node& node) {
  io(node.name);
  fields(io, node.flavor);
  io(node.gpus);
  io(node.gpu_memory_mib);
  io(node.cpu_milli);
  io(node.memory_bytes);
  io(node.pods_max);
  fields(io, node.labels);
  fields(io, node.taints);
  enumerator(io, node.sharing, std::size(kSharingNames));
  fields(io, node.other_modes);
  io(node.replicas);
  fields(io, node.fixed_slices);
  fields(io, node.recut);
  fields(io, node.layouts);
  io(node.kept_per_gpu.cpu_milli);
  io(node.kept_per_gpu.memory_bytes);
  io(node.extra.cpu_milli);
  io(node.extra.memory_bytes);
  io(node.numa_zones);
  enumerator(io, node.numa_policy, std::size(kNumaPolicyNames));
  io(node.links.pcie);
  io(node.links.nvlink);
  io(node.spare);
  fields(io, node.images);
}

template <class Io>
void fields(Io& io, TypicalPod& pod) {
  io(pod.cpu_milli);
  io(pod.gpus);
  io(pod.gpu_milli);
  fields(io, pod.flavors);
  io(pod.weight);
}

template <class Io>
void fields(Io& io, PodSet& set) {
  io(set.request.cpu_milli);
  io(set.request.memory_bytes);
  io(set.request.gpus);
  io(set.request.gpu_milli);
  io(set.request.gpu_memory_mib);
  fields(io, set.request.flavors);
  enumerator(io, set.request.sharing, std::size(kSharingNames));
  io(set.request.slice);
  io(set.request.in_extra);
  io(set.count);
  fields(io, set.constraints);
  fields(io, set.topology);
  fields(io, set.neighbours);
  fields(io, set.parallel);
  io(set.exclusive_level);
  io(set.exclusive_part);
}

template <class Io>
void fields(Io& io, PodPlacement& pod) {
  fields(io, pod.node);
  fields(io, pod.gpus);
  io(pod.slice_start);
}

template <class Io>
void fields(Io& io, Dim& dim) {
  std::uint64_t index = dim.index();
  io(index);
  if constexpr (kReads<Io>) {
    if (index >= Dim::count_max()) io.fail();
  }
  dim = Dim::at(static_cast<std::size_t>(index));
}

template <class Io>
void fields(Io& io, Amount& amount) {
  fields(io, amount.dim);
  io(amount.amount);
}

template <class Io>
void fields(Io& io, FloorCells& cells) {
  fields(io, cells.flavor);
  io(cells.level);
  io(cells.count);
}

template <class Io>
void fields(Io& io, Quota& quota) {
  fields(io, quota.guarantee);
  fields(io, quota.limit);
  fields(io, quota.borrowing_limit);
  fields(io, quota.lending_limit);
  fields(io, quota.user_limit);
  io(quota.weight_milli);
  enumerator(io, quota.fair_reclaim, std::size(kFairReclaimNames));
  enumerator(io, quota.preempt, std::size(kPreemptNames));
  fields(io, quota.reclaim_within);
  fields(io, quota.patience);
  fields(io, quota.min_runtime);
  fields(io, quota.cooldown);
  fields(io, quota.idle_after);
  enumerator(io, quota.users, std::size(kUserOrderNames));
  enumerator(io, quota.backfill, std::size(kBackfillNames));
  fields(io, quota.half_life);
  fields(io, quota.budget_gpu_us);
  enumerator(io, quota.budget_end, std::size(kBudgetEndNames));
  fields(io, quota.dedicated);
  fields(io, quota.cells);
  io(quota.loans_percent);
  io(quota.foresight);
  enumerator(io, quota.over_run, std::size(kOverRunNames));
  fields(io, quota.extend);
  io(quota.extensions);
}

template <class Io>
void fields(Io& io, Terms& terms) {
  io(terms.priority);
  io(terms.preempts);
  io(terms.guaranteed_only);
  io(terms.best_effort);
  io(terms.latency_critical);
  io(terms.movable);
  io(terms.resizes_live);
  io(terms.replaces);
  fields(io, terms.grace);
  io(terms.disruption_permille);
  fields(io, terms.run_limit);
  fields(io, terms.hours);
}

}  // namespace berth::wire
