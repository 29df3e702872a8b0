// 128-bit integers, for products of 64-bit amounts: comparing shares, parsing quantities, summing a fleet.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace berth {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// The value if it fits into 64 bits.
constexpr std::optional<std::int64_t> narrow(Wide value) {
  if (value < std::numeric_limits<std::int64_t>::min() || value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace berth
