// What runs puts on the links that lead out of the domains of the network. Derived when somebody asks, from who runs where with
// declared parallel sizes; nothing is kept.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"
#include "state/network.h"
#include "state/state.h"

namespace berth {

// Calls visit(level, domain, pods) for every domain, down to single nodes, in which some of the pods are and others are not; level by level,
// in the order of the domains' numbers.
template <class Visit>
void for_each_left(const Network& network, std::span<const NodeId> nodes, Visit visit) {
  std::vector<std::uint32_t> domains;
  for (std::size_t level = 1; level < network.levels(); ++level) {
    domains.clear();
    for (const NodeId node : nodes) domains.push_back(network.domain(level, node));
    std::sort(domains.begin(), domains.end());
    for (std::size_t first = 0, last = 0; first < domains.size(); first = last) {
      while (last < domains.size() && domains[last] == domains[first]) ++last;
      if (last - first < domains.size()) visit(level, domains[first], static_cast<std::int64_t>(last - first));
    }
  }
}

class UplinkLoads {
 public:
  // What others put on the uplinks that a gang would use: of that one which has most, and of all of them.
  struct Met {
    std::int64_t most_gpus = 0;
    std::int64_t sum_gpus = 0;

    friend auto operator<=>(const Met&, const Met&) = default;
  };

  // Nobody is there.
  UplinkLoads() = default;
  // Of all who have places by the last plan that was adopted: who starts in the same cycle is not among them.
  explicit UplinkLoads(const State& state);

  // GPUs in the domain whose gangs have others outside of it. PRE: not of the cluster, which nothing leaves.
  std::int64_t gpus(std::size_t level, std::uint32_t domain) const;
  // `nodes`: of its pods; a domain in which some of them are and others are not is left by it.
  Met met_by(const Network& network, std::span<const NodeId> nodes) const;

 private:
  std::vector<std::vector<std::int64_t>> gpus_;  // by level, by domain; empty: nobody is there
};

}  // namespace berth
