// Simulated nodes against a real API server of the same process.
#include "agent/simulated_nodes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kube/hand_turned_alarm.h"
#include "local_api/eventually.h"
#include "local_api/test_server.h"
#include "manifest/json.h"

namespace berth::simulated_nodes_test {

class SimulatedNodesTest : public ::testing::Test {
 protected:
  void start(Duration run_time, std::optional<Duration> scrub = {}) {
    SimulatedNodesOptions options;
    options.scrub = scrub;
    options.now = [this] { return server_.now(); };
    options.log_folder = server_.log_folder();
    options.run_time = run_time;
    User agent = TestServer::user_named("system:berth-node-agent");
    agent.groups.push_back("system:nodes");
    transport_ = server_.transport(agent);
    nodes_ = SimulatedNodes::start(*transport_, *alarm_, nodes_from_text("2xH100x8").value(), options);
    ASSERT_TRUE(eventually([&] { return nodes_->synced(); }));
  }
  void add_bound_pod(const std::string& name, const std::string& annotations = "{}",
                     const std::string& restart_policy = "Never") {
    const std::string path = "/api/v1/namespaces/default/pods";
    const ApiAnswer made = server_.call("POST", path,
                                        R"({"metadata":{"name":")" + name + R"(","annotations":)" + annotations +
                                            R"(},"spec":{"restartPolicy":")" + restart_policy +
                                            R"(","containers":[{"name":"c","image":"i"}]}})");
    ASSERT_TRUE(made.ok()) << made.body;
    const ApiAnswer bound =
        server_.call("POST", path + "/" + name + "/binding",
                     R"({"metadata":{"name":")" + name + R"("},"target":{"kind":"Node","name":"h100-0001"}})");
    ASSERT_TRUE(bound.ok()) << bound.body;
  }
  // Its GPU is the first.
  void add_pod_on_gpu(const std::string& name) {
    const std::string path = "/api/v1/namespaces/default/pods";
    const ApiAnswer made =
        server_.call("POST", path,
                     R"({"metadata":{"name":")" + name +
                         R"("},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
                         R"("resources":{"limits":{"nvidia.com/gpu":1}}}]}})");
    ASSERT_TRUE(made.ok()) << made.body;
    const ApiAnswer bound = server_.call("POST", path + "/" + name + "/binding",
                                         R"({"metadata":{"name":")" + name +
                                             R"(","annotations":{"berth.dev/gpus":"0"}},)"
                                             R"("target":{"kind":"Node","name":"h100-0001"}})");
    ASSERT_TRUE(bound.ok()) << bound.body;
  }
  void annotate_node(const std::string& annotations) {
    const ApiAnswer answer = server_.call(ApiCall{.method = "PATCH",
                                                  .path = "/api/v1/nodes/h100-0001",
                                                  .content_type = "application/merge-patch+json",
                                                  .body = R"({"metadata":{"annotations":)" + annotations + "}}"});
    ASSERT_TRUE(answer.ok()) << answer.body;
  }
  std::string scrubbed() {
    const auto node = parse_json(server_.call("GET", "/api/v1/nodes/h100-0001").body);
    return std::string((*node)["metadata"]["annotations"]["berth.dev/gpus-scrubbed"].text());
  }
  Value pod(const std::string& name) {
    return parse_json(server_.call("GET", "/api/v1/namespaces/default/pods/" + name).body).value_or(Value());
  }
  bool is(const std::string& name, const std::string& phase) { return pod(name)["status"]["phase"].text() == phase; }

  TestServer server_;
  std::unique_ptr<Alarm> alarm_ = Alarm::start();
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<SimulatedNodes> nodes_;
};

TEST_F(SimulatedNodesTest, RegisterAndHaveNoTaintThatKeepsPodsAway) {
  start(seconds(5));
  const auto node = parse_json(server_.call("GET", "/api/v1/nodes/h100-0002").body);
  ASSERT_TRUE(node);
  EXPECT_EQ((*node)["status"]["allocatable"]["nvidia.com/gpu"].text(), "8");
  EXPECT_TRUE((*node)["spec"]["taints"].is_empty());
}

TEST_F(SimulatedNodesTest, RunPodsAndEndThemAsTheySay) {
  start(Duration{5});
  add_bound_pod("good");
  add_bound_pod("bad", R"({"berth.dev/exit-code":"3","berth.dev/run-for":"1ms"})");
  EXPECT_TRUE(eventually([&] { return is("good", "Succeeded") && is("bad", "Failed"); }));
  EXPECT_EQ(pod("bad")["status"]["containerStatuses"].items()[0]["state"]["terminated"]["exitCode"].integer(), 3);
  const std::string uid(pod("good")["metadata"]["uid"].text());
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(server_.log_folder()) / uid / "c.log"));
}

TEST_F(SimulatedNodesTest, KeepTheLogOfTheRunBeforeWhenAContainerBeginsAgain) {
  auto by_hand = std::make_unique<HandTurnedAlarm>();
  HandTurnedAlarm& clock = *by_hand;
  alarm_ = std::move(by_hand);
  start(seconds(5));
  const auto pass = [&](Duration time) {
    server_.advance(time);
    clock.advance(time);
  };
  add_bound_pod("again", R"({"berth.dev/exit-code":"3"})", "OnFailure");
  const std::string log = "/api/v1/namespaces/default/pods/again/log";
  const auto line_of = [&](const std::string& query) { return server_.call("GET", log + query).body; };
  EXPECT_TRUE(eventually([&] { return is("again", "Running"); }));
  EXPECT_EQ(server_.call("GET", log + "?previous=true").status, 400);
  EXPECT_TRUE(eventually([&] {
    pass(seconds(1));
    return server_.call("GET", log + "?previous=true").status == 200;
  }));
  EXPECT_EQ(line_of("?previous=true"), "begins: a simulated run of 5000 ms\nends with exit code 3, will run again\n");
  // The log of the run before is there first.
  EXPECT_TRUE(eventually([&] { return line_of("").starts_with("begins again\n"); })) << line_of("");
}

TEST_F(SimulatedNodesTest, EndDeletedPodsAndTakeOverThoseThatRun) {
  start(seconds(3600));
  add_bound_pod("long");
  ASSERT_TRUE(eventually([&] { return is("long", "Running"); }));
  nodes_.reset();
  start(seconds(3600));
  EXPECT_TRUE(is("long", "Running"));
  ASSERT_TRUE(server_.call("DELETE", "/api/v1/namespaces/default/pods/long").ok());
  EXPECT_TRUE(eventually([&] { return server_.call("GET", "/api/v1/namespaces/default/pods/long").status == 404; }));
}

TEST_F(SimulatedNodesTest, ScrubWhatTheyAreAskedForWhenNobodyIsThere) {
  start(seconds(300), Duration{10});
  annotate_node(R"({"berth.dev/gpus-used":"{\"0\":{\"by\":[\"a\"],\"scrub\":1},\"3\":{\"by\":[\"a\"]}}"})");
  EXPECT_TRUE(eventually([&] { return scrubbed() == R"({"0":{"scrub":1}})"; })) << scrubbed();
  // What is asked for while somebody is there waits until he has gone.
  add_pod_on_gpu("p");
  ASSERT_TRUE(eventually([&] { return is("p", "Running"); }));
  annotate_node(R"({"berth.dev/scrub-fails":"3",)"
                R"("berth.dev/gpus-used":"{\"0\":{\"by\":[\"a\"],\"scrub\":2},\"3\":{\"by\":[\"a\"],\"scrub\":5}}"})");
  const std::string failed = R"("3":{"scrub":5,"failed":"it fails by the annotation berth.dev/scrub-fails"}})";
  EXPECT_TRUE(eventually([&] { return scrubbed() == R"({"0":{"scrub":1},)" + failed; })) << scrubbed();
  server_.call("DELETE", "/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0");
  EXPECT_TRUE(eventually([&] { return scrubbed() == R"({"0":{"scrub":2},)" + failed; })) << scrubbed();
  // Whose answers are taken away is scrubbed anew.
  annotate_node(R"({"berth.dev/scrub-fails":null,"berth.dev/gpus-scrubbed":null})");
  EXPECT_TRUE(eventually([&] { return scrubbed() == R"({"0":{"scrub":2},"3":{"scrub":5}})"; })) << scrubbed();
}

TEST_F(SimulatedNodesTest, ScrubNothingWhereTheyAreNotToldTo) {
  start(seconds(300));
  annotate_node(R"({"berth.dev/gpus-used":"{\"0\":{\"by\":[\"a\"],\"scrub\":1}}"})");
  add_pod_on_gpu("p");
  ASSERT_TRUE(eventually([&] { return is("p", "Running"); }));
  EXPECT_EQ(scrubbed(), "");
}

}  // namespace berth::simulated_nodes_test
