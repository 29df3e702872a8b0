#include "manifest/schema_texts.h"

namespace berth {

// Kueue's kinds in both of its versions; the older one's types have names that begin with kueue1. Objects are kept in the
// newer (apiserver/other_views.cc). What Berth does not follow is kept as it is, and amounts are kept as they were
// written, as those of custom resources are.
const char* const kKueueSchema = R"(
package io.x-k8s.kueue.v1beta2;

kind kueue.ClusterQueue "A queue with quotas, in Kueue's words." {
  0 metadata: ObjectMeta;
  0 spec: kueue.ClusterQueueSpec "What the queue is meant to be.";
  0 status: kueue.ClusterQueueStatus "What the scheduler last saw. Read-only.";
}
type kueue.ClusterQueueSpec "What a ClusterQueue is meant to be." {
  0 resourceGroups: [kueue.ResourceGroup] "Which resources of which flavors it has.";
  0 cohortName: text "The cohort with whose members it borrows and lends.";
  0 queueingStrategy: text oneof=BestEffortFIFO|StrictFIFO "Whether who does not fit holds up who does.";
  0 namespaceSelector: LabelSelector? atomic "Whose workloads may be submitted; absent: nobody's.";
  0 flavorFungibility: kueue.FlavorFungibility "When the next flavor is tried.";
  0 preemption: kueue.Preemption "From whom it takes back.";
  0 admissionChecksStrategy: any "Not followed.";
  0 stopPolicy: text? oneof=None|Hold|HoldAndDrain "Whether anything starts.";
  0 fairSharing: kueue.FairSharing "Its weight among borrowers.";
  0 admissionScope: any "Not followed.";
  0 concurrentAdmissionPolicy: any "Not followed.";
}
type kueue.ResourceGroup "Resources that have the same flavors." {
  0 coveredResources: [text]! "The resources.";
  0 flavors: [kueue.FlavorQuotas]! keys=name "The flavors, with the quotas of each.";
}
type kueue.FlavorQuotas "Quotas of one flavor." {
  0 name: text! "The name of a ResourceFlavor.";
  0 resources: [kueue.ResourceQuota]! keys=name "Each of the covered resources, in their order.";
}
type kueue.ResourceQuota "Quotas of one resource of one flavor." {
  0 name: text! "The resource, such as nvidia.com/gpu.";
  0 nominalQuota: intortext! "What the queue was promised.";
  0 borrowingLimit: intortext? "The most above that; absent: no bound.";
  0 lendingLimit: intortext? "How much of it others may have; absent: all.";
}
type kueue.FlavorFungibility "When the next flavor is tried." {
  0 whenCanBorrow: text oneof=MayStopSearch|TryNextFlavor "Where it would have to borrow.";
  0 whenCanPreempt: text oneof=MayStopSearch|TryNextFlavor "Where it would have to take back.";
  0 preference: text? oneof=BorrowingOverPreemption|PreemptionOverBorrowing "Which is better.";
}
type kueue.Preemption "From whom a ClusterQueue takes back." {
  0 reclaimWithinCohort: text oneof=Never|LowerPriority|Any "What it lent.";
  0 borrowWithinCohort: kueue.BorrowWithinCohort "While it borrows.";
  0 withinClusterQueue: text oneof=Never|LowerPriority|LowerOrNewerEqualPriority "From its own work.";
}
type kueue.BorrowWithinCohort "Whether who borrows takes from others." {
  0 policy: text oneof=Never|LowerPriority "From whom.";
  0 maxPriorityThreshold: int? "Up to this priority.";
}
type kueue.FairSharing "A weight among borrowers." { 0 weight: intortext? "1 if absent."; }
type kueue.ClusterQueueStatus "What the scheduler last saw of a ClusterQueue." {
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 flavorsReservation: [kueue.FlavorUsage] keys=name "What admitted workloads hold.";
  0 flavorsUsage: [kueue.FlavorUsage] keys=name "What running workloads hold.";
  0 pendingWorkloads: int "How many wait.";
  0 reservingWorkloads: int "How many hold quota.";
  0 admittedWorkloads: int "How many run.";
  0 fairSharing: any "Its share.";
}
type kueue.FlavorUsage "What is held of one flavor." {
  0 name: text! "The flavor.";
  0 resources: [kueue.ResourceUsage]! keys=name "Each resource.";
}
type kueue.ResourceUsage "What is held of one resource." {
  0 name: text! "The resource.";
  0 total: quantity "All of it.";
  0 borrowed: quantity "What is above the nominal quota.";
}

kind kueue.Cohort "Queues that borrow from each other, in Kueue's words." {
  0 metadata: ObjectMeta;
  0 spec: kueue.CohortSpec "What the cohort is meant to be.";
  0 status: kueue.CohortStatus "What the scheduler last saw. Read-only.";
}
type kueue.CohortSpec "What a Cohort is meant to be." {
  0 parentName: text "The cohort above it.";
  0 resourceGroups: [kueue.ResourceGroup] "What it has on top of its members.";
  0 fairSharing: kueue.FairSharing "Its weight among borrowers.";
}
type kueue.CohortStatus "What the scheduler last saw of a Cohort." { 0 fairSharing: any "Its share."; }

kind kueue.ResourceFlavor "A kind of nodes, in Kueue's words." {
  0 metadata: ObjectMeta;
  0 spec: kueue.ResourceFlavorSpec "Which nodes are meant.";
}
type kueue.ResourceFlavorSpec "Which nodes a flavor means." {
  0 nodeLabels: <text> "Labels of its nodes; followed is nvidia.com/gpu.product.";
  0 nodeTaints: [Taint] "Not followed.";
  0 tolerations: [Toleration] "Not followed.";
  0 topologyName: text? "The Topology whose levels pods may ask there; absent: any label of its nodes.";
}

kind kueue.Topology "How close to each other nodes are, in Kueue's words." {
  0 metadata: ObjectMeta;
  0 spec: kueue.TopologySpec "The levels of the cluster.";
}
type kueue.TopologySpec "The levels of a cluster." {
  0 levels: [kueue.TopologyLevel]! atomic "From the widest to the narrowest, 1 to 16 of them; never changed.";
}
type kueue.TopologyLevel "A level: nodes with one value of its label are one domain." {
  0 nodeLabel: text! "The label of nodes; kubernetes.io/hostname only at the end.";
}

kind kueue.LocalQueue "The name under which a namespace reaches a ClusterQueue." {
  0 metadata: ObjectMeta;
  0 spec: kueue.LocalQueueSpec "Which one.";
  0 status: kueue.LocalQueueStatus "What the scheduler last saw. Read-only.";
}
type kueue.LocalQueueSpec "Where a LocalQueue leads." {
  0 clusterQueue: text "The ClusterQueue.";
  0 stopPolicy: text? oneof=None|Hold|HoldAndDrain "Not followed.";
  0 fairSharing: kueue.FairSharing "Not followed.";
  0 wallTimePolicy: any "Not followed.";
}
type kueue.LocalQueueStatus "What the scheduler last saw of a LocalQueue." {
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 pendingWorkloads: int "How many wait.";
  0 reservingWorkloads: int "How many hold quota.";
  0 admittedWorkloads: int "How many run.";
  0 flavorsReservation: [kueue.FlavorUsage] keys=name "What admitted workloads hold.";
  0 flavorsUsage: [kueue.FlavorUsage] keys=name "What running workloads hold.";
  0 fairSharing: any "Its share.";
}

kind kueue.WorkloadPriorityClass "A named priority of workloads." {
  0 metadata: ObjectMeta;
  0 value: int! "The priority.";
  0 description: text "For whom it is.";
}

kind kueue.Workload "What is admitted as one, in Kueue's words. Made for each Job or pod that names a LocalQueue." {
  0 metadata: ObjectMeta;
  0 spec: kueue.WorkloadSpec "What is asked for; of it only `active` is anybody's to write.";
  0 status: kueue.WorkloadStatus "How it stands. Read-only.";
}
type kueue.WorkloadSpec "What a Workload asks for." {
  0 podSets: [kueue.PodSet] keys=name "Its pods.";
  0 queueName: text "The LocalQueue in which it waits.";
  0 priorityClassRef: kueue.PriorityClassRef "The class that gave it its priority.";
  0 priority: int? "Its priority.";
  0 active: bool? "false: its Job is suspended, and nothing of it starts; true if absent.";
  0 maximumExecutionTimeSeconds: int? "Not followed.";
  0 preemptionGates: any "Not followed.";
}
type kueue.PriorityClassRef "A class of priority." {
  0 group: text! "kueue.x-k8s.io or scheduling.k8s.io.";
  0 kind: text! "WorkloadPriorityClass or PriorityClass.";
  0 name: text! "Which.";
}
type kueue.PodSet "Pods that are alike." {
  0 name: text "The name of the set.";
  0 template: PodTemplateSpec! "What each is made from.";
  0 count: int! "How many run at once.";
  0 minCount: int? "Not followed.";
  0 topologyRequest: any "Not followed.";
}
type kueue.WorkloadStatus "How a Workload stands." {
  0 conditions: [Condition] keys=type "QuotaReserved, Admitted, PodsReady, Evicted, Preempted, Requeued, Finished.";
  0 admission: kueue.Admission? "What it holds.";
  0 requeueState: any "Nothing.";
  0 reclaimablePods: any "Nothing.";
  0 admissionChecks: any "Nothing.";
  0 schedulingStats: any "Nothing.";
}
type kueue.Admission "What a Workload holds of its ClusterQueue." {
  0 clusterQueue: text! "Which.";
  0 podSetAssignments: [kueue.PodSetAssignment] keys=name "By set of pods.";
}
type kueue.PodSetAssignment "What a set of pods holds." {
  0 name: text! "The set.";
  0 flavors: <text> "The flavor of each resource.";
  0 resourceUsage: <quantity> "What its pods hold together.";
  0 count: int? "How many of them have a place.";
  0 topologyAssignment: any "Nothing.";
  0 delayedTopologyRequest: any "Nothing.";
}

package io.x-k8s.kueue.v1beta1;

kind kueue1.ClusterQueue "A queue with quotas, in Kueue's older words." {
  0 metadata: ObjectMeta;
  0 spec: kueue1.ClusterQueueSpec "What the queue is meant to be.";
  0 status: kueue.ClusterQueueStatus "What the scheduler last saw. Read-only.";
}
type kueue1.ClusterQueueSpec "What a ClusterQueue is meant to be." {
  0 resourceGroups: [kueue.ResourceGroup] "Which resources of which flavors it has.";
  0 cohort: text "The cohort with whose members it borrows and lends.";
  0 queueingStrategy: text oneof=BestEffortFIFO|StrictFIFO "Whether who does not fit holds up who does.";
  0 namespaceSelector: LabelSelector? atomic "Whose workloads may be submitted; absent: nobody's.";
  0 flavorFungibility: kueue1.FlavorFungibility "When the next flavor is tried.";
  0 preemption: kueue.Preemption "From whom it takes back.";
  0 admissionChecks: [text] "Not followed.";
  0 admissionChecksStrategy: any "Not followed.";
  0 stopPolicy: text? oneof=None|Hold|HoldAndDrain "Whether anything starts.";
  0 fairSharing: kueue.FairSharing "Its weight among borrowers.";
  0 admissionScope: any "Not followed.";
}
type kueue1.FlavorFungibility "When the next flavor is tried." {
  0 whenCanBorrow: text oneof=Borrow|TryNextFlavor "Where it would have to borrow.";
  0 whenCanPreempt: text oneof=Preempt|TryNextFlavor "Where it would have to take back.";
}
kind kueue1.Cohort "Queues that borrow from each other, in Kueue's older words." {
  0 metadata: ObjectMeta;
  0 spec: kueue1.CohortSpec "What the cohort is meant to be.";
  0 status: kueue.CohortStatus "What the scheduler last saw. Read-only.";
}
type kueue1.CohortSpec "What a Cohort is meant to be." {
  0 parent: text "The cohort above it.";
  0 resourceGroups: [kueue.ResourceGroup] "What it has on top of its members.";
  0 fairSharing: kueue.FairSharing "Its weight among borrowers.";
}
kind kueue1.ResourceFlavor "A kind of nodes, in Kueue's older words." {
  0 metadata: ObjectMeta;
  0 spec: kueue.ResourceFlavorSpec "Which nodes are meant.";
}
kind kueue1.Topology "How close to each other nodes are, in Kueue's older words." {
  0 metadata: ObjectMeta;
  0 spec: kueue.TopologySpec "The levels of the cluster.";
}
kind kueue1.LocalQueue "The name under which a namespace reaches a ClusterQueue." {
  0 metadata: ObjectMeta;
  0 spec: kueue.LocalQueueSpec "Which one.";
  0 status: kueue1.LocalQueueStatus "What the scheduler last saw. Read-only.";
}
type kueue1.LocalQueueStatus "What the scheduler last saw of a LocalQueue." {
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 pendingWorkloads: int "How many wait.";
  0 reservingWorkloads: int "How many hold quota.";
  0 admittedWorkloads: int "How many run.";
  0 flavorsReservation: [kueue.FlavorUsage] keys=name "What admitted workloads hold.";
  0 flavorUsage: [kueue.FlavorUsage] keys=name "What running workloads hold.";
  0 fairSharing: any "Its share.";
}
kind kueue1.WorkloadPriorityClass "A named priority of workloads." {
  0 metadata: ObjectMeta;
  0 value: int! "The priority.";
  0 description: text "For whom it is.";
}
kind kueue1.Workload "What is admitted as one, in Kueue's older words. Made for each Job or pod that names a LocalQueue." {
  0 metadata: ObjectMeta;
  0 spec: kueue1.WorkloadSpec "What is asked for; of it only `active` is anybody's to write.";
  0 status: kueue.WorkloadStatus "How it stands. Read-only.";
}
type kueue1.WorkloadSpec "What a Workload asks for." {
  0 podSets: [kueue.PodSet] keys=name "Its pods.";
  0 queueName: text "The LocalQueue in which it waits.";
  0 priorityClassName: text "The class that gave it its priority.";
  0 priorityClassSource: text
    oneof=kueue.x-k8s.io/workloadpriorityclass|scheduling.k8s.io/priorityclass
    "Of which kind that is.";
  0 priority: int? "Its priority.";
  0 active: bool? "false: its Job is suspended, and nothing of it starts; true if absent.";
  0 maximumExecutionTimeSeconds: int? "Not followed.";
}

package sh.volcano.scheduling.v1beta1;

kind volcano.Queue "A queue, in Volcano's words." {
  0 metadata: ObjectMeta;
  0 spec: volcano.QueueSpec "What the queue is meant to be.";
  0 status: volcano.QueueStatus "What the scheduler last saw. Read-only.";
}
type volcano.QueueSpec "What a queue of Volcano is meant to be." {
  0 weight: int "Divides its share.";
  0 capability: <intortext> "The most that it holds.";
  0 deserved: <intortext> "Its floor.";
  0 guarantee: volcano.Guarantee "What of the floor is never lent.";
  0 reclaimable: bool? "Not followed: what it borrows is taken back.";
  0 parent: text "The queue above it; root: none.";
  0 dequeueStrategy: text oneof=fifo|traverse "Whether who does not fit holds up who does.";
  0 priority: int "Not followed.";
  0 type: text "Not followed.";
  0 affinity: any "Not followed.";
  0 extendClusters: any "Not followed.";
}
type volcano.Guarantee "What of a floor is never lent." { 0 resource: <intortext> "By resource."; }
type volcano.QueueStatus "What the scheduler last saw of a queue." {
  0 state: text "Open or Closed.";
  0 pending: int "How many wait.";
  0 running: int "How many run.";
  0 inqueue: int "How many have begun to start.";
  0 completed: int "How many have ended.";
  0 unknown: int "Of how many nothing is known.";
  0 allocated: <intortext> "What running workloads hold.";
  0 reservation: any "Nothing.";
}

package sh.volcano.topology.v1alpha1;

kind volcano.HyperNode "Nodes that are near each other, in Volcano's words: a domain of the level hypernode-tier-TIER." {
  0 metadata: ObjectMeta;
  0 spec: volcano.HyperNodeSpec "Who is in it.";
  0 status: volcano.HyperNodeStatus "What the scheduler last saw. Read-only.";
}
type volcano.HyperNodeSpec "Who is in a HyperNode." {
  0 tier: intortext! "How near: the lower the nearer.";
  0 tierName: text "Kept, and no name of a level.";
  0 members: [volcano.HyperNodeMember] "Nodes, and HyperNodes of lower tiers.";
}
type volcano.HyperNodeMember "Some nodes, or HyperNodes." {
  0 type: text! oneof=Node|HyperNode "Of which kind.";
  0 selector: volcano.HyperNodeSelector "Which: by one of the three.";
}
type volcano.HyperNodeSelector "Which members are meant." {
  0 exactMatch: volcano.HyperNodeExactMatch? "The one of a name.";
  0 regexMatch: volcano.HyperNodeRegexMatch? "Those whose names match.";
  0 labelMatch: LabelSelector? atomic "Nodes that have such labels.";
}
type volcano.HyperNodeExactMatch "A name." { 0 name: text "It."; }
type volcano.HyperNodeRegexMatch "A pattern of names." { 0 pattern: text "A regular expression; any part of a name may match."; }
type volcano.HyperNodeStatus "What the scheduler last saw of a HyperNode." {
  0 conditions: [Condition] keys=type "Whether it is as it was meant, and if not, why.";
  0 nodeCount: int "How many nodes are in it.";
}
)";

}  // namespace berth
