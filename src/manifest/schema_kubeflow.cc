#include "manifest/schema_texts.h"

namespace berth {

// Kubeflow's kinds as its training operator, its MPI operator and its trainer have them. Their controllers make the pods; here
// their words say which of them start together.
const char* const kKubeflowSchema = R"(
package org.kubeflow.v1;

kind kubeflow.PyTorchJob "A training job of PyTorch." {
  0 metadata: ObjectMeta;
  0 spec: kubeflow.PyTorchJobSpec "What the job is meant to be.";
  0 status: kubeflow.JobStatus "How it is doing, as its operator says. Read-only.";
}
type kubeflow.PyTorchJobSpec "What a PyTorchJob is meant to be." {
  0 runPolicy: kubeflow.RunPolicy "How it runs, and how few of its pods will do.";
  0 elasticPolicy: kubeflow.ElasticPolicy? "With how many workers it can go on.";
  0 pytorchReplicaSpecs: <kubeflow.ReplicaSpec>! "Its pods: Master and Worker.";
  0 nprocPerNode: text? "Processes of a pod.";
}
kind kubeflow.TFJob "A training job of TensorFlow." {
  0 metadata: ObjectMeta;
  0 spec: kubeflow.TFJobSpec "What the job is meant to be.";
  0 status: kubeflow.JobStatus "How it is doing, as its operator says. Read-only.";
}
type kubeflow.TFJobSpec "What a TFJob is meant to be." {
  0 runPolicy: kubeflow.RunPolicy "How it runs, and how few of its pods will do.";
  0 successPolicy: text? "When it has succeeded.";
  0 tfReplicaSpecs: <kubeflow.ReplicaSpec>! "Its pods: Chief, PS, Worker, Evaluator.";
  0 enableDynamicWorker: bool "Whether workers may come and go.";
}
kind kubeflow.XGBoostJob "A training job of XGBoost." {
  0 metadata: ObjectMeta;
  0 spec: kubeflow.XGBoostJobSpec "What the job is meant to be.";
  0 status: kubeflow.JobStatus "How it is doing, as its operator says. Read-only.";
}
type kubeflow.XGBoostJobSpec "What a XGBoostJob is meant to be." {
  0 runPolicy: kubeflow.RunPolicy "How it runs, and how few of its pods will do.";
  0 xgbReplicaSpecs: <kubeflow.ReplicaSpec>! "Its pods: Master and Worker.";
}
kind kubeflow.PaddleJob "A training job of PaddlePaddle." {
  0 metadata: ObjectMeta;
  0 spec: kubeflow.PaddleJobSpec "What the job is meant to be.";
  0 status: kubeflow.JobStatus "How it is doing, as its operator says. Read-only.";
}
type kubeflow.PaddleJobSpec "What a PaddleJob is meant to be." {
  0 runPolicy: kubeflow.RunPolicy "How it runs, and how few of its pods will do.";
  0 elasticPolicy: kubeflow.ElasticPolicy? "With how many workers it can go on.";
  0 paddleReplicaSpecs: <kubeflow.ReplicaSpec>! "Its pods: Master and Worker.";
}
kind kubeflow.JAXJob "A training job of JAX." {
  0 metadata: ObjectMeta;
  0 spec: kubeflow.JAXJobSpec "What the job is meant to be.";
  0 status: kubeflow.JobStatus "How it is doing, as its operator says. Read-only.";
}
type kubeflow.JAXJobSpec "What a JAXJob is meant to be." {
  0 runPolicy: kubeflow.RunPolicy "How it runs, and how few of its pods will do.";
  0 jaxReplicaSpecs: <kubeflow.ReplicaSpec>! "Its pods: Worker.";
}
type kubeflow.ReplicaSpec "Pods of one sort." {
  0 replicas: int? "How many; 1 if absent.";
  0 template: PodTemplateSpec "What each is made of.";
  0 restartPolicy: text oneof=Always|OnFailure|Never|ExitCode "Whether they are made anew.";
}
type kubeflow.RunPolicy "How a job runs." {
  0 cleanPodPolicy: text? oneof=All|Running|None "Which pods are deleted at its end.";
  0 ttlSecondsAfterFinished: int? "How long it stays after its end.";
  0 activeDeadlineSeconds: int? "How long it may take.";
  0 backoffLimit: int? "How often it is tried again.";
  0 schedulingPolicy: kubeflow.SchedulingPolicy? "Which of its pods start together, and where they wait.";
  0 suspend: bool? "Whether it has no pods for now.";
  0 managedBy: text? "Who makes its pods.";
}
type kubeflow.SchedulingPolicy "Which pods of a job start together, and where they wait." {
  0 minAvailable: int? "So many start together, and the others come after them; all if absent.";
  0 queue: text "A queue of Volcano's, for pods that name none.";
  0 minResources: <intortext> "Not followed: what the pods request is counted.";
  0 priorityClass: text "Not followed: the pods' own counts.";
  0 scheduleTimeoutSeconds: int? "Not followed: nothing is held for who waits.";
}
type kubeflow.ElasticPolicy "With how many workers a job can go on." {
  0 minReplicas: int? "So many workers start with the others; more come after them.";
  0 maxReplicas: int? "So many there are at most.";
  0 maxRestarts: int? "How often its processes start anew.";
  0 metrics: any "By which it grows and shrinks.";
  0 rdzvBackend: text? "How its pods find each other.";
  0 rdzvPort: int? "Where they do.";
  0 rdzvHost: text? "Where they do.";
  0 rdzvId: text? "Under which name they do.";
  0 rdzvConf: any "More about that.";
  0 standalone: bool? "Whether there is one pod alone.";
  0 nProcPerNode: int? "Processes of a pod.";
}
type kubeflow.JobStatus "How a training job is doing." {
  0 conditions: [kubeflow.JobCondition] "What is true of it now; the last one is its state.";
  0 replicaStatuses: any "Its pods, sort by sort.";
  0 startTime: time? "When it began.";
  0 completionTime: time? "When it ended.";
  0 lastReconcileTime: time? "When its operator last looked.";
}
type kubeflow.JobCondition "What is true of a job." {
  0 type: text! "What.";
  0 status: text! "Whether it is.";
  0 reason: text "Why, in a word.";
  0 message: text "Why.";
  0 lastUpdateTime: time "When that was last said.";
  0 lastTransitionTime: time "Since when it is so.";
}

package org.kubeflow.v2beta1;

kind mpi.MPIJob "A job of MPI: workers, and a launcher that runs the program on them." {
  0 metadata: ObjectMeta;
  0 spec: mpi.MPIJobSpec "What the job is meant to be.";
  0 status: kubeflow.JobStatus "How it is doing, as its operator says. Read-only.";
}
type mpi.MPIJobSpec "What a MPIJob is meant to be." {
  0 slotsPerWorker: int? "Processes of a worker.";
  0 runLauncherAsWorker: bool? "Whether the launcher is one of the workers.";
  0 runPolicy: kubeflow.RunPolicy "How it runs, and how few of its pods will do.";
  0 mpiReplicaSpecs: <kubeflow.ReplicaSpec>! "Its pods: Launcher and Worker.";
  0 sshAuthMountPath: text "Where its keys are.";
  0 launcherCreationPolicy: text oneof=AtStartup|WaitForWorkersReady "Whether the launcher is made once the workers are ready; AtStartup if absent: it starts with them.";
  0 mpiImplementation: text oneof=OpenMPI|Intel|MPICH "Whose MPI it is.";
}

package org.kubeflow.trainer.v1alpha1;

kind trainer.TrainJob "A training job, of which Kubeflow's trainer makes a JobSet." {
  0 metadata: ObjectMeta;
  0 spec: trainer.TrainJobSpec "What the job is meant to be.";
  0 status: trainer.TrainJobStatus "How it is doing, as its controller says. Read-only.";
}
type trainer.TrainJobSpec "What a TrainJob is meant to be." {
  0 runtimeRef: trainer.RuntimeRef! "By which runtime its JobSet is made.";
  0 initializer: any "What fetches data and model before.";
  0 trainer: any "What trains, and on how many nodes.";
  0 labels: <text> "Of its JobSet.";
  0 annotations: <text> "Of its JobSet.";
  0 podSpecOverrides: any "What is otherwise than in the runtime.";
  0 podTemplateOverrides: any "What is otherwise than in the runtime.";
  0 runtimePatches: any "What is otherwise than in the runtime.";
  0 suspend: bool? "Whether its JobSet is suspended.";
  0 activeDeadlineSeconds: int? "How long it may take.";
  0 ttlSecondsAfterFinished: int? "How long it stays after its end.";
  0 managedBy: text? "Who makes its JobSet.";
}
type trainer.RuntimeRef "A TrainingRuntime or ClusterTrainingRuntime." {
  0 name: text! "Its name.";
  0 apiGroup: text? "Its group; trainer.kubeflow.org if absent.";
  0 kind: text? "Its kind; ClusterTrainingRuntime if absent.";
}
type trainer.TrainJobStatus "How a TrainJob is doing." {
  0 conditions: [Condition] keys=type "What is true of it now.";
  0 jobsStatus: any "The Jobs of its JobSet.";
  0 trainerStatus: any "How far it is, as it says itself.";
  0 startTime: time? "When it began.";
  0 restarts: int "How often it has started anew.";
  0 restartsCountTowardsMax: int "Of those, how often that counted.";
}
kind trainer.TrainingRuntime "How JobSets of TrainJobs of its namespace are made." {
  0 metadata: ObjectMeta;
  0 spec: trainer.TrainingRuntimeSpec "What they have in common.";
}
kind trainer.ClusterTrainingRuntime "How JobSets of TrainJobs are made." {
  0 metadata: ObjectMeta;
  0 spec: trainer.TrainingRuntimeSpec "What they have in common.";
}
type trainer.TrainingRuntimeSpec "What JobSets of TrainJobs have in common." {
  0 mlPolicy: any "How many nodes, and what they run.";
  0 podGroupPolicy: any "By which scheduler's PodGroup its pods start together.";
  0 runPolicy: any "How long they may take, and stay.";
  0 template: any "The JobSet.";
}
)";

}  // namespace berth
