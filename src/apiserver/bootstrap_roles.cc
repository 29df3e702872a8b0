// The roles every server begins with. Each component gets what it does and nothing else.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/authorization.h"
#include "apiserver/user.h"
#include "manifest/value.h"

namespace berth {

namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
const Words kTrainingJobs = {"pytorchjobs", "tfjobs", "xgboostjobs", "paddlejobs", "jaxjobs", "mpijobs"};
const Words kTrainingJobStatuses = {"pytorchjobs/status", "tfjobs/status",  "xgboostjobs/status",
                                    "paddlejobs/status",  "jaxjobs/status", "mpijobs/status"};
const Words kRead = {"get", "list", "watch"};
const Words kWrite = {"create", "delete", "deletecollection", "patch", "update"};
const Words kAll = {"*"};

Value list_of(Words words) {
  Value list = Value::list();
  for (const std::string_view word : words) list.push_back(word);
  return list;
}

Value rule(Words groups, Words resources, Words verbs) {
  return Value::map_of({{"apiGroups", list_of(groups)}, {"resources", list_of(resources)}, {"verbs", list_of(verbs)}});
}

Value path_rule(Words paths, Words verbs) {
  return Value::map_of({{"nonResourceURLs", list_of(paths)}, {"verbs", list_of(verbs)}});
}

Value named(std::string_view kind, std::string_view name) {
  return Value::map_of(
      {{"apiVersion", std::string(kGroup) + "/v1"},
       {"kind", kind},
       {"metadata", Value::map_of({{"name", name},
                                   {"labels", Value::map_of({{"kubernetes.io/bootstrapping", "rbac-defaults"}})}})}});
}

Value role(std::string_view name, std::vector<Value> rules) {
  Value made = named("ClusterRole", name);
  made.set("rules", std::move(rules));
  return made;
}

struct Subject {
  std::string_view kind;
  std::string_view name;
};

// A ClusterRoleBinding of the role's own name.
Value binding(std::string_view name, std::initializer_list<Subject> subjects) {
  Value made = named("ClusterRoleBinding", name);
  made.set("roleRef", Value::map_of({{"apiGroup", kGroup}, {"kind", "ClusterRole"}, {"name", name}}));
  Value& list = made.set("subjects", Value::list());
  for (const Subject& each : subjects) {
    list.push_back(Value::map_of({{"apiGroup", kGroup}, {"kind", each.kind}, {"name", each.name}}));
  }
  return made;
}

// What people read in a namespace; Secrets are not among it.
std::vector<Value> view_rules() {
  return {
      rule({""},
           {"pods", "pods/log", "pods/status", "events", "configmaps", "serviceaccounts", "limitranges",
            "resourcequotas", "resourcequotas/status", "namespaces", "namespaces/status"},
           kRead),
      rule({"events.k8s.io"}, {"events"}, kRead),
      rule({"batch"}, {"jobs", "jobs/status"}, kRead),
      rule({"jobset.x-k8s.io"}, {"jobsets", "jobsets/status"}, kRead),
      rule({"policy"}, {"poddisruptionbudgets", "poddisruptionbudgets/status"}, kRead),
      rule({"berth.dev"}, {"workloads", "workloads/status"}, kRead),
      rule({"scheduling.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io"}, {"podgroups", "podgroups/status"},
           kRead),
      rule({"kueue.x-k8s.io"}, {"localqueues", "localqueues/status", "workloads", "workloads/status"}, kRead),
      rule({"batch.volcano.sh"}, {"jobs", "jobs/status"}, kRead),
      rule({"leaderworkerset.x-k8s.io"}, {"leaderworkersets", "leaderworkersets/status"}, kRead),
      rule({"kubeflow.org"}, kTrainingJobs, kRead),
      rule({"kubeflow.org"}, kTrainingJobStatuses, kRead),
      rule({"ray.io"}, {"rayclusters", "rayclusters/status", "rayjobs", "rayjobs/status"}, kRead),
      rule({"trainer.kubeflow.org"}, {"trainjobs", "trainjobs/status", "trainingruntimes"}, kRead),
  };
}

std::vector<Value> edit_rules() {
  std::vector<Value> rules = view_rules();
  rules.push_back(rule({""}, {"pods", "configmaps", "serviceaccounts"}, kWrite));
  rules.push_back(rule({""}, {"pods/eviction"}, {"create"}));
  rules.push_back(rule({""}, {"events"}, {"create", "patch", "update"}));
  rules.push_back(rule({""}, {"secrets"}, kRead));
  rules.push_back(rule({""}, {"secrets"}, kWrite));
  rules.push_back(rule({"batch"}, {"jobs"}, kWrite));
  rules.push_back(rule({"jobset.x-k8s.io"}, {"jobsets"}, kWrite));
  rules.push_back(rule({"batch.volcano.sh"}, {"jobs"}, kWrite));
  rules.push_back(rule({"leaderworkerset.x-k8s.io"}, {"leaderworkersets"}, kWrite));
  rules.push_back(rule({"kubeflow.org"}, kTrainingJobs, kWrite));
  rules.push_back(rule({"ray.io"}, {"rayclusters", "rayjobs"}, kWrite));
  rules.push_back(rule({"trainer.kubeflow.org"}, {"trainjobs", "trainingruntimes"}, kWrite));
  rules.push_back(rule({"policy"}, {"poddisruptionbudgets"}, kWrite));
  rules.push_back(rule({"scheduling.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io"}, {"podgroups"}, kWrite));
  // Whoever may suspend a Job may do so by its Workload.
  rules.push_back(rule({"kueue.x-k8s.io"}, {"workloads"}, {"patch", "update"}));
  return rules;
}

std::vector<Value> admin_rules() {
  std::vector<Value> rules = edit_rules();
  rules.push_back(rule({kGroup}, {"roles", "rolebindings"}, kRead));
  rules.push_back(rule({kGroup}, {"roles", "rolebindings"}, kWrite));
  rules.push_back(rule({"authorization.k8s.io"}, {"localsubjectaccessreviews"}, {"create"}));
  return rules;
}

std::vector<Value> scheduler_rules() {
  return {
      rule({""}, {"nodes", "namespaces"}, kRead),
      // Who has been on which of their GPUs, in an annotation.
      rule({""}, {"nodes"}, {"patch"}),
      rule({""}, {"pods"}, {"delete", "get", "list", "watch"}),
      rule({""}, {"pods/binding", "pods/eviction"}, {"create"}),
      rule({""}, {"pods/status"}, {"patch", "update"}),
      // Whether those have ended for whom others wait; and that one has begun, or has waited for too long, in an annotation and by
      // its deadline.
      rule({"batch"}, {"jobs"}, {"get", "list", "watch", "patch"}),
      rule({"", "events.k8s.io"}, {"events"}, {"create", "patch", "update"}),
      rule({"policy"}, {"poddisruptionbudgets"}, kRead),
      rule({"scheduling.k8s.io"}, {"priorityclasses"}, kRead),
      rule({"coordination.k8s.io"}, {"leases"}, {"create", "get", "list", "patch", "update", "watch"}),
      rule({"berth.dev"}, {"defragmentations", "queues", "reservations", "resourceflavors", "trustcircles", "whatifs"},
           kRead),
      rule({"berth.dev"},
           {"defragmentations/status", "queues/status", "reservations/status", "trustcircles/status", "whatifs/status"},
           {"patch", "update"}),
      // So that one which is deleted stays until those have parted who shared GPUs for it.
      rule({"berth.dev"}, {"trustcircles"}, {"patch"}),
      rule({"kueue.x-k8s.io"},
           {"clusterqueues", "cohorts", "localqueues", "resourceflavors", "topologies", "workloadpriorityclasses"},
           kRead),
      rule({"kueue.x-k8s.io"}, {"clusterqueues/status", "cohorts/status", "localqueues/status"}, {"patch", "update"}),
      rule({"scheduling.volcano.sh"}, {"queues"}, kRead),
      rule({"scheduling.volcano.sh"}, {"queues/status"}, {"patch", "update"}),
      rule({"scheduling.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io"}, {"podgroups"}, kRead),
      rule({"scheduling.k8s.io", "scheduling.volcano.sh", "scheduling.x-k8s.io"}, {"podgroups/status"},
           {"patch", "update"}),
      rule({"leaderworkerset.x-k8s.io"}, {"leaderworkersets"}, kRead),
      rule({"ray.io"}, {"rayclusters"}, kRead),
      rule({"kubeflow.org"}, kTrainingJobs, kRead),
      rule({"topology.volcano.sh"}, {"hypernodes"}, kRead),
      rule({"topology.volcano.sh"}, {"hypernodes/status"}, {"patch", "update"}),
      rule({"berth.dev"}, {"workloads"}, {"create", "delete", "get", "list", "patch", "update", "watch"}),
      rule({"berth.dev"}, {"workloads/status"}, {"patch", "update"}),
  };
}

std::vector<Value> node_agent_rules() {
  return {
      rule({""}, {"nodes"}, {"create", "get", "list", "patch", "update", "watch"}),
      rule({""}, {"nodes/status"}, {"patch", "update"}),
      rule({""}, {"pods"}, {"delete", "get", "list", "watch"}),
      rule({""}, {"pods/status"}, {"patch", "update"}),
      rule({"", "events.k8s.io"}, {"events"}, {"create", "patch", "update"}),
      rule({"coordination.k8s.io"}, {"leases"}, {"create", "get", "list", "patch", "update", "watch"}),
  };
}

std::vector<Value> controllers_rules() {
  return {
      // Garbage collection, and emptying a namespace that goes away, concern every kind there is.
      rule(kAll, kAll, {"delete", "deletecollection", "get", "list", "patch", "watch"}),
      rule({""}, {"pods"}, {"create", "update"}),
      // By which the pods of Volcano's Jobs know each other.
      rule({""}, {"configmaps"}, {"create"}),
      rule({""}, {"pods/status", "nodes/status", "namespaces/status", "resourcequotas/status"}, {"patch", "update"}),
      rule({""}, {"namespaces", "nodes"}, {"update"}),
      rule({"", "events.k8s.io"}, {"events"}, {"create", "update"}),
      rule({"batch"}, {"jobs"}, {"create", "update"}),
      rule({"batch"}, {"jobs/status"}, {"update"}),
      rule({"jobset.x-k8s.io"}, {"jobsets/status"}, {"update"}),
      rule({"kueue.x-k8s.io"}, {"workloads"}, {"create"}),
      rule({"policy"}, {"poddisruptionbudgets/status"}, {"update"}),
      rule({"coordination.k8s.io"}, {"leases"}, {"create", "update"}),
      // The pods of a Job whose owner was allowed to use the class.
      rule({"scheduling.k8s.io"}, {"priorityclasses"}, {"use"}),
  };
}

}  // namespace

std::vector<Value> bootstrap_roles() {
  constexpr Subject kSignedIn{"Group", "system:authenticated"};
  constexpr Subject kNobody{"Group", "system:unauthenticated"};
  return {
      role("cluster-admin", {rule(kAll, kAll, kAll), path_rule(kAll, kAll)}),
      binding("cluster-admin", {{"Group", kMasters}}),
      role("admin", admin_rules()),
      role("edit", edit_rules()),
      role("view", view_rules()),
      role("system:discovery", {path_rule({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                                           "/openapi/*", "/readyz", "/version", "/version/"},
                                          {"get"})}),
      binding("system:discovery", {kSignedIn}),
      role("system:monitoring",
           {path_rule({"/metrics", "/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"}, {"get"})}),
      binding("system:monitoring", {{"Group", "system:monitoring"}}),
      role("system:basic-user",
           {rule({"authorization.k8s.io"}, {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, {"create"}),
            rule({"authentication.k8s.io"}, {"selfsubjectreviews"}, {"create"})}),
      binding("system:basic-user", {kSignedIn}),
      role("system:public-info-viewer",
           {path_rule({"/healthz", "/livez", "/readyz", "/version", "/version/"}, {"get"})}),
      binding("system:public-info-viewer", {kSignedIn, kNobody}),
      role("system:berth-queue-viewer", {rule({"berth.dev"}, {"queues/usable", "resourceflavors"}, kRead),
                                         rule({"scheduling.k8s.io"}, {"priorityclasses/usable"}, kRead)}),
      binding("system:berth-queue-viewer", {kSignedIn}),
      role("system:berth-scheduler", scheduler_rules()),
      binding("system:berth-scheduler", {{"User", "system:berth-scheduler"}}),
      role("system:berth-node-agent", node_agent_rules()),
      binding("system:berth-node-agent", {{"User", "system:berth-node-agent"}, {"Group", "system:nodes"}}),
      role("system:berth-controllers", controllers_rules()),
      binding("system:berth-controllers", {{"User", "system:berth-controllers"}}),
  };
}

}  // namespace berth
