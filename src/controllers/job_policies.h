// What a Job says about its pods' ends: which failure counts how (spec.podFailurePolicy), and when enough has succeeded
// (spec.successPolicy). Both as in Kubernetes' batch/v1; what the server accepted is taken to be well-formed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "controllers/number_set.h"
#include "manifest/value.h"

namespace berth {

enum class FailureAction : std::uint8_t { kCount, kIgnore, kFailIndex, kFailJob };

struct FailureVerdict {
  FailureAction action = FailureAction::kCount;
  std::string why;  // of kFailJob: which pod, what about it, which rule
};

// By the first rule that fits; a failure that fits none counts.
FailureVerdict judge_failure(const Value& job, const Value& pod);

// "Matched rules at index 0", if the indexes that are done are enough by a rule.
std::optional<std::string> met_success_rule(const Value& job, const NumberSet& done);

}  // namespace berth
