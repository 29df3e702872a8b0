// A tenant is told nothing of another one. In one world only tenant a is there, in the other tenant b as well; whoever
// belongs to a asks both all there is to ask, and hears the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/transport.h"
#include "local_api/api_answers.h"
#include "local_api/test_server.h"
#include "manifest/json.h"
#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth::two_worlds_test {

constexpr const char* kYaml = "application/yaml";
constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
constexpr const char* kMetadata = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

std::string filled_in(std::string text, const std::string& tenant) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) text.replace(at, 1, tenant);
  return text;
}

ApiCall call_of(std::string method, std::string path, std::string body = {}, const char* accept = "application/json") {
  ApiCall call;
  call.content_type = method == "PATCH" ? "application/merge-patch+json" : kYaml;
  call.method = std::move(method);
  call.path = std::move(path);
  call.body = std::move(body);
  call.accept = accept;
  return call;
}

struct Made {
  const char* qualified;
  bool namespaced;
  const char* yaml;  // @ is the tenant; so are all names
};

// One object of every kind that a tenant can have, and of the cluster's that concern him alone.
constexpr Made kTenant[] = {
    {"namespaces", false, "{metadata: {name: '@', labels: {team: '@'}}}"},
    {"queues.berth.dev", false,
     "{metadata: {name: '@', labels: {team: '@'}}, spec: {submitters: {namespaces: ['@']}}}"},
    {"trustcircles.berth.dev", false, "{metadata: {name: '@'}, spec: {queues: ['@', 'of-@']}}"},
    {"priorityclasses.scheduling.k8s.io", false,
     "{metadata: {name: '@', annotations: {berth.dev/restricted: 'true'}}, value: 1000}"},
    {"clusterroles.rbac.authorization.k8s.io", false,
     "{metadata: {name: '@'}, rules: [{verbs: [list], apiGroups: [''], resources: [nodes]}]}"},
    {"clusterrolebindings.rbac.authorization.k8s.io", false,
     "{metadata: {name: '@'}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: '@'}, "
     "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: 'owner-of-@'}]}"},
    {"resourcequotas", true, "{metadata: {name: '@'}, spec: {hard: {pods: '50', count/configmaps: '50'}}}"},
    {"limitranges", true, "{metadata: {name: '@'}, spec: {limits: [{type: Container, max: {cpu: '8'}}]}}"},
    {"configmaps", true, "{metadata: {name: '@', labels: {team: '@'}}, data: {of: '@'}}"},
    {"secrets", true, "{metadata: {name: '@'}, stringData: {of: '@'}}"},
    {"serviceaccounts", true, "{metadata: {name: '@'}}"},
    {"pods", true,
     "{metadata: {name: '@', labels: {team: '@', berth.dev/queue: '@'}}, spec: {containers: [{name: c, image: i}]}}"},
    {"jobs.batch", true,
     "{metadata: {name: '@', labels: {berth.dev/queue: '@'}}, spec: {template: {spec: {restartPolicy: Never, "
     "priorityClassName: '@', containers: [{name: c, image: i}]}}}}"},
    {"poddisruptionbudgets.policy", true,
     "{metadata: {name: '@'}, spec: {minAvailable: 1, selector: {matchLabels: {team: '@'}}}}"},
    {"leases.coordination.k8s.io", true, "{metadata: {name: '@'}, spec: {holderIdentity: '@'}}"},
    {"events", true,
     "{metadata: {name: '@'}, involvedObject: {kind: Pod, namespace: '@', name: '@'}, reason: R, message: of @, "
     "type: Normal}"},
    {"roles.rbac.authorization.k8s.io", true,
     "{metadata: {name: '@'}, rules: [{verbs: [get], apiGroups: [''], resources: [secrets]}]}"},
    {"rolebindings.rbac.authorization.k8s.io", true,
     "{metadata: {name: '@'}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: '@'}, "
     "subjects: [{kind: ServiceAccount, namespace: '@', name: '@'}]}"},
    {"workloads.berth.dev", true, "{metadata: {name: '@'}, spec: {queue: '@'}}"},
};

void make(TestServer& server, const std::string& path, const std::string& yaml) {
  const ApiAnswer answer = server.call(call_of("POST", path, yaml));
  ASSERT_EQ(answer.status, 201) << path << " " << yaml << answer.body;
}

void make_tenant(TestServer& server, const std::string& tenant) {
  for (const Made& each : kTenant) {
    make(server, api_path(each.qualified, each.namespaced ? tenant : ""), filled_in(each.yaml, tenant));
  }
}

void bind(TestServer& server, const std::string& name_space, const std::string& user, const std::string& role) {
  make(server, api_path("rolebindings.rbac.authorization.k8s.io", name_space),
       "{metadata: {name: '" + user + "'}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: '" +
           role + "'}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: '" + user + "'}]}");
}

// What the scheduler says of everybody's queue: where b is there too, its names are in it.
void tell_of_default(TestServer& server, int pending, bool with_b) {
  const std::string of_b = R"(, "waiting": ["b/b"], "turn": "b goes before it", "lenders": {"b": "4"})";
  const ApiAnswer answer =
      server.call(call_of("PATCH", api_path("queues.berth.dev", "") + "/default/status",
                          "{\"status\": {\"pending\": " + std::to_string(pending) + (with_b ? of_b : "") + "}}"));
  ASSERT_EQ(answer.status, 200) << answer.body;
}

void make_world(TestServer& server, bool with_b) {
  make(server, api_path("nodes", ""), "{metadata: {name: n1}}");
  make(server, api_path("priorityclasses.scheduling.k8s.io", ""), "{metadata: {name: usual}, value: 5}");
  tell_of_default(server, 3, with_b);
  make_tenant(server, "a");
  bind(server, "a", "alice", "edit");
  bind(server, "a", "ada", "admin");
  if (!with_b) return;
  make_tenant(server, "b");
  bind(server, "b", "bob", "admin");
}

// ---- what differs between any two servers ---------------------------------------------------------------------------

void normalise(Value& value) {
  if (value.is_list()) {
    for (Value& item : value.edit_items()) normalise(item);
  }
  if (!value.is_map()) return;
  for (Value::Member& member : value.edit_members()) {
    const bool of_the_moment = member.key == "uid" || member.key == "resourceVersion" || member.key == "continue";
    if (of_the_moment && member.value.is_text()) member.value = "*";
    normalise(member.value);
  }
}

bool is_uid_at(std::string_view text, std::size_t at) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (text.size() - at < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const char c = text[at + i];
    if (kForm[i] == '-' ? c != '-' : std::string_view("0123456789abcdef").find(c) == std::string_view::npos)
      return false;
  }
  return true;
}

// Also within sentences, labels and names: what was rolled.
std::string without_dice(std::string_view text) {
  constexpr std::string_view kRolled = "rolled-";
  constexpr std::size_t kRolledLetters = 5;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (is_uid_at(text, at)) {
      out += "UID";
      at += 36;
    } else if (text.substr(at).starts_with(kRolled)) {
      out += "ROLLED";
      at += kRolled.size() + kRolledLetters;
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string normalised(const std::string& body) {
  auto parsed = parse_json(body);
  if (!parsed) return without_dice(body);
  normalise(*parsed);
  return without_dice(to_json(*parsed));
}

std::string answer_text(const ApiAnswer& answer) {
  return std::to_string(answer.status) + " retry " + std::to_string(answer.retry_after_s) + " " +
         normalised(answer.body);
}

// What the answer of a call is, and of a watch what it begins with: those lines are there before stream() returns.
std::string asked(TestServer& server, const ApiCall& call, const std::string& user) {
  if (call.path.find("watch=1") == std::string::npos) return answer_text(server.call(call, user));
  const auto transport = server.transport(user);
  const auto told = std::make_shared<std::string>();
  const auto stream = transport->stream(
      call, [told](std::string_view line) { *told += normalised(std::string(line)) + "\n"; },
      [told](const ApiAnswer& answer) { *told += answer_text(answer); });
  return *told;
}

// ---- all there is to ask --------------------------------------------------------------------------------------------

void add_reads(std::vector<ApiCall>& calls, const KindInfo& kind, const std::string& collection) {
  for (const char* const accept : {"application/json", kTable, kMetadata}) {
    for (const char* const query :
         {"", "?limit=1", "?labelSelector=team%3Db", "?labelSelector=team%21%3Da", "?fieldSelector=metadata.name%3Db",
          "?fieldSelector=metadata.namespace%3Db", "?resourceVersion=0", "?includeObject=Object", "?watch=1",
          "?watch=1&fieldSelector=metadata.name%3Db"}) {
      calls.push_back(call_of("GET", collection + query, {}, accept));
    }
  }
  for (const char* const name : {"a", "b", "none"}) {
    calls.push_back(call_of("GET", collection + "/" + name));
    calls.push_back(call_of("GET", collection + "/" + name, {}, kTable));
    for (const std::string& part : kind.subresources)
      calls.push_back(call_of("GET", collection + "/" + name + "/" + part));
  }
}

void add_writes(std::vector<ApiCall>& calls, const KindInfo& kind, const std::string& collection) {
  const std::string head = "{apiVersion: " + kind.api_version() + ", kind: " + kind.kind + ", ";
  for (const std::string name : {"a", "b", "none"}) {
    const std::string path = collection + "/" + name;
    calls.push_back(call_of("PATCH", path, R"({"metadata":{"labels":{"x":"y"}}})"));
    calls.push_back(call_of("PATCH", path + "?dryRun=All", R"({"metadata":{"resourceVersion":"1"}})"));
    calls.push_back(call_of("PUT", path, head + "metadata: {name: '" + name + "'}}"));
    calls.push_back(call_of("POST", collection + "?dryRun=All", head + "metadata: {name: '" + name + "'}}"));
    calls.push_back(call_of("DELETE", path + "?dryRun=All"));
    calls.push_back(call_of("DELETE", path, "{preconditions: {uid: x}}"));
    for (const std::string& part : kind.subresources) {
      calls.push_back(call_of("POST", path + "/" + part, "{metadata: {name: '" + name + "'}}"));
      calls.push_back(call_of("PATCH", path + "/" + part, R"({"status":{"phase":"Running"}})"));
      calls.push_back(call_of("PUT", path + "/" + part, head + "metadata: {name: '" + name + "'}}"));
    }
  }
  calls.push_back(call_of("DELETE", collection + "?labelSelector=team%3Db"));
}

void add_kinds(std::vector<ApiCall>& calls) {
  for (const KindInfo& kind : served_kinds()) {
    if (!kind.has_verb("list")) continue;
    const std::string root = kind.group.empty() ? "/api/v1/" : "/apis/" + kind.api_version() + "/";
    std::vector<std::string> collections = {root + kind.plural};
    if (kind.namespaced) {
      for (const std::string name_space : {"a", "b", "none"}) {
        collections.push_back(root + "namespaces/" + name_space + "/" + kind.plural);
      }
    }
    for (const std::string& collection : collections) {
      add_reads(calls, kind, collection);
      add_writes(calls, kind, collection);
    }
  }
}

std::string pod_yaml(const std::string& metadata, const std::string& spec = "") {
  return "{metadata: {" + metadata + "}, spec: {" + spec + "containers: [{name: c, image: i}]}}";
}

// Objects of a's own that name what b has. Names are rolled in dry runs only: they would decide the order of lists.
void add_namings(std::vector<ApiCall>& calls) {
  for (const std::string other : {"a", "b", "none", "system-node-critical", "usual", "default"}) {
    for (const std::string query : {"?dryRun=All", "?fieldValidation=Strict"}) {
      const auto add = [&](const std::string& path, const std::string& yaml) {
        calls.push_back(call_of("POST", path + query, yaml));
      };
      const auto name = [&](const char* part) {
        return query == "?dryRun=All" ? std::string("generateName: rolled-") : "name: 'by-" + other + "-" + part + "'";
      };
      const std::string queue = "labels: {berth.dev/queue: '" + other + "'}";
      const std::string class_name = "priorityClassName: '" + other + "', ";
      const std::string containers = "restartPolicy: Never, containers: [{name: c, image: i}]}}}}";
      const std::string binding = "{metadata: {name: '" + other + "'}, target: {kind: Node, name: n1}}";
      add(api_path("pods", "a"), pod_yaml(name("queue") + ", " + queue));
      add(api_path("pods", "a"), pod_yaml(name("both") + ", " + queue, class_name));
      add(api_path("pods", "a"), pod_yaml(name("class"), class_name));
      add(api_path("pods", "a"), pod_yaml(name("node"), "nodeName: '" + other + "', "));
      add(api_path("pods", "a"), pod_yaml(name("account"), "serviceAccountName: '" + other + "', "));
      add(api_path("jobs.batch", "a"),
          "{metadata: {" + name("queue") + "}, spec: {template: {metadata: {" + queue + "}, spec: {" + containers);
      add(api_path("jobs.batch", "a"),
          "{metadata: {" + name("class") + "}, spec: {template: {spec: {" + class_name + containers);
      add(api_path("namespaces", ""), "{metadata: {name: '" + other + "'}}");
      add(api_path("bindings", "a"), binding);
      add(api_path("bindings", "b"), binding);
      for (const std::string role : {"Role", "ClusterRole"}) {
        add(api_path("rolebindings.rbac.authorization.k8s.io", "a"),
            "{metadata: {" + name(role == "Role" ? "role" : "cluster-role") +
                "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + role + ", name: '" + other +
                "'}, subjects: [{kind: ServiceAccount, namespace: '" + other + "', name: b}]}");
      }
    }
  }
}

void add_reviews(std::vector<ApiCall>& calls) {
  const std::string access = "/apis/authorization.k8s.io/v1/";
  for (const std::string name_space : {"a", "b", "none", ""}) {
    calls.push_back(call_of("POST", access + "selfsubjectrulesreviews", "{spec: {namespace: '" + name_space + "'}}"));
    for (const std::string resource : {"pods", "secrets", "namespaces", "queues", "priorityclasses", "nodes"}) {
      for (const std::string verb : {"get", "list", "delete", "use", "impersonate"}) {
        const std::string asked_for = "resourceAttributes: {namespace: '" + name_space + "', verb: " + verb +
                                      ", resource: " + resource + ", name: b}";
        calls.push_back(call_of("POST", access + "selfsubjectaccessreviews", "{spec: {" + asked_for + "}}"));
        const std::string of_bob = "{spec: {user: bob, " + asked_for + "}}";
        calls.push_back(call_of("POST", access + "subjectaccessreviews", of_bob));
        calls.push_back(call_of(
            "POST", access + "namespaces/" + (name_space.empty() ? "a" : name_space) + "/localsubjectaccessreviews",
            of_bob));
      }
    }
  }
  calls.push_back(call_of("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"));
  calls.push_back(call_of("POST", "/apis/authentication.k8s.io/v1/tokenreviews", "{spec: {token: b}}"));
}

std::vector<ApiCall> all_calls() {
  std::vector<ApiCall> calls;
  for (const char* const path :
       {"/", "/api", "/apis", "/api/v1", "/apis/berth.dev/v1alpha1", "/apis/berth.dev", "/openapi/v2", "/openapi/v3",
        "/openapi/v3/api/v1", "/version", "/healthz", "/readyz", "/metrics", "/berth/v1alpha1/backup", "/logs"}) {
    calls.push_back(call_of("GET", path));
    calls.push_back(call_of("POST", path, "{}"));
  }
  add_reviews(calls);
  add_kinds(calls);
  add_namings(calls);
  add_kinds(calls);  // once more: what was made and changed now shows
  return calls;
}

TEST(TwoWorlds, AnswersToATenantDoNotDependOnAnother) {
  const std::vector<ApiCall> calls = all_calls();
  for (const std::string user : {"alice", "ada", "mallory"}) {
    TestServer alone;
    TestServer together;
    make_world(alone, false);
    make_world(together, true);
    std::size_t granted = 0;
    std::size_t refused = 0;
    for (const ApiCall& call : calls) {
      const std::string without = asked(alone, call, user);
      const std::string with = asked(together, call, user);
      EXPECT_EQ(without, with) << user << " " << call.method << " " << call.path << " " << call.body;
      (without.starts_with("2") || without.starts_with("{") ? granted : refused) += 1;
    }
    // Mallory may do nothing but look at what is everybody's.
    EXPECT_GT(granted, user == "mallory" ? 50U : 500U) << user;
    EXPECT_GT(refused, 1000U) << user;
  }
}

// ---- watches --------------------------------------------------------------------------------------------------------

// Lines of one watch, until an object of a name has come by.
class Watcher {
 public:
  Watcher(TestServer& server, const std::string& user, const std::string& path)
      : transport_(server.transport(user)),
        stream_(transport_->stream(
            call_of("GET", path + "?watch=1"), [seen = seen_](std::string_view line) { seen->take_in(line); },
            [](const ApiAnswer&) {})) {}

  // All lines before that of the object's creation, without what differs between any two servers.
  std::vector<std::string> lines_before(const std::string& name) { return seen_->lines_before(name); }

 private:
  // Outlives the watch: a line may be coming when it ends.
  struct Seen {
    void take_in(std::string_view line) {
      {
        const std::lock_guard lock(mutex);
        lines.push_back(normalised(std::string(line)));
      }
      came.notify_all();
    }

    std::vector<std::string> lines_before(const std::string& name) {
      std::unique_lock lock(mutex);
      const auto at_name = [&] {
        return std::ranges::find_if(lines, [&](const std::string& line) {
          return line.find("\"name\":\"" + name + "\"") != std::string::npos;
        });
      };
      EXPECT_TRUE(came.wait_for(lock, std::chrono::minutes(2), [&] { return at_name() != lines.end(); }));
      return {lines.begin(), at_name()};
    }

    std::mutex mutex;
    std::condition_variable came;
    std::vector<std::string> lines;
  };

  const std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<ApiStream> stream_;
};

std::vector<std::vector<std::string>> watched(bool with_b) {
  TestServer server;
  make_world(server, with_b);
  const std::string queues = api_path("queues.berth.dev", "");
  const std::string classes = api_path("priorityclasses.scheduling.k8s.io", "");
  const std::string pods = api_path("pods", "a");
  Watcher queue_watch(server, "alice", queues);
  Watcher class_watch(server, "alice", classes);
  Watcher pod_watch(server, "alice", pods);
  const auto change = [&](const char* method, const std::string& path, const std::string& body) {
    EXPECT_EQ(server.call(call_of(method, path, body)).status / 100, 2) << path;
  };
  if (with_b) {
    change("PATCH", queues + "/b/status", R"({"status":{"pending":7}})");
    change("POST", queues, "{metadata: {name: b-more}, spec: {submitters: {users: [bob]}}}");
    change("DELETE", queues + "/b-more", "");
    change("PATCH", classes + "/b", R"({"description":"of b"})");
    change("DELETE", classes + "/b", "");
    change("DELETE", api_path("pods", "b", "b"), "");
  }
  tell_of_default(server, 8, with_b);
  change("POST", queues, "{metadata: {name: end}, spec: {submitters: {users: [alice]}}}");
  change("POST", classes, "{metadata: {name: end}, value: 7}");
  change("POST", pods, pod_yaml("name: end"));
  return {queue_watch.lines_before("end"), class_watch.lines_before("end"), pod_watch.lines_before("end")};
}

TEST(TwoWorlds, WatchesOfATenantDoNotTellOfAnother) {
  const auto alone = watched(false);
  EXPECT_EQ(alone, watched(true));
  EXPECT_EQ(alone[0].size(), 3U);  // her own and everybody's, and how that changed
}

// ---- whom queues and priority classes are shown to -----------------------------------------------------------------

std::string names_in(const ApiAnswer& answer) {
  std::string names;
  const Value list = object_of(answer);
  for (const Value& item : list["items"].items()) {
    names += (names.empty() ? "" : " ") + std::string(item["metadata"]["name"].text());
  }
  return names;
}

TEST(Sight, QueuesAndClassesAreShownToThoseWhoMayUseThem) {
  TestServer server;
  make_world(server, true);
  const std::string queues = api_path("queues.berth.dev", "");
  const std::string classes = api_path("priorityclasses.scheduling.k8s.io", "");
  make(server, queues, "{metadata: {name: of-ann}, spec: {submitters: {users: [ann]}}}");
  make(server, queues, "{metadata: {name: of-nobody}, spec: {submitters: {users: []}}}");
  make(server, api_path("clusterroles.rbac.authorization.k8s.io", ""),
       "{metadata: {name: overseer}, rules: [{verbs: [get, list], apiGroups: [berth.dev], resources: [queues]}, "
       "{verbs: [use], apiGroups: [scheduling.k8s.io], resources: [priorityclasses], resourceNames: [b]}]}");
  make(
      server, api_path("clusterrolebindings.rbac.authorization.k8s.io", ""),
      "{metadata: {name: overseer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: overseer}, "
      "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: olga}]}");
  struct Case {
    const char *user, *queues, *classes;
  };
  const std::string all_classes = "a b system-cluster-critical system-node-critical usual";
  for (const Case& each :
       {Case{"alice", "a default", "usual"}, Case{"bob", "b default", "usual"}, Case{"ann", "default of-ann", "usual"},
        Case{"mallory", "default", "usual"}, Case{"olga", "a b default of-ann of-nobody", "b usual"},
        Case{"system:berth-scheduler", "a b default of-ann of-nobody", all_classes.c_str()},
        Case{"system:berth-controllers", "a b default of-ann of-nobody", all_classes.c_str()},
        Case{"admin", "a b default of-ann of-nobody", all_classes.c_str()}}) {
    EXPECT_EQ(names_in(server.call("GET", queues, {}, each.user)), each.queues) << each.user;
    EXPECT_EQ(names_in(server.call("GET", classes, {}, each.user)), each.classes) << each.user;
  }
  EXPECT_EQ(server.call("GET", queues + "/a", {}, "alice").status, 200);
  EXPECT_EQ(server.call("GET", queues + "/a/status", {}, "alice").status, 200);
  EXPECT_EQ(server.call("GET", queues + "/b", {}, "alice").status, 404);
  EXPECT_EQ(server.call("GET", queues + "/b/status", {}, "alice").status, 404);
  for (const char* const field : {"waiting", "turn", "lenders"}) {
    const auto told = [&](const char* user) {
      return server.call("GET", queues + "/default", {}, user).body.find(field) != std::string::npos;
    };
    EXPECT_FALSE(told("alice")) << field;
    EXPECT_TRUE(told("olga")) << field << ": who may look at all queues is told all";
  }
  const ApiAnswer page = server.call("GET", queues + "?limit=1", {}, "ann");
  EXPECT_EQ(names_in(page), "default");
  const std::string next(object_of(page)["metadata"]["continue"].text());
  EXPECT_EQ(names_in(server.call("GET", queues + "?limit=1&continue=" + next, {}, "ann")), "of-ann");
}

}  // namespace berth::two_worlds_test
