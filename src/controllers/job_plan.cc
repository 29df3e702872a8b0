#include "controllers/job_plan.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/number_set.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr Duration kPauseFirst = seconds(10);  // after a failed pod; doubles
constexpr Duration kPauseMax = seconds(360);

// What the Job asks for that is not followed here; running it all the same would not be what was asked for.
constexpr std::string_view kNotFollowed[] = {"podFailurePolicy", "successPolicy", "backoffLimitPerIndex",
                                             "maxFailedIndexes"};

bool holds(const Value& object, std::string_view type) {
  return std::ranges::any_of(object["status"]["conditions"].items(), [&](const Value& each) {
    return each["type"].text() == type && each["status"].text() == "True";
  });
}

Time moment_in(const Value& text, Time otherwise) { return parse_timestamp(text.text()).value_or(otherwise); }

// A time the user gave in seconds, however large.
Duration seconds_in(const Value& number) {
  return seconds(std::clamp<std::int64_t>(number.integer(), 0, kTimeMax.ms / 1000));
}

std::int64_t restarts_of(const Value& pod) {
  std::int64_t restarts = 0;
  for (const char* const list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& each : pod["status"][list].items()) {
      restarts += std::clamp<std::int64_t>(each["restartCount"].integer(), 0, NumberSet::kMax);
    }
  }
  return restarts;
}

// When the pod ended, as far as it says so.
Time end_of(const Value& pod) {
  std::optional<Time> last;
  for (const Value& each : pod["status"]["containerStatuses"].items()) {
    const auto at = parse_timestamp(each["state"]["terminated"]["finishedAt"].text());
    if (at) last = std::max(last.value_or(*at), *at);
  }
  if (last) return *last;
  const Value& metadata = pod["metadata"];
  if (const auto deleted = parse_timestamp(metadata["deletionTimestamp"].text())) {
    return *deleted + Duration{-seconds_in(metadata["deletionGracePeriodSeconds"]).ms};
  }
  return moment_in(metadata["creationTimestamp"], Time{0});
}

struct ActivePod {
  const Value* pod = nullptr;
  std::int64_t number = 0;
  std::int64_t index = -1;  // -1: the Job has none
  bool runs = false;
};

class Planner {
 public:
  explicit Planner(const JobFacts& facts)
      : facts_(facts), job_(facts.job), spec_(job_["spec"]), indexed_(is_indexed(job_)) {
    const Value& counted = job_["status"]["countedPods"];
    succeeded_ = NumberSet::parse(counted["succeeded"].text());
    failed_ = NumberSet::parse(counted["failed"].text());
    dropped_ = NumberSet::parse(counted["dropped"].text());
    if (indexed_) {
      indexes_ = NumberSet::parse(job_["status"]["completedIndexes"].text());
      // Fewer may be wanted than once were.
      indexes_.erase_from(std::max<std::int64_t>(0, spec_["completions"].integer()));
    }
    conditions_ = job_["status"]["conditions"].items();
    start_ = job_["status"]["startTime"];
    next_number_ = std::max({succeeded_.end(), failed_.end(), dropped_.end()});
  }

  JobPlan plan() {
    const std::string_view manager = spec_["managedBy"].text();
    if (!manager.empty() && manager != "kubernetes.io/job-controller") return {};
    if (holds(job_, "Complete") || holds(job_, "Failed")) {
      plan_removal();
      return std::move(plan_);
    }
    for (const JobPod& each : facts_.pods) count(each);
    if (!holds(job_, "SuccessCriteriaMet") && !holds(job_, "FailureTarget")) judge();
    if (has("SuccessCriteriaMet") || has("FailureTarget")) {
      finish();
    } else if (!is_being_deleted(job_)) {
      go_on();
    }
    if (plan_.creations.empty()) {
      write_status();
    } else {
      plan_.news.clear();
    }
    return std::move(plan_);
  }

 private:
  // ---- counting --------------------------------------------------------------------------------------------------------

  void count(const JobPod& each) {
    const Value& pod = *each.pod;
    const auto number = job_pod_number(job_, pod);
    if (!number) return;
    next_number_ = std::max(next_number_, *number + 1);
    const std::string_view phase = pod["status"]["phase"].text();
    const bool alive = !each.gone && !has_ended(pod);
    note_end(pod, phase, *number);
    if (failed_.contains(*number) || dropped_.contains(*number)) {
      if (alive) give_up(pod);
    } else if (phase == "Succeeded") {
      count_success(pod, *number);
    } else if (phase == "Failed" || (each.gone && phase == "Running")) {
      failed_.insert(*number);
    } else if (alive && is_being_deleted(pod)) {
      ++terminating_;
      // With the other policy it may still come to a good end.
      if (phase == "Running" && spec_["podReplacementPolicy"].text() != "Failed") failed_.insert(*number);
    } else if (alive) {
      active_.push_back({.pod = &pod,
                         .number = *number,
                         .index = indexed_ ? completion_index(pod).value_or(-1) : -1,
                         .runs = phase == "Running"});
    }
  }

  void count_success(const Value& pod, std::int64_t number) {
    if (!indexed_) return succeeded_.insert(number);
    const auto index = completion_index(pod);
    if (index && *index < spec_["completions"].integer()) indexes_.insert(*index);
  }

  // For the pause after failures: when pods failed, and when one last succeeded.
  void note_end(const Value& pod, std::string_view phase, std::int64_t number) {
    if (dropped_.contains(number)) return;
    if (phase == "Succeeded") {
      last_success_ = std::max(last_success_, end_of(pod));
    } else if (phase == "Failed" || (is_being_deleted(pod) && phase == "Running")) {
      failures_.push_back(end_of(pod));
    }
  }

  // One whose number is stored as counted, and still lives.
  void give_up(const Value& pod) {
    ++terminating_;
    if (!is_being_deleted(pod)) plan_.deletions.push_back(&pod);
  }

  std::int64_t successes() const { return indexed_ ? indexes_.size() : succeeded_.size(); }
  std::int64_t active() const { return static_cast<std::int64_t>(active_.size()); }

  // ---- the verdict -----------------------------------------------------------------------------------------------------

  void judge() {
    for (const std::string_view field : kNotFollowed) {
      if (!spec_[field].is_null()) {
        return fail("NotSupported", "spec." + std::string(field) + " is not supported; leave it out");
      }
    }
    if (failed_.size() > spec_["backoffLimit"].integer(6) || too_many_restarts()) {
      return fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    }
    if (next_number_ + static_cast<std::int64_t>(facts_.creations_max) >= kPodsOfJobMax) {
      return fail("TooManyPods", "Job has had " + std::to_string(next_number_) + " pods, and no more have a name");
    }
    const Value& deadline = spec_["activeDeadlineSeconds"];
    if (!deadline.is_null() && !start_.is_null() && !spec_["suspend"].truth()) {
      const Time until = moment_in(start_, facts_.now) + seconds_in(deadline);
      if (until <= facts_.now) return fail("DeadlineExceeded", "Job was active longer than specified deadline");
      look_at(until);
    }
    const Value& completions = spec_["completions"];
    const bool enough =
        completions.is_null() ? successes() > 0 && active_.empty() : successes() >= completions.integer();
    // A work queue that is suspended has no active pods, and is not done for that.
    if (enough && !(completions.is_null() && spec_["suspend"].truth())) {
      set_condition("SuccessCriteriaMet", true, "CompletionsReached", "Reached expected number of succeeded pods");
    }
  }

  bool too_many_restarts() const {
    if (spec_["template"]["spec"]["restartPolicy"].text() != "OnFailure") return false;
    std::int64_t restarts = 0;
    for (const ActivePod& each : active_) restarts += restarts_of(*each.pod);
    const std::int64_t limit = spec_["backoffLimit"].integer(6);
    return limit == 0 ? restarts > 0 : restarts >= limit;
  }

  void fail(const char* reason, const std::string& message) {
    set_condition("FailureTarget", true, reason, message);
    plan_.news.push_back({.warning = true, .reason = reason, .note = message});
  }

  // It is decided how the Job ends: what lives is ended first, so that nothing of it runs once it has ended.
  void finish() {
    const bool well = has("SuccessCriteriaMet");
    NumberSet& into = well ? dropped_ : failed_;
    for (const ActivePod& each : active_) into.insert(each.number);
    terminating_ += active();
    active_.clear();
    if (terminating_ > 0) return;
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
    std::int64_t wanted = std::min(parallelism, completions.integer() - successes());
    // A work queue of which one pod is done is no more refilled.
    if (completions.is_null()) wanted = successes() > 0 ? std::min(active(), parallelism) : parallelism;
    wanted = std::max<std::int64_t>(0, wanted);
    if (active() > wanted) drop_last(active() - wanted);
    const bool waits_for_the_end = spec_["podReplacementPolicy"].text() == "Failed";
    const std::int64_t missing = wanted - active() - (waits_for_the_end ? terminating_ : 0);
    if (missing > 0) create(missing);
  }

  void suspend() {
    drop_last(active());
    start_ = Value();
    if (has("Suspended")) return;
    set_condition("Suspended", true, "JobSuspended", "Job suspended");
    plan_.news.push_back({.warning = false, .reason = "Suspended", .note = "Job suspended"});
  }

  // Gives up those that are least far: that have not begun, then the youngest.
  void drop_last(std::int64_t count) {
    std::ranges::sort(active_, [](const ActivePod& a, const ActivePod& b) {
      return std::pair(!a.runs, a.number) < std::pair(!b.runs, b.number);
    });
    for (; count > 0; --count) {
      dropped_.insert(active_.back().number);
      active_.pop_back();
      ++terminating_;
    }
  }

  // Of an Indexed Job: pods of an index that is done or not wanted any more, or that another pod has too.
  void drop_misplaced() {
    if (!indexed_) return;
    std::ranges::sort(active_, {}, &ActivePod::number);
    NumberSet taken;
    std::erase_if(active_, [&](const ActivePod& each) {
      const bool misplaced = each.index < 0 || each.index >= spec_["completions"].integer() ||
                             indexes_.contains(each.index) || taken.contains(each.index);
      if (misplaced) {
        dropped_.insert(each.number);
        ++terminating_;
      } else {
        taken.insert(each.index);
      }
      return misplaced;
    });
  }

  void create(std::int64_t missing) {
    if (const Time until = end_of_pause(); until > facts_.now) return look_at(until);
    const std::int64_t now = std::min(missing, static_cast<std::int64_t>(facts_.creations_max));
    plan_.waits_to_create = now < missing;
    NumberSet taken = indexes_;
    for (const ActivePod& each : active_) {
      if (indexed_) taken.insert(each.index);
    }
    std::int64_t index = 0;
    for (std::int64_t made = 0; made < now; ++made) {
      while (indexed_ && taken.contains(index)) ++index;
      const auto at = indexed_ ? std::optional(index++) : std::nullopt;
      // Somebody else's pod may have the very name.
      while (next_number_ < kPodsOfJobMax && facts_.name_is_taken(job_pod_name(job_, next_number_, at))) ++next_number_;
      if (next_number_ == kPodsOfJobMax) return;
      plan_.creations.push_back(pod_of_job(job_, next_number_++, at));
    }
  }

  // After pods that failed one after the other: 10 s, 20 s, 40 s from the last one's end.
  Time end_of_pause() const {
    const std::int64_t in_a_row = std::ranges::count_if(failures_, [&](Time at) { return at > last_success_; });
    if (in_a_row == 0) return Time{0};
    const std::int64_t doublings = std::min<std::int64_t>(in_a_row - 1, 10);
    return std::ranges::max(failures_) + std::min(Duration{kPauseFirst.ms << doublings}, kPauseMax);
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
    const auto set_count = [&](const char* key, std::int64_t count) {
      if (count > 0) status.set(key, count);
    };
    set_count("active", active());
    set_count("succeeded", successes());
    set_count("failed", failed_.size());
    status.set("ready",
               std::ranges::count_if(active_, [](const ActivePod& each) { return holds(*each.pod, "Ready"); }));
    status.set("terminating", terminating_);
    if (!indexes_.empty()) status.set("completedIndexes", indexes_.to_string());
    status.set("uncountedTerminatedPods", Value::map());
    status.set("countedPods", Value::map_of({{"succeeded", succeeded_.to_string()},
                                             {"failed", failed_.to_string()},
                                             {"dropped", dropped_.to_string()}}));
    if (!(status == job_["status"])) plan_.status = std::move(status);
  }

  const JobFacts& facts_;
  const Value& job_;
  const Value& spec_;
  const bool indexed_;
  NumberSet succeeded_, failed_, dropped_;  // numbers
  NumberSet indexes_;                       // that are done, of an Indexed Job
  Value::List conditions_;
  Value start_;
  std::string completion_;
  std::int64_t next_number_ = 0;
  std::vector<ActivePod> active_;
  std::int64_t terminating_ = 0;
  std::vector<Time> failures_;
  Time last_success_{0};
  JobPlan plan_;
};

}  // namespace

JobPlan plan_job(const JobFacts& facts) { return Planner(facts).plan(); }

Value status_change(const Value& job, const Value& status) {
  Value changed = status;
  for (const Value::Member& had : job["status"].members()) {
    if (status.find(had.key) == nullptr) changed.set(had.key, nullptr);
  }
  return Value::map_of({{"status", std::move(changed)}});
}

}  // namespace berth
