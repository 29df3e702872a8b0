// Volcano's Job at the door: what is filled in, what is refused and what to write instead, who may submit it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apiserver/admission_world.h"
#include "manifest/labels.h"

namespace berth::volcano_job_test {

constexpr const char* kTemplate = "template: {spec: {containers: [{name: c, image: i}]}}";

// A task "worker" of two; `more` is YAML of it.
std::string worker(const std::string& more = "") {
  return "{name: worker, replicas: 2, " + std::string(kTemplate) + (more.empty() ? "" : ", ") + more + "}";
}
std::string job_with(const std::string& spec, const std::string& metadata = "") {
  return "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: train, namespace: default" +
         (metadata.empty() ? "" : ", " + metadata) + "}, spec: {" + spec + "}}";
}

struct Door {
  Value object;
  std::vector<std::string> warnings = {};
  std::string wrong = {};  // "field: message; field: message"
};
Door enter(const std::string& yaml, const Value* before = nullptr) {
  Door door{.object = yaml_object(yaml)};
  AdmissionRequest request;
  request.kind = &kind_of(door.object);
  request.operation = before == nullptr ? Operation::kCreate : Operation::kUpdate;
  request.before = before;
  request.object = &door.object;
  fill_defaults(request);
  for (const ErrorCause& cause : validate(request)) {
    door.wrong += (door.wrong.empty() ? "" : "; ") + cause.field + ": " + cause.message;
  }
  door.warnings = request.warnings;
  return door;
}

TEST(VolcanoJob, GetsWhatVolcanoWouldGiveIt) {
  const Door door = enter(
      job_with("tasks: [" + worker() + ", {replicas: 3, minAvailable: 1, " + kTemplate + "}], networkTopology: {}"));
  EXPECT_EQ(door.wrong,
            "spec.networkTopology.mode: Invalid value: \"hard\": binds those alone who start together, and "
            "here some start later; write soft, or leave out minAvailable and dependsOn");
  const Value& spec = door.object["spec"];
  EXPECT_EQ(spec["minAvailable"].integer(), 3) << "of the second task one";
  EXPECT_EQ(spec["maxRetry"].integer(), 3);
  EXPECT_EQ(spec["tasks"].items()[1]["name"].text(), "default1");
  EXPECT_EQ(spec["tasks"].items()[1]["maxRetry"].integer(), 3);
  EXPECT_EQ(spec["networkTopology"]["highestTierAllowed"].integer(), 1);
  EXPECT_EQ(spec["tasks"].items()[0]["template"]["spec"]["restartPolicy"].text(), "Always");
  // Whoever applies it again changes nothing.
  const Value first = enter(job_with("tasks: [" + worker() + "]")).object;
  EXPECT_EQ(enter(job_with("tasks: [" + worker() + "], minAvailable: 2, maxRetry: 3"), &first).object, first);
}

TEST(VolcanoJob, SaysThatNothingResolvesItsNames) {
  const Door door = enter(job_with("tasks: [" + worker() + "], plugins: {svc: [], env: []}"));
  EXPECT_EQ(door.wrong, "");
  ASSERT_EQ(door.warnings.size(), 1U);
  EXPECT_NE(door.warnings[0].find("Services are not served here"), std::string::npos);
  EXPECT_TRUE(enter(job_with("tasks: [" + worker() + "], plugins: {env: []}")).warnings.empty());
}

TEST(VolcanoJob, IsRefusedWithWhatToWriteInstead) {
  const std::string tasks = "tasks: [" + worker() + "], ";
  const struct {
    std::string spec;
    const char* wrong;  // a part of it; "": nothing is wrong
  } cases[] = {
      {tasks + "schedulerName: volcano, queue: default, priorityClassName: x", ""},
      {tasks + "schedulerName: kube-scheduler", "spec.schedulerName: Invalid value: \"kube-scheduler\": is not here"},
      {"tasks: []", "spec.tasks: Invalid value: \"\": there is none"},
      {"tasks: [{name: w, " + std::string(kTemplate) + "}]", "have no pods; write replicas"},
      {"tasks: [{name: w, replicas: 10001, " + std::string(kTemplate) + "}]", "more than 10,000 pods"},
      {"tasks: [" + worker() + ", " + worker() + "]",
       "spec.tasks[1].name: Invalid value: \"worker\": is the name of two"},
      {"tasks: [{name: W_, replicas: 1, " + std::string(kTemplate) + "}]", "spec.tasks[0].name: Invalid value: \"W_\""},
      {"tasks: [{name: " + std::string(60, 'w') + ", replicas: 1, " + kTemplate + "}]", "longer than 63 characters"},
      {"tasks: [{name: w, replicas: 1}]", "spec.tasks[0].template.spec.containers: Required value"},
      {"tasks: [" + worker("minAvailable: 3") + "]", "spec.tasks[0].minAvailable: Invalid value: 3: is more than"},
      {tasks + "minAvailable: 3", "spec.minAvailable: Invalid value: 3: is more than the tasks have replicas"},
      {tasks + "minSuccess: 0", "spec.minSuccess: Invalid value: 0: must be a number from 1 on"},
      {tasks + "minSuccess: 3", "spec.minSuccess: Invalid value: 3"},
      {tasks + "maxRetry: -1", "spec.maxRetry: Invalid value: -1"},
      {"tasks: [" + worker("maxRetry: -1") + "]", ""},
      {tasks + "volumes: [{mountPath: /a}]", "spec.volumes: "},
      {tasks + "runningEstimate: 10m", "berth.dev/run-for"},
      {"tasks: [" + worker("topologyPolicy: best-effort") + "]", "spec.tasks[0].topologyPolicy"},
      {"tasks: [" + worker("topologyPolicy: none") + "]", ""},
      {"tasks: [" + worker("partitionPolicy: {totalPartitions: 2}") + "]", "spec.tasks[0].partitionPolicy"},
      {"tasks: [" + worker("dependsOn: {name: [master]}") + "]", "names no task of the job"},
      {"tasks: [" + worker("dependsOn: {name: [worker]}") + "]", "leads back to the task itself"},
      {"tasks: [" + worker("dependsOn: {name: [m], iteration: any}") + ", {name: m, replicas: 1, " + kTemplate + "}]",
       ""},
      {tasks + "plugins: {ssh: []}",
       "spec.plugins[ssh]: Invalid value: \"ssh\": is not followed: nothing hands out keys"},
      {tasks + "plugins: {pytorch: [--master=m]}", "MASTER_ADDR"},
      {tasks + "plugins: {other: []}", "env and svc are"},
      {tasks + "plugins: {svc: [--publish-not-ready-addresses=true]}", ""},
      {tasks + "plugins: {env: [--x]}", "spec.plugins[env]: Invalid value: \"--x\""},
      {tasks + "networkTopology: {mode: hard, highestTierAllowed: 2}", ""},
      {tasks + "networkTopology: {highestTierName: spine}", "spec.networkTopology.highestTierName"},
      {tasks + "networkTopology: {mode: near}", "spec.networkTopology.mode: Unsupported value"},
      {tasks + "queue: a_b!", "spec.queue: "},
  };
  for (const auto& each : cases) {
    const std::string found = enter(job_with(each.spec)).wrong;
    if (std::string(each.wrong).empty()) {
      EXPECT_EQ(found, "") << each.spec;
    } else {
      EXPECT_NE(found.find(each.wrong), std::string::npos) << each.spec << "\n  says: " << found;
    }
  }
}

TEST(VolcanoJob, PoliciesAreRefusedWithWhatToWriteInstead) {
  const struct {
    const char* policies;
    const char* wrong;
  } cases[] = {
      {"{event: PodFailed, action: RestartJob}, {event: PodEvicted, action: RestartTask}", ""},
      {"{events: [PodFailed, PodEvicted], action: RestartPod}, {event: TaskCompleted, action: CompleteJob}", ""},
      {"{exitCode: 3, action: AbortJob, timeout: 10s}, {event: Unknown, action: TerminateJob}", ""},
      {"{event: PodPending, action: RestartPod, timeout: 5m}, {event: TaskFailed, action: RestartTask}", ""},
      {"{event: '*', action: RestartJob}", ""},
      {"{event: PodFailed, exitCode: 3, action: RestartJob}",
       "spec.policies[0]: Invalid value: \"\": takes one of the two"},
      {"{action: RestartJob}", "takes one of the two"},
      {"{exitCode: 0, action: RestartJob}", "spec.policies[0].exitCode"},
      {"{event: OutOfSync, action: RestartJob}", "spec.policies[0].event: Invalid value: \"OutOfSync\""},
      {"{event: JobUnknown, action: RestartJob}",
       "write one of PodFailed, PodEvicted, PodPending, TaskCompleted, "
       "TaskFailed, Unknown, or '*'"},
      {"{event: PodFailed, action: ResumeJob}", "spec.policies[0].action: Invalid value: \"ResumeJob\""},
      {"{event: PodFailed, action: RestartPartition}", "write one of RestartPod, RestartTask"},
      {"{event: PodFailed}", "spec.policies[0].action"},
      {"{event: PodFailed, action: AbortJob}, {event: PodFailed, action: RestartJob}",
       "spec.policies[1]: Invalid value: \"PodFailed\": stands in a policy before it"},
      {"{event: '*', action: AbortJob}, {event: PodFailed, action: RestartJob}", "write the events one by one"},
      {"{event: TaskCompleted, action: RestartPod}", "restarts the pod to which something happened"},
      {"{event: '*', action: RestartTask}", "write RestartJob"},
      {"{event: PodPending, action: RestartJob}",
       "spec.policies[0].timeout: Invalid value: \"\": every pod is pending"},
      {"{event: PodEvicted, action: RestartJob, timeout: 1m}", "write a policy for PodPending"},
      {"{event: PodFailed, action: RestartJob, timeout: '5'}", "has no unit"},
  };
  for (const auto& each : cases) {
    const std::string list = "policies: [" + std::string(each.policies) + "]";
    const std::string found = enter(job_with("tasks: [" + worker() + "], " + list)).wrong;
    const std::string of_task = enter(job_with("tasks: [" + worker(list) + "]")).wrong;
    if (std::string(each.wrong).empty()) {
      EXPECT_EQ(found + of_task, "") << each.policies;
    } else {
      EXPECT_NE(found.find(each.wrong), std::string::npos) << each.policies << "\n  says: " << found;
      EXPECT_NE(of_task.find("spec.tasks[0].policies"), std::string::npos) << each.policies << "\n  says: " << of_task;
    }
  }
}

TEST(VolcanoJob, AllThatIsWrongIsSaidAtOnce) {
  const std::string wrong =
      enter(job_with("schedulerName: x, volumes: [{mountPath: /a}], plugins: {ssh: [], mpi: []}, tasks: [{name: w, "
                     "replicas: 1, template: {spec: {schedulerName: other, nodeName: here, containers: [{name: C, "
                     "image: i}]}}}]"))
          .wrong;
  for (const char* const part : {"spec.schedulerName", "spec.volumes", "spec.plugins[ssh]", "spec.plugins[mpi]",
                                 "spec.tasks[0].template.spec.schedulerName", "spec.tasks[0].template.spec.nodeName",
                                 "spec.tasks[0].template.spec.containers[0].name"}) {
    EXPECT_NE(wrong.find(part), std::string::npos) << part << " is not in: " << wrong;
  }
}

TEST(VolcanoJob, WhatItHandsDownIsReadAsInATemplate) {
  const std::string tasks = "tasks: [" + worker() + ", {replicas: 3, " + kTemplate + "}]";
  EXPECT_TRUE(enter(job_with(tasks, "annotations: {berth.dev/run-for: 5 seconds}"))
                  .wrong.starts_with("metadata.annotations[berth.dev/run-for]: Invalid value: \"5 seconds\""));
  const std::string wrong = enter(job_with(tasks, "annotations: {berth.dev/topology: bogus}")).wrong;
  EXPECT_EQ(wrong.find("; metadata"), std::string::npos) << "once for all tasks: " << wrong;
  EXPECT_TRUE(wrong.starts_with("metadata.annotations[berth.dev/topology]")) << wrong;
}

TEST(VolcanoJob, AWordThatIsWrongForSomeTasksIsToldOfThese) {
  const std::string gpu =
      "{name: g, replicas: 2, template: {spec: {containers: [{name: c, image: b, resources: {limits: "
      "{nvidia.com/gpu: 1}}}]}}}";
  const std::string wrong =
      enter(job_with("tasks: [" + worker() + ", " + gpu + "]", "annotations: {berth.dev/gpu-memory: 40Gi}")).wrong;
  EXPECT_TRUE(wrong.starts_with("metadata.annotations[berth.dev/gpu-memory]: Invalid value: \"40Gi\"")) << wrong;
  EXPECT_TRUE(
      wrong.ends_with("; this is of task 'worker': leave it out here, and write it in the template of task 'g'"))
      << wrong;
}

TEST(VolcanoJob, StaysAsItIsButForHowOftenItTries) {
  const Value before = enter(job_with("tasks: [" + worker() + "]")).object;
  const auto changed = [&](const std::string& spec) { return enter(job_with(spec), &before).wrong; };
  EXPECT_EQ(changed("tasks: [" + worker("maxRetry: 9") + "], maxRetry: 5, minSuccess: 1, ttlSecondsAfterFinished: 9"),
            "");
  EXPECT_NE(
      changed("tasks: [" + worker("policies: [{event: PodFailed, action: AbortJob}]") + "]").find("spec: Forbidden"),
      std::string::npos);
  EXPECT_NE(changed("tasks: [" + worker() + "], queue: other").find("delete the job and create it anew"),
            std::string::npos);
}

void expect_part(const std::string& found, const std::string& part) {
  EXPECT_NE(found.find(part), std::string::npos) << found << "\n  lacks: " << part;
}

TEST(VolcanoJob, QueuesAndClassesSayWhoMaySubmit) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: default}, spec: {submitters: {users: [bob]}}}");
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: anns}, spec: {submitters: {users: [ann]}}}");
  const std::string tasks = "tasks: [" + worker() + "]";
  const auto create = [&](const std::string& spec, const std::string& metadata = "") {
    Value job = yaml_object(job_with(spec, metadata));
    static int number = 0;
    job.at("metadata").set("name", "j" + std::to_string(++number));
    return world.create_value(job);
  };
  expect_part(create(tasks), "queue \"default\" takes nothing from user \"ann\"");
  expect_part(create(tasks + ", queue: default"), "queue \"default\" takes nothing");
  EXPECT_EQ(create(tasks + ", queue: research"), "") << "Volcano's queues let everybody in";
  EXPECT_EQ(create(tasks, "labels: {berth.dev/queue: anns}"), "");
  world.put("{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: default}}");
  EXPECT_EQ(create(tasks + ", queue: default"), "") << "it is Volcano's own now";
  expect_part(create(tasks + ", queue: research, priorityClassName: gold"),
              "no PriorityClass with name gold was found");
  const std::string named =
      "tasks: [{name: w, replicas: 1, template: {spec: {priorityClassName: gold, containers: "
      "[{name: c, image: i}]}}}], queue: research";
  expect_part(create(named), "no PriorityClass with name gold was found");
}

TEST(VolcanoJob, ItsPodsWereAllowedWithIt) {
  AdmissionWorld world;
  world.put(
      "{apiVersion: berth.dev/v1alpha1, kind: Queue, metadata: {name: anns}, spec: {submitters: {users: [ann]}}}");
  EXPECT_EQ(world.create(job_with("tasks: [" + worker() + "]", "uid: u-v, labels: {berth.dev/queue: anns}")), "");
  const auto pod_of = [](const std::string& name, const std::string& api) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           ", namespace: default, labels: {berth.dev/queue: anns}, ownerReferences: [{apiVersion: " + api +
           ", kind: Job, name: train, uid: u-v, controller: true}]}, spec: {containers: [{name: c, image: i}]}}";
  };
  world.user.name = "system:berth-controllers";
  EXPECT_EQ(world.create(pod_of("a", "batch.volcano.sh/v1alpha1")), "");
  expect_part(world.create(pod_of("b", "batch/v1")), "takes nothing");
}

}  // namespace berth::volcano_job_test
