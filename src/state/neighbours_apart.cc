#include "state/neighbours_apart.h"

#include <algorithm>

namespace berth {

bool depends_on(const Neighbourhood& around, NeighboursId pod, NeighboursId other) {
  if (pod == NeighboursId(0) || other == NeighboursId(0)) return false;
  const auto counts_the_other = [&](Neighbourhood::CounterId counter) {
    return std::ranges::binary_search(around.kind(other).counted_in, counter);
  };
  const Neighbourhood::Kind& own = around.kind(pod);
  return std::ranges::any_of(own.near, counts_the_other) || std::ranges::any_of(own.spreads, counts_the_other);
}

std::vector<NodeId> nodes_kept(const Neighbourhood& around, NeighboursId pod, NodeId node, NeighboursId other) {
  std::vector<NodeId> kept;
  if (pod == NeighboursId(0) || other == NeighboursId(0)) return kept;
  const Neighbourhood::Kind& own = around.kind(pod);
  for (const auto* const counters : {&own.apart, &own.ports}) {
    for (const Neighbourhood::CounterId counter : *counters) {
      const DomainId domain = around.domains(counter).of(node);
      if (domain.is_none() || !std::ranges::binary_search(around.kind(other).counted_in, counter)) continue;
      const auto nodes = around.domains(counter).nodes(domain);
      kept.insert(kept.end(), nodes.begin(), nodes.end());
    }
  }
  return kept;
}

bool is_kept_away(const Neighbourhood& around, NeighboursId pod, NodeId node) {
  if (pod == NeighboursId(0)) return false;
  const auto some_are_there = [&](Neighbourhood::CounterId counter) {
    const DomainId domain = around.domains(counter).of(node);
    return !domain.is_none() && around.there(counter, domain) > 0;
  };
  const Neighbourhood::Kind& own = around.kind(pod);
  return std::ranges::any_of(own.apart, some_are_there) || std::ranges::any_of(own.ports, some_are_there);
}

}  // namespace berth
