#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/json.h"
#include "manifest/kinds.h"

namespace berth::openapi_test {

std::vector<std::pair<std::string, std::string>> group_versions() {
  std::set<std::pair<std::string, std::string>> all;
  for (const KindInfo& kind : served_kinds()) all.insert({kind.group, kind.version});
  return {all.begin(), all.end()};
}

void collect_references(const Value& value, std::set<std::string>& references) {
  for (const Value& item : value.items()) collect_references(item, references);
  for (const auto& [key, member] : value.members()) {
    if (key == "$ref") references.insert(std::string(member.text()));
    collect_references(member, references);
  }
}

const Value& schema(const Value& document, std::string_view name) { return document["components"]["schemas"][name]; }

// What a path's operation, or a schema, says it is about: "GROUP/VERSION/KIND".
std::string gvk(const Value& of) {
  return std::string(of["group"].text()) + "/" + std::string(of["version"].text()) + "/" +
         std::string(of["kind"].text());
}

TEST(OpenApi, EveryReferenceLeadsToASchemaAndEverySchemaIsReferredTo) {
  for (const auto& [group, version] : group_versions()) {
    SCOPED_TRACE(group + "/" + version);
    const Value document = openapi_v3(group, version);
    std::set<std::string> references;
    collect_references(document, references);
    for (const std::string& each : references) {
      constexpr std::string_view kPrefix = "#/components/schemas/";
      ASSERT_TRUE(each.starts_with(kPrefix)) << each;
      EXPECT_TRUE(schema(document, each.substr(kPrefix.size())).is_map()) << each;
    }
    EXPECT_EQ(document["components"]["schemas"].members().size(), references.size());
  }
}

TEST(OpenApi, IsJsonThatParsesBackToTheSame) {
  for (const auto& [group, version] : group_versions()) {
    const Value document = openapi_v3(group, version);
    const Result<Value> parsed = parse_json(to_json(document));
    ASSERT_TRUE(parsed.has_value()) << group << ": " << parsed.error().to_string();
    EXPECT_EQ(*parsed, document);
    EXPECT_EQ(document["openapi"].text(), "3.0.0");
    EXPECT_FALSE(document["info"]["title"].is_empty());
  }
}

TEST(OpenApi, EveryServedKindHasASchemaAndPathsThatNameIt) {
  for (const KindInfo& kind : served_kinds()) {
    SCOPED_TRACE(kind.qualified());
    const Value document = openapi_v3(kind.group, kind.version);
    const std::string name = kind.group + "/" + kind.version + "/" + kind.kind;
    const auto is_its_own = [&](const Value::Member& each) {
      const Value::List& kinds = each.value["x-kubernetes-group-version-kind"].items();
      return kinds.size() == 1 && gvk(kinds[0]) == name && !each.value["description"].is_empty();
    };
    EXPECT_EQ(std::ranges::count_if(document["components"]["schemas"].members(), is_its_own), 1);

    std::set<std::string> actions;
    for (const auto& [path, item] : document["paths"].members()) {
      for (const char* const method : {"get", "put", "post", "patch", "delete"}) {
        const Value& operation = item[method];
        if (operation.is_null()) continue;
        EXPECT_FALSE(operation["responses"].is_empty()) << path;
        if (gvk(operation["x-kubernetes-group-version-kind"]) == name) {
          actions.insert(std::string(operation["x-kubernetes-action"].text()));
        }
      }
    }
    const std::set<std::string> stored = {"delete", "deletecollection", "get", "list", "patch", "post", "put"};
    const std::set<std::string> asked = {"post"};
    std::set<std::string> expected = kind.has_verb("get") ? stored : asked;
    if (!kind.has_verb("deletecollection")) expected.erase("deletecollection");
    EXPECT_EQ(actions, expected);
  }
}

TEST(OpenApi, PathsSayWhatMayBeSentAndAsked) {
  const Value core = openapi_v3("", "v1");
  const Value& paths = core["paths"];
  EXPECT_NE(paths.find("/api/v1/nodes/{name}/status"), nullptr);
  EXPECT_NE(paths.find("/api/v1/pods"), nullptr);
  EXPECT_EQ(paths.find("/api/v1/namespaces/{name}/finalize"), nullptr) << "is not served";
  const Value& pod = paths["/api/v1/namespaces/{namespace}/pods/{name}"];
  EXPECT_EQ(pod["parameters"].items().size(), 2U);
  std::set<std::string> parameters;
  for (const Value& each : pod["patch"]["parameters"].items()) parameters.insert(std::string(each["name"].text()));
  EXPECT_EQ(parameters, (std::set<std::string>{"dryRun", "fieldManager", "fieldValidation", "force"}));
  const auto takes_strategic_patches = [](const Value& item) {
    return item["patch"]["requestBody"]["content"].find("application/strategic-merge-patch+json") != nullptr;
  };
  EXPECT_TRUE(takes_strategic_patches(pod));
  const Value own = openapi_v3("berth.dev", "v1alpha1");
  EXPECT_FALSE(takes_strategic_patches(own["paths"]["/apis/berth.dev/v1alpha1/queues/{name}"]));
  const Value& eviction = paths["/api/v1/namespaces/{namespace}/pods/{name}/eviction"]["post"];
  EXPECT_EQ(gvk(eviction["x-kubernetes-group-version-kind"]), "policy/v1/Eviction");
  const Value& log = paths["/api/v1/namespaces/{namespace}/pods/{name}/log"]["get"];
  EXPECT_NE(log["responses"]["200"]["content"].find("text/plain"), nullptr);
}

TEST(OpenApi, FieldsSayHowTheyMergeAndWhatTheyMayBe) {
  const Value core = openapi_v3("", "v1");
  const Value& spec = schema(core, "io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(spec["required"], Value(Value::List{"containers"}));
  const Value& containers = spec["properties"]["containers"];
  EXPECT_EQ(containers["x-kubernetes-list-type"].text(), "map");
  EXPECT_EQ(containers["x-kubernetes-list-map-keys"], Value(Value::List{"name"}));
  EXPECT_EQ(containers["x-kubernetes-patch-merge-key"].text(), "name");
  EXPECT_EQ(spec["properties"]["volumes"]["x-kubernetes-patch-strategy"].text(), "merge,retainKeys");
  EXPECT_EQ(spec["properties"]["nodeSelector"]["x-kubernetes-map-type"].text(), "atomic");
  EXPECT_EQ(spec["properties"]["restartPolicy"]["enum"].items().size(), 3U);
  // What is inlined in protobuf is not there to be seen.
  EXPECT_NE(schema(core, "io.k8s.api.core.v1.Volume")["properties"].find("emptyDir"), nullptr);
  EXPECT_TRUE(schema(core, "io.k8s.api.core.v1.VolumeSource").is_null());

  const Value own = openapi_v3("berth.dev", "v1alpha1");
  for (const auto& [name, each] : own["components"]["schemas"].members()) {
    if (!name.starts_with("dev.berth.") || name.ends_with("List")) continue;
    for (const auto& [field, property] : each["properties"].members()) {
      const bool common = field == "apiVersion" || field == "kind" || field == "metadata";
      EXPECT_TRUE(common || !property["description"].is_empty()) << name << "." << field;
    }
  }
}

TEST(OpenApi, OfAGroupThatIsNotServedIsEmpty) {
  const Value document = openapi_v3("apps", "v1");
  EXPECT_TRUE(document["paths"].is_empty());
  EXPECT_TRUE(document["components"]["schemas"].is_empty());
}

}  // namespace berth::openapi_test
