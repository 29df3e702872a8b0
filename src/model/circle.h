// Tenants that trust each other: their work may be on one device where the hardware does not keep it apart.
#pragma once

#include <cstddef>
#include <vector>

#include "model/ids.h"

namespace berth {

// INVARIANT: not empty, ascending, each queue once.
using Circle = std::vector<QueueId>;

inline constexpr std::size_t kCirclesMax = 64;  // a bit each in what is known of a tenant

}  // namespace berth
