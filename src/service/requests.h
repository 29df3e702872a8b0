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
ApiCall queue_status_call(std::string_view queue, const QueueCounts& counts);

}  // namespace berth
