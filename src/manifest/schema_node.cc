#include "manifest/schema_texts.h"

namespace berth {

const char* const kNodeSchema = R"(
package io.k8s.api.core.v1;

kind Node "A machine that runs pods." { 1 metadata: ObjectMeta;  2 spec: NodeSpec;  3 status: NodeStatus; }
type NodeSpec {
  1 podCIDR: text;
  7 podCIDRs: [text] merge=- set;
  3 providerID: text;  4 unschedulable: bool;
  5 taints: [Taint];
  6 configSource: NodeConfigSource?;
  2 externalID: text;
}
type Taint {
  1 key: text!;  2 value: text;  3 effect: text! oneof=NoExecute|NoSchedule|PreferNoSchedule;  4 timeAdded: time?;
}
type NodeConfigSource { 2 configMap: ConfigMapNodeConfigSource?; }
type ConfigMapNodeConfigSource {
  1 namespace: text!;  2 name: text!;  3 uid: text;  4 resourceVersion: text;  5 kubeletConfigKey: text!;
}
type NodeStatus {
  1 capacity: <quantity>;  2 allocatable: <quantity>;
  3 phase: text;
  4 conditions: [NodeCondition] merge=type keys=type;
  5 addresses: [NodeAddress] merge=type keys=type;
  6 daemonEndpoints: NodeDaemonEndpoints;
  7 nodeInfo: NodeSystemInfo;
  8 images: [ContainerImage];
  9 volumesInUse: [text];
  10 volumesAttached: [AttachedVolume];
  11 config: NodeConfigStatus?;
  12 runtimeHandlers: [NodeRuntimeHandler];
  13 features: NodeFeatures?;
  14 declaredFeatures: [text];
}
type NodeCondition {
  1 type: text!;  2 status: text!;  3 lastHeartbeatTime: time;  4 lastTransitionTime: time;  5 reason: text;
  6 message: text;
}
type NodeAddress { 1 type: text!;  2 address: text!; }
type NodeDaemonEndpoints { 1 kubeletEndpoint: DaemonEndpoint; }
type DaemonEndpoint { 1 Port: int!; }
type NodeSystemInfo {
  1 machineID: text!;  2 systemUUID: text!;  3 bootID: text!;  4 kernelVersion: text!;  5 osImage: text!;
  6 containerRuntimeVersion: text!;  7 kubeletVersion: text!;  8 kubeProxyVersion: text!;  9 operatingSystem: text!;
  10 architecture: text!;  11 swap: NodeSwapStatus?;
}
type NodeSwapStatus { 1 capacity: int?; }
type ContainerImage { 1 names: [text];  2 sizeBytes: int; }
type AttachedVolume { 1 name: text!;  2 devicePath: text!; }
type NodeConfigStatus {
  1 assigned: NodeConfigSource?;  2 active: NodeConfigSource?;  3 lastKnownGood: NodeConfigSource?;  4 error: text;
}
type NodeRuntimeHandler { 1 name: text;  2 features: NodeRuntimeHandlerFeatures?; }
type NodeRuntimeHandlerFeatures { 1 recursiveReadOnlyMounts: bool?;  2 userNamespaces: bool?; }
type NodeFeatures { 1 supplementalGroupsPolicy: bool?; }
)";

}  // namespace berth
