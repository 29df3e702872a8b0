#include "apiserver/decoding.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "manifest/schema.h"

namespace berth {
namespace {

ApiError cannot_be_handled(const KindInfo& kind, std::string_view why) {
  return bad_request(kind.kind + " in version " + "\"" + kind.version + "\" cannot be handled as a " + kind.kind +
                     ": " + std::string(why));
}

}  // namespace

std::expected<DecodedBody, ApiError> decode_request(const HttpRequest& request) {
  const std::string_view type = request.header("content-type");
  return decode_body(type.empty() ? "application/json" : type, request.body);
}

std::optional<ApiError> check_kind(const KindInfo& kind, Value& object) {
  if (!object.is_map()) return bad_request("the body is no object: send a " + kind.kind + " of " + kind.api_version());
  const Value& given_version = object["apiVersion"];
  const Value& given_kind = object["kind"];
  if (!given_version.is_empty() && given_version.text() != kind.api_version()) {
    return bad_request("the API version in the data (" + quote(given_version.text()) +
                       ") does not match the expected API version (" + kind.api_version() + ")");
  }
  if (!given_kind.is_empty() && given_kind.text() != kind.kind) {
    return bad_request(quote(given_kind.text()) + " in version \"" + kind.version + "\" cannot be handled as a " +
                       kind.kind + ": the kinds differ");
  }
  object.set("apiVersion", kind.api_version());
  object.set("kind", kind.kind);
  return std::nullopt;
}

std::expected<DecodedBody, ApiError> decode_object(const Exchange& exchange, const KindInfo& kind) {
  auto body = decode_request(exchange.request);
  if (!body) return body;
  if (auto wrong = check_kind(kind, body->value)) return std::unexpected(*std::move(wrong));
  return body;
}

std::optional<ApiError> settle_fields(const KindInfo& kind, Value& object, const std::vector<std::string>& duplicates,
                                      FieldValidation validation, std::vector<std::string>& warnings) {
  std::vector<std::string> doubtful;
  for (const std::string& path : duplicates) doubtful.push_back("duplicate field \"" + path + "\"");
  for (const SchemaComplaint& complaint : check_fields(*kind.type, object)) {
    if (complaint.what == SchemaComplaint::What::kWrongType) return cannot_be_handled(kind, complaint.message);
    doubtful.push_back(complaint.message);
  }
  if (!doubtful.empty() && validation == FieldValidation::kStrict) {
    std::string all;
    for (const std::string& each : doubtful) all += (all.empty() ? "" : ", ") + each;
    return cannot_be_handled(kind, "strict decoding error: " + all);
  }
  if (validation == FieldValidation::kWarn) warnings.insert(warnings.end(), doubtful.begin(), doubtful.end());
  drop_unknown_fields(*kind.type, object);
  canonicalise(*kind.type, object);
  return std::nullopt;
}

std::optional<ApiError> settle_place(const Route& route, Value& object) {
  Value& metadata = object.at("metadata");
  if (!metadata.is_map()) metadata = Value::map();
  const std::string_view name = metadata["name"].text();
  if (!route.name.empty() && name.empty()) {
    return bad_request("the name of the object (" + quote(route.name) +
                       " based on URL) was undeterminable: name must be provided in metadata.name");
  }
  if (!route.name.empty() && name != route.name) {
    return bad_request("the name of the object (" + quote(name) + ") does not match the name on the URL (" +
                       quote(route.name) + ")");
  }
  const std::string_view name_space = metadata["namespace"].text();
  if (!route.kind->namespaced) {
    metadata.erase("namespace");
  } else if (!name_space.empty() && name_space != route.name_space) {
    return bad_request("the namespace of the provided object does not match the namespace sent on the request");
  } else {
    metadata.set("namespace", route.name_space);
  }
  return std::nullopt;
}

}  // namespace berth
