#include "cycle/more_nodes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "state/idle_room.h"

namespace berth {
namespace {

template <class Visit>
void for_each_set(const Shape& shape, Visit visit) {
  for (const auto& way : shape.ways) std::ranges::for_each(way, visit);
}

// Of all levels of which its pods speak.
std::vector<const Domains*> domains_of(const State& state, const Shape& shape) {
  std::vector<const Domains*> domains;
  const Neighbourhood& around = state.ledger().neighbourhood();
  const auto add = [&](const std::vector<Neighbourhood::CounterId>& counters) {
    for (const Neighbourhood::CounterId counter : counters) domains.push_back(&around.domains(counter));
  };
  for_each_set(shape, [&](const NumberedPodSet& set) {
    if (set.asks_for_domains()) domains.push_back(&state.topologies().domains(set.topology));
    const NeighboursId neighbours = state.request(set.request).neighbours;
    if (!around.refuses(neighbours)) return;
    const Neighbourhood::Kind& kind = around.kind(neighbours);
    add(kind.near);
    add(kind.apart);
    add(kind.spreads);
  });
  return domains;
}

bool may_be_on(const State& state, const Shape& shape, NodeId node) {
  bool may = false;
  for_each_set(shape, [&](const NumberedPodSet& set) {
    may = may || idle_room_on(state, state.request(set.request), node) > 0;
  });
  return may;
}

// Nodes in the same domains.
struct Group {
  NodeId first;
  std::int64_t free_milli = 0;
};

}  // namespace

std::vector<NodesOfType> nodes_to_add_like(const State& state, const Shape& shape) {
  const std::vector<const Domains*> domains = domains_of(state, shape);
  std::vector<NodesOfType> types;
  std::map<std::uint32_t, std::map<std::vector<DomainId>, Group>> groups;
  for (std::size_t i = 0; i < state.nodes(); ++i) {
    const NodeId node(i);
    const std::uint32_t type = state.node_types().of_node[i];
    if (std::ranges::find(types, type, &NodesOfType::type) == types.end()) types.push_back({type, {node}});
    if (!may_be_on(state, shape, node)) continue;
    std::vector<DomainId> key;
    for (const Domains* const each : domains) key.push_back(each->of(node));
    Group& group = groups[type].try_emplace(std::move(key), Group{node, 0}).first->second;
    group.free_milli += state.ledger().node(node).gpu_milli;
  }
  for (NodesOfType& each : types) {
    const auto found = groups.find(each.type);
    if (found == groups.end()) continue;
    std::vector<Group> of_type;
    for (const auto& [key, group] : found->second) of_type.push_back(group);
    std::ranges::sort(of_type, [](const Group& a, const Group& b) {
      return a.free_milli != b.free_milli ? a.free_milli > b.free_milli : a.first < b.first;
    });
    of_type.resize(std::min(of_type.size(), kLikeMax));
    each.like.clear();
    for (const Group& group : of_type) each.like.push_back(group.first);
  }
  return types;
}

}  // namespace berth
