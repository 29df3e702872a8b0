#include "manifest/kinds.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

using Texts = std::vector<std::string>;

enum class Scope : unsigned char { kNamespaced, kCluster };

KindInfo stored(const char* kind, const char* plural, Scope scope, Texts short_names = {}, Texts subresources = {}) {
  KindInfo info;
  info.kind = kind;
  info.plural = plural;
  info.singular = info.kind;
  std::ranges::transform(info.singular, info.singular.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  info.short_names = std::move(short_names);
  info.namespaced = scope == Scope::kNamespaced;
  info.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  info.subresources = std::move(subresources);
  info.type = &type_named(info.kind);
  return info;
}

// Created to get an answer, and never stored.
KindInfo asked(const char* kind, const char* plural, Scope scope) {
  KindInfo info = stored(kind, plural, scope);
  info.verbs = {"create"};
  return info;
}

KindInfo with_generation(KindInfo info) {
  info.has_generation = true;
  return info;
}

KindInfo with_revision(KindInfo info) {
  info.update_needs_revision = true;
  return info;
}

KindInfo in_category_all(KindInfo info) {
  info.categories = {"all"};
  return info;
}

KindInfo custom(KindInfo info) {
  info.custom = true;
  info.has_generation = true;
  info.update_needs_revision = true;
  return info;
}

KindInfo namespaces() {
  KindInfo info = stored("Namespace", "namespaces", Scope::kCluster, {"ns"}, {"status"});
  // As in Kubernetes: emptying namespaces takes time, so they go one by one.
  std::erase(info.verbs, "deletecollection");
  return info;
}

KindInfo newer_events() {
  KindInfo info = stored("Event", "events", Scope::kNamespaced, {"ev"});
  info.type = &type_named("events.Event");
  info.other_view = true;
  return info;
}

// Kinds of others, some with names that Kubernetes and Berth have too. `types` comes before the names of their types.
KindInfo foreign(const std::string& types, const char* kind, const char* plural, Scope scope, Texts short_names,
                 Texts subresources) {
  KindInfo info;
  info.kind = kind;
  info.plural = plural;
  info.singular = info.kind;
  std::ranges::transform(info.singular, info.singular.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  info.short_names = std::move(short_names);
  info.namespaced = scope == Scope::kNamespaced;
  info.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  info.subresources = std::move(subresources);
  info.type = &type_named(types + "." + kind);
  return custom(std::move(info));
}

// Of LocalQueue Kueue has the short names queue and queues, too, which are Berth's queues here.
std::vector<KindInfo> kueue_kinds(const std::string& types) {
  using enum Scope;
  std::vector<KindInfo> kinds = {
      foreign(types, "ClusterQueue", "clusterqueues", kCluster, {"cq"}, {"status"}),
      foreign(types, "Cohort", "cohorts", kCluster, {"co"}, {"status"}),
      foreign(types, "LocalQueue", "localqueues", kNamespaced, {"lq"}, {"status"}),
      foreign(types, "ResourceFlavor", "resourceflavors", kCluster, {"rf", "flavor", "flavors"}, {}),
      foreign(types, "Topology", "topologies", kCluster, {"topo"}, {}),
      foreign(types, "WorkloadPriorityClass", "workloadpriorityclasses", kCluster, {"wpc"}, {}),
      foreign(types, "Workload", "workloads", kNamespaced, {"wl", "kwl", "kueueworkload", "kueueworkloads"},
              {"status"}),
  };
  for (KindInfo& kind : kinds) kind.other_view = types == "kueue1";
  return kinds;
}

struct Group {
  const char* group;
  const char* version;
  std::vector<KindInfo> kinds;
};

std::vector<Group> core_and_batch() {
  using enum Scope;
  return {
      {"",
       "v1",
       {asked("Binding", "bindings", kNamespaced), stored("ConfigMap", "configmaps", kNamespaced, {"cm"}),
        stored("Event", "events", kNamespaced, {"ev"}), stored("LimitRange", "limitranges", kNamespaced, {"limits"}),
        namespaces(), stored("Node", "nodes", kCluster, {"no"}, {"status"}),
        in_category_all(
            with_generation(stored("Pod", "pods", kNamespaced, {"po"}, {"binding", "eviction", "log", "status"}))),
        stored("ResourceQuota", "resourcequotas", kNamespaced, {"quota"}, {"status"}),
        stored("Secret", "secrets", kNamespaced), stored("ServiceAccount", "serviceaccounts", kNamespaced, {"sa"})}},
      {"batch", "v1", {in_category_all(with_generation(stored("Job", "jobs", kNamespaced, {}, {"status"})))}},
      {"policy",
       "v1",
       {with_revision(
           with_generation(stored("PodDisruptionBudget", "poddisruptionbudgets", kNamespaced, {"pdb"}, {"status"})))}},
      {"scheduling.k8s.io", "v1", {with_generation(stored("PriorityClass", "priorityclasses", kCluster, {"pc"}))}},
      {"scheduling.k8s.io", "v1beta1", {foreign("kubernetes", "PodGroup", "podgroups", kNamespaced, {}, {"status"})}},
      {"coordination.k8s.io", "v1", {with_revision(stored("Lease", "leases", kNamespaced))}},
      {"events.k8s.io", "v1", {newer_events()}},
  };
}

std::vector<Group> access_and_own() {
  using enum Scope;
  return {
      {"rbac.authorization.k8s.io",
       "v1",
       {stored("ClusterRoleBinding", "clusterrolebindings", kCluster), stored("ClusterRole", "clusterroles", kCluster),
        stored("RoleBinding", "rolebindings", kNamespaced), stored("Role", "roles", kNamespaced)}},
      {"authorization.k8s.io",
       "v1",
       {asked("LocalSubjectAccessReview", "localsubjectaccessreviews", kNamespaced),
        asked("SelfSubjectAccessReview", "selfsubjectaccessreviews", kCluster),
        asked("SelfSubjectRulesReview", "selfsubjectrulesreviews", kCluster),
        asked("SubjectAccessReview", "subjectaccessreviews", kCluster)}},
      {"authentication.k8s.io",
       "v1",
       {asked("SelfSubjectReview", "selfsubjectreviews", kCluster), asked("TokenReview", "tokenreviews", kCluster)}},
      {"berth.dev",
       "v1alpha1",
       {custom(stored("Queue", "queues", kCluster, {"bq"}, {"status"})),
        custom(stored("ResourceFlavor", "resourceflavors", kCluster, {"brf"})),
        custom(stored("Reservation", "reservations", kCluster, {"brs"}, {"status"})),
        custom(stored("Defragmentation", "defragmentations", kCluster, {"bdf"}, {"status"})),
        custom(stored("TrustCircle", "trustcircles", kCluster, {"btc"}, {"status"})),
        custom(stored("WhatIf", "whatifs", kCluster, {"bwi"}, {"status"})),
        custom(stored("Workload", "workloads", kNamespaced, {"bwl"}, {"status"}))}},
  };
}

// After Berth's own: of two kinds with one name kubectl means the first.
std::vector<Group> foreign_groups() {
  return {
      {"kueue.x-k8s.io", "v1beta2", kueue_kinds("kueue")},
      {"kueue.x-k8s.io", "v1beta1", kueue_kinds("kueue1")},
      {"scheduling.volcano.sh",
       "v1beta1",
       {foreign("volcano", "PodGroup", "podgroups", Scope::kNamespaced, {"pg", "podgroup-v1beta1"}, {"status"}),
        foreign("volcano", "Queue", "queues", Scope::kCluster, {"q"}, {"status"})}},
      {"scheduling.x-k8s.io",
       "v1alpha1",
       {foreign("coscheduling", "PodGroup", "podgroups", Scope::kNamespaced, {"pgs"}, {"status"})}},
      {"batch.volcano.sh",
       "v1alpha1",
       {foreign("volcano", "Job", "jobs", Scope::kNamespaced, {"vcjob", "vj"}, {"status"})}},
      {"topology.volcano.sh",
       "v1alpha1",
       {foreign("volcano", "HyperNode", "hypernodes", Scope::kCluster, {"hn"}, {"status"})}},
      {"jobset.x-k8s.io", "v1alpha2", {foreign("jobset", "JobSet", "jobsets", Scope::kNamespaced, {}, {"status"})}},
      {"leaderworkerset.x-k8s.io",
       "v1",
       {foreign("lws", "LeaderWorkerSet", "leaderworkersets", Scope::kNamespaced, {"lws"}, {"status"})}},
      {"kubeflow.org",
       "v1",
       {foreign("kubeflow", "PyTorchJob", "pytorchjobs", Scope::kNamespaced, {}, {"status"}),
        foreign("kubeflow", "TFJob", "tfjobs", Scope::kNamespaced, {}, {"status"}),
        foreign("kubeflow", "XGBoostJob", "xgboostjobs", Scope::kNamespaced, {}, {"status"}),
        foreign("kubeflow", "PaddleJob", "paddlejobs", Scope::kNamespaced, {}, {"status"}),
        foreign("kubeflow", "JAXJob", "jaxjobs", Scope::kNamespaced, {}, {"status"})}},
      {"kubeflow.org", "v2beta1", {foreign("mpi", "MPIJob", "mpijobs", Scope::kNamespaced, {}, {"status"})}},
      {"ray.io",
       "v1",
       {in_category_all(foreign("ray", "RayCluster", "rayclusters", Scope::kNamespaced, {}, {"status"})),
        in_category_all(foreign("ray", "RayJob", "rayjobs", Scope::kNamespaced, {}, {"status"}))}},
      {"trainer.kubeflow.org",
       "v1alpha1",
       {foreign("trainer", "TrainJob", "trainjobs", Scope::kNamespaced, {}, {"status"}),
        foreign("trainer", "TrainingRuntime", "trainingruntimes", Scope::kNamespaced, {}, {}),
        foreign("trainer", "ClusterTrainingRuntime", "clustertrainingruntimes", Scope::kCluster, {}, {})}},
  };
}

std::vector<KindInfo> all_kinds() {
  std::vector<KindInfo> all;
  for (auto& groups : {core_and_batch(), access_and_own(), foreign_groups()}) {
    for (const Group& group : groups) {
      for (KindInfo info : group.kinds) {
        info.group = group.group;
        info.version = group.version;
        all.push_back(std::move(info));
      }
    }
  }
  return all;
}

}  // namespace

bool KindInfo::has_verb(std::string_view verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

bool KindInfo::has_subresource(std::string_view name) const {
  return std::ranges::find(subresources, name) != subresources.end();
}

const std::vector<KindInfo>& served_kinds() {
  static const std::vector<KindInfo> kinds = all_kinds();
  return kinds;
}

const KindInfo* find_served(std::string_view group, std::string_view version, std::string_view plural) {
  for (const KindInfo& each : served_kinds()) {
    if (each.group == group && each.version == version && each.plural == plural) return &each;
  }
  return nullptr;
}

const KindInfo* find_served_kind(std::string_view api_version, std::string_view kind) {
  for (const KindInfo& each : served_kinds()) {
    if (each.kind == kind && each.api_version() == api_version) return &each;
  }
  return nullptr;
}

bool group_version_is_served(std::string_view group, std::string_view version) {
  return std::ranges::any_of(served_kinds(),
                             [&](const KindInfo& each) { return each.group == group && each.version == version; });
}

}  // namespace berth
