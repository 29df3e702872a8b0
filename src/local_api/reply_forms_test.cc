// How replies look and who gets which: YAML, forms that nobody writes, methods that nobody serves, and what may be seen by
// its name alone.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "local_api/api_answers.h"
#include "local_api/test_server.h"
#include "manifest/yaml.h"

namespace berth::reply_forms_test {

const std::string kMaps = "/api/v1/namespaces/default/configmaps";

// The reply as the web server gets it, with its headers.
class WholeReply final : public Responder {
 public:
  explicit WholeReply(std::promise<HttpReply>& to) : to_(to) {}
  void reply(HttpReply reply) override { to_.set_value(std::move(reply)); }
  std::shared_ptr<HttpStream> start_stream(int, std::string,
                                           std::vector<std::pair<std::string, std::string>>) override {
    return nullptr;
  }

 private:
  std::promise<HttpReply>& to_;
};

HttpReply reply_to(TestServer& server, const std::string& method, const std::string& path,
                   const std::string& accept = "application/json") {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.headers = {{"accept", accept}};
  std::promise<HttpReply> promise;
  auto future = promise.get_future();
  server.server().handle_as(TestServer::user_named("admin"), std::move(request), std::make_shared<WholeReply>(promise));
  HttpReply reply = future.get();
  for (const auto& part : reply.parts) reply.body += *part;
  return reply;
}

std::string header_of(const HttpReply& reply, const std::string& name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(ReplyForms, YamlSaysTheSameAsJson) {
  TestServer server;
  for (const char* const name : {"a", "b"}) {
    server.call("POST", kMaps, std::string(R"({"metadata":{"name":")") + name + R"("},"data":{"k":"yes\nno"}})");
  }
  const std::string table = ";as=Table;v=v1;g=meta.k8s.io";
  const std::pair<std::string, std::string> cases[] = {
      {kMaps, ""},           {kMaps + "/a", ""}, {kMaps, table}, {kMaps + "/a", table},
      {kMaps + "/nope", ""}, {"/api/v1", ""},    {"/apis", ""},
  };
  for (const auto& [path, form] : cases) {
    const HttpReply json = reply_to(server, "GET", path, "application/json" + form);
    const HttpReply yaml = reply_to(server, "GET", path, "application/json;q=0.5,application/yaml" + form);
    EXPECT_EQ(yaml.content_type, "application/yaml") << path;
    EXPECT_EQ(yaml.status, json.status) << path;
    const auto read = parse_yaml(yaml.body);
    ASSERT_TRUE(read) << yaml.body;
    EXPECT_EQ(read->at(0), parse_json(json.body).value()) << path;
  }
  EXPECT_EQ(reply_to(server, "DELETE", kMaps, "application/yaml").content_type, "application/yaml");
  const auto none = parse_yaml(reply_to(server, "GET", kMaps, "application/yaml").body);
  EXPECT_EQ(none->at(0)["items"], Value::list());
}

TEST(ReplyForms, WhatNobodyWritesIsNotAcceptable) {
  TestServer server;
  const std::pair<const char*, int> cases[] = {
      {"application/xml", 406},
      {"application/json;q=0", 406},
      {"application/xml, */*;q=0.1", 200},
      {"application/vnd.kubernetes.protobuf,application/json", 200},
      {"application/json;as=Table;v=v1alpha1;g=meta.k8s.io,application/yaml;q=0.1", 200},
      {"", 200},
  };
  for (const auto& [accept, status] : cases) EXPECT_EQ(reply_to(server, "GET", kMaps, accept).status, status) << accept;
  ApiCall watch;
  watch.path = kMaps + "?watch=true&timeoutSeconds=1";
  watch.accept = "application/yaml";
  EXPECT_EQ(server.call(watch).status, 406);
}

TEST(ReplyForms, HeadIsForWhatIsNoObjectAndTheMethodsThatFitAreNamed) {
  TestServer server;
  for (const char* const path : {"/readyz", "/metrics", "/", "/apis", "/openapi/v2"}) {
    EXPECT_EQ(reply_to(server, "HEAD", path).status, 200) << path;
  }
  const std::tuple<const char*, std::string, const char*> cases[] = {
      {"HEAD", kMaps, "GET, POST, DELETE"},
      {"HEAD", kMaps + "/nope", "GET, PUT, PATCH, DELETE"},
      {"HEAD", "/version", "GET"},
      {"HEAD", "/apis/batch/v1", "GET"},
      {"OPTIONS", kMaps, "GET, POST, DELETE"},
      {"BREW", kMaps + "/a", "GET, PUT, PATCH, DELETE"},
      {"POST", kMaps + "/a", "GET, PUT, PATCH, DELETE"},
      {"DELETE", "/api/v1/configmaps", "GET"},
      {"PUT", "/api/v1/namespaces/default/pods/p/binding", "POST"},
      {"DELETE", "/api/v1/namespaces/default/pods/p/status", "GET, PUT, PATCH"},
      {"OPTIONS", "/api/v1/namespaces/default/pods/p/log", "GET"},
      {"POST", "/apis", "GET, HEAD"},
  };
  for (const auto& [method, path, allowed] : cases) {
    const HttpReply reply = reply_to(server, method, path);
    EXPECT_EQ(reply.status, 405) << path;
    EXPECT_EQ(header_of(reply, "Allow"), allowed) << path;
    EXPECT_EQ(parse_json(reply.body).value()["details"], Value::map()) << path;
  }
  // kubectl debug reads the details of what is not served.
  EXPECT_EQ(parse_json(reply_to(server, "PATCH", "/api/v1/namespaces/default/pods/p/ephemeralcontainers").body)
                .value()["details"],
            Value::map());
}

TEST(ReplyForms, WhoMaySeeOneByNameMaySelectItByName) {
  TestServer server;
  for (const char* const name : {"mine", "other"}) {
    server.call("POST", kMaps, std::string(R"({"metadata":{"name":")") + name + R"("}})");
  }
  server.call("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
              R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["configmaps"],)"
              R"("resourceNames":["mine"],"verbs":["list","watch","deletecollection"]}]})");
  server.call("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
              R"({"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},)"
              R"("subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"ann"}]})");
  const std::string mine = "?fieldSelector=metadata.name%3Dmine";
  const std::tuple<const char*, std::string, int> cases[] = {
      {"GET", kMaps + mine, 200},
      {"GET", kMaps, 403},
      {"GET", kMaps + "?fieldSelector=metadata.name%3Dother", 403},
      {"GET", kMaps + "?fieldSelector=metadata.name!%3Dmine", 403},
      {"GET", kMaps + "?fieldSelector=metadata.name%3Dmine%2Cmetadata.name%3Dother", 200},
      {"GET", "/api/v1/configmaps" + mine, 403},
      {"DELETE", kMaps + "?fieldSelector=metadata.name%3Dother", 403},
      {"DELETE", kMaps + mine, 200},
      {"DELETE", kMaps, 403},
  };
  for (const auto& [method, path, status] : cases) {
    const ApiAnswer answer = server.call(method, path, "", "ann");
    EXPECT_EQ(answer.status, status) << method << " " << path << " " << answer.body;
    EXPECT_EQ(answer.body.find("\"name\":\"other\",\"namespace\""), std::string::npos);
  }
  EXPECT_EQ(
      object_of(server.call("GET", kMaps + "?fieldSelector=metadata.name%3Dother", "", "ann"))["message"].text(),
      "configmaps \"other\" is forbidden: User \"ann\" cannot list resource \"configmaps\" in API group \"\" in the "
      "namespace \"default\"");
  EXPECT_EQ(object_of(server.call("GET", kMaps))["items"].items().size(), 1U);
}

TEST(ReplyForms, ATableCarriesNothingOfObjectsThatIsUnknown) {
  TestServer server;
  const std::pair<const char*, int> cases[] = {
      {"None", 200}, {"Metadata", 200}, {"Object", 200}, {"", 200}, {"All", 400}};
  for (const auto& [with, status] : cases) {
    HttpRequest request;
    request.method = "GET";
    request.path = kMaps;
    request.query = {{"includeObject", with}};
    request.headers = {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
    std::promise<HttpReply> promise;
    auto future = promise.get_future();
    server.server().handle_as(TestServer::user_named("admin"), std::move(request),
                              std::make_shared<WholeReply>(promise));
    EXPECT_EQ(future.get().status, status) << with;
  }
}

}  // namespace berth::reply_forms_test
