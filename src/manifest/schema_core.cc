#include "manifest/schema_texts.h"

namespace berth {

const char* const kCoreSchema = R"(
package io.k8s.api.core.v1;

kind Namespace "A space of names, and what quotas and roles are for." {
  1 metadata: ObjectMeta;  2 spec: NamespaceSpec;  3 status: NamespaceStatus;
}
type NamespaceSpec { 1 finalizers: [text]; }
type NamespaceStatus {
  1 phase: text oneof=Active|Terminating;
  2 conditions: [NamespaceCondition] merge=type keys=type;
}
type NamespaceCondition {
  1 type: text!;  2 status: text!;  4 lastTransitionTime: time;  5 reason: text;  6 message: text;
}

kind ConfigMap "Configuration that pods read." {
  1 metadata: ObjectMeta;  2 data: <text>;  3 binaryData: <bytes>;  4 immutable: bool?;
}
kind Secret "What pods may know and others should not." {
  1 metadata: ObjectMeta;  2 data: <bytes>;  4 stringData: <text>;  3 type: text;  5 immutable: bool?;
}
kind ServiceAccount "Who a pod is when it talks to the API." {
  1 metadata: ObjectMeta;
  2 secrets: [ObjectReference] merge=name keys=name;
  3 imagePullSecrets: [LocalObjectReference];
  4 automountServiceAccountToken: bool?;
}

kind ResourceQuota "How much a namespace may have." {
  1 metadata: ObjectMeta;  2 spec: ResourceQuotaSpec;  3 status: ResourceQuotaStatus;
}
type ResourceQuotaSpec { 1 hard: <quantity>;  2 scopes: [text];  3 scopeSelector: ScopeSelector? atomic; }
type ScopeSelector { 1 matchExpressions: [ScopedResourceSelectorRequirement]; }
type ScopedResourceSelectorRequirement {
  1 scopeName: text!;  2 operator: text! oneof=DoesNotExist|Exists|In|NotIn;  3 values: [text];
}
type ResourceQuotaStatus { 1 hard: <quantity>;  2 used: <quantity>; }

kind LimitRange "Bounds and defaults of what one pod or container may ask for." {
  1 metadata: ObjectMeta;  2 spec: LimitRangeSpec;
}
type LimitRangeSpec { 1 limits: [LimitRangeItem]!; }
type LimitRangeItem {
  1 type: text!;  2 max: <quantity>;  3 min: <quantity>;  4 default: <quantity>;  5 defaultRequest: <quantity>;
  6 maxLimitRequestRatio: <quantity>;
}

kind Event "Something that happened to an object." {
  1 metadata: ObjectMeta!;  2 involvedObject: ObjectReference! atomic;  3 reason: text;  4 message: text;
  5 source: EventSource;  6 firstTimestamp: time;  7 lastTimestamp: time;  8 count: int;  9 type: text;
  10 eventTime: microtime;  11 series: EventSeries?;  12 action: text;  13 related: ObjectReference? atomic;
  14 reportingComponent: text!;  15 reportingInstance: text!;
}
type EventSource { 1 component: text;  2 host: text; }
type EventSeries { 1 count: int;  2 lastObservedTime: microtime; }

package io.k8s.api.events.v1;

kind events.Event "Something that happened to an object." {
  1 metadata: ObjectMeta;  2 eventTime: microtime!;  3 series: events.EventSeries?;  4 reportingController: text;
  5 reportingInstance: text;  6 action: text;  7 reason: text;  8 regarding: ObjectReference atomic;
  9 related: ObjectReference? atomic;  10 note: text;  11 type: text;  12 deprecatedSource: EventSource;
  13 deprecatedFirstTimestamp: time;  14 deprecatedLastTimestamp: time;  15 deprecatedCount: int;
}
type events.EventSeries { 1 count: int!;  2 lastObservedTime: microtime!; }
)";

}  // namespace berth
