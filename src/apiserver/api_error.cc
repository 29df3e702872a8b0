#include "apiserver/api_error.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifest/json.h"

namespace berth {
namespace {

// As much of a wrong value as a message repeats: enough to recognise it.
constexpr std::size_t kValueShownMax = 1'000;

std::string quoted(std::string_view text) {
  std::string out;
  append_json_text(text, out);
  return out;
}

std::string shown(const Value& value) {
  std::string text = value.is_null() ? "null" : to_json(value);
  if (text.size() <= kValueShownMax) return text;
  std::size_t cut = kValueShownMax;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80U) --cut;  // not within a character
  text.resize(cut);
  return text + "...";
}

// `pods "p1"`, `jobs.batch "j"`; without a name the resource alone.
std::string named(const KindInfo& kind, std::string_view name) {
  return name.empty() ? kind.qualified() : kind.qualified() + " " + quoted(name);
}

ApiError about(const KindInfo& kind, std::string_view name, int code, std::string reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = std::move(reason);
  error.message = std::move(message);
  error.name = std::string(name);
  error.group = kind.group;
  error.kind = kind.plural;
  return error;
}

Value details_of(const ApiError& error) {
  Value details = Value::map();
  if (!error.name.empty()) details.set("name", error.name);
  if (!error.group.empty()) details.set("group", error.group);
  if (!error.kind.empty()) details.set("kind", error.kind);
  if (!error.uid.empty()) details.set("uid", error.uid);
  if (!error.causes.empty()) {
    Value::List& causes = details.set("causes", Value::list()).edit_items();
    for (const ErrorCause& cause : error.causes) {
      Value& each = causes.emplace_back(Value::map());
      if (!cause.reason.empty()) each.set("reason", cause.reason);
      if (!cause.message.empty()) each.set("message", cause.message);
      if (!cause.field.empty()) each.set("field", cause.field);
    }
  }
  if (error.retry_after_s > 0) details.set("retryAfterSeconds", error.retry_after_s);
  return details;
}

}  // namespace

Value status_of(const ApiError& error) {
  Value status = Value::map_of({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Value::map()}});
  status.set("status", "Failure");
  status.set("message", error.message);
  if (!error.reason.empty()) status.set("reason", error.reason);
  Value details = details_of(error);
  if (!details.is_empty() || error.about_nothing) status.set("details", std::move(details));
  status.set("code", error.code);
  return status;
}

Value success_status(int code) {
  Value status = Value::map_of({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Value::map()}});
  status.set("status", "Success");
  status.set("code", code);
  return status;
}

ApiError not_found(const KindInfo& kind, std::string_view name) {
  return about(kind, name, 404, "NotFound", named(kind, name) + " not found");
}

ApiError already_exists(const KindInfo& kind, std::string_view name) {
  return about(kind, name, 409, "AlreadyExists", named(kind, name) + " already exists");
}

ApiError conflict(const KindInfo& kind, std::string_view name, std::string_view why) {
  return about(kind, name, 409, "Conflict",
               "Operation cannot be fulfilled on " + named(kind, name) + ": " + std::string(why));
}

ApiError stale_revision(const KindInfo& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

ApiError invalid(const KindInfo& kind, std::string_view name, std::vector<ErrorCause> causes) {
  return invalid_named(kind.kind, kind.group, name, std::move(causes));
}

ApiError invalid_named(std::string_view kind, std::string_view group, std::string_view name,
                       std::vector<ErrorCause> causes) {
  std::string all;
  for (const ErrorCause& cause : causes) {
    if (!all.empty()) all += ", ";
    all += cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
  }
  if (causes.size() > 1) all = "[" + all + "]";
  std::string what(kind);
  if (!group.empty()) what += "." + std::string(group);
  ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.message = what + " " + quoted(name) + " is invalid: " + all;
  error.name = std::string(name);
  error.group = std::string(group);
  error.kind = std::string(kind);
  error.causes = std::move(causes);
  return error;
}

ApiError forbidden(const KindInfo& kind, std::string_view name, std::string_view why) {
  return about(kind, name, 403, "Forbidden", named(kind, name) + " is forbidden: " + std::string(why));
}

ApiError bad_request(std::string message) { return plain_error(400, "BadRequest", std::move(message)); }

ApiError unauthorized() { return plain_error(401, "Unauthorized", "Unauthorized"); }

ApiError too_many_requests(std::string message, int retry_after_s) {
  ApiError error = plain_error(429, "TooManyRequests", std::move(message));
  error.retry_after_s = retry_after_s;
  return error;
}

ApiError internal_error(std::string message) { return plain_error(500, "InternalError", std::move(message)); }

ApiError plain_error(int code, std::string reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = std::move(reason);
  error.message = std::move(message);
  return error;
}

ApiError generic_error(int code, std::string reason, std::string message) {
  ApiError error = plain_error(code, std::move(reason), std::move(message));
  error.about_nothing = true;
  return error;
}

ErrorCause invalid_value(std::string field, const Value& value, std::string_view why) {
  return {"FieldValueInvalid", "Invalid value: " + shown(value) + ": " + std::string(why), std::move(field)};
}

ErrorCause required_value(std::string field, std::string_view why) {
  std::string message = "Required value";
  if (!why.empty()) message += ": " + std::string(why);
  return {"FieldValueRequired", std::move(message), std::move(field)};
}

ErrorCause forbidden_value(std::string field, std::string_view why) {
  return {"FieldValueForbidden", "Forbidden: " + std::string(why), std::move(field)};
}

ErrorCause duplicate_value(std::string field, const Value& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + shown(value), std::move(field)};
}

ErrorCause unsupported_value(std::string field, const Value& value, const std::vector<std::string>& supported) {
  std::string message = "Unsupported value: " + shown(value) + ": supported values: ";
  for (std::size_t i = 0; i < supported.size(); ++i) message += (i == 0 ? "" : ", ") + quoted(supported[i]);
  return {"FieldValueNotSupported", std::move(message), std::move(field)};
}

}  // namespace berth
