#include "manifest/schema_texts.h"

namespace berth {

// KubeRay's kinds as its own project has them. Its operator makes the pods; here their words say which of them start together.
const char* const kRaySchema = R"(
package io.ray.v1;

kind ray.RayCluster "A cluster of Ray: a head, and groups of workers." {
  0 metadata: ObjectMeta;
  0 spec: ray.RayClusterSpec "What the cluster is meant to be.";
  0 status: ray.RayClusterStatus "How it is doing, as its operator says. Read-only.";
}
type ray.RayClusterSpec "What a RayCluster is meant to be." {
  0 rayVersion: text "The version of Ray.";
  0 enableInTreeAutoscaling: bool? "Whether Ray grows and shrinks it; then the workers that it keeps at least start with the head, and more come after them.";
  0 autoscalerOptions: any "How it does.";
  0 headGroupSpec: ray.HeadGroupSpec! "The head.";
  0 workerGroupSpecs: [ray.WorkerGroupSpec] "The workers, group by group.";
  0 suspend: bool? "Whether it has no pods for now.";
  0 managedBy: text? "Who makes its pods.";
  0 headServiceAnnotations: <text> "Of the head's Service.";
  0 gcsFaultToleranceOptions: any "What outlives the head.";
  0 upgradeStrategy: any "What follows if its templates change.";
  0 authOptions: any "Who may use it.";
  0 historyServerOptions: any "What is kept of what ran.";
  0 networkPolicy: any "Who may reach it.";
  0 tlsOptions: any "How it is reached.";
}
type ray.HeadGroupSpec "The head of a RayCluster." {
  0 serviceType: text "Of its Service.";
  0 headService: any "Its Service.";
  0 enableIngress: bool? "Whether it is reached from outside.";
  0 ingressOptions: any "How it is.";
  0 rayStartParams: <text> "How Ray is started.";
  0 resources: any "What Ray takes it to have.";
  0 labels: <text> "What Ray calls it.";
  0 template: PodTemplateSpec! "What it is made of.";
}
type ray.WorkerGroupSpec "Workers of a RayCluster that are alike." {
  0 groupName: text! "Its name.";
  0 replicas: int? "How many replicas; minReplicas if absent.";
  0 minReplicas: int? "So many at least; 0 if absent.";
  0 maxReplicas: int? "So many at most.";
  0 numOfHosts: int "Pods of a replica; 1 if absent.";
  0 idleTimeoutSeconds: int? "How long an idle worker stays.";
  0 suspend: bool? "Whether it has no pods for now.";
  0 priority: int? "Which group Ray grows first.";
  0 rayStartParams: <text> "How Ray is started.";
  0 resources: any "What Ray takes each to have.";
  0 labels: <text> "What Ray calls them.";
  0 template: PodTemplateSpec! "What each is made of.";
  0 scaleStrategy: any "Which go when it shrinks.";
  0 networkPolicy: any "Who may reach them.";
}
type ray.RayClusterStatus "How a RayCluster is doing." {
  0 state: text "ready, suspended or failed.";
  0 desiredCPU: intortext "What its workers request together.";
  0 desiredMemory: intortext "What its workers request together.";
  0 desiredGPU: intortext "What its workers request together.";
  0 desiredTPU: intortext "What its workers request together.";
  0 lastUpdateTime: time? "When its operator last looked.";
  0 stateTransitionTimes: any "When it came to be so.";
  0 endpoints: <text> "Ports of its Service.";
  0 head: any "The head's addresses.";
  0 reason: text "Why it is so.";
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 readyWorkerReplicas: int "Workers that are ready.";
  0 availableWorkerReplicas: int "Workers that run.";
  0 desiredWorkerReplicas: int "Workers that there are to be.";
  0 minWorkerReplicas: int "Workers that it keeps at least.";
  0 maxWorkerReplicas: int "Workers that there are at most.";
  0 observedGeneration: int "Which generation its operator has seen.";
}

kind ray.RayJob "A job on a RayCluster that is made for it." {
  0 metadata: ObjectMeta;
  0 spec: ray.RayJobSpec "What the job is meant to be.";
  0 status: ray.RayJobStatus "How it is doing, as its operator says. Read-only.";
}
type ray.RayJobSpec "What a RayJob is meant to be." {
  0 entrypoint: text "What it runs.";
  0 runtimeEnvYAML: text "In which environment.";
  0 jobId: text "Its name for Ray.";
  0 submissionMode: text oneof=K8sJobMode|HTTPMode|InteractiveMode|SidecarMode "Who submits it; the pod of a Job if absent, which is in no gang.";
  0 rayClusterSpec: ray.RayClusterSpec? "The cluster that is made for it.";
  0 clusterSelector: <text> "A cluster that is there already.";
  0 submitterPodTemplate: PodTemplateSpec? "What submits it.";
  0 submitterConfig: any "How often that is tried.";
  0 metadata: <text> "What Ray keeps about it.";
  0 entrypointNumCpus: any "What it asks of Ray.";
  0 entrypointNumGpus: any "What it asks of Ray.";
  0 entrypointResources: text "What it asks of Ray.";
  0 shutdownAfterJobFinishes: bool "Whether its cluster goes with it.";
  0 ttlSecondsAfterFinished: int "How long its cluster stays.";
  0 activeDeadlineSeconds: int? "How long it may take.";
  0 preRunningDeadlineSeconds: int? "How long it may wait.";
  0 backoffLimit: int? "How often it is tried again.";
  0 suspend: bool "Whether it has no cluster for now.";
  0 managedBy: text? "Who makes its cluster.";
  0 deletionStrategy: any "What is deleted at its end.";
}
type ray.RayJobStatus "How a RayJob is doing." {
  0 rayJobInfo: any "As Ray says.";
  0 jobId: text "Its name for Ray.";
  0 rayClusterName: text "Its cluster.";
  0 dashboardURL: text "Where it is looked at.";
  0 jobStatus: text "PENDING, RUNNING, SUCCEEDED, FAILED or STOPPED.";
  0 jobDeploymentStatus: text "How far its operator is with it.";
  0 reason: text "Why it failed.";
  0 message: text "Why it failed.";
  0 startTime: time? "When it began.";
  0 endTime: time? "When it ended.";
  0 succeeded: int? "How often it succeeded.";
  0 failed: int? "How often it failed.";
  0 rayClusterStatus: any "How its cluster is doing.";
  0 observedGeneration: int "Which generation its operator has seen.";
}
)";

}  // namespace berth
