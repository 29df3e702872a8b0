#include "cycle/network_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "placement/network_cost.h"
#include "placement/network_search.h"
#include "placement/parallel_pods.h"
#include "state/idle_room.h"

namespace berth {
namespace {

// 4'249'000 -> "4.2"; rounded down, as the costs are.
std::string ms_text(std::int64_t ns) {
  return std::to_string(ns / 1'000'000) + "." + std::to_string(ns / 100'000 % 10);
}

// By the label that a level is, without what stands before its name.
std::string way_text(const Network& network, std::size_t level) {
  if (level == network.node_level()) return "inside nodes";
  const std::string& label = network.name(level);
  return "over " + label.substr(label.rfind('/') + 1);
}

struct WidestWays {
  std::size_t tensor, pipeline, data;
};

// GPUs are numbered by pod: tensor groups in a row, then the stages of a replica, then replicas.
WidestWays widest_ways(const Network& network, const Parallelism& parallel, std::int64_t gpus_of_pod,
                       std::span<const NodeId> nodes) {
  const auto node_of = [&](std::int64_t gpu) { return nodes[static_cast<std::size_t>(gpu / gpus_of_pod)]; };
  WidestWays ways{network.node_level(), network.node_level(), network.node_level()};
  const std::int64_t replica = parallel.tensor * parallel.pipeline;
  for (std::int64_t gpu = 0; gpu < parallel.gpus(); ++gpu) {
    // With the first of its tensor group, the same GPU of the stage before, and of the first replica.
    const auto widen = [&](std::size_t& way, std::int64_t other) {
      way = std::min(way, network.level_of_both(node_of(gpu), node_of(other)));
    };
    widen(ways.tensor, gpu - gpu % parallel.tensor);
    if (gpu % replica >= parallel.tensor) widen(ways.pipeline, gpu - parallel.tensor);
    widen(ways.data, gpu % replica);
  }
  return ways;
}

// Where it could be if nothing ran, in one domain if it has to be; a preferred level gives way as ever.
std::optional<NetworkCost> cheapest_when_idle(const State& state, const NumberedPodSet& set) {
  const PodRequest& request = state.request(set.request);
  const auto cheapest = [&](bool anywhere) -> std::optional<NetworkCost> {
    const Domains* const domains = anywhere ? nullptr : &state.topologies().domains(set.topology);
    std::vector<std::vector<NodeRoom>> lists(anywhere ? 1 : domains->size());
    for (std::size_t i = 0; i < state.nodes(); ++i) {
      const DomainId domain = anywhere ? DomainId(0) : domains->of(NodeId(i));
      const std::int64_t room = domain.is_none() ? 0 : idle_room_on(state, request, NodeId(i));
      if (room > 0) lists[domain.index()].push_back({.node = NodeId(i), .pods = room});
    }
    const auto found = cheapest_places(*state.topologies().network(), set.parallel, request.gpus, lists);
    return found ? std::optional(found->cost) : std::nullopt;
  };
  const Togetherness together = state.topologies()[set.topology].together;
  auto cost = cheapest(together == Togetherness::kAnywhere);
  if (!cost && together == Togetherness::kPreferred) cost = cheapest(true);
  return cost;
}

std::string text_of(const State& state, const NumberedPodSet& set, std::span<const NodeId> nodes) {
  const Network& network = *state.topologies().network();
  const std::int64_t gpus = state.request(set.request).gpus;
  const NetworkCost cost = network_cost(network, set.parallel, gpus, nodes);
  const WidestWays ways = widest_ways(network, set.parallel, gpus, nodes);
  const auto idle = cheapest_when_idle(state, set);
  struct Part {
    const char* name;
    bool is_there;
    const GroupCost& now;
    std::size_t way;
    std::int64_t idle_ns;
  };
  const Part parts[] = {
      {"tensor groups take ", set.parallel.tensor > 1, cost.tensor, ways.tensor, idle ? idle->tensor.slowest_ns : 0},
      {"stages ", set.parallel.pipeline > 1, cost.pipeline, ways.pipeline, idle ? idle->pipeline.slowest_ns : 0},
      {"replicas ", set.parallel.data > 1, cost.data, ways.data, idle ? idle->data.slowest_ns : 0},
  };
  std::string text, at_best;
  for (const Part& part : parts) {
    if (!part.is_there) continue;
    text += (text.empty() ? "for a GiB each, " : ", ") + std::string(part.name) + ms_text(part.now.slowest_ns) +
            " ms " + way_text(network, part.way);
    at_best += (at_best.empty() ? "" : ", ") + ms_text(part.idle_ns);
  }
  if (text.empty() || !idle) return text;
  return text + (*idle < cost ? "; on an idle fleet " + at_best + " ms" : "; no better on an idle fleet");
}

}  // namespace

std::string network_text(const State& state, WorkloadId id) {
  std::string text;
  for_each_parallel_set(state, id, [&](const NumberedPodSet& set, std::span<const NodeId> nodes) {
    if (text.empty() && std::ssize(nodes) == set.count) text = text_of(state, set, nodes);
  });
  return text;
}

}  // namespace berth
