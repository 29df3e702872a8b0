#include "cycle/kept_aside_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "cycle/explain.h"
#include "cycle/feasibility.h"
#include "model/quantity.h"

namespace berth {
namespace {

// "2 have not ended (prep, clean)"
std::string have_not(const std::vector<std::string>& names, std::int64_t others, const std::string& what) {
  constexpr std::int64_t kNamedMax = 3;
  std::string text = with_separators(others) + (others == 1 ? " has" : " have") + " not " + what;
  for (std::int64_t i = 0; i < std::min(std::ssize(names), kNamedMax); ++i) {
    text += (i == 0 ? " (" : ", ") + names[static_cast<std::size_t>(i)];
  }
  if (names.empty()) return text;
  return text + (others > kNamedMax ? " and " + with_separators(others - kNamedMax) + " more)" : ")");
}

std::string why_it_follows(const State& state, WorkloadId id) {
  if (state.followers().waits_in_vain(id)) {
    return "never: it was to start when another is done, which was cancelled, or ran as long as its limit allows, or "
           "can "
           "never be";
  }
  return awaited_text(state.followers().awaited_by(id));
}

std::string why_it_awaits_its_turn(const State& state, const Workload& workload) {
  const SeriesTurns::Series& series = state.series().all().at(workload.series);
  const auto turns = static_cast<std::int64_t>(series.turns);
  return "it takes turns with others, " + with_separators(series.at_most) + " at a time, of which " +
         with_separators(turns) + (turns == 1 ? " has" : " have") + " not ended";
}

// PRE: by its hours it may not start now.
std::string why_not_at_this_hour(const State& state, const Workload& workload) {
  const Terms& terms = state.shape(workload.shape).terms;
  const Time now = state.clock();
  const std::string limit = terms.run_limit ? format_duration_ms(terms.run_limit->ms) : "";
  if (never_in_its_hours(state, terms)) {
    return "never: its limit of " + limit + " is longer than its hours, and it is not stopped before";
  }
  const Time from = state.hours_from(terms, now);
  const std::string until =
      from == kForever ? ", which do not come again" : " for another " + format_duration_ms((from - now).ms);
  if (!terms.run_limit || state.hours_end(terms, now) <= now)
    return "it runs in its hours alone, and starts not" + until;
  return "its hours are over before its limit of " + limit + " would end it: it does not start" + until;
}

std::string what_failed(const Workload& workload) {
  return "one of its pods failed" +
         (workload.exit_code != 0 ? " with exit code " + std::to_string(workload.exit_code) : std::string());
}

// Of one with a failure policy.
std::string how_often_it_failed(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const FailurePolicy* const policy = state.failure_policy_of(id);
  const std::string what =
      workload.evicted_by == EvictionRule::kNeverReady ? "its pods were not all ready in time" : what_failed(workload);
  const bool is_bounded = policy != nullptr && policy->retries;
  return what + "; this is retry " + std::to_string(workload.retries) +
         (is_bounded ? " of " + std::to_string(*policy->retries) : "");
}

}  // namespace

std::string why_kept_aside(const State& state, WorkloadId id) {
  const Workload& workload = state.workload(id);
  const auto name = [&](QueueId at) { return "queue " + state.queues()[at.index()].name; };
  const QueueId held = state.held_at(workload.queue);
  if (!held.is_none()) return name(held) + " is held: nothing of it starts before it is released";
  if (workload.shut_out) {
    return name(state.closed_at(workload.queue)) +
           " was drained before this came: it waits until the queue is released";
  }
  if (workload.follows) return why_it_follows(state, id);
  if (workload.awaits_turn) return why_it_awaits_its_turn(state, workload);
  if (!workload.step_of.is_none()) {
    return "it is one pod more of an elastic workload: it comes when that runs, all who wait have had their turn and, "
           "if "
           "the others have to restart for it, that pays";
  }
  if (!workload.backs_off() && workload.not_before <= state.clock()) return why_not_at_this_hour(state, workload);
  const std::string left = format_duration_ms((workload.not_before - state.clock()).ms);
  if (workload.backs_off() && (workload.evicted_by != EvictionRule::kNode || workload.nodes_lost < kNodesLostMax)) {
    return how_often_it_failed(state, id) + ": it is tried again in " + left;
  }
  if (workload.backs_off()) {
    return "the last " + std::to_string(workload.nodes_lost) + " nodes on which it began failed within " +
           format_duration_ms(kNodeLostSoon.ms) + ": it may be the cause, and takes the next one in " + left +
           "; submitted anew it waits no longer, and is not known to have lost any";
  }
  return "it is not to start for another " + left;
}

std::string awaited_text(const std::vector<Dependency>& awaited, const std::vector<std::string>& names) {
  std::int64_t ends = 0;
  std::vector<std::string> who_ends;
  std::vector<std::string> who_begins;
  for (std::size_t i = 0; i < awaited.size(); ++i) {
    const bool begins = awaited[i].what == DependsOn::kBegin;
    if (!begins) ++ends;
    if (!names.empty()) (begins ? who_begins : who_ends).push_back(names[i]);
  }
  const std::int64_t begins = std::ssize(awaited) - ends;
  return "it is to start after others, of which " + (ends > 0 ? have_not(who_ends, ends, "ended") : "") +
         (ends > 0 && begins > 0 ? ", and " : "") + (begins > 0 ? have_not(who_begins, begins, "begun") : "");
}

std::string failure_text(const Workload& workload) {
  const std::string often =
      ", and it had been tried again " + std::to_string(workload.retries) + " times, as often as it may be";
  if (workload.failure == Failure::kNeverReady) return "its pods were not all ready in time" + often;
  if (workload.failure == Failure::kRetries) return what_failed(workload) + often;
  const std::string what =
      workload.exit_code != 0 ? what_failed(workload) : "one of its pods failed, or was lost with its node";
  return what + ", which ends all of it";
}

}  // namespace berth
