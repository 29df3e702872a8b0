// What the server answers when it does not do what was asked: Kubernetes' Status object, with its reasons and words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {

struct ErrorCause {
  std::string reason;  // "FieldValueInvalid", "FieldValueRequired", "FieldValueForbidden", "FieldManagerConflict", ...
  std::string message;
  std::string field;
};

struct ApiError {
  int code = 500;
  std::string reason;  // "NotFound"
  std::string message;
  std::string name, group, kind;  // of details: kind is the plural for most reasons, the Kind for Invalid
  std::string uid;
  std::vector<ErrorCause> causes;
  int retry_after_s = 0;
  bool about_nothing = false;        // of no object: kubectl reads details all the same, so they are there, and empty
  std::string allowed_methods = {};  // of 405, "GET, HEAD"
};

Value status_of(const ApiError& error);  // the whole Status object
Value success_status(int code);          // {"status": "Success", "code": ...}

ApiError not_found(const KindInfo& kind, std::string_view name);
ApiError already_exists(const KindInfo& kind, std::string_view name);
ApiError conflict(const KindInfo& kind, std::string_view name,
                  std::string_view why);  // "Operation cannot be fulfilled on ..."
ApiError stale_revision(const KindInfo& kind, std::string_view name);
// `Pod "x" is invalid: [field: message, ...]`; one cause without brackets. Cause messages as Kubernetes words them:
// `Invalid value: "X_": ...`, `Required value`.
ApiError invalid(const KindInfo& kind, std::string_view name, std::vector<ErrorCause> causes);
// The same about something that is no served kind: `ListOptions.meta.k8s.io "" is invalid: ...`.
ApiError invalid_named(std::string_view kind, std::string_view group, std::string_view name,
                       std::vector<ErrorCause> causes);
// `pods "p1" is forbidden: <why>`
ApiError forbidden(const KindInfo& kind, std::string_view name, std::string_view why);
ApiError bad_request(std::string message);
ApiError unauthorized();
ApiError too_many_requests(std::string message, int retry_after_s);
ApiError internal_error(std::string message);
// The same with empty details: about a path, a method, a form of reply.
ApiError generic_error(int code, std::string reason, std::string message);
ApiError plain_error(int code, std::string reason, std::string message);  // without details

// The causes' usual forms.
ErrorCause invalid_value(std::string field, const Value& value, std::string_view why);
ErrorCause required_value(std::string field, std::string_view why = {});
ErrorCause forbidden_value(std::string field, std::string_view why);
ErrorCause duplicate_value(std::string field, const Value& value);
ErrorCause unsupported_value(std::string field, const Value& value, const std::vector<std::string>& supported);

}  // namespace berth
