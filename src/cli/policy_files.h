// Policies as files on the command line: manifests and scenarios.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace berth {

// All objects of all files are one policy; each scenario is one by itself.
struct ReadPolicies {
  std::vector<Policy> policies;
  Complaints complaints;
};
ReadPolicies read_policies(const std::vector<std::string>& files);

// Findings of severity error, in words; whether there are any.
bool complain_about_errors(const Policy& policy);

}  // namespace berth
