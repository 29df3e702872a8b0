#include "apiserver/discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/json.h"

namespace berth::discovery_test {

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

HttpRequest get(std::string path, std::vector<std::pair<std::string, std::string>> headers = {}) {
  HttpRequest request;
  request.method = "GET";
  request.path = std::move(path);
  request.headers = std::move(headers);
  return request;
}

std::string header_of(const HttpReply& reply, std::string_view name) {
  const auto found =
      std::ranges::find(reply.headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == reply.headers.end() ? "" : found->second;
}

Value body_of(const HttpRequest& request) {
  const auto reply = discovery_reply(request);
  EXPECT_TRUE(reply) << request.path;
  if (!reply) return Value();
  const auto value = parse_json(reply->body);
  EXPECT_TRUE(value) << request.path << reply->body;
  return value ? *value : Value();
}

const Value& named(const Value& list, const char* field, std::string_view name) {
  static const Value kNone;
  for (const Value& item : list.items()) {
    if (item[field].text() == name) return item;
  }
  return kNone;
}

TEST(Discovery, ListsGroupsAndVersionsPlainly) {
  EXPECT_EQ(to_json(body_of(get("/api"))),
            R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]})");
  const Value groups = body_of(get("/apis", {{"accept", "application/json"}}));
  EXPECT_EQ(groups["kind"].text(), "APIGroupList");
  EXPECT_EQ(to_json(named(groups["groups"], "name", "batch")),
            R"({"name":"batch","versions":[{"groupVersion":"batch/v1","version":"v1"}],)"
            R"("preferredVersion":{"groupVersion":"batch/v1","version":"v1"}})");
  EXPECT_TRUE(named(groups["groups"], "name", "").is_null()) << "the core is under /api";
  const Value batch = body_of(get("/apis/batch"));
  EXPECT_EQ(batch["kind"].text(), "APIGroup");
  EXPECT_EQ(batch["name"].text(), "batch");
}

TEST(Discovery, ListsResourcesWithTheirSubresourcesKinds) {
  const Value core = body_of(get("/api/v1"));
  EXPECT_EQ(core["groupVersion"].text(), "v1");
  const Value& resources = core["resources"];
  const Value& pods = named(resources, "name", "pods");
  EXPECT_EQ(pods["kind"].text(), "Pod");
  EXPECT_EQ(pods["singularName"].text(), "pod");
  EXPECT_TRUE(pods["namespaced"].truth());
  EXPECT_EQ(to_json(pods["shortNames"]), R"(["po"])");
  EXPECT_EQ(to_json(named(resources, "name", "pods/eviction")),
            R"({"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1",)"
            R"("kind":"Eviction","verbs":["create"]})");
  EXPECT_EQ(named(resources, "name", "pods/binding")["kind"].text(), "Binding");
  EXPECT_EQ(to_json(named(resources, "name", "pods/log")["verbs"]), R"(["get"])");
  EXPECT_EQ(to_json(named(resources, "name", "nodes/status")["verbs"]), R"(["get","patch","update"])");
  EXPECT_EQ(named(body_of(get("/apis/berth.dev/v1alpha1"))["resources"], "name", "queues")["kind"].text(), "Queue");
}

TEST(Discovery, AnswersAggregatedToThoseWhoAskForIt) {
  const auto reply = discovery_reply(get("/apis", {{"accept", kAggregated}}));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(header_of(*reply, "Vary"), "Accept");
  const Value list = *parse_json(reply->body);
  EXPECT_EQ(list["kind"].text(), "APIGroupDiscoveryList");
  EXPECT_EQ(list["apiVersion"].text(), "apidiscovery.k8s.io/v2");
  for (const Value& item : list["items"].items()) {
    if (item["metadata"]["name"].text() != "policy") continue;
    EXPECT_EQ(item["versions"].items()[0]["freshness"].text(), "Current");
    EXPECT_EQ(
        to_json(named(item["versions"].items()[0]["resources"], "resource", "poddisruptionbudgets")),
        R"({"resource":"poddisruptionbudgets","responseKind":{"group":"","version":"","kind":"PodDisruptionBudget"},)"
        R"("scope":"Namespaced","singularResource":"poddisruptionbudget",)"
        R"("verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["pdb"],)"
        R"("subresources":[{"subresource":"status","responseKind":{"group":"","version":"",)"
        R"("kind":"PodDisruptionBudget"},"verbs":["get","patch","update"]}]})");
  }
  const Value core = body_of(get("/api", {{"accept", kAggregated}}));
  ASSERT_EQ(core["items"].items().size(), 1U);
  EXPECT_EQ(to_json(core["items"].items()[0]["metadata"]), "{}");

  const char* const older =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  EXPECT_EQ(discovery_reply(get("/api", {{"accept", older}}))->content_type,
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList");
  const std::string plain_first = std::string("application/json,") + kAggregated;
  EXPECT_EQ(discovery_reply(get("/api", {{"accept", plain_first}}))->content_type, "application/json");
}

TEST(Discovery, AnswersNotModifiedToWhoKnowsTheDocument) {
  for (const char* const path : {"/apis", "/openapi/v3", "/openapi/v3/apis/batch/v1"}) {
    const auto first = discovery_reply(get(path));
    ASSERT_TRUE(first) << path;
    EXPECT_EQ(first->status, 200);
    const auto second = discovery_reply(get(path, {{"if-none-match", header_of(*first, "ETag")}}));
    EXPECT_EQ(second->status, 304) << path;
    EXPECT_TRUE(second->body.empty());
  }
  const auto plain = discovery_reply(get("/apis"));
  const auto aggregated = discovery_reply(get("/apis", {{"accept", kAggregated}}));
  EXPECT_NE(header_of(*plain, "ETag"), header_of(*aggregated, "ETag"));
}

TEST(Discovery, NamesOpenApiDocumentsByTheirHashes) {
  const Value index = body_of(get("/openapi/v3"));
  for (const char* const name : {"api/v1", "apis/batch/v1", "apis/berth.dev/v1alpha1"}) {
    const std::string url(index["paths"][name]["serverRelativeURL"].text());
    const std::string prefix = "/openapi/v3/" + std::string(name) + "?hash=";
    ASSERT_TRUE(url.starts_with(prefix)) << url;
    HttpRequest request = get("/openapi/v3/" + std::string(name));
    EXPECT_EQ(header_of(*discovery_reply(request), "Cache-Control"), "no-cache, private");
    request.query.emplace_back("hash", url.substr(prefix.size()));
    EXPECT_EQ(header_of(*discovery_reply(request), "Cache-Control"), "public, immutable");
    EXPECT_TRUE(body_of(request)["paths"].is_map()) << name;
  }
  const auto old = discovery_reply(get("/openapi/v2"));
  EXPECT_EQ(old->body, std::string("\x0a\x03"
                                   "2.0"));
  EXPECT_EQ(old->content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
}

TEST(Discovery, LeavesOtherPathsToOthers) {
  for (const char* const path :
       {"/api/v2", "/apis/nope", "/apis/batch/v2", "/api/v1/pods", "/healthz", "/openapi/v3/api/v2",
        "/apis application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}) {
    EXPECT_FALSE(discovery_reply(get(path))) << path;
  }
  EXPECT_NE(discovery_reply(get("/"))->body.find("\"/apis/batch/v1\""), std::string::npos);
  const auto yaml = discovery_reply(get("/api/v1", {{"accept", "application/yaml"}}));
  EXPECT_EQ(yaml->content_type, "application/yaml");
  EXPECT_TRUE(yaml->body.starts_with("apiVersion: v1\ngroupVersion: v1\nkind: APIResourceList\n"));
  EXPECT_EQ(body_of(get("/version"))["gitVersion"].text(), "v1.33.0+berth-0.1.0");
  EXPECT_EQ(body_of(get("/version"))["minor"].text(), "33");
}

}  // namespace berth::discovery_test
