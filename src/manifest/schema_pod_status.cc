#include "manifest/schema_texts.h"

namespace berth {

const char* const kPodStatusSchema = R"(
package io.k8s.api.core.v1;

type PodStatus {
  17 observedGeneration: int;
  1 phase: text oneof=Failed|Pending|Running|Succeeded|Unknown;
  2 conditions: [PodCondition] merge=type keys=type;
  3 message: text;  4 reason: text;  11 nominatedNodeName: text;  5 hostIP: text;
  16 hostIPs: [HostIP] merge=ip;
  6 podIP: text;
  12 podIPs: [PodIP] merge=ip keys=ip;
  7 startTime: time?;
  10 initContainerStatuses: [ContainerStatus];
  8 containerStatuses: [ContainerStatus];
  9 qosClass: text oneof=BestEffort|Burstable|Guaranteed;
  13 ephemeralContainerStatuses: [ContainerStatus];
  14 resize: text;
  15 resourceClaimStatuses: [PodResourceClaimStatus] merge=name retain keys=name;
  18 extendedResourceClaimStatus: PodExtendedResourceClaimStatus?;
  19 allocatedResources: <quantity>;
  20 resources: ResourceRequirements?;
  21 nodeAllocatableResourceClaimStatuses: [NodeAllocatableResourceClaimStatus];
}
type PodCondition {
  1 type: text!;  7 observedGeneration: int;  2 status: text!;  3 lastProbeTime: time;  4 lastTransitionTime: time;
  5 reason: text;  6 message: text;
}
type HostIP { 1 ip: text!; }
type PodIP { 1 ip: text!; }
type PodResourceClaimStatus { 1 name: text!;  2 resourceClaimName: text?; }
type PodExtendedResourceClaimStatus {
  1 requestMappings: [ContainerExtendedResourceRequest]!;  2 resourceClaimName: text!;
}
type ContainerExtendedResourceRequest { 1 containerName: text!;  2 resourceName: text!;  3 requestName: text!; }
type NodeAllocatableResourceClaimStatus {
  1 resourceClaimName: text!;  2 containers: [text] set;  3 resources: <quantity>!;
}
type ContainerStatus {
  1 name: text!;  2 state: ContainerState;  3 lastState: ContainerState;  4 ready: bool!;  5 restartCount: int!;
  6 image: text!;  7 imageID: text!;  8 containerID: text;  9 started: bool?;
  10 allocatedResources: <quantity>;
  11 resources: ResourceRequirements?;
  12 volumeMounts: [VolumeMountStatus] merge=mountPath keys=mountPath;
  13 user: ContainerUser?;
  14 allocatedResourcesStatus: [ResourceStatus] merge=name keys=name;
  15 stopSignal: text?;
}
type ContainerState {
  1 waiting: ContainerStateWaiting?;  2 running: ContainerStateRunning?;  3 terminated: ContainerStateTerminated?;
}
type ContainerStateWaiting { 1 reason: text;  2 message: text; }
type ContainerStateRunning { 1 startedAt: time; }
type ContainerStateTerminated {
  1 exitCode: int!;  2 signal: int;  3 reason: text;  4 message: text;  5 startedAt: time;  6 finishedAt: time;
  7 containerID: text;
}
type VolumeMountStatus {
  1 name: text!;  2 mountPath: text!;  3 readOnly: bool;  4 recursiveReadOnly: text?;  5 volumeStatus: VolumeStatus?;
}
type VolumeStatus { 1 image: ImageVolumeStatus?; }
type ImageVolumeStatus { 1 imageRef: text!; }
type ContainerUser { 1 linux: LinuxContainerUser?; }
type LinuxContainerUser { 1 uid: int!;  2 gid: int!;  3 supplementalGroups: [int]; }
type ResourceStatus { 1 name: text!;  2 resources: [ResourceHealth] keys=resourceID; }
type ResourceHealth { 1 resourceID: text!;  2 health: text;  6 message: text?; }
)";

}  // namespace berth
