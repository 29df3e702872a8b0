#include <gtest/gtest.h>

#include <string>

#include "apiserver/admission_world.h"

namespace berth::validate_placing_test {

// "field: message; field: message"
std::string wrongs(Value object, const Value* before = nullptr) {
  AdmissionRequest request;
  request.kind = &kind_of(object);
  request.operation = before == nullptr ? Operation::kCreate : Operation::kUpdate;
  request.before = before;
  request.object = &object;
  fill_defaults(request);
  std::string all;
  for (const ErrorCause& cause : validate(request))
    all += (all.empty() ? "" : "; ") + cause.field + ": " + cause.message;
  return all;
}

Value with_defaults(Value object) {
  AdmissionRequest request;
  request.kind = &kind_of(object);
  request.object = &object;
  fill_defaults(request);
  return object;
}

struct Case {
  const char* given;
  const char* wrong;  // all of it; "" = nothing is wrong
};

// The same is wrong with a pod, of whose spec each `wrong` begins with the path, and with the template of a Job.
void expect(const std::string& spec, const std::string& wrong) {
  const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec + "}}";
  EXPECT_EQ(wrongs(yaml_object(pod)), wrong) << spec;
  const std::string job =
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, uid: u}, spec: {template: {spec: {restartPolicy: Never, " +
      spec + "}}}}";
  EXPECT_EQ(wrongs(yaml_object(job)), wrong.empty() ? "" : "spec.template." + wrong) << spec;
}

const std::string kContainer = "containers: [{name: c, image: i}], ";

TEST(ValidatePlacing, FindsNodeAffinityThatKubernetesRefuses) {
  const std::string required =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
      "nodeSelectorTerms[0].";
  const std::string expression = required + "matchExpressions[0].", field = required + "matchFields[0].";
  struct {
    std::string term;
    std::string wrong;
  } const cases[] = {
      {"{}", ""},
      {"{matchExpressions: [{key: a, operator: In, values: [x]}, {key: b, operator: Gt, values: ['8']}]}", ""},
      {"{matchExpressions: [{key: a, operator: In, values: []}]}",
       expression + "values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
      {"{matchExpressions: [{key: a, operator: Exists, values: [x]}]}",
       expression + "values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"},
      {"{matchExpressions: [{key: a, operator: Gt, values: ['1', '2']}]}",
       expression + "values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"},
      {"{matchExpressions: [{key: a b, operator: Exists}]}",
       expression + "key: Invalid value: \"a b\": must be the key of a label, such as example.com/name"},
      {"{matchExpressions: [{key: a, operator: NotIn, values: [x, x y]}]}",
       expression + "values[1]: Invalid value: \"x y\": must be the value of a label: at most 63 of letters, digits, "
                    "'-', '_' and '.'"},
      {"{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}", ""},
      {"{matchFields: [{key: metadata.name, operator: In, values: [n1, n2]}]}",
       field + "values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field "
               "selector; write a term for each"},
      {"{matchFields: [{key: metadata.name, operator: Exists}]}",
       field + "operator: Invalid value: \"Exists\": not a valid selector operator for a field; write In or NotIn"},
      {"{matchFields: [{key: spec.unschedulable, operator: In, values: [n1]}]}",
       field + "key: Invalid value: \"spec.unschedulable\": not a valid field selector key; write metadata.name, or a "
               "label in matchExpressions"},
  };
  for (const auto& each : cases) {
    expect(kContainer +
               "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
               "{nodeSelectorTerms: [" +
               each.term + "]}}}",
           each.wrong);
  }
  const std::string preferred = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].";
  for (const std::string weight : {"0", "101"}) {
    expect(kContainer + "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: " +
               weight + ", preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}",
           preferred + "weight: Invalid value: " + weight + ": must be in the range 1-100");
  }
}

TEST(ValidatePlacing, FindsPodAffinityThatKubernetesRefuses) {
  const std::string term = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].";
  const std::string selector = "topologyKey: rack, labelSelector: {matchLabels: {app: x}}";
  struct {
    std::string term;
    std::string wrong;
  } const cases[] = {
      {selector, ""},
      {selector + ", matchLabelKeys: [a], mismatchLabelKeys: [b]", ""},
      {"topologyKey: ''", term + "topologyKey: Required value: can not be empty; write a label of nodes, such as "
                                 "kubernetes.io/hostname"},
      {"topologyKey: a b",
       term + "topologyKey: Invalid value: \"a b\": must be the key of a label, such as example.com/name"},
      {selector + ", matchLabelKeys: [a], mismatchLabelKeys: [a]",
       term + "matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and mismatchLabelKeys; leave it "
              "out of one of them"},
      {selector + ", mismatchLabelKeys: [app]",
       term + "mismatchLabelKeys[0]: Invalid value: \"app\": exists in both mismatchLabelKeys and labelSelector; leave "
              "it out of one of them"},
      {"topologyKey: rack, matchLabelKeys: [a]",
       term + "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"},
  };
  for (const auto& each : cases) {
    expect(kContainer + "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" + each.term +
               "}]}}",
           each.wrong);
  }
  const std::string preferred = "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].";
  expect(kContainer +
             "affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, "
             "podAffinityTerm: {" +
             selector + "}}]}}",
         preferred + "weight: Invalid value: 0: must be in the range 1-100");
}

TEST(ValidatePlacing, FindsSelectorsOfPodsThatAreNone) {
  for (const std::string selector :
       {"{matchLabels: {a b: c}}", "{matchLabels: {a: c d}}", "{matchExpressions: [{key: a b, operator: Exists}]}",
        "{matchExpressions: [{key: a, operator: In, values: []}]}",
        "{matchExpressions: [{key: a, operator: In, values: [c d]}]}"}) {
    const std::string spec = kContainer +
                             "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                             "[{topologyKey: rack, labelSelector: " +
                             selector + "}]}}";
    const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + spec + "}}";
    EXPECT_TRUE(wrongs(yaml_object(pod))
                    .starts_with("spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
                                 "labelSelector"))
        << selector << ": " << wrongs(yaml_object(pod));
  }
}

TEST(ValidatePlacing, FindsSpreadConstraintsThatKubernetesRefuses) {
  const std::string first = "spec.topologySpreadConstraints[0].";
  const std::string rack = "topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: x}}";
  const std::string any = "topologyKey: rack, whenUnsatisfiable: ScheduleAnyway";
  struct {
    std::string spreads;
    std::string wrong;
  } const cases[] = {
      {"{maxSkew: 1, " + rack + ", minDomains: 2, matchLabelKeys: [b]}, {maxSkew: 1, " + any + "}", ""},
      {"{maxSkew: 0, " + rack + "}", first + "maxSkew: Invalid value: 0: must be greater than zero"},
      {"{maxSkew: 1, minDomains: 0, " + rack + "}", first + "minDomains: Invalid value: 0: must be greater than zero"},
      {"{maxSkew: 1, minDomains: 2, " + any + "}",
       first + "minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "
               "whenUnsatisfiable=ScheduleAnyway"},
      {"{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, topologyKey: ''}",
       first + "topologyKey: Required value: can not be empty; write a label of nodes, such as kubernetes.io/hostname"},
      {"{maxSkew: 1, " + any + "}, {maxSkew: 2, " + any + "}",
       "spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{rack, "
       "ScheduleAnyway}\""},
      {"{maxSkew: 1, " + rack + ", matchLabelKeys: [a]}",
       first + "matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and labelSelector; leave it out "
               "of one of them"},
      {"{maxSkew: 1, " + any + ", matchLabelKeys: [a]}",
       first + "matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"},
  };
  for (const auto& each : cases) expect(kContainer + "topologySpreadConstraints: [" + each.spreads + "]", each.wrong);
}

TEST(ValidatePlacing, FindsPortsOfANodeThatOnePodHasTwice) {
  const Case cases[] = {
      {"containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}, {containerPort: 80, hostPort: 80, "
       "protocol: UDP}, {containerPort: 81, hostPort: 80, hostIP: 10.0.0.1}]}]",
       ""},
      {"containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: "
       "80}]}]",
       "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//80\""},
      {"containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}, {name: d, image: i, ports: "
       "[{containerPort: 80, hostPort: 80}]}]",
       "spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\""},
      {"containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 80}]}], initContainers: [{name: d, "
       "image: i, ports: [{containerPort: 80, hostPort: 80}]}, {name: e, image: i, ports: [{containerPort: 80, "
       "hostPort: 80}]}]",
       ""},
      {"hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80}, {containerPort: 81, hostPort: "
       "81}]}]",
       ""},
      {"hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80, hostPort: 81}]}]",
       "spec.containers[0].ports[0].containerPort: Invalid value: 80: must match `hostPort` when `hostNetwork` is "
       "true"},
      {"hostNetwork: true, containers: [{name: c, image: i, ports: [{containerPort: 80}]}, {name: d, image: i, ports: "
       "[{containerPort: 80}]}]",
       "spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\""},
  };
  for (const Case& each : cases) expect(each.given, each.wrong);
}

// One that was taken in before may still be labelled, and let go.
TEST(ValidatePlacing, LooksAtNewPodsAlone) {
  const Value pod =
      yaml_object("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" + kContainer +
                  "topologySpreadConstraints: [{maxSkew: 0, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]}}");
  EXPECT_NE(wrongs(pod), "");
  const Value stored = with_defaults(pod);
  EXPECT_EQ(wrongs(stored, &stored), "");
}

}  // namespace berth::validate_placing_test
