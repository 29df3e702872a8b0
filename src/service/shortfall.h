// How much room a workload that waits would find in each domain of the level that it asks for: the numbers behind the reasons
// Topology and Fragmented, by the code that decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

struct DomainShortfall {
  std::string name;
  std::int64_t pods_fit = 0;   // whole slices, where it asks for slices
  std::int64_t gpus_free = 0;  // wholly, on nodes where its pods may be

  friend bool operator==(const DomainShortfall&, const DomainShortfall&) = default;
};

struct Shortfall {
  std::string level;                     // a label of nodes
  bool together = false;                 // all its pods have to be in one domain
  std::int64_t pods = 0;                 // of the pod set that waits
  std::int64_t gpu_milli = 0;            // of each
  std::vector<DomainShortfall> domains;  // those with the most room first, and the first ten at most
  std::int64_t more_domains = 0;

  friend bool operator==(const Shortfall&, const Shortfall&) = default;
};

// Of the first of its pod sets that has no room, over all flavors in which it may run; of one that asks for no level node by node.
// None where each has room by itself, or is only to be spread.
std::optional<Shortfall> shortfall_of(const State& state, const Shape& shape);

}  // namespace berth
