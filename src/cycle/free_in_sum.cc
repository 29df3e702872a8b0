#include "cycle/free_in_sum.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cycle/slices_free.h"

namespace berth {
namespace {

// All that is asked, or free, and what of it pods without GPUs ask, or may have.
struct Sums {
  FreeTotals all;
  HostAmounts rest;
  PodRequest like = {};  // of what is asked: one that may be in what is extra, if one may
};

bool suffices(const FreeTotals& free, const FreeTotals& asked) {
  return free.cpu_milli >= asked.cpu_milli && free.memory_bytes >= asked.memory_bytes &&
         free.gpu_milli >= asked.gpu_milli;
}

bool suffices(const Sums& free, const Sums& asked) {
  return suffices(free.all, asked.all) && free.rest.cpu_milli >= asked.rest.cpu_milli &&
         free.rest.memory_bytes >= asked.rest.memory_bytes;
}

// What the sets of a way may use.
struct Usable {
  FlavorSet gpu_flavors;                                  // of those that ask GPUs
  std::array<bool, std::size(kSharingNames)> modes = {};  // of nodes, that some of them ask
  bool without_gpus = false;                              // a set without GPUs may use the CPUs of all nodes

  bool gpus_of(const NodeFree& node) const {
    if (node.gpus == 0 || !node.has_flavor_of(gpu_flavors)) return false;
    for (std::size_t mode = 0; mode < modes.size(); ++mode) {
      if (modes[mode] && node.suits(static_cast<Sharing>(mode))) return true;
    }
    return false;
  }
};

// Whether those nodes have enough free where one of the sets may be at all.
bool is_free_where_allowed(const State& state, const std::vector<NumberedPodSet>& way, const Sums& asked,
                           const Usable& usable) {
  const Ledger& ledger = state.ledger();
  Sums free;
  for (std::size_t i = 0; i < ledger.nodes(); ++i) {
    const NodeFree& node = ledger.node(NodeId(i));
    const bool allowed = node.open && std::ranges::any_of(way, [&](const NumberedPodSet& set) {
                           return ledger.matches().allows(state.request(set.request).constraints, NodeId(i));
                         });
    if (!allowed) continue;
    const bool gpus_count = usable.gpus_of(node);
    if (gpus_count) free.all.gpu_milli += node.gpu_milli;
    if (!gpus_count && !usable.without_gpus) continue;
    const HostAmounts own = HostAmounts{node.cpu_milli, node.memory_bytes} + ledger.beyond(NodeId(i), asked.like);
    const HostAmounts rest = ledger.rest(NodeId(i)) + ledger.beyond_rest(NodeId(i), asked.like);
    const HostAmounts left{std::clamp<std::int64_t>(rest.cpu_milli, 0, own.cpu_milli),
                           std::clamp<std::int64_t>(rest.memory_bytes, 0, own.memory_bytes)};
    free.all.cpu_milli += gpus_count ? own.cpu_milli : left.cpu_milli;
    free.all.memory_bytes += gpus_count ? own.memory_bytes : left.memory_bytes;
    free.rest.cpu_milli += left.cpu_milli;
    free.rest.memory_bytes += left.memory_bytes;
    if (suffices(free, asked)) return true;
  }
  return suffices(free, asked);
}

FreeTotals free_anywhere(const State& state, const Usable& usable) {
  FreeTotals free = usable.without_gpus ? state.ledger().totals_without_gpus() : FreeTotals{};
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    const FreeTotals& totals = state.ledger().totals(FlavorId(flavor));
    const bool gpus_count = usable.gpu_flavors.contains(FlavorId(flavor));
    if (gpus_count) free.gpu_milli += totals.gpu_milli;
    if (!gpus_count && !usable.without_gpus) continue;
    free.cpu_milli += totals.cpu_milli;
    free.memory_bytes += totals.memory_bytes;
  }
  return free;
}

// For how many millionths of a pod the GPUs of a node have memory, rounded up; of whole ones it is theirs.
constexpr std::int64_t kPod = 1'000'000;
std::int64_t pods_by_gpu_memory(const Ledger& ledger, NodeId id, const PodRequest& request) {
  std::int64_t free = 0;
  for (const std::int16_t milli : ledger.gpu_milli(id)) free += milli;
  std::int64_t taken = request.gpu_milli_total();
  const std::int64_t memory = request.is_fraction() ? gpu_memory_taken(request, ledger.node(id).gpu_memory_mib) : 0;
  if (memory > 0) {
    free = 0;
    for (const std::int32_t mib : ledger.gpu_memory_mib(id)) free += mib;
    taken = memory;
  }
  return (free * kPod + taken - 1) / taken;
}

// Of parts of GPUs the memory may be in use where the rest is not.
bool gpu_memory_is_free_in_sum(const State& state, const std::vector<NumberedPodSet>& way) {
  const Ledger& ledger = state.ledger();
  return std::ranges::all_of(way, [&](const NumberedPodSet& set) {
    const PodRequest& request = state.request(set.request);
    if (request.is_slice() || (request.gpu_memory_mib == 0 && !request.is_fraction())) return true;
    std::int64_t pods = 0;
    for (std::size_t i = 0; i < ledger.nodes() && pods < set.count * kPod; ++i) {
      const NodeFree& node = ledger.node(NodeId(i));
      const bool usable = node.open && node.gpus > 0 && node.has_flavor_of(request.flavors) &&
                          node.gpu_memory_mib >= request.gpu_memory_mib &&
                          ledger.matches().allows(request.constraints, NodeId(i));
      if (usable) pods += pods_by_gpu_memory(ledger, NodeId(i), request);
    }
    return pods >= set.count * kPod;
  });
}

}  // namespace

bool is_free_in_sum(const State& state, const std::vector<NumberedPodSet>& way) {
  Sums asked;
  Usable usable;
  for (const NumberedPodSet& set : way) {
    const PodRequest& request = state.request(set.request);
    asked.all.cpu_milli += set.count * request.cpu_milli;
    asked.all.memory_bytes += set.count * request.memory_bytes;
    asked.all.gpu_milli += set.count * request.gpu_milli_total();
    if (request.gpus == 0) {
      asked.rest.cpu_milli += set.count * request.cpu_milli;
      asked.rest.memory_bytes += set.count * request.memory_bytes;
    }
    if (request.in_extra) asked.like = request;
    if (request.gpus > 0) usable.gpu_flavors = usable.gpu_flavors.united_with(request.flavors);
    (request.gpus == 0 ? usable.without_gpus : usable.modes[static_cast<std::size_t>(request.sharing)]) = true;
  }
  const bool one_mode = std::ranges::all_of(state.node_types().nodes.values(), [](const Node& type) {
    return type.sharing == Sharing::kExclusive && type.other_modes.empty();
  });
  // The sums are known; nodes are looked at one by one only where these do not say it.
  const bool kept = usable.without_gpus && state.node_types().keep_for_gpus;
  const bool extra = asked.like.in_extra && state.node_types().overcommit;
  return (extra || suffices(free_anywhere(state, usable), asked.all)) &&
         ((state.ledger().matches().allows_all() && one_mode && !kept && !extra) ||
          is_free_where_allowed(state, way, asked, usable)) &&
         slices_are_free_in_sum(state, way) && gpu_memory_is_free_in_sum(state, way);
}

}  // namespace berth
