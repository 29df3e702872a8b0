#include "manifest/schema_texts.h"

namespace berth {

const char* const kContainerSchema = R"(
package io.k8s.api.core.v1;

type Container {
  1 name: text!;  2 image: text;  3 command: [text];  4 args: [text];  5 workingDir: text;
  6 ports: [ContainerPort] merge=containerPort keys=containerPort,protocol;
  19 envFrom: [EnvFromSource];
  7 env: [EnvVar] merge=name keys=name;
  8 resources: ResourceRequirements;
  23 resizePolicy: [ContainerResizePolicy];
  24 restartPolicy: text?;
  25 restartPolicyRules: [ContainerRestartRule];
  9 volumeMounts: [VolumeMount] merge=mountPath keys=mountPath;
  21 volumeDevices: [VolumeDevice] merge=devicePath keys=devicePath;
  10 livenessProbe: Probe?;  11 readinessProbe: Probe?;  22 startupProbe: Probe?;
  12 lifecycle: Lifecycle?;
  13 terminationMessagePath: text;  20 terminationMessagePolicy: text oneof=FallbackToLogsOnError|File;
  14 imagePullPolicy: text oneof=Always|IfNotPresent|Never;
  15 securityContext: SecurityContext?;
  16 stdin: bool;  17 stdinOnce: bool;  18 tty: bool;
}
type EphemeralContainer { 1 ephemeralContainerCommon: EphemeralContainerCommon inlined;  2 targetContainerName: text; }
type EphemeralContainerCommon {
  1 name: text!;  2 image: text;  3 command: [text];  4 args: [text];  5 workingDir: text;
  6 ports: [ContainerPort] merge=containerPort keys=containerPort,protocol;
  19 envFrom: [EnvFromSource];
  7 env: [EnvVar] merge=name keys=name;
  8 resources: ResourceRequirements;
  23 resizePolicy: [ContainerResizePolicy];
  24 restartPolicy: text?;
  25 restartPolicyRules: [ContainerRestartRule];
  9 volumeMounts: [VolumeMount] merge=mountPath keys=mountPath;
  21 volumeDevices: [VolumeDevice] merge=devicePath keys=devicePath;
  10 livenessProbe: Probe?;  11 readinessProbe: Probe?;  22 startupProbe: Probe?;
  12 lifecycle: Lifecycle?;
  13 terminationMessagePath: text;  20 terminationMessagePolicy: text oneof=FallbackToLogsOnError|File;
  14 imagePullPolicy: text oneof=Always|IfNotPresent|Never;
  15 securityContext: SecurityContext?;
  16 stdin: bool;  17 stdinOnce: bool;  18 tty: bool;
}
type ContainerPort {
  1 name: text;  2 hostPort: int;  3 containerPort: int!;  4 protocol: text oneof=SCTP|TCP|UDP;  5 hostIP: text;
}
type ContainerResizePolicy { 1 resourceName: text!;  2 restartPolicy: text!; }
type ContainerRestartRule { 1 action: text!;  2 exitCodes: ContainerRestartRuleOnExitCodes?; }
type ContainerRestartRuleOnExitCodes { 1 operator: text!;  2 values: [int] set; }

type EnvFromSource { 1 prefix: text;  2 configMapRef: ConfigMapEnvSource?;  3 secretRef: SecretEnvSource?; }
type ConfigMapEnvSource { 1 localObjectReference: LocalObjectReference inlined;  2 optional: bool?; }
type SecretEnvSource { 1 localObjectReference: LocalObjectReference inlined;  2 optional: bool?; }
type EnvVar { 1 name: text!;  2 value: text;  3 valueFrom: EnvVarSource?; }
type EnvVarSource {
  1 fieldRef: ObjectFieldSelector? atomic;  2 resourceFieldRef: ResourceFieldSelector? atomic;
  3 configMapKeyRef: ConfigMapKeySelector? atomic;  4 secretKeyRef: SecretKeySelector? atomic;
  5 fileKeyRef: FileKeySelector? atomic;
}
type ObjectFieldSelector { 1 apiVersion: text;  2 fieldPath: text!; }
type ResourceFieldSelector { 1 containerName: text;  2 resource: text!;  3 divisor: quantity; }
type ConfigMapKeySelector { 1 localObjectReference: LocalObjectReference inlined;  2 key: text!;  3 optional: bool?; }
type SecretKeySelector { 1 localObjectReference: LocalObjectReference inlined;  2 key: text!;  3 optional: bool?; }
type FileKeySelector { 1 volumeName: text!;  2 path: text!;  3 key: text!;  4 optional: bool?; }

type ResourceRequirements {
  1 limits: <quantity>;  2 requests: <quantity>;  3 claims: [ResourceClaim] keys=name;
}
type ResourceClaim { 1 name: text!;  2 request: text; }

type VolumeMount {
  1 name: text!;  2 readOnly: bool;  3 mountPath: text!;  4 subPath: text;
  5 mountPropagation: text? oneof=Bidirectional|HostToContainer|None;  6 subPathExpr: text;
  7 recursiveReadOnly: text?;
}
type VolumeDevice { 1 name: text!;  2 devicePath: text!; }

type Probe {
  1 handler: ProbeHandler inlined;  2 initialDelaySeconds: int;  3 timeoutSeconds: int;  4 periodSeconds: int;
  5 successThreshold: int;  6 failureThreshold: int;  7 terminationGracePeriodSeconds: int?;
}
type ProbeHandler {
  1 exec: ExecAction?;  2 httpGet: HTTPGetAction?;  3 tcpSocket: TCPSocketAction?;  4 grpc: GRPCAction?;
}
type Lifecycle { 1 postStart: LifecycleHandler?;  2 preStop: LifecycleHandler?;  3 stopSignal: text?; }
type LifecycleHandler {
  1 exec: ExecAction?;  2 httpGet: HTTPGetAction?;  3 tcpSocket: TCPSocketAction?;  4 sleep: SleepAction?;
}
type ExecAction { 1 command: [text]; }
type HTTPGetAction {
  1 path: text;  2 port: intortext!;  3 host: text;  4 scheme: text oneof=HTTP|HTTPS;  5 httpHeaders: [HTTPHeader];
}
type HTTPHeader { 1 name: text!;  2 value: text!; }
type TCPSocketAction { 1 port: intortext!;  2 host: text; }
type GRPCAction { 1 port: int!;  2 service: text?; }
type SleepAction { 1 seconds: int!; }

type SecurityContext {
  1 capabilities: Capabilities?;  2 privileged: bool?;  3 seLinuxOptions: SELinuxOptions?;
  10 windowsOptions: WindowsSecurityContextOptions?;  4 runAsUser: int?;  8 runAsGroup: int?;  5 runAsNonRoot: bool?;
  6 readOnlyRootFilesystem: bool?;  7 allowPrivilegeEscalation: bool?;  9 procMount: text? oneof=Default|Unmasked;
  11 seccompProfile: SeccompProfile?;  12 appArmorProfile: AppArmorProfile?;
}
type Capabilities { 1 add: [text];  2 drop: [text]; }
)";

}  // namespace berth
