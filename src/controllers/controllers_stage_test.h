// The real API server with its controllers, in virtual time: the alarm is turned by hand. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "controllers/broken_transports.h"
#include "controllers/controllers.h"
#include "kube/hand_turned_alarm.h"
#include "local_api/test_server.h"
#include "manifest/json.h"

namespace berth {

inline constexpr Duration kGrace = seconds(3600);
inline constexpr Duration kEvictionAfter = seconds(7200);
inline constexpr const char* kPods = "/api/v1/namespaces/default/pods";
inline constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
inline constexpr const char* kNodes = "/api/v1/nodes";

class ControllersTest : public testing::Test {
 protected:
  ControllersTest() : transport_(server_.transport("system:berth-controllers")) { start(); }

  void start() { start(*transport_); }
  void start(Transport& transport) {
    ControllerOptions options;
    options.now = [this] { return server_.now(); };
    options.node_grace = kGrace;
    options.eviction_after = kEvictionAfter;
    options.seed = ++seed_;
    controllers_ = Controllers::start(transport, alarm_, options);
  }

  // Waits for what other threads bring about; a hundredth of a virtual second passes at each look, for retries.
  void eventually(const std::string& what, const std::function<bool()>& holds) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up) << "never: " << what;
      pass(Duration{10});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  void pass(Duration time) {
    server_.advance(time);
    alarm_.advance(time);
  }

  Value call(const std::string& method, const std::string& path, const std::string& body = "", int status = 200) {
    const ApiAnswer answer = server_.call(method, path, body);
    EXPECT_EQ(answer.status, status) << method << " " << path << ": " << answer.body;
    auto parsed = parse_json(answer.body);
    return parsed ? *std::move(parsed) : Value();
  }
  Value create(const std::string& path, const std::string& body) { return call("POST", path, body, 201); }
  Value get(const std::string& path) {
    auto parsed = parse_json(server_.call("GET", path).body);
    return parsed ? *std::move(parsed) : Value();
  }
  bool is_gone(const std::string& path) { return server_.call("GET", path).status == 404; }

  std::vector<Value> pods() { return get(kPods)["items"].items(); }
  std::vector<std::string> unfinished() {
    std::vector<std::string> names;
    for (const Value& pod : pods()) {
      if (pod["status"]["phase"].text() == "Pending") names.emplace_back(pod["metadata"]["name"].text());
    }
    return names;
  }
  void end_pod(const std::string& name, const std::string& phase) {
    call("PATCH", std::string(kPods) + "/" + name + "/status", R"({"status":{"phase":")" + phase + R"("}})");
  }
  // Whether it was there: what a controller asked for in its last moment may come, and go, after it.
  bool end_pod_if_there(const std::string& name, const std::string& phase) {
    const std::string body = R"({"status":{"phase":")" + phase + R"("}})";
    return server_.call("PATCH", std::string(kPods) + "/" + name + "/status", body).status == 200;
  }
  bool has_event(const std::string& reason) {
    const Value events = get("/apis/events.k8s.io/v1/events");
    for (const Value& each : events["items"].items()) {
      if (each["reason"].text() == reason) return true;
    }
    return false;
  }
  std::int64_t count_of_event(const std::string& reason) {
    const Value events = get("/apis/events.k8s.io/v1/events");
    std::int64_t count = 0;
    for (const Value& each : events["items"].items()) {
      if (each["reason"].text() == reason) count += each["series"]["count"].integer(1);
    }
    return count;
  }
  std::string condition(const Value& object, const std::string& type) {
    for (const Value& each : object["status"]["conditions"].items()) {
      if (each["type"].text() == type) return std::string(each["status"].text());
    }
    return "";
  }
  // How many taints of that key.
  std::size_t taints(const std::string& node, const std::string& key) {
    std::size_t count = 0;
    const Value found = get(std::string(kNodes) + "/" + node);
    for (const Value& each : found["spec"]["taints"].items()) {
      if (each["key"].text() == key) ++count;
    }
    return count;
  }
  void create_node(const std::string& name) {
    create(kNodes, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name +
                       R"("},"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  }
  void create_pod_on(const std::string& node, const std::string& name) {
    create(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("},"spec":{"nodeName":")" +
                      node + R"(","containers":[{"name":"c","image":"i"}]}})");
  }

  TestServer server_;
  HandTurnedAlarm alarm_;
  std::unique_ptr<Transport> transport_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<Controllers> controllers_;
};

}  // namespace berth
