// Volcano's Job: what of it Berth cannot follow, and that each of its tasks makes pods that it can.
#include <cstddef>
#include <string>
#include <string_view>

#include "apiserver/validation.h"
#include "manifest/volcano_job.h"

namespace berth {

namespace {

void check_task(const AdmissionRequest& request, const Value& task, const std::string& path, CausesOfParts& of_job,
                Causes& causes) {
  const bool is_new = request.operation == Operation::kCreate;
  const Value& pod_template = task["template"];
  const std::string spec = path + ".template.spec";
  check_template_metadata(pod_template["metadata"], path + ".template.metadata", causes);
  check_pod_spec(pod_template["spec"], spec, causes);
  if (is_new) check_placing(pod_template["spec"], spec, causes);
  if (is_new) check_slices(pod_template["spec"], spec, causes);
  Causes of_words;
  check_template_words((*request.object)["metadata"], request.before, pod_template, path + ".template", of_words);
  for (ErrorCause& each : of_words) {
    const bool is_of_task = each.field.starts_with(path);
    is_of_task ? causes.push_back(std::move(each)) : of_job.add(std::move(each));
  }
  if (!pod_template["spec"]["nodeName"].is_empty()) {
    causes.push_back(
        forbidden_value(spec + ".nodeName", "pods of a Job go where the scheduler puts them; leave it out"));
  }
}

// What may be another while it runs: only how often it tries, and what becomes of it at its end.
Value without_open_fields(Value spec) {
  for (const char* const field : {"maxRetry", "minSuccess", "ttlSecondsAfterFinished"}) spec.erase(field);
  if (!spec["tasks"].is_list()) return spec;
  for (Value& task : spec.at("tasks").edit_items()) task.erase("maxRetry");
  return spec;
}

}  // namespace

void check_volcano_job(const AdmissionRequest& request, Causes& causes) {
  if (!request.subresource.empty()) return;
  const Value& job = *request.object;
  for (const SpecMistake& mistake : read_volcano_job(job).mistakes) {
    causes.push_back(invalid_value(mistake.field, mistake.value.is_null() ? "" : mistake.value, mistake.text));
  }
  const Value::List& tasks = job["spec"]["tasks"].items();
  CausesOfParts of_job("task");
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string path = item_path("spec.tasks", i);
    of_job.begin_part(tasks[i], path, job["metadata"], tasks[i]["template"]["metadata"]);
    check_task(request, tasks[i], path, of_job, causes);
  }
  std::move(of_job).tell(causes);
  if (request.operation != Operation::kUpdate || request.before == nullptr) return;
  if (without_open_fields((*request.before)["spec"]) == without_open_fields(job["spec"])) return;
  causes.push_back(forbidden_value("spec",
                                   "only maxRetry, minSuccess and ttlSecondsAfterFinished may be changed; delete the "
                                   "job and create it anew"));
}

}  // namespace berth
