// Requests and what is answered to them, in the words that Kubernetes' own server uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "local_api/api_answers.h"
#include "local_api/test_server.h"
#include "manifest/json.h"

namespace berth::api_server_test {

constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

std::string map_named(const std::string& name, const std::string& labels = "{}") {
  return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + name + R"(","labels":)" + labels +
         R"(},"data":{"k":"v"}})";
}

TEST(ApiServer, BeginsWithWhatEveryClusterHas) {
  TestServer server;
  for (const char* const path :
       {"/api/v1/namespaces/default", "/api/v1/namespaces/kube-system", "/api/v1/namespaces/kube-public",
        "/api/v1/namespaces/kube-node-lease", "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical",
        "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical", "/apis/berth.dev/v1alpha1/queues/default",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin", "/healthz", "/livez", "/readyz", "/version"}) {
    EXPECT_EQ(server.call("GET", path).status, 200) << path;
  }
  const Revision before = server.store().revision();
  server.restart();
  EXPECT_EQ(server.store().revision(), before);  // nothing was made twice
}

// What an earlier version made may lack what the components of this one need.
TEST(ApiServer, BringsRolesUpToDateAndTakesNothingAway) {
  TestServer server;
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
  const std::string role = rbac + "clusterroles/system:berth-scheduler";
  const std::string binding = rbac + "clusterrolebindings/system:berth-scheduler";
  const std::string kept = rbac + "clusterroles/system:berth-node-agent";
  const Value rules = object_of(server.call("GET", role))["rules"];
  const Value subjects = object_of(server.call("GET", binding))["subjects"];
  ASSERT_FALSE(rules.items().empty());
  ASSERT_EQ(
      server.call("PATCH", role, R"({"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]})").status,
      200);
  ASSERT_EQ(server
                .call("PATCH", binding,
                      R"({"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"ann"}]})")
                .status,
            200);
  ASSERT_EQ(
      server
          .call("PATCH", kept,
                R"({"metadata":{"annotations":{"rbac.authorization.kubernetes.io/autoupdate":"false"}},"rules":[]})")
          .status,
      200);
  server.restart();
  const Value now = object_of(server.call("GET", role));
  EXPECT_EQ(now["rules"].items().size(), rules.items().size() + 1);
  for (const Value& each : rules.items())
    EXPECT_TRUE(std::ranges::count(now["rules"].items(), each) == 1) << to_json(each);
  EXPECT_EQ(now["rules"].items().front()["resources"].items().front().text(), "secrets");
  EXPECT_EQ(object_of(server.call("GET", binding))["subjects"].items().size(), subjects.items().size() + 1);
  EXPECT_TRUE(object_of(server.call("GET", kept))["rules"].items().empty());
  const Revision after = server.store().revision();
  server.restart();
  EXPECT_EQ(server.store().revision(), after);
}

TEST(ApiServer, CreatesReadsChangesAndDeletes) {
  TestServer server;
  const Value created = object_of(server.call("POST", kMaps, map_named("m")));
  EXPECT_EQ(created["metadata"]["creationTimestamp"].text(), "2026-11-21T07:00:00Z");
  EXPECT_EQ(created["metadata"]["uid"].text().size(), 36U);
  EXPECT_EQ(created["metadata"]["namespace"].text(), "default");
  const std::string one = std::string(kMaps) + "/m";
  EXPECT_EQ(object_of(server.call("GET", one)), created);

  const ApiAnswer same = server.call("PUT", one, map_named("m"));
  EXPECT_EQ(object_of(same)["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
  const Value patched = object_of(server.call("PATCH", one, R"({"data":{"k":"w"}})"));
  EXPECT_EQ(patched["data"]["k"].text(), "w");
  EXPECT_NE(patched["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
  EXPECT_EQ(patched["metadata"]["uid"], created["metadata"]["uid"]);

  const Value deleted = object_of(server.call("DELETE", one));
  EXPECT_EQ(deleted["kind"].text(), "Status");
  EXPECT_EQ(deleted["details"]["uid"], created["metadata"]["uid"]);
  EXPECT_EQ(server.call("GET", one).status, 404);
}

TEST(ApiServer, ShowsItsFiguresToWhoMayGetThem) {
  TestServer server;
  const ApiAnswer figures = server.call("GET", "/metrics");
  EXPECT_EQ(figures.status, 200);
  EXPECT_NE(figures.body.find("berth_store_commit_duration_seconds_count"), std::string::npos) << figures.body;
  EXPECT_EQ(server.call("GET", "/metrics", {}, "ann").status, 403);
  User monitor = TestServer::user_named("monitor");
  monitor.groups.emplace_back("system:monitoring");
  ApiCall call;
  call.path = "/metrics";
  EXPECT_EQ(send_and_wait(*server.transport(monitor), call).status, 200);
}

struct Refused {
  const char* what;
  const char* method;
  std::string path;
  std::string body;
  int status;
  const char* reason;
  const char* message;
};

TEST(ApiServer, SaysNoInKubernetesWords) {
  TestServer server;
  ASSERT_EQ(server.call("POST", kPods, pod_named("p1")).status, 201);
  ASSERT_EQ(server.call("POST", kMaps, map_named("m")).status, 201);
  const std::string pods = kPods;
  const std::string maps = kMaps;
  const Refused cases[] = {
      {"dup", "POST", pods, pod_named("p1"), 409, "AlreadyExists", R"(pods "p1" already exists)"},
      {"notfound", "GET", pods + "/nope", "", 404, "NotFound", R"(pods "nope" not found)"},
      {"grouped", "GET", "/apis/batch/v1/namespaces/default/jobs/x", "", 404, "NotFound",
       R"(jobs.batch "x" not found)"},
      {"no ns", "POST", "/api/v1/namespaces/nons/configmaps", map_named("m"), 404, "NotFound",
       R"(namespaces "nons" not found)"},
      {"strict", "POST", pods + "?fieldValidation=Strict",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"s"},"spec":{"foo":1,"containers":[{"name":"c","image":"i"}]}})",
       400, "BadRequest",
       R"(Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo")"},
      {"bad method", "PUT", pods, pod_named("p1"), 405, "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {"everywhere", "POST", "/api/v1/pods", pod_named("p2"), 405, "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {"bad resource", "GET", "/api/v1/namespaces/default/nopes", "", 404, "NotFound",
       "the server could not find the requested resource"},
      {"stale", "PUT", maps + "/m",
       R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","resourceVersion":"1"}})", 409, "Conflict",
       "Operation cannot be fulfilled on configmaps \"m\": the object has been modified; please apply your changes to "
       "the "
       "latest version and try again"},
      {"lease", "PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/none",
       R"({"metadata":{"name":"none"},"spec":{}})", 404, "NotFound", R"(leases.coordination.k8s.io "none" not found)"},
      {"put absent", "PUT", maps + "/zzz", map_named("zzz"), 404, "NotFound", R"(configmaps "zzz" not found)"},
      {"field selector", "GET", pods + "?fieldSelector=spec.foo%3Dx", "", 400, "BadRequest",
       "field label not supported: spec.foo"},
      {"revision of tomorrow", "GET", pods + "?resourceVersion=999999999", "", 504, "Timeout", nullptr},
      {"initial events", "GET", pods + "?watch=true&sendInitialEvents=true", "", 422, "Invalid", nullptr},
      {"with revision", "POST", maps, R"({"metadata":{"name":"x","resourceVersion":"5"}})", 400, "BadRequest",
       "resourceVersion should not be set on objects to be created"},
      {"other name", "PUT", maps + "/m", map_named("other"), 400, "BadRequest", nullptr},
      {"other name, absent", "PUT", maps + "/zzz", map_named("other"), 400, "BadRequest", nullptr},
      {"no name in the body", "PUT", maps + "/m", R"({"data":{"a":"b"}})", 400, "BadRequest",
       "the name of the object ('m' based on URL) was undeterminable: name must be provided in metadata.name"},
      {"the name taken away", "PATCH", maps + "/m", R"({"metadata":{"name":null}})", 400, "BadRequest", nullptr},
      {"force without apply", "PATCH", maps + "/m?force=false", "{}", 422, "Invalid",
       R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch)"},
      {"long manager", "PATCH", maps + "/m?fieldManager=" + std::string(129, 'm'), "{}", 422, "Invalid",
       R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: must have at most 128 bytes)"},
      {"bare finalizer", "POST", maps, R"({"metadata":{"name":"x","finalizers":["nobody"]}})", 422, "Invalid", nullptr},
      {"other kind", "POST", maps, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}})", 400, "BadRequest",
       nullptr},
      {"other namespace", "POST", maps, R"({"metadata":{"name":"x","namespace":"kube-system"}})", 400, "BadRequest",
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"immortal", "DELETE", "/api/v1/namespaces/default", "", 403, "Forbidden",
       R"(namespaces "default" is forbidden: this namespace may not be deleted)"},
      {"dry run of half", "POST", maps + "?dryRun=Half", map_named("x"), 422, "Invalid", nullptr},
      {"no name", "POST", maps, "{}", 422, "Invalid",
       R"(ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required)"},
      {"no UTF-8", "GET", pods + "/%ff", "", 400, "BadRequest", "the path or the query is no valid UTF-8"},
      {"continue", "GET", pods + "?continue=nonsense", "", 400, "BadRequest", nullptr},
  };
  for (const Refused& each : cases) {
    SCOPED_TRACE(each.what);
    const ApiAnswer answer = server.call(each.method, each.path, each.body);
    EXPECT_EQ(answer.status, each.status) << answer.body;
    const Value status = object_of(answer);
    EXPECT_EQ(status["kind"].text(), "Status");
    EXPECT_EQ(status["reason"].text(), each.reason);
    EXPECT_EQ(status["code"].integer(), each.status);
    if (each.message != nullptr) {
      EXPECT_EQ(status["message"].text(), each.message);
    }
  }
  EXPECT_EQ(server.call("GET", "/apis/no.such.group/v1/things").body, "404 page not found\n");
}

TEST(ApiServer, NamesEverythingThatIsWrongAtOnce) {
  TestServer server;
  const ApiAnswer answer = server.call("POST", kPods, R"({"metadata":{"name":"X_"},"spec":{}})");
  EXPECT_EQ(answer.status, 422);
  const Value status = object_of(answer);
  EXPECT_TRUE(status["message"].text().starts_with(
      "Pod \"X_\" is invalid: [metadata.name: Invalid value: \"X_\": a lowercase "));
  EXPECT_TRUE(status["message"].text().ends_with("spec.containers: Required value]")) << status["message"].text();
  EXPECT_EQ(status["details"]["causes"].items().size(), 2U);
}

TEST(ApiServer, AsksForARevisionWhereOnlyItsHolderMayWrite) {
  TestServer server;
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const Value lease =
      object_of(server.call("POST", leases, R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}})"));
  const ApiAnswer without =
      server.call("PUT", leases + "/l", R"({"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}})");
  EXPECT_EQ(without.status, 422);
  EXPECT_EQ(
      object_of(without)["message"].text(),
      "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for "
      "an update");
  Value mine = lease;
  mine.at("spec").set("holderIdentity", "b");
  EXPECT_EQ(server.call("PUT", leases + "/l", to_json(mine)).status, 200);
  EXPECT_EQ(server.call("PUT", leases + "/l", to_json(mine)).status, 409);
}

TEST(ApiServer, DryRunsLeaveNothing) {
  TestServer server;
  const Revision before = server.store().revision();
  EXPECT_EQ(server.call("POST", std::string(kMaps) + "?dryRun=All", map_named("m")).status, 201);
  EXPECT_EQ(server.store().revision(), before);
  EXPECT_EQ(server.call("GET", std::string(kMaps) + "/m").status, 404);
}

TEST(ApiServer, PagesShowOneRevision) {
  TestServer server;
  for (int i = 0; i < 5; ++i) server.call("POST", kMaps, map_named("m" + std::to_string(i)));
  const Value first = object_of(server.call("GET", std::string(kMaps) + "?limit=2"));
  EXPECT_EQ(first["items"].items().size(), 2U);
  EXPECT_EQ(first["metadata"]["remainingItemCount"].integer(), 3);
  EXPECT_EQ(first["kind"].text(), "ConfigMapList");
  server.call("DELETE", std::string(kMaps) + "/m3");
  std::vector<std::string> seen;
  std::string token(first["metadata"]["continue"].text());
  while (!token.empty()) {
    const Value page = object_of(server.call("GET", std::string(kMaps) + "?limit=2&continue=" + token));
    EXPECT_EQ(page["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    for (const Value& item : page["items"].items()) seen.emplace_back(item["metadata"]["name"].text());
    token = page["metadata"]["continue"].text();
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"m2", "m3", "m4"}));
  const std::string exact(first["metadata"]["resourceVersion"].text());
  const Value then =
      object_of(server.call("GET", std::string(kMaps) + "?resourceVersionMatch=Exact&resourceVersion=" + exact));
  EXPECT_EQ(then["items"].items().size(), 5U);
}

TEST(ApiServer, SelectsByLabelsAndFields) {
  TestServer server;
  ASSERT_EQ(server.call("POST", kPods, pod_named("a", R"({"app":"x"})")).status, 201);
  ASSERT_EQ(server.call("POST", kPods, pod_named("b", R"({"app":"y"})")).status, 201);
  ASSERT_EQ(server.call("POST", std::string(kPods) + "/b/binding", binding_to("n1")).status, 201);
  const std::pair<const char*, const char*> cases[] = {
      {"labelSelector=app%3Dx", "a"},
      {"labelSelector=app%20in%20(x,y),app!%3Dx", "b"},
      {"fieldSelector=spec.nodeName%3Dn1", "b"},
      {"fieldSelector=spec.nodeName%3D", "a"},
      {"fieldSelector=status.phase!%3DPending", ""},
      {"fieldSelector=metadata.name%3Db", "b"},
      {"fieldSelector=metadata.name!%3Db", "a"},
      {"fieldSelector=metadata.name%3Db,metadata.name%3Da", ""},
      {"fieldSelector=metadata.namespace%3Ddefault,status.phase%3DPending&limit=1", "a"},
  };
  for (const auto& [query, names] : cases) {
    for (const char* const path : {"/api/v1/pods?", "/api/v1/namespaces/default/pods?"}) {
      std::string found;
      const Value list = object_of(server.call("GET", std::string(path) + query));
      for (const Value& pod : list["items"].items()) {
        found += pod["metadata"]["name"].text();
      }
      EXPECT_EQ(found, names) << path << query;
    }
  }
}

TEST(ApiServer, ShowsTablesAndMetadata) {
  TestServer server;
  server.call("POST", kMaps, map_named("m"));
  const auto as = [&](const char* form, const std::string& path) {
    ApiCall call;
    call.path = path;
    call.accept = std::string("application/json;as=") + form + ";v=v1;g=meta.k8s.io,application/json";
    return object_of(server.call(std::move(call)));
  };
  const Value table = as("Table", kMaps);
  EXPECT_EQ(table["kind"].text(), "Table");
  EXPECT_EQ(table["rows"].items().size(), 1U);
  EXPECT_EQ(as("Table", std::string(kMaps) + "?labelSelector=none")["rows"], Value::list());
  EXPECT_EQ(as("Table", std::string(kMaps) + "/m")["rows"].items()[0]["object"]["kind"].text(),
            "PartialObjectMetadata");
  EXPECT_EQ(as("PartialObjectMetadataList", kMaps)["items"].items()[0]["data"], Value());
  ApiCall xml;
  xml.path = kMaps;
  xml.accept = "application/xml";
  EXPECT_EQ(server.call(std::move(xml)).status, 406);
}

TEST(ApiServer, GeneratesNamesAndTriesAgainWhenOneIsTaken) {
  TestServer server;
  for (int i = 0; i < 50; ++i) {
    const Value made = object_of(server.call("POST", kMaps, R"({"metadata":{"generateName":"g-"}})"));
    EXPECT_EQ(made["metadata"]["name"].text().size(), 7U);
  }
}

TEST(ApiServer, StatusAndSpecAreWrittenApart) {
  TestServer server;
  server.call("POST", kPods, pod_named("p"));
  const std::string pod = std::string(kPods) + "/p";
  const Value main =
      object_of(server.call("PATCH", pod, R"({"metadata":{"labels":{"a":"b"}},"status":{"phase":"Running"}})"));
  EXPECT_EQ(main["status"]["phase"].text(), "Pending");
  EXPECT_EQ(main["metadata"]["labels"]["a"].text(), "b");
  EXPECT_EQ(main["metadata"]["generation"].integer(), 1);
  const Value status = object_of(
      server.call("PATCH", pod + "/status",
                  R"({"metadata":{"labels":{"a":"c"},"uid":null,"ownerReferences":[{"apiVersion":"v1","kind":"Pod",)"
                  R"("name":"o","uid":"o"}]},"spec":{"activeDeadlineSeconds":5},"status":{"phase":"Running"}})"));
  EXPECT_EQ(status["status"]["phase"].text(), "Running");
  EXPECT_EQ(status["metadata"]["labels"]["a"].text(), "c");
  EXPECT_EQ(status["metadata"]["uid"], main["metadata"]["uid"]);
  EXPECT_TRUE(status["metadata"]["ownerReferences"].is_null());
  EXPECT_EQ(status["spec"], main["spec"]);
  const Value spec = object_of(server.call("PATCH", pod, R"({"spec":{"activeDeadlineSeconds":60}})"));
  EXPECT_EQ(spec["metadata"]["generation"].integer(), 2);
}

TEST(ApiServer, AStatusMayComeWithMetadataExceptOfBerthsOwnKinds) {
  TestServer server;
  const std::string labels = R"({"metadata":{"labels":{"a":"b","kubernetes.io/metadata.name":null}}})";
  const Value space = object_of(server.call("PATCH", "/api/v1/namespaces/default/status", labels));
  EXPECT_EQ(to_json(space["metadata"]["labels"]), R"({"a":"b","kubernetes.io/metadata.name":"default"})");
  const Value queue = object_of(server.call("PATCH", "/apis/berth.dev/v1alpha1/queues/default/status", labels));
  EXPECT_EQ(queue["metadata"]["name"].text(), "default");
  EXPECT_TRUE(queue["metadata"]["labels"].is_null());
}

TEST(ApiServer, AnApplySaysWhatItIsAndNamesWhatItMakes) {
  TestServer server;
  server.call("POST", kMaps, map_named("m"));
  const std::tuple<const char*, const char*, int> cases[] = {
      {"m", R"({"kind":"ConfigMap","metadata":{"name":"m"}})", 400},
      {"m", R"({"apiVersion":"v1","metadata":{"name":"m"}})", 400},
      {"m", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}})", 400},
      {"new", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{}})", 400},
      {"m", R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b"}})", 200},
      {"new", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"new"}})", 201},
  };
  for (const auto& [name, body, status] : cases) {
    ApiCall call;
    call.method = "PATCH";
    call.path = std::string(kMaps) + "/" + name + "?fieldManager=me";
    call.content_type = "application/apply-patch+yaml";
    call.body = body;
    const ApiAnswer answer = server.call(std::move(call));
    EXPECT_EQ(answer.status, status) << body << answer.body;
  }
}

// Alice and the controllers may do everything.
void let_alice_and_the_controllers(TestServer& server) {
  const std::string rights =
      R"({"metadata":{"name":"r"},"subjects":[{"kind":"User","name":"alice","apiGroup":"rbac.authorization.k8s.io"},{"kind":"User","name":"system:berth-controllers","apiGroup":"rbac.authorization.k8s.io"}],"roleRef":{"kind":"ClusterRole","name":"cluster-admin","apiGroup":"rbac.authorization.k8s.io"}})";
  ASSERT_EQ(server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", rights).status, 201);
}

TEST(ApiServer, StampsTheUserWhoCreated) {
  TestServer server;
  let_alice_and_the_controllers(server);
  const auto user_of = [](const ApiAnswer& answer) {
    return std::string(object_of(answer)["metadata"]["annotations"]["berth.dev/user"].text(answer.body));
  };
  const std::string forged = pod_named("p", "{}", R"({"berth.dev/user":"bob"})");
  EXPECT_EQ(user_of(server.call("POST", kPods, forged, "alice")), "alice");
  const std::string pod = std::string(kPods) + "/p";
  EXPECT_EQ(
      user_of(server.call("PATCH", pod, R"({"metadata":{"annotations":{"berth.dev/user":"bob","x":"y"}}})", "alice")),
      "alice");
  EXPECT_EQ(user_of(server.call("PATCH", pod, R"({"metadata":{"annotations":null}})", "alice")), "alice");
  EXPECT_EQ(user_of(server.call("POST", kPods, pod_named("q", "{}", R"({"berth.dev/user":"bob"})"),
                                "system:berth-controllers")),
            "bob");
}

// Whoever could write it could stand before everybody in his queue.
TEST(ApiServer, SinceWhenAPodWaitsIsSaidByTheJobControllerOnly) {
  TestServer server;
  let_alice_and_the_controllers(server);
  const auto since = [](const ApiAnswer& answer) {
    return std::string(object_of(answer)["metadata"]["annotations"]["berth.dev/queued-at"].text("none"));
  };
  const std::string stamp = R"({"berth.dev/queued-at":"2000-01-01T00:00:00Z"})";
  EXPECT_EQ(since(server.call("POST", kPods, pod_named("p", "{}", stamp), "alice")), "none");
  EXPECT_EQ(since(server.call("POST", kPods, pod_named("q", "{}", stamp), "system:berth-controllers")),
            "2000-01-01T00:00:00Z");
  const std::string change = R"({"metadata":{"annotations":{"berth.dev/queued-at":"1999-01-01T00:00:00Z"}}})";
  EXPECT_EQ(since(server.call("PATCH", std::string(kPods) + "/p", change, "alice")), "none");
  EXPECT_EQ(since(server.call("PATCH", std::string(kPods) + "/q", change, "alice")), "2000-01-01T00:00:00Z");
}

TEST(ApiServer, KeepsEventsOnceAndShowsThemTwice) {
  TestServer server;
  const std::string newer = "/apis/events.k8s.io/v1/namespaces/default/events";
  const std::string event =
      R"({"metadata":{"generateName":"e-"},"eventTime":"2026-11-21T07:40:00.000000Z","type":"Normal","reason":"Scheduled","action":"Binding","note":"hello","reportingController":"berth.dev/scheduler","reportingInstance":"x","regarding":{"kind":"Pod","name":"p","namespace":"default","apiVersion":"v1"}})";
  const ApiAnswer made = server.call("POST", newer, event);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(object_of(made)["apiVersion"].text(), "events.k8s.io/v1");
  const Value core =
      object_of(server.call("GET", "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp"));
  ASSERT_EQ(core["items"].items().size(), 1U);
  EXPECT_EQ(core["items"].items()[0]["message"].text(), "hello");
  EXPECT_EQ(core["items"].items()[0]["kind"].text(), "Event");
  EXPECT_EQ(object_of(server.call("GET", newer))["items"].items()[0]["note"].text(), "hello");
}

}  // namespace berth::api_server_test
