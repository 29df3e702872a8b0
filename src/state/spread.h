// How the pods of a set go over the domains over which they are spread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/topology.h"

namespace berth {

// How many pods each domain gets, where each has room for so many, the best first; nothing if that cannot be. What cannot be
// split evenly goes to the first ones.
std::optional<std::vector<std::int64_t>> spread_over(Spreading spread, std::span<const std::int64_t> rooms,
                                                     std::int64_t pods);

// The most that go over them, at most so many.
std::int64_t most_to_spread(Spreading spread, std::span<const std::int64_t> rooms, std::int64_t pods);

// Whether they do if any of `others` may be left out of account, as domains are on which no node takes work.
bool may_spread_over_some(Spreading spread, std::vector<std::int64_t> rooms, std::vector<std::int64_t> others,
                          std::int64_t pods);

}  // namespace berth
