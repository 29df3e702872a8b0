#include "apiserver/discovery.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apiserver/accept.h"
#include "base/hash.h"
#include "manifest/json.h"
#include "manifest/kinds.h"
#include "manifest/value.h"
#include "manifest/yaml.h"

namespace berth {

namespace {

using Texts = std::vector<std::string>;

// Requests at PATH/NAME/subresource: what is sent and answered there, if that is not the kind itself, and what may be
// done.
struct Subresource {
  std::string_view name, group, version, kind;
  Texts verbs;
};

const Subresource& about_subresource(std::string_view name) {
  static const std::vector<Subresource> known = {
      {"binding", "", "v1", "Binding", {"create"}},
      {"eviction", "policy", "v1", "Eviction", {"create"}},
      {"log", "", "", "", {"get"}},
      {"status", "", "", "", {"get", "patch", "update"}},
      {"token", "authentication.k8s.io", "v1", "TokenRequest", {"create"}},
  };
  static const Subresource readable{"", "", "", "", {"get"}};
  const auto found = std::ranges::find(known, name, &Subresource::name);
  return found == known.end() ? readable : *found;
}

Value list_of(const Texts& texts) {
  Value list = Value::list();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

Value group_version_kind(std::string_view group, std::string_view version, std::string_view kind) {
  return Value::map_of({{"group", group}, {"version", version}, {"kind", kind}});
}

// ---- groups and versions

// v2 before v1 before v1beta2 before v1beta1 before v1alpha1: the first one is preferred.
struct VersionRank {
  int stage = 3;  // 0 of finished ones, 1 beta, 2 alpha, 3 of what is no such version
  std::int64_t major = 0, minor = 0;

  static VersionRank of(std::string_view version) {
    VersionRank rank;
    if (!version.starts_with('v')) return rank;
    const char* const end = version.data() + version.size();
    const auto [rest, error] = std::from_chars(version.data() + 1, end, rank.major);
    if (error != std::errc()) return rank;
    const std::string_view stage(rest, static_cast<std::size_t>(end - rest));
    rank.stage = stage.empty() ? 0 : stage.starts_with("beta") ? 1 : stage.starts_with("alpha") ? 2 : 3;
    const std::size_t word = rank.stage == 1 ? 4 : rank.stage == 2 ? 5 : stage.size();
    std::from_chars(stage.data() + word, end, rank.minor);
    return rank;
  }
  bool before(const VersionRank& other) const {
    return std::tuple(stage, -major, -minor) < std::tuple(other.stage, -other.major, -other.minor);
  }
};

struct Group {
  std::string name;
  Texts versions;  // the preferred one first
};

// In the order of the table of kinds; the core first.
const std::vector<Group>& groups() {
  static const std::vector<Group> all = [] {
    std::vector<Group> found;
    for (const KindInfo& kind : served_kinds()) {
      auto group = std::ranges::find(found, kind.group, &Group::name);
      if (group == found.end()) group = found.insert(found.end(), {kind.group, {}});
      if (std::ranges::find(group->versions, kind.version) == group->versions.end()) {
        group->versions.push_back(kind.version);
      }
    }
    for (Group& group : found) {
      std::ranges::stable_sort(group.versions, [](const std::string& a, const std::string& b) {
        return VersionRank::of(a).before(VersionRank::of(b));
      });
    }
    return found;
  }();
  return all;
}

std::string api_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

template <class Visit>
void for_kinds_of(std::string_view group, std::string_view version, Visit visit) {
  for (const KindInfo& kind : served_kinds()) {
    if (kind.group == group && kind.version == version) visit(kind);
  }
}

// ---- aggregated discovery

Value aggregated_resource(const KindInfo& kind) {
  Value resource = Value::map_of({{"resource", kind.plural},
                                  {"responseKind", group_version_kind("", "", kind.kind)},
                                  {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                                  {"singularResource", kind.singular},
                                  {"verbs", list_of(kind.verbs)}});
  if (!kind.short_names.empty()) resource.set("shortNames", list_of(kind.short_names));
  if (!kind.categories.empty()) resource.set("categories", list_of(kind.categories));
  for (const std::string& name : kind.subresources) {
    const Subresource& about = about_subresource(name);
    const std::string_view response = about.kind.empty() ? std::string_view(kind.kind) : about.kind;
    resource.at("subresources")
        .push_back(Value::map_of({{"subresource", name},
                                  {"responseKind", group_version_kind(about.group, about.version, response)},
                                  {"verbs", list_of(about.verbs)}}));
  }
  return resource;
}

Value aggregated_group(const Group& group) {
  Value item = Value::map_of({{"metadata", Value::map()}, {"versions", Value::list()}});
  if (!group.name.empty()) item.at("metadata").set("name", group.name);
  for (const std::string& version : group.versions) {
    Value resources = Value::list();
    for_kinds_of(group.name, version, [&](const KindInfo& kind) { resources.push_back(aggregated_resource(kind)); });
    item.at("versions")
        .push_back(
            Value::map_of({{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}}));
  }
  return item;
}

Value aggregated(bool core, std::string_view version) {
  Value items = Value::list();
  for (const Group& group : groups()) {
    if (group.name.empty() == core) items.push_back(aggregated_group(group));
  }
  return Value::map_of({{"kind", "APIGroupDiscoveryList"},
                        {"apiVersion", "apidiscovery.k8s.io/" + std::string(version)},
                        {"metadata", Value::map()},
                        {"items", std::move(items)}});
}

// ---- plain discovery

Value plain_group(const Group& group) {
  Value versions = Value::list();
  for (const std::string& version : group.versions) {
    versions.push_back(Value::map_of({{"groupVersion", api_version(group.name, version)}, {"version", version}}));
  }
  const Value preferred = versions.items().front();
  return Value::map_of({{"name", group.name}, {"versions", std::move(versions)}, {"preferredVersion", preferred}});
}

Value plain_groups() {
  Value list = Value::map_of({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Value::list()}});
  for (const Group& group : groups()) {
    if (!group.name.empty()) list.at("groups").push_back(plain_group(group));
  }
  return list;
}

Value core_versions() {
  return Value::map_of(
      {{"kind", "APIVersions"}, {"versions", Value(Value::List{"v1"})}, {"serverAddressByClientCIDRs", Value::list()}});
}

Value plain_resources(std::string_view group, std::string_view version) {
  Value resources = Value::list();
  for_kinds_of(group, version, [&](const KindInfo& kind) {
    Value resource = Value::map_of({{"name", kind.plural},
                                    {"singularName", kind.singular},
                                    {"namespaced", kind.namespaced},
                                    {"kind", kind.kind},
                                    {"verbs", list_of(kind.verbs)}});
    if (!kind.short_names.empty()) resource.set("shortNames", list_of(kind.short_names));
    if (!kind.categories.empty()) resource.set("categories", list_of(kind.categories));
    resources.push_back(std::move(resource));
    for (const std::string& name : kind.subresources) {
      const Subresource& about = about_subresource(name);
      Value sub =
          Value::map_of({{"name", kind.plural + "/" + name}, {"singularName", ""}, {"namespaced", kind.namespaced}});
      if (!about.group.empty()) sub.set("group", about.group);
      if (!about.group.empty()) sub.set("version", about.version);
      sub.set("kind", about.kind.empty() ? std::string_view(kind.kind) : about.kind);
      sub.set("verbs", list_of(about.verbs));
      resources.push_back(std::move(sub));
    }
  });
  return Value::map_of({{"kind", "APIResourceList"},
                        {"apiVersion", "v1"},
                        {"groupVersion", api_version(group, version)},
                        {"resources", std::move(resources)}});
}

Value version() {
  // kubectl warns when it is more than one minor version away from the server, and Google's picks its own by this text.
  return Value::map_of({{"major", "1"},
                        {"minor", "33"},
                        {"gitVersion", "v1.33.0+berth-0.1.0"},
                        {"gitCommit", ""},
                        {"gitTreeState", "clean"},
                        {"buildDate", "1970-01-01T00:00:00Z"},
                        {"goVersion", ""},
                        {"compiler", "c++"},
                        {"platform", "linux/amd64"}});
}

// ---- documents and replies

std::string hash_of(std::string_view text) {
  std::array<char, 16> digits;
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), Hasher().add(text).digest(), 16);
  return std::string(digits.begin(), end);
}

struct Document {
  std::string body, content_type, hash;
};

Document json_document(const Value& value, std::string content_type = "application/json") {
  std::string body = to_json(value);
  std::string hash = hash_of(body);
  return {std::move(body), std::move(content_type), std::move(hash)};
}

// What there is does not change while the process runs, so every document is written once.
using Documents = std::map<std::string, Document, std::less<>>;

const Documents& openapi_documents() {
  static const Documents all = [] {
    Documents documents;
    Value paths = Value::map();
    for (const Group& group : groups()) {
      for (const std::string& each : group.versions) {
        const std::string name = (group.name.empty() ? "api/" : "apis/") + api_version(group.name, each);
        const Document& document =
            documents.emplace("/openapi/v3/" + name, json_document(openapi_v3(group.name, each))).first->second;
        paths.set(name, Value::map_of({{"serverRelativeURL", "/openapi/v3/" + name + "?hash=" + document.hash}}));
      }
    }
    documents.emplace("/openapi/v3", json_document(Value::map_of({{"paths", std::move(paths)}})));
    // kubectl before 1.29 wants a document in protobuf and is content with an empty one: `swagger: "2.0"`.
    const std::string swagger(
        "\x0a\x03"
        "2.0",
        5);
    documents.emplace("/openapi/v2", Document{swagger, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                                              hash_of(swagger)});
    return documents;
  }();
  return all;
}

std::string aggregated_type(std::string_view version) {
  return "application/json;g=apidiscovery.k8s.io;v=" + std::string(version) + ";as=APIGroupDiscoveryList";
}

const Documents& plain_documents() {
  static const Documents all = [] {
    Documents documents;
    documents.emplace("/version", json_document(version()));
    documents.emplace("/api", json_document(core_versions()));
    documents.emplace("/apis", json_document(plain_groups()));
    for (const Group& group : groups()) {
      if (!group.name.empty()) {
        Value about = plain_group(group);
        about.set("kind", "APIGroup");
        about.set("apiVersion", "v1");
        documents.emplace("/apis/" + group.name, json_document(about));
      }
      for (const std::string& each : group.versions) {
        documents.emplace((group.name.empty() ? "/api/" : "/apis/") + api_version(group.name, each),
                          json_document(plain_resources(group.name, each)));
      }
    }
    for (const char* const form : {"v2", "v2beta1"}) {
      documents.emplace("/api " + aggregated_type(form), json_document(aggregated(true, form), aggregated_type(form)));
      documents.emplace("/apis " + aggregated_type(form),
                        json_document(aggregated(false, form), aggregated_type(form)));
    }
    return documents;
  }();
  return all;
}

// The form of aggregated discovery that the client would like best; empty if it wants the plain one.
std::string_view aggregated_form(std::string_view accept) {
  for (const MediaRange& range : accepted_media(accept)) {
    if (!encoding_of(range)) continue;
    if (range.as.empty()) return "";
    if (range.as != "APIGroupDiscoveryList" || range.type != "application/json") continue;
    if (range.version == "v2" || range.version == "v2beta1") return range.version;
  }
  return "";
}

HttpReply reply_with(const Document& document, const HttpRequest& request, bool varies) {
  HttpReply reply;
  reply.content_type = document.content_type;
  const std::string etag = "\"" + document.hash + "\"";
  reply.headers.emplace_back("ETag", etag);
  if (varies) reply.headers.emplace_back("Vary", "Accept");
  const std::string* const hash = request.parameter("hash");
  // A document asked for by its hash can never become another one.
  const bool named_by_hash = hash != nullptr && *hash == document.hash;
  reply.headers.emplace_back("Cache-Control", named_by_hash ? "public, immutable" : "no-cache, private");
  const std::string_view known = request.header("if-none-match");
  if (known == etag || known == "W/" + etag) {
    reply.status = 304;
  } else {
    reply.body = document.body;
  }
  return reply;
}

// What there is to ask for, beside the objects themselves.
HttpReply paths_reply() {
  Value paths = Value::list();
  for (const char* const path : {"/healthz", "/livez", "/readyz"}) paths.push_back(path);
  for (const Documents* const documents : {&plain_documents(), &openapi_documents()}) {
    for (const auto& [path, document] : *documents) {
      if (path.find(' ') == path.npos) paths.push_back(path);
    }
  }
  HttpReply reply;
  reply.body = to_json(Value::map_of({{"paths", std::move(paths)}}));
  return reply;
}

}  // namespace

std::optional<HttpReply> discovery_reply(const HttpRequest& request) {
  std::string path = request.path;
  if (path.find(' ') != path.npos) return std::nullopt;
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const bool lists_groups = path == "/api" || path == "/apis";
  if (lists_groups) {
    const std::string_view form = aggregated_form(request.header("accept"));
    if (!form.empty()) path += " " + aggregated_type(form);
  }
  if (path == "/") return paths_reply();
  const Documents& documents = path.starts_with("/openapi/") ? openapi_documents() : plain_documents();
  const auto found = documents.find(path);
  if (found == documents.end()) return std::nullopt;
  HttpReply reply = reply_with(found->second, request, lists_groups);
  // The lists of groups and kinds are written in YAML too; the forms with types of their own are not.
  const bool may_be_yaml = path.starts_with("/api") && reply.content_type == "application/json" && reply.status == 200;
  if (may_be_yaml && encoding_for(request) == Encoding::kYaml) {
    reply.content_type = content_type_of(Encoding::kYaml);
    reply.body = to_yaml(*parse_json(reply.body));
  }
  return reply;
}

}  // namespace berth
