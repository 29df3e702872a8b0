#include "manifest/schema_texts.h"

namespace berth {

const char* const kPolicySchema = R"(
package io.k8s.api.policy.v1;

kind PodDisruptionBudget "How many pods of a set may be taken away at a time." {
  1 metadata: ObjectMeta;  2 spec: PodDisruptionBudgetSpec;  3 status: PodDisruptionBudgetStatus;
}
type PodDisruptionBudgetSpec {
  1 minAvailable: intortext?;  2 selector: LabelSelector? atomic;  3 maxUnavailable: intortext?;
  4 unhealthyPodEvictionPolicy: text? oneof=AlwaysAllow|IfHealthyBudget;
}
type PodDisruptionBudgetStatus {
  1 observedGeneration: int;  2 disruptedPods: <time>;  3 disruptionsAllowed: int!;  4 currentHealthy: int!;
  5 desiredHealthy: int!;  6 expectedPods: int!;
  7 conditions: [Condition] merge=type keys=type;
}
kind Eviction "Asks for a pod to go, as far as its disruption budgets allow." {
  1 metadata: ObjectMeta;  2 deleteOptions: DeleteOptions?;
}

package io.k8s.api.scheduling.v1;

kind PriorityClass "A named priority of pods." {
  1 metadata: ObjectMeta;  2 value: int!;  3 globalDefault: bool;  4 description: text;
  5 preemptionPolicy: text? oneof=Never|PreemptLowerPriority;
}

package io.k8s.api.coordination.v1;

kind Lease "Who leads, and until when; or that a node is alive." { 1 metadata: ObjectMeta;  2 spec: LeaseSpec; }
type LeaseSpec {
  1 holderIdentity: text?;  2 leaseDurationSeconds: int?;  3 acquireTime: microtime?;  4 renewTime: microtime?;
  5 leaseTransitions: int?;  6 strategy: text?;  7 preferredHolder: text?;
}
)";

}  // namespace berth
