// A policy for people and for programs: the tree as it was understood, and what is not followed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "manifest/value.h"
#include "policy/finding.h"
#include "policy/policy.h"

namespace berth {

// One row for each queue and amount: queue, flavor, resource, guarantee, pool, borrowing, lending, limit, weight, policies.
// Of a queue's later rows the cells that speak of the whole queue are empty.
struct PolicyTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};
PolicyTable table_of(const Policy& policy);

// "1 field is not followed:" and one line for each; empty if all is followed.
std::string not_followed_text(const Policy& policy);

// Everything, as one object.
Value value_of(const Policy& policy);
Value value_of(std::span<const PolicyFinding> findings);

}  // namespace berth
