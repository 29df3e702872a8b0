// Nodes as the linter compares a policy with them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/node.h"
#include "policy/policy.h"

namespace berth {

// Equal machines, before it is known of which flavor they are.
struct SeenNodes {
  Node node;  // its flavor is open; so is its name where nobody says it
  std::string gpu_model;
  std::vector<std::pair<std::string, std::string>> labels;
  std::int64_t count = 1;
};

// Gives the policy its fleet. A node belongs to the first flavor of its GPU model, or, where a flavor names no model, whose
// labels it has. Nodes that belong to none are a finding.
void set_fleet(Policy& policy, std::vector<SeenNodes> seen);

}  // namespace berth
