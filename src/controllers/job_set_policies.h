// What a JobSet says about its Jobs' ends: when it is complete (spec.successPolicy), what a failed Job brings about
// (spec.failurePolicy). What the server accepted is taken to be well-formed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"

namespace berth {

// The name of the replicatedJob whose Job it is.
std::string_view part_of(const Value& job);

// `succeeded`: its Jobs that are complete.
bool set_has_succeeded(const Value& set, const std::vector<const Value*>& succeeded);

struct SetVerdict {
  enum class Action : std::uint8_t { kFail, kRestart, kRestartWithoutCounting };
  Action action = Action::kFail;
  std::string reason;
  std::string message;  // with the Job whose failure it was
};
// `failed`: those that have failed, at least one.
SetVerdict judge_failed_jobs(const Value& set, const std::vector<const Value*>& failed);

}  // namespace berth
