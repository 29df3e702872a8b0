#include "controllers/volcano_job_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "controllers/volcano_job_world.h"
#include "manifest/json.h"
#include "manifest/pod_group.h"

namespace berth::volcano_job_plan_test {

using Texts = std::vector<std::string>;

std::string policies(const std::string& list) { return "{policies: [" + list + "]}"; }
std::string tasks(const std::string& list, const std::string& more = "") {
  return "{tasks: [" + list + "]" + (more.empty() ? "" : ", ") + more + "}";
}

TEST(VolcanoJobPods, CarryWhatVolcanoAndBerthReadOnThem) {
  VolcanoJobWorld world(
      "{queue: research, priorityClassName: high, networkTopology: {mode: soft, highestTierAllowed: 2}}",
      "{annotations: {berth.dev/user: ann, berth.dev/run-for: 30s, other: x}, labels: {other: x}}");
  world.settle();
  EXPECT_EQ(world.there(), "master-0 worker-0 worker-1");
  const Value& metadata = world.pod("worker-1")["metadata"];
  for (const char* const marks : {"labels", "annotations"}) {
    EXPECT_EQ(metadata[marks]["volcano.sh/job-name"].text(), "train");
    EXPECT_EQ(metadata[marks]["volcano.sh/job-namespace"].text(), "default");
    EXPECT_EQ(metadata[marks]["volcano.sh/queue-name"].text(), "research");
    EXPECT_EQ(metadata[marks]["volcano.sh/task-spec"].text(), "worker");
    EXPECT_EQ(metadata[marks]["volcano.sh/task-index"].text(), "1");
    EXPECT_TRUE(metadata[marks]["other"].is_null());
  }
  const Value& annotations = metadata["annotations"];
  EXPECT_EQ(annotations["volcano.sh/job-version"].text(), "0");
  EXPECT_EQ(annotations["volcano.sh/job-retry-count"].text(), "0");
  EXPECT_EQ(annotations["scheduling.volcano.sh/queue-name"].text(), "research");
  EXPECT_EQ(annotations["volcano.sh/network-topology-mode"].text(), "soft");
  EXPECT_EQ(annotations["volcano.sh/network-topology-highest-tier"].text(), "2");
  EXPECT_EQ(annotations[kUserAnnotation].text(), "ann");
  EXPECT_EQ(annotations[kRunForAnnotation].text(), "30s");
  EXPECT_EQ(annotations[kQueuedAtAnnotation].text(), format_timestamp(world.now));
  EXPECT_EQ(world.group("worker-1"), "train");
  EXPECT_EQ(world.group_size("worker-1"), 3);
  const Value& owner = metadata["ownerReferences"].items().at(0);
  EXPECT_EQ(owner["apiVersion"].text(), "batch.volcano.sh/v1alpha1");
  EXPECT_TRUE(owner["controller"].truth());
  const Value& spec = world.pod("worker-1")["spec"];
  EXPECT_EQ(spec["schedulerName"].text(), "berth");
  EXPECT_EQ(spec["priorityClassName"].text(), "high");
  EXPECT_TRUE(spec["hostname"].is_null() && spec["containers"].items()[0]["env"].is_null()) << "no plugin asks for it";
}

TEST(VolcanoJobPods, AreWhereTheJobSaysInBerthsWordsBeforeVolcanos) {
  VolcanoJobWorld world("{networkTopology: {mode: soft}}", "{annotations: {berth.dev/topology: 'required:rack'}}");
  world.settle();
  const Value annotations = world.pod("worker-0")["metadata"]["annotations"];
  EXPECT_EQ(annotations[kTopologyAnnotation].text(), "required:rack");
  EXPECT_TRUE(annotations["volcano.sh/network-topology-mode"].is_null());
}

TEST(VolcanoJobPods, WaitInTheQueueThatIsMeant) {
  const struct {
    const char* spec;
    bool has_default;
    const char* queue;  // of Volcano's
  } cases[] = {
      {"{queue: research}", false, "research"}, {"{}", false, ""},       {"{queue: default}", false, ""},
      {"{queue: default}", true, "default"},    {"{}", true, "default"},
  };
  for (const auto& each : cases) {
    VolcanoJobWorld world(each.spec);
    world.has_default_queue = each.has_default;
    world.settle();
    EXPECT_EQ(world.pod("master-0")["metadata"]["annotations"][kVolcanoQueueAnnotation].text(), each.queue)
        << each.spec;
  }
}

TEST(VolcanoJobPods, KnowEachOtherByPlugins) {
  VolcanoJobWorld world(tasks(VolcanoJobWorld::task("ps-server", 1) + ", " + VolcanoJobWorld::task("w", 2),
                              "plugins: {env: [], svc: []}"));
  world.settle();
  ASSERT_TRUE(world.hosts);
  EXPECT_EQ((*world.hosts)["metadata"]["name"].text(), "train-svc");
  EXPECT_EQ(to_json((*world.hosts)["data"]),
            R"({"ps_server.host":"train-ps-server-0.train","VC_PS_SERVER_HOSTS":"train-ps-server-0.train",)"
            R"("VC_PS_SERVER_NUM":"1","w.host":"train-w-0.train\ntrain-w-1.train",)"
            R"("VC_W_HOSTS":"train-w-0.train,train-w-1.train","VC_W_NUM":"2"})");
  const Value& spec = world.pod("w-1")["spec"];
  EXPECT_EQ(spec["hostname"].text(), "train-w-1");
  EXPECT_EQ(spec["subdomain"].text(), "train");
  EXPECT_EQ(spec["volumes"].items()[0]["configMap"]["name"].text(), "train-svc");
  const Value& container = spec["containers"].items()[0];
  EXPECT_EQ(container["volumeMounts"].items()[0]["mountPath"].text(), "/etc/volcano");
  Texts variables;
  for (const Value& each : container["env"].items()) {
    const Value& key = each["valueFrom"]["configMapKeyRef"]["key"];
    variables.push_back(std::string(each["name"].text()) + "=" + std::string(each["value"].text(key.text())));
  }
  EXPECT_EQ(variables, (Texts{"VK_TASK_INDEX=1", "VC_TASK_INDEX=1", "VC_PS_SERVER_HOSTS=VC_PS_SERVER_HOSTS",
                              "VC_PS_SERVER_NUM=VC_PS_SERVER_NUM", "VC_W_HOSTS=VC_W_HOSTS", "VC_W_NUM=VC_W_NUM"}));
}

TEST(VolcanoJobPlan, RunsToItsEnd) {
  VolcanoJobWorld world;
  ASSERT_TRUE(world.step());
  EXPECT_EQ(world.phase(), "Pending") << "said before anything is made";
  EXPECT_TRUE(world.pods.empty());
  world.settle();
  EXPECT_EQ(world.count("pending"), 3);
  EXPECT_EQ(world.count("minAvailable"), 3);
  world.set_phase("train-master-0", "Running");
  world.settle();
  EXPECT_EQ(world.phase(), "Pending") << "two are missing";
  world.set_all("Running");
  world.settle();
  EXPECT_EQ(world.phase(), "Running");
  EXPECT_EQ(to_json(world.job["status"]["taskStatusCount"]),
            R"({"master":{"phase":{"Running":1}},"worker":{"phase":{"Running":2}}})");
  world.now = world.now + seconds(3605);
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.count("succeeded"), 3);
  EXPECT_EQ(world.job["status"]["runningDuration"].text(), "1h0m5s");
  EXPECT_EQ(world.news, (Texts{"Running", "Completed"}));
  for (const auto& [name, pod] : world.pods) EXPECT_FALSE(is_tracked(pod)) << name;
  world.pods.clear();
  world.settle();
  EXPECT_EQ(world.count("succeeded"), 3) << "what is cleaned away counts still";
}

TEST(VolcanoJobPlan, WhoWaitsFollowsTheQueueThatTheJobNames) {
  VolcanoJobWorld world("{queue: research}");
  world.settle();
  EXPECT_TRUE(world.plan().changes.empty());
  world.job.at("metadata").at("labels").set(kQueueLabel, "other");
  const JobPlan plan = world.plan();
  ASSERT_EQ(plan.changes.size(), 3u);
  EXPECT_EQ(to_json(plan.changes[0].change), R"({"metadata":{"labels":{"berth.dev/queue":"other"}}})");
  world.set_phase("train-worker-0", "Running");
  EXPECT_TRUE(world.plan().changes.empty()) << "one gang, one queue";
  world.pods.erase("train-worker-1");
  world.settle();
  EXPECT_TRUE(world.pod("worker-1")["metadata"]["labels"][kQueueLabel].is_null());
}

TEST(VolcanoJobPlan, OfAGangThatIsNotAllTheOthersComeLater) {
  const struct {
    const char* what;
    std::string spec;
    const char* first;
    std::int64_t size;
    const char* then;
  } cases[] = {
      {"in the order of the tasks", "{minAvailable: 2}", "master-0 worker-0", 2, "master-0 worker-0 worker-1"},
      {"a task's own first",
       tasks(VolcanoJobWorld::task("a", 2) + ", " + VolcanoJobWorld::task("b", 3, "minAvailable: 2"),
             "minAvailable: 3"),
       "a-0 b-0 b-1", 3, "a-0 a-1 b-0 b-1 b-2"},
      {"of the tasks' own alone", tasks(VolcanoJobWorld::task("a", 3, "minAvailable: 1")), "a-0", 0, "a-0 a-1 a-2"},
      {"a task that waits for others has one of its own",
       tasks(VolcanoJobWorld::task("a", 2) + ", " +
                 VolcanoJobWorld::task("b", 3, "dependsOn: {name: [a]}, minAvailable: 2"),
             "minAvailable: 4"),
       "a-0 a-1", 2, "a-0 a-1"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    VolcanoJobWorld world(each.spec);
    world.settle();
    EXPECT_EQ(world.there(), each.first);
    for (const auto& [name, pod] : world.pods) EXPECT_EQ(group_size_in(pod), each.size) << name;
    // A place is enough.
    for (const auto& [name, pod] : world.pods) world.set_phase(name, "Pending");
    world.settle();
    EXPECT_EQ(world.there(), each.then);
    const std::string last = std::string(each.then).substr(std::string(each.then).rfind(' ') + 1);
    EXPECT_EQ(world.group_size(last), each.size) << "any of them may be among the first";
    EXPECT_EQ(world.group(last), each.size == 0 ? "" : "train");
  }
}

TEST(VolcanoJobPlan, OfAnElasticGangAnyPodStandsInForOneThatIsLost) {
  VolcanoJobWorld world(tasks(VolcanoJobWorld::task("a", 1, "minAvailable: 1") + ", " + VolcanoJobWorld::task("b", 4),
                              "minAvailable: 3, policies: [{event: Unknown, action: AbortJob}]"));
  world.settle();
  EXPECT_EQ(world.there(), "a-0 b-0 b-1");
  world.set_all("Running");
  world.settle();
  EXPECT_EQ(world.there(), "a-0 b-0 b-1 b-2 b-3");
  const auto named = [&](const std::string& pod) {
    return pod_group_named_by(world.pod(pod)).value_or(PodGroupName());
  };
  PodGroupName group{.qualified = kVolcanoJobs, .name = "train", .task = "a", .size = 3, .task_size = 1};
  EXPECT_EQ(named("a-0"), group);
  group.task = "b";
  group.task_size = 0;
  for (const char* const pod : {"b-0", "b-3"}) EXPECT_EQ(named(pod), group) << pod;
  world.set_all("Running");
  world.remove("train-b-0");
  world.settle();
  world.remove("train-b-3");
  world.settle();
  EXPECT_EQ(world.there(), "a-0 b-0 b-1 b-2 b-3") << "b-3 comes again though b-0 waits";
  EXPECT_EQ(world.phase(), "Running");
  world.remove("train-a-0");
  world.settle();
  EXPECT_EQ(world.phase(), "Aborted") << "for the one that its task needs nobody stands in";
}

TEST(VolcanoJobPlan, OfAnElasticGangATaskThatWaitsForOthersIsAGroupOfItsOwn) {
  VolcanoJobWorld world(tasks(
      VolcanoJobWorld::task("a", 1) + ", " + VolcanoJobWorld::task("b", 3, "dependsOn: {name: [a]}, minAvailable: 2"),
      "minAvailable: 3"));
  world.settle();
  world.set_all("Running");
  world.settle();
  EXPECT_EQ(world.group("b-0"), "train-b");
  EXPECT_EQ(pod_group_named_by(world.pod("b-0")),
            (PodGroupName{
                .qualified = kVolcanoJobs, .name = "train", .task = "b", .replica = "b", .size = 2, .task_size = 2}));
  EXPECT_FALSE(pod_group_named_by(world.pod("a-0"))) << "it starts alone";
}

TEST(VolcanoJobPlan, TasksComeWhenThoseRunForWhichTheyWait) {
  const auto three = [](const std::string& iteration) {
    return tasks(VolcanoJobWorld::task("a", 1) + ", " + VolcanoJobWorld::task("b", 2) + ", " +
                 VolcanoJobWorld::task("c", 2, "dependsOn: {name: [a, b], iteration: " + iteration + "}"));
  };
  VolcanoJobWorld all(three("all"));
  all.settle();
  EXPECT_EQ(all.there(), "a-0 b-0 b-1");
  EXPECT_EQ(all.group_size("a-0"), 3);
  all.set_phase("train-a-0", "Running");
  all.set_phase("train-b-0", "Running");
  all.settle();
  EXPECT_EQ(all.there(), "a-0 b-0 b-1");
  all.set_phase("train-b-1", "Succeeded");
  all.settle();
  EXPECT_EQ(all.there(), "a-0 b-0 b-1 c-0 c-1");
  EXPECT_EQ(all.group("c-0"), "train-c");
  EXPECT_EQ(all.group_size("c-0"), 2);
  EXPECT_EQ(all.phase(), "Pending") << "five are the gang";
  all.set_all("Running");
  all.settle();
  EXPECT_EQ(all.phase(), "Running");

  VolcanoJobWorld any(three("any"));
  any.settle();
  any.set_phase("train-a-0", "Running");
  any.settle();
  EXPECT_EQ(any.there(), "a-0 b-0 b-1 c-0 c-1");
}

TEST(VolcanoJobPlan, WhatCannotComeAnyMoreIsNotWaitedFor) {
  VolcanoJobWorld world(
      tasks(VolcanoJobWorld::task("a", 1) + ", " + VolcanoJobWorld::task("b", 2, "dependsOn: {name: [a]}")));
  world.settle();
  world.set_phase("train-a-0", "Failed", 1);
  world.settle();
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.message(), "0 pods of task a have succeeded, and 1 have to");
}

TEST(VolcanoJobPlan, WithoutPoliciesItIsJudgedWhenAllHaveEnded) {
  const struct {
    const char* what;
    const char* spec;
    std::vector<const char*> ends;  // of master-0, worker-0, worker-1
    const char* phase;
  } cases[] = {
      {"all well", "{}", {"Succeeded", "Succeeded", "Succeeded"}, "Completed"},
      {"one failed", "{}", {"Succeeded", "Failed", "Succeeded"}, "Failed"},
      {"one failed, and two are enough", "{minAvailable: 2}", {"Succeeded", "Failed", "Succeeded"}, "Completed"},
      {"two failed, and two were needed", "{minAvailable: 2}", {"Failed", "Failed", "Succeeded"}, "Failed"},
      {"one is enough to succeed", "{minAvailable: 2, minSuccess: 1}", {"Failed", "Failed", "Succeeded"}, "Completed"},
      {"fewer than have to succeed",
       "{minAvailable: 1, minSuccess: 3}",
       {"Failed", "Succeeded", "Succeeded"},
       "Failed"},
      {"one runs still", "{}", {"Succeeded", "Failed", "Running"}, "Running"},
      {"and is ended when enough have succeeded", "{minSuccess: 1}", {"Succeeded", "Failed", "Running"}, "Completed"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    VolcanoJobWorld world(each.spec);
    world.settle();
    world.set_all("Running");
    world.settle();
    std::size_t i = 0;
    for (const char* const name : {"train-master-0", "train-worker-0", "train-worker-1"}) {
      world.set_phase(name, each.ends[i++], 1);
    }
    world.settle();
    EXPECT_EQ(world.phase(), each.phase);
    EXPECT_EQ(world.created, 3);
    EXPECT_EQ(world.count("retryCount"), 0);
  }
}

TEST(VolcanoJobPlan, PoliciesSayWhatIsDone) {
  const struct {
    const char* what;
    std::string spec;
    const char* end;  // of worker-1
    int exit_code;
    const char* phase;
    const char* anew;  // those that are made again
    std::int64_t version;
  } cases[] = {
      {"the job", policies("{event: PodFailed, action: RestartJob}"), "Failed", 1, "Pending",
       "master-0 worker-0 worker-1", 1},
      {"the task", policies("{event: PodFailed, action: RestartTask}"), "Failed", 1, "Pending", "worker-0 worker-1", 0},
      {"the pod", policies("{event: PodFailed, action: RestartPod}"), "Failed", 1, "Pending", "worker-1", 0},
      {"by its exit code", policies("{exitCode: 3, action: RestartPod}"), "Failed", 3, "Pending", "worker-1", 0},
      {"another exit code", policies("{exitCode: 3, action: RestartPod}"), "Failed", 4, "Running", "", 0},
      {"the first that fits", policies("{exitCode: 3, action: AbortJob}, {event: PodFailed, action: RestartJob}"),
       "Failed", 3, "Aborted", "", 0},
      {"any event", policies("{event: '*', action: TerminateJob}"), "Failed", 1, "Terminated", "", 0},
      {"another event", policies("{event: PodEvicted, action: RestartJob}"), "Failed", 1, "Running", "", 0},
      {"a task's own go first",
       tasks(VolcanoJobWorld::task("master", 1) + ", " +
                 VolcanoJobWorld::task("worker", 2, "policies: [{event: PodFailed, action: RestartPod}]"),
             "policies: [{event: PodFailed, action: AbortJob}]"),
       "Failed", 1, "Pending", "worker-1", 0},
      {"a task that is not done", policies("{event: TaskCompleted, action: CompleteJob}"), "Succeeded", 0, "Running",
       "", 0},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    VolcanoJobWorld world(each.spec);
    world.settle();
    world.set_all("Running");
    world.settle();
    world.now = world.now + seconds(10);
    world.set_phase("train-worker-1", each.end, each.exit_code);
    world.settle();
    EXPECT_EQ(world.phase(), each.phase);
    std::string anew;
    for (const auto& [name, pod] : world.pods) {
      if (pod["metadata"]["creationTimestamp"].text() != format_timestamp(world.now)) continue;
      anew += (anew.empty() ? "" : " ") + name.substr(6);
    }
    EXPECT_EQ(anew, each.anew);
    EXPECT_EQ(world.count("version"), each.version);
    const bool comes_anew = !anew.empty();
    EXPECT_EQ(world.group_size("worker-1"), 3) << "those that run count";
    EXPECT_EQ(world.count("retryCount"), comes_anew ? 1 : 0);
  }
}

TEST(VolcanoJobPlan, ATaskThatIsDoneCompletesTheJob) {
  VolcanoJobWorld world(
      tasks(VolcanoJobWorld::task("master", 1, "policies: [{event: TaskCompleted, action: CompleteJob}]") + ", " +
            VolcanoJobWorld::task("worker", 2)));
  world.deletes_slowly = true;
  world.settle();
  world.set_all("Running");
  world.settle();
  world.set_phase("train-master-0", "Succeeded");
  world.settle();
  EXPECT_EQ(world.phase(), "Completing");
  EXPECT_EQ(world.there(), "master-0 -worker-0 -worker-1");
  EXPECT_EQ(world.count("terminating"), 2);
  EXPECT_EQ(world.message(), "task master is done; CompleteJob by spec.tasks[0].policies[0]");
  for (const char* const name : {"train-worker-0", "train-worker-1"}) world.remove(name);
  world.settle();
  EXPECT_EQ(world.phase(), "Completed");
  EXPECT_EQ(world.there(), "master-0");
  EXPECT_EQ(world.count("terminating"), 0);
  EXPECT_EQ(world.count("succeeded"), 1);
}

TEST(VolcanoJobPlan, RestartsWaitUntilAllHaveGoneAndCountUpToMaxRetry) {
  VolcanoJobWorld world("{policies: [{event: PodFailed, action: RestartJob}], maxRetry: 2}");
  world.deletes_slowly = true;
  world.settle();
  world.set_all("Running");
  world.settle();
  world.set_phase("train-worker-0", "Failed", 7);
  world.settle();
  EXPECT_EQ(world.phase(), "Restarting");
  EXPECT_EQ(world.message(),
            "pod train-worker-0 failed with exit code 7; RestartJob by spec.policies[0], retry 1 of 2");
  EXPECT_EQ(world.created, 3) << "nothing beside what goes";
  for (const char* const name : {"train-master-0", "train-worker-0", "train-worker-1"}) world.remove(name);
  world.settle();
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.there(), "master-0 worker-0 worker-1");
  EXPECT_EQ(world.pod("master-0")["metadata"]["annotations"]["volcano.sh/job-version"].text(), "1");
  EXPECT_EQ(world.pod("master-0")["metadata"]["annotations"]["volcano.sh/job-retry-count"].text(), "1");
  world.set_all("Running");
  world.settle();
  world.set_phase("train-worker-0", "Failed", 7);
  world.settle();
  EXPECT_EQ(world.phase(), "Failed");
  EXPECT_EQ(world.count("retryCount"), 2);
  EXPECT_EQ(world.message(),
            "pod train-worker-0 failed with exit code 7; RestartJob by spec.policies[0] would be restart 2, and "
            "maxRetry is 2");
  EXPECT_EQ(world.there(), "-master-0 worker-0 -worker-1") << "what failed stays, with its log";
}

TEST(VolcanoJobPlan, WhatIsEvictedComesBack) {
  const struct {
    const char* what;
    std::string spec;
    bool by_scheduler;
    std::int64_t made, version, retries;
  } cases[] = {
      {"by whoever deleted it", "{}", false, 1, 0, 0},
      {"by the scheduler", "{}", true, 1, 0, 0},
      {"with the whole job", policies("{event: PodEvicted, action: RestartJob}"), false, 3, 1, 1},
      {"which counts for nothing if the scheduler wanted it", policies("{event: PodEvicted, action: RestartJob}"), true,
       3, 1, 0},
      {"by itself, if the scheduler wanted it", policies("{event: PodEvicted, action: RestartPod}"), true, 1, 0, 0},
      {"and counts", policies("{event: PodEvicted, action: RestartPod}"), false, 1, 0, 1},
      {"it did not fail", policies("{event: PodFailed, action: AbortJob}"), true, 1, 0, 0},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    VolcanoJobWorld world(each.spec);
    world.settle();
    world.set_all("Running");
    world.settle();
    each.by_scheduler ? world.preempt("train-worker-0") : world.remove("train-worker-0");
    world.settle();
    EXPECT_EQ(world.there(), "master-0 worker-0 worker-1");
    EXPECT_EQ(world.created, 3 + each.made);
    EXPECT_EQ(world.count("version"), each.version);
    EXPECT_EQ(world.count("retryCount"), each.retries);
    EXPECT_EQ(world.count("failed"), 0);
  }
}

TEST(VolcanoJobPlan, AGangThatLostItsPlacesWaitsAgain) {
  VolcanoJobWorld world;
  world.settle();
  world.set_all("Running");
  world.settle();
  for (const char* const name : {"train-master-0", "train-worker-0", "train-worker-1"}) world.preempt(name);
  world.settle();
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.message(), "all of its pods have lost their places, and wait again");
  EXPECT_EQ(world.there(), "master-0 worker-0 worker-1");
  EXPECT_EQ(world.count("retryCount"), 0);
}

TEST(VolcanoJobPlan, WhoHadNoPlaceHasNotBeenEvicted) {
  VolcanoJobWorld world(policies("{event: PodEvicted, action: AbortJob}"));
  world.settle();
  world.remove("train-worker-0");
  world.settle();
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_EQ(world.there(), "master-0 worker-0 worker-1");
  EXPECT_EQ(world.created, 4);
}

TEST(VolcanoJobPlan, AGangOfWhichOneWaitsAgainIsUnknown) {
  VolcanoJobWorld world(policies("{event: Unknown, action: AbortJob}"));
  world.settle();
  world.set_all("Running");
  world.settle();
  EXPECT_EQ(world.phase(), "Running");
  world.remove("train-worker-0");
  world.settle();
  EXPECT_EQ(world.phase(), "Aborted");
}

TEST(VolcanoJobPlan, WhatHasToLastIsLookedAtAgain) {
  VolcanoJobWorld pending("{policies: [{event: PodPending, action: AbortJob, timeout: 1m}]}");
  pending.settle();
  EXPECT_EQ(pending.phase(), "Pending");
  EXPECT_EQ(*pending.plan().look_again, pending.now + seconds(60));
  pending.now = pending.now + seconds(60);
  pending.settle();
  EXPECT_EQ(pending.phase(), "Aborted");

  VolcanoJobWorld failed("{policies: [{event: PodFailed, action: RestartPod, timeout: 1m}]}");
  failed.settle();
  failed.set_all("Running");
  failed.set_phase("train-worker-0", "Failed", 1);
  failed.settle();
  EXPECT_EQ(failed.count("retryCount"), 0);
  failed.now = failed.now + seconds(60);
  failed.settle();
  EXPECT_EQ(failed.count("retryCount"), 1);
}

TEST(VolcanoJobPlan, ContainersThatAreRestartedTooOftenFailTheTask) {
  VolcanoJobWorld world(
      tasks(VolcanoJobWorld::task("w", 2, "maxRetry: 4, policies: [{event: TaskFailed, action: TerminateJob}]")));
  world.settle();
  world.set_all("Running");
  const auto restart = [&](const std::string& name, int count) {
    world.pods.at(name).at("status").set(
        "containerStatuses", VolcanoJobWorld::yaml("[{name: c, restartCount: " + std::to_string(count) + "}]"));
    world.settle();
  };
  restart("train-w-0", 3);
  EXPECT_EQ(world.phase(), "Running");
  restart("train-w-1", 1);
  EXPECT_EQ(world.phase(), "Terminated");
}

TEST(VolcanoJobPlan, WhoIsLeftFailedIsNotWaitedForByHisGang) {
  VolcanoJobWorld world;
  world.settle();
  world.set_all("Running");
  world.set_phase("train-master-0", "Failed", 1);
  world.settle();
  world.remove("train-worker-0");
  world.settle();
  EXPECT_EQ(world.group_size("worker-0"), 2);
  world.set_phase("train-worker-1", "Failed", 1);
  world.settle();
  EXPECT_EQ(world.group_size("worker-0"), 1) << "made anew, as a pod's group does not change";
}

TEST(VolcanoJobPlan, ANameThatSomebodyElseHasIsSaid) {
  VolcanoJobWorld world("{plugins: {svc: []}}");
  world.hosts = VolcanoJobWorld::yaml("{metadata: {name: train-svc}}");
  world.settle();
  EXPECT_EQ(world.message(),
            "ConfigMap train-svc is there and is not this job's; delete it, or give the job another name");
  EXPECT_TRUE(world.pods.empty());
  world.hosts.reset();
  world.strangers["train-worker-1"] = true;
  world.settle();
  EXPECT_EQ(world.there(), "master-0 worker-0");
  EXPECT_EQ(world.message(),
            "pod train-worker-1 is there and is not this job's; delete it, or give the job another name");
  EXPECT_TRUE(world.plan().look_again);
  world.strangers.clear();
  world.settle();
  EXPECT_EQ(world.there(), "master-0 worker-0 worker-1");
  EXPECT_EQ(world.message(), "");
}

TEST(VolcanoJobPlan, GoesWhenItsTimeAfterTheEndHasPassed) {
  VolcanoJobWorld world("{ttlSecondsAfterFinished: 60}");
  world.settle();
  world.set_all("Succeeded");
  world.settle();
  EXPECT_FALSE(world.plan().delete_job);
  EXPECT_EQ(*world.plan().look_again, world.now + seconds(60));
  world.now = world.now + seconds(60);
  EXPECT_TRUE(world.plan().delete_job);
}

TEST(VolcanoJobPlan, OfAJobThatIsDeletedNothingIsMadeOrHeld) {
  VolcanoJobWorld world;
  world.settle();
  world.job.at("metadata").set("deletionTimestamp", format_timestamp(world.now));
  world.remove("train-worker-0");
  const JobPlan plan = world.plan();
  EXPECT_TRUE(plan.creations.empty() && !plan.status);
  EXPECT_EQ(plan.releases.size(), 1U);
}

TEST(VolcanoJobPlan, MakesNoMorePodsAtATimeThanItMay) {
  VolcanoJobWorld world;
  world.step();
  const JobPlan plan = world.plan(2);
  EXPECT_EQ(plan.creations.size(), 2U);
  EXPECT_TRUE(plan.waits_to_create);
}

// Whatever becomes of the pods, and wherever the writes of a plan are cut off: no place has two pods, each restart counts once,
// and in the end the job is over.
TEST(VolcanoJobPlanProperty, CutOffAnywhereItComesToAnEnd) {
  const char* const specs[] = {
      "{policies: [{event: PodFailed, action: RestartJob}, {event: PodEvicted, action: RestartTask}], maxRetry: 4}",
      "{policies: [{event: PodFailed, action: RestartPod}], maxRetry: 5, minAvailable: 2}",
      ("{policies: [{event: PodFailed, action: RestartTask}, {event: TaskCompleted, action: CompleteJob}], plugins: "
       "{svc: []}}"),
      "{minAvailable: 1}",
  };
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    VolcanoJobWorld world(specs[seed.value % 4]);
    world.deletes_slowly = rng.between(0, 1) == 1;
    std::int64_t restarts_said = 0;
    for (int round = 0; round < 400 && !is_final_volcano_phase(world.phase()); ++round) {
      const std::int64_t before = world.count("retryCount");
      world.step(static_cast<std::size_t>(rng.between(0, 4)));
      const std::int64_t counted = world.count("retryCount") - before;
      EXPECT_LE(counted, 3);
      restarts_said += counted;
      world.now = world.now + seconds(1);
      if (world.pods.empty()) continue;
      auto at = world.pods.begin();
      std::advance(at, rng.between(0, static_cast<std::int64_t>(world.pods.size()) - 1));
      const std::string name = at->first;
      const bool going = is_being_deleted(at->second);
      const std::int64_t chance = rng.between(0, 19);
      if (going) {
        world.remove(name);
      } else if (has_ended(at->second)) {
        if (chance == 0) world.remove(name);
      } else if (chance < 2) {
        world.set_phase(name, "Failed", 1);
      } else if (chance == 2) {
        world.preempt(name);
      } else if (chance < 9) {
        world.set_phase(name, "Succeeded");
      } else {
        world.set_phase(name, "Running");
      }
      EXPECT_LE(world.pods.size(), 3U);
    }
    EXPECT_TRUE(is_final_volcano_phase(world.phase())) << world.phase() << " " << world.there();
    EXPECT_EQ(restarts_said, world.count("retryCount"));
    world.deletes_slowly = false;
    for (int i = 0; i < 20 && world.step(); ++i) {
    }
    for (const auto& [name, pod] : world.pods) EXPECT_FALSE(is_tracked(pod)) << name;
  }
}

}  // namespace berth::volcano_job_plan_test
