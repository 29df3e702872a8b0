#include "apiserver/job_sets.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/filling.h"
#include "manifest/handed_down.h"
#include "manifest/kinds.h"

namespace berth {

namespace {

void fill_set_failure_policy(Value& policy) {
  set_if_empty(policy, "restartStrategy", "Recreate");
  if (!policy["rules"].is_list()) return;
  std::size_t number = 0;
  for (Value& rule : policy.at("rules").edit_items()) {
    if (rule.is_map()) set_if_empty(rule, "name", "failurePolicyRule" + std::to_string(number));
    ++number;
  }
}

void fill_replicated_job(Value& replicated_job) {
  set_if_absent(replicated_job, "replicas", 1);
  set_if_empty(replicated_job, "groupName", "default");
  Value& job_spec = replicated_job.at("template").at("spec");
  set_if_empty(job_spec, "completionMode", "Indexed");
  set_if_empty(job_spec.at("template").at("spec"), "restartPolicy", "OnFailure");
}

}  // namespace

// As the project's own server does it.
void fill_job_set(AdmissionRequest& request) {
  Value& spec = request.object->at("spec");
  set_if_empty(spec, "successPolicy", Value::map_of({{"operator", "All"}}));
  set_if_empty(spec, "startupPolicy", Value::map_of({{"startupPolicyOrder", "AnyOrder"}}));
  set_if_absent(spec.at("network"), "enableDNSHostnames", true);
  set_if_absent(spec.at("network"), "publishNotReadyAddresses", true);
  if (spec["failurePolicy"].is_map()) fill_set_failure_policy(spec.at("failurePolicy"));
  if (spec["replicatedJobs"].is_list()) {
    for (Value& each : spec.at("replicatedJobs").edit_items()) {
      if (each.is_map()) fill_replicated_job(each);
    }
  }
  if (request.operation == Operation::kCreate) request.object->erase("status");
}

Value last_job_of(const Value& set, const Value& replicated_job) {
  const std::int64_t last = replicated_job["replicas"].integer() > 0 ? replicated_job["replicas"].integer() - 1 : 0;
  std::string name(set["metadata"]["name"].text());
  name.append("-").append(replicated_job["name"].text()).append("-").append(std::to_string(last));
  Value metadata = Value::map_of({{"name", name}, {"namespace", set["metadata"]["namespace"]}, {"uid", "none-yet"}});
  for (const char* const key : {"labels", "annotations"}) {
    if (const Value& given = replicated_job["template"]["metadata"][key]; given.is_map()) metadata.set(key, given);
  }
  hand_down(set["metadata"], metadata);
  Value job = Value::map_of({{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", std::move(metadata)}});
  if (const Value& spec = replicated_job["template"]["spec"]; spec.is_map()) job.set("spec", spec);
  AdmissionRequest request;
  request.kind = find_served("batch", "v1", "jobs");
  request.object = &job;
  fill_defaults(request);
  return job;
}

}  // namespace berth
