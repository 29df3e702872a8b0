// Volcano's Jobs as a user would see them by kubectl, against the real API server.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "controllers/controller.h"
#include "controllers/controllers_stage_test.h"
#include "controllers/job_pods.h"
#include "manifest/labels.h"

namespace berth::volcano_controllers_test {

constexpr const char* kVolcano = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

std::string volcano_job(const std::string& name, const std::string& spec = R"("maxRetry":3)") {
  const std::string pod_template =
      R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})";
  return R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")" + name + R"("},"spec":{)" +
         spec + R"(,"tasks":[{"name":"master","replicas":1,)" + pod_template + R"(},{"name":"worker","replicas":2,)" +
         pod_template + "}]}}";
}
const std::string kRestarts = R"("policies":[{"event":"PodFailed","action":"RestartJob"}],"maxRetry":100)";

class VolcanoControllersTest : public ControllersTest {
 protected:
  static std::string path(const std::string& name) { return std::string(kVolcano) + "/" + name; }
  std::string phase(const std::string& name) { return std::string(get(path(name))["status"]["state"]["phase"].text()); }
  void place(const std::string& pod, const std::string& node) {
    call("POST", std::string(kPods) + "/" + pod + "/binding",
         R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" + pod +
             R"("},"target":{"kind":"Node","name":")" + node + R"("}})",
         201);
  }
  // As somebody's node would do it who ends at once what is deleted.
  void take_away_deleted() {
    for (const Value& pod : pods()) {
      if (!is_being_deleted(pod) || pod["metadata"]["deletionGracePeriodSeconds"].integer() == 0) continue;
      server_.call("DELETE",
                   std::string(kPods) + "/" + std::string(pod["metadata"]["name"].text()) + "?gracePeriodSeconds=0");
    }
  }
};

TEST_F(VolcanoControllersTest, AJobRunsAsAGangToItsEnd) {
  create(kVolcano, volcano_job("train", R"("queue":"research","plugins":{"env":[],"svc":[]})"));
  eventually("three pods", [&] { return unfinished().size() == 3; });
  for (const Value& pod : pods()) {
    EXPECT_EQ(pod["metadata"]["labels"][kGroupLabel].text(), "train");
    EXPECT_EQ(pod["metadata"]["annotations"][kGroupSizeAnnotation].text(), "3");
    EXPECT_EQ(pod["metadata"]["annotations"][kUserAnnotation].text(), "admin");
    EXPECT_EQ(pod["metadata"]["annotations"][kVolcanoQueueAnnotation].text(), "research");
  }
  EXPECT_EQ(get(std::string(kMaps) + "/train-svc")["data"]["VC_WORKER_NUM"].text(), "2");
  eventually("they are counted", [&] { return get(path("train"))["status"]["pending"].integer() == 3; });
  for (const std::string& name : unfinished()) end_pod(name, "Running");
  eventually("it runs", [&] { return phase("train") == "Running"; });
  for (const Value& pod : pods()) end_pod(std::string(pod["metadata"]["name"].text()), "Succeeded");
  eventually("it is done", [&] { return phase("train") == "Completed"; });
  EXPECT_EQ(get(path("train"))["status"]["succeeded"].integer(), 3);
  eventually("told", [&] { return has_event("Completed") && has_event("SuccessfulCreate"); });
  call("DELETE", path("train") + "?propagationPolicy=Background");
  eventually("what it made goes with it",
             [&] { return pods().empty() && is_gone(std::string(kMaps) + "/train-svc") && is_gone(path("train")); });
}

TEST_F(VolcanoControllersTest, AFailureRestartsTheJobUntilItHasTriedOftenEnough) {
  create(kVolcano, volcano_job("train", R"("policies":[{"event":"PodFailed","action":"RestartJob"}],"maxRetry":2)"));
  eventually("three pods", [&] { return unfinished().size() == 3; });
  end_pod("train-worker-1", "Failed");
  eventually("it is made anew", [&] {
    const Value status = get(path("train"))["status"];
    return status["version"].integer() == 1 && status["retryCount"].integer() == 1 && unfinished().size() == 3;
  });
  eventually("told", [&] { return has_event("Restarting"); });
  eventually("its pods are new", [&] {
    const Value pod = get(std::string(kPods) + "/train-worker-1");
    return pod["metadata"]["annotations"]["volcano.sh/job-version"].text() == "1";
  });
  end_pod("train-worker-1", "Failed");
  eventually("it has failed", [&] { return phase("train") == "Failed"; });
  eventually("what failed is left", [&] { return pods().size() == 1; });
}

TEST_F(VolcanoControllersTest, WhoComesAfterTheGangWaitsUntilItHasItsPlace) {
  create_node("n1");
  create(kVolcano, volcano_job("train", R"("minAvailable":2)"));
  eventually("the gang", [&] { return unfinished().size() == 2; });
  EXPECT_TRUE(is_gone(std::string(kPods) + "/train-worker-1"));
  for (const std::string& name : unfinished()) place(name, "n1");
  eventually("the third", [&] { return unfinished().size() == 3; });
  EXPECT_EQ(group_size_in(get(std::string(kPods) + "/train-worker-1")), 2) << "it may stand in for another";
}

TEST_F(VolcanoControllersTest, WhatWasEvictedComesBackAndWhatSucceededStaysCounted) {
  create_node("n1");
  create(kVolcano, volcano_job("train"));
  eventually("three pods", [&] { return unfinished().size() == 3; });
  for (const std::string& name : unfinished()) place(name, "n1");
  const std::string first(get(std::string(kPods) + "/train-worker-0")["metadata"]["uid"].text());
  end_pod("train-master-0", "Succeeded");
  eventually("it is counted", [&] { return get(path("train"))["status"]["succeeded"].integer() == 1; });
  // Wherever the controllers are meanwhile.
  controllers_.reset();
  call("DELETE", std::string(kPods) + "/train-master-0");
  call("DELETE", std::string(kPods) + "/train-worker-0");
  take_away_deleted();
  start();
  eventually("another one", [&] {
    const Value pod = get(std::string(kPods) + "/train-worker-0");
    return !pod["metadata"]["uid"].is_empty() && pod["metadata"]["uid"].text() != first;
  });
  EXPECT_EQ(get(path("train"))["status"]["succeeded"].integer(), 1);
  EXPECT_EQ(get(path("train"))["status"]["retryCount"].integer(), 0);
  end_pod("train-worker-0", "Succeeded");
  end_pod("train-worker-1", "Succeeded");
  eventually("it is done", [&] { return phase("train") == "Completed"; });
  eventually("and lets go of its pods", [&] { return is_gone(std::string(kPods) + "/train-master-0"); });
}

TEST_F(VolcanoControllersTest, NoPodIsMadeTwiceThoughAnswersAreLost) {
  controllers_.reset();
  transport_ = std::make_unique<LossyTransport>(std::move(transport_));
  start();
  create(kVolcano, volcano_job("train", R"("plugins":{"svc":[]})"));
  std::set<std::string> made;
  const auto note = [&] {
    for (const Value& pod : pods()) made.emplace(pod["metadata"]["uid"].text());
  };
  eventually("three pods", [&] {
    note();
    pass(seconds(1));
    return get(path("train"))["status"]["pending"].integer() == 3;
  });
  for (const std::string& name : unfinished()) end_pod(name, "Succeeded");
  eventually("complete", [&] {
    note();
    pass(seconds(1));
    return phase("train") == "Completed";
  });
  EXPECT_EQ(made.size(), 3U);
}

// One pod fails, all others succeed: wherever the controllers were cut off, the job is restarted once and comes to its end.
TEST_F(VolcanoControllersTest, CutOffAfterEachWriteARestartCountsOnce) {
  int writes = 1;
  for (bool cut = true; cut; ++writes) {
    SCOPED_TRACE(writes);
    controllers_.reset();
    CutTransport until_cut(*transport_, writes);
    start(until_cut);
    const std::string name = "train-" + std::to_string(writes);
    create(kVolcano, volcano_job(name, kRestarts + R"(,"plugins":{"svc":[]})"));
    bool failed = false;
    const auto end_all = [&] {
      for (const std::string& pod : unfinished()) {
        if (!failed) {
          failed = end_pod_if_there(pod, "Failed");
        } else if (get(path(name))["status"]["retryCount"].integer() > 0) {
          end_pod_if_there(pod, "Succeeded");
        }
      }
    };
    const auto is_done = [&] { return phase(name) == "Completed"; };
    eventually("cut off, or done", [&] {
      end_all();
      pass(seconds(5));
      return until_cut.is_cut() || is_done();
    });
    cut = !is_done();
    controllers_.reset();
    start();
    eventually("done", [&] {
      end_all();
      pass(seconds(5));
      return is_done();
    });
    const Value status = get(path(name))["status"];
    EXPECT_EQ(status["succeeded"].integer(), 3);
    EXPECT_EQ(status["retryCount"].integer(), 1);
    EXPECT_EQ(status["version"].integer(), 1);
    EXPECT_TRUE(status["restarting"].is_null());
    call("DELETE", path(name) + "?propagationPolicy=Background");
    eventually("its pods go", [&] { return pods().empty(); });
  }
  EXPECT_GT(writes, 15);
}

// Two kinds of Jobs may have one name: each has pods of its own.
TEST_F(VolcanoControllersTest, AJobOfKubernetesMayHaveTheSameName) {
  create(kVolcano, volcano_job("train"));
  create(kJobs,
         R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train"},"spec":{"parallelism":2,"completions":2,)"
         R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  eventually("five pods", [&] { return unfinished().size() == 5; });
  call("DELETE", std::string(kJobs) + "/train?propagationPolicy=Background");
  eventually("three are left", [&] { return pods().size() == 3; });
  EXPECT_EQ(phase("train"), "Pending");
}

TEST_F(VolcanoControllersTest, WhatIsOverGoesAfterItsTime) {
  create(kVolcano, volcano_job("train", R"("ttlSecondsAfterFinished":500)"));
  eventually("three pods", [&] { return unfinished().size() == 3; });
  for (const std::string& name : unfinished()) end_pod(name, "Succeeded");
  eventually("it is done", [&] { return phase("train") == "Completed"; });
  pass(seconds(500));
  eventually("gone with its pods", [&] { return is_gone(path("train")) && pods().empty(); });
}

}  // namespace berth::volcano_controllers_test
