#include "model/queue.h"

#include <algorithm>
#include <iterator>

namespace berth {

std::optional<Order> find_order(std::string_view name) {
  const auto* const found = std::find(std::begin(kOrderNames), std::end(kOrderNames), name);
  if (found == std::end(kOrderNames)) return std::nullopt;
  return static_cast<Order>(found - std::begin(kOrderNames));
}

}  // namespace berth
