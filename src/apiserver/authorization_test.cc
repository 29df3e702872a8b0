#include "apiserver/authorization.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission_world.h"
#include "base/property_seeds.h"
#include "base/rng.h"
#include "store/faulty_disk.h"

namespace berth::authorization_test {

struct World {
  FaultyDisk disk;
  std::unique_ptr<Store> store;
  std::unique_ptr<Authorizer> authorizer;

  World() {
    StoreOptions options;
    options.vfs = disk.vfs();
    auto opened = Store::open("roles.db", options);
    EXPECT_TRUE(opened) << opened.error().to_string();
    store = std::move(*opened);
    authorizer = make_rbac_authorizer(*store);
  }

  void put_all(const std::vector<Value>& objects) {
    store->transact_and_wait([&](Transaction& transaction) {
      for (const Value& object : objects) put_object(transaction, key_of(object), object);
    });
  }
  void put(std::string_view yaml) { put_all({yaml_object(yaml)}); }
  void erase(const std::string& key) {
    store->transact_and_wait([&](Transaction& transaction) { transaction.erase(key, "{}"); });
  }
};

User user_of(std::string name, std::vector<std::string> groups = {}) {
  groups.emplace_back("system:authenticated");
  return {.name = std::move(name), .uid = "", .groups = std::move(groups), .extra = {}};
}

// "verb resource[/subresource][.group] [namespace[/name]]", or "verb /path"
AccessQuestion question_of(const std::string& text) {
  AccessQuestion question;
  const std::size_t blank = text.find(' ');
  question.verb = text.substr(0, blank);
  std::string rest = text.substr(blank + 1);
  if (rest.front() == '/') {
    question.path = rest;
    return question;
  }
  if (const std::size_t place = rest.find(' '); place != std::string::npos) {
    question.name_space = rest.substr(place + 1);
    rest.resize(place);
    if (const std::size_t slash = question.name_space.find('/'); slash != std::string::npos) {
      question.name = question.name_space.substr(slash + 1);
      question.name_space.resize(slash);
    }
  }
  if (const std::size_t dot = rest.find('.'); dot != std::string::npos) {
    question.group = rest.substr(dot + 1);
    rest.resize(dot);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string::npos) {
    question.subresource = rest.substr(slash + 1);
    rest.resize(slash);
  }
  question.resource = rest;
  return question;
}

constexpr const char* kRole = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {verbs: [get, list], apiGroups: [""], resources: [pods, "pods/log"]}
- {verbs: ["*"], apiGroups: [batch], resources: ["*"]}
- {verbs: [update], apiGroups: [""], resources: ["*/status"]}
- {verbs: [get], apiGroups: [""], resources: [configmaps], resourceNames: [a, b]}
- {verbs: [get], nonResourceURLs: [/healthz, "/metrics/*"]}
)";

std::string binding(const std::string& kind, const std::string& name_space, const std::string& role_kind,
                    const std::string& role, const std::string& subject) {
  return "{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: {name: b" +
         (name_space.empty() ? "" : ", namespace: " + name_space) +
         "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + role_kind + ", name: " + role + "}, subjects: [" +
         subject + "]}";
}

TEST(Authorizer, AllowsWhatARuleSaysAndNothingElse) {
  World world;
  world.put(kRole);
  world.put(binding("ClusterRoleBinding", "", "ClusterRole", "reader", "{kind: User, name: ann}"));
  const std::pair<const char*, bool> cases[] = {
      {"get pods default", true},
      {"list pods default/p", true},
      {"watch pods default", false},
      {"get pods/log default/p", true},
      {"get pods/exec default/p", false},
      {"get pods.other default", false},
      {"create jobs.batch default", true},
      {"get jobs/status.batch x", true},
      {"update pods/status default", true},
      {"update pods default", false},
      {"update nodes/status", true},
      {"get configmaps default/a", true},
      {"get configmaps default/c", false},
      {"get configmaps default", false},
      {"get /healthz", true},
      {"get /healthz/x", false},
      {"get /metrics/a/b", true},
      {"get /metrics", false},
      {"post /healthz", false},
      {"get nodes", false},
  };
  for (const auto& [text, allowed] : cases) {
    EXPECT_EQ(world.authorizer->decide(user_of("ann"), question_of(text)).allowed, allowed) << text;
    EXPECT_FALSE(world.authorizer->decide(user_of("bob"), question_of(text)).allowed) << text;
    EXPECT_TRUE(world.authorizer->decide(user_of("root", {kMasters}), question_of(text)).allowed) << text;
  }
  EXPECT_EQ(world.authorizer->decide(user_of("ann"), question_of("get pods x")).reason,
            "RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"reader\" to User \"ann\"");
}

TEST(Authorizer, BindsUsersGroupsAndServiceAccountsInANamespaceOrEverywhere) {
  struct Case {
    const char* binding_namespace;
    const char* subject;
    User user;
    const char* question;
    bool allowed;
  };
  const char* const kAccount = "{kind: ServiceAccount, name: train, namespace: ml}";
  const Case cases[] = {
      {"ml", "{kind: User, name: ann}", user_of("ann"), "get pods ml", true},
      {"ml", "{kind: User, name: ann}", user_of("ann"), "get pods other", false},
      {"ml", "{kind: User, name: ann}", user_of("ann"), "get pods", false},
      {"ml", "{kind: User, name: ann}", user_of("ann"), "get /healthz", false},
      {"", "{kind: Group, name: dev}", user_of("bob", {"dev"}), "get pods other", true},
      {"", "{kind: Group, name: dev}", user_of("dev"), "get pods other", false},
      {"", "{kind: User, name: dev}", user_of("bob", {"dev"}), "get pods other", false},
      {"ml", kAccount, user_of("system:serviceaccount:ml:train"), "get pods ml", true},
      {"ml", kAccount, user_of("train"), "get pods ml", false},
      {"ml", "{kind: ServiceAccount, name: train}", user_of("system:serviceaccount:ml:train"), "get pods ml", true},
      {"", "{kind: Robot, name: ann}", user_of("ann"), "get pods ml", false},
  };
  for (const Case& each : cases) {
    World world;
    world.put(kRole);
    const std::string kind = *each.binding_namespace == '\0' ? "ClusterRoleBinding" : "RoleBinding";
    world.put(binding(kind, each.binding_namespace, "ClusterRole", "reader", each.subject));
    EXPECT_EQ(world.authorizer->decide(each.user, question_of(each.question)).allowed, each.allowed)
        << each.subject << " " << each.question;
  }
}

TEST(Authorizer, FollowsTheStoreAtOnce) {
  World world;
  const AccessQuestion question = question_of("get pods ml");
  const User ann = user_of("ann");
  EXPECT_FALSE(world.authorizer->decide(ann, question).allowed);
  world.put(binding("RoleBinding", "ml", "Role", "own", "{kind: User, name: ann}"));
  EXPECT_FALSE(world.authorizer->decide(ann, question).allowed);
  for (int round = 0; round < 50; ++round) {
    world.put(
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: own, namespace: ml}, "
        "rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]}");
    EXPECT_TRUE(world.authorizer->decide(ann, question).allowed);
    world.erase("roles.rbac.authorization.k8s.io/ml/own");
    EXPECT_FALSE(world.authorizer->decide(ann, question).allowed);
  }
}

TEST(Authorizer, NamesTheRulesThatSomebodyLacks) {
  World world;
  world.put(kRole);
  world.put(binding("RoleBinding", "ml", "ClusterRole", "reader", "{kind: User, name: ann}"));
  struct Case {
    const char* rules;
    const char* place;
    const char* beyond;
  };
  const Case cases[] = {
      {"[{verbs: [get], apiGroups: [''], resources: [pods]}]", "ml", ""},
      {"[{verbs: [get], apiGroups: [''], resources: [pods]}]", "",
       R"({"verbs":["get"],"apiGroups":[""],"resources":["pods"]})"},
      {"[{verbs: [get, watch], apiGroups: [''], resources: [pods]}]", "ml",
       R"({"verbs":["watch"],"apiGroups":[""],"resources":["pods"]})"},
      {"[{verbs: ['*'], apiGroups: [batch], resources: [jobs, jobs/status]}]", "ml", ""},
      {"[{verbs: ['*'], apiGroups: ['*'], resources: [jobs]}]", "ml",
       R"({"verbs":["*"],"apiGroups":["*"],"resources":["jobs"]})"},
      {"[{verbs: [get], apiGroups: [''], resources: [configmaps], resourceNames: [a]}]", "ml", ""},
      {"[{verbs: [get], apiGroups: [''], resources: [configmaps]}]", "ml",
       R"({"verbs":["get"],"apiGroups":[""],"resources":["configmaps"]})"},
      {"[{verbs: [get], nonResourceURLs: [/healthz]}]", "ml", R"({"verbs":["get"],"nonResourceURLs":["/healthz"]})"},
  };
  for (const Case& each : cases) {
    std::string all;
    for (const std::string& rule : world.authorizer->rules_beyond(user_of("ann"), each.place, yaml_object(each.rules)))
      all += rule;
    EXPECT_EQ(all, each.beyond);
  }
  EXPECT_EQ(to_json(world.authorizer->rules_of(user_of("bob"), "ml")), R"({"resourceRules":[],"nonResourceRules":[]})");
  EXPECT_EQ(world.authorizer->rules_of(user_of("ann"), "ml")["resourceRules"].items().size(), 4U);
}

TEST(Authorizer, ComparesHugeRolesWithoutEnd) {
  World world;
  Value words = Value::list();
  for (int i = 0; i < 2'000; ++i) words.push_back("w" + std::to_string(i));
  const Value rule = Value::map_of({{"verbs", words}, {"apiGroups", words}, {"resources", words}});
  Value rules = Value::list();
  rules.push_back(rule);
  EXPECT_EQ(world.authorizer->rules_beyond(user_of("ann"), "ml", rules).size(), 1U);
}

TEST(BootstrapRoles, GiveEveryComponentWhatItDoesAndNoMore) {
  World world;
  world.put_all(bootstrap_roles());
  struct Case {
    User user;
    const char* question;
    bool allowed;
  };
  const User anonymous{.name = "system:anonymous", .uid = "", .groups = {"system:unauthenticated"}, .extra = {}};
  const Case cases[] = {
      {anonymous, "get /healthz", true},
      {anonymous, "get /version", true},
      {anonymous, "get /apis/batch", false},
      {anonymous, "list queues.berth.dev", false},
      {user_of("ann"), "get /apis/batch", true},
      {user_of("ann"), "create selfsubjectaccessreviews.authorization.k8s.io", true},
      {user_of("ann"), "create subjectaccessreviews.authorization.k8s.io", false},
      {user_of("ann"), "list queues.berth.dev", false},
      {user_of("ann"), "list queues/usable.berth.dev", true},
      {user_of("ann"), "watch priorityclasses/usable.scheduling.k8s.io", true},
      {user_of("ann"), "update queues.berth.dev", false},
      {user_of("ann"), "list pods ml", false},
      {user_of("system:berth-scheduler"), "create pods/binding ml", true},
      {user_of("system:berth-scheduler"), "update queues/status.berth.dev", true},
      {user_of("system:berth-scheduler"), "update queues.berth.dev", false},
      {user_of("system:berth-scheduler"), "create pods ml", false},
      {user_of("system:berth-scheduler"), "list secrets", false},
      {user_of("system:berth-scheduler"), "patch jobs.batch ml", true},
      {user_of("system:berth-scheduler"), "delete jobs.batch ml", false},
      {user_of("system:berth-node-agent"), "update nodes/status", true},
      {user_of("system:node:n1", {"system:nodes"}), "patch pods/status ml", true},
      {user_of("system:berth-node-agent"), "create pods ml", false},
      {user_of("system:berth-controllers"), "create pods ml", true},
      {user_of("system:berth-controllers"), "use priorityclasses.scheduling.k8s.io", true},
      {user_of("system:berth-controllers"), "create pods/binding ml", false},
      {user_of("system:berth-controllers"), "create clusterrolebindings.rbac.authorization.k8s.io", false},
      {user_of("system:berth-controllers"), "impersonate users", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(world.authorizer->decide(each.user, question_of(each.question)).allowed, each.allowed)
        << each.user.name << " " << each.question;
  }
}

TEST(BootstrapRoles, AreValidObjectsAboutKindsThatAreServed) {
  std::set<std::string> known = {"*", "queues/usable", "priorityclasses/usable"};  // the last two are rights (sight.h)
  for (const KindInfo& kind : served_kinds()) {
    known.insert(kind.plural);
    for (const std::string& subresource : kind.subresources) known.insert(kind.plural + "/" + subresource);
  }
  for (Value& object : bootstrap_roles()) {
    AdmissionRequest request;
    request.kind = &kind_of(object);
    request.object = &object;
    std::string wrong;
    for (const ErrorCause& cause : validate(request)) wrong += cause.field + ": " + cause.message;
    for (const SchemaComplaint& complaint : check_fields(*request.kind->type, object)) wrong += complaint.message;
    EXPECT_EQ(wrong, "") << to_json(object);
    for (const Value& rule : object["rules"].items()) {
      for (const Value& resource : rule["resources"].items())
        EXPECT_TRUE(known.contains(std::string(resource.text()))) << to_json(rule);
    }
  }
}

// The oracle: RBAC as its documentation tells it, question by question over the objects themselves.
bool named_in(const Value& list, const std::string& word) {
  for (const Value& each : list.items()) {
    if (each.text() == word || each.text() == "*") return true;
  }
  return false;
}

bool oracle_rule(const Value& rule, const AccessQuestion& q) {
  if (!named_in(rule["verbs"], q.verb)) return false;
  if (!q.path.empty()) {
    for (const Value& url : rule["nonResourceURLs"].items()) {
      const std::string text(url.text());
      if (text == q.path ||
          (text.back() == '*' && q.path.substr(0, text.size() - 1) == text.substr(0, text.size() - 1)))
        return true;
    }
    return false;
  }
  if (!named_in(rule["apiGroups"], q.group)) return false;
  bool hit = q.subresource.empty() ? named_in(rule["resources"], q.resource)
                                   : named_in(rule["resources"], q.resource + "/" + q.subresource);
  if (!q.subresource.empty() && named_in(rule["resources"], "*/" + q.subresource)) hit = true;
  if (!hit) return false;
  if (rule["resourceNames"].items().empty()) return true;
  for (const Value& name : rule["resourceNames"].items()) {
    if (name.text() == q.name) return true;
  }
  return false;
}

bool oracle(const std::vector<Value>& objects, const User& user, const AccessQuestion& q) {
  for (const Value& binding_object : objects) {
    const std::string kind(binding_object["kind"].text());
    if (kind != "RoleBinding" && kind != "ClusterRoleBinding") continue;
    const std::string place(binding_object["metadata"]["namespace"].text());
    if (kind == "RoleBinding" && (place != q.name_space || !q.path.empty())) continue;
    bool subject = false;
    for (const Value& each : binding_object["subjects"].items()) {
      const std::string name(each["name"].text());
      if (each["kind"].text() == "User" && user.name == name) subject = true;
      if (each["kind"].text() == "Group" && std::ranges::find(user.groups, name) != user.groups.end()) subject = true;
      if (each["kind"].text() == "ServiceAccount" &&
          user.name == "system:serviceaccount:" + std::string(each["namespace"].text()) + ":" + name)
        subject = true;
    }
    if (!subject) continue;
    for (const Value& role : objects) {
      if (role["kind"] == binding_object["roleRef"]["kind"] &&
          role["metadata"]["name"] == binding_object["roleRef"]["name"] &&
          (role["kind"].text() == "ClusterRole" || role["metadata"]["namespace"].text() == place)) {
        for (const Value& rule : role["rules"].items()) {
          if (oracle_rule(rule, q)) return true;
        }
      }
    }
  }
  return false;
}

class Draw {
 public:
  explicit Draw(Seed seed) : rng_(seed) {}
  std::string one(const std::vector<std::string>& words) { return words[rng_.below(words.size())]; }
  Value some(const std::vector<std::string>& words, std::size_t least) {
    Value list = Value::list();
    for (const std::string& word : words) {
      if (rng_.below(3) == 0) list.push_back(word);
    }
    if (list.items().size() < least) list.push_back(one(words));
    return list;
  }
  bool chance(std::uint64_t out_of) { return rng_.below(out_of) == 0; }

  const std::vector<std::string> verbs = {"get", "list", "create", "*"}, groups = {"", "batch", "*"},
                                 names = {"a", "b"},
                                 resources = {"pods", "jobs", "pods/log", "*/status", "*/log", "jobs/status", "*"},
                                 paths = {"/healthz", "/metrics/*", "*", "/a"}, spaces = {"n1", "n2"},
                                 users = {"u1", "u2", "system:serviceaccount:n1:s"}, user_groups = {"g1", "g2"};

  Value rule() {
    Value rule = Value::map_of({{"verbs", some(verbs, 1)}});
    if (chance(4)) {
      rule.set("nonResourceURLs", some(paths, 1));
      return rule;
    }
    rule.set("apiGroups", some(groups, 1));
    rule.set("resources", some(resources, 1));
    if (chance(3)) rule.set("resourceNames", some(names, 1));
    return rule;
  }

  Value object(const std::string& kind, const std::string& name) {
    Value object = Value::map_of({{"apiVersion", "rbac.authorization.k8s.io/v1"}, {"kind", kind}});
    object.at("metadata").set("name", name);
    if (!kind.starts_with("Cluster")) object.at("metadata").set("namespace", one(spaces));
    if (kind.ends_with("Role")) {
      object.set("rules", Value::list());
      for (int i = 0; i < 2; ++i) object.at("rules").push_back(rule());
      return object;
    }
    const std::string role_kind = kind == "RoleBinding" && chance(2) ? "Role" : "ClusterRole";
    object.set("roleRef", Value::map_of({{"kind", role_kind}, {"name", one({"r0", "r1", "r2"})}}));
    if (chance(2)) object.at("subjects").push_back(Value::map_of({{"kind", "User"}, {"name", one(users)}}));
    if (chance(2)) object.at("subjects").push_back(Value::map_of({{"kind", "Group"}, {"name", one(user_groups)}}));
    if (chance(2))
      object.at("subjects").push_back(Value::map_of({{"kind", "ServiceAccount"}, {"name", "s"}, {"namespace", "n1"}}));
    return object;
  }

  AccessQuestion question() {
    AccessQuestion question;
    question.verb = one({"get", "list", "create", "use"});
    if (chance(5)) {
      question.path = one({"/healthz", "/metrics/x", "/a", "/b"});
      return question;
    }
    question.group = one({"", "batch", "apps"});
    question.resource = one({"pods", "jobs", "nodes"});
    question.subresource = one({"", "", "log", "status"});
    question.name_space = one({"n1", "n2", ""});
    question.name = one({"a", "b", "c", ""});
    return question;
  }

 private:
  Rng rng_;
};

TEST(AuthorizerProperty, AgreesWithAnOracleOverFiveThousandCells) {
  for (const Seed seed : property_seeds(5)) {
    SCOPED_TRACE(name_of(seed));
    Draw draw(seed);
    World world;
    std::vector<Value> objects;
    int allowed = 0;
    for (int round = 0; round < 4; ++round) {
      std::map<std::string, Value> by_key;
      for (const Value& object : objects) by_key[key_of(object)] = object;
      for (int i = 0; i < 3; ++i) {
        for (const char* const kind : {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}) {
          Value object = draw.object(kind, (std::string_view(kind).ends_with("Role") ? "r" : "b") + std::to_string(i));
          std::string key = key_of(object);
          by_key[std::move(key)] = std::move(object);
        }
      }
      objects.clear();
      for (auto& [key, object] : by_key) objects.push_back(object);
      world.put_all(objects);
      for (int cell = 0; cell < 250; ++cell) {
        const User user =
            user_of(draw.one(draw.users),
                    draw.chance(2) ? std::vector<std::string>{draw.one(draw.user_groups)} : std::vector<std::string>{});
        const AccessQuestion question = draw.question();
        const bool expected = oracle(objects, user, question);
        allowed += expected ? 1 : 0;
        ASSERT_EQ(world.authorizer->decide(user, question).allowed, expected)
            << user.name << " " << question.verb << " " << question.resource << "/" << question.subresource << " "
            << question.name_space << "/" << question.name << question.path;
      }
    }
    EXPECT_GT(allowed, 50);
    EXPECT_LT(allowed, 950);
  }
}

}  // namespace berth::authorization_test
