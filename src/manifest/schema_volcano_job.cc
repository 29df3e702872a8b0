#include "manifest/schema_texts.h"

namespace berth {

// Volcano's Job. Fields that Berth does not follow are here too, so that whoever writes one is told so (volcano_job.h).
const char* const kVolcanoJobSchema = R"(
package sh.volcano.batch.v1alpha1;

kind volcano.Job "Tasks that belong together, in Volcano's words: what starts as one gang." {
  0 metadata: ObjectMeta;
  0 spec: volcano.JobSpec "What the job is meant to be.";
  0 status: volcano.JobStatus "How it stands. Read-only.";
}
type volcano.JobSpec "What a job of Volcano is meant to be." {
  0 schedulerName: text "volcano or berth.";
  0 minAvailable: int "How many of its pods start together; if absent, all.";
  0 volumes: any "Not followed.";
  0 tasks: [volcano.TaskSpec] "Its pods, task by task.";
  0 policies: [volcano.LifecyclePolicy] "What is done when something happens to it.";
  0 plugins: any "By name with their arguments: env and svc.";
  0 runningEstimate: text? "Not followed.";
  0 queue: text "The queue of Volcano's in which it waits.";
  0 maxRetry: int "At which restart it fails instead; 3 if absent.";
  0 ttlSecondsAfterFinished: int? "How long it stays after its end; if absent, until somebody deletes it.";
  0 priorityClassName: text "The priority of pods whose template names none.";
  0 minSuccess: int? "How many pods have to succeed; then it is done.";
  0 networkTopology: volcano.NetworkTopologySpec? "How near each other its nodes have to be.";
}
type volcano.TaskSpec "Pods that are alike." {
  0 name: text "Part of the names of its pods.";
  0 replicas: int "How many pods it has.";
  0 minAvailable: int? "How many of them start with the job at least.";
  0 template: PodTemplateSpec "What each is made of.";
  0 policies: [volcano.LifecyclePolicy] "What is done when something happens to it; before the job's.";
  0 topologyPolicy: text "Not followed.";
  0 maxRetry: int "How often containers may be restarted until TaskFailed; 3 if absent, -1: ever.";
  0 dependsOn: volcano.DependsOn? "Tasks that have to run before it is made.";
  0 partitionPolicy: any "Not followed.";
}
type volcano.DependsOn "Tasks that have to run first." {
  0 name: [text] "Which.";
  0 iteration: text oneof=any|all "Whether one of them is enough.";
}
type volcano.LifecyclePolicy "What is done when something happens." {
  0 event: text "What happens.";
  0 events: [text] "What happens: any of these.";
  0 exitCode: int? "That a container ends with this code.";
  0 action: text "What is done.";
  0 timeout: text? "How long it has to last before.";
}
type volcano.NetworkTopologySpec "How near each other nodes have to be." {
  0 mode: text oneof=hard|soft "Whether they must, or should.";
  0 highestTierAllowed: int? "In one HyperNode of this tier or a lower one.";
  0 highestTierName: text "Not followed.";
}
type volcano.JobStatus "How a job of Volcano stands." {
  0 state: volcano.JobState "Its phase, and since when.";
  0 minAvailable: int "How many of its pods start together.";
  0 taskStatusCount: <volcano.TaskState> "Its pods, task by task.";
  0 pending: int "How many pods have not begun.";
  0 running: int "How many run.";
  0 succeeded: int "How many have succeeded.";
  0 failed: int "How many have failed and are not made again.";
  0 terminating: int "How many were told to end and have not.";
  0 unknown: int "Of how many nothing is known.";
  0 version: int "How often all of it was made anew.";
  0 retryCount: int "How many restarts count.";
  0 runningDuration: text? "How long it ran.";
  0 controlledResources: <text> "What it made beside its pods.";
  0 conditions: [volcano.JobCondition] "The phases that it has gone through, the last ones.";
  0 restarting: [text] "Pods whose restart has been counted and that are not gone yet, by uid.";
}
type volcano.JobState "The phase of a job." {
  0 phase: text "Pending, Running, Restarting, Completing, Completed, Aborting, Aborted, Terminating, Terminated or Failed.";
  0 reason: text "Why, in one word.";
  0 message: text "Why, in words.";
  0 lastTransitionTime: time "Since when.";
}
type volcano.TaskState "The pods of a task." { 0 phase: <int> "How many are in which phase."; }
type volcano.JobCondition "A phase that began." {
  0 status: text! "Which.";
  0 lastTransitionTime: time "When.";
}
)";

}  // namespace berth
