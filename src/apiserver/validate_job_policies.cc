// A Job's rules on how its pods end: podFailurePolicy, successPolicy, and limits for each index.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "apiserver/validation.h"

namespace berth {

namespace {

constexpr std::size_t kRulesMax = 20;
constexpr std::size_t kExitCodesMax = 255;
constexpr std::size_t kPatternsMax = 20;
constexpr std::size_t kIndexesTextMax = 64 * 1024;
constexpr std::int64_t kFailedIndexesMax = 100'000;

bool is_indexed_job(const Value& spec) { return spec["completionMode"].text() == "Indexed"; }

// Of something too large to be shown.
ErrorCause invalid_rule(std::string field, std::string_view why) {
  return {"FieldValueInvalid", "Invalid value: " + std::string(why), std::move(field)};
}

// ---- podFailurePolicy -----------------------------------------------------------------------------------------------

std::set<std::string_view> container_names(const Value& pod_spec) {
  std::set<std::string_view> names;
  for (const char* const list : {"initContainers", "containers"}) {
    for (const Value& each : pod_spec[list].items()) names.insert(each["name"].text());
  }
  return names;
}

void check_exit_values(const Value& rule, const std::string& path, Causes& causes) {
  const Value::List& values = rule["values"].items();
  if (values.empty()) return causes.push_back(invalid_value(path, rule["values"], "at least one value is required"));
  if (!check_count(values.size(), kExitCodesMax, path, causes)) return;
  bool ordered = true;
  std::set<std::int64_t> seen;
  std::int64_t before = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i].integer();
    if (rule["operator"].text() == "In" && value == 0) {
      causes.push_back(invalid_value(item_path(path, i), values[i], "must not be 0 for the In operator"));
    }
    if (!seen.insert(value).second) causes.push_back(duplicate_value(item_path(path, i), values[i]));
    ordered = ordered && value >= before;
    before = value;
  }
  if (!ordered) causes.push_back(invalid_value(path, rule["values"], "must be ordered"));
}

void check_exit_codes(const Value& rule, const Value& pod_spec, const std::string& path, Causes& causes) {
  if (rule["operator"].is_empty()) {
    causes.push_back(required_value(path + ".operator", R"(valid values: ["In" "NotIn"])"));
  }
  const Value& container = rule["containerName"];
  if (!container.is_null() && !container_names(pod_spec).contains(container.text())) {
    causes.push_back(invalid_value(path + ".containerName", container,
                                   "must be one of the container or initContainer names in the pod template"));
  }
  check_exit_values(rule, path + ".values", causes);
}

void check_patterns(const Value::List& patterns, const std::string& path, Causes& causes) {
  if (!check_count(patterns.size(), kPatternsMax, path, causes)) return;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const Value& type = patterns[i]["type"];
    if (is_qualified_name(type.text())) continue;
    causes.push_back(invalid_value(item_path(path, i) + ".type", type, "must be the name of a pod's condition"));
  }
}

void check_failure_rule(const Value& spec, const Value& rule, const std::string& path, Causes& causes) {
  const Value& action = rule["action"];
  if (action.is_empty()) {
    causes.push_back(required_value(path + ".action", R"(valid values: ["Count" "FailIndex" "FailJob" "Ignore"])"));
  } else if (action.text() == "FailIndex" && spec["backoffLimitPerIndex"].is_null()) {
    causes.push_back(invalid_value(path + ".action", action, "requires the backoffLimitPerIndex"));
  }
  const Value& exits = rule["onExitCodes"];
  const Value::List& patterns = rule["onPodConditions"].items();
  if (!exits.is_null()) check_exit_codes(exits, spec["template"]["spec"], path + ".onExitCodes", causes);
  check_patterns(patterns, path + ".onPodConditions", causes);
  if (exits.is_null() == patterns.empty()) {
    causes.push_back(invalid_rule(path, patterns.empty()
                                            ? "specifying one of OnExitCodes and OnPodConditions is required"
                                            : "specifying both OnExitCodes and OnPodConditions is not supported"));
  }
}

void check_failure_policy(const Value& spec, Causes& causes) {
  const Value& policy = spec["podFailurePolicy"];
  if (policy.is_null()) return;
  const Value& restarts = spec["template"]["spec"]["restartPolicy"];
  if (restarts.text() != "Never") {
    causes.push_back(invalid_value("spec.template.spec.restartPolicy", restarts,
                                   "only \"Never\" is supported when podFailurePolicy is specified"));
  }
  const Value& replacement = spec["podReplacementPolicy"];
  if (replacement.text() == "TerminatingOrFailed") {
    causes.push_back(unsupported_value("spec.podReplacementPolicy", replacement, {"Failed"}));
  }
  const Value::List& rules = policy["rules"].items();
  const std::string path = "spec.podFailurePolicy.rules";
  if (!check_count(rules.size(), kRulesMax, path, causes)) return;
  for (std::size_t i = 0; i < rules.size(); ++i) check_failure_rule(spec, rules[i], item_path(path, i), causes);
}

// ---- successPolicy --------------------------------------------------------------------------------------------------

// How many indexes "0-2,5" names, or what is wrong with it: they ascend and are below `end`.
std::expected<std::int64_t, std::string> count_indexes(std::string_view text, std::int64_t end) {
  std::int64_t count = 0;
  std::int64_t next = 0;
  const auto read = [&](std::string_view digits) -> std::expected<std::int64_t, std::string> {
    std::int64_t index = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || stop != digits.data() + digits.size() || index < 0) {
      return std::unexpected("cannot convert string to integer for index: \"" + std::string(digits) + "\"");
    }
    if (index >= end) return std::unexpected("too large index: \"" + std::string(digits) + "\"");
    if (index < next) return std::unexpected("non-increasing order, index: \"" + std::string(digits) + "\"");
    next = index + 1;
    return index;
  };
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const auto first = read(part.substr(0, dash));
    if (!first) return first;
    const auto last = dash == std::string_view::npos ? first : read(part.substr(dash + 1));
    if (!last) return last;
    count += *last - *first + 1;
    if (comma == std::string_view::npos) return count;
    text.remove_prefix(comma + 1);
  }
}

void check_success_rule(const Value& spec, const Value& rule, const std::string& path, Causes& causes) {
  const Value& indexes = rule["succeededIndexes"];
  const Value& count = rule["succeededCount"];
  const std::int64_t completions = spec["completions"].integer();
  if (indexes.is_null() && count.is_null()) {
    return causes.push_back(
        required_value(path, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  std::int64_t most = completions;
  std::string which = " (the number of specified completions)";
  if (indexes.text().size() > kIndexesTextMax) {
    causes.push_back({"FieldValueTooLong",
                      "Too long: may not be more than " + std::to_string(kIndexesTextMax) + " bytes",
                      path + ".succeededIndexes"});
  } else if (!indexes.is_null()) {
    const auto named = count_indexes(indexes.text(), completions);
    if (!named) {
      causes.push_back(
          invalid_value(path + ".succeededIndexes", indexes, "error parsing succeededIndexes: " + named.error()));
    } else {
      most = *named;
      which = " (the number of indexes in the specified succeededIndexes field)";
    }
  }
  if (count.is_null()) return;
  check_integer(count, 0, std::numeric_limits<std::int32_t>::max(), path + ".succeededCount", causes);
  if (count.integer() > most) {
    causes.push_back(invalid_value(path + ".succeededCount", count,
                                   "must be less than or equal to " + std::to_string(most) + which));
  }
}

void check_success_policy(const Value& spec, Causes& causes) {
  const Value& policy = spec["successPolicy"];
  if (policy.is_null()) return;
  if (!is_indexed_job(spec)) {
    return causes.push_back(invalid_rule("spec.successPolicy", "requires indexed completion mode"));
  }
  const Value::List& rules = policy["rules"].items();
  const std::string path = "spec.successPolicy.rules";
  if (rules.empty()) {
    causes.push_back(required_value(path, "at least one rules must be specified when the successPolicy is specified"));
  }
  if (!check_count(rules.size(), kRulesMax, path, causes)) return;
  for (std::size_t i = 0; i < rules.size(); ++i) check_success_rule(spec, rules[i], item_path(path, i), causes);
}

// ---- limits for each index ------------------------------------------------------------------------------------------

void check_index_limits(const Value& spec, Causes& causes) {
  const Value& per_index = spec["backoffLimitPerIndex"];
  const Value& most_failed = spec["maxFailedIndexes"];
  for (const char* const field : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    const Value& limit = spec[field];
    const std::string path = std::string("spec.") + field;
    if (limit.is_null()) continue;
    check_integer(limit, 0, std::numeric_limits<std::int32_t>::max(), path, causes);
    if (!is_indexed_job(spec)) causes.push_back(invalid_value(path, limit, "requires indexed completion mode"));
  }
  const Value& restarts = spec["template"]["spec"]["restartPolicy"];
  if (!per_index.is_null() && restarts.text() == "OnFailure") {
    causes.push_back(invalid_value("spec.template.spec.restartPolicy", restarts,
                                   "only \"Never\" is supported when backoffLimitPerIndex is specified"));
  }
  if (most_failed.is_null()) return;
  if (per_index.is_null()) {
    causes.push_back(required_value("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"));
  }
  if (!spec["completions"].is_null() && most_failed.integer() > spec["completions"].integer()) {
    causes.push_back(invalid_value("spec.maxFailedIndexes", most_failed, "must be less than or equal to completions"));
  }
  if (most_failed.integer() > kFailedIndexesMax) {
    causes.push_back(invalid_value("spec.maxFailedIndexes", most_failed,
                                   "must be less than or equal to " + std::to_string(kFailedIndexesMax)));
  }
}

}  // namespace

void check_job_policies(const Value& spec, Causes& causes) {
  check_failure_policy(spec, causes);
  check_success_policy(spec, causes);
  check_index_limits(spec, causes);
}

}  // namespace berth
