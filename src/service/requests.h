// What the scheduler writes, as calls: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/transport.h"
#include "service/live_engine.h"
#include "service/other_queues.h"

namespace berth {

ApiCall binding_call(const Binding& binding);
ApiCall rendezvous_call(const RendezvousChanged& changed);
ApiCall extended_call(const LimitExtension& extension);
// Condition PodScheduled=False with reason Unschedulable, as Kubernetes' own scheduler and autoscalers know it. Refused with
// 409 if the pod has changed since: it may have been bound.
ApiCall waiting_call(const WaitingReason& reason, Time now);
// The condition that says by which changes a pod that waits would start at once; and that there is nothing to be said any more, since
// it has a place.
ApiCall changes_call(const FoundChanges& found, Time now);
ApiCall no_changes_call(const PodName& pod, Time now);
// The end of who has waited for as long as it was to: of a Job by a deadline that is over, of a pod alone as its node would tell it.
ApiCall give_up_call(const GivenUp& given_up, Time now);
// The annotation by which a Job knows that it has begun.
ApiCall begun_call(const std::string& name_space, const OwnerFacts& job, Time now);
// The condition by which a pod, and whoever watches it, knows that it was evicted and why.
ApiCall eviction_notice_call(const PodEviction& eviction, Time now);
// The condition by which a pod that runs knows that it counts for nothing any more.
ApiCall best_effort_call(const PodName& pod, Time now);
// Its deletion, with what is left until it must have stopped.
ApiCall eviction_call(const PodEviction& eviction, Time now);
// With uid and revision as preconditions: whoever came later under the same name is left alone, and who has ended meanwhile.
ApiCall rollback_call(const Rollback& rollback);
// The Workload object of a group: owned by whatever controls its pods, so that it ends with it.
// What its Workload says of a group: its queue, and what its pods ask.
Value workload_spec(const WorkloadNews& news);
ApiCall workload_creation_call(const WorkloadNews& news);
ApiCall workload_status_call(const WorkloadNews& news, Time now);
// Who has been on which GPUs of a node.
ApiCall uses_call(const NodeUses& uses);
// What is asked of a node whose GPUs are cut anew, or became of that; with what whoever cuts them looks at.
ApiCall cut_call(const NodeUses& record);
// What is to be written of a circle of trust first: whether it is kept from going away, then how it stands; nothing: it says so.
// The first is refused with 409 if the circle has changed since.
std::optional<ApiCall> circle_call(const CircleStanding& standing);
// What is to be written of a reservation; nothing: it says so, or nothing is known yet.
std::optional<ApiCall> reservation_call(const ReservationStanding& standing);
ApiCall answer_call(const std::string& qualified, const std::string& name, const Value& status);
ApiCall other_status_call(const OtherStatus& status);
ApiCall queue_status_call(std::string_view queue, const QueueStanding& standing);

}  // namespace berth
