#include "manifest/gang_owner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/kinds.h"
#include "manifest/workload_name.h"
#include "manifest/yaml.h"
#include "model/workload.h"

namespace berth::gang_owner_test {

Value object(const std::string& yaml) { return parse_yaml(yaml)->at(0); }

constexpr std::string_view kLeaderWorkerSets = "leaderworkersets.leaderworkerset.x-k8s.io";
constexpr std::string_view kPyTorchJobs = "pytorchjobs.kubeflow.org";
constexpr std::string_view kTfJobs = "tfjobs.kubeflow.org";
constexpr std::string_view kXgBoostJobs = "xgboostjobs.kubeflow.org";
constexpr std::string_view kPaddleJobs = "paddlejobs.kubeflow.org";
constexpr std::string_view kJaxJobs = "jaxjobs.kubeflow.org";
constexpr std::string_view kMpiJobs = "mpijobs.kubeflow.org";
constexpr std::string_view kRayClusters = "rayclusters.ray.io";
constexpr std::string_view kRayJobs = "rayjobs.ray.io";

PodGroupReading read(std::string_view qualified, const std::string& spec, const std::string& metadata = "{name: g}") {
  return read_pod_group(qualified, object("{metadata: " + metadata + ", spec: " + spec + "}"));
}

std::string fields(const std::vector<SpecMistake>& of) {
  std::string text;
  for (const SpecMistake& each : of) text += (text.empty() ? "" : ", ") + each.field;
  return text;
}

std::string tasks(const std::map<std::string, std::int64_t>& of) {
  std::string text;
  for (const auto& [task, count] : of) text += (text.empty() ? "" : ", ") + task + " " + std::to_string(count);
  return text;
}

TEST(GangOwner, IsNamedByThePodsLabels) {
  struct Case {
    const char* metadata;
    std::string_view qualified;
    const char* group;
    const char* task;
    std::int64_t size;
    const char* workload;
  };
  const Case cases[] = {
      {"labels: {leaderworkerset.sigs.k8s.io/name: vllm, leaderworkerset.sigs.k8s.io/group-index: '3', "
       "leaderworkerset.sigs.k8s.io/worker-index: '0', leaderworkerset.sigs.k8s.io/group-key: 5c}, annotations: "
       "{leaderworkerset.sigs.k8s.io/size: '4'}",
       kLeaderWorkerSets, "vllm-3", "0", 4, "leaderworkerset-vllm-3"},
      {"labels: {leaderworkerset.sigs.k8s.io/name: vllm}, annotations: {leaderworkerset.sigs.k8s.io/size: many}",
       kLeaderWorkerSets, "vllm", "", 0, "leaderworkerset-vllm"},
      {"labels: {training.kubeflow.org/job-name: bert, training.kubeflow.org/operator-name: pytorchjob-controller, "
       "training.kubeflow.org/replica-type: Worker, training.kubeflow.org/replica-index: '1'}",
       kPyTorchJobs, "bert", "worker", 0, "pytorchjob-bert"},
      {"labels: {training.kubeflow.org/job-name: bert, training.kubeflow.org/operator-name: tfjob-controller}", kTfJobs,
       "bert", "", 0, "tfjob-bert"},
      {"labels: {training.kubeflow.org/job-name: pi, training.kubeflow.org/operator-name: mpi-operator, "
       "training.kubeflow.org/job-role: launcher}",
       kMpiJobs, "pi", "launcher", 0, "mpijob-pi"},
      {"labels: {ray.io/cluster: demo, ray.io/node-type: head, ray.io/group: headgroup, ray.io/is-ray-node: 'yes'}",
       kRayClusters, "demo", "headgroup", 0, "raycluster-demo"},
      {"labels: {ray.io/cluster: demo, ray.io/node-type: worker, ray.io/group: GPU}", kRayClusters, "demo", "gpu", 0,
       "raycluster-demo"},
  };
  for (const Case& each : cases) {
    const Value pod = object("{metadata: {" + std::string(each.metadata) + "}}");
    const auto named = pod_group_named_by(pod);
    ASSERT_TRUE(named) << each.metadata;
    EXPECT_EQ(named->qualified, each.qualified);
    EXPECT_EQ(named->group(), each.group);
    EXPECT_EQ(named->task, each.task);
    EXPECT_EQ(named->size, each.size);
    EXPECT_EQ(workload_name_of(pod), each.workload);
  }
}

TEST(GangOwner, IsNotNamedWhereOthersGoBeforeOrNobodyIsMeant) {
  const char* const kOthers[] = {
      "labels: {leaderworkerset.sigs.k8s.io/name: vllm, berth.dev/pod-group: own}",
      "labels: {leaderworkerset.sigs.k8s.io/name: ''}",
      "labels: {leaderworkerset.sigs.k8s.io/name: {a: b}}",
      "labels: [leaderworkerset.sigs.k8s.io/name]",
      "annotations: {leaderworkerset.sigs.k8s.io/size: '2'}",
      "labels: {training.kubeflow.org/job-name: bert}",
      "labels: {ray.io/cluster: demo, ray.io/node-type: redis-cleanup}",
      "labels: {ray.io/cluster: demo}",
      "labels: {ray.io/originated-from-cr-name: job, ray.io/originated-from-crd: RayJob}",
      "labels: {training.kubeflow.org/job-name: bert, training.kubeflow.org/operator-name: ''}",
      "labels: {training.kubeflow.org/job-name: pi, training.kubeflow.org/operator-name: mpijob-controller}",
  };
  for (const char* const each : kOthers) {
    EXPECT_FALSE(pod_group_named_by(object("{metadata: {" + std::string(each) + "}}"))) << each;
  }
  const auto named = pod_group_named_by(
      object("{metadata: {labels: {leaderworkerset.sigs.k8s.io/name: vllm, scheduling.x-k8s.io/pod-group: g}}}"));
  ASSERT_TRUE(named);
  EXPECT_EQ(named->qualified, kCoschedulingGroups) << "its PodGroup says it for sure";
}

TEST(GangOwner, IsServedAndItsKindIsThatOfTheTable) {
  for (const GangOwnerKind& each : gang_owner_kinds()) {
    bool served = false;
    for (const KindInfo& kind : served_kinds())
      served = served || (kind.qualified() == each.qualified && kind.kind == each.kind);
    EXPECT_TRUE(served) << each.qualified;
    EXPECT_EQ(find_gang_owner_kind(each.qualified), &each);
  }
  EXPECT_EQ(find_gang_owner_kind("pods"), nullptr);
}

TEST(GangOwner, SaysHowManyStartTogether) {
  struct Case {
    std::string_view qualified;
    const char* spec;
    std::int64_t at_least;
    const char* of_tasks;
    const char* apart;
  };
  const Case cases[] = {
      {kLeaderWorkerSets, "{leaderWorkerTemplate: {size: 4}, replicas: 3}", 4, "", ""},
      {kLeaderWorkerSets, "{leaderWorkerTemplate: {}}", 1, "", ""},
      {kLeaderWorkerSets, "{startupPolicy: LeaderCreated, leaderWorkerTemplate: {size: 4}}", 4, "", ""},
      {kLeaderWorkerSets, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 4}}", 3, "", "0 1"},
      {kLeaderWorkerSets, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 1}}", 1, "", ""},
      {kPyTorchJobs, "{pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 3}}}", 4, "", ""},
      {kPyTorchJobs, "{pytorchReplicaSpecs: {Worker: {replicas: 0}}}", 1, "", ""},
      {kPyTorchJobs, "{elasticPolicy: {minReplicas: 2, maxReplicas: 8}, pytorchReplicaSpecs: {Worker: {replicas: 5}}}",
       2, "worker 2", ""},
      {kPyTorchJobs, "{elasticPolicy: {minReplicas: 2}, pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 5}}}", 3,
       "master 1, worker 2", ""},
      {kPyTorchJobs, "{elasticPolicy: {minReplicas: 8}, pytorchReplicaSpecs: {Worker: {replicas: 2}}}", 2, "", ""},
      {kPyTorchJobs,
       "{runPolicy: {schedulingPolicy: {minAvailable: 2}}, pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 4}}}",
       2, "master 1", ""},
      {kPyTorchJobs,
       "{runPolicy: {schedulingPolicy: {minAvailable: 5}}, pytorchReplicaSpecs: {Master: {}, Worker: {replicas: 4}}}",
       5, "", ""},
      {kPyTorchJobs, "{runPolicy: {schedulingPolicy: {minAvailable: 0}}, pytorchReplicaSpecs: {Worker: {replicas: 4}}}",
       1, "", ""},
      {kTfJobs, "{tfReplicaSpecs: {PS: {replicas: 2}, Worker: {replicas: 4}, Chief: {}, Evaluator: {}}}", 8, "", ""},
      {kXgBoostJobs, "{xgbReplicaSpecs: {Master: {}, Worker: {replicas: 2}}}", 3, "", ""},
      {kPaddleJobs, "{paddleReplicaSpecs: {Worker: {replicas: 2}}, elasticPolicy: {minReplicas: 1}}", 1, "worker 1",
       ""},
      {kJaxJobs, "{jaxReplicaSpecs: {Worker: {replicas: 6}}}", 6, "", ""},
      {kMpiJobs, "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 4}}}", 5, "", ""},
      {kMpiJobs, "{mpiReplicaSpecs: {Launcher: {}, Worker: {}}}", 1, "", ""},
      {kMpiJobs, "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 4}}, launcherCreationPolicy: AtStartup}", 5, "",
       ""},
      {kMpiJobs,
       "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 4}}, runPolicy: {schedulingPolicy: {minAvailable: 3}}}", 3,
       "launcher 1", ""},
      {kMpiJobs,
       "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 4}}, launcherCreationPolicy: WaitForWorkersReady}", 4, "",
       "launcher 1"},
      {kMpiJobs,
       "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 4}}, launcherCreationPolicy: WaitForWorkersReady, "
       "runPolicy: "
       "{schedulingPolicy: {minAvailable: 5}}}",
       4, "", "launcher 1"},
      {kMpiJobs,
       "{mpiReplicaSpecs: {Launcher: {}, Worker: {replicas: 4}}, launcherCreationPolicy: WaitForWorkersReady, "
       "runPolicy: "
       "{schedulingPolicy: {minAvailable: 2}}}",
       2, "", "launcher 1"},
      {kRayClusters, "{headGroupSpec: {}}", 1, "", ""},
      {kRayClusters, "{workerGroupSpecs: [{groupName: gpu, replicas: 3, minReplicas: 1, maxReplicas: 5}]}", 4, "", ""},
      {kRayClusters, "{workerGroupSpecs: [{groupName: gpu, replicas: 9, maxReplicas: 2}]}", 3, "", ""},
      {kRayClusters, "{workerGroupSpecs: [{groupName: gpu, replicas: 0, minReplicas: 2, maxReplicas: 2147483647}]}", 3,
       "", ""},
      {kRayClusters,
       "{workerGroupSpecs: [{groupName: tpu, replicas: 2, numOfHosts: 4}, {groupName: cpu, minReplicas: 1}, "
       "{groupName: "
       "idle, replicas: 9, suspend: true}]}",
       10, "", ""},
      {kRayClusters,
       "{enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: gpu, replicas: 3, minReplicas: 1, numOfHosts: "
       "2}]}",
       3, "gpu 2, headgroup 1", ""},
      {kRayClusters, "{enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: gpu, replicas: 0}]}", 1,
       "gpu 0, headgroup 1", ""},
      {kRayJobs, "{clusterSelector: {ray.io/cluster: demo}}", 1, "", ""},
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.qualified, each.spec);
    EXPECT_EQ(made.spec.at_least, each.at_least) << each.spec;
    EXPECT_EQ(tasks(made.spec.of_tasks), each.of_tasks) << each.spec;
    EXPECT_EQ(tasks(made.spec.apart), each.apart) << each.spec;
    EXPECT_EQ(fields(made.mistakes), "") << each.spec;
  }
  const PodGroupReading exclusive = read(kLeaderWorkerSets, "{leaderWorkerTemplate: {size: 4}}",
                                         "{annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}}");
  EXPECT_EQ(tasks(exclusive.spec.apart), "0 1") << "its workers are made when the leader has a node";
  EXPECT_EQ(fields(exclusive.advice), "metadata.annotations[leaderworkerset.sigs.k8s.io/exclusive-topology]");
}

TEST(GangOwner, SaysInWhichQueueItsPodsWait) {
  const PodGroupReading made =
      read(kLeaderWorkerSets, "{leaderWorkerTemplate: {size: 2}}",
           "{labels: {kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/priority-class: urgent, "
           "berth.dev/queue: own}, annotations: {scheduling.volcano.sh/queue-name: research}}");
  EXPECT_EQ(made.spec.local_queue, "main");
  EXPECT_EQ(made.spec.priority_class, "urgent");
  EXPECT_EQ(made.spec.queue, "research");
  EXPECT_EQ(fields(made.not_followed), "metadata.labels[berth.dev/queue]") << "pods alone may name one of Berth's own";
  const char* const kJob = "{pytorchReplicaSpecs: {Worker: {}}, runPolicy: {schedulingPolicy: {queue: training}}}";
  const PodGroupReading ray =
      read(kRayClusters, "{}", "{labels: {volcano.sh/queue-name: research, ray.io/priority-class-name: high}}");
  EXPECT_EQ(ray.spec.queue, "research");
  EXPECT_EQ(fields(ray.not_followed), "metadata.labels[ray.io/priority-class-name]");
  EXPECT_EQ(read(kPyTorchJobs, kJob, "{annotations: {scheduling.volcano.sh/queue-name: research}}").spec.queue,
            "training")
      << "as its operator has it";
}

TEST(GangOwner, OfRayIsInHyperNodesAsItsLabelsSay) {
  struct Case {
    const char* labels;
    Topology topology;
    const char* wrong;
  };
  const Case cases[] = {
      {"{volcano.sh/network-topology-mode: hard, volcano.sh/network-topology-highest-tier-allowed: '2'}",
       {Togetherness::kRequired, "hypernode-tier-2"},
       ""},
      {"{volcano.sh/network-topology-mode: soft}", {Togetherness::kPreferred, "hypernode-tier-1"}, ""},
      {"{volcano.sh/network-topology-mode: near}", {}, "metadata.labels[volcano.sh/network-topology-mode]"},
      {"{volcano.sh/network-topology-highest-tier-allowed: '2'}",
       {},
       "metadata.labels[volcano.sh/network-topology-mode]"},
      {"{volcano.sh/network-topology-mode: hard, volcano.sh/network-topology-highest-tier-allowed: top}",
       {},
       "metadata.labels[volcano.sh/network-topology-highest-tier-allowed]"},
  };
  for (const auto& [labels, topology, wrong] : cases) {
    for (const std::string_view kind : {kRayClusters, kRayJobs}) {
      const PodGroupReading made = read(kind, "{}", "{labels: " + std::string(labels) + "}");
      EXPECT_EQ(made.spec.topology, topology) << labels;
      EXPECT_EQ(fields(made.mistakes), wrong) << labels;
    }
  }
}

TEST(GangOwner, IsReadWithAllThatIsWrongAndAllThatIsNotFollowed) {
  struct Case {
    std::string_view qualified;
    const char* spec;
    const char* wrong;
    const char* not_followed;
    const char* advice;
  };
  const Case cases[] = {
      {kLeaderWorkerSets, "{replicas: -1, leaderWorkerTemplate: {size: 0}}",
       "spec.leaderWorkerTemplate.size, spec.replicas", "", ""},
      {kLeaderWorkerSets, "{leaderWorkerTemplate: {size: '4', subGroupPolicy: {subGroupSize: 2}}}",
       "spec.leaderWorkerTemplate.size", "spec.leaderWorkerTemplate.subGroupPolicy", ""},
      {kLeaderWorkerSets, "{startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 3}}", "", "",
       "spec.startupPolicy"},
      {kPyTorchJobs, "{}", "spec.pytorchReplicaSpecs", "", ""},
      {kPyTorchJobs,
       "{pytorchReplicaSpecs: {Worker: {replicas: -1}}, elasticPolicy: {minReplicas: 0}, runPolicy: {schedulingPolicy: "
       "{minAvailable: many, minResources: {cpu: 1}, priorityClass: p, scheduleTimeoutSeconds: 9}}}",
       "spec.pytorchReplicaSpecs[Worker].replicas, spec.elasticPolicy.minReplicas, "
       "spec.runPolicy.schedulingPolicy.minAvailable",
       "spec.runPolicy.schedulingPolicy.minResources, spec.runPolicy.schedulingPolicy.priorityClass, "
       "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
       ""},
      {kPyTorchJobs, "{pytorchReplicaSpecs: {Worker: {replicas: 4}}, runPolicy: {schedulingPolicy: {minAvailable: 5}}}",
       "spec.runPolicy.schedulingPolicy.minAvailable", "", ""},
      {kPyTorchJobs, "{pytorchReplicaSpecs: {Master: {}, Wroker: {replicas: 4}}}", "spec.pytorchReplicaSpecs[Wroker]",
       "", ""},
      {kPyTorchJobs, "{elasticPolicy: {minReplicas: 5, maxReplicas: 3}, pytorchReplicaSpecs: {Worker: {replicas: 2}}}",
       "spec.elasticPolicy.maxReplicas", "", ""},
      {kTfJobs, "{tfReplicaSpecs: {PS: {replicas: 1000000}, Worker: {replicas: 1000000}}}", "spec.tfReplicaSpecs", "",
       ""},
      {kMpiJobs, "{mpiReplicaSpecs: {Launcher: {replicas: two}}}", "spec.mpiReplicaSpecs[Launcher].replicas", "", ""},
      {kRayClusters,
       "{workerGroupSpecs: [{groupName: '', minReplicas: 3, maxReplicas: 2}, {groupName: headgroup, replicas: x}, "
       "{groupName: a, numOfHosts: 0}, {groupName: A}]}",
       "spec.workerGroupSpecs[0].maxReplicas, spec.workerGroupSpecs[0].groupName, spec.workerGroupSpecs[1].replicas, "
       "spec.workerGroupSpecs[1].groupName, spec.workerGroupSpecs[2].numOfHosts, spec.workerGroupSpecs[3].groupName",
       "", ""},
      {kRayClusters, "{workerGroupSpecs: [{groupName: a, replicas: 1000000, numOfHosts: 1000000}]}",
       "spec.workerGroupSpecs", "", ""},
      {kRayJobs, "{rayClusterSpec: {workerGroupSpecs: [{}]}}", "spec.rayClusterSpec.workerGroupSpecs[0].groupName", "",
       ""},
  };
  for (const Case& each : cases) {
    const PodGroupReading made = read(each.qualified, each.spec);
    EXPECT_EQ(fields(made.mistakes), each.wrong) << each.spec;
    EXPECT_EQ(fields(made.not_followed), each.not_followed) << each.spec;
    EXPECT_EQ(fields(made.advice), each.advice) << each.spec;
  }
}

// Whatever stands where an object's words are looked for, and in whatever form: it can be used, or is complained of.
TEST(GangOwner, IsReadWhateverItHolds) {
  const char* const kValues[] = {"null",   "0",    "-1",   "1",  "2147483648", "9223372036854775807",
                                 "1.5",    "'x'",  "true", "[]", "{}",         "[1]",
                                 "{a: b}", "[{}]", "[[]]"};
  const char* const kSpecs[] = {
      "@",
      "{leaderWorkerTemplate: @}",
      "{leaderWorkerTemplate: {size: @}}",
      "{startupPolicy: @, leaderWorkerTemplate: {size: @}}",
      "{pytorchReplicaSpecs: @, tfReplicaSpecs: @, mpiReplicaSpecs: @, runPolicy: @}",
      "{enableInTreeAutoscaling: @, workerGroupSpecs: @, rayClusterSpec: @}",
      "{workerGroupSpecs: [@, @], rayClusterSpec: {workerGroupSpecs: [@]}}",
      "{enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: @, replicas: @, minReplicas: @, maxReplicas: @, "
      "numOfHosts: @, suspend: @}, {groupName: b, replicas: @}]}",
      "{workerGroupSpecs: [{groupName: a, replicas: @, maxReplicas: 3, numOfHosts: 2147483647}, {groupName: b, "
      "minReplicas: @}]}",
      "{pytorchReplicaSpecs: {Worker: @}, mpiReplicaSpecs: {Launcher: @, Worker: @}, elasticPolicy: @}",
      "{pytorchReplicaSpecs: {Worker: {replicas: @}, Master: {replicas: @}}, elasticPolicy: {minReplicas: @}, "
      "runPolicy: "
      "{schedulingPolicy: {minAvailable: @, queue: @}}}",
      "{mpiReplicaSpecs: {Worker: {replicas: @}, Launcher: {replicas: @}}, launcherCreationPolicy: "
      "WaitForWorkersReady, "
      "runPolicy: {schedulingPolicy: {minAvailable: @}}}",
  };
  for (const GangOwnerKind& kind : gang_owner_kinds()) {
    for (const std::string form : kSpecs) {
      for (const std::string value : kValues) {
        std::string spec = form;
        for (std::size_t at = 0; (at = spec.find('@', at)) != std::string::npos; at += value.size())
          spec.replace(at, 1, value);
        const PodGroupReading made = read(kind.qualified, spec);
        EXPECT_GE(made.spec.at_least, 1) << kind.kind << spec;
        EXPECT_LE(made.spec.at_least, kPodsPerWorkloadMax) << kind.kind << spec;
        for (const auto& [task, count] : made.spec.of_tasks) EXPECT_GE(count, 0) << kind.kind << spec;
        for (const auto& [task, count] : made.spec.apart) EXPECT_GE(count, 0) << kind.kind << spec;
        read_pod_group(kind.qualified, object("{metadata: " + value + ", spec: " + value + "}"));
      }
    }
  }
}

}  // namespace berth::gang_owner_test
