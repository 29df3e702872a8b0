#include "apiserver/job_sets.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>

#include "apiserver/admission_world.h"

namespace berth::job_sets_test {

constexpr const char* kKey = "jobsets.jobset.x-k8s.io/default/train";

// A part with one Job of one pod; the words are fields: of the part, of the Job, of the pods' metadata and their spec.
struct PartText {
  std::string name = "workers";
  std::string more = {};
  std::string job = "parallelism: 2, completions: 2";
  std::string metadata = {};
  std::string pods = {};
};
std::string part(const PartText& text) {
  return "{name: " + text.name + (text.more.empty() ? "" : ", ") + text.more + ", template: {spec: {" + text.job +
         (text.job.empty() ? "" : ", ") + "template: {metadata: {" + text.metadata + "}, spec: {" + text.pods +
         (text.pods.empty() ? "" : ", ") + "containers: [{name: c, image: b}]}}}}}";
}
// `more`: fields of the spec.
std::string set_of(const std::string& parts, const std::string& more = "", const std::string& metadata = "") {
  return std::string(
             "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: train, namespace: default") +
         (metadata.empty() ? "" : ", ") + metadata + "}, spec: {replicatedJobs: [" + parts + "]" +
         (more.empty() ? "" : ", ") + more + "}}";
}
const std::string kWorkers = part({});

TEST(JobSets, GetWhatTheirOwnServerWouldGiveThem) {
  AdmissionWorld world;
  EXPECT_EQ(world.create(set_of(part({.job = ""}), "failurePolicy: {rules: [{action: FailJobSet}]}")), "");
  const Value set = world.at(kKey);
  const Value& spec = set["spec"];
  EXPECT_EQ(to_json(spec["successPolicy"]), R"({"operator":"All"})");
  EXPECT_EQ(to_json(spec["startupPolicy"]), R"({"startupPolicyOrder":"AnyOrder"})");
  EXPECT_EQ(to_json(spec["network"]), R"({"enableDNSHostnames":true,"publishNotReadyAddresses":true})");
  EXPECT_EQ(spec["failurePolicy"]["restartStrategy"].text(), "Recreate");
  EXPECT_EQ(spec["failurePolicy"]["rules"].items().at(0)["name"].text(), "failurePolicyRule0");
  const Value& workers = spec["replicatedJobs"].items().at(0);
  EXPECT_EQ(workers["replicas"].integer(), 1);
  EXPECT_EQ(workers["groupName"].text(), "default");
  EXPECT_EQ(workers["template"]["spec"]["completionMode"].text(), "Indexed");
  EXPECT_EQ(workers["template"]["spec"]["template"]["spec"]["restartPolicy"].text(), "OnFailure");
}

TEST(JobSets, AreRefusedWithWhatToWriteInstead) {
  const struct {
    std::string set;
    const char* wrong;
  } cases[] = {
      {set_of(""), "spec.replicatedJobs: Required value"},
      {set_of(part({.name = "w_"})), "spec.replicatedJobs[0].name: Invalid value: \"train-w_-0\""},
      {set_of(part({.name = std::string(60, 'w')})), "metadata.name: Invalid value: \"train\": its Job train-www"},
      {set_of(part({.name = std::string(52, 'w')})),
       "metadata.name: Invalid value: \"train\": its pods would have names"},
      {set_of(kWorkers + "," + kWorkers), "spec.replicatedJobs[1].name: Duplicate value: \"workers\""},
      {set_of(part({.more = "replicas: -1"})), "spec.replicatedJobs[0].replicas: Invalid value: -1"},
      {set_of(part({.more = "groupName: G"})), "spec.replicatedJobs[0].groupName: Invalid value: \"G\""},
      {set_of(part({.more = "replicas: 9999"}) + "," + part({.name = "b", .more = "replicas: 2"})),
       "10001 Jobs with 20002 pods at once are too many"},
      {set_of(part({.job = "parallelism: 2"})),
       "spec.replicatedJobs[0].template.spec.completions: Required value: when completion mode is Indexed"},
      {set_of(part({.job = "ttlSecondsAfterFinished: 5"})),
       "spec.replicatedJobs[0].template.spec.ttlSecondsAfterFinished: Forbidden: a Job that is deleted would be made "
       "anew"},
      {set_of(part({.pods = "restartPolicy: Always"})),
       "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy: Required value"},
      {set_of(part({.metadata = "annotations: {berth.dev/run-for: x}"})),
       "spec.replicatedJobs[0].template.spec.template.metadata.annotations[berth.dev/run-for]"},
      {set_of(part({.more = "dependsOn: [{name: workers, status: Ready}]"})),
       "spec.replicatedJobs[0].dependsOn[0].name: Invalid value: \"workers\": is none of those that stand before it"},
      {set_of(kWorkers + "," + part({.name = "b", .more = "dependsOn: [{name: workers, status: Gone}]"})),
       "spec.replicatedJobs[1].dependsOn[0].status: Unsupported value: \"Gone\""},
      {set_of(kWorkers + "," + part({.name = "b", .more = "dependsOn: [{name: workers, status: Ready}]"}),
              "startupPolicy: {startupPolicyOrder: InOrder}"),
       "spec.replicatedJobs[1].dependsOn: Forbidden: stands beside spec.startupPolicy InOrder"},
      {set_of(kWorkers, "network: {subdomain: A.b}"), "spec.network.subdomain: Invalid value: \"A.b\""},
      {set_of(kWorkers, "successPolicy: {operator: Most}"), "spec.successPolicy.operator: Unsupported value: \"Most\""},
      {set_of(kWorkers, "successPolicy: {operator: All, targetReplicatedJobs: [none]}"),
       "spec.successPolicy.targetReplicatedJobs[0]: Invalid value: \"none\": is the name of none of"},
      {set_of(kWorkers, "failurePolicy: {maxRestarts: -1}"), "spec.failurePolicy.maxRestarts: Invalid value: -1"},
      {set_of(kWorkers, "failurePolicy: {restartStrategy: InPlaceRestart}"),
       "spec.failurePolicy.restartStrategy: Forbidden: containers are not restarted in place; write Recreate or"},
      {set_of(kWorkers, "failurePolicy: {rules: [{action: RestartJob}]}"),
       "spec.failurePolicy.rules[0].action: Forbidden: one Job is not restarted without the others; write "
       "RestartJobSet"},
      {set_of(kWorkers, "failurePolicy: {rules: [{action: RecreateJob}]}"),
       "spec.failurePolicy.rules[0].action: Forbidden: one Job is not restarted without the others; write "
       "RestartJobSet"},
      {set_of(kWorkers, "failurePolicy: {rules: [{action: Restart}]}"),
       "spec.failurePolicy.rules[0].action: Unsupported value: \"Restart\": supported values: \"FailJobSet\", "
       "\"RestartJobSet\", \"RestartJobSetAndIgnoreMaxRestarts\""},
      {set_of(kWorkers, "failurePolicy: {rules: [{name: 1a, action: FailJobSet}]}"),
       "spec.failurePolicy.rules[0].name: Invalid value: \"1a\""},
      {set_of(kWorkers, "failurePolicy: {rules: [{name: a, action: FailJobSet}, {name: a, action: FailJobSet}]}"),
       "spec.failurePolicy.rules[1].name: Duplicate value: \"a\""},
      {set_of(kWorkers, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureReasons: [Bored]}]}"),
       "spec.failurePolicy.rules[0].onJobFailureReasons[0]: Unsupported value: \"Bored\""},
      {set_of(kWorkers, "failurePolicy: {rules: [{action: FailJobSet, onJobFailureMessagePatterns: ['(']}]}"),
       "spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]: Invalid value: \"(\": it is no regular expression"},
      {set_of(kWorkers, "failurePolicy: {rules: [{action: FailJobSet, targetReplicatedJobs: [none]}]}"),
       "spec.failurePolicy.rules[0].targetReplicatedJobs[0]: Invalid value: \"none\""},
      {set_of(kWorkers, "coordinator: {replicatedJob: none}"),
       "spec.coordinator.replicatedJob: Invalid value: \"none\""},
      {set_of(kWorkers, "coordinator: {replicatedJob: workers, jobIndex: 1}"),
       "spec.coordinator.jobIndex: Invalid value: 1: workers has 1 Jobs, counted from 0"},
      {set_of(kWorkers, "coordinator: {replicatedJob: workers, podIndex: 2}"),
       "spec.coordinator.podIndex: Invalid value: 2: workers has 2 completions"},
      {set_of(kWorkers, "coordinator: {replicatedJob: workers}, network: {subdomain: " + std::string(60, 's') + "}"),
       "spec.coordinator: Invalid value: \"train-workers-0-0.sss"},
      {set_of(kWorkers, "managedBy: mine"), "spec.managedBy: Invalid value: \"mine\""},
      {set_of(kWorkers, "ttlSecondsAfterFinished: -1"), "spec.ttlSecondsAfterFinished: Invalid value: -1"},
      {set_of(kWorkers, "volumeClaimPolicies: [{}]"),
       "spec.volumeClaimPolicies: Forbidden: there are no volume claims here"},
      {set_of(kWorkers, "", "annotations: {alpha.jobset.sigs.k8s.io/node-selector: 'true'}"),
       "metadata.annotations[alpha.jobset.sigs.k8s.io/node-selector]: Forbidden: is not followed; to keep pods in "
       "one domain, write the annotation berth.dev/topology: required:LABEL"},
      {set_of(kWorkers, "", "annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: a rack}"),
       "metadata.annotations[alpha.jobset.sigs.k8s.io/exclusive-topology]: Invalid value: \"a rack\": is no label"},
      {set_of(kWorkers, "", "annotations: {berth.dev/gang: no-way}"),
       "metadata.annotations[berth.dev/gang]: Unsupported value"},
  };
  for (const auto& [set, wrong] : cases) {
    AdmissionWorld world;
    const std::string said = world.create(set);
    EXPECT_NE(said.find(wrong), std::string::npos) << set << "\n  says: " << said << "\n  not:  " << wrong;
  }
}

TEST(JobSets, AllThatIsWrongIsSaidAtOnce) {
  AdmissionWorld world;
  const std::string said = world.create(set_of(part({.more = "groupName: G"}), "volumeClaimPolicies: [{}]"));
  EXPECT_NE(said.find("groupName"), std::string::npos);
  EXPECT_NE(said.find("volumeClaimPolicies"), std::string::npos);
}

TEST(JobSets, WhatTheyHandDownIsReadAsInATemplate) {
  AdmissionWorld world;
  const std::string wrong = world.create(
      set_of(kWorkers + "," + part({.name = "driver", .metadata = "annotations: {berth.dev/run-for: 5s}"}) +
                 ", {name: own, template: {metadata: {annotations: {berth.dev/coverage: silver}}, spec: {template: "
                 "{spec: {containers: [{name: c, image: b}]}}}}}",
             "",
             "annotations: {berth.dev/run-for: 5 seconds, berth.dev/topology: bogus}, labels: "
             "{kueue.x-k8s.io/max-exec-time-seconds: abc}"));
  const char* const said[] = {
      "metadata.annotations[berth.dev/run-for]: Invalid value: \"5 seconds\"",
      "metadata.annotations[berth.dev/topology]: Invalid value: \"bogus\"",
      "metadata.labels[kueue.x-k8s.io/max-exec-time-seconds]: Invalid value: \"abc\"",
      "spec.replicatedJobs[2].template.metadata.annotations[berth.dev/coverage]: Invalid value: \"silver\"",
  };
  std::size_t causes = 0;
  for (std::size_t at = wrong.find("Invalid value"); at != std::string::npos;
       at = wrong.find("Invalid value", at + 1)) {
    ++causes;
  }
  EXPECT_EQ(causes, std::size(said)) << "each once: " << wrong;
  for (const char* const each : said) EXPECT_NE(wrong.find(each), std::string::npos) << each << ": " << wrong;
}

TEST(JobSets, AWordThatIsWrongForSomePartsIsToldOfThese) {
  const std::string gpu = "containers: [{name: c, image: b, resources: {limits: {nvidia.com/gpu: 1}}}]";
  const std::string none = "containers: [{name: c, image: b}]";
  const auto part_of = [](const std::string& name, const std::string& spec, const std::string& metadata = "{}") {
    return "{name: " + name + ", template: {metadata: " + metadata + ", spec: {template: {spec: {" + spec + "}}}}}";
  };
  const std::string half = "annotations: {berth.dev/gpu-milli: '500'}";
  const std::string told = "the pod asks for 0; this is of replicated job";
  const struct {
    const char* what;
    std::string parts, said;
  } cases[] = {
      {"one of two", part_of("lead", none) + "," + part_of("work", gpu),
       told + " 'lead': leave it out here, and write it in the template of replicated job 'work'"},
      {"two of four", part_of("a", gpu) + "," + part_of("b", none) + "," + part_of("c", none) + "," + part_of("d", gpu),
       told + "s 'b', 'c': leave it out here, and write it in the templates of replicated jobs 'a', 'd'"},
      {"one, where the other says it itself", part_of("lead", none) + "," + part_of("work", gpu, "{" + half + "}"),
       "the pod asks for 0"},
      {"all", part_of("lead", none) + "," + part_of("work", none), "the pod asks for 0"},
      {"none", part_of("lead", gpu) + "," + part_of("work", gpu), ""},
  };
  for (const auto& [what, parts, said] : cases) {
    SCOPED_TRACE(what);
    AdmissionWorld world;
    const std::string wrong = world.create(set_of(parts, "", half));
    EXPECT_TRUE(wrong.ends_with(said)) << wrong;
    EXPECT_EQ(wrong.empty(), said.empty()) << wrong;
  }
}

TEST(JobSets, ChangeOnlyWhatNothingIsMadeOf) {
  const auto node_selector = [](Value& set) {
    set.at("spec")
        .at("replicatedJobs")
        .edit_items()[0]
        .at("template")
        .at("spec")
        .at("template")
        .at("spec")
        .at("nodeSelector")
        .set("rack", "r1");
  };
  const auto image = [](Value& set) {
    set.at("spec")
        .at("replicatedJobs")
        .edit_items()[0]
        .at("template")
        .at("spec")
        .at("template")
        .at("spec")
        .at("containers")
        .edit_items()[0]
        .set("image", "other");
  };
  AdmissionWorld world;
  ASSERT_EQ(world.create(set_of(kWorkers, "failurePolicy: {maxRestarts: 1}")), "");
  const auto refused = [&](const auto& change) { return world.update(kKey, change); };
  EXPECT_NE(refused(node_selector)
                .find("spec.replicatedJobs: Invalid value: \"\": field is immutable; while the set is "
                      "suspended"),
            std::string::npos);
  EXPECT_NE(refused([](Value& set) {
              set.at("spec").at("failurePolicy").set("maxRestarts", 2);
            }).find("spec.failurePolicy: Invalid value"),
            std::string::npos);
  EXPECT_NE(refused([](Value& set) { set.at("spec").set("managedBy", "a.b/c"); }).find("spec.managedBy"),
            std::string::npos);
  EXPECT_EQ(refused([](Value& set) { set.at("spec").set("ttlSecondsAfterFinished", 9); }), "");
  EXPECT_EQ(refused([](Value& set) { set.at("spec").set("suspend", true); }), "");
  EXPECT_EQ(refused(node_selector), "") << "nothing of it runs";
  EXPECT_NE(refused(image), "");
}

TEST(JobSets, WhoMaySubmitIsAskedOfTheSetAndNotOfItsJobs) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: anns}, spec: {submitters: {users: [ann]}}}");
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: bobs}, spec: {submitters: {users: [bob]}}}");
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: default}, spec: {submitters: {users: [bob]}}}");
  const auto labelled = [](const std::string& queue) { return "labels: {berth.dev/queue: " + queue + "}"; };
  const auto takes = [&](const std::string& set) {
    return world.create(set).find("takes nothing") == std::string::npos;
  };
  EXPECT_FALSE(takes(set_of(kWorkers))) << "the default queue";
  EXPECT_FALSE(takes(set_of(kWorkers, "", labelled("bobs"))));
  EXPECT_FALSE(takes(set_of(part({.metadata = labelled("bobs")}), "", labelled("anns")))) << "of any of its pods";
  EXPECT_FALSE(takes(set_of(kWorkers + "," + part({.name = "b", .metadata = labelled("anns")})))) << "one part of two";
  EXPECT_EQ(world.create(set_of(kWorkers, "", "uid: u-s, " + labelled("anns"))), "");
  world.user.name = "system:berth-controllers";
  const auto job = [&](const std::string& uid) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: j-" + uid + ", namespace: default, " + labelled("anns") +
           ", ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: train, uid: " + uid +
           ", controller: true}]}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "
           "b}]}}}}";
  };
  EXPECT_EQ(world.create(job("u-s")), "");
  EXPECT_NE(world.create(job("u-other")), "") << "of no set that is there";
}

TEST(JobSets, ClassesOfItsPodsAreThoseThatTheUserMayUse) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: closed, annotations: "
      "{berth.dev/restricted: 'true'}}, value: 9}");
  const std::string set = set_of(kWorkers + "," + part({.name = "b", .pods = "priorityClassName: closed"}));
  EXPECT_NE(world.create(set).find("no PriorityClass with name closed was found that user \"ann\" may use"),
            std::string::npos);
  world.authorizer.allowed = {"ann use priorityclasses"};
  EXPECT_EQ(world.create(set), "");
}

TEST(JobSets, WhatKueueWouldLetGoIsNotSuspended) {
  AdmissionWorld world;
  EXPECT_EQ(world.create(set_of(kWorkers, "suspend: true", "labels: {kueue.x-k8s.io/queue-name: main}")), "");
  EXPECT_FALSE(world.at(kKey)["spec"]["suspend"].truth());
  ASSERT_EQ(world.warnings.size(), 1U);
  EXPECT_TRUE(world.warnings[0].starts_with("spec.suspend is taken back: the pods of a JobSet"));
  world.user.name = "system:berth-controllers";
  EXPECT_EQ(world.create("{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, labels: "
                         "{kueue.x-k8s.io/queue-name: main}}, spec: {suspend: true, template: {spec: {restartPolicy: "
                         "Never, containers: [{name: c, image: b}]}}}}"),
            "");
  EXPECT_TRUE(world.at("jobs.batch/default/j")["spec"]["suspend"].truth()) << "a Job is as its set wants it";
}

// Of each sort of its Jobs a quota keeps room for all pods from the first on.
TEST(JobSets, QuotasCountTheGangSortBySort) {
  AdmissionWorld world;
  EXPECT_EQ(world.create("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: default}, spec: {hard: "
                         "{requests.nvidia.com/gpu: 6}}}"),
            "");
  for (const char* const name : {"w-0", "w-1"}) {
    world.put("{apiVersion: batch/v1, kind: Job, metadata: {name: " + std::string(name) +
              ", namespace: default, uid: u-" + name + "}, spec: {parallelism: 2, completions: 2}}");
  }
  const auto member = [&](const std::string& name, const std::string& job, const std::string& set, int gpus) {
    return world.create(
        "{apiVersion: v1, kind: Pod, metadata: {name: " + name +
        ", namespace: default, labels: {berth.dev/pod-group: train, jobset.sigs.k8s.io/replicatedjob-name: " +
        (gpus > 0 ? "w" : "d") + ", jobset.sigs.k8s.io/replicatedjob-replicas: '" + (gpus > 0 ? "2" : "1") +
        "'}, annotations: {berth.dev/pod-group-size: '5', berth.dev/pod-group-uid: " + set +
        "}, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: " + job + ", uid: u-" + job +
        ", controller: true}]}, spec: {containers: [{name: c, image: b, resources: {limits: {nvidia.com/gpu: " +
        std::to_string(gpus) + "}}}]}}");
  };
  const auto used = [&] {
    return std::string(world.at("resourcequotas/default/q")["status"]["used"]["requests.nvidia.com/gpu"].text());
  };
  EXPECT_EQ(member("d", "w-0", "s", 0), "") << "the driver takes none, and so says nothing of the workers";
  EXPECT_EQ(used(), "0");
  EXPECT_EQ(member("a", "w-0", "s", 1), "");
  EXPECT_EQ(used(), "4") << "two Jobs of two pods";
  const std::string refused = member("x", "w-1", "another", 1);
  EXPECT_NE(refused.find("for the 4 pods of the group \"train\" that are still to come"), std::string::npos) << refused;
  EXPECT_EQ(member("b", "w-1", "s", 1), "");
  EXPECT_EQ(member("c", "w-1", "s", 1), "");
  EXPECT_EQ(member("e", "w-0", "s", 1), "");
  EXPECT_EQ(used(), "4");
  EXPECT_EQ(world.erase("pods/default/a"), "");
  EXPECT_EQ(used(), "3") << "it has been whole";
}

}  // namespace berth::job_sets_test
