// The parts of validate(): what is wrong with each kind by itself and with each change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission.h"
#include "apiserver/api_error.h"
#include "manifest/label_syntax.h"
#include "manifest/value.h"

namespace berth {

using Causes = std::vector<ErrorCause>;

// Of the API's 32-bit fields.
inline constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();

std::string item_path(std::string_view list, std::size_t index);  // "spec.containers[0]"
bool is_qualified_name(std::string_view text);                    // "app", "example.com/app"

// Whether there are no more than `most`, else a cause that says so.
bool check_count(std::size_t count, std::size_t most, const std::string& path, Causes& causes);
// Amounts from 0 up in a map of quantities; what is no quantity at all is found by the walk over the schema.
void check_not_negative(const Value& amounts, const std::string& path, Causes& causes);
void check_integer(const Value& number, std::int64_t low, std::int64_t high, const std::string& path, Causes& causes);
// "field is immutable" if the two differ.
void check_immutable(const Value& before, const Value& after, const std::string& path, Causes& causes);
void check_label_selector(const Value& selector, const std::string& path, Causes& causes);
// Labels that objects made from a template will carry.
void check_template_metadata(const Value& metadata, const std::string& path, Causes& causes);

// Of a pod or a template; `path` is "spec" or "spec.template.spec".
void check_pod_spec(const Value& spec, const std::string& path, Causes& causes);
// What it says of where it may be: of new ones alone, for those that are there already run or wait as they are.
void check_placing(const Value& spec, const std::string& path, Causes& causes);
// That what one pod asks of slices (MIG) can be given to one pod.
void check_slices(const Value& spec, const std::string& path, Causes& causes);
// Berth's own annotations: fractions, models, groups, simulated runs. `spec` is what the pods will ask for.
// What pods, and what makes them, say of time (manifest/time_request.h).
void check_time_annotations(const Value& metadata, const std::string& path, Causes& causes);
void check_pod_annotations(const Value& metadata, const Value& spec, const std::string& path, Causes& causes);
// The same of a template, `path` being "spec.template", with what its pods have of `maker`, the metadata of what makes them. What
// that says already `before`, the stored object or nullptr, stays: it may be older than this rule.
void check_template_words(const Value& maker, const Value* before, const Value& pod_template, const std::string& path,
                          Causes& causes);
// Whether a cause, found at `path`, is about a word that is handed down, for `own`, which stands there, has none; then it is said
// of the maker's metadata.
bool is_of_maker(ErrorCause& cause, const std::string& path, const Value& own, const Value& maker);
// Whether the cause is about a word of its metadata that an object had already.
bool was_said_before(const ErrorCause& cause, const Value* before, const Value& after);
void add_once(ErrorCause cause, Causes& causes);

// What is wrong with the words that go to all parts of a maker, said once; of what is so for some of them alone it is said for
// which, and where to write it instead.
class CausesOfParts {
 public:
  explicit CausesOfParts(std::string part) : part_(std::move(part)) {}  // what they are called: "task"

  // `made`: the metadata of what it makes, with the words that it has of `maker`.
  void begin_part(const Value& part, const std::string& path, const Value& maker, Value made);
  void add(ErrorCause cause);
  void tell(Causes& causes) &&;

 private:
  struct Found {
    ErrorCause cause;
    std::vector<std::size_t> parts;
  };
  // Whether the word that the cause is about goes to the part.
  bool goes_to(std::size_t part, const ErrorCause& cause) const;

  std::string part_;
  std::vector<std::string> names_;
  std::vector<Value> made_;
  std::vector<Found> found_;
};
// The label by which Kueue limits a run, if it is there.
void check_run_label(const Value& metadata, const std::string& path, Causes& causes);

void check_pod(const AdmissionRequest& request, Causes& causes);
// How a Job's pods may end: podFailurePolicy, successPolicy, limits for each index.
void check_job_policies(const Value& job_spec, Causes& causes);
void check_job(const AdmissionRequest& request, Causes& causes);
void check_config_map(const AdmissionRequest& request, Causes& causes);
void check_secret(const AdmissionRequest& request, Causes& causes);
void check_node(const AdmissionRequest& request, Causes& causes);
void check_resource_quota(const AdmissionRequest& request, Causes& causes);
void check_limit_range(const AdmissionRequest& request, Causes& causes);
void check_disruption_budget(const AdmissionRequest& request, Causes& causes);
void check_priority_class(const AdmissionRequest& request, Causes& causes);
void check_lease(const AdmissionRequest& request, Causes& causes);
void check_newer_event(const AdmissionRequest& request, Causes& causes);
void check_event(const AdmissionRequest& request, Causes& causes);
void check_role(const AdmissionRequest& request, Causes& causes);
void check_role_binding(const AdmissionRequest& request, Causes& causes);
void check_queue(const AdmissionRequest& request, Causes& causes);
void check_resource_flavor(const AdmissionRequest& request, Causes& causes);
void check_reservation(const AdmissionRequest& request, Causes& causes);
void check_what_if(const AdmissionRequest& request, Causes& causes);
void check_defragmentation(const AdmissionRequest& request, Causes& causes);
void check_trust_circle(const AdmissionRequest& request, Causes& causes);
void check_workload(const AdmissionRequest& request, Causes& causes);
// Kueue's, which only the controllers write; anybody who may, its spec.active.
void check_kueue_workload(const AdmissionRequest& request, Causes& causes);
// What of these Kueue lets nobody change, beside what policy_warnings.h refuses.
void check_kueue_flavor(const AdmissionRequest& request, Causes& causes);
void check_kueue_topology(const AdmissionRequest& request, Causes& causes);
// Volcano's.
void check_volcano_job(const AdmissionRequest& request, Causes& causes);
void check_hyper_node(const AdmissionRequest& request, Causes& causes);
void check_pod_group(const AdmissionRequest& request, Causes& causes);
// JobSet's own.
void check_job_set(const AdmissionRequest& request, Causes& causes);

}  // namespace berth
