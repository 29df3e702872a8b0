#include "manifest/schema_texts.h"

namespace berth {

const char* const kVolumeSchema = R"(
package io.k8s.api.core.v1;

type Volume { 1 name: text!;  2 volumeSource: VolumeSource inlined; }
type VolumeSource {
  1 hostPath: HostPathVolumeSource?;
  2 emptyDir: EmptyDirVolumeSource?;
  3 gcePersistentDisk: GCEPersistentDiskVolumeSource?;
  4 awsElasticBlockStore: AWSElasticBlockStoreVolumeSource?;
  5 gitRepo: GitRepoVolumeSource?;
  6 secret: SecretVolumeSource?;
  7 nfs: NFSVolumeSource?;
  8 iscsi: ISCSIVolumeSource?;
  9 glusterfs: GlusterfsVolumeSource?;
  10 persistentVolumeClaim: PersistentVolumeClaimVolumeSource?;
  11 rbd: RBDVolumeSource?;
  12 flexVolume: FlexVolumeSource?;
  13 cinder: CinderVolumeSource?;
  14 cephfs: CephFSVolumeSource?;
  15 flocker: FlockerVolumeSource?;
  16 downwardAPI: DownwardAPIVolumeSource?;
  17 fc: FCVolumeSource?;
  18 azureFile: AzureFileVolumeSource?;
  19 configMap: ConfigMapVolumeSource?;
  20 vsphereVolume: VsphereVirtualDiskVolumeSource?;
  21 quobyte: QuobyteVolumeSource?;
  22 azureDisk: AzureDiskVolumeSource?;
  23 photonPersistentDisk: PhotonPersistentDiskVolumeSource?;
  24 portworxVolume: PortworxVolumeSource?;
  25 scaleIO: ScaleIOVolumeSource?;
  26 projected: ProjectedVolumeSource?;
  27 storageos: StorageOSVolumeSource?;
  28 csi: CSIVolumeSource?;
  29 ephemeral: EphemeralVolumeSource?;
  30 image: ImageVolumeSource?;
}
type HostPathVolumeSource {
  1 path: text!;
  2 type: text? oneof=BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket;
}
type EmptyDirVolumeSource { 1 medium: text;  2 sizeLimit: quantity?; }
type GCEPersistentDiskVolumeSource { 1 pdName: text!;  2 fsType: text;  3 partition: int;  4 readOnly: bool; }
type AWSElasticBlockStoreVolumeSource { 1 volumeID: text!;  2 fsType: text;  3 partition: int;  4 readOnly: bool; }
type GitRepoVolumeSource { 1 repository: text!;  2 revision: text;  3 directory: text; }
type SecretVolumeSource { 1 secretName: text;  2 items: [KeyToPath];  3 defaultMode: int?;  4 optional: bool?; }
type KeyToPath { 1 key: text!;  2 path: text!;  3 mode: int?; }
type NFSVolumeSource { 1 server: text!;  2 path: text!;  3 readOnly: bool; }
type ISCSIVolumeSource {
  1 targetPortal: text!;  2 iqn: text!;  3 lun: int!;  4 iscsiInterface: text;  5 fsType: text;  6 readOnly: bool;
  7 portals: [text];  8 chapAuthDiscovery: bool;  11 chapAuthSession: bool;  10 secretRef: LocalObjectReference? atomic;
  12 initiatorName: text?;
}
type GlusterfsVolumeSource { 1 endpoints: text!;  2 path: text!;  3 readOnly: bool; }
type PersistentVolumeClaimVolumeSource { 1 claimName: text!;  2 readOnly: bool; }
type RBDVolumeSource {
  1 monitors: [text]!;  2 image: text!;  3 fsType: text;  4 pool: text;  5 user: text;  6 keyring: text;
  7 secretRef: LocalObjectReference? atomic;  8 readOnly: bool;
}
type FlexVolumeSource {
  1 driver: text!;  2 fsType: text;  3 secretRef: LocalObjectReference? atomic;  4 readOnly: bool;  5 options: <text>;
}
type CinderVolumeSource {
  1 volumeID: text!;  2 fsType: text;  3 readOnly: bool;  4 secretRef: LocalObjectReference? atomic;
}
type CephFSVolumeSource {
  1 monitors: [text]!;  2 path: text;  3 user: text;  4 secretFile: text;  5 secretRef: LocalObjectReference? atomic;
  6 readOnly: bool;
}
type FlockerVolumeSource { 1 datasetName: text;  2 datasetUUID: text; }
type DownwardAPIVolumeSource { 1 items: [DownwardAPIVolumeFile];  2 defaultMode: int?; }
type DownwardAPIVolumeFile {
  1 path: text!;  2 fieldRef: ObjectFieldSelector? atomic;  3 resourceFieldRef: ResourceFieldSelector? atomic;
  4 mode: int?;
}
type FCVolumeSource { 1 targetWWNs: [text];  2 lun: int?;  3 fsType: text;  4 readOnly: bool;  5 wwids: [text]; }
type AzureFileVolumeSource { 1 secretName: text!;  2 shareName: text!;  3 readOnly: bool; }
type ConfigMapVolumeSource {
  1 localObjectReference: LocalObjectReference inlined;  2 items: [KeyToPath];  3 defaultMode: int?;  4 optional: bool?;
}
type VsphereVirtualDiskVolumeSource {
  1 volumePath: text!;  2 fsType: text;  3 storagePolicyName: text;  4 storagePolicyID: text;
}
type QuobyteVolumeSource {
  1 registry: text!;  2 volume: text!;  3 readOnly: bool;  4 user: text;  5 group: text;  6 tenant: text;
}
type AzureDiskVolumeSource {
  1 diskName: text!;  2 diskURI: text!;  3 cachingMode: text? oneof=None|ReadOnly|ReadWrite;  4 fsType: text?;
  5 readOnly: bool?;  6 kind: text? oneof=Dedicated|Managed|Shared;
}
type PhotonPersistentDiskVolumeSource { 1 pdID: text!;  2 fsType: text; }
type PortworxVolumeSource { 1 volumeID: text!;  2 fsType: text;  3 readOnly: bool; }
type ScaleIOVolumeSource {
  1 gateway: text!;  2 system: text!;  3 secretRef: LocalObjectReference?! atomic;  4 sslEnabled: bool;
  5 protectionDomain: text;  6 storagePool: text;  7 storageMode: text;  8 volumeName: text;  9 fsType: text;
  10 readOnly: bool;
}
type StorageOSVolumeSource {
  1 volumeName: text;  2 volumeNamespace: text;  3 fsType: text;  4 readOnly: bool;
  5 secretRef: LocalObjectReference? atomic;
}
type CSIVolumeSource {
  1 driver: text!;  2 readOnly: bool?;  3 fsType: text?;  4 volumeAttributes: <text>;
  5 nodePublishSecretRef: LocalObjectReference? atomic;
}
type ImageVolumeSource { 1 reference: text;  2 pullPolicy: text oneof=Always|IfNotPresent|Never; }

type ProjectedVolumeSource { 1 sources: [VolumeProjection];  2 defaultMode: int?; }
type VolumeProjection {
  1 secret: SecretProjection?;  2 downwardAPI: DownwardAPIProjection?;  3 configMap: ConfigMapProjection?;
  4 serviceAccountToken: ServiceAccountTokenProjection?;  5 clusterTrustBundle: ClusterTrustBundleProjection?;
  6 podCertificate: PodCertificateProjection?;
}
type SecretProjection {
  1 localObjectReference: LocalObjectReference inlined;  2 items: [KeyToPath];  4 optional: bool?;
}
type DownwardAPIProjection { 1 items: [DownwardAPIVolumeFile]; }
type ConfigMapProjection {
  1 localObjectReference: LocalObjectReference inlined;  2 items: [KeyToPath];  4 optional: bool?;
}
type ServiceAccountTokenProjection { 1 audience: text;  2 expirationSeconds: int?;  3 path: text!; }
type ClusterTrustBundleProjection {
  1 name: text?;  2 signerName: text?;  3 labelSelector: LabelSelector? atomic;  5 optional: bool?;  4 path: text!;
}
type PodCertificateProjection {
  1 signerName: text;  2 keyType: text;  3 maxExpirationSeconds: int?;  4 credentialBundlePath: text;  5 keyPath: text;
  6 certificateChainPath: text;  7 userAnnotations: <text>;
}

type EphemeralVolumeSource { 1 volumeClaimTemplate: PersistentVolumeClaimTemplate?; }
type PersistentVolumeClaimTemplate { 1 metadata: ObjectMeta;  2 spec: PersistentVolumeClaimSpec!; }
type PersistentVolumeClaimSpec {
  1 accessModes: [text];  4 selector: LabelSelector? atomic;  2 resources: VolumeResourceRequirements;
  3 volumeName: text;  5 storageClassName: text?;  6 volumeMode: text? oneof=Block|Filesystem;
  7 dataSource: TypedLocalObjectReference? atomic;  8 dataSourceRef: TypedObjectReference?;
  9 volumeAttributesClassName: text?;
}
type VolumeResourceRequirements { 1 limits: <quantity>;  2 requests: <quantity>; }
)";

}  // namespace berth
