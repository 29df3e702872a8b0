// The status of disruption budgets, followed against the real API server. Time is virtual.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "controllers/controllers.h"
#include "kube/hand_turned_alarm.h"
#include "local_api/api_answers.h"
#include "local_api/eventually.h"
#include "local_api/test_server.h"

namespace berth::disruption_controller_test {

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const std::string kEviction = R"({"apiVersion":"policy/v1","kind":"Eviction"})";

class DisruptionTest : public testing::Test {
 protected:
  DisruptionTest() {
    ControllerOptions options;
    options.now = [this] { return server_.now(); };
    controllers_ = Controllers::start(*transport_, alarm_, options);
  }

  void create(const std::string& path, const std::string& body) {
    const ApiAnswer answer = server_.call("POST", path, body);
    ASSERT_EQ(answer.status, 201) << answer.body;
  }
  void run_pod(const std::string& name, const std::string& app) {
    create(kPods, pod_named(name, R"({"app":")" + app + R"("})"));
    create(kPods + "/" + name + "/binding", binding_to("n1"));
    set_ready(name, "True");
  }
  void set_ready(const std::string& name, const std::string& ready) {
    const std::string status =
        R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":")" + ready + R"("}]}})";
    ASSERT_EQ(server_.call("PATCH", kPods + "/" + name + "/status", status).status, 200);
  }
  // "healthy/desired/expected, allowed (reason)", once it has become so.
  bool becomes(const std::string& name, const std::string& wanted) {
    const bool became = eventually([&] {
      alarm_.advance(Duration{100});
      return told(name) == wanted;
    });
    EXPECT_EQ(told(name), wanted);
    return became;
  }
  std::string told(const std::string& name) {
    const Value budget = object_of(server_.call("GET", kBudgets + "/" + name));
    const Value& status = budget["status"];
    if (status["observedGeneration"] != budget["metadata"]["generation"]) return "not looked at";
    const auto number = [&](const char* field) { return std::to_string(status[field].integer()); };
    return number("currentHealthy") + "/" + number("desiredHealthy") + "/" + number("expectedPods") + ", " +
           number("disruptionsAllowed") + " (" + std::string(status["conditions"].items().at(0)["reason"].text()) + ")";
  }

  TestServer server_;
  HandTurnedAlarm alarm_;
  std::unique_ptr<Transport> transport_ = server_.transport("system:berth-controllers");
  std::unique_ptr<Controllers> controllers_;
};

TEST_F(DisruptionTest, ABudgetsStatusFollowsItsPods) {
  run_pod("a1", "a");
  run_pod("a2", "a");
  run_pod("b1", "b");
  create(kBudgets, R"({"metadata":{"name":"d"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"a"}}}})");
  EXPECT_TRUE(becomes("d", "2/1/2, 1 (SufficientPods)"));
  run_pod("a3", "a");
  EXPECT_TRUE(becomes("d", "3/1/3, 2 (SufficientPods)"));
  set_ready("a3", "False");
  EXPECT_TRUE(becomes("d", "2/1/3, 1 (SufficientPods)"));
  // A pod joins and leaves by its label.
  server_.call("PATCH", kPods + "/b1", R"({"metadata":{"labels":{"app":"a"}}})");
  EXPECT_TRUE(becomes("d", "3/1/4, 2 (SufficientPods)"));
  server_.call("PATCH", kPods + "/a3", R"({"metadata":{"labels":{"app":"c"}}})");
  EXPECT_TRUE(becomes("d", "3/1/3, 2 (SufficientPods)"));
  server_.call("PATCH", kBudgets + "/d", R"({"spec":{"minAvailable":"100%"}})");
  EXPECT_TRUE(becomes("d", "3/3/3, 0 (InsufficientPods)"));
  EXPECT_EQ(server_.call("POST", kPods + "/a1/eviction", kEviction).status, 429);
  server_.call("PATCH", kBudgets + "/d", R"({"spec":{"minAvailable":null,"maxUnavailable":1}})");
  EXPECT_TRUE(becomes("d", "3/2/3, 1 (SufficientPods)"));
  EXPECT_EQ(server_.call("POST", kPods + "/a1/eviction", kEviction).status, 201);
  EXPECT_EQ(server_.call("POST", kPods + "/a2/eviction", kEviction).status, 429);
  EXPECT_TRUE(becomes("d", "2/2/3, 0 (InsufficientPods)"));
  // Another selector, and an end that takes nothing with it.
  server_.call("PATCH", kBudgets + "/d", R"({"spec":{"selector":{"matchLabels":{"app":"c"}}}})");
  EXPECT_TRUE(becomes("d", "0/0/1, 0 (InsufficientPods)"));
  EXPECT_EQ(server_.call("DELETE", kBudgets + "/d").status, 200);
  EXPECT_EQ(server_.call("POST", kPods + "/a2/eviction", kEviction).status, 201);
}

TEST_F(DisruptionTest, AShareIsOneOfThePodsThatTheJobMeansToHave) {
  create(
      "/apis/batch/v1/namespaces/default/jobs",
      R"({"metadata":{"name":"j"},"spec":{"parallelism":4,"completions":4,"template":{"metadata":{"labels":{"app":"a"}},)"
      R"("spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  create(kBudgets,
         R"({"metadata":{"name":"d"},"spec":{"maxUnavailable":"25%","selector":{"matchLabels":{"app":"a"}}}})");
  EXPECT_TRUE(becomes("d", "0/3/4, 0 (InsufficientPods)"));
  server_.call("PATCH", "/apis/batch/v1/namespaces/default/jobs/j", R"({"spec":{"parallelism":2}})");
  EXPECT_TRUE(becomes("d", "0/1/2, 0 (InsufficientPods)"));
}

}  // namespace berth::disruption_controller_test
