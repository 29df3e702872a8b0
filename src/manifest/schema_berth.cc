#include "manifest/schema_texts.h"

namespace berth {

// No protobuf numbers: kinds that kubectl has no code for travel as JSON only.
const char* const kBerthSchema = R"(
package dev.berth.v1alpha1;

kind Queue "A place where workloads wait for GPUs. Pods and Jobs name theirs by the label berth.dev/queue." {
  0 metadata: ObjectMeta;
  0 spec: QueueSpec "What the queue is meant to be.";
  0 status: QueueStatus "What the scheduler last saw. Read-only.";
}
type QueueSpec "What a queue is meant to be." {
  0 order: text oneof=fifo|fifo-skip|sjf
    "Whose turn it is: fifo (nobody passes the first), fifo-skip (who fits may pass), "
    "sjf (shortest declared run first).";
  0 parent: text "The name of the queue above this one.";
  0 stop: text oneof=none|hold|drain
    "hold: nothing of this queue and those below it starts; what runs goes on. drain: what comes from now on does not "
    "start; what waits already may. Both end with none, which is the same as to leave it out.";
  0 submitters: QueueSubmitters "Who may submit to this queue. Absent: everybody who may create pods.";
  0 guarantee: <quantity>
    "The floor: what the queue and those below it get back at any time. By flavor (h100: GPUs) or flavor and resource "
    "(h100.cpu, h100.memory, h100.mig-3g.40gb for slices).";
  0 limit: <quantity> "The most that the queue and those below it hold.";
  0 borrowingLimit: <quantity> "The most that they hold above the guarantee.";
  0 lendingLimit: <quantity> "How much of the idle guarantee others may have. Absent: all of it.";
  0 userLimit: <quantity> "The most that one user's running work holds, here and below.";
  0 users: text oneof=none|fair "fair: among equal priorities whose user holds least goes first.";
  0 backfill: text oneof=none|easy|conservative "Who passes in order fifo: nobody; who delays not the first; who delays nobody.";
  0 overRun: text oneof=stop|extend
    "What becomes of work that reaches its run limit (berth.dev/run-limit): stop (if absent), or extend: it goes on while "
    "nobody needs its room.";
  0 extend: text "With overRun: extend, for how long at a time at most; 30m if absent.";
  0 extensions: int "With overRun: extend, how often in one attempt; once if absent.";
  0 loans: text
    "Its work may go ahead of who is promised room, on loan, if such a part of its kind (90%) had ended by then: it is taken back "
    "when that one's start is due. Absent: it may not.";
  0 weight: quantity "Divides the share by which turns among borrowers go; 1 if absent.";
  0 halfLife: text
    "After so long what it held above its guarantee counts half as much in the order among its siblings: 1m to 3650d. "
    "Absent: its past does not count.";
  0 reclaim: text oneof=initial-share|final-share|never
    "Whom its borrowers take from towards a fair share: initial-share if absent.";
  0 preempt: text oneof=lower-priority|never "Whether a higher priority takes from a lower one in it.";
  0 reclaimWithin: text "How long what a borrower set for itself holds against this queue: 60s if absent.";
  0 patience: text "How long its work waits before it takes from others: 0s if absent.";
  0 minRuntime: text "Its work is not taken before, inside the guarantee: 0s if absent.";
  0 cooldown: text
    "How long its work does not borrow after it had to give back what it had borrowed, nor what is made in its place: 0s if "
    "absent.";
  0 idleAfter: text "What of the guarantee is not used for so long is told in the status. Absent: nothing is.";
  0 dedicated: [QueueNodes]
    "Nodes that are the queue's own: no work but that of the queue and of those below it goes there. Its work may go "
    "elsewhere, too.";
  0 cells: [QueueCells]
    "Whole domains that the guarantee comes in: guaranteed work of others leaves so many that could be given whole. "
    "They are lent while they are idle, as the rest of it.";
  0 windows: [QueueWindow] "Other amounts at some hours; of two that name the same one the later holds.";
  0 budget: QueueBudget "GPU time for the queue and all below it. Absent: as much as they like.";
}
type QueueCells "Whole domains of one level." {
  0 flavor: text! "Of which GPUs.";
  0 level: text! "A label of nodes, such as topology.kubernetes.io/rack; or node.";
  0 count: int! "How many domains. Of a level the largest count, and those that are smaller do not.";
}
type QueueNodes "Nodes that say one thing of themselves." {
  0 key: text! "A label, such as topology.kubernetes.io/rack; or node, which is the name.";
  0 value: text "What it is there.";
}
type QueueWindow "Hours at which a queue has other amounts; what is not named stays as it is." {
  0 days: text "daily (if absent), or days and ranges of days on which it opens: mon-fri, sat,sun.";
  0 from: text! "When it opens, such as 20:00.";
  0 to: text! "When it closes, on the next day if that is not after `from`; 24:00 is the end of the day.";
  0 zone: text "Where the clock hangs, such as Europe/Berlin; UTC if absent.";
  0 guarantee: <quantity> "The guarantee while it is open.";
  0 limit: <quantity> "The limit while it is open. Who is above it when it opens has to stop.";
  0 borrowingLimit: <quantity> "The borrowing limit while it is open. Who is above it when it opens has to stop.";
  0 lendingLimit: <quantity> "The lending limit while it is open.";
  0 weight: quantity "The weight while it is open.";
}
type QueueBudget "GPU time. Work starts if its GPUs times its run limit (activeDeadlineSeconds of its pods) are left." {
  0 gpuHours: quantity! "GPU-hours of all flavors; they are used up for good.";
  0 end: text oneof=stop|best-effort
    "What becomes of work that not enough is left for: it waits (stop, if absent), or it runs in free room, counts for "
    "nothing and is the first to go.";
  0 grants: [QueueGrant] "GPU time that goes before the budget, and is void from a moment on.";
}
type QueueGrant "GPU time beside a budget." {
  0 gpuHours: quantity! "How much.";
  0 until: text! "When it is void, such as 2026-12-01T00:00:00Z. No two end at the same moment.";
}
type QueueSubmitters "Who may submit to a queue: whoever is named by any of the three lists." {
  0 namespaces: [text] set "From these namespaces, whoever it is.";
  0 users: [text] set "These users.";
  0 groups: [text] set "Members of these groups.";
}
type QueueStatus "What the scheduler last saw of a queue." {
  0 pending: int "Workloads that wait; a gang is one.";
  0 running: int "Workloads that have places.";
  0 used: <quantity> "What they hold, and those of the queues below.";
  0 guaranteed: <quantity> "The part of it that is inside the guarantee.";
  0 borrowed: <quantity> "The part above the guarantee.";
  0 floor: <quantity> "What of the guarantee can be kept on the nodes that take work.";
  0 lent: <quantity> "What others hold of the floor.";
  0 cells: [QueueCellsStatus] "What has become of its whole domains.";
  0 lenders: <text> "Queues beside it that lend what it borrows, and how much they lend to all: the ten that lend most.";
  0 moreLenders: int "How many more there are.";
  0 share: text "The share by which turns among borrowers go, as a fraction.";
  0 shareParts: [QueueSharePart] "What the share is made of: the largest of these.";
  0 turn: text "Who goes before it at each level, and why.";
  0 waiting: [text] "The first ten of its line, in their order.";
  0 budget: QueueBudgetStatus "What has become of its GPU time.";
  0 pastUse: <text> "What it held above its guarantee on average, the longer ago the less; where it has a half-life.";
  0 coolingDown: [QueueCooling] "Who had to give back what it had borrowed: of what it makes nothing borrows yet.";
  0 tries: [QueueTries] "Gangs that lose node after node or are never ready: what is known of earlier starts.";
  0 idle: <text> "What of the guarantee has not been used for its idleAfter.";
  0 floorUse: QueueFloorUse "What was held of the guarantee within that time.";
  0 asOf: microtime "When budget, pastUse and floorUse were so.";
  0 conditions: [Condition] keys=type "What is true of the queue now.";
}

type QueueSharePart "What a queue holds above its floor of one resource, over what there is and over its weight." {
  0 resource: text "gpu, cpu or memory.";
  0 share: text "As a fraction.";
  0 above: <quantity> "What is held above the floor, by flavor.";
  0 capacity: <quantity> "What the nodes that take work have, by flavor.";
  0 flavorWeights: <int> "Weights of flavors that are not 1.";
}
type QueueBudgetStatus "GPU-hours of a queue's budget and grants." {
  0 used: text "Gone, with what those have used who run.";
  0 reserved: text "What else those may use who run.";
  0 left: text "For others; what is void is not in it.";
  0 grants: [QueueGrantStatus] "What of `used` was of grants.";
}
type QueueCellsStatus "Whole domains of one level that a queue was promised." {
  0 flavor: text! "Of which GPUs.";
  0 level: text! "Of nodes.";
  0 gpus: int "Of one domain.";
  0 promised: int "How many the floor pays for.";
  0 inUse: int "Its own work is there.";
  0 lent: int "Others are there, and would give them back.";
  0 free: int "Nobody is there.";
  0 lacking: int "For which no domain is left: nodes are lost, or guaranteed work was there before.";
}
type QueueCooling "What controls pods that had to give back what they had borrowed." {
  0 controller: text! "Its uid.";
  0 since: microtime! "When their room was taken.";
}
type QueueTries "How starts of one gang ended." {
  0 of: text! "The gang, or by whom its pods are made.";
  0 at: microtime! "When the last was counted.";
  0 lostNodes: int "So many nodes in a row failed under it.";
  0 lostNodeAt: microtime "When the last of them was counted.";
  0 neverReady: int "So many starts in a row were not ready in time.";
  0 waitsFor: text "node or never-ready: for what it waits.";
  0 waitsUntil: microtime "Until when.";
}
type QueueFloorUse "What a queue held of its guarantee." {
  0 floor: <text> "How large it was.";
  0 held: [QueueHeldUntil] "The most, then the most since, and so on.";
}
type QueueHeldUntil "So much was held until a moment, and no more since." {
  0 until: microtime! "That moment.";
  0 amounts: <text> "By flavor, or flavor and resource.";
}
type QueueGrantStatus "What is gone of a grant." {
  0 until: text! "Which one: when it is void.";
  0 used: text! "GPU-hours.";
}

kind ResourceFlavor "A kind of GPU that nodes have, and how such nodes are recognised." {
  0 metadata: ObjectMeta;
  0 spec: ResourceFlavorSpec "Which GPUs are meant.";
}
type ResourceFlavorSpec "Which GPUs a flavor means." {
  0 gpuModel: text "The model as nodes report it in the label nvidia.com/gpu.product.";
  0 memoryMiB: int "Memory of one GPU in MiB.";
  0 nodeLabels: <text> "Labels that a node must have to count.";
  0 weight: int "What a GPU of it counts in shares: 1 to 1000; 1 if absent.";
}

kind TrustCircle "Tenants that trust each other: parts of one GPU may be theirs. Two who are in none together are strangers. How far from strangers they are kept." {
  0 metadata: ObjectMeta;
  0 spec: TrustCircleSpec "Who trusts whom.";
  0 status: TrustCircleStatus "What the scheduler makes of it. Read-only.";
}
type TrustCircleSpec "Who trusts whom." {
  0 queues: [text] set
    "Each is a tenant, with all below it up to the next that a circle names: NAME, clusterqueue/NAME, cohort/NAME or "
    "volcano/NAME. Absent, where apart is there: apart is of all tenants.";
  0 apart: <text>
    "How far from strangers their work with GPUs is kept, by the mode of the GPUs (exclusive, mig, mps, timeslice, vgpu): the "
    "label of the domains, kubernetes.io/hostname for nodes. Absent: as near as GPUs of that mode allow.";
  0 within: text
    "How long those who are on one GPU, or too near, have to part, when the circle is deleted, names one of them no more "
    "or keeps strangers further away: 10m if absent.";
}
type TrustCircleStatus "What the scheduler makes of a circle." {
  0 queues: [text] set "Who is in it now.";
  0 apart: <text> "How far from strangers they are kept now.";
  0 parting: [TrustParting] "Trust that has ended, while some are still on one GPU for it.";
  0 conditions: [Condition] keys=type "What is true of the circle now.";
}
type TrustParting "Trust that has ended." {
  0 queues: [text] "Who trusted each other.";
  0 apart: <text> "How far from strangers they were kept, where that has changed.";
  0 since: microtime! "When it ended.";
  0 by: microtime! "Who is on one GPU then, and does not trust who stays, has to stop.";
}

kind Reservation "Capacity that is promised for a time: GPUs to a queue and all below it, or nodes to nobody, for maintenance." {
  0 metadata: ObjectMeta;
  0 spec: ReservationSpec "What is promised, to whom, and when.";
  0 status: ReservationStatus "What the scheduler makes of it. Read-only.";
}
type ReservationSpec "What is promised, to whom, and when." {
  0 queue: text
    "Who may use it, with all below: NAME, clusterqueue/NAME, cohort/NAME or volcano/NAME. Absent: maintenance of nodes.";
  0 gpus: int "How many whole GPUs.";
  0 flavor: text "Of which. Absent: of the only flavor that nodes have.";
  0 nodes: [text] set "Maintenance: nodes on which nobody is while it lasts.";
  0 from: text! "When it begins (the first time), such as 2026-12-01T09:00:00Z.";
  0 for: text! "How long it lasts, such as 4h; at most 366d, or 24h where it comes again.";
  0 daily: bool "Whether it comes again every 24 hours.";
  0 days: text "On which days it comes again, at the same time of the clock: weekly (on that of `from`), mon-fri, sat,sun.";
  0 zone: text "Where that clock hangs, also of what comes daily, such as Europe/Berlin; UTC if absent.";
}
type ReservationStatus "What the scheduler makes of a reservation." {
  0 phase: text "Coming, Lasting, Over or NotInForce.";
  0 from: microtime "When it begins next, or began that lasts.";
  0 to: microtime "When that ends.";
  0 gpus: int "How many it has, or will have as it stands.";
  0 short: int "How many it lacks.";
  0 nodes: [ReservedNode] keys=name "Where.";
  0 drainsAt: microtime "When the next are told to stop who would be in its way.";
  0 leaving: [text] "Who was told to stop for it, and is there still: NAMESPACE/NAME, the first ten.";
  0 conditions: [Condition] keys=type "What is true of it now.";
}
type ReservedNode "What is reserved of one node." {
  0 name: text! "The node.";
  0 gpus: text "Which of its GPUs, such as 0,1,2,3; of maintenance nothing.";
}

kind Defragmentation "Room for larger pods out of pieces, by moves of work that consents: planned, shown, and carried out where somebody says so." {
  0 metadata: ObjectMeta;
  0 spec: DefragmentationSpec "For whom room is made, and when.";
  0 status: DefragmentationStatus "The plan, and what was carried out. Read-only.";
}
type DefragmentationSpec "For whom room is made, and when." {
  0 gpus: int "Room is made for pods of so many whole GPUs on one node: 1 to 64, 8 if absent.";
  0 slice: text "Instead: room is made for slices of this profile, such as 3g.40gb.";
  0 use: text "How long what comes free is believed to be of use, such as 4h, which it is if absent: a node costs less work than that.";
  0 effort: int "Attempts at a better plan than the first: 0 to 10000.";
  0 carryOut: text "The revision of the plan in the status that is to be carried out.";
  0 hours: text
    "When it is planned and carried out by itself, such as 02:00-05:00 or sat,sun 20:00-08:00 Europe/Berlin. Absent: never.";
  0 cooldown: text "In these hours: so long after it has moved somebody it moves nobody, such as 1h, which it is if absent.";
}
type DefragmentationStatus "The plan, and what was carried out." {
  0 phase: text "Planned, NothingToMove, CarriedOut or NotCarriedOut.";
  0 message: text "What is to be said of it.";
  0 plan: DefragmentationPlan "What would be moved.";
  0 carriedOut: DefragmentationCarriedOut "What was decided of a plan last.";
}
type DefragmentationPlan "Moves that make room, each proven." {
  0 revision: text! "What it is called: write it into spec.carryOut to have it carried out.";
  0 asOf: microtime! "The moment for which it was made.";
  0 gpus: int "Of a pod for which room is made.";
  0 slice: text "The profile of its slice, if it asks one.";
  0 flavor: text "Of which GPUs that is.";
  0 use: text "How long that is of use.";
  0 effort: int "Attempts that were made.";
  0 podsBefore: int "For so many such pods there was room.";
  0 podsAfter: int "And will be.";
  0 podsAtBest: int "More there cannot be, wherever everything went.";
  0 lostGPUSeconds: int "Work that is lost.";
  0 unlockedGPUSeconds: int "What comes free, for as long as it is of use.";
  0 moves: [DefragmentationMove] atomic "Who goes where.";
}
type DefragmentationMove "A workload that goes elsewhere whole." {
  0 lostGPUSeconds: int "Its work since its last checkpoint.";
  0 pods: [DefragmentationMovedPod] atomic "Its pods.";
}
type DefragmentationMovedPod "One of its pods." {
  0 name: text! "NAMESPACE/NAME.";
  0 uid: text! "Which pod of that name.";
  0 from: text! "Where it is.";
  0 to: text! "Where what is made in its place goes.";
  0 gpus: text "On which GPUs there, such as 0,1.";
  0 sliceStart: int "Of a slice: its first memory slice.";
}
type DefragmentationCarriedOut "What was decided of a plan." {
  0 revision: text! "Of which.";
  0 at: microtime! "When.";
  0 moves: int "How many were moved.";
  0 lostGPUSeconds: int "What they lost.";
  0 leftOut: [text] "Who stays though the plan moved him: NAMESPACE/NAME of his first pod.";
}

kind WhatIf "What would become of the cluster if some things were otherwise. It changes nothing." {
  0 metadata: ObjectMeta;
  0 spec: WhatIfSpec "What would be otherwise.";
  0 status: WhatIfStatus "The answer. Read-only.";
}
type WhatIfSpec "What would be otherwise." {
  0 changes: [text] "In words of the scenario language, in this order: add nodes m 2 gpus=8, set queue research limit=64.";
}
type WhatIfStatus "What would become of it." {
  0 asOf: microtime "Of which moment.";
  0 changes: [text] "Of which changes.";
  0 problem: text "Why there is no answer.";
  0 answer: any "Both futures, as berth whatif shows them.";
}

kind Workload "What is admitted as one: a Job's pods, a group of pods, or one pod. Written by the scheduler." {
  0 metadata: ObjectMeta;
  0 spec: WorkloadSpec "What was asked for.";
  0 status: WorkloadStatus "How it stands.";
}
type WorkloadSpec "What a workload asks for." {
  0 queue: text "The queue in which it waits.";
  0 podSets: [WorkloadPodSet] keys=name "Its pods, in sets of equal ones.";
  0 owner: ObjectReference atomic "The object it was made for.";
}
type WorkloadPodSet "Identical pods of a workload." {
  0 name: text! "The name of the set.";
  0 count: int! "How many pods start together.";
  0 requests: <quantity> "What each pod asks for.";
}
type WorkloadStatus "How a workload stands." {
  0 conditions: [Condition] keys=type "What is true of the workload now.";
  0 reason: text "Why it does not run yet, in words.";
  0 topology: WorkloadTopology? "What it would find in each domain, where it waits for one, or for what is in pieces.";
  0 network: WorkloadNetwork? "What it costs the network where it runs, if its pods say how their GPUs share a model.";
}
type WorkloadNetwork "What it puts on the network."  {
  0 cost: text "What its groups take for a GiB each, and would on an idle fleet.";
  0 uplinks: [WorkloadUplink] "The domains in which some of its GPUs are and others are not, wider levels first: a hundred at most.";
  0 moreUplinks: int "How many more there are.";
}
type WorkloadUplink "What leads out of one domain." {
  0 level: text! "A label of nodes: those with one value are a domain.";
  0 domain: text! "The value of the label.";
  0 gpus: int "Its GPUs inside.";
}
type WorkloadTopology "The room for a set of its pods, domain by domain." {
  0 level: text "A label of nodes: those with one value are a domain.";
  0 together: bool "Whether all its pods have to be in one.";
  0 pods: int "How many there are.";
  0 gpusPerPod: quantity "What each asks for.";
  0 domains: [WorkloadDomain] keys=name "The ten with the most room, and those first.";
  0 moreDomains: int "How many more there are.";
}
type WorkloadDomain "What is free for it in one domain." {
  0 name: text! "The value of the label.";
  0 podsFit: int "How many of the pods would find room.";
  0 gpusFree: int "GPUs that are wholly free, on nodes where its pods may be.";
  0 gpusLacking: quantity "What the others of them ask for.";
}
)";

}  // namespace berth
