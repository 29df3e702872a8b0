#include "service/network_use.h"

#include <cstddef>
#include <map>
#include <utility>

#include "cycle/network_text.h"
#include "placement/parallel_pods.h"
#include "placement/uplink_loads.h"

namespace berth {
namespace {

// Of the level; empty: the node does not say it, and is a domain of its own.
std::string name_of_domain(const State& state, const Network& network, std::size_t level, std::uint32_t domain,
                           std::span<const NodeId> nodes) {
  for (const NodeId node : nodes) {
    if (network.domain(level, node) != domain) continue;
    const std::string* const value = find_label(state.node(node).labels, network.name(level));
    return value == nullptr ? "" : *value;
  }
  return "";
}

}  // namespace

std::optional<NetworkUse> network_use_of(const State& state, std::span<const WorkloadId> workloads) {
  if (state.topologies().network() == nullptr) return std::nullopt;
  const Network& network = *state.topologies().network();
  std::optional<NetworkUse> use;
  std::map<std::pair<std::size_t, std::string>, std::int64_t> used;
  for (const WorkloadId id : workloads) {
    for_each_parallel_set(state, id, [&](const NumberedPodSet& set, std::span<const NodeId> nodes) {
      if (!use) use.emplace();
      for_each_left(network, nodes, [&](std::size_t level, std::uint32_t domain, std::int64_t pods) {
        if (level == network.node_level()) return;
        std::string name = name_of_domain(state, network, level, domain, nodes);
        if (name.empty()) return;
        used[{level, std::move(name)}] += pods * state.request(set.request).gpus;
      });
    });
    if (use && use->cost.empty()) use->cost = network_text(state, id);
  }
  for (const auto& [domain, gpus] : used) {
    if (use->uplinks.size() < kUplinksTold) {
      use->uplinks.push_back({network.name(domain.first), domain.second, gpus});
    } else {
      ++use->more_uplinks;
    }
  }
  return use;
}

}  // namespace berth
