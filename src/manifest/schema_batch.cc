#include "manifest/schema_texts.h"

namespace berth {

const char* const kBatchSchema = R"(
package io.k8s.api.batch.v1;

kind Job "Pods that run until enough of them have succeeded." {
  1 metadata: ObjectMeta;  2 spec: JobSpec;  3 status: JobStatus;
}
type JobTemplateSpec { 1 metadata: ObjectMeta;  2 spec: JobSpec; }
type JobSpec {
  1 parallelism: int?;  2 completions: int?;  3 activeDeadlineSeconds: int?;
  11 podFailurePolicy: PodFailurePolicy?;  16 successPolicy: SuccessPolicy?;
  7 backoffLimit: int?;  12 backoffLimitPerIndex: int?;  13 maxFailedIndexes: int?;
  4 selector: LabelSelector? atomic;  5 manualSelector: bool?;
  6 template: PodTemplateSpec!;
  8 ttlSecondsAfterFinished: int?;
  9 completionMode: text? oneof=Indexed|NonIndexed;
  10 suspend: bool?;
  14 podReplacementPolicy: text? oneof=Failed|TerminatingOrFailed;
  15 managedBy: text?;
}
type PodFailurePolicy { 1 rules: [PodFailurePolicyRule]!; }
type PodFailurePolicyRule {
  1 action: text! oneof=Count|FailIndex|FailJob|Ignore;
  2 onExitCodes: PodFailurePolicyOnExitCodesRequirement?;
  3 onPodConditions: [PodFailurePolicyOnPodConditionsPattern];
}
type PodFailurePolicyOnExitCodesRequirement {
  1 containerName: text?;  2 operator: text! oneof=In|NotIn;  3 values: [int]! set;
}
type PodFailurePolicyOnPodConditionsPattern { 1 type: text!;  2 status: text; }
type SuccessPolicy { 1 rules: [SuccessPolicyRule]!; }
type SuccessPolicyRule { 1 succeededIndexes: text?;  2 succeededCount: int?; }
type JobStatus {
  1 conditions: [JobCondition] merge=type;
  2 startTime: time?;  3 completionTime: time?;
  4 active: int;  5 succeeded: int;  6 failed: int;  11 terminating: int?;
  7 completedIndexes: text;  10 failedIndexes: text?;
  8 uncountedTerminatedPods: UncountedTerminatedPods?;
  9 ready: int?;
}
type UncountedTerminatedPods { 1 succeeded: [text] set;  2 failed: [text] set; }
type JobCondition {
  1 type: text!;  2 status: text!;  3 lastProbeTime: time;  4 lastTransitionTime: time;  5 reason: text;
  6 message: text;
}
)";

}  // namespace berth
