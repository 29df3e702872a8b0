#include "controllers/job_plan.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/job_policies.h"
#include "controllers/job_tally.h"
#include "controllers/number_set.h"
#include "controllers/queue_words.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

class Planner {
 public:
  explicit Planner(const JobFacts& facts)
      : facts_(facts), job_(facts.job), spec_(job_["spec"]), indexed_(is_indexed(job_)), tally_(job_, facts.pods) {
    conditions_ = job_["status"]["conditions"].items();
    start_ = job_["status"]["startTime"];
  }

  JobPlan plan() {
    if (has("Complete") || has("Failed")) {
      if (has("Complete")) note_missing(tally_.succeeded_there);
      plan_removal();
      return let_go(true);
    }
    if (is_being_deleted(job_)) return let_go(false);
    const bool decided = is_decided();
    if (!decided) judge();
    if (is_decided()) {
      finish(decided);
    } else {
      go_on();
    }
    tally_.release_carriers(decided);
    plan_.releases = std::move(tally_.releases);
    plan_.deletions = std::move(tally_.deletions);
    if (plan_.creations.empty()) {
      write_status();
    } else {
      plan_.news.clear();
    }
    return std::move(plan_);
  }

 private:
  bool is_decided() const { return has("SuccessCriteriaMet") || has("FailureTarget"); }

  // Nothing is counted any more: no pod is held back, and if the Job is over, none lives.
  JobPlan let_go(bool is_over) {
    for (const Value* const pod : facts_.pods) {
      const bool goes = has_ended(*pod) || is_being_deleted(*pod);
      if (is_tracked(*pod) && (goes || is_over)) plan_.releases.push_back(pod);
      if (!goes && is_over) plan_.deletions.push_back(pod);
    }
    return std::move(plan_);
  }

  // ---- the verdict -----------------------------------------------------------------------------------------------------

  // What fails the Job comes before what completes it.
  void judge() {
    if (!tally_.fail_job.empty()) return fail("PodFailurePolicy", tally_.fail_job);
    if (tally_.failures() > spec_["backoffLimit"].integer(6) || too_many_restarts()) {
      return fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    }
    const Value& deadline = spec_["activeDeadlineSeconds"];
    if (!deadline.is_null() && !start_.is_null() && !spec_["suspend"].truth()) {
      const Time until = moment_in(start_, facts_.now) + seconds_in(deadline);
      if (until <= facts_.now) return fail("DeadlineExceeded", "Job was active longer than specified deadline");
      look_at(until);
    }
    if (indexed_ && judge_indexes()) return;
    const Value& completions = spec_["completions"];
    const std::int64_t successes = tally_.successes();
    const bool enough =
        completions.is_null() ? successes > 0 && tally_.active.empty() : successes >= completions.integer();
    // A work queue that is suspended has no active pods, and is not done for that.
    if (enough && !(completions.is_null() && spec_["suspend"].truth())) {
      set_condition("SuccessCriteriaMet", true, "CompletionsReached", "Reached expected number of succeeded pods");
    }
  }

  // Whether the indexes decide it.
  bool judge_indexes() {
    const std::int64_t failed = tally_.failed_indexes.size();
    const Value& most = spec_["maxFailedIndexes"];
    if (!most.is_null() && failed > most.integer()) {
      fail("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
      return true;
    }
    if (failed > 0 && failed + tally_.successes() >= spec_["completions"].integer()) {
      fail("FailedIndexes", "Job has failed indexes");
      return true;
    }
    if (const auto rule = met_success_rule(job_, tally_.done)) {
      set_condition("SuccessCriteriaMet", true, "SuccessPolicy", *rule);
      return true;
    }
    return false;
  }

  bool too_many_restarts() const {
    if (spec_["template"]["spec"]["restartPolicy"].text() != "OnFailure") return false;
    std::int64_t restarts = 0;
    for (const ActivePod& each : tally_.active) restarts += restarts_of(*each.pod);
    const std::int64_t limit = spec_["backoffLimit"].integer(6);
    return limit == 0 ? restarts > 0 : restarts >= limit;
  }

  void fail(const char* reason, const std::string& message) {
    set_condition("FailureTarget", true, reason, message);
    plan_.news.push_back({.warning = true, .reason = reason, .note = message});
  }

  // It is decided how the Job ends: what lives is ended first, so that nothing of it runs once it has ended. `is_stored`:
  // the decision is; otherwise it is all that is written now.
  void finish(bool is_stored) {
    const bool well = has("SuccessCriteriaMet");
    if (!well) {
      tally_.fail_active();
    } else if (is_stored) {
      tally_.drop_active();
    }
    if (!is_stored || tally_.terminating > 0 || !tally_.is_settled()) return;
    const Value& cause = *condition(well ? "SuccessCriteriaMet" : "FailureTarget");
    const std::string reason(cause["reason"].text());
    const std::string message(cause["message"].text());
    set_condition(well ? "Complete" : "Failed", true, reason, message);
    if (!well) return;
    completion_ = format_timestamp(facts_.now);
    plan_.news.push_back({.warning = false, .reason = "Completed", .note = "Job completed"});
  }

  // ---- going on --------------------------------------------------------------------------------------------------------

  void go_on() {
    if (spec_["suspend"].truth()) return suspend();
    if (has("Suspended")) {
      set_condition("Suspended", false, "JobResumed", "Job resumed");
      plan_.news.push_back({.warning = false, .reason = "Resumed", .note = "Job resumed"});
    }
    if (start_.is_null()) {
      start_ = format_timestamp(facts_.now);
      if (const Value& deadline = spec_["activeDeadlineSeconds"]; !deadline.is_null()) {
        look_at(facts_.now + seconds_in(deadline));
      }
    }
    drop_misplaced();
    const std::int64_t parallelism = spec_["parallelism"].integer(1);
    const Value& completions = spec_["completions"];
    const std::int64_t active = tally_.active_count();
    const std::int64_t over = tally_.successes() + tally_.failed_indexes.size();
    std::int64_t wanted = std::min(parallelism, completions.integer() - over);
    // A work queue of which one pod is done is no more refilled.
    if (completions.is_null()) wanted = over > 0 ? std::min(active, parallelism) : parallelism;
    wanted = std::max<std::int64_t>(0, wanted);
    if (active > wanted) drop_last(active - wanted);
    note_missing(wanted + tally_.succeeded_there);
    group_size_ = group_size(job_, plan_.group_missing + facts_.group_missing_elsewhere);
    renew_those_of_larger_groups();
    follow_queue();
    const bool waits_for_the_end = spec_["podReplacementPolicy"].text() == "Failed";
    const std::int64_t missing = wanted - tally_.active_count() - (waits_for_the_end ? tally_.terminating : 0);
    if (missing > 0) create(missing);
  }

  // `there`: its pods that are yet to succeed, or have and are there still.
  void note_missing(std::int64_t there) {
    const std::int64_t pods = pods_at_once(spec_);
    plan_.group_missing = pods - std::clamp<std::int64_t>(there, 0, pods);
  }

  // Others of the gang have succeeded and are gone, or the Job was made smaller: who waits to start with them would wait
  // for ever, and a pod's group size does not change.
  void renew_those_of_larger_groups() {
    for (const ActivePod& each : tally_.active) {
      const bool waits = (*each.pod)["spec"]["nodeName"].is_empty();
      if (waits && group_size_in(*each.pod) > group_size_) plan_.renewals.push_back(each.pod);
    }
  }

  // Those who wait go to the queue that the Job names now. Where one has a node it is the other way round: the others come after
  // it, whatever the Job says, which the server lets nobody change then.
  void follow_queue() {
    const auto placed = std::ranges::find_if(
        tally_.active, [](const ActivePod& each) { return !(*each.pod)["spec"]["nodeName"].is_empty(); });
    if (placed != tally_.active.end()) {
      placed_ = placed->pod;
      return;
    }
    if (!plan_.renewals.empty()) return;
    const Value wanted = words_of_pods(job_);
    for (const ActivePod& each : tally_.active) {
      auto change = queue_change((*each.pod)["metadata"], wanted);
      if (change) plan_.changes.push_back({.pod = each.pod, .change = *std::move(change)});
    }
  }

  void suspend() {
    tally_.drop_active();
    start_ = Value();
    if (has("Suspended")) return;
    set_condition("Suspended", true, "JobSuspended", "Job suspended");
    plan_.news.push_back({.warning = false, .reason = "Suspended", .note = "Job suspended"});
  }

  // Gives up those that are least far: that have not begun, then the youngest.
  void drop_last(std::int64_t count) {
    const auto rank = [](const ActivePod& each) {
      const Value& metadata = (*each.pod)["metadata"];
      return std::tuple(!each.runs, metadata["creationTimestamp"].text(), metadata["name"].text());
    };
    std::ranges::sort(tally_.active, {}, rank);
    for (; count > 0; --count) {
      tally_.drop(tally_.active.back());
      tally_.active.pop_back();
    }
  }

  // Of an Indexed Job: pods of an index that is done, has failed or is not wanted any more, or that another pod has too.
  void drop_misplaced() {
    if (!indexed_) return;
    std::ranges::sort(tally_.active, {}, [](const ActivePod& each) { return (*each.pod)["metadata"]["name"].text(); });
    NumberSet taken;
    std::erase_if(tally_.active, [&](const ActivePod& each) {
      const bool misplaced = each.index < 0 || each.index >= spec_["completions"].integer() ||
                             tally_.done.contains(each.index) || tally_.failed_indexes.contains(each.index) ||
                             taken.contains(each.index);
      if (misplaced) {
        tally_.drop(each);
      } else {
        taken.insert(each.index);
      }
      return misplaced;
    });
  }

  void create(std::int64_t missing) {
    std::int64_t room = static_cast<std::int64_t>(facts_.creations_max);
    NumberSet taken;
    for (const ActivePod& each : tally_.active) {
      if (indexed_) taken.insert(each.index);
    }
    // With limits per index one that pauses does not hold up the others.
    const bool per_index = indexed_ && !spec_["backoffLimitPerIndex"].is_null();
    const std::int64_t end = indexed_ ? spec_["completions"].integer() : missing;
    std::int64_t number = tally_.successes() + tally_.failures();
    for (std::int64_t index = 0; index < end && missing > 0; ++index) {
      if (taken.contains(index) || tally_.done.contains(index) || tally_.failed_indexes.contains(index)) continue;
      if (const Time until = tally_.end_of_pause(index); until > facts_.now) {
        look_at(until);
        if (!per_index) return;
        continue;
      }
      --missing;
      plan_.waits_to_create = room == 0;
      if (room-- == 0) return;
      create_one(number, indexed_ ? std::optional(index) : std::nullopt);
    }
  }

  // Tried again it gets the name it had, as long as nothing else has ended: it is not made twice.
  void create_one(std::int64_t& number, std::optional<std::int64_t> index) {
    const auto name = [&] { return job_pod_name(job_, number % kPodsOfJobMax, index); };
    while (facts_.name_is_taken(name())) ++number;
    const PodRetries retries = index ? tally_.retries_of(*index) : PodRetries();
    plan_.creations.push_back(pod_of_job(job_, number++ % kPodsOfJobMax, index, group_size_, retries));
    if (placed_ != nullptr) take_queue((*placed_)["metadata"], plan_.creations.back().at("metadata"));
  }

  // After its end a Job stays for as long as it says.
  void plan_removal() {
    const Value& ttl = spec_["ttlSecondsAfterFinished"];
    if (ttl.is_null() || is_being_deleted(job_)) return;
    const Value& end = *condition(has("Complete") ? "Complete" : "Failed");
    const Time until = moment_in(end["lastTransitionTime"], facts_.now) + seconds_in(ttl);
    if (until <= facts_.now) {
      plan_.delete_job = true;
    } else {
      look_at(until);
    }
  }

  void look_at(Time when) { plan_.look_again = std::min(plan_.look_again.value_or(when), when); }

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
    const std::string now = format_timestamp(facts_.now);
    std::erase_if(conditions_, [&](const Value& each) { return each["type"].text() == type; });
    conditions_.push_back(Value::map_of({{"type", type},
                                         {"status", truth ? "True" : "False"},
                                         {"lastProbeTime", now},
                                         {"lastTransitionTime", now},
                                         {"reason", reason},
                                         {"message", message}}));
  }

  void write_status() {
    Value status = Value::map();
    if (!conditions_.empty()) status.set("conditions", Value(conditions_));
    if (!start_.is_null()) status.set("startTime", start_);
    if (!completion_.empty()) status.set("completionTime", completion_);
    tally_.write(status);
    if (!(status == job_["status"])) plan_.status = std::move(status);
  }

  const JobFacts& facts_;
  const Value& job_;
  const Value& spec_;
  const bool indexed_;
  JobTally tally_;
  Value::List conditions_;
  Value start_;
  std::string completion_;
  std::int64_t group_size_ = 0;
  const Value* placed_ = nullptr;  // one of its pods that has a node
  JobPlan plan_;
};

}  // namespace

Time moment_in(const Value& text, Time otherwise) { return parse_timestamp(text.text()).value_or(otherwise); }

Duration seconds_in(const Value& number) {
  return seconds(std::clamp<std::int64_t>(number.integer(), 0, kTimeMax.ms / 1000));
}

bool is_managed_elsewhere(const Value& job) {
  const std::string_view manager = job["spec"]["managedBy"].text();
  return !manager.empty() && manager != "kubernetes.io/job-controller";
}

JobPlan plan_job(const JobFacts& facts) { return is_managed_elsewhere(facts.job) ? JobPlan() : Planner(facts).plan(); }

Value status_change(const Value& job, const Value& status) {
  return Value::map_of({{"status", replacing(job["status"], status)}});
}

}  // namespace berth
