// What pods, Jobs and JobSets are checked for: priority classes and queues.
#include <cstdint>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"
#include "apiserver/sight.h"

namespace berth {

namespace {

constexpr std::string_view kPriorityClasses = "priorityclasses.scheduling.k8s.io";
constexpr std::string_view kWorkloadClasses = "workloadpriorityclasses.kueue.x-k8s.io";
constexpr std::string_view kQueues = "queues.berth.dev";
// Deeper trees than this are a mistake, and are walked for every change of a queue.
constexpr int kQueueDepthMax = 100;

std::string_view name_of_object(const AdmissionRequest& request) {
  return (*request.object)["metadata"]["name"].text();
}

ApiError class_refused(const AdmissionRequest& request, const std::string& kind, const std::string& plural,
                       const std::string& name) {
  return forbidden(*request.kind, name_of_object(request),
                   "user \"" + request.user.name + "\" may not use the " + kind + " \"" + name +
                       "\": it takes the verb use on " + plural + " with this name");
}

// The class of that name, if the user may use it. Who may not look at all classes is not told which ones there are.
std::expected<Value, ApiError> usable_class(const AdmissionRequest& request, const Transaction& transaction,
                                            const Authorizer& authorizer, const std::string& name) {
  Value priority = find_object(transaction, object_key(kPriorityClasses, "", name));
  const bool is_system = name.starts_with("system-");
  const bool refused = (is_system || is_restricted_class(priority)) && !may_use_class(request.user, authorizer, name);
  if (!priority.is_null() && !refused) return priority;
  const bool told = is_system || may_get(request.user, authorizer, "scheduling.k8s.io", "priorityclasses", "", name);
  if (told && refused) return std::unexpected(class_refused(request, "PriorityClass", "priorityclasses", name));
  std::string why = "no PriorityClass with name " + name + " was found";
  if (!told) {
    why += " that user \"" + request.user.name +
           "\" may use; `kubectl get priorityclasses` shows those, and a restricted one takes the verb use on "
           "priorityclasses with its name";
  }
  return std::unexpected(forbidden(*request.kind, name_of_object(request), why));
}

// The class that pods without one get; null if there is none.
Value everybodys_class(const Transaction& transaction) {
  Value found;
  transaction.for_each(std::string(kPriorityClasses) + "/", [&](const RecordPtr& record) {
    // Most classes are not for everybody, and need not be read to know it.
    if (!found.is_null() || record->bytes.find("\"globalDefault\":true") == std::string::npos) return;
    Value priority = object_of(record);
    if (priority["globalDefault"].truth()) found = std::move(priority);
  });
  return found;
}

Refusal check_only_default(const AdmissionRequest& request, const Transaction& transaction) {
  if (!(*request.object)["globalDefault"].truth()) return {};
  const Value other = everybodys_class(transaction);
  if (other.is_null() || other["metadata"]["name"].text() == name_of_object(request)) return {};
  return forbidden(*request.kind, name_of_object(request),
                   "PriorityClass " + std::string(other["metadata"]["name"].text()) +
                       " is already marked as default; only one can be, so take globalDefault from that one first");
}

Refusal give_priority(AdmissionRequest& request, const Value& priority) {
  const std::int64_t value = priority["value"].integer();
  Value& spec = request.object->at("spec");
  const Value& given = spec["priority"];
  if (!given.is_null() && given.integer() != value) {
    return forbidden(*request.kind, name_of_object(request),
                     "the integer value of priority (" + std::to_string(given.integer()) +
                         ") must not be provided in pod spec; priority admission controller computed " +
                         std::to_string(value) + " from the given PriorityClass name");
  }
  const std::string policy(priority["preemptionPolicy"].text("PreemptLowerPriority"));
  const std::string_view asked = spec["preemptionPolicy"].text();
  if (!asked.empty() && asked != policy) {
    return forbidden(*request.kind, name_of_object(request),
                     "the string value of PreemptionPolicy (" + std::string(asked) +
                         ") must not be provided in pod spec; priority admission controller computed " + policy +
                         " from the given PriorityClass name");
  }
  if (!priority.is_null()) spec.set("priorityClassName", priority["metadata"]["name"]);
  spec.set("priority", value);
  spec.set("preemptionPolicy", policy);
  return {};
}

// "default" is Berth's own as long as Volcano has none of that name.
bool is_of_volcano(std::string_view queue, const Transaction& transaction) {
  if (queue != kDefaultQueue) return !queue.empty();
  return transaction.find(object_key("queues.scheduling.volcano.sh", "", kDefaultQueue)) != nullptr;
}

// Kueue's queues let in whom their ClusterQueue selects, which the scheduler looks at; Volcano's let everybody in.
bool names_other_queue(const Value& metadata, const Transaction& transaction) {
  return !metadata["labels"][kKueueQueueLabel].is_empty() ||
         is_of_volcano(metadata["annotations"][kVolcanoQueueAnnotation].text(), transaction);
}

// Volcano's Job names a queue of Volcano's, or none, which is that of the name default.
bool waits_with_volcano(const KindInfo& kind, const Value& object, const Transaction& transaction) {
  if (!is_volcano_job_kind(kind)) return false;
  const std::string_view queue = object["spec"]["queue"].text();
  return is_of_volcano(queue.empty() ? kDefaultQueue : queue, transaction);
}

// Who has a say in what the object's pods carry: of each sort of pods the metadata in which it may stand.
std::vector<std::vector<const Value*>> metadata_of_pods(const KindInfo& kind, const Value& object) {
  const Value& own = object["metadata"];
  std::vector<std::vector<const Value*>> sorts;
  if (is_job_set_kind(kind)) {
    for (const Value& each : object["spec"]["replicatedJobs"].items()) {
      const Value& job = each["template"];
      sorts.push_back({&own, &job["metadata"], &job["spec"]["template"]["metadata"]});
    }
    return sorts;
  }
  for (const Value* const pod : pods_in(kind, object)) sorts.push_back({&own, &(*pod)["metadata"]});
  return sorts;
}

bool is_or_makes_pods(const KindInfo& kind) { return is_pod_kind(kind) || makes_pods(kind); }

// Berth's own queues that a pod, or the pods of a Job or JobSet, would wait in.
std::set<std::string> queues_named(const KindInfo& kind, const Value& object, const Transaction& transaction) {
  std::set<std::string> named;
  for (const std::vector<const Value*>& sort : metadata_of_pods(kind, object)) {
    bool elsewhere = waits_with_volcano(kind, object, transaction), here = false;
    for (const Value* const metadata : sort) {
      const std::string_view name = (*metadata)["labels"][kQueueLabel].text();
      if (!name.empty()) named.emplace(name);
      here = here || !name.empty();
      elsewhere = elsewhere || names_other_queue(*metadata, transaction);
    }
    if (!here && !elsewhere) named.emplace(kDefaultQueue);
  }
  return named;
}

// Where Kueue runs, it suspends a Job with a queue and lets it go when its turn has come; manifests for it say so themselves.
// Here the pods wait in the queue. A Job that the controllers make is as its JobSet wants it.
void let_kueue_job_go(AdmissionRequest& request) {
  if (request.operation != Operation::kCreate || request.user.name == kControllersUser) return;
  if (!is_job_kind(*request.kind) && !is_job_set_kind(*request.kind)) return;
  Value& job = *request.object;
  if (job["metadata"]["labels"][kKueueQueueLabel].is_empty() || !job["spec"]["suspend"].truth()) return;
  job.at("spec").set("suspend", false);
  request.warnings.emplace_back("spec.suspend is taken back: the pods of a " + request.kind->kind + " with the label " +
                                std::string(kKueueQueueLabel) +
                                " wait in their queue; to stop it, suspend it once it is there");
}

// Whether the controllers make the one for the other.
bool is_made_for(const KindInfo& made, const KindInfo& maker) {
  if (is_pod_kind(made)) return is_job_kind(maker) || is_volcano_job_kind(maker);
  return is_job_kind(made) && is_job_set_kind(maker);
}

// Whether it is one that the controllers make for a Job or JobSet which says so itself: its owner was asked already.
bool comes_with_owner(const AdmissionRequest& request, const Transaction& transaction,
                      const std::function<bool(const KindInfo&, const Value&)>& says_so) {
  if (request.user.name != kControllersUser) return false;
  const Value& metadata = (*request.object)["metadata"];
  for (const Value& owner : metadata["ownerReferences"].items()) {
    const KindInfo* const kind = find_served_kind(owner["apiVersion"].text(), owner["kind"].text());
    if (!owner["controller"].truth() || kind == nullptr || !is_made_for(*request.kind, *kind)) continue;
    const std::string key = object_key(kind->qualified(), metadata["namespace"].text(), owner["name"].text());
    const Value maker = find_object(transaction, key);
    return !maker.is_null() && maker["metadata"]["uid"] == owner["uid"] && says_so(*kind, maker);
  }
  return false;
}

// The WorkloadPriorityClasses of Kueue's that a pod, or the pods of a Job or JobSet, would have.
std::set<std::string> workload_classes_named(const KindInfo& kind, const Value& object) {
  std::set<std::string> named;
  for (const std::vector<const Value*>& sort : metadata_of_pods(kind, object)) {
    for (const Value* const metadata : sort) {
      const std::string_view name = (*metadata)["labels"][kKueuePriorityLabel].text();
      if (!name.empty()) named.emplace(name);
    }
  }
  return named;
}

// A label's class counts like that of spec.priorityClassName, and can be changed while the pod waits. Names of classes
// that are not there are let in: the scheduler says so, and the pod waits.
Refusal check_workload_classes(const AdmissionRequest& request, const Transaction& transaction,
                               const Authorizer& authorizer) {
  if (!is_or_makes_pods(*request.kind)) return {};
  const std::set<std::string> named = workload_classes_named(*request.kind, *request.object);
  if (named.empty()) return {};
  std::set<std::string> before;
  if (request.before != nullptr) before = workload_classes_named(*request.kind, *request.before);
  for (const std::string& name : named) {
    if (before.contains(name)) continue;
    const auto owner_names_it = [&](const KindInfo& kind, const Value& owner) {
      return workload_classes_named(kind, owner).contains(name);
    };
    const Value priority = find_object(transaction, object_key(kWorkloadClasses, "", name));
    const bool is_restricted = priority["metadata"]["annotations"][kRestrictedAnnotation].text() == "true";
    if (!is_restricted || may_use_workload_class(request.user, authorizer, name)) continue;
    if (comes_with_owner(request, transaction, owner_names_it)) continue;
    return class_refused(request, "WorkloadPriorityClass", "workloadpriorityclasses", name);
  }
  return {};
}

// Who may not look at all queues is not told which ones there are.
Refusal refuse_queue(const AdmissionRequest& request, const Authorizer& authorizer, const std::string& name,
                     bool missing) {
  const bool told = may_get(request.user, authorizer, "berth.dev", "queues", "", name);
  if (told && missing) {
    return forbidden(*request.kind, name_of_object(request),
                     "label berth.dev/queue names the queue \"" + name +
                         "\", which does not exist; `kubectl get queues` shows those that do");
  }
  const std::string name_space((*request.object)["metadata"]["namespace"].text());
  return forbidden(*request.kind, name_of_object(request),
                   "queue \"" + name + "\" takes nothing from user \"" + request.user.name + "\" in namespace \"" +
                       name_space + "\": " + (told ? "" : "there is none of this name, or ") +
                       "spec.submitters of the queue names neither; choose another queue by the label "
                       "berth.dev/queue (`kubectl get queues` shows yours), or ask whoever keeps this one");
}

Refusal check_parent(const AdmissionRequest& request, const Transaction& transaction) {
  const std::string_view name = name_of_object(request);
  std::string parent((*request.object)["spec"]["parent"].text());
  std::string way(name);
  for (int depth = 0; !parent.empty(); ++depth) {
    way.append(" -> ").append(parent);
    if (parent == name) return forbidden(*request.kind, name, "queues would be each other's parents: " + way);
    if (depth == kQueueDepthMax) {
      return forbidden(*request.kind, name,
                       "the tree of queues would be deeper than " + std::to_string(kQueueDepthMax) +
                           "; give it a parent "
                           "nearer to the top");
    }
    const Value queue = find_object(transaction, object_key(kQueues, "", parent));
    if (queue.is_null()) {
      return forbidden(*request.kind, name, "spec.parent: there is no queue \"" + parent + "\"; create it first");
    }
    parent = queue["spec"]["parent"].text();
  }
  return {};
}

Refusal check_childless(const AdmissionRequest& request, const Transaction& transaction) {
  const std::string_view name = (*request.before)["metadata"]["name"].text();
  if (name == kDefaultQueue) {
    return forbidden(*request.kind, name, "what names no queue waits in this one; set spec.stop to hold it");
  }
  Refusal refusal;
  transaction.for_each(std::string(kQueues) + "/", [&](const RecordPtr& record) {
    if (refusal) return;
    const Value queue = object_of(record);
    if (queue["spec"]["parent"].text() != name) return;
    refusal = forbidden(*request.kind, name,
                        "queue \"" + std::string(queue["metadata"]["name"].text()) +
                            "\" stands below it; give that one another parent, or delete it, first");
  });
  return refusal;
}

// The PriorityClasses that a pod, or the pods that it makes, would have.
std::set<std::string> classes_named(const KindInfo& kind, const Value& object) {
  std::set<std::string> named;
  const auto add = [&](const Value& spec) {
    if (!spec["priorityClassName"].is_empty()) named.emplace(spec["priorityClassName"].text());
  };
  for (const Value* const pod : pods_in(kind, object)) add((*pod)["spec"]);
  if (is_volcano_job_kind(kind)) add(object["spec"]);
  return named;
}

}  // namespace

Refusal settle_priority(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer) {
  if (Refusal refusal = check_workload_classes(request, transaction, authorizer)) return refusal;
  if (!request.subresource.empty()) return {};
  if (request.kind->qualified() == kPriorityClasses) return check_only_default(request, transaction);
  const std::set<std::string> named = classes_named(*request.kind, *request.object);
  std::set<std::string> before;
  if (request.before != nullptr) before = classes_named(*request.kind, *request.before);
  Value priority;
  for (const std::string& name : named) {
    if (before.contains(name)) continue;
    auto found = usable_class(request, transaction, authorizer, name);
    if (!found) return std::move(found.error());
    priority = *std::move(found);
  }
  if (!is_pod_kind(*request.kind) || request.operation != Operation::kCreate) return {};
  return give_priority(request, named.empty() ? everybodys_class(transaction) : priority);
}

Refusal check_submission(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer) {
  if (!is_or_makes_pods(*request.kind)) return {};
  if (request.subresource.empty()) let_kueue_job_go(request);
  const Value& object = *request.object;
  const std::set<std::string> named = queues_named(*request.kind, object, transaction);
  const bool as_before =
      request.before != nullptr && queues_named(*request.kind, *request.before, transaction) == named;
  if (as_before) return {};
  const std::string_view name_space = object["metadata"]["namespace"].text();
  for (const std::string& name : named) {
    const Value queue = find_object(transaction, object_key(kQueues, "", name));
    const bool missing = queue.is_null() && name != kDefaultQueue;
    const auto owner_names_it = [&](const KindInfo& kind, const Value& owner) {
      return queues_named(kind, owner, transaction).contains(name);
    };
    if (!missing &&
        (queue_takes(queue, request.user, name_space) || comes_with_owner(request, transaction, owner_names_it))) {
      continue;
    }
    return refuse_queue(request, authorizer, name, missing);
  }
  return {};
}

Refusal check_queue_tree(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  if (request.kind->qualified() != kQueues || !request.subresource.empty()) return {};
  if (request.operation == Operation::kDelete) return check_childless(request, transaction);
  return check_parent(request, transaction);
}

}  // namespace berth
