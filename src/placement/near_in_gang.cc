#include "placement/near_in_gang.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace berth {
namespace {

// Ascending.
std::vector<NodeId> in_the_domains_of(const std::vector<NodeId>& nodes, const Domains& level) {
  std::vector<DomainId> domains;
  for (const NodeId node : nodes) {
    if (!level.of(node).is_none()) domains.push_back(level.of(node));
  }
  std::ranges::sort(domains);
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  std::vector<NodeId> all;
  for (const DomainId domain : domains) {
    all.insert(all.end(), level.nodes(domain).begin(), level.nodes(domain).end());
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::vector<std::vector<NodeId>> places_beside_others(const State& state, const PodRequest& request) {
  const Neighbourhood& around = state.ledger().neighbourhood();
  if (request.neighbours == NeighboursId(0) || around.kind(request.neighbours).near.empty()) return {};
  std::map<std::vector<DomainId>, std::vector<NodeId>> by_domains;
  for (std::size_t node = 0; node < state.nodes(); ++node) {
    std::vector<DomainId> domains;
    for (const auto counter : around.kind(request.neighbours).near) {
      domains.push_back(around.domains(counter).of(NodeId(node)));
    }
    if (std::ranges::any_of(domains, &DomainId::is_none)) continue;
    by_domains[std::move(domains)].emplace_back(node);
  }
  std::vector<std::vector<NodeId>> places;
  for (auto& each : by_domains) places.push_back(std::move(each.second));
  return places;
}

std::optional<std::vector<NodeId>> nodes_beside(const State& state, const PodRequest& request, const PodRequest& other,
                                                const std::vector<NodeId>& nodes) {
  const Neighbourhood& around = state.ledger().neighbourhood();
  if (request.neighbours == NeighboursId(0) || other.neighbours == NeighboursId(0)) return std::nullopt;
  std::optional<std::vector<NodeId>> beside;
  for (const auto counter : around.kind(request.neighbours).near) {
    if (!std::ranges::binary_search(around.kind(other.neighbours).counted_in, counter)) continue;
    std::vector<NodeId> here = in_the_domains_of(nodes, around.domains(counter));
    if (beside) std::erase_if(here, [&](NodeId node) { return !std::ranges::binary_search(*beside, node); });
    beside = std::move(here);
  }
  return beside;
}

}  // namespace berth
