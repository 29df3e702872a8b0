// What follows when a member of a workload fails, is lost with its node or has ended, and how often all of it is tried again
// (docs/semantics.md, rule 23).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace berth {

// Of several that follow from one fact the last of these.
enum class MemberAction : std::uint8_t {
  kRestart,      // another takes its place, and the others wait for it: repair
  kRestartGang,  // all stop, and start together again
  kComplete,     // all stop: what the workload was for is done
  kAbort,        // all stop: it has failed
};
inline constexpr std::string_view kMemberActionNames[] = {"restart", "restart-gang", "complete", "abort"};

// What follows from one exit code. INVARIANT: 1 <= code <= kExitCodeMax.
struct ExitRule {
  std::int32_t code = 1;
  MemberAction then = MemberAction::kRestart;

  friend bool operator==(const ExitRule&, const ExitRule&) = default;
};
inline constexpr std::int32_t kExitCodeMax = 255;

// Of the pods of one set. INVARIANT: `on_exit` ascends by its codes, each once.
struct MemberPolicy {
  MemberAction on_fail = MemberAction::kRestart;
  MemberAction on_evict = MemberAction::kRestart;  // its node failed under it
  std::vector<ExitRule> on_exit = {};              // these codes before `on_fail`
  bool completes = false;  // when all of them have ended by themselves the workload is done, whoever else is there

  MemberAction after_failure(std::int32_t exit_code) const {
    for (const ExitRule& rule : on_exit) {
      if (rule.code == exit_code) return rule.then;
    }
    return on_fail;
  }
  friend bool operator==(const MemberPolicy&, const MemberPolicy&) = default;
};

// How often a workload starts again, or has a member replaced, because one failed or they were not ready in time.
inline constexpr std::int32_t kRetriesMax = 1'000;
inline constexpr Duration kRetryAfter{10'000};

// INVARIANT: as many sets as the workload has; 0 <= retries <= kRetriesMax; retry_after >= 0; never_ready > 0.
struct FailurePolicy {
  std::vector<MemberPolicy> sets;
  std::optional<std::int32_t> retries = {};  // then it has failed; none: no end of it
  Duration retry_after = kRetryAfter;  // it waits for so long, and with each further failure in a row twice as long
  std::optional<Duration> never_ready = {};  // all its pods are ready so long after it began; else it stops

  friend bool operator==(const FailurePolicy&, const FailurePolicy&) = default;
};

// Why a workload is over that is not done, and that nobody cancelled.
enum class Failure : std::uint8_t {
  kNone,
  kMember,      // one of its members failed, or was lost, and that aborts it
  kRetries,     // members failed more often than it is tried again
  kNeverReady,  // they were not ready in time, more often than it is tried again
};

}  // namespace berth
