#include "sim/scenario_failures.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/wording.h"
#include "sim/scenario_pod_set.h"
#include "sim/scenario_values.h"

namespace berth::scenario {
namespace {

std::optional<MemberAction> take_action(ScenarioLine& line, std::string_view key) {
  const ScenarioWord* const word = line.take(key);
  if (word == nullptr) return std::nullopt;
  const auto found = line.choice(*word, kMemberActionNames, "is nothing that follows");
  return found ? std::optional(static_cast<MemberAction>(*found)) : std::nullopt;
}

// "3:abort,137:restart", ascending by the codes.
std::optional<std::vector<ExitRule>> take_exit_rules(ScenarioLine& line) {
  const ScenarioWord* const word = line.take("on_exit");
  if (word == nullptr) return std::nullopt;
  std::vector<ExitRule> rules;
  for (const std::string& part : line.list(*word)) {
    const std::size_t colon = part.find(':');
    const auto code = parse_integer(part.substr(0, colon), 1, kExitCodeMax);
    const std::string action = colon == std::string::npos ? "" : part.substr(colon + 1);
    const auto* const found = std::ranges::find(kMemberActionNames, action);
    if (!code || found == std::end(kMemberActionNames)) {
      line.complain(*word,
                    "on_exit: " + quote(part) +
                        " is no exit code with what follows from it; write 3:abort, a code from 1 to 255 and one of " +
                        listed_words(kMemberActionNames));
      continue;
    }
    const auto then = static_cast<MemberAction>(found - std::begin(kMemberActionNames));
    rules.push_back({static_cast<std::int32_t>(*code), then});
  }
  std::ranges::sort(rules, {}, &ExitRule::code);
  const auto twice = std::ranges::adjacent_find(rules, {}, &ExitRule::code);
  if (twice != rules.end()) line.complain(*word, "on_exit: " + std::to_string(twice->code) + " stands there twice");
  return rules;
}

}  // namespace

MemberWords take_member_words(ScenarioLine& line) {
  MemberWords words;
  words.on_fail = take_action(line, "on_fail");
  words.on_evict = take_action(line, "on_evict");
  words.on_exit = take_exit_rules(line);
  words.completes = takes_the_word(line, "on_end", "complete");
  return words;
}

RetryWords take_retry_words(ScenarioLine& line) {
  RetryWords words;
  if (const ScenarioWord* const word = line.take("retries")) {
    words.retries = static_cast<std::int32_t>(line.integer(word, 0, kRetriesMax, 0));
  }
  if (line.find("retry_after") != nullptr) words.retry_after = take_duration(line, "retry_after", kRetryAfter);
  words.never_ready = take_length_of_run(line, "never_ready");
  return words;
}

std::optional<FailurePolicy> failure_policy_of(const RetryWords& words, const std::vector<SetDraft>& sets) {
  const bool silent = std::ranges::all_of(sets, [](const SetDraft& set) { return set.members.say_nothing(); });
  if (silent && !words.retries && !words.retry_after && !words.never_ready) return std::nullopt;
  const MemberWords& of_all = sets.front().members;
  FailurePolicy policy{.sets = {},
                       .retries = words.retries,
                       .retry_after = words.retry_after.value_or(kRetryAfter),
                       .never_ready = words.never_ready};
  for (const SetDraft& set : sets) {
    const MemberWords& own = set.members;
    MemberPolicy& made = policy.sets.emplace_back();
    made.on_fail = own.on_fail.value_or(of_all.on_fail.value_or(MemberAction::kRestart));
    made.on_evict = own.on_evict.value_or(of_all.on_evict.value_or(MemberAction::kRestart));
    made.on_exit = own.on_exit.value_or(of_all.on_exit.value_or(std::vector<ExitRule>()));
    made.completes = own.completes;
  }
  return policy;
}

}  // namespace berth::scenario
