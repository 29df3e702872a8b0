#include "controllers/kueue_workload.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "controllers/controller.h"
#include "controllers/kueue_admission.h"
#include "manifest/labels.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

constexpr std::size_t kNameMax = 63;  // names of Workloads are values of labels, too
constexpr std::string_view kDeactivated = "Deactivated";

const Value* condition_of(const Value& object, std::string_view type) {
  for (const Value& each : object["status"]["conditions"].items()) {
    if (each["type"].text() == type) return &each;
  }
  return nullptr;
}

bool is_true(const Value* condition) { return condition != nullptr && (*condition)["status"].text() == "True"; }

// What a Job's pods will carry: their template's word goes before the Job's.
std::string_view label_of(const Value& owner, bool is_job, std::string_view key) {
  const std::string_view of_pods = is_job ? owner["spec"]["template"]["metadata"]["labels"][key].text() : "";
  return of_pods.empty() ? owner["metadata"]["labels"][key].text() : of_pods;
}

bool is_suspended(const KueueSource& source) { return source.is_job && source.owner["spec"]["suspend"].truth(); }
bool is_active(const Value& workload) { return workload["spec"]["active"].truth(true); }

// So many of its pods run at once.
std::int64_t count_of(const KueueSource& source) {
  if (!source.is_job) return 1;
  const std::int64_t parallelism = source.owner["spec"]["parallelism"].integer(1);
  return std::min(parallelism, source.owner["spec"]["completions"].integer(parallelism));
}

// ---- the spec -------------------------------------------------------------------------------------------------------

// By the class of Kueue's that it names, or as its pods have it from theirs.
void set_priority(Value& spec, const KueueSource& source, const ClusterView& view) {
  const auto reference = [](std::string_view group, std::string_view kind, std::string_view name) {
    return Value::map_of({{"group", group}, {"kind", kind}, {"name", name}});
  };
  const std::string_view of_kueue = label_of(source.owner, source.is_job, kKueuePriorityLabel);
  const Value& pod_spec = source.is_job ? source.owner["spec"]["template"]["spec"] : source.owner["spec"];
  const std::string_view of_pods = pod_spec["priorityClassName"].text();
  std::int64_t priority = source.pods.empty() ? 0 : (*source.pods.front())["spec"]["priority"].integer();
  if (!of_kueue.empty()) {
    const ObjectPtr found = view.find("workloadpriorityclasses.kueue.x-k8s.io", "", of_kueue);
    priority = found ? (*found)["value"].integer() : 0;
    spec.set("priorityClassRef", reference("kueue.x-k8s.io", "WorkloadPriorityClass", of_kueue));
  } else if (!of_pods.empty()) {
    spec.set("priorityClassRef", reference("scheduling.k8s.io", "PriorityClass", of_pods));
  }
  spec.set("priority", priority);
}

Value template_of(const KueueSource& source) {
  if (source.is_job) return source.owner["spec"]["template"];
  Value made = Value::map();
  if (const Value* const labels = source.owner["metadata"].find("labels")) made.at("metadata").set("labels", *labels);
  made.set("spec", source.owner["spec"]);
  made.at("spec").erase("nodeName");
  return made;
}

Value spec_of(const KueueSource& source, const ClusterView& view) {
  Value spec = Value::map_of({{"queueName", local_queue_of(source.owner, source.is_job)}});
  set_priority(spec, source, view);
  spec.at("podSets").push_back(
      Value::map_of({{"name", "main"}, {"count", count_of(source)}, {"template", template_of(source)}}));
  return spec;
}

// ---- the status -----------------------------------------------------------------------------------------------------

class Conditions {
 public:
  Conditions(const Value& workload, Time now) : generation_(workload["metadata"]["generation"]), now_(now) {
    list_ = workload["status"]["conditions"].is_list() ? workload["status"]["conditions"] : Value::list();
  }

  const Value* find(std::string_view type) const {
    for (const Value& each : list_.items()) {
      if (each["type"].text() == type) return &each;
    }
    return nullptr;
  }
  bool holds(std::string_view type) const { return is_true(find(type)); }
  std::string text(std::string_view type, std::string_view field) const {
    const Value* const found = find(type);
    return found == nullptr ? std::string() : std::string((*found)[field].text());
  }

  // What it says already stays as it was said: nothing is written again because time has passed.
  void set(std::string_view type, bool holds, std::string_view reason, std::string_view message) {
    const char* const status = holds ? "True" : "False";
    Value* known = nullptr;
    for (Value& each : list_.edit_items()) known = each["type"].text() == type ? &each : known;
    if (known == nullptr) {
      list_.push_back(Value::map_of({{"type", type}}));
      known = &list_.edit_items().back();
    } else if ((*known)["status"].text() == status && (*known)["reason"].text() == reason &&
               (*known)["message"].text() == message) {
      return;
    }
    if ((*known)["status"].text() != status) known->set("lastTransitionTime", format_timestamp(now_));
    known->set("status", status);
    known->set("reason", reason);
    known->set("message", message);
    if (!generation_.is_null()) known->set("observedGeneration", generation_);
  }
  // Only of what was ever said to be so.
  void unset(std::string_view type, std::string_view reason, std::string_view message) {
    if (holds(type)) set(type, false, reason, message);
  }

  Value take() { return std::move(list_); }

 private:
  Value list_;
  Value generation_;
  Time now_;
};

struct Standing {
  std::vector<const Value*> holding;  // a place
  std::size_t ready = 0, leaving = 0;
  std::size_t waiting = 0;
  std::string why;      // one of them waits, as it was told
  std::string evicted;  // why those go who leave
};

Standing standing_of(const KueueSource& source) {
  Standing standing;
  for (const Value* const pod : source.pods) {
    if (has_ended(*pod)) continue;
    if ((*pod)["spec"]["nodeName"].is_empty()) {
      if (is_being_deleted(*pod)) continue;
      ++standing.waiting;
      const Value* const told = condition_of(*pod, "PodScheduled");
      if (standing.why.empty() && told != nullptr && (*told)["status"].text() == "False") {
        standing.why = (*told)["message"].text();
      }
      continue;
    }
    standing.holding.push_back(pod);
    if (is_true(condition_of(*pod, "Ready"))) ++standing.ready;
    const Value* const disrupted = condition_of(*pod, "DisruptionTarget");
    if (!is_true(disrupted) || (*disrupted)["reason"].text() != "PreemptionByScheduler") continue;
    ++standing.leaving;
    standing.evicted = (*disrupted)["message"].text();
  }
  return standing;
}

// The scheduler's rules, by which its words begin, as Kueue calls them.
struct KueuesWord {
  std::string_view rule, evicted, preempted;
};
constexpr KueuesWord kWords[] = {
    {"reclaim: ", "Preempted", "InCohortReclamation"},
    {"fair-share: ", "Preempted", "InCohortFairSharing"},
    {"preempt: ", "Preempted", "InClusterQueue"},
    {"defragment: ", "Migrated", ""},
    {"node: ", "NodeFailures", ""},
    {"never-ready: ", "PodsReadyTimeout", ""},
    {"over-run: ", "MaximumExecutionTimeExceeded", ""},
    {"window: ", "QuotaLowered", ""},
    {"budget: ", "BudgetUsed", ""},
    {"trust: ", "TrustEnded", ""},
};

void say_evicted(Conditions& conditions, const std::string& why) {
  const auto* const word =
      std::ranges::find_if(kWords, [&](const KueuesWord& each) { return why.starts_with(each.rule); });
  const bool known = word != std::end(kWords);
  conditions.set("Evicted", true, known ? word->evicted : "Preempted", why);
  if (known && !word->preempted.empty()) conditions.set("Preempted", true, word->preempted, why);
}

void say_admitted(Conditions& conditions, const Standing& standing, const std::string& cluster_queue) {
  conditions.set("QuotaReserved", true, "QuotaReserved", "Quota reserved in ClusterQueue " + cluster_queue);
  conditions.set("Admitted", true, "Admitted",
                 "every pod that has a place was admitted by ClusterQueue " + cluster_queue);
  // Once all ran it is started, though its pods end one by one and others come in their place.
  const bool ready = standing.ready == standing.holding.size() && standing.waiting == 0;
  if (ready) conditions.set("PodsReady", true, "Started", "all of its pods were ready");
  if (!conditions.holds("PodsReady"))
    conditions.set("PodsReady", false, "WaitForStart", "not all of its pods are ready");
  if (conditions.text("Evicted", "reason") == kDeactivated) return;
  if (standing.leaving == standing.holding.size()) return say_evicted(conditions, standing.evicted);
  for (const char* const type : {"Evicted", "Preempted"}) {
    conditions.unset(type, "QuotaReserved", "Previously: " + conditions.text(type, "message"));
  }
}

void say_pending(Conditions& conditions, std::string_view reason, const std::string& why) {
  conditions.set("QuotaReserved", false, reason, why);
  conditions.unset("Admitted", "NoReservation", "The workload has no reservation");
  conditions.unset("PodsReady", "WaitForStart", "not all of its pods are ready");
  if (!conditions.holds("Evicted")) return;
  const std::string evicted = conditions.text("Evicted", "reason");
  conditions.set("Requeued", evicted != kDeactivated, evicted, conditions.text("Evicted", "message"));
}

void say_finished(Conditions& conditions, const KueueSource& source) {
  const Value* const failed = source.is_job ? condition_of(source.owner, "Failed") : nullptr;
  const bool well = source.is_job ? !is_true(failed) : source.owner["status"]["phase"].text() == "Succeeded";
  std::string message = source.is_job ? "Job finished successfully" : "Pod finished successfully";
  if (!well) message = is_true(failed) ? std::string((*failed)["message"].text()) : "Pod failed";
  conditions.set("Finished", true, well ? "Succeeded" : "Failed", message);
}

void say_whether_active(Conditions& conditions, const Value& workload, const KueueSource& source) {
  if (!is_active(workload)) {
    conditions.set("Evicted", true, kDeactivated, "The workload is deactivated: spec.active is false");
  } else if (conditions.text("Evicted", "reason") == kDeactivated && !is_suspended(source)) {
    conditions.unset("Evicted", "Reactivated", "The workload was reactivated: spec.active is true");
    conditions.set("Requeued", true, "Reactivated", "The workload was reactivated: spec.active is true");
  }
}

}  // namespace

std::string local_queue_of(const Value& owner, bool is_job) {
  // Berth's own word goes before Kueue's. Pods of a group are not told apart from it, and have no Workload yet.
  if (!label_of(owner, is_job, kQueueLabel).empty()) return "";
  // A Job of a JobSet is suspended and let go by its set, and not by a Workload of its own.
  if (const Value* const maker = controller_of(owner);
      is_job && maker != nullptr && (*maker)["kind"].text() == "JobSet") {
    return "";
  }
  if (!is_job && (!owner["metadata"]["labels"][kGroupLabel].is_empty() ||
                  !owner["metadata"]["labels"][kKueueGroupLabel].is_empty())) {
    return "";
  }
  return std::string(label_of(owner, is_job, kKueueQueueLabel));
}

std::string kueue_workload_name(const Value& owner, bool is_job) {
  const std::string_view name = owner["metadata"]["name"].text(), uid = owner["metadata"]["uid"].text();
  std::uint64_t digest = Hasher().add(std::string_view(is_job ? "Job" : "Pod")).add(name).add(uid).digest();
  std::string made = (is_job ? "job-" : "pod-") + std::string(name);
  made.resize(std::min(made.size(), kNameMax - 6));
  while (made.ends_with('.')) made.pop_back();  // before '-' it would end a part of the name
  made += '-';
  for (int i = 0; i < 5; ++i, digest >>= 4) made += "0123456789abcdef"[digest & 15];
  return made;
}

bool is_over(const KueueSource& source) {
  if (!source.is_job) return has_ended(source.owner);
  return is_true(condition_of(source.owner, "Complete")) || is_true(condition_of(source.owner, "Failed"));
}

Value kueue_workload_of(const KueueSource& source, const ClusterView& view) {
  const Value& metadata = source.owner["metadata"];
  Value made = Value::map_of({{"apiVersion", "kueue.x-k8s.io/v1beta2"}, {"kind", "Workload"}});
  made.at("metadata").set("name", kueue_workload_name(source.owner, source.is_job));
  made.at("metadata").set("namespace", metadata["namespace"]);
  if (source.is_job) made.at("metadata").at("labels").set("kueue.x-k8s.io/job-uid", metadata["uid"]);
  made.at("metadata")
      .at("ownerReferences")
      .push_back(Value::map_of({{"apiVersion", source.is_job ? "batch/v1" : "v1"},
                                {"kind", source.is_job ? "Job" : "Pod"},
                                {"name", metadata["name"]},
                                {"uid", metadata["uid"]},
                                {"controller", true},
                                {"blockOwnerDeletion", true}}));
  made.set("spec", spec_of(source, view)).set("active", true);
  return made;
}

Value kueue_spec_change(const Value& workload, const KueueSource& source, const ClusterView& view) {
  const Value wanted = spec_of(source, view);
  const Value& spec = workload["spec"];
  // A merge patch takes away what is null.
  Value change;
  for (const char* const field : {"queueName", "priority", "priorityClassRef"}) {
    if (spec[field] != wanted[field]) change.at("spec").set(field, wanted[field]);
  }
  const Value::List& sets = spec["podSets"].items();
  // The template is of the Workload's making: a server may write one and the same in other words.
  const bool same_count = sets.size() == 1 && sets.front()["count"] == wanted["podSets"].items().front()["count"];
  if (!same_count) change.at("spec").set("podSets", wanted["podSets"]);
  return change;
}

Value kueue_status(const Value& workload, const KueueSource& source, const ClusterView& view, Time now) {
  Value status = workload["status"].is_map() ? workload["status"] : Value::map();
  Conditions conditions(workload, now);
  if (conditions.holds("Finished")) return status;
  const Standing standing = standing_of(source);
  say_whether_active(conditions, workload, source);
  if (is_over(source)) {
    say_finished(conditions, source);
  } else if (!standing.holding.empty()) {
    const std::string queue =
        cluster_queue_of(view, source.owner["metadata"]["namespace"].text(), workload["spec"]["queueName"].text());
    say_admitted(conditions, standing, queue);
    status.set("admission", kueue_admission(view, queue, standing.holding));
  } else if (is_suspended(source)) {
    say_pending(conditions, "Suspended",
                is_active(workload) ? "the Job is suspended; set its spec.suspend to false"
                                    : "the workload is deactivated; set its spec.active to true");
    status.erase("admission");
  } else if (!standing.why.empty() || (standing.waiting > 0 && conditions.find("QuotaReserved") != nullptr) ||
             conditions.holds("Evicted")) {
    // Between two of its pods, and before it was looked at, nothing is said.
    say_pending(conditions, "Pending", standing.why.empty() ? "its pods wait to be looked at" : standing.why);
    status.erase("admission");
  }
  Value list = conditions.take();
  if (!list.items().empty()) status.set("conditions", std::move(list));
  return status;
}

Deactivation deactivation_of(const Value& workload, const KueueSource& source) {
  if (!source.is_job || is_over(source)) return Deactivation::kNone;
  const bool suspended = is_suspended(source);
  if (!is_active(workload)) return suspended ? Deactivation::kNone : Deactivation::kSuspend;
  // Whom somebody else has suspended is not let go.
  const Value* const evicted = condition_of(workload, "Evicted");
  const bool ours = is_true(evicted) && (*evicted)["reason"].text() == kDeactivated;
  return suspended && ours ? Deactivation::kResume : Deactivation::kNone;
}

bool same_but_for_wording(const Value& status, const Value& other) {
  const auto plain = [](Value each) {
    if (Value* const conditions = each.find("conditions")) {
      for (Value& condition : conditions->edit_items()) {
        if (condition["type"].text() != "QuotaReserved") continue;
        const std::string message(condition["message"].text());
        condition.set("message", message.substr(0, message.find(':')));
        condition.erase("observedGeneration");
      }
    }
    return each;
  };
  return plain(status) == plain(other);
}

}  // namespace berth
