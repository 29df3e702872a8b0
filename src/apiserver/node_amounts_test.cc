#include "apiserver/node_amounts.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "apiserver/admission_world.h"

namespace berth::node_amounts_test {

using Texts = std::vector<std::string>;

std::set<Amounts> nodes(const std::vector<std::string>& allocatable) {
  std::set<Amounts> all;
  for (const std::string& each : allocatable)
    all.insert(allocatable_of(yaml_object("{status: {allocatable: " + each + "}}")));
  return all;
}

TEST(NodeAmounts, SayWhatNoNodeHas) {
  const std::vector<std::string> fleet = {
      "{cpu: '64', memory: 512Gi, nvidia.com/gpu: '8', pods: '110'}",
      "{cpu: '128', memory: 256Gi}",
      "{cpu: '32', memory: 64Gi, nvidia.com/mig-1g.10gb: '56', nvidia.com/gpu: '0'}",
  };
  struct Case {
    const char* name;
    std::vector<std::string> nodes;
    const char* spec;
    Texts said;
  };
  const Case cases[] = {
      {"it fits",
       fleet,
       "{containers: [{resources: {requests: {cpu: '64', memory: 1Gi}, limits: {nvidia.com/gpu: 8}}}]}",
       {}},
      {"nothing is asked", fleet, "{containers: [{}]}", {}},
      {"more than the largest",
       fleet,
       "{containers: [{resources: {requests: {cpu: '100', nvidia.com/gpu: 16}}}]}",
       {"a pod asks 16 of nvidia.com/gpu, and no node has more than 8; it waits until one has"}},
      {"both of it",
       fleet,
       "{containers: [{resources: {requests: {cpu: 128001m, memory: 1Ti}}}]}",
       {"a pod asks 128001m of cpu, and no node has more than 128; it waits until one has",
        "a pod asks 1Ti of memory, and no node has more than 512Gi; it waits until one has"}},
      {"containers run together",
       fleet,
       "{containers: [{resources: {requests: {nvidia.com/gpu: 5}}}, {resources: {requests: {nvidia.com/gpu: 5}}}]}",
       {"a pod asks 10 of nvidia.com/gpu, and no node has more than 8; it waits until one has"}},
      {"a slice that there is not",
       fleet,
       "{containers: [{resources: {requests: {nvidia.com/mig-3g.40gb: 1}}}]}",
       {"a pod asks 1 of nvidia.com/mig-3g.40gb, and no node has any; it waits until one has"}},
      {"not at once",
       fleet,
       "{containers: [{resources: {requests: {cpu: '100', nvidia.com/gpu: 1}}}]}",
       {"no node has all that a pod asks at once (cpu 100, nvidia.com/gpu 1); it waits until one has"}},
      {"a limit",
       fleet,
       "{containers: [{resources: {requests: {memory: 1Gi}, limits: {memory: 4Ti, cpu: '2'}}}]}",
       {"a pod has a limit of 4Ti of memory, and no node has more than 512Gi; it limits nothing"}},
      {"a limit alone, as in templates",
       fleet,
       "{containers: [{resources: {limits: {nvidia.com/gpu: 12, memory: 1Gi}}}]}",
       {"a pod asks 12 of nvidia.com/gpu, and no node has more than 8; it waits until one has"}},
      {"what it asks is its limit, too",
       fleet,
       "{containers: [{resources: {requests: {memory: 4Ti}, limits: {memory: 4Ti}}}]}",
       {"a pod asks 4Ti of memory, and no node has more than 512Gi; it waits until one has"}},
      {"what is not scheduled by, whatever nodes have of it",
       {"{cpu: '64', rdma/hca: '2', ephemeral-storage: 2Ti}"},
       "{containers: [{resources: {requests: {rdma/hca: 1, ephemeral-storage: 1Ti}, limits: {rdma/hca: 1}}}]}",
       {"a pod waits: it asks ephemeral-storage, which is not scheduled by yet; leave the request out",
        "a pod waits: it asks rdma/hca, which is not scheduled by yet; leave the request out"}},
      {"the same without nodes",
       {},
       "{containers: [{resources: {requests: {cpu: '1000', rdma/hca: 1}}}]}",
       {"a pod waits: it asks rdma/hca, which is not scheduled by yet; leave the request out"}},
      {"mistyped",
       fleet,
       "{containers: [{resources: {limits: {nvidia.com/gpus: 1}}}]}",
       {"a pod waits: it asks nvidia.com/gpus, which is not scheduled by yet; did you mean nvidia.com/gpu? If not, "
        "leave the request out"}},
      {"what nodes promise more than once",
       fleet,
       "{containers: [{resources: {requests: {kubernetes.io/batch-cpu: '4000'}}}]}",
       {}},
      {"no nodes yet", {}, "{containers: [{resources: {requests: {cpu: '1000'}}}]}", {}},
      {"it has a node", fleet, "{nodeName: n1, containers: [{resources: {requests: {cpu: '1000'}}}]}", {}},
  };
  for (const Case& each : cases) {
    const Value pod = yaml_object(std::string("{spec: ") + each.spec + "}");
    EXPECT_EQ(beyond_all_nodes(pod, nodes(each.nodes)), each.said) << each.name;
  }
}

TEST(NodeAmounts, AreAskedOfAllTemplates) {
  const std::string kPods = "template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 12}}}]}}";
  struct Case {
    std::string object;
    std::size_t templates;
  };
  const Case cases[] = {
      {"{apiVersion: batch/v1, kind: Job, spec: {" + kPods + "}}", 1},
      {"{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, spec: {replicatedJobs: [{template: {spec: {" + kPods +
           "}}}]}}",
       1},
      {"{apiVersion: kubeflow.org/v1, kind: PyTorchJob, spec: {pytorchReplicaSpecs: {Master: {" + kPods +
           "}, Worker: {replicas: 2, " + kPods + "}}}}",
       2},
      {"{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, spec: {leaderWorkerTemplate: {workerT" +
           kPods.substr(1) + "}}}",
       1},
      {"{apiVersion: ray.io/v1, kind: RayJob, spec: {rayClusterSpec: {headGroupSpec: {" + kPods +
           "}, workerGroupSpecs: [{" + kPods + "}]}}}",
       2},
      {"{apiVersion: v1, kind: ConfigMap, data: {spec: x}}", 0},
  };
  for (const Case& each : cases) {
    const Value object = yaml_object(each.object);
    const std::vector<const Value*> pods = all_pods_in(kind_of(object), object);
    EXPECT_EQ(pods.size(), each.templates) << each.object;
    for (const Value* const pod : pods) {
      const Texts said = {"a pod asks 12 of nvidia.com/gpu, and no node has more than 8; it waits until one has"};
      EXPECT_EQ(beyond_all_nodes(*pod, nodes({"{nvidia.com/gpu: '8'}"})), said) << each.object;
    }
  }
}

}  // namespace berth::node_amounts_test
