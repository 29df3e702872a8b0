// Which nodes there might be more of, so that somebody starts.
#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace berth {

// Some of one type; one more is like one of them, in the same domains and with the same labels.
struct NodesOfType {
  std::uint32_t type = 0;
  std::vector<NodeId> like;  // at least one
};

// By type, in the order of the nodes. Of those that the shape may be on one for each of the domains in which it is to be near or apart, those first
// in which most is free already, and no more than kLikeMax; where it may be on none, the first.
inline constexpr std::size_t kLikeMax = 4;
std::vector<NodesOfType> nodes_to_add_like(const State& state, const Shape& shape);

}  // namespace berth
