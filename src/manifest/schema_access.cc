#include "manifest/schema_texts.h"

namespace berth {

const char* const kAccessSchema = R"(
package io.k8s.api.rbac.v1;

kind Role "What may be done in one namespace." { 1 metadata: ObjectMeta;  2 rules: [PolicyRule]!; }
kind ClusterRole "What may be done, for bindings in any namespace or everywhere." {
  1 metadata: ObjectMeta;  2 rules: [PolicyRule]!;  3 aggregationRule: AggregationRule?;
}
type PolicyRule {
  1 verbs: [text]!;  2 apiGroups: [text];  3 resources: [text];  4 resourceNames: [text];  5 nonResourceURLs: [text];
}
type AggregationRule { 1 clusterRoleSelectors: [LabelSelector]; }
kind RoleBinding "Gives a role to users and groups in one namespace." {
  1 metadata: ObjectMeta;  2 subjects: [Subject];  3 roleRef: RoleRef! atomic;
}
kind ClusterRoleBinding "Gives a cluster role to users and groups everywhere." {
  1 metadata: ObjectMeta;  2 subjects: [Subject];  3 roleRef: RoleRef! atomic;
}
type Subject { 1 kind: text!;  2 apiGroup: text;  3 name: text!;  4 namespace: text; }
type RoleRef { 1 apiGroup: text;  2 kind: text!;  3 name: text!; }

package io.k8s.api.authorization.v1;

kind SubjectAccessReview "Asks whether a user may do something." {
  1 metadata: ObjectMeta;  2 spec: SubjectAccessReviewSpec!;  3 status: SubjectAccessReviewStatus;
}
kind LocalSubjectAccessReview "Asks whether a user may do something in one namespace." {
  1 metadata: ObjectMeta;  2 spec: SubjectAccessReviewSpec!;  3 status: SubjectAccessReviewStatus;
}
kind SelfSubjectAccessReview "Asks whether you may do something." {
  1 metadata: ObjectMeta;  2 spec: SelfSubjectAccessReviewSpec!;  3 status: SubjectAccessReviewStatus;
}
kind SelfSubjectRulesReview "Asks for everything you may do in a namespace." {
  1 metadata: ObjectMeta;  2 spec: SelfSubjectRulesReviewSpec!;  3 status: SubjectRulesReviewStatus;
}
type SubjectAccessReviewSpec {
  1 resourceAttributes: ResourceAttributes?;  2 nonResourceAttributes: NonResourceAttributes?;  3 user: text;
  4 groups: [text];  5 extra: <ExtraValue>;  6 uid: text;
}
type SelfSubjectAccessReviewSpec {
  1 resourceAttributes: ResourceAttributes?;  2 nonResourceAttributes: NonResourceAttributes?;
}
type ResourceAttributes {
  1 namespace: text;  2 verb: text;  3 group: text;  4 version: text;  5 resource: text;  6 subresource: text;
  7 name: text;  8 fieldSelector: FieldSelectorAttributes?;  9 labelSelector: LabelSelectorAttributes?;
}
type FieldSelectorAttributes { 1 rawSelector: text;  2 requirements: [FieldSelectorRequirement]; }
type LabelSelectorAttributes { 1 rawSelector: text;  2 requirements: [LabelSelectorRequirement]; }
type NonResourceAttributes { 1 path: text;  2 verb: text; }
type SubjectAccessReviewStatus { 1 allowed: bool!;  4 denied: bool;  2 reason: text;  3 evaluationError: text; }
type SelfSubjectRulesReviewSpec { 1 namespace: text; }
type SubjectRulesReviewStatus {
  1 resourceRules: [ResourceRule]!;  2 nonResourceRules: [NonResourceRule]!;  3 incomplete: bool!;
  4 evaluationError: text;
}
type ResourceRule { 1 verbs: [text]!;  2 apiGroups: [text];  3 resources: [text];  4 resourceNames: [text]; }
type NonResourceRule { 1 verbs: [text]!;  2 nonResourceURLs: [text]; }
type ExtraValue { 1 items: [text] inlined; }

package io.k8s.api.authentication.v1;

kind TokenReview "Asks whose token this is." {
  1 metadata: ObjectMeta;  2 spec: TokenReviewSpec!;  3 status: TokenReviewStatus;
}
type TokenReviewSpec { 1 token: text;  2 audiences: [text]; }
type TokenReviewStatus { 1 authenticated: bool;  2 user: UserInfo;  4 audiences: [text];  3 error: text; }
type UserInfo { 1 username: text;  2 uid: text;  3 groups: [text];  4 extra: <ExtraValue>; }
kind SelfSubjectReview "Asks who you are." { 1 metadata: ObjectMeta;  2 status: SelfSubjectReviewStatus; }
type SelfSubjectReviewStatus { 1 userInfo: UserInfo; }
)";

}  // namespace berth
