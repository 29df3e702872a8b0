// The rules of the linter that look at queues and their amounts; docs/policies.md has all of them.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "model/queue.h"
#include "policy/finding.h"
#include "policy/policy.h"

namespace berth {

// What is found of amounts as they are at some hours.
struct FoundAtHours {
  PolicyFinding finding;
  // Of what it is, whatever the hours: its rule, whose amount it is and which; or else of whom it speaks, and what it says.
  using Subject = std::tuple<std::string, std::string, std::string>;
  Subject subject;
  std::int64_t excess = 0;
};

// The rules that windows can change: of the queues as they are at some hours.
std::vector<FoundAtHours> look_at_amounts(const Policy& policy, std::vector<Queue> queues);

// All others.
std::vector<PolicyFinding> look_at_queues(const Policy& policy);

}  // namespace berth
