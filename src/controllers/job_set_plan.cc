#include "controllers/job_set_plan.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/job_set_jobs.h"
#include "controllers/job_set_policies.h"
#include "controllers/queue_words.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

enum class Fate : unsigned char { kActive, kSucceeded, kFailed };

Fate fate_of(const Value& job) {
  if (condition_holds(job, "Complete")) return Fate::kSucceeded;
  return condition_holds(job, "Failed") ? Fate::kFailed : Fate::kActive;
}

bool is_ready(const Value& job) {
  const Value& status = job["status"];
  return status["succeeded"].integer() + status["ready"].integer() >= pods_at_once(job["spec"]);
}

// The Jobs of one part, counted.
struct PartCount {
  std::int64_t ready = 0, succeeded = 0, failed = 0, active = 0, suspended = 0;

  std::int64_t begun() const { return ready + succeeded + failed; }
};

class SetPlanner {
 public:
  explicit SetPlanner(const JobSetFacts& facts)
      : facts_(facts), set_(facts.set), spec_(set_["spec"]), parts_(spec_["replicatedJobs"].items()) {
    conditions_ = set_["status"]["conditions"].items();
    restarts_ = set_["status"]["restarts"].integer();
    counted_ = set_["status"]["restartsCountTowardsMax"].integer();
    sort_jobs();
  }

  JobSetPlan plan() {
    if (is_being_deleted(set_)) return {};
    const bool was_over = is_over();
    if (!was_over) {
      if (!failed_.empty()) {
        take_failure(judge_failed_jobs(set_, failed_));
      } else if (set_has_succeeded(set_, succeeded_)) {
        end(true, "AllJobsCompleted", "the JobSet has completed");
      } else {
        go_on();
      }
    }
    plan_.deletions = stale_;
    // Not before it is stored.
    if (was_over) end_what_runs();
    write_status();
    return std::move(plan_);
  }

 private:
  // ---- its Jobs --------------------------------------------------------------------------------------------------------

  // One that is being deleted is still there, and is not looked at any more.
  void sort_jobs() {
    for (const Value* const job : facts_.jobs) {
      names_.emplace((*job)["metadata"]["name"].text());
      if (is_being_deleted(*job)) {
        some_are_going_ = true;
      } else if (attempt_of(*job) != restarts_) {
        stale_.push_back(job);
      } else {
        take(job);
      }
    }
  }

  void take(const Value* job) {
    PartCount& count = counts_[part_of(*job)];
    switch (fate_of(*job)) {
      case Fate::kSucceeded:
        ++count.succeeded;
        return succeeded_.push_back(job);
      case Fate::kFailed:
        ++count.failed;
        return failed_.push_back(job);
      case Fate::kActive:
        break;
    }
    active_.emplace((*job)["metadata"]["name"].text(), job);
    if (is_ready(*job)) ++count.ready;
    if ((*job)["status"]["active"].integer() > 0) ++count.active;
    if ((*job)["spec"]["suspend"].truth()) ++count.suspended;
  }

  PartCount count_of(const Value& part) const {
    const auto found = counts_.find(part["name"].text());
    return found == counts_.end() ? PartCount() : found->second;
  }

  // ---- ends ------------------------------------------------------------------------------------------------------------

  bool is_over() const { return has("Completed") || has("Failed"); }

  void take_failure(const SetVerdict& verdict) {
    if (verdict.action == SetVerdict::Action::kFail) return end(false, verdict.reason, verdict.message);
    ++restarts_;
    if (verdict.action == SetVerdict::Action::kRestart) ++counted_;
    plan_.news.push_back({.warning = true, .reason = verdict.reason, .note = verdict.message});
  }

  void end(bool well, const std::string& reason, const std::string& message) {
    set_condition(well ? "Completed" : "Failed", true, reason, message);
    plan_.news.push_back({.warning = !well, .reason = reason, .note = message});
  }

  // Its Jobs that are over stay, for who reads their pods' logs.
  void end_what_runs() {
    for (const auto& [name, job] : active_) plan_.deletions.push_back(job);
    const Value& ttl = spec_["ttlSecondsAfterFinished"];
    if (ttl.is_null()) return;
    const Value& how = *condition(has("Completed") ? "Completed" : "Failed");
    const Time ended = parse_timestamp(how["lastTransitionTime"].text()).value_or(facts_.now);
    const Time until = ended + seconds(std::clamp<std::int64_t>(ttl.integer(), 0, kTimeMax.ms / 1000));
    if (until <= facts_.now) {
      plan_.delete_set = true;
    } else {
      plan_.look_again = until;
    }
  }

  // ---- going on --------------------------------------------------------------------------------------------------------

  void go_on() {
    if (spec_["suspend"].truth()) return suspend();
    if (has("Suspended")) {
      set_condition("Suspended", false, "ResumeJobs", "the JobSet is resumed");
      plan_.news.push_back({.warning = false, .reason = "ResumeJobs", .note = "the JobSet is resumed"});
    }
    const bool in_order = starts_in_order(set_);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!may_start(parts_[i])) continue;
      start(i);
      if (in_order && count_of(parts_[i]).begun() < replicas_of(parts_[i])) return tell_of_order(false);
    }
    if (in_order) tell_of_order(true);
  }

  bool may_start(const Value& part) const {
    return std::ranges::all_of(part["dependsOn"].items(), [&](const Value& dependency) {
      const auto earlier =
          std::ranges::find_if(parts_, [&](const Value& each) { return each["name"] == dependency["name"]; });
      if (earlier == parts_.end()) return false;
      const PartCount count = count_of(*earlier);
      return (dependency["status"].text() == "Complete" ? count.succeeded : count.begun()) >= replicas_of(*earlier);
    });
  }

  // Makes what is not there, and lets go what is suspended.
  void start(std::size_t part) {
    const Value words = words_of_jobs(set_, part);
    for (std::int64_t index = 0; index < replicas_of(parts_[part]); ++index) {
      const std::string name = job_name_of(set_, parts_[part], index);
      const auto found = active_.find(name);
      if (found == active_.end()) {
        create_if_free(part, index, name);
      } else if (const Value& job = *found->second; job["spec"]["suspend"].truth()) {
        const Value wanted = job_of_set(set_, part, index);
        auto change = resumption_of(job, wanted);
        if (!change) continue;
        const auto of_queue = queue_change(job["metadata"], wanted["metadata"]);
        if (of_queue) change->set("metadata", (*of_queue)["metadata"]);
        plan_.changes.push_back({.job = &job, .change = *std::move(change)});
      } else {
        follow_queue(job, words);
      }
    }
  }

  // Its Jobs name the queue that the set names now, and their pods follow them.
  void follow_queue(const Value& job, const Value& words) {
    auto change = queue_change(job["metadata"], words);
    if (change) plan_.changes.push_back({.job = &job, .change = *std::move(change)});
  }

  void create_if_free(std::size_t part, std::int64_t index, const std::string& name) {
    const bool waits_for_all = spec_["failurePolicy"]["restartStrategy"].text() == "BlockingRecreate";
    const bool waits = waits_for_all && (some_are_going_ || !stale_.empty());
    if (waits || names_.contains(name) || plan_.creations.size() >= facts_.creations_max) return;
    plan_.creations.push_back(job_of_set(set_, part, index));
  }

  // All Jobs are made, and none of them runs, whatever waits for what.
  void suspend() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (std::int64_t index = 0; index < replicas_of(parts_[i]); ++index) {
        create_if_free(i, index, job_name_of(set_, parts_[i], index));
      }
    }
    for (const auto& [name, job] : active_) {
      if ((*job)["spec"]["suspend"].truth()) continue;
      plan_.changes.push_back({.job = job, .change = Value::map_of({{"spec", Value::map_of({{"suspend", true}})}})});
    }
    if (has("Suspended")) return;
    set_condition("Suspended", true, "SuspendedJobs", "the JobSet is suspended");
    plan_.news.push_back({.warning = false, .reason = "SuspendedJobs", .note = "the JobSet is suspended"});
  }

  void tell_of_order(bool is_through) {
    const char* const now = is_through ? "StartupPolicyCompleted" : "StartupPolicyInProgress";
    const char* const before = is_through ? "StartupPolicyInProgress" : "StartupPolicyCompleted";
    if (has(before)) set_condition(before, false, before, "it is so no longer");
    if (has(now)) return;
    set_condition(now, true, now, is_through ? "all Jobs have started" : "Jobs start one sort after the other");
  }

  // ---- the status ------------------------------------------------------------------------------------------------------

  const Value* condition(std::string_view type) const {
    const auto found =
        std::ranges::find_if(conditions_, [&](const Value& each) { return each["type"].text() == type; });
    return found == conditions_.end() ? nullptr : &*found;
  }
  bool has(std::string_view type) const {
    const Value* const found = condition(type);
    return found != nullptr && (*found)["status"].text() == "True";
  }
  void set_condition(const char* type, bool truth, const std::string& reason, const std::string& message) {
    std::erase_if(conditions_, [&](const Value& each) { return each["type"].text() == type; });
    conditions_.push_back(Value::map_of({{"type", type},
                                         {"status", truth ? "True" : "False"},
                                         {"lastTransitionTime", format_timestamp(facts_.now)},
                                         {"reason", reason},
                                         {"message", message}}));
  }

  void write_status() {
    Value status = Value::map();
    if (!conditions_.empty()) status.set("conditions", Value(conditions_));
    status.set("restarts", restarts_);
    if (counted_ > 0) status.set("restartsCountTowardsMax", counted_);
    if (is_over()) status.set("terminalState", has("Completed") ? "Completed" : "Failed");
    Value& list = status.set("replicatedJobsStatus", Value::list());
    for (const Value& part : parts_) {
      const PartCount count = count_of(part);
      list.push_back(Value::map_of({{"name", part["name"]},
                                    {"ready", count.ready},
                                    {"succeeded", count.succeeded},
                                    {"failed", count.failed},
                                    {"active", count.active},
                                    {"suspended", count.suspended}}));
    }
    if (status == set_["status"]) return plan_.news.clear();
    plan_.status = std::move(status);
  }

  const JobSetFacts& facts_;
  const Value& set_;
  const Value& spec_;
  const Value::List& parts_;
  Value::List conditions_;
  std::int64_t restarts_ = 0, counted_ = 0;
  std::set<std::string, std::less<>> names_;              // of all its Jobs
  std::vector<const Value*> stale_, succeeded_, failed_;  // of the attempts before; of this one
  std::map<std::string_view, const Value*> active_;       // of this one, by name
  std::map<std::string_view, PartCount> counts_;          // by part
  bool some_are_going_ = false;
  JobSetPlan plan_;
};

}  // namespace

bool set_is_managed_elsewhere(const Value& set) {
  const std::string_view manager = set["spec"]["managedBy"].text();
  return !manager.empty() && manager != "jobset.sigs.k8s.io/jobset-controller";
}

JobSetPlan plan_job_set(const JobSetFacts& facts) {
  return set_is_managed_elsewhere(facts.set) ? JobSetPlan() : SetPlanner(facts).plan();
}

}  // namespace berth
