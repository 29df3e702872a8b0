#include "manifest/gang_owner.h"

#include <algorithm>
#include <string>

#include "manifest/gang_reading.h"
#include "model/quantity.h"
#include "model/workload.h"

namespace berth {
namespace {

constexpr std::string_view kTrainingJobLabel = "training.kubeflow.org/job-name";
constexpr std::string_view kTrainingOperatorLabel = "training.kubeflow.org/operator-name";
constexpr std::string_view kReplicaTypeLabel = "training.kubeflow.org/replica-type";

constexpr GangOwnerKind training_job(std::string_view qualified, std::string_view kind, std::string_view made_by,
                                     PodGroupReading (*read)(const Value& object)) {
  return {.qualified = qualified,
          .kind = kind,
          .name_label = kTrainingJobLabel,
          .mark_label = kTrainingOperatorLabel,
          .mark = made_by,
          .task_label = kReplicaTypeLabel,
          .read = read};
}

constexpr GangOwnerKind kKinds[] = {
    {.qualified = "leaderworkersets.leaderworkerset.x-k8s.io",
     .kind = "LeaderWorkerSet",
     .name_label = "leaderworkerset.sigs.k8s.io/name",
     .task_label = "leaderworkerset.sigs.k8s.io/worker-index",
     .replica_label = "leaderworkerset.sigs.k8s.io/group-index",
     .size_annotation = "leaderworkerset.sigs.k8s.io/size",
     .read = read_leader_worker_set},
    training_job("pytorchjobs.kubeflow.org", "PyTorchJob", "pytorchjob-controller", read_pytorch_job),
    training_job("tfjobs.kubeflow.org", "TFJob", "tfjob-controller", read_tf_job),
    training_job("xgboostjobs.kubeflow.org", "XGBoostJob", "xgboostjob-controller", read_xgboost_job),
    training_job("paddlejobs.kubeflow.org", "PaddleJob", "paddlejob-controller", read_paddle_job),
    training_job("jaxjobs.kubeflow.org", "JAXJob", "jaxjob-controller", read_jax_job),
    {.qualified = "mpijobs.kubeflow.org",
     .kind = "MPIJob",
     .name_label = kTrainingJobLabel,
     .mark_label = kTrainingOperatorLabel,
     .mark = "mpi-operator",
     .task_label = "training.kubeflow.org/job-role",
     .read = read_mpi_job},
    {.qualified = "rayclusters.ray.io",
     .kind = "RayCluster",
     .name_label = "ray.io/cluster",
     .mark_label = "ray.io/node-type",
     .mark = "head",
     .other_mark = "worker",
     .task_label = "ray.io/group",
     .read = read_ray_cluster},
    {.qualified = "rayjobs.ray.io", .kind = "RayJob", .read = read_ray_job},
};

bool is_marked(const GangOwnerKind& kind, const Value& labels) {
  if (kind.mark_label.empty()) return true;
  const std::string_view mark = labels[kind.mark_label].text();
  return !mark.empty() && (mark == kind.mark || mark == kind.other_mark);
}

}  // namespace

std::span<const GangOwnerKind> gang_owner_kinds() { return kKinds; }

const GangOwnerKind* find_gang_owner_kind(std::string_view qualified) {
  const auto* const found = std::ranges::find(kKinds, qualified, &GangOwnerKind::qualified);
  return found == std::ranges::end(kKinds) ? nullptr : found;
}

std::optional<PodGroupName> gang_owner_named_by(const Value& pod) {
  const Value& metadata = pod["metadata"];
  const Value& labels = metadata["labels"];
  for (const GangOwnerKind& kind : kKinds) {
    if (kind.name_label.empty() || labels[kind.name_label].text().empty() || !is_marked(kind, labels)) continue;
    const auto size = parse_integer(metadata["annotations"][kind.size_annotation].text(), 1, kPodsPerWorkloadMax);
    return PodGroupName{.qualified = kind.qualified,
                        .name = std::string(labels[kind.name_label].text()),
                        .task = in_small_letters(labels[kind.task_label].text()),
                        .replica = std::string(labels[kind.replica_label].text()),
                        .size = size.value_or(0)};
  }
  return std::nullopt;
}

}  // namespace berth
