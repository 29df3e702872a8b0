#include "controllers/controller.h"

#include <utility>

#include "manifest/json.h"

namespace berth {
namespace {

std::string path_of(const KindInfo& kind, const Value& object, const std::string& subresource = "") {
  const Value& metadata = object["metadata"];
  return api_path(kind.qualified(), metadata["namespace"].text(), metadata["name"].text(), subresource);
}

ApiCall deletion_with(Value preconditions, const KindInfo& kind, const Value& object, const std::string& propagation) {
  Value options = Value::map_of({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", propagation}});
  options.set("preconditions", std::move(preconditions));
  ApiCall call;
  call.method = "DELETE";
  call.path = path_of(kind, object);
  call.body = to_json(options);
  return call;
}

}  // namespace

ApiCall deletion_of(const KindInfo& kind, const Value& object, const std::string& propagation) {
  return deletion_with(Value::map_of({{"uid", object["metadata"]["uid"]}}), kind, object, propagation);
}

ApiCall deletion_as_seen(const KindInfo& kind, const Value& object) {
  const Value& metadata = object["metadata"];
  return deletion_with(Value::map_of({{"uid", metadata["uid"]}, {"resourceVersion", metadata["resourceVersion"]}}),
                       kind, object, "Background");
}

ApiCall change_of(const KindInfo& kind, const Value& object, Value changed, const std::string& subresource) {
  Value& metadata = changed.at("metadata");
  metadata.set("uid", object["metadata"]["uid"]);
  metadata.set("resourceVersion", object["metadata"]["resourceVersion"]);
  ApiCall call;
  call.method = "PATCH";
  call.path = path_of(kind, object, subresource);
  call.content_type = "application/merge-patch+json";
  call.body = to_json(changed);
  return call;
}

Value object_in(const ApiAnswer& answer) {
  auto parsed = parse_json(answer.body);
  return parsed ? *std::move(parsed) : Value();
}

Value replacing(const Value& had, Value now) {
  if (!now.is_map()) return now;
  for (const Value::Member& member : had.members()) {
    const Value* const kept = now.find(member.key);
    Value changed = kept == nullptr ? Value() : replacing(member.value, *kept);
    now.set(member.key, std::move(changed));
  }
  return now;
}

bool is_of(const KindInfo& kind, std::string_view qualified) {
  // Without putting the two parts together for every change of every object.
  if (kind.group.empty()) return kind.plural == qualified;
  return qualified.size() == kind.plural.size() + 1 + kind.group.size() && qualified.starts_with(kind.plural) &&
         qualified.ends_with(kind.group);
}

bool is_being_deleted(const Value& object) { return !object["metadata"]["deletionTimestamp"].is_empty(); }

bool has_ended(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].text();
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace berth
