// The rules of admit(), in the order in which they are asked. Each gives a refusal or nothing.
#pragma once

#include <optional>

#include "apiserver/admission.h"
#include "apiserver/api_error.h"
#include "apiserver/authorization.h"
#include "manifest/kinds.h"
#include "manifest/value.h"
#include "store/store.h"

namespace berth {

using Refusal = std::optional<ApiError>;

// Pods get the defaults of the namespace's LimitRanges and must be within their bounds.
Refusal apply_limit_ranges(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// Pods get the number of their priority class; whoever names a class, also by Kueue's label, may use it; only one
// class is everybody's.
Refusal settle_priority(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// Pods, Jobs and JobSets go to a queue that exists and takes them; the queues' tree stays one.
Refusal check_submission(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// What makes pods names another queue only as long as none of them has a node.
Refusal check_queue_change(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
Refusal check_queue_tree(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// There are no more circles of trust than the scheduler can hold.
Refusal check_circles(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// Nor more reservations that are not over.
Refusal check_reservations(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// Nor more plans of moves, and what-ifs, which the scheduler has to answer.
Refusal check_questions(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// Nobody gives away what he does not have.
Refusal check_escalation(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
// A pod on a node holds the devices it names, and nobody else does.
Refusal hold_gpus(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);
Refusal charge_quota(AdmissionRequest& request, Transaction& transaction, const Authorizer& authorizer);

void release_gpus(Transaction& transaction, const Value& pod);
void give_back_quota(Transaction& transaction, const KindInfo& kind, const Value& erased);

}  // namespace berth
