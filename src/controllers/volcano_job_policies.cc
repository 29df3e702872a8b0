#include "controllers/volcano_job_policies.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "controllers/job_plan.h"
#include "controllers/job_pods.h"

namespace berth {
namespace {

// Something that happened, and since when it lasts.
struct Happening {
  VolcanoEvent event = VolcanoEvent::kPodFailed;
  std::string what;  // "pod train-worker-0 was evicted"
  std::optional<std::size_t> task = {};
  const Value* pod = nullptr;
  std::set<std::int64_t> exit_codes = {};
  Time since;
  bool counts = true;  // as a retry
};

std::string pod_in_words(const Value& pod) { return "pod " + std::string(pod["metadata"]["name"].text()); }

std::set<std::int64_t> exit_codes_of(const Value& pod) {
  std::set<std::int64_t> codes;
  for (const char* const list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& each : pod["status"][list].items()) {
      if (const std::int64_t code = each["state"]["terminated"]["exitCode"].integer(); code != 0) codes.insert(code);
    }
  }
  return codes;
}

Happening failure_happened(const Value& pod) {
  Happening happening{.what = pod_in_words(pod) + " failed", .exit_codes = exit_codes_of(pod), .since = end_of(pod)};
  if (!happening.exit_codes.empty()) {
    happening.what += " with exit code " + std::to_string(*happening.exit_codes.begin());
  }
  return happening;
}

class Judge {
 public:
  Judge(const VolcanoJob& spec, const VolcanoTally& tally, Time now) : spec_(spec), tally_(tally), now_(now) {}

  VolcanoJudgement judge(bool was_running) {
    for (const VolcanoSlot& slot : tally_.slots) look_at_pod(slot);
    for (std::size_t task = 0; task < spec_.tasks.size(); ++task) look_at_task(task);
    if (was_running) look_at_job();
    return std::move(judgement_);
  }

 private:
  void look_at_pod(const VolcanoSlot& slot) {
    if (slot.pod == nullptr) return;
    const Value& pod = *slot.pod;
    if (slot.state == VolcanoPodState::kFailed) {
      tell(slot, failure_happened(pod));
    } else if (slot.state == VolcanoPodState::kEvicted) {
      tell(slot, {.event = VolcanoEvent::kPodEvicted,
                  .what = pod_in_words(pod) + " was evicted",
                  .since = now_,
                  .counts = !was_preempted(pod)});
    } else if (slot.state == VolcanoPodState::kWaiting || slot.state == VolcanoPodState::kStarting) {
      tell(slot, {.event = VolcanoEvent::kPodPending,
                  .what = pod_in_words(pod) + " has been pending for too long",
                  .since = moment_in(pod["metadata"]["creationTimestamp"], now_)});
    }
  }
  void tell(const VolcanoSlot& slot, Happening happening) {
    happening.task = slot.place.task;
    happening.pod = slot.pod;
    decide(happening);
  }

  void look_at_task(std::size_t task) {
    const VolcanoTask& about = spec_.tasks[task];
    if (about.replicas == 0) return;
    std::int64_t restarts = 0;
    Time last{0};
    for (const VolcanoSlot& slot : tally_.slots) {
      if (slot.place.task != task || slot.pod == nullptr) continue;
      const bool live = slot.state == VolcanoPodState::kRunning || slot.state == VolcanoPodState::kStarting;
      if (live) restarts += restarts_of(*slot.pod);
      last = std::max(last, end_of(*slot.pod));
    }
    if (tally_.of_task(task, VolcanoPodState::kSucceeded) == about.replicas) {
      decide({.event = VolcanoEvent::kTaskCompleted,
              .what = "task " + about.name + " is done",
              .task = task,
              .since = last});
    }
    if (about.max_retry >= 0 && restarts >= about.max_retry) {
      decide({.event = VolcanoEvent::kTaskFailed,
              .what = "containers of task " + about.name + " were restarted " + std::to_string(restarts) + " times",
              .task = task,
              .since = now_});
    }
  }

  // Some of a gang that ran have lost their place, and nobody stands in for them.
  void look_at_job() {
    std::optional<std::size_t> whole;  // the task looked at last whose gang is
    for (const VolcanoSlot& slot : tally_.slots) {
      if (!slot.in_gang || slot.state != VolcanoPodState::kWaiting || slot.place.task == whole) continue;
      if (tally_.gang_is_placed(slot.place.task)) {
        whole = slot.place.task;
        continue;
      }
      return decide({.event = VolcanoEvent::kJobUnknown,
                     .what = pod_in_words(*slot.pod) + " waits while others of its gang run",
                     .since = now_});
    }
  }

  // A task's own policies go before the job's.
  void decide(const Happening& happening) {
    if (happening.task && follow_first(spec_.tasks[*happening.task].policies, happening)) return;
    follow_first(spec_.policies, happening);
  }

  bool follow_first(const std::vector<VolcanoPolicy>& policies, const Happening& happening) {
    const auto fits = [&](const VolcanoPolicy& policy) {
      return policy.names(happening.event) || (policy.exit_code && happening.exit_codes.contains(*policy.exit_code));
    };
    const auto policy = std::ranges::find_if(policies, fits);
    if (policy == policies.end()) return false;
    const Time due = happening.since + policy->timeout;
    if (due <= now_) {
      follow(*policy, happening);
    } else {
      judgement_.look_again = std::min(judgement_.look_again.value_or(due), due);
    }
    return true;
  }

  void follow(const VolcanoPolicy& policy, const Happening& happening) {
    // What the scheduler took back comes back by itself.
    if (policy.action == VolcanoAction::kRestartPod && !happening.counts) return;
    std::optional<VolcanoVerdict>& verdict = judgement_.verdict;
    if (verdict && verdict->action > policy.action) return;
    if (!verdict || verdict->action < policy.action) {
      verdict =
          VolcanoVerdict{.action = policy.action,
                         .event = std::string(name_of(happening.event)),
                         .why = happening.what + "; " + std::string(name_of(policy.action)) + " by " + policy.field};
    }
    bool is_new = verdict->retries == 0;
    if (policy.action == VolcanoAction::kRestartTask) is_new = verdict->tasks.insert(*happening.task).second;
    if (policy.action == VolcanoAction::kRestartPod) {
      is_new = verdict->pods.emplace((*happening.pod)["metadata"]["uid"].text()).second;
    }
    if (is_new && happening.counts) ++verdict->retries;
  }

  const VolcanoJob& spec_;
  const VolcanoTally& tally_;
  const Time now_;
  VolcanoJudgement judgement_;
};

}  // namespace

VolcanoJudgement judge_volcano_job(const VolcanoJob& spec, const VolcanoTally& tally, bool was_running, Time now) {
  return Judge(spec, tally, now).judge(was_running);
}

}  // namespace berth
