// The linter: what in a policy contradicts itself, cannot be kept, or hardly means what was meant. Pure: a policy goes in,
// findings come out. docs/policies.md has all its rules.
#pragma once

#include <vector>

#include "policy/finding.h"
#include "policy/policy.h"

namespace berth {

// What the readers found and what the rules find, the worst first, then by place. Where the policy says what nodes there
// are, amounts and workloads are compared with them.
std::vector<PolicyFinding> lint(const Policy& policy);

// The rules that look at workloads; a part of lint().
void lint_workloads(const Policy& policy, std::vector<PolicyFinding>& findings);

// What the nodes of the policy have together, by dimension. PRE: it says what nodes there are.
std::vector<std::int64_t> capacity_of(const Policy& policy);

}  // namespace berth
