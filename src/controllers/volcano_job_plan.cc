#include "controllers/volcano_job_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/queue_words.h"
#include "controllers/volcano_job_pods.h"
#include "controllers/volcano_job_policies.h"
#include "controllers/volcano_job_tally.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::size_t kConditionsMax = 20;
// How often it is looked whether a name that somebody else has is free.
constexpr Duration kNameEvery = seconds(2);
constexpr std::string_view kNameTaken = "NameTaken";

// What a phase in which pods are ended leads to; empty: it is none of these.
std::string_view end_after(std::string_view phase) {
  if (phase == "Completing") return "Completed";
  if (phase == "Terminating") return "Terminated";
  return phase == "Aborting" ? "Aborted" : "";
}

std::string_view phase_after(VolcanoAction action) {
  if (action == VolcanoAction::kCompleteJob) return "Completing";
  return action == VolcanoAction::kAbortJob ? "Aborting" : "Terminating";
}

// As Go writes lengths of time: "1h0m5s".
std::string go_duration(Duration length) {
  const std::int64_t s = std::max<std::int64_t>(0, length.ms / 1000);
  std::string text;
  if (s >= 3600) text += std::to_string(s / 3600) + "h";
  if (s >= 60) text += std::to_string(s / 60 % 60) + "m";
  return text + std::to_string(s % 60) + "s";
}

class VolcanoPlanner {
 public:
  explicit VolcanoPlanner(const VolcanoJobFacts& facts)
      : facts_(facts),
        job_(facts.job),
        spec_(read_volcano_job(job_).job),
        tally_(spec_, job_, facts.pods),
        status_(job_["status"].is_map() ? job_["status"] : Value::map()) {}

  JobPlan plan() {
    if (is_final_volcano_phase(phase())) return stay_over();
    if (is_being_deleted(job_)) return let_go();
    if (phase().empty()) {
      set_phase("Pending", "", "");
      return with_status();
    }
    for (const Value* const pod : tally_.given_up) give_up(*pod);
    if (const std::string_view end = end_after(phase()); !end.empty()) {
      wind_up(end);
    } else if (phase() == "Restarting") {
      if (tally_.given_up.empty()) settle_phase();
    } else if (decide()) {
      plan_.deletions.clear();
      plan_.releases.clear();
      return with_status();
    } else {
      go_on();
    }
    return plan_.creations.empty() ? with_status() : std::move(plan_);
  }

 private:
  std::string_view phase() const { return status_["state"]["phase"].text(); }

  // ---- pods that go ----------------------------------------------------------------------------------------------------

  void give_up(const Value& pod) {
    if (is_tracked(pod)) plan_.releases.push_back(&pod);
    if (!is_being_deleted(pod)) plan_.deletions.push_back(&pod);
  }

  // What still lives is ended, and what has ended stays.
  bool end_all() {
    bool lives = !tally_.given_up.empty();
    for (const VolcanoSlot& slot : tally_.slots) {
      if (slot.pod == nullptr) continue;
      const bool ended = slot.state == VolcanoPodState::kSucceeded || slot.state == VolcanoPodState::kFailed;
      if (!ended) give_up(*slot.pod);
      lives = lives || !ended;
    }
    return lives;
  }

  void wind_up(std::string_view end) {
    if (end_all()) return;
    const std::string reason(status_["state"]["reason"].text());
    const std::string message(status_["state"]["message"].text());
    set_phase(end, reason, message);
  }

  // It is over: no pod is held back, and none lives.
  JobPlan stay_over() {
    plan_removal();
    for (const Value* const pod : tally_.given_up) give_up(*pod);
    end_all();
    for (const VolcanoSlot& slot : tally_.slots) {
      const bool held = slot.state == VolcanoPodState::kSucceeded || slot.state == VolcanoPodState::kFailed;
      if (held && is_tracked(*slot.pod)) plan_.releases.push_back(slot.pod);
    }
    // What has ended counts also when it is cleaned away; what had not is told until it has gone.
    const bool tells_of_living =
        std::ranges::any_of(std::initializer_list<const char*>{"pending", "running", "terminating", "unknown"},
                            [&](const char* field) { return job_["status"][field].integer() > 0; });
    return tells_of_living ? with_status() : std::move(plan_);
  }

  JobPlan let_go() {
    for (const Value* const pod : facts_.pods) {
      if (is_tracked(*pod) && (has_ended(*pod) || is_being_deleted(*pod))) plan_.releases.push_back(pod);
    }
    return std::move(plan_);
  }

  void plan_removal() {
    const Value& ttl = job_["spec"]["ttlSecondsAfterFinished"];
    if (ttl.is_null() || is_being_deleted(job_) || phase() == "Aborted") return;
    const Time until = moment_in(status_["state"]["lastTransitionTime"], facts_.now) + seconds_in(ttl);
    if (until <= facts_.now) {
      plan_.delete_job = true;
    } else {
      look_at(until);
    }
  }

  void look_at(Time when) { plan_.look_again = std::min(plan_.look_again.value_or(when), when); }

  // ---- decisions -------------------------------------------------------------------------------------------------------

  // Whether something was, which is then all that is written now.
  bool decide() {
    VolcanoJudgement judgement = judge_volcano_job(spec_, tally_, phase() == "Running", facts_.now);
    if (judgement.look_again) look_at(*judgement.look_again);
    if (judgement.verdict) {
      follow(*judgement.verdict);
      return true;
    }
    if (spec_.min_success && tally_.count(VolcanoPodState::kSucceeded) >= *spec_.min_success) {
      set_phase("Completing", "MinSuccessReached", std::to_string(*spec_.min_success) + " of its pods have succeeded");
      return true;
    }
    if (tally_.live() > 0 || !missing().empty()) return false;
    judge_end();
    return true;
  }

  void follow(const VolcanoVerdict& verdict) {
    if (verdict.action > VolcanoAction::kRestartJob) {
      return set_phase(phase_after(verdict.action), verdict.event, verdict.why);
    }
    const std::int64_t retries = status_["retryCount"].integer() + verdict.retries;
    status_.set("retryCount", retries);
    const std::string most = std::to_string(spec_.max_retry);
    if (verdict.retries > 0 && retries >= spec_.max_retry) {
      return set_phase("Failed", "MaxRetryReached",
                       verdict.why + " would be restart " + std::to_string(retries) + ", and maxRetry is " + most);
    }
    if (verdict.action == VolcanoAction::kRestartJob) {
      status_.set("version", status_["version"].integer() + 1);
    } else {
      Value& restarting = status_.at("restarting");
      for (const VolcanoSlot& slot : tally_.slots) {
        if (slot.pod == nullptr) continue;
        const Value& uid = (*slot.pod)["metadata"]["uid"];
        if (!verdict.tasks.contains(slot.place.task) && !verdict.pods.contains(std::string(uid.text()))) continue;
        restarting.push_back(uid);
      }
    }
    set_phase("Restarting", verdict.event,
              verdict.why + (verdict.retries > 0 ? ", retry " + std::to_string(retries) + " of " + most : ""));
  }

  // All have ended, or cannot come any more.
  void judge_end() {
    const std::int64_t succeeded = tally_.count(VolcanoPodState::kSucceeded);
    std::int64_t of_tasks = 0;
    for (const VolcanoTask& task : spec_.tasks) of_tasks += task.min_available;
    if (spec_.min_available >= of_tasks) {
      for (std::size_t i = 0; i < spec_.tasks.size(); ++i) {
        const std::int64_t well = tally_.of_task(i, VolcanoPodState::kSucceeded);
        if (well >= spec_.tasks[i].min_available) continue;
        return fail_for_want(well, spec_.tasks[i].min_available, " of task " + spec_.tasks[i].name);
      }
    }
    const std::int64_t needed = spec_.min_success.value_or(spec_.min_available);
    if (succeeded < needed) return fail_for_want(succeeded, needed, "");
    set_phase("Completed", "Completed", std::to_string(succeeded) + " of its pods have succeeded");
  }

  void fail_for_want(std::int64_t succeeded, std::int64_t needed, const std::string& of) {
    set_phase("Failed", "TooFewSucceeded",
              std::to_string(succeeded) + " pods" + of + " have succeeded, and " + std::to_string(needed) + " have to");
  }

  // ---- going on --------------------------------------------------------------------------------------------------------

  void go_on() {
    // Nobody asks for anything to be done about them: they come back.
    for (const VolcanoSlot& slot : tally_.slots) {
      if (slot.state == VolcanoPodState::kEvicted && is_past(*slot.pod)) give_up(*slot.pod);
      const bool waits = slot.state == VolcanoPodState::kWaiting;
      if (waits && group_size_in(*slot.pod) > size_of_gang(slot.place.task)) plan_.renewals.push_back(slot.pod);
    }
    follow_queue();
    settle_phase();
    if (spec_.svc && !make_hosts()) return;
    std::size_t room = facts_.creations_max;
    for (const VolcanoPlace& place : missing()) {
      const std::string name =
          volcano_pod_name(job_["metadata"]["name"].text(), spec_.tasks[place.task].name, place.index);
      if (facts_.name_is_taken(name)) {
        if (!tally_.is_own(name)) note_taken("pod " + name);
        continue;
      }
      plan_.waits_to_create = room == 0;
      if (room == 0) return;
      --room;
      plan_.creations.push_back(pod_of_volcano_job(job_, spec_, place, size_of_gang(place.task), queue()));
      // Each task may name a queue of its own.
      const auto like = placed_.find(place.task);
      if (like != placed_.end()) take_queue((*like->second)["metadata"], plan_.creations.back().at("metadata"));
    }
  }

  // As those of Kubernetes' Jobs do (job_plan.cc).
  void follow_queue() {
    for (const VolcanoSlot& slot : tally_.slots) {
      const bool placed = slot.state == VolcanoPodState::kStarting || slot.state == VolcanoPodState::kRunning ||
                          slot.state == VolcanoPodState::kUnknown;
      if (placed) placed_.emplace(slot.place.task, slot.pod);
    }
    if (!placed_.empty() || !plan_.renewals.empty()) return;
    std::map<std::size_t, Value> wanted;
    for (const VolcanoSlot& slot : tally_.slots) {
      if (slot.state != VolcanoPodState::kWaiting) continue;
      const auto [at, is_new] = wanted.try_emplace(slot.place.task);
      if (is_new) at->second = words_of_volcano_pods(job_, slot.place.task, queue());
      auto change = queue_change((*slot.pod)["metadata"], at->second);
      if (change) plan_.changes.push_back({.pod = slot.pod, .change = *std::move(change)});
    }
  }

  // Whether they are there, as pods mount them.
  bool make_hosts() {
    if (facts_.hosts == nullptr) {
      plan_.waits_to_create = facts_.creations_max == 0;
      if (facts_.creations_max > 0) plan_.creations.push_back(volcano_hosts(job_, spec_));
      return false;
    }
    for (const Value& owner : (*facts_.hosts)["metadata"]["ownerReferences"].items()) {
      if (owner["uid"] == job_["metadata"]["uid"]) return true;
    }
    note_taken("ConfigMap " + volcano_hosts_name(job_));
    return false;
  }

  void note_taken(const std::string& what) {
    taken_ = what + " is there and is not this job's; delete it, or give the job another name";
    look_at(facts_.now + kNameEvery);
  }

  // Places whose pod is to be made: in the order of the tasks.
  std::vector<VolcanoPlace> missing() {
    std::vector<VolcanoPlace> places;
    for (const VolcanoSlot& slot : tally_.slots) {
      if (slot.state != VolcanoPodState::kAbsent || !has_come_to_its_turn(slot.place.task)) continue;
      if (slot.in_gang || gang_is_placed(slot.place.task)) places.push_back(slot.place);
    }
    return places;
  }

  // Whether the tasks run, or ran when it was begun, for which it waits.
  bool has_come_to_its_turn(std::size_t task) {
    const auto [at, is_new] = turns_.try_emplace(task, true);
    const VolcanoTask& about = spec_.tasks[task];
    if (!is_new || about.depends_on.empty() || tally_.has_pods(task)) return at->second;
    const auto is_up = [&](std::size_t other) { return tally_.is_up(other); };
    at->second = about.any_suffices ? std::ranges::any_of(about.depends_on, is_up)
                                    : std::ranges::all_of(about.depends_on, is_up);
    return at->second;
  }

  // Tasks without dependencies have one gang.
  std::size_t gang_key(std::size_t task) const { return spec_.tasks[task].depends_on.empty() ? 0 : task + 1; }
  bool gang_is_placed(std::size_t task) {
    const auto [at, is_new] = gangs_placed_.try_emplace(gang_key(task), false);
    if (is_new) at->second = tally_.gang_is_placed(task);
    return at->second;
  }
  std::int64_t size_of_gang(std::size_t task) {
    const auto [at, is_new] = sizes_.try_emplace(gang_key(task), 0);
    if (is_new) at->second = tally_.group_size(task);
    return at->second;
  }

  // "default" is there without being made, as with Volcano: then it is Berth's own.
  std::string queue() const { return spec_.queue == "default" && !facts_.has_default_queue ? "" : spec_.queue; }

  // ---- the status ------------------------------------------------------------------------------------------------------

  void settle_phase() {
    const bool runs = tally_.begun() >= spec_.min_available;
    const bool none_runs = tally_.begun() == 0;
    if (phase() == "Restarting") {
      set_phase(runs ? "Running" : "Pending", "", "");
    } else if (phase() == "Pending" && runs) {
      set_phase("Running", "", "");
    } else if (phase() == "Running" && none_runs) {
      set_phase("Pending", "Evicted", "all of its pods have lost their places, and wait again");
    }
  }

  void set_phase(std::string_view phase, const std::string& reason, const std::string& message) {
    const std::string now = format_timestamp(facts_.now);
    Value state = Value::map_of({{"phase", phase}});
    if (!reason.empty()) state.set("reason", reason);
    if (!message.empty()) state.set("message", message);
    state.set("lastTransitionTime", now);
    status_.set("state", std::move(state));
    Value& conditions = status_.at("conditions");
    conditions.push_back(Value::map_of({{"status", phase}, {"lastTransitionTime", now}}));
    Value::List& list = conditions.edit_items();
    if (list.size() > kConditionsMax) list.erase(list.begin());
    if (is_final_volcano_phase(phase)) note_running_duration();
    if (phase == "Pending" && reason.empty()) return;
    const bool well = phase == "Pending" || phase == "Running" || phase.starts_with("Complet");
    plan_.news.push_back({.warning = !well,
                          .reason = std::string(phase),
                          .note = message.empty() ? "Job is " + std::string(phase) : message});
  }

  // Since it last began to run.
  void note_running_duration() {
    std::optional<Time> began;
    for (const Value& each : status_["conditions"].items()) {
      if (each["status"].text() == "Running") began = moment_in(each["lastTransitionTime"], facts_.now);
    }
    if (began) status_.set("runningDuration", go_duration(facts_.now - *began));
  }

  JobPlan with_status() {
    tally_.write(status_);
    forget_restarted();
    note_names();
    for (const char* const count : {"version", "retryCount"}) status_.set(count, status_[count].integer());
    if (!(status_ == job_["status"])) plan_.status = std::move(status_);
    return std::move(plan_);
  }

  void forget_restarted() {
    if (status_["restarting"].is_null()) return;
    Value left = Value::list();
    for (const Value& uid : status_["restarting"].items()) {
      const auto is_there = [&](const Value* pod) { return (*pod)["metadata"]["uid"] == uid; };
      if (std::ranges::any_of(facts_.pods, is_there)) left.push_back(uid);
    }
    left.is_empty() ? void(status_.erase("restarting")) : void(status_.set("restarting", std::move(left)));
  }

  void note_names() {
    Value& state = status_.at("state");
    if (!taken_.empty()) {
      state.set("reason", kNameTaken);
      state.set("message", taken_);
    } else if (state["reason"].text() == kNameTaken) {
      state.erase("reason");
      state.erase("message");
    }
  }

  const VolcanoJobFacts& facts_;
  const Value& job_;
  const VolcanoJob spec_;
  const VolcanoTally tally_;
  Value status_;  // as it will be
  std::string taken_;
  std::map<std::size_t, bool> turns_, gangs_placed_;
  std::map<std::size_t, std::int64_t> sizes_;
  std::map<std::size_t, const Value*> placed_;  // by task: one of its pods that has a node
  JobPlan plan_;
};

}  // namespace

bool is_final_volcano_phase(std::string_view phase) {
  return phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted";
}

JobPlan plan_volcano_job(const VolcanoJobFacts& facts) { return VolcanoPlanner(facts).plan(); }

}  // namespace berth
