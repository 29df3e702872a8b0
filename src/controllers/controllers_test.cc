// Stories as a user would tell them by kubectl, against the real API server. Time is virtual: the alarm is turned by hand.
#include "controllers/controllers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/broken_transports.h"
#include "controllers/controller.h"
#include "controllers/controllers_stage_test.h"
#include "controllers/job_pods.h"
#include "manifest/labels.h"

namespace berth::controllers_test {

std::string job_text(const std::string& name, const std::string& spec = R"("parallelism":2,"completions":3)") {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name + R"("},"spec":{)" + spec +
         R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})";
}

TEST_F(ControllersTest, AJobRunsToItsEnd) {
  create(kJobs, job_text("train"));
  eventually("two pods", [&] { return unfinished().size() == 2; });
  for (const Value& pod : pods()) {
    EXPECT_EQ(pod["metadata"]["labels"][kGroupLabel].text(), "train");
    EXPECT_EQ(pod["metadata"]["annotations"][kGroupSizeAnnotation].text(), "2");
    EXPECT_EQ(pod["metadata"]["annotations"][kUserAnnotation].text(), "admin");
    EXPECT_EQ(pod["metadata"]["labels"]["job-name"].text(), "train");
  }
  const std::string job = std::string(kJobs) + "/train";
  eventually("they are counted", [&] { return get(job)["status"]["active"].integer() == 2; });
  for (const std::string& name : unfinished()) end_pod(name, "Succeeded");
  eventually("the third pod", [&] { return unfinished().size() == 1; });
  // What has been counted may be cleaned away.
  eventually("two are counted", [&] { return get(job)["status"]["succeeded"].integer() == 2; });
  for (const Value& pod : pods()) {
    const std::string name(pod["metadata"]["name"].text());
    if (pod["status"]["phase"].text() == "Succeeded") call("DELETE", std::string(kPods) + "/" + name);
  }
  // So may the controllers end and come back.
  controllers_.reset();
  start();
  // With the others gone it is a gang of its own.
  const auto is_alone = [&] {
    const auto pod = pods();
    return pod.size() == 1 && !is_being_deleted(pod[0]) && group_size_in(pod[0]) == 1;
  };
  eventually("the third pod is made anew", is_alone);
  end_pod(unfinished().at(0), "Succeeded");
  eventually("complete", [&] { return condition(get(job), "Complete") == "True"; });
  const Value status = get(job)["status"];
  EXPECT_EQ(status["succeeded"].integer(), 3);
  EXPECT_EQ(status["uncountedTerminatedPods"], Value::map());
  EXPECT_EQ(pods().size(), 1u);
  eventually("told", [&] { return has_event("Completed") && has_event("SuccessfulCreate"); });
}

TEST_F(ControllersTest, NoPodIsMadeTwiceThoughAnswersAreLost) {
  controllers_.reset();
  transport_ = std::make_unique<LossyTransport>(std::move(transport_));
  start();
  create(kJobs, job_text("train", R"("parallelism":8,"completions":8)"));
  const std::string job = std::string(kJobs) + "/train";
  eventually("eight pods", [&] {
    EXPECT_LE(pods().size(), 8u);
    return get(job)["status"]["active"].integer() == 8;
  });
  EXPECT_EQ(pods().size(), 8u);
  for (const std::string& name : unfinished()) end_pod(name, "Succeeded");
  // The more is lost, the longer are the pauses.
  eventually("complete", [&] {
    pass(seconds(1));
    return condition(get(job), "Complete") == "True";
  });
  EXPECT_EQ(get(job)["status"]["succeeded"].integer(), 8);
  EXPECT_EQ(pods().size(), 8u);
}

// A pod that ended is deleted while the controllers are down: wherever they were cut off, it is counted and not made again.
TEST_F(ControllersTest, CutOffAfterEachWriteNothingIsLostOrDoneTwice) {
  int writes = 1;
  for (bool cut = true; cut; ++writes) {
    SCOPED_TRACE(writes);
    controllers_.reset();
    CutTransport until_cut(*transport_, writes);
    start(until_cut);
    const std::string name = "train-" + std::to_string(writes);
    const std::string job = std::string(kJobs) + "/" + name;
    create(kJobs, job_text(name, R"("parallelism":2,"completions":3,"backoffLimit":100)"));
    std::set<std::string> succeeded, failed;
    const auto end_all = [&] {
      for (const std::string& pod : unfinished()) {
        const bool first = failed.empty();
        if (end_pod_if_there(pod, first ? "Failed" : "Succeeded")) (first ? failed : succeeded).insert(pod);
      }
    };
    const auto is_complete = [&] { return condition(get(job), "Complete") == "True"; };
    eventually("cut off, or complete", [&] {
      end_all();
      pass(seconds(5));
      return until_cut.is_cut() || is_complete();
    });
    cut = !is_complete();
    controllers_.reset();
    end_all();
    for (const Value& pod : pods()) {
      server_.call("DELETE", std::string(kPods) + "/" + std::string(pod["metadata"]["name"].text()));
    }
    start();
    eventually("complete", [&] {
      end_all();
      pass(seconds(5));
      return is_complete();
    });
    // Of more than it wants, those are not counted that are done when it is complete already.
    EXPECT_GE(get(job)["status"]["succeeded"].integer(), 3);
    EXPECT_LE(get(job)["status"]["succeeded"].integer(), static_cast<std::int64_t>(succeeded.size()));
    EXPECT_EQ(get(job)["status"]["failed"].integer(), static_cast<std::int64_t>(failed.size()));
    // What was on its way when it was cut off may arrive after its successor has counted: as many as may run at once.
    EXPECT_LE(succeeded.size(), 3U + 2U);
    call("DELETE", job + "?propagationPolicy=Background");
    eventually("its pods go", [&] { return pods().empty(); });
  }
  EXPECT_GT(writes, 10);
}

TEST_F(ControllersTest, AJobFailsAndIsDeletedAfterItsTime) {
  create(kJobs, job_text("train", R"("parallelism":2,"completions":2,"backoffLimit":0,"ttlSecondsAfterFinished":500)"));
  eventually("two pods", [&] { return unfinished().size() == 2; });
  end_pod(unfinished().at(0), "Failed");
  const std::string job = std::string(kJobs) + "/train";
  eventually("failed", [&] { return condition(get(job), "Failed") == "True"; });
  EXPECT_TRUE(unfinished().empty()) << "the other one was ended";
  EXPECT_EQ(get(job)["status"]["failed"].integer(), 2);
  pass(seconds(500));
  eventually("gone with its pods", [&] { return is_gone(job) && pods().empty(); });
}

TEST_F(ControllersTest, SuspendingAJobTakesItsPodsAndResumingBringsThemBack) {
  create(kJobs, job_text("train"));
  eventually("two pods", [&] { return unfinished().size() == 2; });
  const std::string job = std::string(kJobs) + "/train";
  call("PATCH", job, R"({"spec":{"suspend":true}})");
  eventually("no pods", [&] { return pods().empty() && condition(get(job), "Suspended") == "True"; });
  EXPECT_TRUE(get(job)["status"]["startTime"].is_null());
  call("PATCH", job, R"({"spec":{"suspend":false}})");
  eventually("two pods again", [&] { return unfinished().size() == 2 && condition(get(job), "Suspended") == "False"; });
  EXPECT_EQ(get(job)["status"]["failed"].integer(), 0);
}

TEST_F(ControllersTest, WhatAJobOwnsGoesWithItAsItWasAsked) {
  const std::string job = std::string(kJobs) + "/train";
  for (const std::string policy : {"Background", "Foreground", "Orphan"}) {
    SCOPED_TRACE(policy);
    create(kJobs, job_text("train"));
    eventually("two pods", [&] { return unfinished().size() == 2; });
    call("DELETE", job + "?propagationPolicy=" + policy);
    eventually("gone", [&] { return is_gone(job); });
    if (policy == "Orphan") {
      EXPECT_EQ(pods().size(), 2u);
      for (const Value& pod : pods()) EXPECT_TRUE(pod["metadata"]["ownerReferences"].is_empty());
    } else if (policy == "Foreground") {
      EXPECT_TRUE(pods().empty()) << "they went first";
    } else {
      eventually("its pods too", [&] { return pods().empty(); });
    }
  }
}

TEST_F(ControllersTest, WhatLostItsOwnerWhileNobodyLookedGoes) {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  controllers_.reset();
  create(maps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"child","ownerReferences":[
      {"apiVersion":"batch/v1","kind":"Job","name":"nobody","uid":"00000000-0000-4000-8000-000000000000"}]}})");
  create(maps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"strange","ownerReferences":[
      {"apiVersion":"example.com/v1","kind":"Thing","name":"nobody","uid":"00000000-0000-4000-8000-000000000001"}]}})");
  start();
  eventually("the child is gone", [&] { return is_gone(maps + "/child"); });
  EXPECT_FALSE(is_gone(maps + "/strange")) << "nothing is known of its owner's kind";
}

TEST_F(ControllersTest, ADeletedNamespaceIsEmptiedAndGoes) {
  create("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
  const std::string in = "/api/v1/namespaces/team/";
  create(in + "configmaps", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","finalizers":["a/b"]}})");
  create("/apis/batch/v1/namespaces/team/jobs", job_text("train"));
  eventually("pods", [&] { return get(in + "pods")["items"].items().size() == 2; });
  call("DELETE", "/api/v1/namespaces/team");
  eventually("it says what it waits for",
             [&] { return condition(get("/api/v1/namespaces/team"), "NamespaceFinalizersRemaining") == "True"; });
  eventually("all else is gone", [&] {
    return get(in + "pods")["items"].items().empty() && is_gone("/apis/batch/v1/namespaces/team/jobs/train");
  });
  call("PATCH", in + "configmaps/m", R"({"metadata":{"finalizers":null}})");
  eventually("gone", [&] { return is_gone("/api/v1/namespaces/team"); });
}

TEST_F(ControllersTest, EventsGoAnHourAfterTheyWereLastTold) {
  const std::string path = "/api/v1/namespaces/default/events";
  for (const char* const name : {"old", "told-again"}) {
    create(path,
           R"({"metadata":{"name":")" + std::string(name) +
               R"("},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"R","type":"Normal"})");
  }
  pass(seconds(1800));
  call("PATCH", path + "/told-again", R"({"lastTimestamp":")" + format_timestamp(server_.now()) + "\"}");
  // A round that was under way finds it, or the next does, 300 seconds later; with no more passing than that, however
  // slow the machine, what was told again is never an hour old.
  pass(seconds(2200));
  eventually("the old event is gone", [&] { return is_gone(path + "/old"); });
  EXPECT_FALSE(is_gone(path + "/told-again"));
}

TEST_F(ControllersTest, AGangForWhichTheQuotaHasNoRoomSaysSoOnceAndStartsByItself) {
  const std::string quotas = "/api/v1/namespaces/default/resourcequotas";
  create(quotas, R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"pods":"3"}}})");
  create(kJobs, job_text("first", R"("parallelism":2,"completions":2)"));
  eventually("two pods", [&] { return unfinished().size() == 2; });
  create(kJobs, job_text("second", R"("parallelism":2,"completions":2)"));
  eventually("told", [&] { return has_event("FailedCreate"); });
  eventually("tried again and again", [&] {
    pass(seconds(30));
    return count_of_event("FailedCreate") > 3;
  });
  EXPECT_EQ(get(quotas + "/q")["status"]["used"]["pods"].text(), "2") << "the two start together or not at all";
  const Value events = get("/apis/events.k8s.io/v1/events");
  int refusals = 0;
  for (const Value& each : events["items"].items()) {
    if (each["reason"].text() != "FailedCreate") continue;
    ++refusals;
    EXPECT_NE(each["note"].text().find("exceeded quota: q, requested: pods=2, used: pods=2, limited: pods=3"),
              std::string::npos);
  }
  EXPECT_EQ(refusals, 1);
  for (const std::string& name : unfinished()) end_pod(name, "Succeeded");
  eventually("its two pods", [&] { return unfinished().size() == 2; });
  EXPECT_EQ(get(std::string(kJobs) + "/second")["status"]["failed"].integer(), 0);
}

TEST_F(ControllersTest, ASilentNodeIsTaintedLosesItsPodsAndComesBack) {
  create_node("n1");
  create_pod_on("n1", "p");
  const std::string node = std::string(kNodes) + "/n1";
  eventually("tainted", [&] {
    pass(seconds(600));
    return taints("n1", "node.kubernetes.io/unreachable") == 2;
  });
  EXPECT_EQ(condition(get(node), "Ready"), "Unknown");
  EXPECT_TRUE(get(std::string(kPods) + "/p")["metadata"]["deletionTimestamp"].is_null()) << "it tolerates two hours";
  eventually("evicted", [&] {
    pass(seconds(600));
    return !get(std::string(kPods) + "/p")["metadata"]["deletionTimestamp"].is_null();
  });
  call("PATCH", node + "/status", R"({"status":{"conditions":[{"type":"Ready","status":"True",
      "lastHeartbeatTime":"2026-11-21T20:00:00Z"}]}})");
  eventually("back", [&] { return taints("n1", "node.kubernetes.io/unreachable") == 0; });
  create("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
         R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"n1"},
             "spec":{"renewTime":"2026-11-21T20:00:01.000000Z"}})");
  call("PATCH", node + "/status", R"({"status":{"conditions":[{"type":"Ready","status":"False",
      "lastHeartbeatTime":"2026-11-21T20:00:02Z"}]}})");
  eventually("not ready, but there", [&] { return taints("n1", "node.kubernetes.io/not-ready") == 2; });
}

TEST_F(ControllersTest, WhenMostNodesAreSilentNothingIsEvicted) {
  for (const char* const name : {"n1", "n2", "n3"}) create_node(name);
  create_pod_on("n1", "p");
  eventually("told", [&] {
    pass(seconds(600));
    return has_event("EvictionsPaused");
  });
  EXPECT_TRUE(get(std::string(kPods) + "/p")["metadata"]["deletionTimestamp"].is_null());
  EXPECT_EQ(taints("n1", "node.kubernetes.io/unreachable"), 2u);
}

TEST_F(ControllersTest, PodsOfADeletedNodeFailAndGo) {
  create_node("n1");
  create_pod_on("n1", "p");
  eventually("seen", [&] { return controllers_->synced(); });
  call("DELETE", std::string(kNodes) + "/n1");
  eventually("gone", [&] {
    pass(seconds(20));
    return is_gone(std::string(kPods) + "/p");
  });
}

}  // namespace berth::controllers_test
