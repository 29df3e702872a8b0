#include <algorithm>
#include <string>
#include <string_view>

#include "apiserver/policy_warnings.h"
#include "apiserver/validation.h"
#include "manifest/hyper_nodes.h"
#include "manifest/labels.h"
#include "manifest/pod_group.h"

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

// Whoever was given a place by its levels keeps it: what they mean must not change under him.
void check_kueue_flavor(const AdmissionRequest& request, Causes& causes) {
  check_policy_object(request, causes);
  if (request.before == nullptr) return;
  const Value& before = (*request.before)["spec"];
  if (before["topologyName"].is_empty() || before == (*request.object)["spec"]) return;
  causes.push_back(invalid_value("spec", "",
                                 "resourceFlavorSpec are immutable when topologyName is set; delete it and make it "
                                 "anew, or write another flavor"));
}

void check_kueue_topology(const AdmissionRequest& request, Causes& causes) {
  check_policy_object(request, causes);
  if (request.before == nullptr) return;
  check_immutable((*request.before)["spec"]["levels"], (*request.object)["spec"]["levels"], "spec.levels", causes);
}

void check_hyper_node(const AdmissionRequest& request, Causes& causes) {
  for (const HyperNodeProblem& each : read_hyper_node(*request.object).problems) {
    causes.push_back(invalid_value(each.field, "", each.why));
  }
}

void check_pod_group(const AdmissionRequest& request, Causes& causes) {
  for (const SpecMistake& each : read_pod_group(request.kind->qualified(), *request.object).mistakes) {
    causes.push_back(invalid_value(each.field, each.value, each.text));
  }
}

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
