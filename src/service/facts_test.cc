#include "service/facts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/yaml.h"

namespace berth::facts_test {

Value object(const std::string& yaml) {
  const auto documents = parse_yaml(yaml);
  return documents && !documents->empty() ? documents->front() : Value();
}

Value pod(const std::string& spec, const std::string& annotations = "{}", const std::string& labels = "{}") {
  return object("{metadata: {uid: u, namespace: d, name: p, creationTimestamp: '1970-01-01T00:00:10Z', annotations: " +
                annotations + ", labels: " + labels + "}, spec: " + spec + "}");
}

TEST(PodFacts, OfQueuesOnesOwnGoesBeforeKueuesAndThatBeforeVolcanos) {
  struct Case {
    const char* annotations;
    const char* labels;
    const char* queue;
    const char* local_queue;
  };
  const Case cases[] = {
      {"{}", "{}", "default", ""},
      {"{}", "{kueue.x-k8s.io/queue-name: main}", "localqueue/d/main", "main"},
      {"{scheduling.volcano.sh/queue-name: v}", "{}", "volcano/v", ""},
      {"{scheduling.volcano.sh/queue-name: v}", "{kueue.x-k8s.io/queue-name: main}", "localqueue/d/main", "main"},
      {"{scheduling.volcano.sh/queue-name: v}", "{kueue.x-k8s.io/queue-name: main, berth.dev/queue: own}", "own", ""},
  };
  for (const Case& each : cases) {
    const PodFacts facts = read_pod(pod("{}", each.annotations, each.labels));
    EXPECT_EQ(facts.queue, each.queue);
    EXPECT_EQ(facts.local_queue, each.local_queue);
  }
  EXPECT_EQ(read_pod(pod("{}", "{}", "{kueue.x-k8s.io/priority-class: urgent}")).priority_class, "urgent");
}

// To be moved is to be made anew elsewhere, and so is for those whom something makes.
TEST(PodFacts, ConsentToBeingMoved) {
  struct Case {
    const char* what;
    const char* movable;
    const char* owners;
    bool consents;
    const char* problem;
  };
  const char* const job = "[{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]";
  const Case cases[] = {
      {"of a Job", "'true'", job, true, ""},
      {"of a Job that does not consent", "'false'", job, false, ""},
      {"by itself, and does not consent", "'false'", "[]", false, ""},
      {"by itself", "'true'", "[]", false,
       "annotation berth.dev/movable: nothing would make this pod anew elsewhere; let a Job make it, or leave it out"},
      {"what that is to mean", "'yes'", job, false, "annotation berth.dev/movable: write true, or leave it out"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    const PodFacts facts = read_pod(object(
        "{metadata: {name: p, namespace: d, uid: x, annotations: {berth.dev/movable: " + std::string(each.movable) +
        ", berth.dev/moved-at: '1970-01-01T00:00:05Z'}, "
        "ownerReferences: " +
        each.owners + "}, spec: {}}"));
    EXPECT_EQ(facts.terms.movable, each.consents);
    EXPECT_EQ(facts.problem, each.problem);
    EXPECT_EQ(facts.moved_at, Time{5000});
  }
}

TEST(PodFacts, AddUpWhatItsContainersAsk) {
  struct Case {
    const char* what;
    const char* spec;
    std::int64_t cpu_milli, memory_bytes;
    std::int32_t gpus;
  };
  const Case cases[] = {
      {"nothing", "{containers: [{}]}", 0, 0, 0},
      {"two", "{containers: [{resources: {requests: {cpu: '1', memory: 1Ki}}}, {resources: {requests: {cpu: 500m}}}]}",
       1500, 1024, 0},
      {"a larger start",
       "{containers: [{resources: {requests: {cpu: '1'}}}], initContainers: [{resources: {requests: {cpu: '4'}}}]}",
       4000, 0, 0},
      {"one that stays",
       "{containers: [{resources: {requests: {cpu: '1'}}}], initContainers: [{restartPolicy: Always, resources: "
       "{requests: {cpu: '4'}}}, {resources: {requests: {cpu: '2'}}}]}",
       6000, 0, 0},
      {"GPUs", "{containers: [{resources: {requests: {nvidia.com/gpu: '2'}}}]}", 0, 0, 2},
  };
  for (const Case& c : cases) {
    const PodFacts facts = read_pod(pod(c.spec));
    EXPECT_EQ(facts.request.cpu_milli, c.cpu_milli) << c.what;
    EXPECT_EQ(facts.request.memory_bytes, c.memory_bytes) << c.what;
    EXPECT_EQ(facts.request.gpus, c.gpus) << c.what;
    EXPECT_EQ(facts.problem, "") << c.what;
  }
}

TEST(PodFacts, SayWhatIsNotFollowed) {
  struct Case {
    const char* spec;
    const char* annotations;
    const char* problem;
  };
  const Case cases[] = {
      {"{nodeSelector: {disk: ssd}}", "{}", ""},
      {"{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: rack, operator: Near}]}]}}}}",
       "{}", "a node affinity has the operator 'Near'; write In, NotIn, Exists, DoesNotExist, Gt or Lt"},
      {"{}", "{berth.dev/exclusive-topology: a rack}",
       "annotation berth.dev/exclusive-topology: 'a rack' is no label; write one that nodes have, as in "
       "example.com/rack"},
      {"{}", "{berth.dev/topology: rack}",
       "annotation berth.dev/topology: 'rack' is no topology; write required:LABEL or preferred:LABEL, with a label of "
       "nodes"},
      {"{}", "{berth.dev/parallelism: 'tp=8'}",
       "annotation berth.dev/parallelism: parallel sizes are of whole GPUs; request nvidia.com/gpu, or leave it out"},
      {"{containers: [{resources: {requests: {nvidia.com/gpu: '1'}}}]}", "{berth.dev/parallelism: '8'}",
       "annotation berth.dev/parallelism: '8' are no parallel sizes; write some such as tp=8,pp=4,dp=16, for how many "
       "GPUs share a tensor, how many stages there are, and how many replicas"},
      {"{containers: [{resources: {requests: {nvidia.com/gpu: '1'}}}]}",
       "{berth.dev/parallelism: 'tp=8', berth.dev/slice: '8:rack'}",
       "annotation berth.dev/parallelism: it says which pods are beside each other, and so does a slice; leave one of "
       "them out"},
      {"{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{}]}}}", "{}",
       "a pod affinity has no topologyKey; write a label of nodes, such as rack"},
      {"{containers: [{ports: [{hostPort: 80}]}]}", "{}", ""},
      {"{containers: [{ports: [{hostPort: 80}]}]}", "{berth.dev/topology: 'required:rack'}",
       "an annotation asks places for all its pods together, and its spec says by each pod who may be around; leave "
       "the "
       "annotation out, or pod affinity, topologySpreadConstraints and host ports"},
      {"{volumes: [{persistentVolumeClaim: {claimName: c}}]}", "{}",
       "it asks for a persistentVolumeClaim, which is not followed yet; leave it out"},
      {"{containers: [{resources: {requests: {example.com/fpga: '1'}}}]}", "{}",
       "it asks example.com/fpga, which is not scheduled by yet; leave the request out"},
      {"{containers: [{resources: {requests: {nvidia.com/gpu: '65'}}}]}", "{}",
       "it asks more than any machine has: at most 50,000 cores, a PiB of memory and 64 GPUs a pod"},
      {"{containers: [{resources: {requests: {nvidia.com/gpu: '2'}}}]}", "{berth.dev/gpu-milli: '500'}",
       "annotation berth.dev/gpu-milli: a part of a GPU goes with limits of exactly nvidia.com/gpu: 1; the pod asks "
       "for 2"},
      {"{containers: [{resources: {requests: {nvidia.com/gpu: '2'}}}]}", "{gpu-fraction: '0.5', gpu-memory: '9'}",
       "annotation gpu-memory: a pod asks one part of one GPU, and it has the annotation gpu-fraction, too; write one "
       "of them; annotation gpu-fraction: a pod asks a part of one GPU by this annotation alone, and it asks "
       "nvidia.com/gpu, too; leave that out, or ask them by two pods"},
  };
  for (const Case& c : cases) EXPECT_EQ(read_pod(pod(c.spec, c.annotations)).problem, c.problem) << c.spec;
}

TEST(PodFacts, KnowGroupsModelsFractionsAndRunLimits) {
  const PodFacts facts = read_pod(pod(
      "{activeDeadlineSeconds: 60, containers: [{resources: {requests: {nvidia.com/gpu: '1'}}}]}",
      "{berth.dev/pod-group-size: '4', berth.dev/gpu-milli: '250', berth.dev/gpu-models: 'H100|NVIDIA-A100-SXM4-80GB'}",
      "{berth.dev/pod-group: g, berth.dev/queue: research}"));
  EXPECT_EQ(facts.group, "d/g/");
  EXPECT_EQ(facts.group_size, 4);
  EXPECT_EQ(facts.queue, "research");
  EXPECT_EQ(facts.request.gpu_milli, 250);
  EXPECT_EQ(facts.gpu_models, (std::vector<std::string>{"H100", "A100-80GB"}));
  EXPECT_EQ(facts.run, seconds(60));
  EXPECT_EQ(facts.terms.run_limit, seconds(60));
  EXPECT_EQ(facts.created, Time{10'000});
  EXPECT_NE(read_pod(pod("{}", "{}", "{berth.dev/pod-group: g}")).problem, "");
}

TEST(PodFacts, KnowRanksReadinessAndWhoEndsThem) {
  const auto read = [](const std::string& metadata, const std::string& more = "spec: {}") {
    return read_pod(object("{metadata: {uid: u, namespace: d, name: p, " + metadata + "}, " + more + "}"));
  };
  const std::string job = "ownerReferences: [{kind: Job, name: j, uid: job, controller: true}], ";
  const std::string set = "ownerReferences: [{kind: ReplicaSet, name: s, uid: set, controller: true}], ";
  EXPECT_EQ(read("labels: {training.kubeflow.org/replica-index: '3'}").number, 3);
  EXPECT_EQ(read("labels: {leaderworkerset.sigs.k8s.io/worker-index: '2'}").number, 2);
  EXPECT_EQ(read("annotations: {volcano.sh/task-index: '4'}").number, 4);
  EXPECT_EQ(read("labels: {jobset.sigs.k8s.io/job-global-index: '5'}").job_number, 5);
  EXPECT_TRUE(read("labels: {training.kubeflow.org/replica-type: master}").leads);
  EXPECT_TRUE(read("labels: {ray.io/node-type: head}").leads);
  EXPECT_TRUE(read("labels: {leaderworkerset.sigs.k8s.io/worker-index: '0'}").leads);
  EXPECT_FALSE(read("labels: {training.kubeflow.org/replica-type: worker}").leads);
  EXPECT_EQ(read("annotations: {berth.dev/rank: '7'}").rank, 7U);
  EXPECT_EQ(read("annotations: {}", "spec: {hostname: h, subdomain: s}").host_name, "h.s");
  EXPECT_EQ(read("annotations: {}", "spec: {subdomain: s}").host_name, "p.s");
  EXPECT_EQ(read("annotations: {}", "spec: {hostname: h}").host_name, "");
  EXPECT_TRUE(read("labels: {}", "status: {conditions: [{type: Ready, status: 'True'}]}").ready);
  EXPECT_FALSE(read("labels: {}", "status: {conditions: [{type: Ready, status: 'False'}]}").ready);
  EXPECT_EQ(read("annotations: {berth.dev/pod-set: workers-0}").pod_set, "workers-0");
  EXPECT_NE(read("annotations: {berth.dev/pod-set: 'a b'}").problem, "");

  EXPECT_EQ(read(set + "annotations: {berth.dev/never-ready: 5m}").problem, "");
  EXPECT_EQ(read(job + "annotations: {berth.dev/never-ready: 5m 3}").problem, "");
  EXPECT_EQ(read("annotations: {berth.dev/never-ready: 5m}").problem,
            "annotation berth.dev/never-ready: nothing would make this pod anew; let a Job make it, or leave it out");
  EXPECT_EQ(
      read(set + "annotations: {berth.dev/never-ready: 5m 3}").problem,
      "annotation berth.dev/never-ready: how often it is tried again is said of Jobs alone; write how long, as in 5m");
  const PodFacts limited = read(job + "annotations: {berth.dev/run-limit: 4h, berth.dev/extended: 30m 2}");
  EXPECT_TRUE(limited.ends_by_scheduler);
  EXPECT_EQ(limited.terms.run_limit, seconds(4 * 3600 + 1800));
  EXPECT_EQ(limited.extensions, 2);
  const PodFacts by_node = read(job + "annotations: {berth.dev/run-limit: 4h}", "spec: {activeDeadlineSeconds: 60}");
  EXPECT_FALSE(by_node.ends_by_scheduler) << "the shorter holds";
  EXPECT_EQ(by_node.terms.run_limit, seconds(60));
  EXPECT_EQ(
      read(set + "annotations: {berth.dev/run-limit: 4h}").problem,
      "annotation berth.dev/run-limit: it is of Jobs, which are ended then; write activeDeadlineSeconds in the spec "
      "of the pod");
}

TEST(PodFacts, OfAGroupKnowWhatItBelongsTo) {
  const auto in_group = [](const std::string& metadata) {
    return read_pod(object("{metadata: {uid: u, namespace: d, name: p, " + metadata + "}, spec: {}}"));
  };
  const std::string owned = "ownerReferences: [{kind: Job, name: j, uid: job, controller: true}], ";
  const std::string sized = "annotations: {berth.dev/pod-group-size: '2'";
  const std::string labelled = "labels: {berth.dev/pod-group: g}, ";
  EXPECT_EQ(in_group(labelled + sized + "}").group, "d/g/");
  EXPECT_EQ(in_group(owned + labelled + sized + "}").group, "d/g/job");
  const PodFacts facts = in_group(owned + labelled + sized + ", berth.dev/pod-group-uid: set}");
  EXPECT_EQ(facts.group, "d/g/set") << "its pods have several owners";
  EXPECT_EQ(facts.maker_uid, "set");
  EXPECT_EQ(facts.owner.uid, "job") << "who is told of it";
  const PodFacts alone = in_group(owned + sized + ", berth.dev/pod-group-uid: set}");
  EXPECT_EQ(alone.group, "");
  EXPECT_EQ(alone.maker_uid, "job");
}

TEST(PodFacts, KnowTheTermsOnWhichItRuns) {
  const PodFacts plain = read_pod(pod("{}", "{}", "{}"));
  EXPECT_EQ(plain.terms, (Terms{.grace = seconds(30)}));
  EXPECT_EQ(plain.queued, plain.created);
  const PodFacts facts = read_pod(pod("{priority: 7, preemptionPolicy: Never, terminationGracePeriodSeconds: 90}",
                                      "{berth.dev/coverage: guaranteed, berth.dev/checkpoint: '1970-01-01T00:00:04Z', "
                                      "berth.dev/queued-at: '1970-01-01T00:00:02Z'}",
                                      "{}"));
  EXPECT_EQ(facts.terms, (Terms{.priority = 7, .preempts = false, .guaranteed_only = true, .grace = seconds(90)}));
  EXPECT_EQ(facts.checkpoint, Time{4000});
  EXPECT_EQ(facts.queued, Time{2000});
  EXPECT_TRUE(read_pod(pod("{}", "{berth.dev/coverage: best-effort}", "{}")).terms.best_effort);
  EXPECT_NE(read_pod(pod("{}", "{berth.dev/coverage: some}", "{}")).problem, "");
  const std::string told = "status: {conditions: [{type: DisruptionTarget, status: 'True', reason: ";
  const std::string leaves = "{metadata: {deletionTimestamp: '1970-01-01T00:00:09Z'}, spec: {nodeName: n1}, " + told;
  EXPECT_EQ(read_pod(object(leaves + "PreemptionByScheduler}]}}")).leaving_until, Time{9000});
  EXPECT_EQ(read_pod(object(leaves + "EvictionByEvictionAPI}]}}")).leaving_until, std::nullopt) << "whoever deletes it";
  EXPECT_EQ(read_pod(object("{spec: {nodeName: n1}, " + told + "PreemptionByScheduler}]}}")).leaving_until,
            std::nullopt);
}

TEST(PodFacts, KnowWhatIsAskedOfWhatNodesPromiseMoreThanOnce) {
  const auto asking = [](const std::string& requests, const std::string& annotations = "{}") {
    return read_pod(pod("{containers: [{resources: {requests: {" + requests + "}}}]}", annotations));
  };
  const PodFacts facts = asking("kubernetes.io/batch-cpu: '1500', kubernetes.io/batch-memory: 2Gi");
  EXPECT_EQ(facts.problem, "");
  EXPECT_TRUE(facts.request.in_extra && facts.terms.best_effort);
  EXPECT_EQ(facts.request.cpu_milli, 1500);
  EXPECT_EQ(facts.request.memory_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(asking("kubernetes.io/batch-cpu: 4k").request.cpu_milli, 4000);
  const PodFacts plain = asking("cpu: 2", "{berth.dev/coverage: best-effort}");
  EXPECT_TRUE(plain.terms.best_effort && !plain.request.in_extra) << "its kubelet counts it";
  EXPECT_NE(asking("kubernetes.io/batch-cpu: '1', memory: 1Gi").problem.find("ask all of it in one of the two ways"),
            std::string::npos);
  EXPECT_NE(asking("kubernetes.io/batch-cpu: '1'", "{berth.dev/coverage: guaranteed}").problem.find("is best effort"),
            std::string::npos);
}

TEST(PodFacts, KnowInWhoseNameItRunsAndWhatOnesLeftBehindUsed) {
  EXPECT_EQ(read_pod(pod("{}", "{berth.dev/user: ann}", "{}")).user, "ann");
  EXPECT_EQ(read_pod(pod("{}", "{}", "{}")).user, "of namespace d (its pods name none)");
  const PodFacts ended = read_pod(
      object("{spec: {nodeName: n1}, status: {phase: Failed, containerStatuses: [{state: {terminated: {finishedAt: "
             "'1970-01-01T00:00:07Z'}}}, {state: {terminated: {finishedAt: '1970-01-01T00:00:09Z'}}}], "
             "conditions: [{type: berth.dev/BestEffort, status: 'True'}]}}"));
  EXPECT_EQ(ended.ended_at, Time{9000});
  EXPECT_TRUE(ended.terms.best_effort);
}

TEST(QueueFacts, KnowWhatTheLastSchedulerWroteDown) {
  const QueueRecord record =
      read_queue(object("{metadata: {name: q, uid: u}, status: {asOf: '1970-01-01T00:00:05.250000Z', budget: "
                        "{used: '12.5', reserved: '1', left: '2', grants: [{until: "
                        "'1970-01-01T01:00:00Z', used: '2.5'}]}, pastUse: {h100: 3500m, h100.memory: 2Mi}, "
                        "conditions: [{type: Stopped, status: 'True', reason: Drained, "
                        "lastTransitionTime: '1970-01-01T00:00:03Z'}]}}"))
          .record;
  constexpr std::int64_t kGpuHour = 3'600'000'000;
  EXPECT_EQ(record.as_of, Time{5250});
  EXPECT_EQ(record.used_gpu_us, 10 * kGpuHour) << "without its grants";
  EXPECT_EQ(record.of_grants.at(Time{3'600'000}), kGpuHour * 5 / 2);
  EXPECT_EQ(record.past_use,
            (std::vector<FlavorAmount>{{"h100", Resource::kGpu, 3500}, {"h100", Resource::kMemory, 2}}));
  ASSERT_EQ(record.conditions.size(), 1u);
  EXPECT_EQ(record.conditions[0].since, Time{3000});
  EXPECT_EQ(read_queue(object("{metadata: {name: q}}")).record.as_of, std::nullopt);
  EXPECT_EQ(read_queue(object("{status: {asOf: soon, budget: {used: much}}}")).record.used_gpu_us, 0);
}

TEST(PodFacts, KnowTheStageOfAPod) {
  struct Case {
    const char* pod;
    PodStage stage;
  };
  const Case cases[] = {
      {"{metadata: {}, spec: {}}", PodStage::kWaiting},
      {"{metadata: {}, spec: {schedulingGates: [{name: g}]}}", PodStage::kGated},
      {"{metadata: {deletionTimestamp: x}, spec: {}}", PodStage::kGated},
      {"{metadata: {deletionTimestamp: x}, spec: {nodeName: n1}}", PodStage::kBound},
      {"{metadata: {}, spec: {nodeName: n1}, status: {phase: Succeeded}}", PodStage::kSucceeded},
      {"{metadata: {}, spec: {nodeName: n1}, status: {phase: Failed}}", PodStage::kFailed},
  };
  for (const Case& c : cases) EXPECT_EQ(read_pod(object(c.pod)).stage, c.stage) << c.pod;
}

TEST(NodeFacts, KnowTheMachineAndWhetherItIsOpen) {
  const std::string ready = "conditions: [{type: Ready, status: 'True'}]";
  const std::string amounts = "allocatable: {cpu: '8', memory: 1Gi, pods: '10', nvidia.com/gpu: '4'}";
  const NodeFacts facts =
      read_node(object("{metadata: {name: n, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, "
                       "nvidia.com/gpu.memory: '81559'}}, status: {" +
                       amounts + ", " + ready + "}}"));
  EXPECT_EQ(facts.cpu_milli, 8000);
  EXPECT_EQ(facts.gpus, 4);
  EXPECT_EQ(facts.gpu_memory_mib, 81'559);
  EXPECT_EQ(facts.pods_max, 10);
  EXPECT_TRUE(facts.open);
  EXPECT_EQ(facts.problem, "");
  const std::string closed[] = {
      "{metadata: {name: n1}, status: {}}",
      "{metadata: {name: n1}, spec: {unschedulable: true}, status: {" + ready + "}}",
      "{metadata: {name: n1}, spec: {taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}, status: {" +
          ready + "}}",
      "{metadata: {name: n1}, spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]}, status: {" +
          ready + "}}",
      "{metadata: {name: n1}, status: {conditions: [{type: Ready, status: Unknown}]}}",
  };
  for (const std::string& node : closed) {
    EXPECT_FALSE(read_node(object(node)).open) << node;
    EXPECT_TRUE(read_node(object(node)).says.taints.empty()) << node;
  }
  EXPECT_NE(read_node(object("{metadata: {name: n}, status: {allocatable: {cpu: lots}}}")).problem, "");
  EXPECT_NE(read_node(object("{metadata: {name: n}, status: {allocatable: {nvidia.com/gpu: '65'}}}")).problem, "");
}

TEST(NodeFacts, KnowHowItWasCutBeforehand) {
  const auto cut = [](const std::string& amounts) {
    return read_node(
        object("{metadata: {name: n, labels: {nvidia.com/gpu.product: A30, nvidia.com/gpu.count: '2'}}, "
               "status: {allocatable: {" +
               amounts + "}}}"));
  };
  const NodeFacts halves = cut("nvidia.com/mig-2g.12gb: '4'");
  EXPECT_EQ(halves.gpus, 2);
  EXPECT_EQ(halves.sharing, Sharing::kMig);
  EXPECT_EQ(halves.fixed_slices.size(), 2);
  EXPECT_TRUE(halves.same_machine(cut("nvidia.com/mig-2g.12gb: '4', cpu: '0'")));
  EXPECT_FALSE(halves.same_machine(cut("nvidia.com/mig-2g.12gb: '2'")));
  const NodeFacts uneven = cut("nvidia.com/mig-2g.12gb: '3'");
  EXPECT_EQ(uneven.gpus, 0);
  EXPECT_EQ(uneven.unused_slices, std::vector<std::string>{"nvidia.com/mig-2g.12gb"});
  EXPECT_EQ(uneven.why_unused, "status.allocatable nvidia.com/mig-2g.12gb: 3 on 2 GPUs; cut all GPUs of a node alike");
  EXPECT_FALSE(uneven.same_machine(cut("nvidia.com/mig-2g.12gb: '1'")));
}

TEST(NodeFacts, KnowWhatItSaysOfItself) {
  const NodeFacts facts = read_node(object(
      "{metadata: {name: n, labels: {zone: z1, rack: r1}}, spec: {taints: [{key: team, value: a, effect: NoSchedule}, "
      "{key: node.kubernetes.io/not-ready, effect: PreferNoSchedule}]}, status: {conditions: [{type: Ready, status: "
      "'True'}]}}"));
  EXPECT_EQ(facts.says.labels, (Labels{{"rack", "r1"}, {"zone", "z1"}}));
  EXPECT_EQ(facts.says.taints, (std::vector<Taint>{{"team", "a", TaintEffect::kNoSchedule}}));
  EXPECT_TRUE(facts.open) << "whoever tolerates it may go there";
}

TEST(PodFacts, KnowWhereItMayBe) {
  const PodFacts plain = read_pod(pod(
      "{containers: [{resources: {requests: {nvidia.com/gpu: '1'}}}], nodeSelector: {nvidia.com/gpu.product: H100}, "
      "tolerations: [{key: node.kubernetes.io/not-ready, operator: "
      "Exists, effect: NoExecute, tolerationSeconds: 300}, {key: node.kubernetes.io/unreachable, operator: Exists}]}"));
  EXPECT_EQ(plain.constraints, NodeConstraints()) << "what all pods have makes nobody special";
  EXPECT_TRUE(plain.topology.asks_nothing());
  EXPECT_EQ(read_pod(pod("{nodeSelector: {nvidia.com/gpu.product: H100}}")).constraints.select,
            (std::vector<LabelRequirement>{{"nvidia.com/gpu.product", LabelOperator::kIn, {"H100"}}}));
  const PodFacts choosy = read_pod(
      pod("{nodeSelector: {rack: r1}, tolerations: [{operator: Exists}]}", "{berth.dev/topology: 'required:rack'}"));
  EXPECT_EQ(choosy.constraints,
            (NodeConstraints{.select = {{"rack", LabelOperator::kIn, {"r1"}}}, .tolerations = {{.any_value = true}}}));
  EXPECT_EQ(choosy.topology, (Topology{.together = Togetherness::kRequired, .level = "rack"}));
  EXPECT_EQ(
      read_pod(pod("{initContainers: [{image: 'reg:5000/base'}], containers: [{image: trainer}, {image: 'a/b:1'}, "
                   "{image: 'c@sha256:00'}, {}]}"))
          .images,
      (std::vector<std::string>{"reg:5000/base:latest", "trainer:latest", "a/b:1", "c@sha256:00"}));
  EXPECT_EQ(read_node(object("{metadata: {name: n}, status: {images: [{names: [b:1, 'b@sha256:0'], sizeBytes: 7}, "
                             "{names: [a:1], sizeBytes: -1}, {names: [b:1], sizeBytes: 8}]}}"))
                .images,
            (std::vector<NodeImage>{{"a:1", 0}, {"b:1", 7}, {"b@sha256:0", 7}}));
  const std::string gpu = "{containers: [{resources: {requests: {nvidia.com/gpu: '1'}}}]}";
  EXPECT_EQ(read_pod(pod(gpu, "{berth.dev/exclusive-topology: kubernetes.io/hostname}")).exclusive_level, "node");
  EXPECT_EQ(read_pod(pod("{}", "{berth.dev/exclusive-topology: rack}")).exclusive_level, "") << "it asks no GPUs";
  const PodFacts sharing =
      read_pod(pod("{containers: [{resources: {requests: {nvidia.com/gpu: '8'}}}]}",
                   "{berth.dev/parallelism: 'tp=8,dp=2', batch.kubernetes.io/job-completion-index: '1'}"));
  EXPECT_EQ(sharing.problem, "");
  EXPECT_EQ(sharing.parallel, (Parallelism{8, 1, 2}));
  EXPECT_EQ(sharing.number, 1);
  EXPECT_EQ(read_pod(pod("{containers: [{ports: [{hostPort: 80}]}]}")).neighbours.ports,
            (std::vector<HostPort>{{.port = 80}}));
}

TEST(FlavorFacts, KnowTheirNodes) {
  const FlavorFacts spot =
      read_flavor(object("{metadata: {name: Spot}, spec: {gpuModel: NVIDIA-H100-80GB-HBM3, memoryMiB: 80, nodeLabels: "
                         "{tier: spot}, weight: 3}}"));
  EXPECT_EQ(spot.name, "spot");
  EXPECT_EQ(spot.weight, 3);
  NodeFacts node;
  node.gpus = 8;
  node.gpu_model = "H100";
  node.gpu_memory_mib = 80;
  EXPECT_FALSE(spot.has(node)) << "without the label";
  node.labels = object("{tier: spot, zone: a}");
  EXPECT_TRUE(spot.has(node));
  node.gpu_memory_mib = 40;
  EXPECT_FALSE(spot.has(node));
  node.gpu_memory_mib = 80;
  node.gpu_model = "A100";
  EXPECT_FALSE(spot.has(node));
}

TEST(BudgetFacts, ProtectUnlessAllMayGo) {
  const auto protects = [](const std::string& spec) {
    return read_budget(
               object("{metadata: {name: b, namespace: d}, spec: {selector: {matchLabels: {a: b}}, " + spec + "}}"))
        .protects;
  };
  EXPECT_TRUE(protects("maxUnavailable: 0"));
  EXPECT_TRUE(protects("maxUnavailable: 50%"));
  EXPECT_FALSE(protects("maxUnavailable: 100%"));
  EXPECT_TRUE(protects("minAvailable: 1"));
  EXPECT_FALSE(protects("minAvailable: 0"));
  EXPECT_FALSE(protects("minAvailable: 0%"));
  EXPECT_TRUE(
      read_budget(object("{metadata: {name: b}, spec: {selector: {}, minAvailable: 1}}")).pods.matches(Value()));
}

TEST(PodFacts, KnowTheSliceThatItAsks) {
  const auto asking = [](const std::string& amounts, const std::string& more = "") {
    return read_pod(pod("{containers: [{resources: {requests: {" + amounts + "}}}" + more + "]}"));
  };
  const PodFacts one = asking("nvidia.com/mig-1g.10gb.me: '1', cpu: '2'");
  EXPECT_EQ(one.problem, "");
  EXPECT_EQ(one.slice, "1g.10gb+me");
  EXPECT_EQ(one.request.gpus, 1);
  EXPECT_EQ(one.request.cpu_milli, 2000);
  EXPECT_EQ(asking("nvidia.com/mig-1g.10gb: '0'").slice, "") << "it asks none";
  EXPECT_EQ(read_pod(pod("{containers: [{resources: {requests: {nvidia.com/mig-1g.10gb: '1'}}}], initContainers: "
                         "[{resources: {requests: {nvidia.com/mig-1g.10gb: '1'}}}]}"))
                .problem,
            "")
      << "one after the other";
  struct Case {
    const char* amounts;
    const char* more;
    const char* problem;
  };
  const Case cases[] = {
      {"nvidia.com/mig-1g.10gb: '1'", ", {resources: {requests: {nvidia.com/mig-1g.10gb: '1'}}}",
       "a pod asks one slice, and it asks 2 of nvidia.com/mig-1g.10gb; ask 1 each by 2 pods, as of a Job with "
       "parallelism: 2"},
      {"nvidia.com/mig-1g.10gb: '1'", ", {resources: {requests: {nvidia.com/gpu: '1'}}}",
       "a pod asks whole GPUs or one slice, and it asks nvidia.com/gpu and nvidia.com/mig-1g.10gb; ask them by two "
       "pods"},
      {"nvidia.com/mig-1g.10g: '1'", "",
       "it asks nvidia.com/mig-1g.10g: no GPU model that is known can be cut into it; did you mean "
       "nvidia.com/mig-1g.10gb?"},
  };
  for (const Case& each : cases) EXPECT_EQ(asking(each.amounts, each.more).problem, each.problem);
  EXPECT_EQ(read_pod(pod("{containers: [{resources: {requests: {nvidia.com/mig-1g.10gb: '1'}}}]}",
                         "{berth.dev/gpu-milli: '500'}"))
                .problem,
            "annotation berth.dev/gpu-milli: a part of a GPU goes with limits of exactly nvidia.com/gpu: 1; the pod "
            "asks for 0");
  const PodFacts given = read_pod(
      object("{metadata: {uid: u, name: p, annotations: {berth.dev/gpus: '0:1g.10gb@4'}}, spec: {nodeName: n1}}"));
  EXPECT_EQ(given.given, (GivenGpus{GpuSet::from_bits(1), "1g.10gb", 4}));
}

TEST(PodFacts, KnowThePartThatItAsks) {
  struct Case {
    const char* what;
    const char* amounts;
    const char* annotations;
    PodRequest request;
  };
  const Case cases[] = {
      {"by KAI's word", "", "gpu-fraction: '0.5'", {.gpus = 1, .gpu_milli = 500}},
      {"by memory", "", "gpu-memory: '20000'", {.gpus = 1, .gpu_milli = 0, .gpu_memory_mib = 20'000}},
      {"of MPS",
       "",
       "gpu-fraction: '0.25', berth.dev/gpu-sharing: mps",
       {.gpus = 1, .gpu_milli = 250, .sharing = Sharing::kMps}},
      {"a replica",
       "nvidia.com/gpu.shared: '1'",
       "berth.dev/coverage: best-effort",
       {.gpus = 1, .gpu_milli = 1000, .sharing = Sharing::kTimeslice}},
      {"a vGPU", "nvidia.com/NVIDIA_A100X-20C: '1'", "", {.gpus = 1, .gpu_milli = 500, .sharing = Sharing::kVgpu}},
      {"best effort has a GPU where it asks one",
       "nvidia.com/gpu: '1'",
       "berth.dev/coverage: best-effort",
       {.gpus = 1, .gpu_milli = 1000}},
  };
  for (const Case& each : cases) {
    const PodFacts facts = read_pod(pod("{containers: [{resources: {requests: {" + std::string(each.amounts) + "}}}]}",
                                        "{" + std::string(each.annotations) + "}"));
    EXPECT_EQ(facts.problem, "") << each.what;
    EXPECT_EQ(facts.request, each.request) << each.what;
  }
  EXPECT_EQ(read_pod(pod("{containers: [{resources: {requests: {nvidia.com/GRID_A100X-20C: '1'}}}]}", "{}")).vgpu,
            "A100X-20C");
  EXPECT_TRUE(
      read_pod(pod("{containers: [{resources: {requests: {nvidia.com/NVIDIA_A10-12Q: '1'}}}]}", "{}"))
          .problem.starts_with("it asks nvidia.com/NVIDIA_A10-12Q: no GPU model that is known has such vGPUs of the "
                               "C-series"));
  // Whoever gave it one that does not say so: it counts for nothing.
  const PodFacts foreign = read_pod(pod("{containers: [{resources: {requests: {nvidia.com/gpu.shared: '1'}}}]}", "{}"));
  EXPECT_NE(foreign.problem, "");
  EXPECT_TRUE(foreign.request.is_replica() && foreign.terms.best_effort);
  EXPECT_TRUE(read_pod(pod("{}", "{berth.dev/latency: critical}")).terms.latency_critical);
  EXPECT_FALSE(read_pod(pod("{}", "{}")).terms.latency_critical);
}

}  // namespace berth::facts_test
