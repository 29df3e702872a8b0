#include "apiserver/reviews.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/decoding.h"
#include "apiserver/request_options.h"
#include "manifest/timestamp.h"

namespace berth {
namespace {

Value texts(const std::vector<std::string>& all) {
  Value list = Value::list();
  for (const std::string& each : all) list.push_back(each);
  return list;
}

Value user_info(const User& user) {
  Value info = Value::map_of({{"username", user.name}});
  if (!user.uid.empty()) info.set("uid", user.uid);
  info.set("groups", texts(user.groups));
  if (user.extra.empty()) return info;
  Value& extra = info.set("extra", Value::map());
  for (const auto& [key, values] : user.extra) extra.set(key, texts(values));
  return info;
}

// The user that a SubjectAccessReview asks about.
User subject_of(const Value& spec) {
  User user;
  user.name = std::string(spec["user"].text());
  user.uid = std::string(spec["uid"].text());
  for (const Value& group : spec["groups"].items()) user.groups.emplace_back(group.text());
  for (const Value::Member& each : spec["extra"].members()) {
    for (const Value& value : each.value.items()) user.extra[each.key].emplace_back(value.text());
  }
  return user;
}

AccessQuestion question_of(const Value& spec) {
  AccessQuestion question;
  const auto text = [](const Value& value) { return std::string(value.text()); };
  if (const Value& path = spec["nonResourceAttributes"]; path.is_map()) {
    question.path = text(path["path"]);
    question.verb = text(path["verb"]);
    return question;
  }
  const Value& resource = spec["resourceAttributes"];
  question.verb = text(resource["verb"]);
  question.group = text(resource["group"]);
  question.resource = text(resource["resource"]);
  question.subresource = text(resource["subresource"]);
  question.name_space = text(resource["namespace"]);
  question.name = text(resource["name"]);
  return question;
}

std::optional<ApiError> wrong_access_review(const Exchange& exchange, const Value& review) {
  const KindInfo& kind = *exchange.route.kind;
  const Value& spec = review["spec"];
  const bool self = kind.kind == "SelfSubjectAccessReview";
  const bool local = kind.kind == "LocalSubjectAccessReview";
  std::vector<ErrorCause> causes;
  if (spec["resourceAttributes"].is_map() == spec["nonResourceAttributes"].is_map()) {
    causes.push_back(invalid_value("spec.resourceAttributes", spec["resourceAttributes"],
                                   "exactly one of nonResourceAttributes or resourceAttributes must be specified"));
  }
  if (!self && spec["user"].text().empty() && spec["groups"].is_empty()) {
    causes.push_back(invalid_value("spec.user", spec["user"], "at least one of user or group must be specified"));
  }
  if (local && spec["resourceAttributes"]["namespace"].text() != exchange.route.name_space) {
    causes.push_back(invalid_value("spec.resourceAttributes.namespace", spec["resourceAttributes"]["namespace"],
                                   "must match the namespace of the request"));
  }
  if (causes.empty()) return std::nullopt;
  return invalid(kind, "", std::move(causes));
}

Value access_status(const ServerParts& parts, const User& user, const Value& spec) {
  const AccessAnswer answered = parts.authorizer.decide(user, question_of(spec));
  Value status = Value::map_of({{"allowed", answered.allowed}});
  if (!answered.reason.empty()) status.set("reason", answered.reason);
  return status;
}

Value token_status(const ServerParts& parts, const Value& spec) {
  HttpRequest request;
  request.headers.emplace_back("authorization", "Bearer " + std::string(spec["token"].text()));
  const auto user = spec["token"].text().empty() ? std::expected<User, ApiError>(std::unexpected(unauthorized()))
                                                 : parts.authenticator.authenticate(request);
  if (!user || user->name == "system:anonymous") {
    return Value::map_of({{"user", Value::map()}, {"error", "the token is none of this server's"}});
  }
  return Value::map_of({{"authenticated", true}, {"user", user_info(*user)}});
}

}  // namespace

bool is_review(const KindInfo& kind) { return kind.kind.ends_with("Review"); }

void answer_review(const ServerParts& parts, Exchange& exchange) {
  const KindInfo& kind = *exchange.route.kind;
  const auto options = read_write_options(exchange.request);
  if (!options) return answer_error(exchange, options.error());
  auto body = decode_object(exchange, kind);
  if (!body) return answer_error(exchange, body.error());
  Value& review = body->value;
  if (const auto wrong = settle_fields(kind, review, body->duplicates, options->validation, exchange.warnings)) {
    return answer_error(exchange, *wrong);
  }
  review.at("metadata").set("creationTimestamp", nullptr);
  const Value spec = review["spec"];
  if (kind.kind == "SelfSubjectReview") {
    review.at("metadata").set("creationTimestamp", format_timestamp(parts.now()));
    review.set("status", Value::map_of({{"userInfo", user_info(exchange.user)}}));
  } else if (kind.kind == "TokenReview") {
    review.set("status", token_status(parts, spec));
    review.at("spec").erase("token");  // a secret is not said twice
  } else if (kind.kind == "SelfSubjectRulesReview") {
    Value status = parts.authorizer.rules_of(exchange.user, spec["namespace"].text());
    status.set("incomplete", false);
    review.set("status", std::move(status));
  } else {
    if (const auto wrong = wrong_access_review(exchange, review)) return answer_error(exchange, *wrong);
    const bool self = kind.kind == "SelfSubjectAccessReview";
    review.set("status", access_status(parts, self ? exchange.user : subject_of(spec), spec));
  }
  answer_value(exchange, 201, review);
}

}  // namespace berth
