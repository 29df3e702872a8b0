// What a gang that says how its GPUs share a model costs the network where it runs, and which uplinks it uses: the numbers behind where it
// was placed, by the code that placed it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

// Of a domain in which some of its GPUs are and others are not.
struct UplinkUse {
  std::string level;  // a label of nodes
  std::string domain;
  std::int64_t gpus = 0;  // those inside

  friend bool operator==(const UplinkUse&, const UplinkUse&) = default;
};

struct NetworkUse {
  std::string cost;  // in words (cycle/network_text.h); empty: it is not whole
  std::vector<UplinkUse>
      uplinks;  // wider levels first; single nodes are left out, for whoever is on two uses all that theirs have
  std::int64_t more_uplinks = 0;  // beyond the first kUplinksTold

  friend bool operator==(const NetworkUse&, const NetworkUse&) = default;
};
inline constexpr std::size_t kUplinksTold = 100;

// Of those that it is, as the state has them. None: it says nothing of how it shares a model, or has no places.
std::optional<NetworkUse> network_use_of(const State& state, std::span<const WorkloadId> workloads);

}  // namespace berth
