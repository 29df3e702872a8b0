#include "manifest/schema_texts.h"

namespace berth {

// JobSet as its own project has it. What Berth does not follow is read, so that it can be refused by name
// (apiserver/validate_job_set.cc).
const char* const kJobSetSchema = R"(
package io.x-k8s.jobset.v1alpha2;

kind jobset.JobSet "Jobs that belong together: they start together, and start anew together when one of them fails." {
  0 metadata: ObjectMeta;
  0 spec: jobset.JobSetSpec "What the set is meant to be.";
  0 status: jobset.JobSetStatus "How its Jobs are doing. Read-only.";
}
type jobset.JobSetSpec "What a JobSet is meant to be." {
  0 replicatedJobs: [jobset.ReplicatedJob] keys=name "Its Jobs, sort by sort.";
  0 network: jobset.Network? "The names of its pods.";
  0 successPolicy: jobset.SuccessPolicy? "When it is complete; absent: when all of its Jobs are.";
  0 failurePolicy: jobset.FailurePolicy? "What follows if a Job fails; absent: the set has failed.";
  0 startupPolicy: jobset.StartupPolicy? "Whether its Jobs start one sort after the other.";
  0 suspend: bool? "Whether its Jobs are suspended.";
  0 coordinator: jobset.Coordinator? "The pod whose address all Jobs and pods carry as a label.";
  0 managedBy: text? "Who makes its Jobs; absent or jobset.sigs.k8s.io/jobset-controller: Berth.";
  0 ttlSecondsAfterFinished: int? "How long it stays after its end; absent: for ever.";
  0 volumeClaimPolicies: any "Refused: there are no volume claims here.";
}
type jobset.ReplicatedJob "Jobs of one template." {
  0 name: text! "The second part of the names of its Jobs.";
  0 groupName: text "A name for those who are numbered together; default if absent.";
  0 template: JobTemplateSpec! "What each Job is made of.";
  0 replicas: int "How many Jobs; 1 if absent.";
  0 dependsOn: [jobset.DependsOn] keys=name "What they wait for.";
}
type jobset.DependsOn "Earlier Jobs that others wait for." {
  0 name: text! "An earlier one of the replicatedJobs.";
  0 status: text! oneof=Ready|Complete "How far all of its Jobs must have come.";
}
type jobset.Network "The names of a JobSet's pods." {
  0 enableDNSHostnames: bool? "Whether pods have the subdomain; true if absent.";
  0 subdomain: text "The subdomain of its pods; the name of the JobSet if absent.";
  0 publishNotReadyAddresses: bool? "Kept: no addresses are published here.";
}
type jobset.SuccessPolicy "When a JobSet is complete." {
  0 operator: text! oneof=All|Any "When all of the Jobs are, or one is.";
  0 targetReplicatedJobs: [text] "Whose Jobs count; absent: all.";
}
type jobset.FailurePolicy "What follows if a Job of a JobSet fails." {
  0 maxRestarts: int "How often the set starts anew.";
  0 restartStrategy: text oneof=Recreate|BlockingRecreate|InPlaceRestart "Whether all old pods are gone before a new Job is made; InPlaceRestart is refused.";
  0 rules: [jobset.FailurePolicyRule] "The first that applies decides; if none does, the set starts anew.";
}
type jobset.FailurePolicyRule "What follows a failure of one sort." {
  0 name: text "Its name; failurePolicyRuleN if absent.";
  0 action: text! "What is done: FailJobSet, RestartJobSet or RestartJobSetAndIgnoreMaxRestarts.";
  0 onJobFailureReasons: [text] "Of a Job that failed for one of these reasons; absent: for any.";
  0 onJobFailureMessagePatterns: [text] "And whose message matches one of these patterns; absent: any.";
  0 targetReplicatedJobs: [text] "Whose Jobs it is about; absent: all.";
}
type jobset.StartupPolicy "Whether the Jobs of a JobSet start one sort after the other." {
  0 startupPolicyOrder: text! oneof=AnyOrder|InOrder "InOrder: each sort when those before it are ready.";
}
type jobset.Coordinator "The pod of a JobSet that the others turn to." {
  0 replicatedJob: text! "Of which sort its Job is.";
  0 jobIndex: int "The number of its Job.";
  0 podIndex: int "Its completion index.";
}
type jobset.JobSetStatus "How the Jobs of a JobSet are doing." {
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 restarts: int "How often it has started anew.";
  0 restartsCountTowardsMax: int "Of those, how often that counted.";
  0 terminalState: text "Completed or Failed, once it is over.";
  0 replicatedJobsStatus: [jobset.ReplicatedJobStatus] keys=name "Its Jobs, counted sort by sort.";
}
type jobset.ReplicatedJobStatus "The Jobs of one template, counted." {
  0 name: text! "Of which.";
  0 ready: int! "Whose pods are all ready or have succeeded.";
  0 succeeded: int! "That are complete.";
  0 failed: int! "That have failed.";
  0 active: int! "That have pods.";
  0 suspended: int! "That are suspended.";
}
)";

}  // namespace berth
