// Deletions, bindings and evictions: what goes at once, what waits, what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "local_api/api_answers.h"
#include "local_api/test_server.h"

namespace berth::delete_test {

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kMaps = "/api/v1/namespaces/default/configmaps";

Value bound_pod(TestServer& server, const std::string& name) {
  const Value pod = object_of(server.call("POST", kPods, pod_named(name)));
  EXPECT_EQ(server.call("POST", kPods + "/" + name + "/binding", binding_to("n1")).status, 201);
  return pod;
}

TEST(Delete, APodThatNeverRanGoesAtOnce) {
  TestServer server;
  server.call("POST", kPods, pod_named("p"));
  const ApiAnswer gone = server.call("DELETE", kPods + "/p");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(object_of(gone)["kind"].text(), "Pod");
  EXPECT_EQ(server.call("GET", kPods + "/p").status, 404);
}

TEST(Delete, APodOnANodeIsGivenTimeAndMayBeHurried) {
  TestServer server;
  const Value pod = bound_pod(server, "p");
  const Value going = object_of(server.call("DELETE", kPods + "/p"));
  EXPECT_EQ(going["metadata"]["deletionTimestamp"].text(), "2026-11-21T07:00:30Z");
  EXPECT_EQ(going["metadata"]["deletionGracePeriodSeconds"].integer(), 30);
  EXPECT_EQ(going["metadata"]["generation"].integer(), pod["metadata"]["generation"].integer() + 1);
  server.advance(seconds(10));
  const Value again = object_of(server.call("DELETE", kPods + "/p"));
  EXPECT_EQ(again["metadata"]["resourceVersion"], going["metadata"]["resourceVersion"]);
  const Value hurried = object_of(server.call("DELETE", kPods + "/p?gracePeriodSeconds=5"));
  EXPECT_EQ(hurried["metadata"]["deletionTimestamp"].text(), "2026-11-21T07:00:15Z");
  const std::string agents =
      R"({"gracePeriodSeconds":0,"preconditions":{"uid":")" + std::string(pod["metadata"]["uid"].text()) + R"("}})";
  EXPECT_EQ(server.call("DELETE", kPods + "/p", agents).status, 200);
  EXPECT_EQ(server.call("GET", kPods + "/p").status, 404);
}

TEST(Delete, PreconditionsAreKept) {
  TestServer server;
  const Value pod = object_of(server.call("POST", kPods, pod_named("p")));
  const ApiAnswer wrong = server.call("DELETE", kPods + "/p", R"({"preconditions":{"uid":"zz"}})");
  EXPECT_EQ(wrong.status, 409);
  const Value status = object_of(wrong);
  EXPECT_EQ(status["message"].text(),
            "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition (zz) does not match the UID in "
            "record (" +
                std::string(pod["metadata"]["uid"].text()) +
                "). The object might have been deleted and then recreated");
  EXPECT_EQ(status["details"]["kind"].text(), "Pod");
  EXPECT_EQ(server.call("DELETE", kPods + "/p", R"({"preconditions":{"resourceVersion":"1"}})").status, 409);
}

TEST(Delete, FinalizersHoldAnObject) {
  TestServer server;
  server.call("POST", kMaps, R"({"metadata":{"name":"m","finalizers":["a.b/c"]}})");
  const Value held = object_of(server.call("DELETE", kMaps + "/m"));
  EXPECT_EQ(held["kind"].text(), "ConfigMap");
  EXPECT_EQ(held["metadata"]["deletionGracePeriodSeconds"].integer(), 0);
  const ApiAnswer more = server.call("PATCH", kMaps + "/m", R"({"metadata":{"finalizers":["a.b/c","d.e/f"]}})");
  EXPECT_EQ(more.status, 422);
  EXPECT_EQ(
      object_of(more)["message"].text(),
      "ConfigMap \"m\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
      "being deleted, found new finalizers []string{\"d.e/f\"}");
  EXPECT_EQ(server.call("PATCH", kMaps + "/m", R"({"metadata":{"finalizers":null}})").status, 200);
  EXPECT_EQ(server.call("GET", kMaps + "/m").status, 404);
}

TEST(Delete, DependentsAreLeftToWhoCollectsThem) {
  TestServer server;
  const std::pair<const char*, const char*> cases[] = {{"Foreground", "foregroundDeletion"}, {"Orphan", "orphan"}};
  for (const auto& [policy, finalizer] : cases) {
    server.call("POST", kMaps, R"({"metadata":{"name":"m"}})");
    const Value held = object_of(server.call("DELETE", kMaps + "/m?propagationPolicy=" + policy));
    EXPECT_EQ(held["metadata"]["finalizers"].items().at(0).text(), finalizer);
    server.call("PATCH", kMaps + "/m", R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(server.call("GET", kMaps + "/m").status, 404);
  }
  EXPECT_EQ(server.call("DELETE", kMaps + "/m?propagationPolicy=Sideways").status, 422);
  const char* const both = R"({"propagationPolicy":"Background","orphanDependents":true})";
  EXPECT_EQ(server.call("DELETE", kMaps + "/m", both).status, 422);
}

TEST(Delete, ANamespaceWaitsUntilItIsEmpty) {
  TestServer server;
  server.call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  const Value going = object_of(server.call("DELETE", "/api/v1/namespaces/team"));
  EXPECT_EQ(going["status"]["phase"].text(), "Terminating");
  const ApiAnswer late = server.call("POST", "/api/v1/namespaces/team/configmaps", R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(late.status, 403);
  EXPECT_EQ(server.call("PATCH", "/api/v1/namespaces/team", R"({"spec":{"finalizers":[]}})").status, 200);
  EXPECT_EQ(server.call("GET", "/api/v1/namespaces/team").status, 404);
}

TEST(Delete, CollectionsGoBySelector) {
  TestServer server;
  for (int i = 0; i < 250; ++i) {
    server.call("POST", kMaps,
                R"({"metadata":{"name":"m)" + std::to_string(i) + R"(","labels":{"odd":")" +
                    (i % 2 == 1 ? "yes" : "no") + R"("}}})");
  }
  const std::string even = kMaps + "?labelSelector=odd%3Dno";
  EXPECT_EQ(object_of(server.call("DELETE", even + "&dryRun=All"))["items"].items().size(), 125U);
  EXPECT_EQ(object_of(server.call("GET", kMaps))["items"].items().size(), 250U);
  EXPECT_EQ(server.call("DELETE", even, R"({"preconditions":{"uid":"zz"}})").status, 409);
  const Value gone = object_of(server.call("DELETE", even));
  EXPECT_EQ(gone["kind"].text(), "ConfigMapList");
  EXPECT_EQ(gone["items"].items().size(), 125U);
  EXPECT_EQ(gone["items"].items().front()["metadata"]["labels"]["odd"].text(), "no");
  const Value left = object_of(server.call("GET", kMaps));
  EXPECT_EQ(left["items"].items().size(), 125U);
  EXPECT_EQ(server.call("DELETE", kMaps + "?limit=5").status, 200);
  EXPECT_EQ(object_of(server.call("GET", kMaps))["items"].items().size(), 120U);
  EXPECT_EQ(object_of(server.call("DELETE", kMaps + "?labelSelector=none"))["items"], Value::list());
}

TEST(Bind, SaysNoInKubernetesWords) {
  TestServer server;
  const Value pod = bound_pod(server, "p1");
  server.call(
      "POST", kPods,
      R"({"metadata":{"name":"pg"},"spec":{"schedulingGates":[{"name":"a.b/c"}],"containers":[{"name":"c","image":"i"}]}})");
  server.call("POST", kPods, pod_named("p2"));
  const std::tuple<const char*, std::string, int, std::string> cases[] = {
      {"p1", binding_to("n2"), 409,
       "Operation cannot be fulfilled on pods/binding \"p1\": pod p1 is already assigned to node \"n1\""},
      {"pg", binding_to("n1"), 409,
       "Operation cannot be fulfilled on pods/binding \"pg\": pod pg has non-empty .spec.schedulingGates"},
      {"zz", binding_to("n1"), 404, "pods \"zz\" not found"},
      {"p2", binding_to("n1", "xx"), 409, ""},
      {"p2", R"({"metadata":{}})", 422, ""},
      {"p2", R"({"metadata":{"name":"p3"},"target":{"name":"n1"}})", 400, ""},
  };
  for (const auto& [name, body, code, message] : cases) {
    const ApiAnswer answer = server.call("POST", kPods + "/" + name + "/binding", body);
    EXPECT_EQ(answer.status, code) << name << answer.body;
    if (!message.empty()) {
      EXPECT_EQ(object_of(answer)["message"].text(), message);
    }
  }
  const Value bound = object_of(server.call("GET", kPods + "/p1"));
  EXPECT_EQ(bound["spec"]["nodeName"].text(), "n1");
  EXPECT_EQ(bound["status"]["conditions"].items().at(0)["type"].text(), "PodScheduled");
  const std::string annotated =
      R"({"metadata":{"name":"p2","annotations":{"berth.dev/gpus":"","a":"b","berth.dev/user":"eve"}},"target":{"name":"n1"}})";
  EXPECT_EQ(server.call("POST", "/api/v1/namespaces/default/bindings", annotated).status, 201);
  const Value p2 = object_of(server.call("GET", kPods + "/p2"));
  EXPECT_EQ(p2["metadata"]["annotations"]["a"].text(), "b");
  EXPECT_EQ(p2["metadata"]["annotations"]["berth.dev/user"].text(), "admin");
}

TEST(Evict, IsADeletionThatMayBeTriedDry) {
  TestServer server;
  server.call("POST", kPods, pod_named("p"));
  const std::string eviction = R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})";
  EXPECT_EQ(server.call("POST", kPods + "/p/eviction?dryRun=All", eviction).status, 201);
  EXPECT_EQ(server.call("GET", kPods + "/p").status, 200);
  EXPECT_EQ(server.call("POST", kPods + "/p/eviction", eviction).status, 201);
  EXPECT_EQ(server.call("GET", kPods + "/p").status, 404);
}

TEST(Evict, ManyAtOnceNeverTakeMoreThanTheBudgetLeaves) {
  TestServer server;
  const std::string budget = R"({"metadata":{"name":"b"},"spec":{"minAvailable":"50%","selector":{}}})";
  ASSERT_EQ(server.call("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget).status, 201);
  constexpr int kPodCount = 12;
  for (int i = 0; i < kPodCount; ++i) {
    const std::string name = "p" + std::to_string(i);
    bound_pod(server, name);
    server.call("PATCH", kPods + "/" + name + "/status",
                R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  std::vector<std::future<int>> answers;
  for (int i = 0; i < kPodCount; ++i) {
    answers.push_back(std::async(std::launch::async, [&server, i] {
      const std::string name = "p" + std::to_string(i);
      const std::string eviction =
          R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + name + R"("}})";
      return server.call("POST", kPods + "/" + name + "/eviction", eviction).status;
    }));
  }
  std::map<int, int> statuses;
  for (auto& each : answers) ++statuses[each.get()];
  EXPECT_EQ(statuses, (std::map<int, int>{{201, 6}, {429, 6}}));
  const Value status =
      object_of(server.call("GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b"))["status"];
  EXPECT_EQ(status["currentHealthy"].integer(), 6);
  EXPECT_EQ(status["disruptionsAllowed"].integer(), 0);
  EXPECT_EQ(status["conditions"].items().at(0)["reason"].text(), "InsufficientPods");
}

TEST(PodLog, IsServedFromTheAgentsFile) {
  TestServer server;
  const Value pod = bound_pod(server, "p");
  EXPECT_EQ(server.call("GET", kPods + "/p/log").status, 400);  // has not begun
  const std::string folder = server.log_folder() + "/" + std::string(pod["metadata"]["uid"].text());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/c.log") << "2026-11-21T06:59:00.000000Z one\n2026-11-21T06:59:50.000000Z two\nbare\n";
  const std::pair<const char*, const char*> cases[] = {
      {"", "one\ntwo\nbare\n"},
      {"?tailLines=2", "two\nbare\n"},
      {"?tailLines=0", ""},
      {"?sinceSeconds=30", "two\nbare\n"},
      {"?limitBytes=5", "one\nt"},
      {"?container=c&tailLines=2&timestamps=true", "2026-11-21T06:59:50.000000Z two\nbare\n"},
  };
  for (const auto& [query, text] : cases) EXPECT_EQ(server.call("GET", kPods + "/p/log" + query).body, text) << query;
  EXPECT_EQ(server.call("GET", kPods + "/p/log?container=x").status, 400);
  EXPECT_EQ(server.call("GET", kPods + "/p/log?previous=true").status, 400);
  std::ofstream(folder + "/c.previous.log") << "2026-11-21T06:58:00.000000Z zero\n";
  EXPECT_EQ(server.call("GET", kPods + "/p/log?previous=true&follow=true").body, "zero\n");
  EXPECT_EQ(server.call("GET", kPods + "/p/log?sinceTime=2026-11-21T06:59:50Z").body, "two\nbare\n");
  EXPECT_EQ(server.call("GET", kPods + "/p/log?sinceTime=2026-11-21T06:59:50Z&sinceSeconds=3").status, 422);
  EXPECT_EQ(server.call("GET", kPods + "/p/log?tailLines=-1").status, 422);
  server.call("PATCH", kPods + "/p/status", R"({"status":{"phase":"Succeeded"}})");
  EXPECT_EQ(server.call("GET", kPods + "/p/log?follow=true").body, "one\ntwo\nbare\n");  // ends by itself
}

TEST(PodLog, IsFollowedUntilThePodIsOver) {
  TestServer server;
  const Value pod = bound_pod(server, "p");
  const std::string folder = server.log_folder() + "/" + std::string(pod["metadata"]["uid"].text());
  std::filesystem::create_directories(folder);
  std::ofstream file(folder + "/c.log");
  file << "one\n" << std::flush;
  std::promise<ApiAnswer> over;
  const auto transport = server.transport();
  ApiCall call;
  call.path = kPods + "/p/log?follow=true";
  transport->send(std::move(call), [&over](ApiAnswer answer) { over.set_value(std::move(answer)); });
  file << "two\nhalf a li" << std::flush;
  server.call("PATCH", kPods + "/p/status", R"({"status":{"phase":"Running"}})");
  file << "ne" << std::flush;
  server.call("PATCH", kPods + "/p/status", R"({"status":{"phase":"Succeeded"}})");
  EXPECT_EQ(over.get_future().get().body, "one\ntwo\nhalf a line");
}

}  // namespace berth::delete_test
