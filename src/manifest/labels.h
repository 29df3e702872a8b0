// The labels, annotations and resources by which objects say what Kubernetes has no field for, and a few that everybody
// knows. docs/GLOSSARY.md says what each means.
#pragma once

#include <string_view>

namespace berth {

inline constexpr std::string_view kQueueLabel = "berth.dev/queue";
inline constexpr std::string_view kDefaultQueue = "default";
inline constexpr std::string_view kGroupLabel = "berth.dev/pod-group";
inline constexpr std::string_view kGroupSizeAnnotation = "berth.dev/pod-group-size";
// Of a pod of Volcano's Job that has more pods than start together: so many of its task are among those that do.
inline constexpr std::string_view kGroupTaskSizeAnnotation = "berth.dev/pod-group-task-size";
// Of a group whose pods have several owners: the uid of what they all belong to.
inline constexpr std::string_view kGroupUidAnnotation = "berth.dev/pod-group-uid";
inline constexpr std::string_view kKueueGroupLabel = "kueue.x-k8s.io/pod-group-name";
inline constexpr std::string_view kKueueGroupSizeAnnotation = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";  // a LocalQueue of its namespace
inline constexpr std::string_view kKueuePriorityLabel = "kueue.x-k8s.io/priority-class";  // a WorkloadPriorityClass
inline constexpr std::string_view kKueueMaxRunLabel =
    "kueue.x-k8s.io/max-exec-time-seconds";  // of a pod: its run limit
// Of a Job: so many of its pods will do to begin with; of a pod of a Job: so many begin together.
inline constexpr std::string_view kKueueMinParallelismAnnotation = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr std::string_view kVolcanoQueueAnnotation = "scheduling.volcano.sh/queue-name";
// Of pods: a PodGroup of the coscheduling plugin, or of Volcano, and whose part of it the pod is.
inline constexpr std::string_view kCoschedulingLabel = "scheduling.x-k8s.io/pod-group";
inline constexpr std::string_view kVolcanoGroupAnnotation = "scheduling.volcano.sh/group-name";
inline constexpr std::string_view kVolcanoTaskAnnotation = "volcano.sh/task-spec";
inline constexpr std::string_view kGangAnnotation = "berth.dev/gang";  // of a Job; "false": each pod on its own
// "0,3", "0:0.5", "0:1g.10gb@4": the devices that a pod was given (manifest/given_gpus.h).
inline constexpr std::string_view kGpusAnnotation = "berth.dev/gpus";
inline constexpr std::string_view kGpuMilliAnnotation = "berth.dev/gpu-milli";  // "500": a part of one device
// KAI's words for a part of one device: "0.5" of it, or "20000" MiB of its memory; of how many devices, which is 1.
inline constexpr std::string_view kGpuFractionAnnotation = "gpu-fraction";
inline constexpr std::string_view kGpuMemoryAnnotation = "gpu-memory";
inline constexpr std::string_view kGpuFractionDevicesAnnotation = "gpu-fraction-num-devices";
inline constexpr std::string_view kGpuSharingAnnotation = "berth.dev/gpu-sharing";  // "mps": its part is a share of MPS
inline constexpr std::string_view kLatencyAnnotation = "berth.dev/latency";         // "critical": it shares no device
inline constexpr std::string_view kGpuModelsAnnotation = "berth.dev/gpu-models";    // "H100|A100-80GB"
inline constexpr std::string_view kRunForAnnotation =
    "berth.dev/run-for";  // "30s": on simulated nodes, and as declared
inline constexpr std::string_view kExitCodeAnnotation = "berth.dev/exit-code";  // on simulated nodes
inline constexpr std::string_view kCoverageAnnotation = "berth.dev/coverage";   // "guaranteed" or "best-effort"
// RFC 3339: the workload's word that what it did until then is safe.
inline constexpr std::string_view kCheckpointAnnotation = "berth.dev/checkpoint";
inline constexpr std::string_view kFlavorsAnnotation = "berth.dev/flavors";  // "spot|h100": names that quotas use
// "20s": on simulated nodes, how long it goes on after it was told to stop.
inline constexpr std::string_view kStopAfterAnnotation = "berth.dev/stop-after";
// RFC 3339: since when a Job waits or runs, stamped on its pods by its controller, so that one made anew keeps its place.
inline constexpr std::string_view kQueuedAtAnnotation = "berth.dev/queued-at";
// "10m": so long a gang that lost a pod keeps what it has for the one that is made anew; "0s": not at all.
inline constexpr std::string_view kRepairAnnotation = "berth.dev/repair";
// Of a pod that started together with others: which of them it is, from 0; how many they are; "n1:8,n2:8": on which nodes, in the
// order of their ranks; and how the first is reached.
inline constexpr std::string_view kRankAnnotation = "berth.dev/rank";
inline constexpr std::string_view kWorldSizeAnnotation = "berth.dev/world-size";
inline constexpr std::string_view kHostsAnnotation = "berth.dev/hosts";
inline constexpr std::string_view kLeaderAnnotation = "berth.dev/leader";
inline constexpr std::string_view kMovableAnnotation = "berth.dev/movable";  // "true": it consents to being moved
// "true", stamped by the scheduler: it borrows on others' whole domains, and comes into no floor while it runs.
inline constexpr std::string_view kOnlyBorrowsAnnotation = "berth.dev/only-borrows";
inline constexpr std::string_view kMovedAtAnnotation = "berth.dev/moved-at";  // when it was, stamped by the scheduler
inline constexpr std::string_view kUserAnnotation = "berth.dev/user";         // who created it, stamped by the server
// "required:LABEL", "preferred:LABEL": in one domain of the topology; "8:LABEL": so many at a time in one.
inline constexpr std::string_view kTopologyAnnotation = "berth.dev/topology";
inline constexpr std::string_view kSliceAnnotation = "berth.dev/slice";
inline constexpr std::string_view kParallelismAnnotation = "berth.dev/parallelism";  // "tp=8,pp=4,dp=16"
// Which of its Job's pods it is, from 0.
inline constexpr std::string_view kCompletionIndexAnnotation = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kKueueRequiredTopologyAnnotation = "kueue.x-k8s.io/podset-required-topology";
inline constexpr std::string_view kKueuePreferredTopologyAnnotation = "kueue.x-k8s.io/podset-preferred-topology";
inline constexpr std::string_view kKueueSliceTopologyAnnotation = "kueue.x-k8s.io/podset-slice-required-topology";
inline constexpr std::string_view kKueueSliceSizeAnnotation = "kueue.x-k8s.io/podset-slice-size";
// Taints of a node that does not say that it is ready.
inline constexpr const char* kNotReadyTaint = "node.kubernetes.io/not-ready";
inline constexpr const char* kUnreachableTaint = "node.kubernetes.io/unreachable";
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
// CPUs in thousandths and memory that best effort asks of what nodes promise more than once; Koordinator's names.
inline constexpr std::string_view kBatchCpuResource = "kubernetes.io/batch-cpu";
inline constexpr std::string_view kBatchMemoryResource = "kubernetes.io/batch-memory";
inline constexpr std::string_view kSharedGpuResource = "nvidia.com/gpu.shared";  // replicas of devices
inline constexpr std::string_view kSliceResourcePrefix = "nvidia.com/mig-";
// Of a node: how its GPUs are shared (model/node.h), as Berth decides; "exclusive" if it is not there.
inline constexpr std::string_view kGpuModeLabel = "berth.dev/gpu-mode";
// Of a node, where its kubelet has a policy: how many NUMA zones it has, and which policy (model/numa.h).
inline constexpr std::string_view kNumaZonesLabel = "berth.dev/numa-zones";
inline constexpr std::string_view kNumaPolicyLabel = "berth.dev/numa-policy";
// Of a node, where some of its GPUs are nearer to each other: "pcie=4,nvlink=2" (model/gpu_links.h).
inline constexpr std::string_view kGpuLinksAnnotation = "berth.dev/gpu-links";
// Of a node: whether it is kept for those whom gangs have lost elsewhere ("true").
inline constexpr std::string_view kSpareLabel = "berth.dev/spare";
// Of a node: what of it is for pods that ask GPUs, for each GPU: "cpu=12,memory=100Gi".
inline constexpr std::string_view kKeptPerGpuAnnotation = "berth.dev/kept-per-gpu";
inline constexpr std::string_view kOvercommitAnnotation = "berth.dev/overcommit";
inline constexpr std::string_view kGpuCountLabel = "nvidia.com/gpu.count";
inline constexpr std::string_view kGpuReplicasLabel = "nvidia.com/gpu.replicas";  // as how many each counts
// How they are shared where Berth has no part in it: "none", "time-slicing" or "mps".
inline constexpr std::string_view kSharingStrategyLabel = "nvidia.com/gpu.sharing-strategy";
inline constexpr std::string_view kMigStrategyLabel = "nvidia.com/mig.strategy";
inline constexpr std::string_view kGpuProductLabel = "nvidia.com/gpu.product";
inline constexpr std::string_view kGpuMemoryLabel = "nvidia.com/gpu.memory";  // MiB

}  // namespace berth
