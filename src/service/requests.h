// What the scheduler writes, as calls: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/transport.h"
#include "service/live_engine.h"

namespace berth {

ApiCall binding_call(const Binding& binding);
// Condition PodScheduled=False with reason Unschedulable, as Kubernetes' own scheduler and autoscalers know it.
ApiCall waiting_call(const WaitingReason& reason, Time now);
// With the uid as precondition, so that a pod of the same name that came later is left alone.
ApiCall deletion_call(const PodName& pod);
// The Workload object of a group: owned by whatever controls its pods, so that it ends with it.
ApiCall workload_creation_call(const WorkloadNews& news);
ApiCall workload_status_call(const WorkloadNews& news, Time now);
ApiCall queue_status_call(std::string_view queue, const QueueCounts& counts);

}  // namespace berth
