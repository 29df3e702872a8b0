#include "manifest/schema_texts.h"

namespace berth {

// PodGroups in three dialects: Kubernetes' own (which travel as JSON here, as the others do), the coscheduling plugin's and Volcano's.
// What Berth does not follow is kept as it is.
const char* const kPodGroupSchema = R"(
package io.kubernetes.scheduling.v1beta1;

kind kubernetes.PodGroup "Pods that start together." {
  0 metadata: ObjectMeta;
  0 spec: kubernetes.PodGroupSpec "Which start together, and where.";
  0 status: kubernetes.PodGroupStatus "What the scheduler last saw. Read-only.";
}
type kubernetes.PodGroupSpec "Which pods start together, and where." {
  0 workloadRef: any "Not followed: what the group was made from.";
  0 schedulingPolicy: kubernetes.PodGroupPolicy! "Whether they start together.";
  0 schedulingConstraints: kubernetes.PodGroupConstraints? "Where they are.";
  0 resourceClaims: any "Not supported.";
  0 disruptionMode: kubernetes.PodGroupDisruption? "Who is evicted with whom.";
  0 priorityClassName: text "Not followed: the pods' own counts.";
  0 priority: int? "Not followed: the pods' own counts.";
  0 preemptionPolicy: text? "Not followed: the pods' own counts.";
  0 parentCompositePodGroupName: text? "Not supported.";
}
type kubernetes.PodGroupPolicy "One of the two." {
  0 basic: any "Each pod by itself.";
  0 gang: kubernetes.PodGroupGang? "So many start together.";
}
type kubernetes.PodGroupGang "How many start together." { 0 minCount: int! "So many at least."; }
type kubernetes.PodGroupConstraints "Where the pods are." { 0 topology: [kubernetes.PodGroupLevel] atomic "In one domain of this level."; }
type kubernetes.PodGroupLevel "A level." { 0 key: text! "A label of nodes."; }
type kubernetes.PodGroupDisruption "Who is evicted with whom." {
  0 single: any "Each by itself; not followed where pods start together.";
  0 all: any "All together.";
}
type kubernetes.PodGroupStatus "What the scheduler last saw of a PodGroup." {
  0 conditions: [Condition] keys=type "Whether its pods have had their places.";
}

package io.x-k8s.scheduling.v1alpha1;

kind coscheduling.PodGroup "Pods that start together, in the words of the coscheduling plugin." {
  0 metadata: ObjectMeta;
  0 spec: coscheduling.PodGroupSpec "How many.";
  0 status: coscheduling.PodGroupStatus "What the scheduler last saw. Read-only.";
}
type coscheduling.PodGroupSpec "How many pods start together." {
  0 minMember: int "So many at least.";
  0 minResources: <intortext> "Not followed: what the pods request is counted.";
  0 scheduleTimeoutSeconds: int? "Not followed: nothing is held for who waits.";
}
type coscheduling.PodGroupStatus "What the scheduler last saw of a PodGroup." {
  0 phase: text "Pending, Scheduling, Running, Finished or Failed.";
  0 occupiedBy: text "Nothing.";
  0 running: int "Pods that have their places.";
  0 succeeded: int "Pods that have succeeded.";
  0 failed: int "Pods that have failed.";
  0 scheduleStartTime: any "Nothing.";
}

package sh.volcano.scheduling.v1beta1;

kind volcano.PodGroup "Pods that start together, in Volcano's words." {
  0 metadata: ObjectMeta;
  0 spec: volcano.PodGroupSpec "How many, and where.";
  0 status: volcano.PodGroupStatus "What the scheduler last saw. Read-only.";
}
type volcano.PodGroupSpec "Which pods start together, and where." {
  0 minMember: int "So many at least.";
  0 minTaskMember: <int> "Among them so many of each of these tasks.";
  0 queue: text "A queue of Volcano's, for pods that name none.";
  0 priorityClassName: text "Not followed: the pods' own counts.";
  0 minResources: <intortext> "Not followed: what the pods request is counted.";
  0 networkTopology: volcano.NetworkTopology? "In one HyperNode.";
  0 subGroupPolicy: any "Not supported.";
}
type volcano.NetworkTopology "In which HyperNodes the pods are together." {
  0 mode: text oneof=hard|soft "Whether they have to be; hard if absent.";
  0 highestTierAllowed: int? "The highest tier that will do.";
  0 highestTierName: text "Not supported: write highestTierAllowed.";
}
type volcano.PodGroupStatus "What the scheduler last saw of a PodGroup." {
  0 phase: text "Pending, Running, Unknown (only some run) or Completed.";
  0 conditions: any "Nothing.";
  0 running: int "Pods that have their places.";
  0 succeeded: int "Pods that have succeeded.";
  0 failed: int "Pods that have failed.";
}
)";

}  // namespace berth
