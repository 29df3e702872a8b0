#include "manifest/schema_texts.h"

namespace berth {

const char* const kPodSchema = R"(
package io.k8s.api.core.v1;

kind Pod "A group of containers that run together on one node." {
  1 metadata: ObjectMeta;  2 spec: PodSpec;  3 status: PodStatus;
}
type PodTemplateSpec { 1 metadata: ObjectMeta;  2 spec: PodSpec; }
type PodSpec {
  1 volumes: [Volume] merge=name retain keys=name;
  20 initContainers: [Container] merge=name keys=name;
  2 containers: [Container]! merge=name keys=name;
  34 ephemeralContainers: [EphemeralContainer] merge=name keys=name;
  3 restartPolicy: text oneof=Always|Never|OnFailure;
  4 terminationGracePeriodSeconds: int?;  5 activeDeadlineSeconds: int?;
  6 dnsPolicy: text oneof=ClusterFirst|ClusterFirstWithHostNet|Default|None;
  7 nodeSelector: <text> atomic;
  8 serviceAccountName: text;  9 serviceAccount: text;  21 automountServiceAccountToken: bool?;
  10 nodeName: text;  11 hostNetwork: bool;  12 hostPID: bool;  13 hostIPC: bool;  27 shareProcessNamespace: bool?;
  14 securityContext: PodSecurityContext?;
  15 imagePullSecrets: [LocalObjectReference] merge=name keys=name;
  16 hostname: text;  17 subdomain: text;
  18 affinity: Affinity?;
  19 schedulerName: text;
  22 tolerations: [Toleration];
  23 hostAliases: [HostAlias] merge=ip keys=ip;
  24 priorityClassName: text;  25 priority: int?;
  26 dnsConfig: PodDNSConfig?;
  28 readinessGates: [PodReadinessGate];
  29 runtimeClassName: text?;  30 enableServiceLinks: bool?;
  31 preemptionPolicy: text? oneof=Never|PreemptLowerPriority;
  32 overhead: <quantity>;
  33 topologySpreadConstraints: [TopologySpreadConstraint] merge=topologyKey keys=topologyKey,whenUnsatisfiable;
  35 setHostnameAsFQDN: bool?;
  36 os: PodOS?;
  37 hostUsers: bool?;
  38 schedulingGates: [PodSchedulingGate] merge=name keys=name;
  39 resourceClaims: [PodResourceClaim] merge=name retain keys=name;
  40 resources: ResourceRequirements?;
  41 hostnameOverride: text?;
  43 schedulingGroup: PodSchedulingGroup?;
}
type PodOS { 1 name: text!; }
type PodReadinessGate { 1 conditionType: text!; }
type PodSchedulingGate { 1 name: text!; }
type PodSchedulingGroup { 1 podGroupName: text?; }
type PodResourceClaim { 1 name: text!;  3 resourceClaimName: text?;  4 resourceClaimTemplateName: text?; }
type HostAlias { 1 ip: text!;  2 hostnames: [text]; }
type PodDNSConfig { 1 nameservers: [text];  2 searches: [text];  3 options: [PodDNSConfigOption]; }
type PodDNSConfigOption { 1 name: text;  2 value: text?; }
type Toleration {
  1 key: text;  2 operator: text oneof=Equal|Exists|Gt|Lt;  3 value: text;
  4 effect: text oneof=NoExecute|NoSchedule|PreferNoSchedule;  5 tolerationSeconds: int?;
}
type TopologySpreadConstraint {
  1 maxSkew: int!;  2 topologyKey: text!;  3 whenUnsatisfiable: text! oneof=DoNotSchedule|ScheduleAnyway;
  4 labelSelector: LabelSelector? atomic;  5 minDomains: int?;  6 nodeAffinityPolicy: text? oneof=Honor|Ignore;
  7 nodeTaintsPolicy: text? oneof=Honor|Ignore;  8 matchLabelKeys: [text];
}

type Affinity { 1 nodeAffinity: NodeAffinity?;  2 podAffinity: PodAffinity?;  3 podAntiAffinity: PodAntiAffinity?; }
type NodeAffinity {
  1 requiredDuringSchedulingIgnoredDuringExecution: NodeSelector? atomic;
  2 preferredDuringSchedulingIgnoredDuringExecution: [PreferredSchedulingTerm];
}
type PreferredSchedulingTerm { 1 weight: int!;  2 preference: NodeSelectorTerm! atomic; }
type NodeSelector { 1 nodeSelectorTerms: [NodeSelectorTerm]!; }
type NodeSelectorTerm {
  1 matchExpressions: [NodeSelectorRequirement];  2 matchFields: [NodeSelectorRequirement];
}
type NodeSelectorRequirement {
  1 key: text!;  2 operator: text! oneof=DoesNotExist|Exists|Gt|In|Lt|NotIn;  3 values: [text];
}
type PodAffinity {
  1 requiredDuringSchedulingIgnoredDuringExecution: [PodAffinityTerm];
  2 preferredDuringSchedulingIgnoredDuringExecution: [WeightedPodAffinityTerm];
}
type PodAntiAffinity {
  1 requiredDuringSchedulingIgnoredDuringExecution: [PodAffinityTerm];
  2 preferredDuringSchedulingIgnoredDuringExecution: [WeightedPodAffinityTerm];
}
type WeightedPodAffinityTerm { 1 weight: int!;  2 podAffinityTerm: PodAffinityTerm!; }
type PodAffinityTerm {
  1 labelSelector: LabelSelector? atomic;  2 namespaces: [text];  3 topologyKey: text!;
  4 namespaceSelector: LabelSelector? atomic;  5 matchLabelKeys: [text];  6 mismatchLabelKeys: [text];
}

type PodSecurityContext {
  1 seLinuxOptions: SELinuxOptions?;  8 windowsOptions: WindowsSecurityContextOptions?;
  2 runAsUser: int?;  6 runAsGroup: int?;  3 runAsNonRoot: bool?;
  4 supplementalGroups: [int];  12 supplementalGroupsPolicy: text? oneof=Merge|Strict;
  5 fsGroup: int?;  7 sysctls: [Sysctl];  9 fsGroupChangePolicy: text? oneof=Always|OnRootMismatch;
  10 seccompProfile: SeccompProfile?;  11 appArmorProfile: AppArmorProfile?;
  13 seLinuxChangePolicy: text? oneof=MountOption|Recursive;
}
type Sysctl { 1 name: text!;  2 value: text!; }
type SELinuxOptions { 1 user: text;  2 role: text;  3 type: text;  4 level: text; }
type WindowsSecurityContextOptions {
  1 gmsaCredentialSpecName: text?;  2 gmsaCredentialSpec: text?;  3 runAsUserName: text?;  4 hostProcess: bool?;
}
type SeccompProfile { 1 type: text! oneof=Localhost|RuntimeDefault|Unconfined;  2 localhostProfile: text?; }
type AppArmorProfile { 1 type: text! oneof=Localhost|RuntimeDefault|Unconfined;  2 localhostProfile: text?; }
type LocalObjectReference { 1 name: text; }
type TypedLocalObjectReference { 1 apiGroup: text?;  2 kind: text!;  3 name: text!; }
type TypedObjectReference { 1 apiGroup: text?;  2 kind: text!;  3 name: text!;  4 namespace: text?; }

kind Binding "Puts a pod on a node." { 1 metadata: ObjectMeta;  2 target: ObjectReference! atomic; }
type ObjectReference {
  1 kind: text;  2 namespace: text;  3 name: text;  4 uid: text;  5 apiVersion: text;  6 resourceVersion: text;
  7 fieldPath: text;
}
)";

}  // namespace berth
