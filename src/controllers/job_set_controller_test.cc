// Stories of JobSets against the real API server; the test plays scheduler and nodes. Time is virtual.
#include "controllers/job_set_controller.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/broken_transports.h"
#include "controllers/controllers.h"
#include "controllers/job_pods.h"
#include "controllers/job_set_jobs.h"
#include "kube/hand_turned_alarm.h"
#include "local_api/api_answers.h"
#include "local_api/eventually.h"
#include "local_api/test_server.h"
#include "manifest/job_set_labels.h"
#include "manifest/labels.h"
#include "manifest/yaml.h"

namespace berth::job_set_controller_test {

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kJobs = "/apis/batch/v1/namespaces/default/jobs";
const std::string kSets = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets";

std::string part(const std::string& name, int replicas, int pods, const std::string& more = "") {
  return "{name: " + name + ", replicas: " + std::to_string(replicas) + more +
         ", template: {spec: {backoffLimit: 0, parallelism: " + std::to_string(pods) +
         ", completions: " + std::to_string(pods) +
         ", template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}";
}
std::string set_text(const std::string& name, const std::string& parts, const std::string& more = "") {
  return "{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: " + name +
         "}, spec: {replicatedJobs: [" + parts + "]" + more + "}}";
}
const std::string kBoth = part("driver", 1, 1) + "," + part("workers", 2, 2);
constexpr const char* kTwoRestarts = ", failurePolicy: {maxRestarts: 2}";

class JobSetTest : public testing::Test {
 protected:
  JobSetTest() : transport_(server_.transport("system:berth-controllers")) { start(*transport_); }

  void start(Transport& transport) {
    ControllerOptions options;
    options.now = [this] { return server_.now(); };
    options.seed = ++seed_;
    controllers_ = Controllers::start(transport, alarm_, options);
  }
  void make(const std::string& path, const std::string& yaml) {
    const ApiAnswer answer = server_.call("POST", path, to_json(parse_yaml(yaml)->front()));
    ASSERT_EQ(answer.status, 201) << answer.body;
  }
  void patch(const std::string& path, const std::string& body) {
    const ApiAnswer answer = server_.call("PATCH", path, body);
    EXPECT_EQ(answer.status, 200) << path << answer.body;
  }
  bool becomes(const std::function<bool()>& holds, Duration at_each_look = Duration{100}) {
    if (HasFatalFailure()) return false;
    return eventually([&] {
      server_.advance(at_each_look);
      alarm_.advance(at_each_look);
      return holds();
    });
  }

  std::vector<Value> of(const std::string& path) { return object_of(server_.call("GET", path))["items"].items(); }
  Value set(const std::string& name = "train") { return object_of(server_.call("GET", kSets + "/" + name)); }
  std::vector<Value> unfinished() {
    std::vector<Value> pods;
    for (Value& pod : of(kPods)) {
      const bool is_over = pod["status"]["phase"].text() != "Pending" || is_being_deleted(pod);
      if (!is_over) pods.push_back(std::move(pod));
    }
    return pods;
  }
  // Whether it was there: it may have been deleted meanwhile.
  bool end_pod(const Value& pod, const std::string& phase) {
    const std::string path = kPods + "/" + std::string(pod["metadata"]["name"].text()) + "/status";
    return server_.call("PATCH", path, R"({"status":{"phase":")" + phase + R"("}})").status == 200;
  }
  std::string condition(const Value& object, const std::string& type) {
    for (const Value& each : object["status"]["conditions"].items()) {
      if (each["type"].text() == type) return std::string(each["status"].text());
    }
    return "";
  }
  bool has_event(const std::string& reason) {
    for (const Value& each : of("/apis/events.k8s.io/v1/events")) {
      if (each["reason"].text() == reason) return true;
    }
    return false;
  }

  TestServer server_;
  HandTurnedAlarm alarm_;
  std::unique_ptr<Transport> transport_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<Controllers> controllers_;
};

TEST_F(JobSetTest, RunsToItsEndAsOneGang) {
  make(kSets, set_text("train", kBoth));
  ASSERT_TRUE(becomes([&] { return unfinished().size() == 5; }));
  const Value uid = set()["metadata"]["uid"];
  std::set<std::string> hosts;
  for (const Value& pod : unfinished()) {
    EXPECT_EQ(pod["metadata"]["labels"][kGroupLabel].text(), "train");
    EXPECT_EQ(group_size_in(pod), 5);
    EXPECT_EQ(pod["metadata"]["annotations"][kGroupUidAnnotation], uid);
    EXPECT_EQ(pod["metadata"]["annotations"][kUserAnnotation].text(), "admin");
    hosts.insert(std::string(pod["spec"]["hostname"].text()) + "." + std::string(pod["spec"]["subdomain"].text()));
  }
  EXPECT_EQ(hosts,
            (std::set<std::string>{"train-driver-0-0.train", "train-workers-0-0.train", "train-workers-0-1.train",
                                   "train-workers-1-0.train", "train-workers-1-1.train"}));
  for (const Value& pod : unfinished()) end_pod(pod, "Succeeded");
  ASSERT_TRUE(becomes([&] { return condition(set(), "Completed") == "True"; }));
  EXPECT_EQ(set()["status"]["terminalState"].text(), "Completed");
  EXPECT_EQ(of(kPods).size(), 5U);
  EXPECT_TRUE(becomes([&] { return has_event("AllJobsCompleted"); }));
  server_.call("DELETE", kSets + "/train");
  EXPECT_TRUE(becomes([&] { return of(kJobs).empty() && of(kPods).empty() && of(kSets).empty(); })) << "all go with it";
}

TEST_F(JobSetTest, AFailedJobRestartsAllUntilThatIsTooOften) {
  make(kSets, set_text("train", kBoth, ", failurePolicy: {maxRestarts: 1}"));
  for (int attempt = 0; attempt < 2; ++attempt) {
    ASSERT_TRUE(becomes([&] { return unfinished().size() == 5; })) << attempt;
    for (const Value& pod : unfinished()) {
      EXPECT_EQ(pod["metadata"]["labels"][kRestartAttempt].text(), std::to_string(attempt));
    }
    end_pod(unfinished()[3], "Failed");
    ASSERT_TRUE(becomes([&] { return set()["status"]["restarts"].integer() == 1; }));
  }
  ASSERT_TRUE(becomes([&] { return condition(set(), "Failed") == "True"; }));
  EXPECT_TRUE(becomes([&] { return unfinished().empty(); })) << "the others are ended";
  EXPECT_TRUE(becomes([&] { return has_event("ReachedMaxRestarts"); }));
}

TEST_F(JobSetTest, IsSuspendedAndResumed) {
  make(kSets, set_text("train", kBoth, ", suspend: true"));
  ASSERT_TRUE(becomes([&] { return condition(set(), "Suspended") == "True" && of(kJobs).size() == 3; }));
  EXPECT_TRUE(of(kPods).empty());
  patch(kSets + "/train", R"({"spec":{"suspend":false}})");
  ASSERT_TRUE(becomes([&] { return unfinished().size() == 5; }));
  patch(kSets + "/train", R"({"spec":{"suspend":true}})");
  ASSERT_TRUE(becomes([&] { return of(kPods).empty(); }));
  Value parts = set()["spec"]["replicatedJobs"];
  for (Value& each : parts.edit_items()) {
    each.at("template").at("spec").at("template").at("spec").at("nodeSelector").set("rack", "r1");
  }
  Value change;
  change.at("spec").set("replicatedJobs", parts);
  change.at("spec").set("suspend", false);
  patch(kSets + "/train", to_json(change));
  ASSERT_TRUE(becomes([&] { return unfinished().size() == 5; }));
  for (const Value& pod : unfinished()) EXPECT_EQ(pod["spec"]["nodeSelector"]["rack"].text(), "r1");
  EXPECT_EQ(condition(set(), "Suspended"), "False");
}

// What has succeeded and was cleaned away is waited for by nobody, of whichever Job it was.
TEST_F(JobSetTest, NoPodWaitsForOneThatIsDoneAndGone) {
  make(kSets, set_text("train", kBoth));
  ASSERT_TRUE(becomes([&] { return unfinished().size() == 5; }));
  for (const Value& pod : unfinished()) {
    if (pod["metadata"]["labels"][kReplicatedJobLabel].text() == "workers") end_pod(pod, "Succeeded");
  }
  ASSERT_TRUE(becomes([&] {
    int complete = 0;
    for (const Value& job : of(kJobs)) complete += condition(job, "Complete") == "True" ? 1 : 0;
    return complete == 2;
  }));
  std::vector<Value> left = unfinished();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(group_size_in(left[0]), 5) << "they are there still, and count";
  for (const Value& pod : of(kPods)) {
    if (pod["status"]["phase"].text() != "Succeeded") continue;
    server_.call("DELETE", kPods + "/" + std::string(pod["metadata"]["name"].text()));
  }
  const auto is_alone = [&] {
    left = unfinished();
    return left.size() == 1 && group_size_in(left[0]) == 1;
  };
  ASSERT_TRUE(becomes(is_alone));
  controllers_.reset();
  start(*transport_);
  end_pod(left[0], "Succeeded");
  EXPECT_TRUE(becomes([&] { return condition(set(), "Completed") == "True"; }));
}

TEST_F(JobSetTest, AStrangersJobInTheWayIsTold) {
  make(kJobs,
       "{apiVersion: batch/v1, kind: Job, metadata: {name: train-driver-0}, spec: {suspend: true, template: {spec: "
       "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}");
  make(kSets, set_text("train", kBoth));
  EXPECT_TRUE(becomes([&] { return has_event("FailedCreate") && of(kJobs).size() == 3; }));
  server_.call("DELETE", kJobs + "/train-driver-0");
  EXPECT_TRUE(becomes([&] { return unfinished().size() == 5; }, seconds(5)));
}

TEST_F(JobSetTest, IsLeftToWhomItNames) {
  make(kSets, set_text("theirs", kBoth, ", managedBy: example.com/mine"));
  make(kSets, set_text("train", kBoth));
  ASSERT_TRUE(becomes([&] { return unfinished().size() == 5; }));
  EXPECT_EQ(of(kJobs).size(), 3U);
}

TEST_F(JobSetTest, GoesItsTimeAfterItsEnd) {
  make(kSets, set_text("train", part("w", 1, 1), ", ttlSecondsAfterFinished: 500"));
  std::vector<Value> pods;
  ASSERT_TRUE(becomes([&] {
    pods = unfinished();
    return pods.size() == 1;
  }));
  end_pod(pods[0], "Succeeded");
  ASSERT_TRUE(becomes([&] { return condition(set(), "Completed") == "True"; }));
  EXPECT_TRUE(becomes([&] { return of(kSets).empty() && of(kPods).empty(); }, seconds(60)));
}

TEST_F(JobSetTest, NoJobIsMadeTwiceThoughAnswersAreLost) {
  controllers_.reset();
  transport_ = std::make_unique<LossyTransport>(std::move(transport_));
  start(*transport_);
  make(kSets, set_text("train", part("w", 4, 2), kTwoRestarts));
  std::vector<Value> pods;
  ASSERT_TRUE(becomes([&] {
    EXPECT_LE(of(kJobs).size(), 4U);
    pods = unfinished();
    return pods.size() == 8;
  }));
  end_pod(pods[0], "Failed");
  ASSERT_TRUE(becomes(
      [&] {
        EXPECT_LE(set()["status"]["restarts"].integer(), 1);
        return set()["status"]["restarts"].integer() == 1 && unfinished().size() == 8;
      },
      seconds(1)));
  for (const Value& pod : unfinished()) end_pod(pod, "Succeeded");
  ASSERT_TRUE(becomes([&] { return condition(set(), "Completed") == "True"; }, seconds(1)));
  EXPECT_EQ(set()["status"]["restarts"].integer(), 1);
}

// Wherever the controllers are cut off, the next ones bring the set to the same end: restarted once, and complete.
TEST_F(JobSetTest, CutOffAfterEachWriteItComesToTheSameEnd) {
  int writes = 1;
  for (bool cut = true; cut && !HasFailure(); ++writes) {
    SCOPED_TRACE(writes);
    controllers_.reset();
    CutTransport until_cut(*transport_, writes);
    start(until_cut);
    const std::string name = "train-" + std::to_string(writes);
    make(kSets, set_text(name, part("a", 1, 1) + "," + part("b", 1, 2), kTwoRestarts));
    bool has_failed = false;
    const auto end_all = [&] {
      // The first attempt fails once all of it is there.
      const std::vector<Value> pods = unfinished();
      if (!has_failed && pods.size() < 3) return;
      for (const Value& pod : pods) {
        const bool of_first = pod["metadata"]["labels"][kRestartAttempt].text() == "0";
        if (!of_first) {
          end_pod(pod, "Succeeded");
        } else if (!has_failed) {
          has_failed = end_pod(pod, "Failed");
        }
      }
    };
    const auto is_complete = [&] { return condition(set(name), "Completed") == "True"; };
    ASSERT_TRUE(becomes(
        [&] {
          end_all();
          return until_cut.is_cut() || is_complete();
        },
        seconds(5)));
    cut = !is_complete();
    controllers_.reset();
    start(*transport_);
    ASSERT_TRUE(becomes(
        [&] {
          end_all();
          return is_complete();
        },
        seconds(5)));
    EXPECT_EQ(set(name)["status"]["restarts"].integer(), 1);
    std::map<std::string, int> attempts;
    for (const Value& job : of(kJobs)) ++attempts[std::string(job["metadata"]["labels"][kRestartAttempt].text())];
    EXPECT_EQ(attempts, (std::map<std::string, int>{{"1", 2}}));
    server_.call("DELETE", kSets + "/" + name);
    ASSERT_TRUE(becomes([&] { return of(kPods).empty() && of(kJobs).empty(); }));
  }
  EXPECT_GT(writes, 10);
}

}  // namespace berth::job_set_controller_test
