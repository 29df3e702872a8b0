// Kueue's and Volcano's queues as the server keeps and shows them, and what it says when queues are written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/policy_warnings.h"
#include "local_api/api_answers.h"
#include "local_api/test_server.h"
#include "manifest/kinds.h"

namespace berth::queue_kinds_test {

constexpr const char* kOlder = "/apis/kueue.x-k8s.io/v1beta1/";
constexpr const char* kNewer = "/apis/kueue.x-k8s.io/v1beta2/";
constexpr const char* kQueues = "/apis/berth.dev/v1alpha1/queues";

std::string kueue(const std::string& version, const std::string& kind, const std::string& name,
                  const std::string& spec) {
  return R"({"apiVersion":"kueue.x-k8s.io/)" + version + R"(","kind":")" + kind + R"(","metadata":{"name":")" + name +
         R"("},"spec":)" + spec + "}";
}

std::string queue(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"berth.dev/v1alpha1","kind":"Queue","metadata":{"name":")" + name + R"("},"spec":)" + spec +
         "}";
}

TEST(QueueKinds, KueuesVersionsAreOneStore) {
  TestServer server;
  const std::string older =
      kueue("v1beta1", "ClusterQueue", "a",
            R"({"cohort":"c","namespaceSelector":{},"admissionChecks":["x"],)"
            R"("flavorFungibility":{"whenCanBorrow":"Borrow","whenCanPreempt":"TryNextFlavor"}})");
  const ApiAnswer created = server.call("POST", std::string(kOlder) + "clusterqueues", older);
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(object_of(created)["apiVersion"].text(), "kueue.x-k8s.io/v1beta1");
  EXPECT_EQ(object_of(created)["spec"]["cohort"].text(), "c");

  const Value newer = object_of(server.call("GET", std::string(kNewer) + "clusterqueues/a"));
  EXPECT_EQ(newer["apiVersion"].text(), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(newer["spec"]["cohortName"].text(), "c");
  EXPECT_TRUE(newer["spec"]["cohort"].is_null());
  EXPECT_EQ(newer["spec"]["flavorFungibility"]["whenCanBorrow"].text(), "MayStopSearch");
  EXPECT_EQ(newer["spec"]["flavorFungibility"]["whenCanPreempt"].text(), "TryNextFlavor");
  EXPECT_EQ(newer["spec"]["admissionChecksStrategy"]["admissionChecks"].items()[0]["name"].text(), "x");

  ASSERT_EQ(server.call("PATCH", std::string(kNewer) + "clusterqueues/a", R"({"spec":{"cohortName":"d"}})").status,
            200);
  ASSERT_EQ(server.call("PATCH", std::string(kNewer) + "clusterqueues/a/status", R"({"status":{"pendingWorkloads":3}})")
                .status,
            200);
  const Value again = object_of(server.call("GET", std::string(kOlder) + "clusterqueues/a"));
  EXPECT_EQ(again["spec"]["cohort"].text(), "d");
  EXPECT_EQ(again["spec"]["flavorFungibility"]["whenCanBorrow"].text(), "Borrow");
  EXPECT_EQ(again["status"]["pendingWorkloads"].integer(), 3);
  EXPECT_EQ(object_of(server.call("GET", std::string(kOlder) + "clusterqueues"))["items"].items().size(), 1U);

  ASSERT_EQ(server.call("POST", std::string(kOlder) + "cohorts", kueue("v1beta1", "Cohort", "d", R"({"parent":"top"})"))
                .status,
            201);
  EXPECT_EQ(object_of(server.call("GET", std::string(kNewer) + "cohorts/d"))["spec"]["parentName"].text(), "top");
  EXPECT_EQ(server.call("DELETE", std::string(kOlder) + "clusterqueues/a").status, 200);
  EXPECT_EQ(server.call("GET", std::string(kNewer) + "clusterqueues/a").status, 404);
}

TEST(QueueKinds, KueuesTopologyIsOneInBothVersionsAndStaysAsItIs) {
  TestServer server;
  const std::string racks = R"({"levels":[{"nodeLabel":"rack"},{"nodeLabel":"kubernetes.io/hostname"}]})";
  const std::string path = std::string(kNewer) + "topologies";
  ASSERT_EQ(server.call("POST", std::string(kOlder) + "topologies", kueue("v1beta1", "Topology", "t", racks)).status,
            201);
  const Value newer = object_of(server.call("GET", path + "/t"));
  EXPECT_EQ(newer["apiVersion"].text(), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(newer["spec"]["levels"].items().size(), 2U);
  struct Case {
    const char* spec;
    const char* says;
  };
  const Case refused[] = {
      {"{}", "it has no level"},
      {R"({"levels":[{"nodeLabel":"a"},{"nodeLabel":"a"}]})", "'a' stands there twice"},
      {R"({"levels":[{"nodeLabel":"kubernetes.io/hostname"},{"nodeLabel":"a"}]})", "is not the last level"},
      {R"({"levels":[{"nodeLabel":"no label"}]})", "'no label' is no label"},
  };
  for (const Case& each : refused) {
    const ApiAnswer answer = server.call("POST", path, kueue("v1beta2", "Topology", "u", each.spec));
    EXPECT_EQ(answer.status, 422) << each.spec;
    EXPECT_TRUE(answer.body.contains(each.says)) << answer.body;
  }
  const ApiAnswer changed = server.call("PATCH", path + "/t", R"({"spec":{"levels":[{"nodeLabel":"rack"}]}})");
  EXPECT_EQ(changed.status, 422);
  EXPECT_TRUE(changed.body.contains("field is immutable")) << changed.body;
  EXPECT_EQ(server.call("PATCH", path + "/t", R"({"metadata":{"labels":{"a":"b"}}})").status, 200);
}

TEST(QueueKinds, VolcanosHyperNodesAreCheckedWithAllThatIsWrong) {
  TestServer server;
  const std::string path = "/apis/topology.volcano.sh/v1alpha1/hypernodes";
  const auto hyper_node = [](const std::string& spec) {
    return R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":"h"},"spec":)" + spec +
           "}";
  };
  const ApiAnswer wrong = server.call(
      "POST", path,
      hyper_node(R"({"tier":1,"members":[{"type":"Rack","selector":{"exactMatch":{"name":"n"}}},{"type":"Node"},)"
                 R"({"type":"Node","selector":{"regexMatch":{"pattern":"["}}}]})"));
  EXPECT_EQ(wrong.status, 422);
  for (const char* const says : {"spec.members[0].type", "spec.members[1].selector", "it selects nothing",
                                 "spec.members[2].selector.regexMatch.pattern", "missing ]: ["}) {
    EXPECT_TRUE(wrong.body.contains(says)) << says << ": " << wrong.body;
  }
  EXPECT_EQ(server
                .call("POST", path,
                      hyper_node(R"({"tier":1,"tierName":"leaf","members":[{"type":"Node","selector":)"
                                 R"({"labelMatch":{"matchLabels":{"rack":"r1"}}}}]})"))
                .status,
            201);
}

TEST(QueueKinds, AFlavorOfATopologyStaysAsItIs) {
  TestServer server;
  const std::string path = std::string(kNewer) + "resourceflavors";
  const ApiAnswer bare = server.call("POST", path, kueue("v1beta2", "ResourceFlavor", "f", R"({"topologyName":"t"})"));
  EXPECT_EQ(bare.status, 422);
  EXPECT_TRUE(bare.body.contains("a flavor of a Topology names no label of its nodes")) << bare.body;
  const std::string spec = R"({"nodeLabels":{"rack":"r1"})";
  ASSERT_EQ(server.call("POST", path, kueue("v1beta2", "ResourceFlavor", "f", spec + "}")).status, 201);
  EXPECT_EQ(server.call("PATCH", path + "/f", R"({"spec":{"topologyName":"t"}})").status, 200)
      << "one may be named later";
  const ApiAnswer changed = server.call("PATCH", path + "/f", R"({"spec":{"nodeLabels":{"rack":"r2"}}})");
  EXPECT_EQ(changed.status, 422);
  EXPECT_TRUE(changed.body.contains("resourceFlavorSpec are immutable when topologyName is set")) << changed.body;
}

TEST(QueueKinds, KueuesWorkloadNamesItsClassInTheWordsOfEachVersion) {
  TestServer server;
  constexpr const char* kControllers = "system:berth-controllers";
  const std::string name_space = "namespaces/default/workloads";
  const std::string newer = kueue(
      "v1beta2", "Workload", "job-a-1",
      R"({"queueName":"q","priorityClassRef":{"group":"scheduling.k8s.io","kind":"PriorityClass","name":"high"}})");
  ASSERT_EQ(server.call("POST", kNewer + name_space, newer, kControllers).status, 201);
  const Value older = object_of(server.call("GET", kOlder + name_space + "/job-a-1"));
  EXPECT_EQ(to_json(older["spec"]),
            R"({"queueName":"q","priorityClassName":"high","priorityClassSource":"scheduling.k8s.io/priorityclass"})");
  // Who writes the older one changes no more than he says.
  ASSERT_EQ(server
                .call("PATCH", kOlder + name_space + "/job-a-1",
                      R"({"metadata":{"labels":{"team":"a"}},"spec":{"active":true}})")
                .status,
            200);
  EXPECT_EQ(to_json(object_of(server.call("GET", kNewer + name_space + "/job-a-1"))["spec"]),
            R"({"queueName":"q","active":true,"priorityClassRef":{"group":"scheduling.k8s.io","kind":"PriorityClass",)"
            R"("name":"high"}})");
  const std::string of_kueue = kueue("v1beta1", "Workload", "job-b-1",
                                     R"({"queueName":"q","priorityClassName":"urgent",)"
                                     R"("priorityClassSource":"kueue.x-k8s.io/workloadpriorityclass"})");
  ASSERT_EQ(server.call("POST", kOlder + name_space, of_kueue, kControllers).status, 201);
  EXPECT_EQ(to_json(object_of(server.call("GET", kNewer + name_space + "/job-b-1"))["spec"]["priorityClassRef"]),
            R"({"group":"kueue.x-k8s.io","kind":"WorkloadPriorityClass","name":"urgent"})");
}

// Whoever may suspend a Job may do so by its Workload; nobody else writes one.
TEST(QueueKinds, KueuesWorkloadsAreReadByWhoReadsJobsAndStoppedByWhoChangesThem) {
  TestServer server;
  const std::string path = std::string(kNewer) + "namespaces/default/workloads";
  ASSERT_EQ(server
                .call("POST", path, kueue("v1beta2", "Workload", "job-a-1", R"({"queueName":"q"})"),
                      "system:berth-controllers")
                .status,
            201);
  for (const char* const role : {"view", "edit"}) {
    const std::string binding =
        R"({"metadata":{"name":")" + std::string(role) +
        R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":")" + role +
        R"("},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"by-)" + role + R"("}]})";
    ASSERT_EQ(server.call("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", binding).status,
              201);
  }
  const std::string active = R"({"spec":{"active":true}})";
  EXPECT_EQ(server.call("GET", path, "", "anybody").status, 403);
  EXPECT_EQ(server.call("GET", path, "", "by-view").status, 200);
  EXPECT_EQ(server.call("PATCH", path + "/job-a-1", active, "by-view").status, 403);
  EXPECT_EQ(server.call("PATCH", path + "/job-a-1", active, "by-edit").status, 200);
  EXPECT_EQ(server.call("PATCH", path + "/job-a-1/status", R"({"status":{}})", "by-edit").status, 403);
  EXPECT_EQ(server.call("DELETE", path + "/job-a-1", "", "by-edit").status, 403);
}

TEST(QueueKinds, WhatCannotBeFollowedIsRefused) {
  TestServer server;
  struct Case {
    const char* path;
    std::string body;
    const char* says;
  };
  constexpr const char* kClusterQueues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
  const Case cases[] = {
      {kClusterQueues,
       kueue("v1beta2", "ClusterQueue", "a",
             R"({"resourceGroups":[{"coveredResources":["cpu"],"flavors":[]},)"
             R"({"coveredResources":["cpu"],"flavors":[]}]})"),
       "spec.resourceGroups[1].coveredResources: Invalid value: \\\"\\\": 'cpu' is covered twice"},
      {kClusterQueues, kueue("v1beta2", "ClusterQueue", "a", R"({"stopPolicy":"Stop"})"),
       "spec.stopPolicy: Unsupported value"},
      {"/apis/scheduling.volcano.sh/v1beta1/queues",
       R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"a"},"spec":)"
       R"({"deserved":{"nvidia.com/gpu":"1"},"guarantee":{"resource":{"nvidia.com/gpu":"2"}}}})",
       "guarantee is more than deserved"},
  };
  for (const Case& each : cases) {
    const ApiAnswer answer = server.call("POST", each.path, each.body);
    EXPECT_EQ(answer.status, 422) << each.body;
    EXPECT_TRUE(answer.body.contains(each.says)) << answer.body;
  }
}

std::vector<std::string> warnings(TestServer& server, const std::string& body) {
  const auto object = parse_json(body);
  return policy_warnings(server.store(), *find_served_kind((*object)["apiVersion"].text(), (*object)["kind"].text()),
                         *object);
}

TEST(QueueKinds, TheLinterWarnsWithSightOfTheOtherQueues) {
  TestServer server;
  ASSERT_EQ(server.call("POST", kQueues, queue("top", R"({"order":"fifo","guarantee":{"h100":"8"}})")).status, 201);
  ASSERT_EQ(server.call("POST", kQueues, queue("a", R"({"parent":"top","guarantee":{"h100":"6"}})")).status, 201);
  EXPECT_TRUE(warnings(server, queue("b", R"({"parent":"top","guarantee":{"h100":"2"}})")).empty());
  const std::vector<std::string> said = warnings(server, queue("b", R"({"parent":"top","guarantee":{"h100":"4"}})"));
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0],
            "the children of top are promised 10 h100 GPUs, more than its guarantee of 8; give top at least 10, "
            "or its children less");
  // What is there already is not counted beside what it becomes.
  EXPECT_TRUE(warnings(server, queue("a", R"({"parent":"top","guarantee":{"h100":"8"}})")).empty());
  EXPECT_EQ(warnings(server, queue("c", R"({"guarantee":{"h100":"8"},"limit":{"h100":"4"}})")).size(), 1U);
  EXPECT_TRUE(warnings(server, queue("c", R"({"parent":"later"})")).empty());
  const std::vector<std::string> kueues =
      warnings(server, kueue("v1beta2", "ClusterQueue", "k", R"({"stopPolicy":"HoldAndDrain"})"));
  ASSERT_EQ(kueues.size(), 2U);
  EXPECT_EQ(
      kueues[0],
      "spec.stopPolicy is not followed: read as hold and drain: nothing starts, nothing more is let in, and what runs "
      "ends by itself instead of being evicted");
  EXPECT_TRUE(kueues[1].starts_with("k has no namespaceSelector, which selects no namespace at all; write"));
  EXPECT_TRUE(warnings(server, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}})").empty());
}

TEST(QueueKinds, WhoIsSuspendedForKueueIsToldThatNobodyLetsHimGo) {
  TestServer server;
  struct Case {
    const char* kind;
    const char* spec;
    const char* field;
  };
  const Case cases[] = {
      {R"("apiVersion":"ray.io/v1","kind":"RayJob")", R"({"suspend":true})", "spec.suspend: "},
      {R"("apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob")", R"({"suspend":true})", "spec.suspend: "},
      {R"("apiVersion":"kubeflow.org/v1","kind":"PyTorchJob")",
       R"({"runPolicy":{"suspend":true},"pytorchReplicaSpecs":{"Worker":{}}})", "spec.runPolicy.suspend: "},
      {R"("apiVersion":"kubeflow.org/v2beta1","kind":"MPIJob")", R"({"runPolicy":{"suspend":true}})",
       "spec.runPolicy.suspend: "},
  };
  for (const auto& [kind, spec, field] : cases) {
    const auto with = [&](const std::string& labels) {
      return warnings(server, "{" + std::string(kind) + R"(,"metadata":{"name":"s","labels":{)" + labels +
                                  R"(}},"spec":)" + spec + "}");
    };
    const std::vector<std::string> said = with(R"("kueue.x-k8s.io/queue-name":"lq")");
    ASSERT_EQ(said.size(), 1U) << kind;
    EXPECT_EQ(said[0], std::string(field) +
                           "it makes no pods until somebody lets it go, and Berth does not: leave it out, for its pods "
                           "wait in their queue");
    EXPECT_TRUE(with("").empty()) << kind << ": whoever stops it otherwise knows why";
  }
}

}  // namespace berth::queue_kinds_test
