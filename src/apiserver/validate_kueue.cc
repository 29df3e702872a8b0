#include <algorithm>
#include <string>
#include <string_view>

#include "apiserver/validation.h"
#include "manifest/labels.h"

namespace berth {

namespace {

// What the Workload was made for.
std::string_view kind_of_owner(const Value& workload) {
  for (const Value& owner : workload["metadata"]["ownerReferences"].items()) {
    if (owner["controller"].truth()) return owner["kind"].text();
  }
  return "";
}

Value without_active(Value spec) {
  spec.erase("active");
  return spec;
}

}  // namespace

void check_kueue_workload(const AdmissionRequest& request, Causes& causes) {
  if (request.user.name == "system:berth-controllers" || !request.subresource.empty()) return;
  const Value& workload = *request.object;
  if (request.operation == Operation::kCreate) {
    causes.push_back(forbidden_value("kind",
                                     "Workloads are made here, one for each Job or pod that waits in a LocalQueue; "
                                     "create the Job, with the label " +
                                         std::string(kKueueQueueLabel)));
    return;
  }
  if (without_active(workload["spec"]) != without_active((*request.before)["spec"])) {
    causes.push_back(
        forbidden_value("spec", "only active may be changed; the rest follows the Job or pod: change that instead"));
  }
  check_immutable((*request.before)["metadata"]["ownerReferences"], workload["metadata"]["ownerReferences"],
                  "metadata.ownerReferences", causes);
  const bool stopped = !workload["spec"]["active"].truth(true);
  if (stopped && kind_of_owner(workload) != "Job") {
    causes.push_back(forbidden_value("spec.active", "a pod without a Job cannot come back; delete the pod instead"));
  }
}

}  // namespace berth
