#include <optional>
#include <string>
#include <string_view>

#include "apiserver/admission.h"
#include "apiserver/admission_rules.h"
#include "apiserver/object_records.h"
#include "apiserver/pod_facts.h"

namespace berth {

namespace {

using Rule = Refusal (*)(AdmissionRequest&, Transaction&, const Authorizer&);

Refusal check_namespace(AdmissionRequest& request, Transaction& transaction, const Authorizer&) {
  if (request.operation != Operation::kCreate || !request.subresource.empty() || !request.kind->namespaced) return {};
  const Value& metadata = (*request.object)["metadata"];
  const std::string_view name = metadata["namespace"].text();
  const Value name_space = find_object(transaction, object_key("namespaces", "", name));
  if (name_space.is_null()) return not_found(*find_served("", "v1", "namespaces"), name);
  const bool goes =
      !name_space["metadata"]["deletionTimestamp"].is_null() || name_space["status"]["phase"].text() == "Terminating";
  if (!goes) return {};
  ApiError error =
      forbidden(*request.kind, metadata["name"].text(),
                "unable to create new content in namespace " + std::string(name) + " because it is being terminated");
  error.causes.push_back(
      {"NamespaceTerminating", "namespace " + std::string(name) + " is being terminated", "metadata.namespace"});
  return error;
}

// Who puts a pod on a node himself does what a scheduler does, past every queue.
Refusal check_node_choice(AdmissionRequest& request, Transaction&, const Authorizer& authorizer) {
  if (!is_pod_kind(*request.kind) || request.operation != Operation::kCreate || !request.subresource.empty()) return {};
  const Value& pod = *request.object;
  if (pod["spec"]["nodeName"].is_empty()) return {};
  AccessQuestion question;
  question.verb = "create";
  question.resource = "pods";
  question.subresource = "binding";
  question.name_space = pod["metadata"]["namespace"].text();
  question.name = pod["metadata"]["name"].text();
  if (authorizer.decide(request.user, question).allowed) return {};
  return forbidden(
      *request.kind, question.name,
      "spec.nodeName puts the pod on a node past every queue, for which user \"" + request.user.name +
          "\" would need the verb create on pods/binding; leave it out, or choose the node by nodeSelector "
          "kubernetes.io/hostname");
}

// What is lowest in price and highest in number of refusals first; quota, which writes, last.
constexpr Rule kRules[] = {check_namespace,    check_node_choice,  apply_limit_ranges, settle_priority,
                           check_submission,   check_queue_change, check_queue_tree,   check_circles,
                           check_reservations, check_questions,    check_escalation,   hold_gpus,
                           charge_quota};

}  // namespace

std::optional<ApiError> admit(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer) {
  if (request.operation == Operation::kDelete) return check_queue_tree(request, transaction, authorizer);
  for (const Rule rule : kRules) {
    if (Refusal refusal = rule(request, transaction, authorizer)) return refusal;
  }
  return std::nullopt;
}

void settle_after_end(Transaction& transaction, const KindInfo& kind, const Value& erased, Time) {
  if (is_pod_kind(kind)) release_gpus(transaction, erased);
  if (kind.namespaced) give_back_quota(transaction, kind, erased);
}

}  // namespace berth
