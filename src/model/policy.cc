#include "model/policy.h"

#include <algorithm>
#include <iterator>

namespace berth {

std::optional<PlacementPolicy> find_placement_policy(std::string_view name) {
  const auto* const found = std::find(std::begin(kPlacementPolicyNames), std::end(kPlacementPolicyNames), name);
  if (found == std::end(kPlacementPolicyNames)) return std::nullopt;
  return static_cast<PlacementPolicy>(found - std::begin(kPlacementPolicyNames));
}

}  // namespace berth
