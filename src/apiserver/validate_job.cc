#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/pod_facts.h"
#include "apiserver/validation.h"
#include "manifest/labels.h"
#include "manifest/selector.h"
#include "manifest/time_request.h"
#include "model/quantity.h"

namespace berth {

namespace {

// What a controller is asked to keep track of by index.
constexpr std::int64_t kIndexesMax = 100'000;

void check_counts(const Value& spec, Causes& causes) {
  check_integer(spec["parallelism"], 0, kIndexesMax, "spec.parallelism", causes);
  check_integer(spec["completions"], 0, kCountMax, "spec.completions", causes);
  check_integer(spec["backoffLimit"], 0, kCountMax, "spec.backoffLimit", causes);
  check_integer(spec["activeDeadlineSeconds"], 0, kCountMax, "spec.activeDeadlineSeconds", causes);
  check_integer(spec["ttlSecondsAfterFinished"], 0, kCountMax, "spec.ttlSecondsAfterFinished", causes);
  if (spec["completionMode"].text() != "Indexed") return;
  if (spec["completions"].is_null()) {
    causes.push_back(required_value("spec.completions", "when completion mode is Indexed"));
  }
  check_integer(spec["completions"], 0, kIndexesMax, "spec.completions", causes);
}

void check_restart_policy(const Value& template_spec, Causes& causes) {
  const std::string path = "spec.template.spec.restartPolicy";
  const Value& policy = template_spec["restartPolicy"];
  if (policy.text() == "Always" || policy.is_empty()) {
    causes.push_back(required_value(path, "valid values: \"OnFailure\", \"Never\""));
  }
}

void check_selector(const Value& spec, Causes& causes) {
  if (spec["selector"].is_null()) return causes.push_back(required_value("spec.selector"));
  check_label_selector(spec["selector"], "spec.selector", causes);
  const Result<LabelSelector> selector = LabelSelector::from_object(spec["selector"]);
  const Value& labels = spec["template"]["metadata"]["labels"];
  if (selector && !selector->matches(labels)) {
    causes.push_back(
        invalid_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`"));
  }
}

// Without manualSelector the server says which pods are the Job's; somebody's own words would make others' pods its own.
void check_made_selector(const Value& job, Causes& causes) {
  const Value& spec = job["spec"];
  if (spec["manualSelector"].truth() || spec["selector"].is_null()) return;
  const Value::Map& labels = spec["selector"]["matchLabels"].members();
  const bool as_made = labels.size() == 1 && labels[0].key == "batch.kubernetes.io/controller-uid" &&
                       labels[0].value == job["metadata"]["uid"] && spec["selector"]["matchExpressions"].is_empty();
  if (as_made) return;
  causes.push_back(invalid_value("spec.selector", spec["selector"],
                                 "`selector` not auto-generated; leave it out, or set manualSelector"));
}

void check_gang(const Value& job, Causes& causes) {
  const Value& gang = job["metadata"]["annotations"][kGangAnnotation];
  if (!gang.is_null() && gang.text() != "true" && gang.text() != "false") {
    causes.push_back(unsupported_value("metadata.annotations[berth.dev/gang]", gang, {"true", "false"}));
  }
}

// Turns are of work that starts whole: pods that start one by one would have them one after the other.
void check_turns(const Value& job, Causes& causes) {
  const Value& annotations = job["metadata"]["annotations"];
  const bool one_by_one =
      annotations[kGangAnnotation].text() == "false" || !annotations[kKueueMinParallelismAnnotation].is_null();
  if (!one_by_one || job["spec"]["parallelism"].integer(1) < 2) return;
  const Value& of_template = job["spec"]["template"]["metadata"];
  for (const auto& [path, metadata] :
       {std::pair("metadata", &job["metadata"]), std::pair("spec.template.metadata", &of_template)}) {
    const Value& turns = (*metadata)["annotations"][kSingletonAnnotation];
    if (turns.is_null()) continue;
    causes.push_back(
        invalid_value(std::string(path) + ".annotations[" + std::string(kSingletonAnnotation) + "]", turns,
                      "turns are of Jobs whose pods start together; leave it out, or what lets them start one by one"));
  }
}

void check_waits_for_itself(const Value& job, Causes& causes) {
  const Value& of_template = job["spec"]["template"]["metadata"];
  for (const auto& [path, metadata] :
       {std::pair("metadata", &job["metadata"]), std::pair("spec.template.metadata", &of_template)}) {
    for (const AfterName& each : read_time_request((*metadata)["annotations"]).request.after) {
      if (each.kind != "job" || each.name != job["metadata"]["name"].text()) continue;
      causes.push_back(forbidden_value(std::string(path) + ".annotations",
                                       "it would wait for itself; leave out " + each.to_string()));
    }
  }
}

// Kueue's words for how many pods will do, and for how long they may run.
void check_words_of_kueue(const Value& job, Causes& causes) {
  const Value& metadata = job["metadata"];
  const Value* const enough = metadata["annotations"].find(kKueueMinParallelismAnnotation);
  const std::int64_t pods = job["spec"]["parallelism"].integer(1);
  if (enough != nullptr && !parse_integer(enough->text(), 1, pods)) {
    causes.push_back(invalid_value("metadata.annotations[" + std::string(kKueueMinParallelismAnnotation) + "]", *enough,
                                   "write how many of its pods will do to begin with, 1 to its parallelism"));
  }
  check_run_label(metadata, "metadata", causes);
}

// The template without what a queueing system may still decide while nothing of the Job runs.
Value without_directives(Value pod_template) {
  for (const char* const key : {"labels", "annotations"}) {
    if (Value* const metadata = pod_template.find("metadata")) metadata->erase(key);
  }
  if (pod_template["metadata"].is_empty()) pod_template.erase("metadata");
  Value* const spec = pod_template.find("spec");
  if (spec == nullptr) return pod_template;
  for (const char* const key : {"nodeSelector", "affinity", "tolerations", "schedulingGates"}) spec->erase(key);
  for (const char* const list : {"containers", "initContainers"}) {
    if (!(*spec)[list].is_list()) continue;
    for (Value& container : spec->at(list).edit_items()) container.erase("resources");
  }
  return pod_template;
}

void check_job_update(const Value& before, const Value& after, Causes& causes) {
  const Value& had = before["spec"];
  const Value& has = after["spec"];
  if (has["completionMode"].text() != "Indexed") {
    check_immutable(had["completions"], has["completions"], "spec.completions", causes);
  } else if (had["completions"] != has["completions"] && has["completions"] != has["parallelism"]) {
    causes.push_back(
        invalid_value("spec.completions", has["completions"], "can only be modified in tandem with spec.parallelism"));
  }
  for (const std::string_view field :
       {"selector", "completionMode", "podFailurePolicy", "successPolicy", "backoffLimitPerIndex", "managedBy"}) {
    check_immutable(had[field], has[field], "spec." + std::string(field), causes);
  }
  // Suspended, and nothing of it has been started since: no pod was made from the old template.
  const bool open = had["suspend"].truth() && before["status"]["startTime"].is_null();
  const Value old_template = open ? without_directives(had["template"]) : had["template"];
  const Value new_template = open ? without_directives(has["template"]) : has["template"];
  if (!(old_template["spec"] == new_template["spec"])) {
    causes.push_back(invalid_value("spec.template.spec", has["template"]["spec"], "field is immutable"));
  } else if (!(old_template == new_template)) {
    causes.push_back(invalid_value("spec.template", has["template"], "field is immutable"));
  }
}

}  // namespace

void check_job(const AdmissionRequest& request, Causes& causes) {
  const Value& job = *request.object;
  check_gang(job, causes);
  if (request.subresource == "status") return;
  check_words_of_kueue(job, causes);
  check_time_annotations(job["metadata"], "metadata", causes);
  check_turns(job, causes);
  check_waits_for_itself(job, causes);
  const Value& spec = job["spec"];
  // Its pods carry the name as a label.
  if (job["metadata"]["name"].text().size() > 63) {
    causes.push_back(invalid_value("metadata.name", job["metadata"]["name"], "must be no more than 63 characters"));
  }
  check_counts(spec, causes);
  check_job_policies(spec, causes);
  check_made_selector(job, causes);
  check_selector(spec, causes);
  const Value& pod_template = spec["template"];
  check_template_metadata(pod_template["metadata"], "spec.template.metadata", causes);
  check_pod_spec(pod_template["spec"], "spec.template.spec", causes);
  const bool is_new = request.operation == Operation::kCreate;
  const bool is_another =
      request.before != nullptr && (*request.before)["spec"]["template"]["spec"] != pod_template["spec"];
  if (is_new || is_another) check_placing(pod_template["spec"], "spec.template.spec", causes);
  if (is_new) check_slices(pod_template["spec"], "spec.template.spec", causes);
  check_template_words(job["metadata"], request.before, pod_template, "spec.template", causes);
  check_restart_policy(pod_template["spec"], causes);
  if (!pod_template["spec"]["nodeName"].is_empty()) {
    causes.push_back(
        forbidden_value("spec.template.spec.nodeName", "pods of a Job go where the scheduler puts them; leave it out"));
  }
  if (request.operation == Operation::kUpdate && request.before != nullptr) {
    check_job_update(*request.before, job, causes);
  }
}

}  // namespace berth
