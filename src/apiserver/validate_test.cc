#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apiserver/admission_world.h"

namespace berth::validate_test {

// "field: message; field: message"
std::string wrongs(Value object, const Value* before = nullptr, const std::string& subresource = "") {
  AdmissionRequest request;
  request.kind = &kind_of(object);
  request.operation = before == nullptr ? Operation::kCreate : Operation::kUpdate;
  request.subresource = subresource;
  request.before = before;
  request.object = &object;
  fill_defaults(request);
  std::string all;
  for (const ErrorCause& cause : validate(request))
    all += (all.empty() ? "" : "; ") + cause.field + ": " + cause.message;
  return all;
}

struct Case {
  const char* given;
  const char* wrong;  // a part of it; "" = nothing is wrong
};

void expect(const std::string& yaml, const std::string& wrong) {
  const std::string found = wrongs(yaml_object(yaml));
  if (wrong.empty()) {
    EXPECT_EQ(found, "") << yaml;
  } else {
    EXPECT_NE(found.find(wrong), std::string::npos) << yaml << "\n  says: " << found << "\n  not:  " << wrong;
  }
}

TEST(ValidatePod, FindsWhatIsWrongInASpec) {
  const Case cases[] = {
      {"containers: [{name: c, image: b}]", ""},
      {"containers: []", "spec.containers: Required value"},
      {"containers: [{name: C_, image: b}]",
       "spec.containers[0].name: Invalid value: \"C_\": a lowercase RFC 1123 label"},
      {"containers: [{image: b}]", "spec.containers[0].name: Required value"},
      {"containers: [{name: c}]", "spec.containers[0].image: Required value"},
      {"containers: [{name: c, image: b}, {name: c, image: b}]", "spec.containers[1].name: Duplicate value: \"c\""},
      {"containers: [{name: c, image: b}], initContainers: [{name: c, image: b}]", "Duplicate value: \"c\""},
      {"containers: [{name: c, image: b, resources: {requests: {cpu: -1}}}]",
       "spec.containers[0].resources.requests[cpu]: Invalid value: -1: must be greater than or equal to 0"},
      {"containers: [{name: c, image: b, resources: {requests: {cpu: lots}}}]",
       "spec.containers[0].resources.requests[cpu]: Invalid value: \"lots\""},
      {"containers: [{name: c, image: b, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]",
       "spec.containers[0].resources.requests: Invalid value: 2: must be less than or equal to cpu limit of 1"},
      {"containers: [{name: c, image: b, resources: {requests: {nvidia.com/gpu: '1'}, limits: {nvidia.com/gpu: '2'}}}]",
       "spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to nvidia.com/gpu limit of 2"},
      {"containers: [{name: c, image: b, resources: {requests: {nvidia.com/gpu: '1'}}}]",
       "spec.containers[0].resources.limits: Required value"},
      {"containers: [{name: c, image: b, resources: {limits: {nvidia.com/gpu: 500m}}}]",
       "must be an integer; for a part of one GPU ask for 1 and say how much of it by the annotation "
       "berth.dev/gpu-milli"},
      {"containers: [{name: c, image: b, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]", ""},
      {"containers: [{name: c, image: b, resources: {limits: {nvidia.com/mig-1g.10g: 1}}}]",
       "spec.containers: Invalid value: \"nvidia.com/mig-1g.10g\": no GPU model that is known can be cut into it; did "
       "you "
       "mean nvidia.com/mig-1g.10gb?"},
      {"containers: [{name: c, image: b, resources: {limits: {nvidia.com/mig-1g.10gb: 2}}}]",
       "spec.containers: Forbidden: a pod asks one slice, and it asks 2 of nvidia.com/mig-1g.10gb; ask 1 each by 2 "
       "pods"},
      {"containers: [{name: c, image: b, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}, {name: d, image: b, "
       "resources: {limits: {nvidia.com/gpu: 1}}}]",
       "spec.containers: Forbidden: a pod asks whole GPUs or one slice"},
      {"containers: [{name: c, image: b, resources: {limits: {gpu: 1}}}]",
       "must be cpu, memory, ephemeral-storage or a full name"},
      {"containers: [{name: c, image: b, env: [{name: a.b-c, value: x}]}]", ""},
      {"containers: [{name: c, image: b, env: [{value: x}]}]", "spec.containers[0].env[0].name: Required value"},
      {"containers: [{name: c, image: b, env: [{name: 'a=b'}]}]", "printable ASCII without '='"},
      {"containers: [{name: c, image: b, env: [{name: a, value: x, valueFrom: {}}]}]",
       "may not be specified when `value` is not empty"},
      {"containers: [{name: c, image: b, ports: [{containerPort: 0}]}]", "must be greater than or equal to 1"},
      {"containers: [{name: c, image: b, ports: [{containerPort: 70000}]}]", "must be an integer of at most 65535"},
      {"containers: [{name: c, image: b, ports: [{containerPort: 1, protocol: udp}]}]",
       "Unsupported value: \"udp\": supported values: "},
      {"containers: [{name: c, image: b, imagePullPolicy: Sometimes}]",
       "spec.containers[0].imagePullPolicy: Unsupported value"},
      {"containers: [{name: c, image: b, volumeMounts: [{name: v, mountPath: /a}]}]",
       "volumeMounts[0].name: Not found: \"v\""},
      {"containers: [{name: c, image: b, volumeMounts: [{name: v, mountPath: /a}]}], volumes: [{name: v, emptyDir: "
       "{}}]",
       ""},
      {"containers: [{name: c, image: b}], restartPolicy: Perhaps",
       "spec.restartPolicy: Unsupported value: \"Perhaps\""},
      {"containers: [{name: c, image: b}], terminationGracePeriodSeconds: -5",
       "spec.terminationGracePeriodSeconds: Invalid value: -5"},
      {"containers: [{name: c, image: b}], activeDeadlineSeconds: 0", "spec.activeDeadlineSeconds: Invalid value: 0"},
      {"containers: [{name: c, image: b}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
       "{nodeSelectorTerms: []}}}",
       "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one term"},
      {"containers: [{name: c, image: b}], tolerations: [{operator: Equal}]",
       "operator must be Exists when `key` is empty"},
      {"containers: [{name: c, image: b}], tolerations: [{key: a, operator: Exists, value: x}]",
       "value must be empty when `operator` is 'Exists'"},
      {"containers: [{name: c, image: b}], tolerations: [{key: a, tolerationSeconds: 5}]",
       "effect must be 'NoExecute'"},
      {"containers: [{name: c, image: b}], nodeSelector: {'a b': c}", "spec.nodeSelector: Invalid value"},
      {"containers: [{name: c, image: b}], schedulingGates: [{name: g}, {name: g}]",
       "spec.schedulingGates[1]: Duplicate value: \"g\""},
      {"containers: [{name: c, image: b}], schedulingGates: [{name: g}], nodeName: n",
       "cannot be set until all schedulingGates have been cleared"},
      {"containers: [{name: c, image: b}], resources: {requests: {cpu: 1}}", "spec.resources: Forbidden: amounts of a"},
      {"containers: [{name: c, image: b}], resourceClaims: [{name: a}]",
       "dynamic resource allocation is not supported"},
      {"containers: [{name: c, image: b}], ephemeralContainers: [{name: e}]", "are not supported"},
      {"containers: [{name: c, image: b, restartPolicy: Always}]", "only \"Always\" on an init container"},
  };
  for (const Case& each : cases) {
    expect(std::string("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {") + each.given + "}}", each.wrong);
    const bool whole_pod = std::string_view(each.given).find("nodeName") != std::string_view::npos;
    if (*each.wrong != '\0' && !whole_pod) continue;
    expect(std::string("{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {template: {spec: "
                       "{restartPolicy: Never, ") +
               each.given + "}}}}",
           whole_pod ? "pods of a Job go where the scheduler puts them" : "");
  }
}

TEST(ValidatePod, ReadsBerthsAnnotations) {
  const Case cases[] = {
      {"annotations: {berth.dev/gpu-milli: '500'}", ""},
      {"annotations: {berth.dev/gpu-milli: '0'}", "thousandths of one GPU, from 1 to 1000"},
      {"annotations: {berth.dev/gpu-milli: half}", "thousandths of one GPU, from 1 to 1000"},
      {"annotations: {gpu-fraction: '0.5'}",
       "metadata.annotations[gpu-fraction]: Invalid value: \"0.5\": a pod asks a part of one GPU by this annotation "
       "alone, and it asks nvidia.com/gpu, too"},
      {"annotations: {berth.dev/gpu-sharing: mps}", "say how much by the annotation gpu-fraction, as in 0.25"},
      {"annotations: {berth.dev/latency: critical}", ""},
      {"annotations: {berth.dev/gpu-models: 'H100|A100-80GB'}", ""},
      {"annotations: {berth.dev/gpu-models: 'H100|A100-80BG'}", "did you mean \"A100-80GB\"?"},
      {"annotations: {berth.dev/gpu-models: ''}", "knows no GPU model"},
      {"annotations: {berth.dev/run-for: 30s, berth.dev/exit-code: '3'}", ""},
      {"annotations: {berth.dev/run-for: soon}", "metadata.annotations[berth.dev/run-for]: Invalid value"},
      {"annotations: {berth.dev/exit-code: '256'}", "an exit code from 0 to 255"},
      {"annotations: {berth.dev/after: 'job/a,pod/b', berth.dev/max-wait: 2h cancel, berth.dev/singleton: nightly, "
       "berth.dev/hours: 'sat,sun 20:00-08:00', berth.dev/not-before: '2026-11-21T20:00:00Z'}",
       ""},
      {"annotations: {berth.dev/max-wait: 2h}",
       "metadata.annotations[berth.dev/max-wait]: Invalid value: \"2h\": write how long, and what then: 2h cancel"},
      {"annotations: {berth.dev/hours: nights}", "metadata.annotations[berth.dev/hours]: Invalid value"},
      {"annotations: {kueue.x-k8s.io/podset-unconstrained-topology: 'true'}", ""},
      {"annotations: {kueue.x-k8s.io/podset-required-topology: rack, kueue.x-k8s.io/podset-preferred-topology: zone}",
       "metadata.annotations[kueue.x-k8s.io/podset-preferred-topology]: Invalid value: \"zone\": it stands beside "
       "kueue.x-k8s.io/podset-required-topology, and only one of them can hold; leave one out"},
      {"annotations: {berth.dev/topology: 'required:a rack'}",
       "metadata.annotations[berth.dev/topology]: Invalid value: \"required:a rack\": 'a rack' is no label; write one"},
      {"labels: {berth.dev/pod-group: g}", "metadata.annotations[berth.dev/pod-group-size]: Required value"},
      {"labels: {berth.dev/pod-group: g}, annotations: {berth.dev/pod-group-size: '4'}", ""},
      {"labels: {berth.dev/pod-group: g}, annotations: {berth.dev/pod-group-size: '0'}",
       "how many pods the group has, from 1 to 100000"},
      {"labels: {kueue.x-k8s.io/pod-group-name: g}",
       "metadata.annotations[kueue.x-k8s.io/pod-group-total-count]: Required value"},
  };
  for (const Case& each : cases) {
    expect(std::string("{apiVersion: v1, kind: Pod, metadata: {name: p, ") + each.given +
               "}, spec: {containers: [{name: c, image: b, resources: {limits: {nvidia.com/gpu: 1}}}]}}",
           each.wrong);
  }
  expect(
      "{apiVersion: v1, kind: Pod, metadata: {annotations: {berth.dev/gpu-milli: '500'}}, spec: {containers: [{name: "
      "c, image: b}]}}",
      "the pod asks for 0");
  expect(
      "{apiVersion: v1, kind: Pod, metadata: {annotations: {gpu-fraction: '0.5', gpu-memory: '1'}}, spec: {containers: "
      "[{name: c, image: b, resources: {limits: {nvidia.com/gpu.shared: 1}}}]}}",
      "spec.containers: Forbidden: a pod asks a replica of a GPU or something else");
  const auto job = [](const std::string& annotations, const std::string& of_pods, const std::string& spec = "") {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u, annotations: " + annotations + "}, spec: {" +
           spec + "template: {metadata: {annotations: " + of_pods +
           "}, spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}";
  };
  expect(job("{berth.dev/after: b}", "{}"), "");
  expect(job("{berth.dev/after: jobset/b}", "{}"), "metadata.annotations[berth.dev/after]: Invalid value");
  expect(job("{}", "{berth.dev/after-ok: 'b,job/j'}"),
         "spec.template.metadata.annotations: Forbidden: it would wait for itself; leave out job/j");
  expect(job("{berth.dev/singleton: s}", "{}", "parallelism: 2, "), "");
  expect(
      job("{berth.dev/singleton: s, berth.dev/gang: 'false'}", "{}", "parallelism: 2, "),
      "metadata.annotations[berth.dev/singleton]: Invalid value: \"s\": turns are of Jobs whose pods start together");
  const std::string shared =
      "restartPolicy: Never, containers: [{name: c, image: b, resources: {limits: {"
      "nvidia.com/gpu.shared: 1}}}]";
  expect("{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {template: {spec: {" + shared + "}}}}",
         "spec.template.spec.containers: Forbidden: a replica (nvidia.com/gpu.shared) has no memory");
  expect(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {template: {metadata: {annotations: "
      "{berth.dev/coverage: best-effort}}, spec: {" +
          shared + "}}}}",
      "");
}

// `before` after fill_defaults, with "old" replaced by "new" in its JSON.
std::string after_change(const Value& before, const std::string& from, const std::string& to,
                         const std::string& subresource = "") {
  std::string text = to_json(before);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return wrongs(*parse_json(text), &before, subresource);
}

Value defaulted(const std::string& yaml) {
  Value object = yaml_object(yaml);
  AdmissionRequest request;
  request.kind = &kind_of(object);
  request.object = &object;
  fill_defaults(request);
  return object;
}

struct Change {
  const char* from;
  const char* to;
  const char* wrong;
};

void expect_changes(const Value& before, const std::vector<Change>& changes, const std::string& subresource = "") {
  for (const Change& each : changes) {
    const std::string found = after_change(before, each.from, each.to, subresource);
    EXPECT_EQ(found.empty(), *each.wrong == '\0') << each.to << ": " << found;
    EXPECT_NE(found.find(each.wrong), std::string::npos) << each.to << ": " << found;
  }
}

TEST(ValidatePod, LetsAnUpdateChangeLittle) {
  const char* const kFixed = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`";
  expect_changes(
      defaulted("{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b, berth.dev/pod-group: g}, annotations: "
                "{berth.dev/pod-group-size: '2', berth.dev/gpus: '0'}}, spec: {nodeName: n1, activeDeadlineSeconds: 9, "
                "containers: "
                "[{name: c, image: b, command: [x]}]}, status: {phase: Running}}"),
      {{R"("image":"b")", R"("image":"z")", ""},
       {R"("image":"b")", R"("image":"")", "Required value"},
       {R"("a":"b")", R"("a":"z")", ""},
       {R"("command":["x"])", R"("command":["y"])", kFixed},
       {R"("nodeName":"n1")", R"("nodeName":"n2")", kFixed},
       {R"("activeDeadlineSeconds":9)", R"("activeDeadlineSeconds":8)", ""},
       {R"("activeDeadlineSeconds":9)", R"("activeDeadlineSeconds":10)",
        "spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value"},
       {R"("activeDeadlineSeconds":9)", R"("activeDeadlineSeconds":null)", "spec.activeDeadlineSeconds: Invalid value"},
       {R"("tolerations":[)", R"("tolerations":[{"key":"k","operator":"Exists"},)", ""},
       {R"("tolerationSeconds":300)", R"("tolerationSeconds":1)", kFixed},
       {R"("berth.dev/pod-group":"g")", R"("berth.dev/pod-group":"h")",
        "a pod stays in the group that it was made for"},
       {R"("berth.dev/pod-group-size":"2")", R"("berth.dev/pod-group-size":"1")",
        "may not be changed once the pod exists"},
       {R"("berth.dev/gpus":"0")", R"("berth.dev/gpus":"1")", "only a binding sets it"}});
  const Value gated = defaulted(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulingGates: [{name: g}, {name: h}], "
      "nodeSelector: {a: b}, containers: [{name: c, image: b}]}}");
  expect_changes(gated, {{R"({"name":"g"},)", "", ""},
                         {R"({"name":"g"},)", R"({"name":"g"},{"name":"i"},)", kFixed},
                         {R"("nodeSelector":{"a":"b")", R"("nodeSelector":{"a":"b","d":"e")", ""},
                         {R"("nodeSelector":{"a":"b")", R"("nodeSelector":{"a":"z")", kFixed}});
}

TEST(ValidatePod, LetsNoPodComeBackFromItsEnd) {
  const Value running = yaml_object("{apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: Running}}");
  const Value over = yaml_object("{apiVersion: v1, kind: Pod, metadata: {name: p}, status: {phase: Failed}}");
  expect_changes(running, {{"Running", "Succeeded", ""}, {"Running", "Resting", "status.phase: Unsupported value"}},
                 "status");
  expect_changes(over,
                 {{"Failed", "Running", "a pod that has ended (Failed) stays so"}, {"Failed", "Succeeded", "stays so"}},
                 "status");
}

TEST(ValidatePod, TakesNoOtherMarksWithAStatusThanOtherwise) {
  expect_changes(defaulted("{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b, berth.dev/pod-group: g}, "
                           "annotations: {berth.dev/pod-group-size: '2', berth.dev/run-for: 3s, berth.dev/gpus: '0'}}, "
                           "spec: {nodeName: n1, containers: [{name: c, image: b}]}}"),
                 {{R"("a":"b")", R"("a":"z")", ""},
                  {R"("3s")", R"("4s")", ""},
                  {R"("3s")", R"("long")", "metadata.annotations[berth.dev/run-for]: Invalid value"},
                  {R"("berth.dev/pod-group":"g")", R"("c":"g")", "a pod stays in the group that it was made for"},
                  {R"("berth.dev/gpus":"0")", R"("berth.dev/gpus":"1")", "only a binding sets it"}},
                 "status");
}

TEST(ValidateJob, FindsWhatIsWrong) {
  const Case cases[] = {
      {"template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}", ""},
      {"template: {spec: {containers: [{name: c, image: b}]}}",
       "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""},
      {"parallelism: -1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}",
       "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
      {"completionMode: Indexed, parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
       "b}]}}",
       "spec.completions: Required value: when completion mode is Indexed"},
      {"completionMode: Other, template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}",
       "Unsupported value: \"Other\""},
      {"manualSelector: true, selector: {matchLabels: {a: b}}, template: {spec: {restartPolicy: Never, containers: "
       "[{name: c, image: b}]}}",
       "`selector` does not match template `labels`"},
      {"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, "
       "containers: [{name: c, image: b}]}}",
       "spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\",\"batch.kubernetes.io/controller-uid\":\"u\"}}: "
       "`selector` not auto-generated"},
      {"selector: {matchLabels: {batch.kubernetes.io/controller-uid: other}}, template: {spec: {restartPolicy: Never, "
       "containers: [{name: c, image: b}]}}",
       "`selector` not auto-generated"},
      {"selector: {matchExpressions: [{key: job-name, operator: Exists}]}, template: {spec: {restartPolicy: Never, "
       "containers: [{name: c, image: b}]}}",
       "`selector` not auto-generated"},
      {"selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {spec: {restartPolicy: Never, "
       "containers: [{name: c, image: b}]}}",
       ""},
      {"manualSelector: true, template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}",
       "spec.selector: Required value"},
      {"template: {metadata: {labels: {a b: c}}, spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}",
       "spec.template.metadata.labels: Invalid value: \"a b\""},
  };
  for (const Case& each : cases) {
    expect(std::string("{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {") + each.given + "}}",
           each.wrong);
  }
  expect(
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u, annotations: {berth.dev/gang: perhaps}}, spec: "
      "{template: {spec: "
      "{restartPolicy: Never, containers: [{name: c, image: b}]}}}}",
      "metadata.annotations[berth.dev/gang]: Unsupported value");
  const auto of_kueue = [](const std::string& metadata) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u, " + metadata +
           "}, spec: {parallelism: 4, template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}";
  };
  expect(of_kueue("annotations: {kueue.x-k8s.io/job-min-parallelism: '5'}"),
         "metadata.annotations[kueue.x-k8s.io/job-min-parallelism]: Invalid value");
  expect(of_kueue("labels: {kueue.x-k8s.io/max-exec-time-seconds: soon}"),
         "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value");
}

TEST(ValidateJob, ReadsWhatItHandsDownAsInItsTemplate) {
  const auto job = [](const std::string& annotations, const std::string& of_template) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u, annotations: {" + annotations +
           "}}, spec: {template: {metadata: {annotations: {" + of_template +
           "}}, spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}";
  };
  const struct {
    const char *annotations, *of_template, *wrong;
  } cases[] = {
      {"berth.dev/run-for: 5 seconds", "", "metadata.annotations[berth.dev/run-for]: Invalid value: \"5 seconds\""},
      {"berth.dev/coverage: silver", "", "metadata.annotations[berth.dev/coverage]: Invalid value: \"silver\""},
      {"berth.dev/repair: xx", "", "metadata.annotations[berth.dev/repair]: Invalid value"},
      {"berth.dev/gpu-models: ''", "", "metadata.annotations[berth.dev/gpu-models]: Invalid value"},
      {"berth.dev/topology: bogus", "", "metadata.annotations[berth.dev/topology]: Invalid value: \"bogus\""},
      {"berth.dev/gpu-memory: 60Gi", "",
       "metadata.annotations[berth.dev/gpu-memory]: Invalid value: \"60Gi\": it is of "},
      {"berth.dev/run-for: 5 seconds", "berth.dev/run-for: 5s", ""},
      {"berth.dev/topology: bogus", "kueue.x-k8s.io/podset-required-topology: rack", ""},
      {"", "berth.dev/run-for: 5 seconds", "spec.template.metadata.annotations[berth.dev/run-for]: Invalid value"},
  };
  for (const auto& [annotations, of_template, wrong] : cases) expect(job(annotations, of_template), wrong);
  // What was stored before this was asked may be changed otherwise.
  Value before = yaml_object(job("berth.dev/run-for: 5 seconds", ""));
  EXPECT_NE(wrongs(before), "");
  AdmissionRequest request;
  request.kind = &kind_of(before);
  request.object = &before;
  fill_defaults(request);
  const auto with = [&](const char* key, const char* text) {
    Value after = before;
    after.at("metadata").at("annotations").set(key, text);
    return wrongs(std::move(after), &before);
  };
  EXPECT_EQ(with("other", "x"), "");
  EXPECT_TRUE(with("berth.dev/run-for", "6 seconds").starts_with("metadata.annotations[berth.dev/run-for]"));
}

TEST(ValidateJob, FindsWhatIsWrongInItsPolicies) {
  const std::string kIndexed = "completionMode: Indexed, completions: 5, parallelism: 5, ";
  const std::string kPolicy = "podFailurePolicy: {rules: [";
  const std::string kRule = "spec.podFailurePolicy.rules[0]";
  const struct {
    std::string given, wrong;
  } cases[] = {
      {kPolicy + "{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}", ""},
      {kPolicy + "{action: FailJob, onExitCodes: {operator: In, values: [1, 2], containerName: c}}]}", ""},
      {kPolicy + "{action: FailJob}]}", kRule + ": Invalid value: specifying one of OnExitCodes"},
      {kPolicy + "{action: FailJob, onExitCodes: {operator: In, values: [1]}, onPodConditions: [{type: A}]}]}",
       kRule + ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"},
      {kPolicy + "{action: Panic, onPodConditions: [{type: A}]}]}",
       kRule + ".action: Unsupported value: \"Panic\": supported values: \"Count\", \"FailIndex\""},
      {kPolicy + "{action: FailIndex, onPodConditions: [{type: A}]}]}",
       kRule + ".action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex"},
      {kPolicy + "{action: Count, onExitCodes: {operator: In, values: [0]}}]}",
       kRule + ".onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator"},
      {kPolicy + "{action: Count, onExitCodes: {operator: NotIn, values: [2, 1]}}]}", "must be ordered"},
      {kPolicy + "{action: Count, onExitCodes: {operator: NotIn, values: [1, 1]}}]}",
       kRule + ".onExitCodes.values[1]: Duplicate value: 1"},
      {kPolicy + "{action: Count, onExitCodes: {operator: NotIn, values: []}}]}", "at least one value is required"},
      {kPolicy + "{action: Count, onExitCodes: {operator: In, values: [1], containerName: x}}]}",
       "must be one of the container or initContainer names in the pod template"},
      {kPolicy + "{action: Count, onPodConditions: [{type: 'a b'}]}]}", kRule + ".onPodConditions[0].type: Invalid"},
      {"podReplacementPolicy: TerminatingOrFailed, " + kPolicy + "]}",
       "spec.podReplacementPolicy: Unsupported value: \"TerminatingOrFailed\": supported values: \"Failed\""},
      {"successPolicy: {rules: [{succeededCount: 1}]}", "spec.successPolicy: Invalid value: requires indexed"},
      {kIndexed + "successPolicy: {rules: [{succeededIndexes: '0,2-3', succeededCount: 3}]}", ""},
      {kIndexed + "successPolicy: {rules: []}", "at least one rules must be specified"},
      {kIndexed + "successPolicy: {rules: [{}]}",
       "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes"},
      {kIndexed + "successPolicy: {rules: [{succeededIndexes: '0,x'}]}",
       "error parsing succeededIndexes: cannot convert"},
      {kIndexed + "successPolicy: {rules: [{succeededIndexes: ''}]}", "error parsing succeededIndexes"},
      {kIndexed + "successPolicy: {rules: [{succeededIndexes: '3,1'}]}", "non-increasing order"},
      {kIndexed + "successPolicy: {rules: [{succeededIndexes: '0-5'}]}", "too large index: \"5\""},
      {kIndexed + "successPolicy: {rules: [{succeededCount: 6}]}",
       "must be less than or equal to 5 (the number of specified completions)"},
      {kIndexed + "successPolicy: {rules: [{succeededIndexes: '0-1', succeededCount: 3}]}",
       "must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)"},
      {kIndexed + "backoffLimitPerIndex: 1, maxFailedIndexes: 5", ""},
      {kIndexed + "backoffLimitPerIndex: 1, maxFailedIndexes: 6", "must be less than or equal to completions"},
      {kIndexed + "maxFailedIndexes: 1",
       "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"},
      {kIndexed + "backoffLimitPerIndex: -1", "must be greater than or equal to 0"},
      {"backoffLimitPerIndex: 1", "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
  };
  for (const auto& each : cases) {
    expect("{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {" + each.given +
               ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: b}]}}}}",
           each.wrong);
  }
  expect("{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {" + kPolicy +
             "]}, template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: b}]}}}}",
         "spec.template.spec.restartPolicy: Invalid value: \"OnFailure\": only \"Never\" is supported when");
}

TEST(ValidateJob, LetsTheTemplateChangeOnlyWhileNothingRuns) {
  const auto job = [](const std::string& more) {
    return defaulted(
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {completions: 2, parallelism: 2, " +
        more + "template: {spec: {nodeSelector: {a: b}, restartPolicy: Never, containers: [{name: c, image: b}]}}}}");
  };
  const char* const kImmutable = "field is immutable";
  expect_changes(
      job(""), {{R"("parallelism":2)", R"("parallelism":5)", ""},
                {R"("suspend":false)", R"("suspend":true)", ""},
                {R"("completions":2)", R"("completions":3)", "spec.completions: Invalid value: 3: field is immutable"},
                {R"("image":"b")", R"("image":"z")", kImmutable},
                {R"({"a":"b"})", R"({"a":"z"})", "spec.template.spec: Invalid value"},
                {R"("completionMode":"NonIndexed")", R"("completionMode":"Indexed")", kImmutable}});
  expect_changes(job("suspend: true, "),
                 {{R"({"a":"b"})", R"({"a":"z"})", ""}, {R"("image":"b")", R"("image":"z")", kImmutable}});
  expect_changes(job("completionMode: Indexed, "),
                 {{R"("parallelism":2)", R"("parallelism":1)", ""},
                  {R"("completions":2)", R"("completions":3)",
                   "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism"}});
}

TEST(ValidateOthers, FindsWhatIsWrong) {
  const Case cases[] = {
      {"{apiVersion: v1, kind: ConfigMap, data: {a.b_c-d: x}, binaryData: {e: eA==}}", ""},
      {"{apiVersion: v1, kind: ConfigMap, data: {'a/b': x}}", "data[a/b]: Invalid value"},
      {"{apiVersion: v1, kind: ConfigMap, data: {..: x}}", "data[..]: Invalid value"},
      {"{apiVersion: v1, kind: ConfigMap, data: {a: x}, binaryData: {a: eA==}}", "stands in data and binaryData both"},
      {"{apiVersion: v1, kind: ConfigMap, binaryData: {a: '%%'}}",
       "binaryData[a]: Invalid value: \"(not shown)\": must be base64"},
      {"{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, data: {tls.crt: eA==}}",
       "data[tls.key]: Required value"},
      {"{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, data: {tls.crt: eA==, tls.key: eA==}}", ""},
      {"{apiVersion: v1, kind: Secret, type: kubernetes.io/dockerconfigjson}",
       "data[.dockerconfigjson]: Required value"},
      {"{apiVersion: v1, kind: Secret, type: kubernetes.io/ssh-auth}", "data[ssh-privatekey]: Required value"},
      {"{apiVersion: v1, kind: Secret, data: {a: hidden}}", "data[a]: Invalid value: \"(not shown)\": must be base64"},
      {"{apiVersion: v1, kind: Node, spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}}",
       "spec.taints[1]: Duplicate value"},
      {"{apiVersion: v1, kind: Node, status: {capacity: {nvidia.com/gpu: 65}}}", "a node has at most 64 GPUs"},
      {"{apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: 5, requests.nvidia.com/gpu: 8, count/jobs.batch: 2, "
       "limits.cpu: 1500m}}}",
       ""},
      {"{apiVersion: v1, kind: ResourceQuota, spec: {hard: {gpus: 5}}}",
       "spec.hard[gpus]: Invalid value: \"gpus\": is nothing that a quota counts"},
      {"{apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: 1500m}}}",
       "spec.hard[pods]: Invalid value: \"1500m\": must be an integer"},
      {"{apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: -1}}}", "must be greater than or equal to 0"},
      {"{apiVersion: v1, kind: ResourceQuota, spec: {scopes: [BestEffort]}}",
       "spec.scopes: Forbidden: quotas count everything"},
      {"{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Container, min: {cpu: 2}, max: {cpu: 1}}]}}",
       "min value is greater than max value 1"},
      {"{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: PersistentVolumeClaim}]}}",
       "Unsupported value: \"PersistentVolumeClaim\""},
      {"{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Pod, default: {cpu: 1}}]}}",
       "may not be specified when `type` is 'Pod'"},
      {"{apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Pod, maxLimitRequestRatio: {cpu: 1}}]}}",
       "is not supported"},
      {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 50%, selector: {}}}", ""},
      {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1, maxUnavailable: 1}}",
       "cannot be both set"},
      {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 150%}}",
       "spec.minAvailable: Invalid value: \"150%\""},
      {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 5}", ""},
      {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 1000000001}",
       "value: Forbidden: maximum allowed value"},
      {"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: system-mine}, value: 1}",
       "reserved for system use only"},
      {"{apiVersion: coordination.k8s.io/v1, kind: Lease, spec: {leaseDurationSeconds: 0}}",
       "spec.leaseDurationSeconds: Invalid value: 0"},
      {"{apiVersion: events.k8s.io/v1, kind: Event, reportingController: c, reportingInstance: i, action: a, reason: "
       "r}",
       "eventTime: Required value; type: Invalid value: \"\": has invalid value: "},
      {"{apiVersion: v1, kind: Event, metadata: {namespace: a}, involvedObject: {namespace: b}}",
       "does not match event.namespace"},
      {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {}, rules: []}",
       "aggregationRule: Forbidden: roles are not aggregated here"},
      {"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{verbs: [get], nonResourceURLs: [/a]}]}",
       "namespaced rules cannot apply to non-resource URLs"},
      {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [{verbs: [], apiGroups: [''], resources: "
       "[a]}]}",
       "rules[0].verbs: Required value"},
      {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: [{verbs: [get], nonResourceURLs: "
       "['/a*b']}]}",
       "'*' may stand at the end only"},
      {"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, roleRef: {kind: Role, name: a}}",
       "roleRef.kind: Unsupported value: \"Role\""},
      {"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: a}, subjects: "
       "[{kind: Robot, name: r}]}",
       "subjects[0].kind: Unsupported value"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {order: fifo, parent: p}}", ""},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {order: lifo}}",
       "spec.order: Unsupported value: \"lifo\": supported values: \"fifo\", \"fifo-skip\", \"sjf\""},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {order: fifo, guarantee: {h100: 8, "
       "h100.cpu: 64, "
       "h100.memory: 1Ti}, limit: {h100: 16}, borrowingLimit: {h100: 8}, lendingLimit: {h100: 500m}, weight: 2, "
       "reclaim: "
       "final-share, preempt: never, reclaimWithin: 2m, patience: 30s, minRuntime: 1h}}",
       ""},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {guarantee: {h100: -8}}}",
       "spec.guarantee[h100]: Invalid value: "},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {limit: {h100: 8, H100: 9}}}",
       "spec.limit[H100]: Invalid value: 9: this is given twice; write it once"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {limit: {.cpu: 8}}}",
       "spec.limit[.cpu]: Invalid value: 8: write FLAVOR or FLAVOR.RESOURCE"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {limit: {h100: 100T}}}",
       "spec.limit[h100]: Invalid value: \"100T\": is more than any fleet has"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {weight: 0}}",
       "spec.weight: Invalid value: 0: write a weight of 0.001 to 1000"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {reclaim: always}}",
       "spec.reclaim: Unsupported value: \"always\": supported values: "},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {preempt: always}}",
       "spec.preempt: Unsupported value: \"always\": supported values: "},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {patience: 10}}",
       "spec.patience: Invalid value: "},
      {"{apiVersion: berth.dev/v1alpha1, kind: ResourceFlavor, spec: {gpuModel: H100, weight: 0}}",
       "spec.weight: Invalid value: 0"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {parent: q}}",
       "a queue cannot be its own parent"},
      {"{apiVersion: berth.dev/v1alpha1, kind: ResourceFlavor, spec: {gpuModel: H100, memoryMiB: 81559}}", ""},
      {"{apiVersion: berth.dev/v1alpha1, kind: ResourceFlavor, spec: {gpuModel: H10O}}", "did you mean \"H100\"?"},
      {"{apiVersion: berth.dev/v1alpha1, kind: ResourceFlavor}", "spec.gpuModel: Required value"},
      {"{apiVersion: berth.dev/v1alpha1, kind: Workload, spec: {podSets: [{name: a, count: 1}, {name: a, count: -1}]}}",
       "spec.podSets[1].name: Duplicate value: \"a\"; spec.podSets[1].count: Invalid value: -1"},
  };
  for (const Case& each : cases) expect(each.given, each.wrong);
}

TEST(ValidateOthers, KeepsWhatMayNotChange) {
  expect_changes(yaml_object("{apiVersion: v1, kind: ConfigMap, data: {a: x}, immutable: true}"),
                 {{R"("x")", R"("y")", "data: Forbidden: field is immutable when `immutable` is set"},
                  {"true", "false", "immutable: Forbidden"}});
  expect_changes(yaml_object("{apiVersion: v1, kind: Secret, type: t, data: {a: eA==}}"),
                 {{R"("t")", R"("u")", "type: Invalid value: \"u\": field is immutable"}});
  expect_changes(defaulted("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 5}"),
                 {{R"("value":5)", R"("value":6)", "value: Forbidden: may not be changed in an update."}});
  expect_changes(
      defaulted("{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: a}}"),
      {{R"("name":"a")", R"("name":"b")", "roleRef: Invalid value"}});
}

TEST(Validate, SaysOnceWhatIsWrongWithAQueue) {
  EXPECT_EQ(
      wrongs(yaml_object(
          "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: q}, spec: {order: lifo, halfLife: "
          "1s, windows: [{from: '08:00', to: noon, weight: 2}], budget: {gpuHours: 1, end: never}}}")),
      "spec.order: Unsupported value: \"lifo\": supported values: \"fifo\", \"fifo-skip\", \"sjf\"; "
      "spec.budget.end: Unsupported value: \"never\": supported values: \"stop\", \"best-effort\"; "
      "spec.halfLife: Invalid value: \"1s\": write one minute to ten years, such as 7d; 0s: the past does not count; "
      "spec.windows[0].to: Invalid value: \"noon\": write a time such as 20:00, or 24:00 for the end of the day");
}

TEST(Validate, SaysAllThatIsWrongWithACircleOfTrust) {
  const std::string circle = "{apiVersion: berth.dev/v1alpha1, kind: TrustCircle, metadata: {name: c}, spec: ";
  EXPECT_EQ(wrongs(yaml_object(circle + "{queues: [a, clusterqueue/b], within: 90s}}")), "");
  EXPECT_EQ(wrongs(yaml_object(circle + "{queues: [a, a, localqueue/x], within: '10'}}")),
            "spec.queues[1]: Invalid value: \"a\": stands here twice; write it once; "
            "spec.queues[2]: Invalid value: \"localqueue/x\": a LocalQueue is only a door; name the queue behind it: "
            "clusterqueue/NAME; "
            "spec.within: Invalid value: \"10\": '10' has no unit; write 10s for seconds, or ms, m, h, d");
  EXPECT_EQ(wrongs(yaml_object(circle + "{}}")),
            "spec.queues: Invalid value: null: names nobody; write the queues that trust each other");
}

TEST(Validate, SaysAllThatIsWrongWithAReservation) {
  const auto with = [](const std::string& spec) {
    return yaml_object("{apiVersion: berth.dev/v1alpha1, kind: Reservation, metadata: {name: r}, spec: {" + spec +
                       "}}");
  };
  const std::string ahead = ", from: '2126-12-01T09:00:00Z', for: 4h";
  EXPECT_EQ(wrongs(with("queue: research, gpus: 16, flavor: H100" + ahead)), "");
  EXPECT_EQ(wrongs(with("nodes: [n1, n2], daily: true" + ahead)), "");
  EXPECT_EQ(
      wrongs(with("queue: localqueue/x, gpus: 0, flavor: h100.cpu, nodes: [n1], from: monday, for: 25h, "
                  "daily: true")),
      "spec.queue: Invalid value: \"localqueue/x\": a LocalQueue is only a door; name the queue behind it: "
      "clusterqueue/NAME; "
      "spec.nodes: Invalid value: [\"n1\"]: a queue reserves GPUs, and not nodes; leave nodes out, or queue and "
      "gpus for maintenance; "
      "spec.gpus: Invalid value: 0: is no number of whole GPUs; write 1 to 1000000; "
      "spec.flavor: Invalid value: \"h100.cpu\": only GPUs are reserved; write h100; "
      "spec.from: Invalid value: \"monday\": is no moment; write when it begins, such as 2026-12-01T09:00:00Z; "
      "spec.for: Invalid value: \"25h\": what comes every day lasts at most 24 hours; write at most 24h, or leave "
      "daily out");
  EXPECT_EQ(wrongs(with("nodes: [n1], days: mon-fri" + ahead)), "");
  EXPECT_EQ(wrongs(with("nodes: [n1], days: weekly, zone: Europe/Berlin" + ahead)), "");
  EXPECT_EQ(wrongs(with("nodes: [n1], daily: true, zone: Europe/Berlin" + ahead)), "");
  EXPECT_EQ(wrongs(with("nodes: [n1], daily: true, days: mon" + ahead)),
            "spec.days: Invalid value: \"mon\": is more than daily says; leave one of them out");
  EXPECT_EQ(
      wrongs(with("nodes: [n1], zone: UTC" + ahead)),
      "spec.zone: Invalid value: \"UTC\": is of what comes again; write days beside it, as in mon-fri, or leave it "
      "out");
  EXPECT_EQ(wrongs(with("nodes: [n1], days: weekdays" + ahead)),
            "spec.days: Invalid value: \"weekdays\": 'weekdays' are no days; write daily, mon-fri or sat,sun");
  EXPECT_EQ(wrongs(with("nodes: [n1], days: mon, zone: Berlin" + ahead)),
            "spec.zone: Invalid value: \"Berlin\": zone: 'Berlin' is no time zone; write one such as Europe/Berlin, or "
            "leave it out");
  EXPECT_EQ(
      wrongs(with("nodes: [n1], days: mon, from: '2126-12-01T09:00:30Z', for: 4h")),
      "spec.from: Invalid value: \"2126-12-01T09:00:30Z\": what comes on days of a calendar begins and ends at a whole "
      "minute; write one");
  EXPECT_EQ(
      wrongs(with("nodes: [n1], days: funday, zone: Mars/X, from: '2126-12-01T09:00:30Z', for: 25h")),
      "spec.days: Invalid value: \"funday\": 'funday' are no days; write daily, mon-fri or sat,sun; "
      "spec.zone: Invalid value: \"Mars/X\": zone: 'Mars/X' is no time zone; write one such as Europe/Berlin, or leave "
      "it out; "
      "spec.from: Invalid value: \"2126-12-01T09:00:30Z\": what comes on days of a calendar begins and ends at a whole "
      "minute; write one; "
      "spec.for: Invalid value: \"25h\": what comes on days of a calendar lasts at most 24 hours on each; write at "
      "most "
      "24h");
  EXPECT_EQ(
      wrongs(with("nodes: [n1], daily: true, days: funday, zone: Mars/X" + ahead)),  // of a field the first is told
      "spec.days: Invalid value: \"funday\": 'funday' are no days; write daily, mon-fri or sat,sun; "
      "spec.zone: Invalid value: \"Mars/X\": zone: 'Mars/X' is no time zone; write one such as Europe/Berlin, or leave "
      "it out");
  EXPECT_EQ(wrongs(with("nodes: [n1], days: daily, from: '2126-12-01T09:00:00Z', for: 24h")),
            "spec.days: Invalid value: \"daily\": it would never end; write less than 24h, or fewer days");
  EXPECT_EQ(wrongs(with("nodes: [n1, n1, ''], gpus: 8, for: 9000h, from: '2126-12-01T09:00:00Z'")),
            "spec.gpus: Invalid value: 8: maintenance is of whole nodes; leave it out, or write for which queue; "
            "spec.nodes[2]: Invalid value: \"\": is no name of a node; write it as `kubectl get nodes` shows it; "
            "spec.nodes: Invalid value: \"n1\": stands here twice; write it once; "
            "spec.for: Invalid value: \"9000h\": is longer than 366 days; write less");
  EXPECT_EQ(
      wrongs(with("gpus: 8, from: '2126-12-01T09:00:00Z', for: 0s")),
      "spec.queue: Invalid value: null: is not there; write for which queue, with gpus; or nodes, for maintenance; "
      "spec.for: Invalid value: \"0s\": lasts no time; write how long, such as 4h");
}

TEST(Validate, SaysAllThatIsWrongWithAQuestionToTheScheduler) {
  const auto with = [](const std::string& kind, const std::string& spec) {
    return yaml_object("{apiVersion: berth.dev/v1alpha1, kind: " + kind + ", metadata: {name: q}, spec: {" + spec +
                       "}}");
  };
  EXPECT_EQ(wrongs(with("Defragmentation", "")), "");
  EXPECT_EQ(wrongs(with("Defragmentation", "gpus: 4, use: 30m, effort: 10, hours: sat 20:00-08:00, cooldown: 0s")), "");
  EXPECT_EQ(wrongs(with("Defragmentation", "slice: 3g.40gb, effort: 10")), "");
  EXPECT_EQ(wrongs(with("Defragmentation", "slice: 3g.4gb, gpus: 2")),
            "spec.slice: Invalid value: \"3g.4gb\": room is made for whole GPUs or for slices; write one of the two");
  EXPECT_EQ(wrongs(with("Defragmentation", "slice: 3g.4gb")),
            "spec.slice: Invalid value: \"3g.4gb\": no GPU model that is known can be cut into it; did you mean "
            "nvidia.com/mig-3g.40gb?");
  EXPECT_EQ(wrongs(with("Defragmentation", "gpus: 65, use: 0s, effort: -1, hours: at night, cooldown: 9000h")),
            "spec.gpus: Invalid value: 65: is no number of whole GPUs on one node; write 1 to 64; "
            "spec.effort: Invalid value: -1: is no number of attempts that are made here; write 0 to 10000; "
            "spec.use: Invalid value: \"0s\": is out of bounds; write such as 4h, at most 366d; "
            "spec.cooldown: Invalid value: \"9000h\": is out of bounds; write such as 1h, at most 366d; "
            "spec.hours: Invalid value: \"at night\": write hours of a clock, as in 20:00-08:00, with days before them "
            "and a zone after them where that is meant: mon-fri 20:00-08:00 Europe/Berlin");
  EXPECT_EQ(wrongs(with("Defragmentation", "cooldown: 1h")),
            "spec.cooldown: Invalid value: \"1h\": matters only to what is carried out by itself; write hours, too, or "
            "leave it out");
  EXPECT_EQ(wrongs(with("WhatIf", "changes: [drain node n1]")), "");
  EXPECT_EQ(wrongs(with("WhatIf", "")),
            "spec.changes: Invalid value: \"0\": must be 1 to 1000 changes, such as drain node n3");
  EXPECT_EQ(wrongs(with("WhatIf", "changes: ['']")),
            "spec.changes[0]: Invalid value: \"\": must be one line of at most 4096 bytes, such as drain node n3");
}

TEST(Validate, StopsCountingAtAHundred) {
  Value pod = yaml_object("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}");
  for (int i = 0; i < 5'000; ++i) pod.at("spec").at("containers").push_back(Value::map());
  AdmissionRequest request;
  request.kind = &kind_of(pod);
  request.object = &pod;
  EXPECT_EQ(validate(request).size(), 100U);
}

TEST(Validate, AnswersHugeObjectsSoon) {
  Value amounts = Value::map();
  Value tolerations = Value::list();
  for (int i = 0; i < 50'000; ++i) {
    amounts.edit_members().push_back({"example.com/r" + std::to_string(i), "1"});
    tolerations.push_back(Value::map_of({{"key", "k" + std::to_string(i)}, {"operator", "Exists"}}));
  }
  Value pod =
      yaml_object("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: b}]}}");
  pod.at("spec").set("tolerations", tolerations);
  Value& container = pod.at("spec").at("containers").edit_items()[0];
  container.at("resources").set("limits", amounts);
  container.at("resources").set("requests", amounts);
  const std::string found = wrongs(pod, &pod);
  EXPECT_NE(found.find("resources.limits: Too many: 50000"), std::string::npos);
  EXPECT_NE(found.find("spec.tolerations: Too many"), std::string::npos);
}

}  // namespace berth::validate_test
