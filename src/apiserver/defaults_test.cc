#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/admission_world.h"
#include "apiserver/pod_facts.h"

namespace berth::defaults_test {

struct Filled {
  Value object;
  std::vector<std::string> warnings;
};

Filled filled(const std::string& yaml, Operation operation = Operation::kCreate, User user = {}) {
  Filled result;
  result.object = yaml_object(yaml);
  AdmissionRequest request;
  request.kind = &kind_of(result.object);
  request.operation = operation;
  request.user = std::move(user);
  request.now = Time{1'700'000'000'000};
  request.object = &result.object;
  fill_defaults(request);
  result.warnings = request.warnings;
  return result;
}

struct Case {
  const char* what;
  const char* given;
  const char* expected;
};

void expect_filled(const Case& each) {
  EXPECT_EQ(to_json(filled(each.given).object), to_json(yaml_object(each.expected))) << each.what;
}

TEST(Defaults, APodGetsWhatKubernetesWouldGiveIt) {
  expect_filled(
      {"a pod with a GPU limit",
       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: b, resources: "
       "{limits: {nvidia.com/gpu: '1'}}}], schedulerName: ours}}",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"b",
                 "resources":{"limits":{"nvidia.com/gpu":"1"},"requests":{"nvidia.com/gpu":"1"}},
                 "terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"Always"}],
                 "schedulerName":"ours","restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",
                 "securityContext":{},"enableServiceLinks":true,"tolerations":[
                 {"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
                 {"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},
                 "status":{"phase":"Pending","qosClass":"BestEffort"}})"});
}

TEST(Defaults, KueuesLimitOfARunIsWrittenWhereNodesKeepIt) {
  struct Limited {
    const char* what;
    const char* seconds;
    const char* spec;
    std::int64_t limit_s;
  };
  const Limited cases[] = {{"none of its own", "'60'", "", 60},
                           {"a longer one", "'60'", "activeDeadlineSeconds: 90, ", 60},
                           {"a shorter one", "'60'", "activeDeadlineSeconds: 30, ", 30},
                           {"no number", "soon", "", 0}};
  for (const Limited& each : cases) {
    const std::string pod =
        "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {kueue.x-k8s.io/max-exec-time-seconds: " +
        std::string(each.seconds) + "}}, spec: {" + each.spec + "containers: [{name: c, image: b}]}}";
    EXPECT_EQ(filled(pod).object["spec"]["activeDeadlineSeconds"].integer(), each.limit_s) << each.what;
    EXPECT_EQ(filled(pod, Operation::kUpdate).object["spec"]["activeDeadlineSeconds"].integer(),
              yaml_object(pod)["spec"]["activeDeadlineSeconds"].integer())
        << "a pod that is there keeps what it has";
  }
}

TEST(Defaults, FillingTwiceChangesNothing) {
  const char* const kObjects[] = {
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: 'a/b:v1', ports: "
      "[{containerPort: 1}], livenessProbe: {httpGet: {port: 80}}}], volumes: [{name: v, configMap: {name: m}}]}}",
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {template: {spec: {containers: [{name: c, "
      "image: b}]}}}}",
      "{apiVersion: v1, kind: Namespace, metadata: {name: n}}",
      "{apiVersion: v1, kind: Node, metadata: {name: n}}",
      "{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: x}}",
      "{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, max: {cpu: '1'}}]}}",
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}}",
  };
  for (const char* const object : kObjects) {
    const Value once = filled(object).object;
    EXPECT_EQ(to_json(filled(to_json(once)).object), to_json(once));
    EXPECT_EQ(to_json(filled(to_json(once), Operation::kUpdate).object), to_json(once));
  }
}

TEST(Defaults, ImagesArePulledAccordingToTheirTag) {
  const std::pair<const char*, const char*> cases[] = {
      {"b", "Always"},
      {"b:latest", "Always"},
      {"b:v1", "IfNotPresent"},
      {"host:5000/b", "Always"},
      {"host:5000/b:v1", "IfNotPresent"},
      {"b@sha256:0", "IfNotPresent"},
      {"", "Always"},
  };
  for (const auto& [image, policy] : cases) {
    const Value pod =
        filled("{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, image: '" + std::string(image) + "'}]}}")
            .object;
    EXPECT_EQ(pod["spec"]["containers"].items()[0]["imagePullPolicy"].text(), policy) << image;
  }
}

TEST(Defaults, AGatedPodSaysSo) {
  const Value pod = filled(
                        "{apiVersion: v1, kind: Pod, spec: {containers: [{name: c}], schedulingGates: [{name: g}]}, "
                        "status: {phase: Running}}")
                        .object;
  EXPECT_EQ(to_json(pod["status"]),
            R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","lastProbeTime":null,)"
            R"("lastTransitionTime":"2023-11-14T22:13:20Z","reason":"SchedulingGated",)"
            R"("message":"Scheduling is blocked due to non-empty scheduling gates"}],"qosClass":"BestEffort"})");
}

TEST(Defaults, TolerationsOfItsOwnStayAlone) {
  const std::pair<const char*, std::size_t> cases[] = {
      {"[{operator: Exists}]", 1},
      {"[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]", 2},
      {"[{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}]", 3},
      {"[{key: other, operator: Exists}]", 3},
  };
  for (const auto& [tolerations, count] : cases) {
    const Value pod = filled(std::string("{apiVersion: v1, kind: Pod, spec: {containers: [{name: c}], tolerations: ") +
                             tolerations + "}}")
                          .object;
    EXPECT_EQ(pod["spec"]["tolerations"].items().size(), count) << tolerations;
  }
}

TEST(Defaults, QualityOfServiceFollowsFromTheAmounts) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "BestEffort"},
      {"{limits: {nvidia.com/gpu: 1}}", "BestEffort"},
      {"{limits: {cpu: 1, memory: 1Gi}}", "Guaranteed"},
      {"{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1000m, memory: 1024Mi}}", "Guaranteed"},
      {"{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}", "Burstable"},
      {"{limits: {cpu: 1}}", "Burstable"},
      {"{requests: {cpu: 1, memory: 1Gi}}", "Burstable"},
  };
  for (const auto& [resources, quality] : cases) {
    const Value pod = filled(std::string("{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, resources: ") +
                             resources + "}]}}")
                          .object;
    EXPECT_EQ(pod["status"]["qosClass"].text(), quality) << resources;
  }
}

TEST(Defaults, AJobGetsASelectorAndLabelsOfItsOwn) {
  const Value job = filled(
                        "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u-1}, spec: {template: {spec: "
                        "{restartPolicy: Never, containers: [{name: c, image: b}]}}}}")
                        .object;
  const std::string labels =
      R"({"batch.kubernetes.io/controller-uid":"u-1","batch.kubernetes.io/job-name":"j","controller-uid":"u-1","job-name":"j"})";
  EXPECT_EQ(to_json(job["metadata"]["labels"]), labels);
  EXPECT_EQ(to_json(job["spec"]["template"]["metadata"]["labels"]), labels);
  Value rest = job["spec"];
  rest.erase("template");
  EXPECT_EQ(rest,
            yaml_object("{parallelism: 1, completions: 1, backoffLimit: 6, completionMode: NonIndexed, suspend: false, "
                        "manualSelector: false, podReplacementPolicy: TerminatingOrFailed, selector: {matchLabels: "
                        "{batch.kubernetes.io/controller-uid: u-1}}}"));
  EXPECT_EQ(to_json(job["status"]), "{}");
  EXPECT_EQ(job["spec"]["template"]["spec"]["tolerations"].items().size(), 0U);

  const Value queue = filled(
                          "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {parallelism: 4, "
                          "manualSelector: true, selector: {matchLabels: {a: b}}, template: {}}}")
                          .object;
  EXPECT_TRUE(queue["spec"]["completions"].is_null());
  EXPECT_EQ(to_json(queue["spec"]["selector"]), R"({"matchLabels":{"a":"b"}})");
  EXPECT_TRUE(queue["metadata"]["labels"].is_null());
}

TEST(Defaults, NodesAreNotReadyUntilSomebodySaysOtherwise) {
  const std::string node = "{apiVersion: v1, kind: Node, metadata: {name: n}";
  const User agent{.name = "system:node:n", .uid = "", .groups = {"system:nodes"}, .extra = {}};
  EXPECT_EQ(filled(node + "}").object["spec"]["taints"].items().size(), 1U);
  EXPECT_EQ(filled(node + "}", Operation::kCreate, agent).object["spec"]["taints"].items().size(), 0U);
  EXPECT_EQ(filled(node + "}", Operation::kUpdate).object["spec"]["taints"].items().size(), 0U);
  EXPECT_EQ(
      filled(node + ", status: {conditions: [{type: Ready, status: 'True'}]}}").object["spec"]["taints"].items().size(),
      0U);
}

TEST(Defaults, SmallKindsGetTheirs) {
  const Case cases[] = {
      {"namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: n}}",
       "{apiVersion: v1, kind: Namespace, metadata: {name: n, labels: {kubernetes.io/metadata.name: n}}, spec: "
       "{finalizers: "
       "[kubernetes]}, status: {phase: Active}}"},
      {"secret", "{apiVersion: v1, kind: Secret, data: {a: eA==, b: eQ==}, stringData: {b: 'yes', c: ''}}",
       "{apiVersion: v1, kind: Secret, data: {a: eA==, b: eWVz, c: ''}, type: Opaque}"},
      {"priority class", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1}",
       "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1, preemptionPolicy: PreemptLowerPriority}"},
      {"queue", "{apiVersion: berth.dev/v1alpha1, kind: Queue}",
       "{apiVersion: berth.dev/v1alpha1, kind: Queue, spec: {order: fifo-skip}}"},
      {"queue below another", "{apiVersion: berth.dev/v1alpha1, kind: Queue, spec: {parent: a}}",
       "{apiVersion: berth.dev/v1alpha1, kind: Queue, spec: {parent: a}}"},
      {"event", "{apiVersion: v1, kind: Event}",
       "{apiVersion: v1, kind: Event, source: {}, firstTimestamp: '2023-11-14T22:13:20Z', lastTimestamp: "
       "'2023-11-14T22:13:20Z', type: Normal, count: 1}"},
      {"limits",
       "{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, max: {cpu: 2}, min: {memory: 1Mi}}]}}",
       "{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, max: {cpu: 2}, min: {memory: 1Mi}, "
       "default: {cpu: "
       "2}, defaultRequest: {cpu: 2, memory: 1Mi}}]}}"},
      {"binding",
       "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: r}, subjects: "
       "[{kind: User, name: u}, {kind: ServiceAccount, name: s}]}",
       "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: r, apiGroup: "
       "rbac.authorization.k8s.io}, subjects: [{kind: User, name: u, apiGroup: rbac.authorization.k8s.io}, {kind: "
       "ServiceAccount, name: s}]}"},
  };
  for (const Case& each : cases) expect_filled(each);
  EXPECT_EQ(filled("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {labels: "
                   "{rbac.authorization.k8s.io/aggregate-to-view: 'true'}}}")
                .warnings.size(),
            1U);
}

// kubectl sorts by names that the newer API does not ask for.
TEST(Defaults, AnEventHasItsMomentsUnderTheOlderNames) {
  constexpr const char* kWritten = "2023-11-14T22:13:20Z";  // now
  struct Told {
    const char* what;
    const char* fields;
    const char* first;
    const char* last;
  };
  const Told cases[] = {
      {"no moment", "", kWritten, kWritten},
      {"when it was made", ", metadata: {creationTimestamp: '2023-11-14T20:00:00Z'}", "2023-11-14T20:00:00Z",
       "2023-11-14T20:00:00Z"},
      {"once", ", eventTime: '2023-11-14T21:00:00.700000Z'", "2023-11-14T21:00:00Z", "2023-11-14T21:00:00Z"},
      {"again and again",
       ", eventTime: '2023-11-14T21:00:00.700000Z', series: {count: 3, lastObservedTime: "
       "'2023-11-14T21:05:00.900000Z'}",
       "2023-11-14T21:00:00Z", "2023-11-14T21:05:00Z"},
  };
  for (const Told& each : cases) {
    const Value core = filled("{apiVersion: v1, kind: Event" + std::string(each.fields) + "}").object;
    EXPECT_EQ(core["firstTimestamp"].text(), each.first) << each.what;
    EXPECT_EQ(core["lastTimestamp"].text(), each.last) << each.what;
    const Value newer = filled("{apiVersion: events.k8s.io/v1, kind: Event" + std::string(each.fields) + "}").object;
    EXPECT_EQ(newer["deprecatedFirstTimestamp"].text(), each.first) << each.what;
    EXPECT_EQ(newer["deprecatedLastTimestamp"].text(), each.last) << each.what;
    EXPECT_TRUE(newer["deprecatedSource"].is_map()) << each.what;
  }
  const Value own = filled(
                        "{apiVersion: v1, kind: Event, source: {component: c}, lastTimestamp: '2023-11-14T20:00:00Z', "
                        "eventTime: null}",
                        Operation::kUpdate)
                        .object;
  EXPECT_EQ(own["source"]["component"].text(), "c");
  EXPECT_EQ(own["firstTimestamp"].text(), "2023-11-14T20:00:00Z") << "what it says itself stays";
}

TEST(PodFacts, AmountsAreThoseOfTheWorstMoment) {
  const std::pair<const char*, const char*> cases[] = {
      {"containers: [{resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 500m}}}]", "1500m"},
      {"containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{resources: {requests: {cpu: 3}}}]", "3"},
      {"containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{restartPolicy: Always, resources: "
       "{requests: {cpu: 2}}}]",
       "3"},
      {"containers: [{resources: {requests: {cpu: 1}}}], initContainers: [{restartPolicy: Always, resources: "
       "{requests: {cpu: 2}}}, "
       "{resources: {requests: {cpu: 4}}}]",
       "6"},
      {"containers: [{resources: {requests: {cpu: 1}}}], overhead: {cpu: 250m}", "1250m"},
  };
  for (const auto& [spec, cpu] : cases) {
    EXPECT_EQ(pod_amounts(yaml_object("{" + std::string(spec) + "}"), "requests").at("cpu").to_string(), cpu) << spec;
  }
  EXPECT_EQ(times(*Quantity::parse("1500m"), 0).to_string(), "0");
  EXPECT_EQ(times(*Quantity::parse("1500m"), 7).to_string(), "10500m");
  EXPECT_EQ(times(*Quantity::parse("1Gi"), 100'000).to_string(), "100000Gi");
}

}  // namespace berth::defaults_test
