// One rule of a Role or ClusterRole, and what it says: which questions it allows, which other rules it contains.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/authorization.h"
#include "manifest/value.h"

namespace berth {

// As in rbac.authorization.k8s.io/v1: about resources or about paths.
struct PolicyRule {
  std::vector<std::string> verbs, groups, resources, names, paths;

  bool allows(const AccessQuestion& question) const;
  Value to_value() const;         // {"verbs": ..., "apiGroups": ...}
  std::string to_string() const;  // {"verbs":["get"],"apiGroups":[""],"resources":["pods"]}
};

std::vector<PolicyRule> rules_of_list(const Value& rules);

// How many single permissions (verb x group x resource x name) are taken apart at most when rules are compared.
inline constexpr std::size_t kPermissionsComparedMax = 100'000;

// Calls missing(rule) with each single permission in `wanted` that no rule of `held` contains, until it answers false.
// What would be more than kPermissionsComparedMax permissions is missing as a whole.
void find_missing(const std::vector<PolicyRule>& wanted, const std::vector<PolicyRule>& held,
                  const std::function<bool(const PolicyRule&)>& missing);

}  // namespace berth
