#include "controllers/job_policies.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace berth {
namespace {

// "Container c for pod default/p failed with exit code 42", or nothing.
std::optional<std::string> exit_that_fits(const Value& rule, const Value& pod, const std::string& pod_name) {
  const bool wants_listed = rule["operator"].text() == "In";
  for (const char* const list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& status : pod["status"][list].items()) {
      const Value& wanted = rule["containerName"];
      if (!wanted.is_empty() && wanted != status["name"]) continue;
      const Value& ended = status["state"]["terminated"];
      const std::int64_t code = ended["exitCode"].integer();
      if (ended.is_null() || code == 0) continue;
      const bool listed =
          std::ranges::any_of(rule["values"].items(), [&](const Value& each) { return each.integer() == code; });
      if (listed != wants_listed) continue;
      return "Container " + std::string(status["name"].text()) + " for pod " + pod_name + " failed with exit code " +
             std::to_string(code);
    }
  }
  return std::nullopt;
}

std::optional<std::string> condition_that_fits(const Value& patterns, const Value& pod, const std::string& pod_name) {
  for (const Value& pattern : patterns.items()) {
    for (const Value& condition : pod["status"]["conditions"].items()) {
      if (condition["type"] == pattern["type"] && condition["status"].text() == pattern["status"].text("True")) {
        return "Pod " + pod_name + " has condition " + std::string(condition["type"].text());
      }
    }
  }
  return std::nullopt;
}

FailureAction action_named(std::string_view name) {
  if (name == "Ignore") return FailureAction::kIgnore;
  if (name == "FailIndex") return FailureAction::kFailIndex;
  if (name == "FailJob") return FailureAction::kFailJob;
  return FailureAction::kCount;
}

bool is_met(const Value& rule, const NumberSet& done) {
  const Value& count = rule["succeededCount"];
  if (rule["succeededIndexes"].is_null()) return done.size() >= count.integer();
  const NumberSet named = NumberSet::parse(rule["succeededIndexes"].text());
  return named.count_common(done) >= (count.is_null() ? named.size() : count.integer());
}

}  // namespace

FailureVerdict judge_failure(const Value& job, const Value& pod) {
  const Value& metadata = pod["metadata"];
  const std::string name = std::string(metadata["namespace"].text()) + "/" + std::string(metadata["name"].text());
  const Value::List& rules = job["spec"]["podFailurePolicy"]["rules"].items();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const Value& rule = rules[i];
    const Value& exits = rule["onExitCodes"];
    const auto what =
        exits.is_null() ? condition_that_fits(rule["onPodConditions"], pod, name) : exit_that_fits(exits, pod, name);
    if (!what) continue;
    const FailureAction action = action_named(rule["action"].text());
    return {action, *what + " matching " + std::string(rule["action"].text()) + " rule at index " + std::to_string(i)};
  }
  return {};
}

std::optional<std::string> met_success_rule(const Value& job, const NumberSet& done) {
  const Value::List& rules = job["spec"]["successPolicy"]["rules"].items();
  const auto met = std::ranges::find_if(rules, [&](const Value& rule) { return is_met(rule, done); });
  if (met == rules.end()) return std::nullopt;
  return "Matched rules at index " + std::to_string(met - rules.begin());
}

}  // namespace berth
