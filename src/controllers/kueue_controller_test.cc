// Kueue's Workloads, kept against the real API server; the test plays the scheduler. Time is virtual.
#include "controllers/kueue_controller.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/controllers.h"
#include "controllers/kueue_workload.h"
#include "kube/hand_turned_alarm.h"
#include "local_api/api_answers.h"
#include "local_api/eventually.h"
#include "local_api/test_server.h"
#include "manifest/yaml.h"

namespace berth::kueue_controller_test {

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kJobs = "/apis/batch/v1/namespaces/default/jobs";
const std::string kWorkloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";

const std::string kCluster[][2] = {
    {"/api/v1/nodes",
     "{metadata: {name: n1, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}}, status: {conditions: [{type: "
     "Ready, "
     "status: 'True'}]}}"},
    {"/apis/kueue.x-k8s.io/v1beta2/resourceflavors", "{metadata: {name: any}, spec: {}}"},
    {"/apis/kueue.x-k8s.io/v1beta2/resourceflavors",
     "{metadata: {name: hopper}, spec: {nodeLabels: {nvidia.com/gpu.product: H100}}}"},
    {"/apis/kueue.x-k8s.io/v1beta2/clusterqueues",
     "{metadata: {name: team}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [nvidia.com/gpu], "
     "flavors: [{name: any, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}, "
     "{name: hopper, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}}"},
    {"/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues",
     "{metadata: {name: main}, spec: {clusterQueue: team}}"},
    {"/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses", "{metadata: {name: urgent}, value: 100}"},
};

std::string job_text(const std::string& labels) {
  return "{metadata: {name: train, labels: " + labels +
         "}, spec: {parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, "
         "image: "
         "i, resources: {limits: {nvidia.com/gpu: 4}}}]}}}}";
}

class KueueTest : public testing::Test {
 protected:
  KueueTest() {
    for (const auto& [path, yaml] : kCluster) create(path, yaml);
    patch("/api/v1/nodes/n1/status", "{status: {capacity: {nvidia.com/gpu: '8'}, allocatable: {nvidia.com/gpu: '8'}}}");
    start();
  }

  void start() {
    ControllerOptions options;
    options.now = [this] { return server_.now(); };
    controllers_ = Controllers::start(*transport_, alarm_, options);
  }

  Value create(const std::string& path, const std::string& yaml) {
    const ApiAnswer answer = server_.call("POST", path, to_json(parse_yaml(yaml)->front()));
    EXPECT_EQ(answer.status, 201) << answer.body;
    return object_of(answer);
  }
  void patch(const std::string& path, const std::string& yaml, int status = 200, const std::string& says = "") {
    const ApiAnswer answer = server_.call("PATCH", path, to_json(parse_yaml(yaml)->front()));
    EXPECT_EQ(answer.status, status) << path << answer.body;
    EXPECT_TRUE(answer.body.contains(says)) << answer.body;
  }
  std::vector<Value> of(const std::string& path) { return object_of(server_.call("GET", path))["items"].items(); }
  bool becomes(const std::function<bool()>& holds) {
    return eventually([&] {
      server_.advance(Duration{100});
      alarm_.advance(Duration{100});
      return holds();
    });
  }

  // Pods that wait for a place.
  std::vector<std::string> waiting() {
    std::vector<std::string> names;
    for (const Value& pod : of(kPods)) {
      const bool waits = pod["status"]["phase"].text() == "Pending" && pod["spec"]["nodeName"].is_empty();
      if (waits && pod["metadata"]["deletionTimestamp"].is_empty()) names.emplace_back(pod["metadata"]["name"].text());
    }
    return names;
  }
  void tell_pods(const std::string& conditions, const std::string& phase = "Pending") {
    for (const Value& pod : of(kPods)) {
      patch(kPods + "/" + std::string(pod["metadata"]["name"].text()) + "/status",
            "{status: {phase: " + phase + ", conditions: [" + conditions + "]}}");
    }
  }
  void bind_pods() {
    const char* const gpus[] = {"0,1,2,3", "4,5,6,7"};
    std::size_t next = 0;
    for (const std::string& name : waiting()) {
      const ApiAnswer answer =
          server_.call("POST", kPods + "/" + name + "/binding",
                       R"({"metadata":{"annotations":{"berth.dev/gpus":")" + std::string(gpus[next++]) +
                           R"("}},"target":{"kind":"Node","name":"n1"}})");
      EXPECT_EQ(answer.status, 201) << answer.body;
    }
  }

  // As the agent of their node does when they have stopped.
  void remove_pods() {
    for (const Value& pod : of(kPods)) {
      const std::string path = kPods + "/" + std::string(pod["metadata"]["name"].text());
      EXPECT_EQ(server_.call("DELETE", path, R"({"gracePeriodSeconds":0})").status, 200);
    }
  }

  Value workload() {
    const std::vector<Value> found = of(kWorkloads);
    return found.size() == 1 ? found.front() : Value();
  }
  // "True Admitted"; empty: nothing is said.
  std::string said(std::string_view type) {
    const Value found = workload();
    for (const Value& each : found["status"]["conditions"].items()) {
      if (each["type"].text() != type) continue;
      return std::string(each["status"].text()) + " " + std::string(each["reason"].text());
    }
    return "";
  }
  std::string message(std::string_view type) {
    const Value found = workload();
    for (const Value& each : found["status"]["conditions"].items()) {
      if (each["type"].text() == type) return std::string(each["message"].text());
    }
    return "";
  }
  bool says(std::string_view type, const std::string& wanted) {
    const bool became = becomes([&] { return said(type) == wanted; });
    EXPECT_EQ(said(type), wanted) << type;
    return became;
  }

  TestServer server_;
  HandTurnedAlarm alarm_;
  std::unique_ptr<Transport> transport_ = server_.transport("system:berth-controllers");
  std::unique_ptr<Controllers> controllers_;
};

const std::string kLabels = "{kueue.x-k8s.io/queue-name: main, kueue.x-k8s.io/priority-class: urgent}";
const std::string kNoRoom =
    "{type: PodScheduled, status: 'False', reason: Unschedulable, message: 'Capacity: no node has 4 GPUs free'}";

TEST_F(KueueTest, AJobHasOneThatSaysHowItStandsFromItsBeginningToItsEnd) {
  const Value job = create(kJobs, job_text(kLabels));
  ASSERT_TRUE(becomes([&] { return waiting().size() == 2 && !workload().is_null(); }));
  const Value made = workload();
  EXPECT_EQ(made["metadata"]["name"].text(), kueue_workload_name(job, true));
  EXPECT_TRUE(made["metadata"]["name"].text().starts_with("job-train-"));
  EXPECT_EQ(made["metadata"]["ownerReferences"].items().at(0)["uid"], job["metadata"]["uid"]);
  EXPECT_EQ(made["spec"]["queueName"].text(), "main");
  EXPECT_EQ(made["spec"]["priority"].integer(), 100);
  EXPECT_EQ(made["spec"]["podSets"].items().at(0)["count"].integer(), 2);
  EXPECT_EQ(said("QuotaReserved"), "");

  tell_pods(kNoRoom);
  ASSERT_TRUE(says("QuotaReserved", "False Pending"));
  EXPECT_EQ(message("QuotaReserved"), "Capacity: no node has 4 GPUs free");
  EXPECT_EQ(said("Admitted"), "");
  bind_pods();
  ASSERT_TRUE(says("Admitted", "True Admitted"));
  EXPECT_EQ(said("QuotaReserved"), "True QuotaReserved");
  EXPECT_EQ(said("PodsReady"), "False WaitForStart");
  ASSERT_TRUE(
      becomes([&] { return workload()["status"]["admission"]["podSetAssignments"].items().at(0)["count"] == 2; }));
  EXPECT_EQ(to_json(workload()["status"]["admission"]),
            R"({"clusterQueue":"team","podSetAssignments":[{"name":"main","flavors":{"nvidia.com/gpu":"hopper"},)"
            R"("resourceUsage":{"nvidia.com/gpu":"8"},"count":2}]})");
  tell_pods("{type: Ready, status: 'True'}", "Running");
  ASSERT_TRUE(says("PodsReady", "True Started"));

  // Who has to go is told by which rule, and still holds its room.
  tell_pods(
      "{type: DisruptionTarget, status: 'True', reason: PreemptionByScheduler, message: 'reclaim: its room goes to x'}",
      "Running");
  ASSERT_TRUE(says("Evicted", "True Preempted"));
  EXPECT_EQ(said("Preempted"), "True InCohortReclamation");
  EXPECT_EQ(message("Preempted"), "reclaim: its room goes to x");
  EXPECT_EQ(said("Admitted"), "True Admitted");
  remove_pods();
  ASSERT_TRUE(becomes([&] { return waiting().size() == 2 && of(kPods).size() == 2; }));
  ASSERT_TRUE(says("Admitted", "False NoReservation"));
  EXPECT_EQ(said("QuotaReserved"), "False Pending");
  EXPECT_EQ(said("Requeued"), "True Preempted");
  EXPECT_TRUE(workload()["status"]["admission"].is_null());
  bind_pods();
  ASSERT_TRUE(says("Evicted", "False QuotaReserved"));
  EXPECT_EQ(message("Preempted"), "Previously: reclaim: its room goes to x");

  tell_pods("", "Succeeded");
  ASSERT_TRUE(says("Finished", "True Succeeded"));
  EXPECT_EQ(said("Admitted"), "True Admitted");
  EXPECT_EQ(server_.call("DELETE", kJobs + "/train?propagationPolicy=Background").status, 200);
  EXPECT_TRUE(becomes([&] { return of(kWorkloads).empty(); }));
}

TEST_F(KueueTest, SpecActiveStopsAJobAndLetsItGo) {
  create(kJobs, job_text(kLabels));
  ASSERT_TRUE(becomes([&] { return waiting().size() == 2 && !workload().is_null(); }));
  bind_pods();
  ASSERT_TRUE(says("Admitted", "True Admitted"));
  const std::string path = kWorkloads + "/" + std::string(workload()["metadata"]["name"].text());
  patch(path, "{spec: {active: false}}");
  ASSERT_TRUE(says("Evicted", "True Deactivated"));
  ASSERT_TRUE(becomes([&] { return object_of(server_.call("GET", kJobs + "/train"))["spec"]["suspend"].truth(); }));
  remove_pods();
  ASSERT_TRUE(becomes([&] { return of(kPods).empty(); }));
  ASSERT_TRUE(says("QuotaReserved", "False Suspended"));
  EXPECT_EQ(said("Requeued"), "False Deactivated");
  EXPECT_EQ(said("Admitted"), "False NoReservation");

  patch(path, "{spec: {active: true}}");
  ASSERT_TRUE(becomes([&] { return waiting().size() == 2; }));
  ASSERT_TRUE(says("Requeued", "True Reactivated"));
  EXPECT_EQ(said("Evicted"), "False Reactivated");
  // Whom its user suspends is not let go.
  patch(kJobs + "/train", "{spec: {suspend: true}}");
  ASSERT_TRUE(says("QuotaReserved", "False Suspended"));
  // It said so of who was stopped by it, too.
  EXPECT_TRUE(becomes([&] { return message("QuotaReserved").contains("the Job is suspended"); }));
  ASSERT_TRUE(becomes([&] { return of(kPods).empty(); }));
}

TEST_F(KueueTest, NothingIsWrittenAgainByControllersThatBeginAnew) {
  create(kJobs, job_text(kLabels));
  ASSERT_TRUE(becomes([&] { return waiting().size() == 2 && !workload().is_null(); }));
  tell_pods(kNoRoom);
  ASSERT_TRUE(says("QuotaReserved", "False Pending"));
  const Value before = workload();
  controllers_.reset();
  start();
  // A second Job shows that they have looked.
  std::string other = job_text(kLabels);
  create(kJobs, other.replace(other.find("train"), 5, "later"));
  ASSERT_TRUE(becomes([&] { return of(kWorkloads).size() == 2; }));
  const std::string path = kWorkloads + "/" + std::string(before["metadata"]["name"].text());
  EXPECT_EQ(object_of(server_.call("GET", path)), before);
  // Numbers alone are written once a minute, another code at once.
  const auto becomes_told = [&](const std::string& wanted) {
    tell_pods("{type: PodScheduled, status: 'False', message: '" + wanted + "'}");
    return becomes([&] {
      const Value now = object_of(server_.call("GET", path));
      return now["status"]["conditions"].items().at(0)["message"].text() == wanted;
    });
  };
  ASSERT_TRUE(becomes_told("Capacity: no node has 4 GPUs free (2 nodes)"));
  const Time then = server_.now();
  ASSERT_TRUE(becomes_told("Capacity: no node has 4 GPUs free (3 nodes)"));
  EXPECT_GE((server_.now() - then).ms, seconds(50).ms);
  ASSERT_TRUE(becomes_told("Quota: it has no room"));
}

TEST_F(KueueTest, AJobThatLeavesKueuesQueueHasNoneAnyMore) {
  create(kJobs, job_text(kLabels));
  ASSERT_TRUE(becomes([&] { return !workload().is_null(); }));
  EXPECT_EQ(server_.call("DELETE", kWorkloads + "/" + std::string(workload()["metadata"]["name"].text())).status, 200);
  ASSERT_TRUE(becomes([&] { return !workload().is_null(); })) << "is made again";
  patch(kJobs + "/train", "{metadata: {labels: {berth.dev/queue: default}}}");
  EXPECT_TRUE(becomes([&] { return of(kWorkloads).empty(); }));
}

TEST_F(KueueTest, APodWithoutAJobHasOneAndWhatCannotBeIsRefused) {
  create(kPods, "{metadata: {name: other}, spec: {containers: [{name: c, image: i}]}}");
  create(
      kPods,
      "{metadata: {name: note, labels: {kueue.x-k8s.io/queue-name: main}}, spec: {containers: [{name: c, image: i}]}}");
  ASSERT_TRUE(becomes([&] { return !workload().is_null(); }));
  const std::string name(workload()["metadata"]["name"].text());
  EXPECT_TRUE(name.starts_with("pod-note-"));
  patch(kWorkloads + "/" + name, "{spec: {active: false}}", 422, "delete the pod instead");
  patch(kWorkloads + "/" + name, "{spec: {queueName: other}}", 422, "only active may be changed");
  patch(kWorkloads + "/" + name, "{metadata: {ownerReferences: null}}", 422, "field is immutable");
  const ApiAnswer made =
      server_.call("POST", kWorkloads,
                   R"({"metadata":{"name":"w"},"spec":{"queueName":"main","podSets":[{"count":1,"template":{}}]}})");
  EXPECT_EQ(made.status, 422);
  EXPECT_TRUE(made.body.contains("create the Job, with the label kueue.x-k8s.io/queue-name")) << made.body;
  patch(kPods + "/note/status", "{status: {phase: Failed}}");
  EXPECT_TRUE(says("Finished", "True Failed"));
}

// Other rules than those of quotas have Kueue's other words.
TEST(KueueWorkload, SaysByWhichRuleInKueuesWords) {
  const struct {
    const char* why;
    const char* evicted;
    const char* preempted;
  } cases[] = {
      {"reclaim: x", "Preempted", "InCohortReclamation"},
      {"fair-share: x", "Preempted", "InCohortFairSharing"},
      {"preempt: x", "Preempted", "InClusterQueue"},
      {"over-run: x", "MaximumExecutionTimeExceeded", ""},
      {"defragment: x", "Migrated", ""},
      {"node: x", "NodeFailures", ""},
      {"never-ready: x", "PodsReadyTimeout", ""},
      {"window: x", "QuotaLowered", ""},
      {"budget: x", "BudgetUsed", ""},
      {"trust: x", "TrustEnded", ""},
  };
  for (const auto& each : cases) {
    const Value pod = parse_yaml(
                          "{metadata: {name: p}, spec: {nodeName: n}, status: {conditions: [{type: DisruptionTarget, "
                          "status: 'True', reason: PreemptionByScheduler, message: '" +
                          std::string(each.why) + "'}]}}")
                          ->front();
    const KueueSource source{.is_job = false, .owner = pod, .pods = {&pod}};
    const Value status = kueue_status(Value(), source, ClusterView(), Time{0});
    std::string evicted, preempted;
    for (const Value& condition : status["conditions"].items()) {
      if (condition["type"].text() == "Evicted") evicted = condition["reason"].text();
      if (condition["type"].text() == "Preempted") preempted = condition["reason"].text();
    }
    EXPECT_EQ(evicted, each.evicted) << each.why;
    EXPECT_EQ(preempted, each.preempted) << each.why;
  }
}

TEST(KueueWorkload, HasANameThatIsAValueOfLabelsToo) {
  const auto name = [](const std::string& job, const std::string& uid) {
    Value owner;
    owner.at("metadata").set("name", job);
    owner.at("metadata").set("uid", uid);
    return kueue_workload_name(owner, true);
  };
  EXPECT_EQ(name("train", "u1"), name("train", "u1"));
  EXPECT_NE(name("train", "u1"), name("train", "u2"));
  EXPECT_EQ(name(std::string(200, 'a'), "u").size(), 63U);
  EXPECT_TRUE(name(std::string(52, 'a') + ".b", "u").starts_with("job-" + std::string(52, 'a') + "-"));
}

}  // namespace berth::kueue_controller_test
