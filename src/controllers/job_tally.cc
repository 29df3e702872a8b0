#include "controllers/job_tally.h"

#include <algorithm>
#include <cstddef>

#include "controllers/controller.h"
#include "controllers/job_policies.h"

namespace berth {
namespace {

constexpr Duration kPauseFirst = seconds(10);  // after a failed pod; doubles
constexpr Duration kPauseMax = seconds(360);
// Most uids in status.uncountedTerminatedPods; what has ended beyond them is counted after them.
constexpr std::size_t kUncountedMax = 500;

Duration pause_after(std::int64_t failures) {
  if (failures <= 0) return {0};
  return std::min(Duration{kPauseFirst.ms << std::min<std::int64_t>(failures - 1, 10)}, kPauseMax);
}

std::set<std::string> texts_in(const Value& list) {
  std::set<std::string> texts;
  for (const Value& each : list.items()) texts.emplace(each.text());
  return texts;
}

}  // namespace

JobTally::JobTally(const Value& job, const std::vector<const Value*>& pods)
    : job_(job),
      spec_(job["spec"]),
      indexed_(is_indexed(job)),
      per_index_(indexed_ && !spec_["backoffLimitPerIndex"].is_null()) {
  read_status();
  std::set<std::string> tracked;
  for (const Value* const pod : pods) {
    if (is_tracked(*pod)) tracked.emplace((*pod)["metadata"]["uid"].text());
  }
  // What was written down and has been released since is counted now.
  const auto count = [&](std::set<std::string>& stored, std::int64_t& into) {
    into += static_cast<std::int64_t>(std::erase_if(stored, [&](const auto& uid) { return !tracked.contains(uid); }));
  };
  count(stored_succeeded_, succeeded_);
  count(stored_failed_, failed_);
  succeeded_uids_ = stored_succeeded_;
  failed_uids_ = stored_failed_;
  for (const Value* const pod : pods) take(*pod);
}

void JobTally::read_status() {
  const Value& status = job_["status"];
  succeeded_ = std::max<std::int64_t>(0, status["succeeded"].integer());
  failed_ = std::max<std::int64_t>(0, status["failed"].integer());
  const Value& uncounted = status["uncountedTerminatedPods"];
  stored_succeeded_ = texts_in(uncounted["succeeded"]);
  stored_failed_ = texts_in(uncounted["failed"]);
  if (!indexed_) return;
  stored_done_ = NumberSet::parse(status["completedIndexes"].text());
  stored_failed_indexes_ = NumberSet::parse(status["failedIndexes"].text());
  // Fewer may be wanted than once were.
  const std::int64_t wanted = std::max<std::int64_t>(0, spec_["completions"].integer());
  stored_done_.erase_from(wanted);
  stored_failed_indexes_.erase_from(wanted);
  done = stored_done_;
  failed_indexes = stored_failed_indexes_;
}

bool JobTally::is_wanted(std::int64_t index) const { return index >= 0 && index < spec_["completions"].integer(); }

std::int64_t JobTally::successes() const {
  return indexed_ ? done.size() : succeeded_ + static_cast<std::int64_t>(succeeded_uids_.size());
}

// ---- one pod ---------------------------------------------------------------------------------------------------------

void JobTally::take(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  const bool over = is_past(pod);
  const bool deleted = is_being_deleted(pod);
  const std::string uid(pod["metadata"]["uid"].text());
  const bool counts_as_failed = stored_failed_.contains(uid);
  if (phase == "Succeeded") ++succeeded_there;
  if (!over && (deleted || counts_as_failed || !is_tracked(pod))) ++terminating;
  if (!is_tracked(pod)) {
    if (over) return note_end(pod);
    if (!deleted) deletions.push_back(&pod);
    return;
  }
  note_end(pod);
  // With the other policy it may still come to a good end.
  const bool waits_for_the_end = spec_["podReplacementPolicy"].text() == "Failed";
  const bool stopped = phase == "Running" && deleted && (over || !waits_for_the_end);
  if (phase == "Succeeded" && !counts_as_failed) {
    take_success(pod, uid);
  } else if (phase == "Failed" || stopped || counts_as_failed) {
    take_failure(pod, uid);
    if (counts_as_failed && !over && !deleted) deletions.push_back(&pod);
  } else if (deleted && phase != "Running") {
    // It had not begun.
    const std::int64_t index = completion_index(pod).value_or(-1);
    per_index_&& is_wanted(index) ? carry(pod, index, retries_in(pod)) : release(pod);
  } else if (!deleted) {
    active.push_back(
        {.pod = &pod, .index = indexed_ ? completion_index(pod).value_or(-1) : -1, .runs = phase == "Running"});
    if (per_index_) {
      std::int64_t& tries = tries_[active.back().index];
      tries = std::max(tries, retries_in(pod).sum());
    }
  }
}

void JobTally::take_success(const Value& pod, const std::string& uid) {
  if (!indexed_) {
    if (stored_succeeded_.contains(uid)) release(pod);
    succeeded_uids_.insert(uid);
    return;
  }
  const std::int64_t index = completion_index(pod).value_or(-1);
  if (!is_wanted(index) || stored_done_.contains(index) || failed_indexes.contains(index)) return release(pod);
  done.insert(index);
  awaits_index_ = true;
}

void JobTally::take_failure(const Value& pod, const std::string& uid) {
  const std::int64_t index = completion_index(pod).value_or(-1);
  if (indexed_ && !is_wanted(index) && !stored_failed_.contains(uid)) return release(pod);
  const FailureVerdict verdict = spec_["podFailurePolicy"].is_null() ? FailureVerdict() : judge_failure(job_, pod);
  if (verdict.action == FailureAction::kFailJob && fail_job.empty()) fail_job = verdict.why;
  const bool forgiven =
      verdict.action == FailureAction::kIgnore || (verdict.action == FailureAction::kCount && was_preempted(pod));
  const bool ignored = forgiven && !stored_failed_.contains(uid);
  if (!ignored) failed_uids_.insert(uid);
  const bool is_stored = ignored || stored_failed_.contains(uid);
  if (!per_index_ || !is_wanted(index)) {
    if (is_stored) release(pod);
    return;
  }
  PodRetries next = retries_in(pod);
  const bool too_often = next.failed >= spec_["backoffLimitPerIndex"].integer();
  if (!ignored && !done.contains(index) && (too_often || verdict.action == FailureAction::kFailIndex)) {
    failed_indexes.insert(index);
  }
  ++(ignored ? next.ignored : next.failed);
  std::int64_t& tries = tries_[index];
  tries = std::max(tries, next.sum() - 1);
  if (is_stored) {
    carry(pod, index, next);
  } else {
    carriers_[index].push_back({.pod = nullptr, .next = next, .ended = end_of(pod)});
  }
}

void JobTally::carry(const Value& pod, std::int64_t index, PodRetries next) {
  carriers_[index].push_back({.pod = &pod, .next = next, .ended = end_of(pod)});
}

// For the pause after failures: when pods failed, and when one last succeeded. What the Job gave up did not fail.
void JobTally::note_end(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  const bool deleted = is_being_deleted(pod);
  if (phase == "Succeeded") {
    last_success_ = std::max(last_success_, end_of(pod));
  } else if (was_preempted(pod)) {
    return;
  } else if (is_tracked(pod) ? phase == "Failed" || (deleted && phase == "Running") : phase == "Failed" && !deleted) {
    failure_ends_.push_back(end_of(pod));
  }
}

// ---- what the Job decides --------------------------------------------------------------------------------------------

void JobTally::fail_active() {
  for (const ActivePod& each : active) failed_uids_.emplace((*each.pod)["metadata"]["uid"].text());
  terminating += active_count();
  active.clear();
}

void JobTally::drop(const ActivePod& given_up) {
  release(*given_up.pod);
  ++terminating;
}

void JobTally::drop_active() {
  for (const ActivePod& each : active) drop(each);
  active.clear();
}

void JobTally::release_carriers(bool all) {
  for (const auto& [index, carriers] : carriers_) {
    const bool is_over_with = all || stored_failed_indexes_.contains(index) || stored_done_.contains(index);
    const auto tries = tries_.find(index);
    for (const Carrier& each : carriers) {
      const bool is_replaced = tries != tries_.end() && tries->second >= each.next.sum();
      if (each.pod != nullptr && (is_over_with || is_replaced)) release(*each.pod);
    }
  }
}

PodRetries JobTally::retries_of(std::int64_t index) const {
  PodRetries most;
  const auto found = carriers_.find(index);
  if (found == carriers_.end()) return most;
  for (const Carrier& each : found->second) {
    if (each.next.sum() >= most.sum()) most = each.next;
  }
  return most;
}

// After pods that failed one after the other: 10 s, 20 s, 40 s from the last one's end.
Time JobTally::end_of_pause(std::int64_t index) const {
  if (per_index_) {
    const auto found = carriers_.find(index);
    if (found == carriers_.end() || retries_of(index).sum() == 0) return Time{0};
    return std::ranges::max(found->second, {}, &Carrier::ended).ended + pause_after(retries_of(index).sum());
  }
  const std::int64_t in_a_row = std::ranges::count_if(failure_ends_, [&](Time at) { return at > last_success_; });
  return in_a_row == 0 ? Time{0} : std::ranges::max(failure_ends_) + pause_after(in_a_row);
}

// ---- the status ------------------------------------------------------------------------------------------------------

void JobTally::write(Value& status) const {
  const auto set_count = [&](const char* key, std::int64_t count) {
    if (count > 0) status.set(key, count);
  };
  set_count("active", active_count());
  set_count("succeeded", indexed_ ? done.size() : succeeded_);
  set_count("failed", failed_);
  status.set("ready",
             std::ranges::count_if(active, [](const ActivePod& each) { return condition_holds(*each.pod, "Ready"); }));
  status.set("terminating", terminating);
  if (!done.empty()) status.set("completedIndexes", done.to_string());
  if (per_index_) status.set("failedIndexes", failed_indexes.to_string());
  Value& uncounted = status.set("uncountedTerminatedPods", Value::map());
  std::size_t room = kUncountedMax - std::min(kUncountedMax, stored_succeeded_.size() + stored_failed_.size());
  const auto list = [&](const char* key, const std::set<std::string>& uids, const std::set<std::string>& stored) {
    for (const std::string& uid : uids) {
      if (!stored.contains(uid) && room == 0) continue;
      if (!stored.contains(uid)) --room;
      uncounted.at(key).push_back(uid);
    }
  };
  list("succeeded", succeeded_uids_, stored_succeeded_);
  list("failed", failed_uids_, stored_failed_);
}

}  // namespace berth
