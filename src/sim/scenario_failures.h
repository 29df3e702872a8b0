// What a `submit` or `group` line says of what follows when pods fail or end, and how these become a workload's failure policy.
#pragma once

#include <optional>
#include <vector>

#include "model/failure_policy.h"
#include "sim/scenario_line.h"

namespace berth::scenario {

struct SetDraft;

// Of the pods of one line. What is not given is as on the `submit` line, and where that is silent, too, others take their places.
struct MemberWords {
  std::optional<MemberAction> on_fail = {};
  std::optional<MemberAction> on_evict = {};
  std::optional<std::vector<ExitRule>> on_exit = {};
  bool completes = false;  // of this line's pods alone

  bool say_nothing() const { return !on_fail && !on_evict && !on_exit && !completes; }
};
MemberWords take_member_words(ScenarioLine& line);

// Of a `submit` line: of all of its pods.
struct RetryWords {
  std::optional<std::int32_t> retries = {};
  std::optional<Duration> retry_after = {};
  std::optional<Duration> never_ready = {};
};
RetryWords take_retry_words(ScenarioLine& line);

// Nothing where no line says anything.
std::optional<FailurePolicy> failure_policy_of(const RetryWords& words, const std::vector<SetDraft>& sets);

}  // namespace berth::scenario
