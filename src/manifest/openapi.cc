#include <map>
#include <set>
#include <string>
#include <utility>

#include "manifest/kinds.h"

namespace berth {
namespace {

using Members = std::vector<std::pair<std::string, Value>>;

constexpr const char* kSchemas = "#/components/schemas/";
constexpr const char* kQuantityName = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr const char* kTimeName = "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
constexpr const char* kMicroTimeName = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
constexpr const char* kIntOrTextName = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

std::string schema_name(const Type& type) { return type.package + "." + type.name.substr(type.name.rfind('.') + 1); }

Value texts(const std::vector<std::string>& items) {
  Value list = Value::list();
  for (const std::string& item : items) list.push_back(item);
  return list;
}

Value reference(const std::string& name) { return Value::map_of({{"$ref", kSchemas + name}}); }

Value kind_of(const KindInfo& kind, std::string name) {
  return Value::map_of({{"group", kind.group}, {"kind", std::move(name)}, {"version", kind.version}});
}

// ---- schemas -------------------------------------------------------------------------------------------------------

// Those of all types that were asked for, and of what they are made of.
class Schemas {
 public:
  // The schema of a kind, and of a list of them where there are lists.
  void add_kind(const KindInfo& kind) {
    add(*kind.type);
    schemas_[schema_name(*kind.type)].set("x-kubernetes-group-version-kind",
                                          Value(Value::List{kind_of(kind, kind.kind)}));
    if (!kind.has_verb("list")) return;
    const Type& meta = type_named("ListMeta");
    add(meta);
    Value items = Value::map_of({{"type", "array"}, {"items", reference(schema_name(*kind.type))}});
    Value properties = Value::map_of({{"apiVersion", Value::map_of({{"type", "string"}})},
                                      {"items", std::move(items)},
                                      {"kind", Value::map_of({{"type", "string"}})},
                                      {"metadata", reference(schema_name(meta))}});
    schemas_[schema_name(*kind.type) + "List"] =
        Value::map_of({{"description", "A list of " + kind.plural + "."},
                       {"type", "object"},
                       {"required", Value(Value::List{"items"})},
                       {"properties", std::move(properties)},
                       {"x-kubernetes-group-version-kind", Value(Value::List{kind_of(kind, kind.kind + "List")})}});
  }

  void add(const Type& type) {
    const std::string name = schema_name(type);
    if (!schemas_.try_emplace(name).second) return;
    Value schema = Value::map();
    if (!type.description.empty()) schema.set("description", type.description);
    if (const Field* const list = type.wrapped_list()) {
      schema.set("type", "array");
      schema.set("items", item_schema(*list));
    } else {
      add_properties(type, schema);
    }
    schemas_[name] = std::move(schema);
  }

  Value take() && {
    Value all = Value::map();
    for (auto& [name, schema] : schemas_) all.edit_members().push_back({name, std::move(schema)});
    return all;
  }

 private:
  void add_properties(const Type& type, Value& schema) {
    schema.set("type", "object");
    Value required = Value::list();
    Value properties = Value::map();
    collect(type, properties, required);
    if (!required.is_empty()) schema.set("required", std::move(required));
    schema.set("properties", std::move(properties));
  }

  void collect(const Type& type, Value& properties, Value& required) {
    for (const Field& field : type.fields) {
      if (field.inlined) {
        collect(*field.type, properties, required);
      } else {
        properties.set(field.name, field_schema(field));
        if (field.required) required.push_back(field.name);
      }
    }
  }

  Value field_schema(const Field& field) {
    Value schema = Value::map();
    if (!field.description.empty()) schema.set("description", field.description);
    if (field.plurality == Plurality::kOne) {
      add_single(field, schema);
    } else if (field.plurality == Plurality::kMap) {
      schema.set("type", "object");
      schema.set("additionalProperties", item_schema(field));
      if (field.atomic) schema.set("x-kubernetes-map-type", "atomic");
    } else {
      schema.set("type", "array");
      schema.set("items", item_schema(field));
      add_list_words(field, schema);
    }
    return schema;
  }

  void add_single(const Field& field, Value& schema) {
    Value item = item_schema(field);
    // Beside a reference nothing else may stand.
    if (item.find("$ref") != nullptr) {
      schema.set("allOf", Value(Value::List{std::move(item)}));
      if (field.atomic) schema.set("x-kubernetes-map-type", "atomic");
      return;
    }
    for (Value::Member& member : item.edit_members()) schema.set(member.key, std::move(member.value));
    if (!field.allowed.empty()) schema.set("enum", texts(field.allowed));
  }

  static void add_list_words(const Field& field, Value& schema) {
    const bool keyed = field.ownership == ListOwnership::kKeyed;
    const bool set = field.ownership == ListOwnership::kSet;
    schema.set("x-kubernetes-list-type", keyed ? "map" : set ? "set" : "atomic");
    if (keyed) schema.set("x-kubernetes-list-map-keys", texts(field.owner_keys));
    if (field.merge_key.empty()) return;
    schema.set("x-kubernetes-patch-strategy", field.retain_keys ? "merge,retainKeys" : "merge");
    if (field.merge_key != "-") schema.set("x-kubernetes-patch-merge-key", field.merge_key);
  }

  Value item_schema(const Field& field) {
    switch (field.scalar) {
      case Scalar::kText:
        return Value::map_of({{"type", "string"}});
      case Scalar::kInteger:
        return Value::map_of({{"type", "integer"}, {"format", "int64"}});
      case Scalar::kBool:
        return Value::map_of({{"type", "boolean"}});
      case Scalar::kBytes:
        return Value::map_of({{"type", "string"}, {"format", "byte"}});
      case Scalar::kAny:
        return Value::map_of({{"type", "object"}});
      case Scalar::kQuantity:
        return shared(kQuantityName, quantity_schema());
      case Scalar::kTime:
        return shared(kTimeName, Value::map_of({{"type", "string"}, {"format", "date-time"}}));
      case Scalar::kMicroTime:
        return shared(kMicroTimeName, Value::map_of({{"type", "string"}, {"format", "date-time"}}));
      case Scalar::kIntOrText:
        return shared(kIntOrTextName, int_or_text_schema());
      case Scalar::kObject:
        add(*field.type);
        return reference(schema_name(*field.type));
    }
    return Value::map();
  }

  static Value either(const char* one, const char* other) {
    return Value(Value::List{Value::map_of({{"type", one}}), Value::map_of({{"type", other}})});
  }
  static Value quantity_schema() {
    return Value::map_of(
        {{"description", "An amount with a unit, such as 500m, 2, or 16Gi."}, {"oneOf", either("string", "number")}});
  }
  static Value int_or_text_schema() {
    return Value::map_of({{"description", "A whole number, or a text such as a percentage."},
                          {"format", "int-or-string"},
                          {"oneOf", either("integer", "string")}});
  }

  Value shared(const char* name, Value schema) {
    schemas_.try_emplace(name, std::move(schema));
    return reference(name);
  }

  std::map<std::string, Value> schemas_;
};

// ---- paths ---------------------------------------------------------------------------------------------------------

Value parameter(const char* name, const char* place, const char* type, const char* description) {
  Value schema = Value::map_of({{"type", type}});
  Value whole =
      Value::map_of({{"name", name}, {"in", place}, {"description", description}, {"schema", std::move(schema)}});
  if (std::string_view(place) == "path") whole.set("required", true);
  return whole;
}

Value write_parameters() {
  return Value(Value::List{
      parameter("dryRun", "query", "string", "All: do everything but store it."),
      parameter("fieldManager", "query", "string", "Who makes this change, for metadata.managedFields."),
      parameter("fieldValidation", "query", "string", "What to do about unknown fields: Ignore, Warn or Strict.")});
}

Value parameters_of(std::string_view action) {
  if (action == "post" || action == "put") return write_parameters();
  if (action == "patch") {
    Value all = write_parameters();
    all.push_back(parameter("force", "query", "boolean", "Server-side apply: take over fields of other managers."));
    return all;
  }
  if (action == "delete" || action == "deletecollection") {
    Value all = Value(Value::List{
        parameter("dryRun", "query", "string", "All: do everything but store it."),
        parameter("gracePeriodSeconds", "query", "integer", "How long a pod may take to end."),
        parameter("propagationPolicy", "query", "string", "Dependents: Orphan, Background or Foreground.")});
    if (action == "delete") return all;
    all.push_back(parameter("labelSelector", "query", "string", "Only objects whose labels match."));
    all.push_back(parameter("fieldSelector", "query", "string", "Only objects whose fields match."));
    return all;
  }
  if (action == "get") return Value::list();
  return Value(
      Value::List{parameter("labelSelector", "query", "string", "Only objects whose labels match."),
                  parameter("fieldSelector", "query", "string", "Only objects whose fields match."),
                  parameter("limit", "query", "integer", "At most this many objects a reply."),
                  parameter("continue", "query", "string", "Where the last reply ended."),
                  parameter("resourceVersion", "query", "string", "The revision to list at, or to watch from."),
                  parameter("resourceVersionMatch", "query", "string", "NotOlderThan or Exact."),
                  parameter("allowWatchBookmarks", "query", "boolean", "Watch: tell the revision from time to time."),
                  parameter("sendInitialEvents", "query", "boolean", "Watch: begin with what there is."),
                  parameter("timeoutSeconds", "query", "integer", "Watch: end after so long."),
                  parameter("watch", "query", "boolean", "Answer with changes as they happen.")});
}

Value json_content(const std::string& schema) {
  return Value::map_of({{"application/json", Value::map_of({{"schema", reference(schema)}})}});
}

// kubectl apply sends strategic patches where they are listed here: not for custom kinds.
Value patch_body(const KindInfo& kind) {
  Value content = Value::map();
  for (const char* const type : {"application/apply-patch+yaml", "application/json-patch+json",
                                 "application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    if (kind.custom && std::string_view(type) == "application/strategic-merge-patch+json") continue;
    const char* const body = std::string_view(type) == "application/json-patch+json" ? "array" : "object";
    Value schema = Value::map_of({{"type", body}});
    if (std::string_view(body) == "array") schema.set("items", Value::map_of({{"type", "object"}}));
    content.set(type, Value::map_of({{"schema", std::move(schema)}}));
  }
  return Value::map_of({{"required", true}, {"content", std::move(content)}});
}

// What a path is about: whole objects, or a part with a type of its own.
struct Subject {
  const KindInfo& kind;
  const Type& type;
  Value gvk;
};

Value operation(const Subject& subject, const char* action) {
  const std::string_view is = action;
  const bool of_list = is == "list";
  Value operation = Value::map_of({{"x-kubernetes-action", action},
                                   {"x-kubernetes-group-version-kind", subject.gvk},
                                   {"parameters", parameters_of(is)}});
  if (is == "post" || is == "put") {
    operation.set("requestBody",
                  Value::map_of({{"required", true}, {"content", json_content(schema_name(subject.type))}}));
  } else if (is == "patch") {
    operation.set("requestBody", patch_body(subject.kind));
  } else if (is.starts_with("delete")) {
    operation.set("requestBody", Value::map_of({{"content", json_content(schema_name(type_named("DeleteOptions")))}}));
  }
  Value reply = Value::map_of({{"description", "OK"}});
  reply.set("content", json_content(schema_name(subject.type) + (of_list ? "List" : "")));
  operation.set("responses", Value::map_of({{"200", std::move(reply)}}));
  return operation;
}

class Paths {
 public:
  explicit Paths(Schemas& schemas) : schemas_(schemas) {}

  void add_kind(const KindInfo& kind) {
    const std::string root = kind.group.empty() ? "/api/v1" : "/apis/" + kind.group + "/" + kind.version;
    const std::string collection = root + (kind.namespaced ? "/namespaces/{namespace}/" : "/") + kind.plural;
    const Subject subject{kind, *kind.type, kind_of(kind, kind.kind)};
    add(collection, subject, {{"get", "list"}, {"post", "post"}, {"delete", "deletecollection"}});
    if (kind.namespaced) add(root + "/" + kind.plural, subject, {{"get", "list"}});
    const std::string item = collection + "/{name}";
    add(item, subject, {{"get", "get"}, {"put", "put"}, {"patch", "patch"}, {"delete", "delete"}});
    for (const std::string& name : kind.subresources) add_subresource(item + "/" + name, subject, name);
  }

  Value take() && { return std::move(paths_); }

 private:
  using Verbs = std::vector<std::pair<const char*, const char*>>;  // of HTTP, of Kubernetes

  static bool allows(const KindInfo& kind, std::string_view action) {
    if (action == "post") return kind.has_verb("create");
    return kind.has_verb(action == "put" ? "update" : action);
  }

  void add(const std::string& path, const Subject& subject, const Verbs& verbs) {
    Value item = Value::map();
    for (const auto& [method, action] : verbs) {
      if (!allows(subject.kind, action)) continue;
      item.set(method, operation(subject, action));
      if (std::string_view(method) == "delete") schemas_.add(type_named("DeleteOptions"));
    }
    if (!item.is_empty()) put(path, std::move(item));
  }

  void put(const std::string& path, Value item) {
    Value parameters = Value::list();
    for (const char* const name : {"name", "namespace"}) {
      if (path.find("{" + std::string(name) + "}") != path.npos) {
        parameters.push_back(parameter(name, "path", "string", "Which one."));
      }
    }
    if (!parameters.is_empty()) item.set("parameters", std::move(parameters));
    paths_.edit_members().push_back({path, std::move(item)});
  }

  void add_subresource(const std::string& path, const Subject& subject, const std::string& name) {
    if (name == "log") {
      put(path, Value::map_of({{"get", log_operation(subject)}}));
    } else if (name == "binding" || name == "eviction") {
      const bool binds = name == "binding";
      const Type& type = type_named(binds ? "Binding" : "Eviction");
      schemas_.add(type);
      Value gvk = Value::map_of(
          {{"group", binds ? "" : "policy"}, {"kind", binds ? "Binding" : "Eviction"}, {"version", "v1"}});
      put(path, Value::map_of({{"post", operation({subject.kind, type, std::move(gvk)}, "post")}}));
    } else {
      add(path, subject, {{"get", "get"}, {"put", "put"}, {"patch", "patch"}});
    }
  }

  static Value log_operation(const Subject& subject) {
    Value text = Value::map_of({{"text/plain", Value::map_of({{"schema", Value::map_of({{"type", "string"}})}})}});
    Value reply = Value::map_of({{"description", "OK"}, {"content", std::move(text)}});
    return Value::map_of(
        {{"x-kubernetes-action", "get"},
         {"x-kubernetes-group-version-kind", subject.gvk},
         {"parameters",
          Value(Value::List{parameter("container", "query", "string", "Whose log."),
                            parameter("follow", "query", "boolean", "Go on as it grows."),
                            parameter("previous", "query", "boolean", "Of the container before this one."),
                            parameter("timestamps", "query", "boolean", "With a time before each line."),
                            parameter("tailLines", "query", "integer", "Only so many lines from the end."),
                            parameter("sinceSeconds", "query", "integer", "Only what is younger."),
                            parameter("limitBytes", "query", "integer", "At most this many bytes.")})},
         {"responses", Value::map_of({{"200", std::move(reply)}})}});
  }

  Schemas& schemas_;
  Value paths_ = Value::map();
};

}  // namespace

Value openapi_v3(std::string_view group, std::string_view version) {
  Schemas schemas;
  Paths paths(schemas);
  for (const KindInfo& kind : served_kinds()) {
    if (kind.group != group || kind.version != version) continue;
    schemas.add_kind(kind);
    paths.add_kind(kind);
  }
  return Value::map_of({{"openapi", "3.0.0"},
                        {"info", Value::map_of({{"title", "Berth"}, {"version", "0.1.0"}})},
                        {"paths", std::move(paths).take()},
                        {"components", Value::map_of({{"schemas", std::move(schemas).take()}})}});
}

}  // namespace berth
