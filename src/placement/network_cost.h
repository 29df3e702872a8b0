// What the communication of a gang costs in time, by which node each of its pods is on: in nanoseconds for a GiB that every group
// exchanges once. Exact integers, rounded down; a figure to compare places by, not a forecast of a step.
//
// With n GPUs of a group, S bytes, a link of B for each GPU in one direction, and a step of a:
//   send          S / B + a
//   ring          2 (n-1) / n * S / B_least + 2 (n-1) a
//   tree          2 S / B_least + 2 ceil(log2 n) a
//   hierarchical  from the nodes outwards: among the k parts of each domain that it is in, 2 (k-1) / k * (S / g) / B + 2 (k-1) a, where
//                 g GPUs are in the part with fewest, and as long as the slowest of the domains on each level
// The cheapest of the last three is what an all-reduce costs. Sources: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
// collective communication operations in MPICH" (2005), for ring and hierarchy (reduce-scatter and all-gather); P. Sanders, J. Speck,
// J. L. Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (2009), for the tree; which of them NCCL chooses.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>

#include "model/ids.h"
#include "model/topology.h"
#include "state/network.h"

namespace berth {

// Of all groups of one kind. The slowest decides how long a step takes; the sum, what others find on the links.
struct GroupCost {
  std::int64_t slowest_ns = 0;
  std::int64_t sum_ns = 0;

  void add(std::int64_t ns, std::int64_t groups) {
    slowest_ns = slowest_ns > ns ? slowest_ns : ns;
    sum_ns += ns * groups;
  }
  friend auto operator<=>(const GroupCost&, const GroupCost&) = default;
};

// How much stages send for a GiB of gradients that replicas reduce. In the largest example of D. Narayanan et al., "Efficient
// large-scale language model training on GPU clusters using Megatron-LM" (SC 2021), tensor groups reduce some twenty-five times
// as much: so nothing that the others save makes up for a tensor group that is torn.
inline constexpr std::int64_t kStageGib = 2;

// Compared by the tensor groups first; then by how long stages and replicas take together, and by what they put on the links.
struct NetworkCost {
  GroupCost tensor = {};
  GroupCost pipeline = {};
  GroupCost data = {};

  std::int64_t others_slowest_ns() const { return kStageGib * pipeline.slowest_ns + data.slowest_ns; }
  std::int64_t others_sum_ns() const { return kStageGib * pipeline.sum_ns + data.sum_ns; }
  friend std::strong_ordering operator<=>(const NetworkCost& a, const NetworkCost& b) {
    if (const auto order = a.tensor <=> b.tensor; order != 0) return order;
    if (const auto order = a.others_slowest_ns() <=> b.others_slowest_ns(); order != 0) return order;
    return a.others_sum_ns() <=> b.others_sum_ns();
  }
  friend bool operator==(const NetworkCost& a, const NetworkCost& b) { return (a <=> b) == 0; }
};

// `nodes`: of its pods in their order, each with so many GPUs. PRE: parallel sizes are declared, of all these GPUs; a tensor
// group is whole pods, or a pod whole tensor groups.
NetworkCost network_cost(const Network& network, const Parallelism& parallel, std::int64_t gpus_of_pod,
                         std::span<const NodeId> nodes);

// The parts of it, for those who show them. `gpus`: the node of each, in any order; more than none.
std::int64_t ring_ns(const Network& network, std::span<const NodeId> gpus);
std::int64_t tree_ns(const Network& network, std::span<const NodeId> gpus);
std::int64_t hierarchical_ns(const Network& network, std::span<const NodeId> gpus);
std::int64_t send_ns(const Network& network, NodeId from, NodeId to);

}  // namespace berth
