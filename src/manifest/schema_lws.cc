#include "manifest/schema_texts.h"

namespace berth {

// LeaderWorkerSet as its own project has it. Its controller makes the pods; here its words say which of them start together.
const char* const kLeaderWorkerSetSchema = R"(
package io.x-k8s.leaderworkerset.v1;

kind lws.LeaderWorkerSet "Groups of pods, a leader and its workers each, that are made anew together." {
  0 metadata: ObjectMeta;
  0 spec: lws.LeaderWorkerSetSpec "What the set is meant to be.";
  0 status: lws.LeaderWorkerSetStatus "How its groups are doing, as its controller says. Read-only.";
}
type lws.LeaderWorkerSetSpec "What a LeaderWorkerSet is meant to be." {
  0 replicas: int? "How many groups; 1 if absent.";
  0 leaderWorkerTemplate: lws.LeaderWorkerTemplate! "What each group is.";
  0 rolloutStrategy: lws.RolloutStrategy? "How groups are replaced by newer ones.";
  0 startupPolicy: text oneof=LeaderCreated|LeaderReady "Whether workers are made once their leader is ready; LeaderCreated if absent: all of a group start together.";
  0 networkConfig: lws.NetworkConfig? "The names of its pods.";
}
type lws.LeaderWorkerTemplate "What each group of a LeaderWorkerSet is." {
  0 leaderTemplate: PodTemplateSpec? "What the leader is made of; the workers' if absent.";
  0 workerTemplate: PodTemplateSpec! "What the workers are made of.";
  0 size: int? "How many pods, the leader among them; 1 if absent.";
  0 restartPolicy: text oneof=Default|RecreateGroupOnPodRestart|RecreateGroupAfterStart|None "Whether one that restarts takes its group along.";
  0 subGroupPolicy: lws.SubGroupPolicy? "Not followed by the scheduler: a group starts together.";
  0 volumeClaimTemplates: any "Claims of its pods.";
  0 persistentVolumeClaimRetentionPolicy: any "What becomes of these.";
}
type lws.SubGroupPolicy "Parts of a group." {
  0 subGroupPolicyType: text? oneof=LeaderWorker|LeaderExcluded "Whether the leader is in the first.";
  0 subGroupSize: int? "How many pods each has.";
}
type lws.RolloutStrategy "How groups are replaced by newer ones." {
  0 type: text oneof=RollingUpdate "Some at a time.";
  0 rollingUpdateConfiguration: lws.RollingUpdateConfiguration? "How many at a time.";
}
type lws.RollingUpdateConfiguration "How many groups are replaced at a time." {
  0 partition: int? "Groups below this index stay.";
  0 maxUnavailable: intortext "So many may be missing.";
  0 maxSurge: intortext "So many more may be there.";
}
type lws.NetworkConfig "The names of a LeaderWorkerSet's pods." {
  0 subdomainPolicy: text? oneof=Shared|UniquePerReplica "One subdomain for all, or one for each group.";
}
type lws.LeaderWorkerSetStatus "How the groups of a LeaderWorkerSet are doing." {
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 readyReplicas: int "Groups that are ready.";
  0 updatedReplicas: int "Groups of the newest template.";
  0 replicas: int "Groups that are there.";
  0 hpaPodSelector: text "Its leaders.";
  0 observedGeneration: int "Which generation its controller has seen.";
}
)";

}  // namespace berth
