#include "manifest/schema_texts.h"

namespace berth {

const char* const kMetaSchema = R"(
package io.k8s.apimachinery.pkg.apis.meta.v1;

type ObjectMeta {
  1 name: text;  2 generateName: text;  3 namespace: text;  4 selfLink: text;  5 uid: text;  6 resourceVersion: text;
  7 generation: int;  8 creationTimestamp: time;  9 deletionTimestamp: time?;  10 deletionGracePeriodSeconds: int?;
  11 labels: <text>;  12 annotations: <text>;
  13 ownerReferences: [OwnerReference] merge=uid keys=uid;
  14 finalizers: [text] merge=- set;
  17 managedFields: [ManagedFieldsEntry];
}
type OwnerReference {
  5 apiVersion: text!;  1 kind: text!;  3 name: text!;  4 uid: text!;  6 controller: bool?;
  7 blockOwnerDeletion: bool?;
}
type ManagedFieldsEntry {
  1 manager: text;  2 operation: text;  3 apiVersion: text;  4 time: time?;  6 fieldsType: text;  7 fieldsV1: any?;
  8 subresource: text;
}
type ListMeta {
  1 selfLink: text;  2 resourceVersion: text;  3 continue: text;  4 remainingItemCount: int?;
  5 shardInfo: ShardInfo?;
}
type ShardInfo { 1 selector: text!; }
kind Status {
  1 metadata: ListMeta;  2 status: text;  3 message: text;  4 reason: text;  5 details: StatusDetails?;
  6 code: int;
}
type StatusDetails {
  1 name: text;  2 group: text;  3 kind: text;  6 uid: text;  4 causes: [StatusCause];  5 retryAfterSeconds: int;
}
type StatusCause { 1 reason: text;  2 message: text;  3 field: text; }
kind DeleteOptions {
  1 gracePeriodSeconds: int?;  2 preconditions: Preconditions?;  3 orphanDependents: bool?;  4 propagationPolicy: text?;
  5 dryRun: [text];  6 ignoreStoreReadErrorWithClusterBreakingPotential: bool?;
}
type Preconditions { 1 uid: text?;  2 resourceVersion: text?; }
type LabelSelector { 1 matchLabels: <text>;  2 matchExpressions: [LabelSelectorRequirement]; }
type LabelSelectorRequirement { 1 key: text!;  2 operator: text!;  3 values: [text]; }
type FieldSelectorRequirement { 1 key: text!;  2 operator: text!;  3 values: [text]; }
type Condition {
  1 type: text!;  2 status: text!;  3 observedGeneration: int;  4 lastTransitionTime: time!;  5 reason: text!;
  6 message: text!;
}
)";

}  // namespace berth
