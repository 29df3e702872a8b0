// What differs between two policies, as they are understood: queues that came, went, or have other amounts and policies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manifest/value.h"
#include "policy/policy.h"

namespace berth {

struct PolicyChange {
  enum class Kind : std::uint8_t { kAdded, kRemoved, kChanged } kind = Kind::kChanged;
  std::string what;           // "queue research", "cohort all", "flavor h100"
  std::string field;          // "guarantee h100"; empty: all of it
  std::string before, after;  // "-": not said

  // "queue research: guarantee h100: 24 -> 32", "queue speech is gone"
  std::string to_string() const;
  friend bool operator==(const PolicyChange&, const PolicyChange&) = default;
};

// By name, fields in the order in which `berth policy show -o json` has them. Where things stand in files does not count.
std::vector<PolicyChange> changes_between(const Policy& before, const Policy& after);

Value value_of(const std::vector<PolicyChange>& changes);

}  // namespace berth
