#include "controllers/job_set_policies.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/assert.h"
#include "controllers/job_set_jobs.h"
#include "manifest/job_set_labels.h"
#include "manifest/name_pattern.h"

namespace berth {
namespace {

bool lists(const Value& list, std::string_view text) {
  return std::ranges::any_of(list.items(), [&](const Value& each) { return each.text() == text; });
}
// An empty list means everything.
bool is_meant(const Value& list, std::string_view text) { return list.is_empty() || lists(list, text); }

const Value& failure_of(const Value& job) {
  static const Value kNone;
  for (const Value& each : job["status"]["conditions"].items()) {
    if (each["type"].text() == "Failed" && each["status"].text() == "True") return each;
  }
  return kNone;
}

bool matches_any(const Value& patterns, std::string_view message) {
  if (patterns.is_empty()) return true;
  return std::ranges::any_of(patterns.items(), [&](const Value& each) {
    const auto pattern = NamePattern::parse(each.text());
    return pattern && pattern->matches(message);
  });
}

bool applies(const Value& rule, const Value& job) {
  const Value& failure = failure_of(job);
  return is_meant(rule["targetReplicatedJobs"], part_of(job)) &&
         is_meant(rule["onJobFailureReasons"], failure["reason"].text()) &&
         matches_any(rule["onJobFailureMessagePatterns"], failure["message"].text());
}

// Who failed first: moments are as fine as seconds, so names break ties.
const Value& first_of(const std::vector<const Value*>& failed) {
  BERTH_ASSERT(!failed.empty());
  return **std::ranges::min_element(failed, {}, [](const Value* job) {
    return std::tuple(failure_of(*job)["lastTransitionTime"].text(), (*job)["metadata"]["name"].text());
  });
}

SetVerdict verdict_of(const Value& set, std::string_view action, const Value& job, const std::string& rule) {
  const std::string first = " (first failed job: " + std::string(job["metadata"]["name"].text()) + ")";
  if (action == "FailJobSet") {
    return {.action = SetVerdict::Action::kFail,
            .reason = "FailJobSetFailurePolicyAction",
            .message = rule + " fails the JobSet" + first};
  }
  if (action == "RestartJobSetAndIgnoreMaxRestarts") {
    return {.action = SetVerdict::Action::kRestartWithoutCounting,
            .reason = "RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction",
            .message = rule + " restarts the JobSet, which does not count" + first};
  }
  const std::int64_t counted = set["status"]["restartsCountTowardsMax"].integer();
  if (counted >= set["spec"]["failurePolicy"]["maxRestarts"].integer()) {
    return {.action = SetVerdict::Action::kFail,
            .reason = "ReachedMaxRestarts",
            .message = "the JobSet was restarted as often as it may be" + first};
  }
  return {.action = SetVerdict::Action::kRestart,
          .reason = "RestartJobSetFailurePolicyAction",
          .message = rule + " restarts the JobSet" + first};
}

}  // namespace

std::string_view part_of(const Value& job) { return job["metadata"]["labels"][kReplicatedJobLabel].text(); }

bool set_has_succeeded(const Value& set, const std::vector<const Value*>& succeeded) {
  const Value& policy = set["spec"]["successPolicy"];
  const Value& targets = policy["targetReplicatedJobs"];
  std::int64_t wanted = 0;
  for (const Value& part : set["spec"]["replicatedJobs"].items()) {
    if (is_meant(targets, part["name"].text())) wanted += replicas_of(part);
  }
  const std::int64_t found =
      std::ranges::count_if(succeeded, [&](const Value* job) { return is_meant(targets, part_of(*job)); });
  return policy["operator"].text() == "Any" ? found > 0 : found >= wanted;
}

SetVerdict judge_failed_jobs(const Value& set, const std::vector<const Value*>& failed) {
  const Value& policy = set["spec"]["failurePolicy"];
  const Value& first = first_of(failed);
  if (policy.is_null()) {
    return {.action = SetVerdict::Action::kFail,
            .reason = "FailedJobs",
            .message = "a Job has failed, and there is no failurePolicy (first failed job: " +
                       std::string(first["metadata"]["name"].text()) + ")"};
  }
  for (const Value& rule : policy["rules"].items()) {
    std::vector<const Value*> meant;
    std::ranges::copy_if(failed, std::back_inserter(meant), [&](const Value* job) { return applies(rule, *job); });
    if (meant.empty()) continue;
    return verdict_of(set, rule["action"].text(), first_of(meant), "rule " + std::string(rule["name"].text()));
  }
  return verdict_of(set, "RestartJobSet", first, "a failed Job");
}

}  // namespace berth
