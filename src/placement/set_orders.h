// Orders of a gang's pod sets: all are looked at one after the other, and whoever finds no room beside those before it goes before
// them, and all are looked at anew: what a set that may go to many nodes has taken may be all that one has which may go to few (the
// idea of D. E. Joslin, D. P. Clements, "Squeaky wheel optimization", JAIR 10, 1999).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace berth {

// So many are tried for one gang.
inline constexpr std::size_t kSetOrdersMax = 8;

template <class Set>
void put_first(std::vector<Set>& order, std::size_t at) {
  const auto crowded_out = order.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(order.begin(), crowded_out, crowded_out + 1);
}

}  // namespace berth
