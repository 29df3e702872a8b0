// What is left of something after a while, if half of it is left after each half-life: exact integers, so that two machines
// never disagree.
#pragma once

#include <array>
#include <cstdint>

#include "base/assert.h"
#include "base/wide.h"

namespace berth {

// The whole, of which kept_after() gives a part.
inline constexpr int kWholeBits = 62;
inline constexpr std::int64_t kWhole = std::int64_t{1} << kWholeBits;

// 2^-(1/2), 2^-(1/4), 2^-(1/8), ..., as parts of kWhole, rounded down: each is the root of the one before.
constexpr std::array<std::int64_t, 32> make_half_life_roots() {
  std::array<std::int64_t, 32> roots{};
  std::int64_t before = kWhole / 2;
  for (std::int64_t& root : roots) {
    const Wide square = Wide{before} << kWholeBits;
    for (std::int64_t bit = kWhole / 2; bit > 0; bit /= 2) {
      if (Wide{root + bit} * (root + bit) <= square) root += bit;
    }
    before = root;
  }
  return roots;
}
inline constexpr std::array<std::int64_t, 32> kHalfLifeRoots = make_half_life_roots();

// 2^-(passed / half_life) as a part of kWhole, rounded down by less than 2^-56. PRE: passed >= 0, half_life > 0.
constexpr std::int64_t kept_after(std::int64_t passed, std::int64_t half_life) {
  BERTH_ASSERT(passed >= 0 && half_life > 0);
  const std::int64_t halvings = passed / half_life;
  if (halvings > kWholeBits) return 0;
  const auto fraction = static_cast<std::uint32_t>((Wide{passed % half_life} << 32) / half_life);
  std::int64_t kept = kWhole;
  for (std::size_t i = 0; i < kHalfLifeRoots.size(); ++i) {
    if ((fraction >> (31 - i) & 1) == 0) continue;
    kept = static_cast<std::int64_t>(Wide{kept} * kHalfLifeRoots[i] >> kWholeBits);
  }
  return kept >> halvings;
}

}  // namespace berth
