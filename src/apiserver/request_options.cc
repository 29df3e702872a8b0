#include "apiserver/request_options.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wording.h"
#include "manifest/json.h"

namespace berth {
namespace {

constexpr std::size_t kFieldManagerMax = 128;
constexpr std::size_t kSelectorBytesMax = 32 << 10;
constexpr std::int64_t kTimeoutMax_s = 24 * 3600;
constexpr std::int64_t kGraceMax_s = 365LL * 24 * 3600;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

ApiError wrong_option(std::string_view options, ErrorCause cause) {
  return invalid_named(options, "meta.k8s.io", "", {std::move(cause)});
}

// The number of a parameter; `otherwise` when it is missing or empty.
std::expected<std::int64_t, ApiError> number_of(const HttpRequest& request, const char* parameter,
                                                std::int64_t otherwise) {
  const std::string* const text = request.parameter(parameter);
  if (text == nullptr || text->empty()) return otherwise;
  const auto number = whole_number(*text);
  if (number) return *number;
  return std::unexpected(
      bad_request(std::string(parameter) + ": " + quote(*text) + " is no whole number of 0 or more"));
}

std::expected<bool, ApiError> dry_run_of(const HttpRequest& request, std::string_view options) {
  bool dry = false;
  for (const auto& [name, value] : request.query) {
    if (name != "dryRun" || value.empty()) continue;
    if (value != "All") return std::unexpected(wrong_option(options, unsupported_value("dryRun", value, {"All"})));
    dry = true;
  }
  return dry;
}

// base64url without padding, as Kubernetes writes it.
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encoded(std::string_view bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    held += 8;
    while (held >= 6) {
      held -= 6;
      out += kBase64[(bits >> held) & 63U];
    }
  }
  if (held > 0) out += kBase64[(bits << (6 - held)) & 63U];
  return out;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = kBase64.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>((bits >> held) & 0xffU);
  }
  return out;
}

std::optional<ApiError> read_continue(const std::string& token, std::string_view prefix, ListOptions& options) {
  const ApiError wrong =
      bad_request("continue key is not valid: take it from the previous page as it is, or list again without it");
  const auto text = decoded(token);
  if (!text) return wrong;
  const auto parsed = parse_json(*text, {.depth_max = 4, .values_max = 16});
  if (!parsed) return wrong;
  const Value& start = (*parsed)["start"];
  options.continue_revision = (*parsed)["rv"].integer();
  if ((*parsed)["v"].text() != "meta.k8s.io/v1" || options.continue_revision <= 0 || start.text().empty()) return wrong;
  options.continue_after = std::string(prefix) + std::string(start.text());
  return std::nullopt;
}

std::optional<ApiError> read_revision(const HttpRequest& request, ListOptions& options) {
  const std::string* const text = request.parameter("resourceVersion");
  if (text == nullptr || text->empty()) return std::nullopt;
  options.revision = whole_number(*text);
  if (options.revision) return std::nullopt;
  return wrong_option("ListOptions",
                      invalid_value("resourceVersion", *text, "must be the resourceVersion of an earlier reply"));
}

std::optional<ApiError> read_match(const HttpRequest& request, ListOptions& options) {
  const auto wrong = [](std::string_view why) {
    return wrong_option("ListOptions", forbidden_value("resourceVersionMatch", why));
  };
  const std::string* const text = request.parameter("resourceVersionMatch");
  if (text == nullptr || text->empty()) {
    if (!options.initial_events) return std::nullopt;
    return wrong("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (*text != "Exact" && *text != "NotOlderThan") {
    return wrong_option("ListOptions", unsupported_value("resourceVersionMatch", *text, {"Exact", "NotOlderThan"}));
  }
  options.match = *text == "Exact" ? RevisionMatch::kExact : RevisionMatch::kNotOlderThan;
  if (options.watch) {
    if (!options.initial_events)
      return wrong("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (options.match == RevisionMatch::kExact)
      return wrong("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    return std::nullopt;
  }
  if (!options.revision) return wrong("resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (options.match == RevisionMatch::kExact && options.revision == Revision{0}) {
    return wrong("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  if (request.parameter("continue") != nullptr && !request.parameter("continue")->empty()) {
    return wrong("resourceVersionMatch is forbidden when continue is provided");
  }
  return std::nullopt;
}

std::optional<ApiError> read_selectors(const HttpRequest& request, ListOptions& options) {
  for (const char* const parameter : {"labelSelector", "fieldSelector"}) {
    const std::string* const text = request.parameter(parameter);
    if (text != nullptr && text->size() > kSelectorBytesMax) {
      return bad_request(std::string(parameter) + ": longer than " + std::to_string(kSelectorBytesMax) + " bytes");
    }
  }
  if (const std::string* const text = request.parameter("labelSelector"); text != nullptr && !text->empty()) {
    auto parsed = LabelSelector::parse(*text);
    if (!parsed) return bad_request("unable to parse labelSelector: " + parsed.error().to_string());
    options.labels = *std::move(parsed);
  }
  if (const std::string* const text = request.parameter("fieldSelector"); text != nullptr && !text->empty()) {
    auto parsed = FieldSelector::parse(*text);
    if (!parsed) return bad_request("unable to parse fieldSelector: " + parsed.error().to_string());
    options.fields = *std::move(parsed);
  }
  return std::nullopt;
}

// How dependents are treated; the older "orphanDependents" is understood as well.
std::optional<ApiError> read_propagation(std::string_view text, DeleteOptions& options) {
  if (text.empty() || text == "Background") return std::nullopt;
  if (text == "Foreground") {
    options.propagation = Propagation::kForeground;
  } else if (text == "Orphan") {
    options.propagation = Propagation::kOrphan;
  } else {
    return wrong_option("DeleteOptions",
                        unsupported_value("propagationPolicy", text, {"Foreground", "Background", "Orphan"}));
  }
  return std::nullopt;
}

std::optional<ApiError> read_grace(const HttpRequest& request, const Value& body, DeleteOptions& options) {
  const std::string* const text = request.parameter("gracePeriodSeconds");
  const Value* const given = body.find("gracePeriodSeconds");
  if (given != nullptr && !given->is_null()) {
    if (given->kind() != Value::Kind::kInteger) {
      return bad_request("DeleteOptions: gracePeriodSeconds is no whole number");
    }
    options.grace_s = given->integer();
  } else if (text != nullptr && !text->empty()) {
    options.grace_s = whole_number(*text).value_or(-1);
  }
  if (!options.grace_s || (*options.grace_s >= 0 && *options.grace_s <= kGraceMax_s)) return std::nullopt;
  return wrong_option("DeleteOptions",
                      invalid_value("gracePeriodSeconds", *options.grace_s, "must be from 0 to a year"));
}

}  // namespace

bool is_set(const HttpRequest& request, std::string_view parameter) {
  const std::string* const text = request.parameter(parameter);
  return text != nullptr && *text != "false" && *text != "0";
}

std::expected<WriteOptions, ApiError> read_write_options(const HttpRequest& request, std::string_view name) {
  WriteOptions options;
  const auto dry = dry_run_of(request, name);
  if (!dry) return std::unexpected(dry.error());
  options.dry_run = *dry;
  options.force = is_set(request, "force");
  const std::string* const manager = request.parameter("fieldManager");
  options.field_manager_given = manager != nullptr && !manager->empty();
  if (options.field_manager_given) {
    options.field_manager = *manager;
    if (manager->size() > kFieldManagerMax) {
      return std::unexpected(
          wrong_option(name, {"FieldValueTooLong", "Too long: must have at most 128 bytes", "fieldManager"}));
    }
    if (has_control_characters(*manager)) {
      return std::unexpected(
          wrong_option(name, invalid_value("fieldManager", quote(*manager), "must be printable characters")));
    }
  } else {
    const std::string_view agent = request.header("user-agent");
    options.field_manager = std::string(agent.substr(0, std::min(agent.find('/'), kFieldManagerMax)));
    if (options.field_manager.empty() || has_control_characters(options.field_manager))
      options.field_manager = "unknown";
  }
  const std::string* const validation = request.parameter("fieldValidation");
  if (validation == nullptr || validation->empty() || *validation == "Warn") return options;
  if (*validation == "Ignore") {
    options.validation = FieldValidation::kIgnore;
  } else if (*validation == "Strict") {
    options.validation = FieldValidation::kStrict;
  } else {
    return std::unexpected(
        wrong_option(name, unsupported_value("fieldValidation", *validation, {"Ignore", "Warn", "Strict"})));
  }
  return options;
}

std::expected<ListOptions, ApiError> read_list_options(const HttpRequest& request, const Route& route) {
  ListOptions options;
  options.watch = route.legacy_watch || is_set(request, "watch");
  options.bookmarks = is_set(request, "allowWatchBookmarks");
  if (request.parameter("sendInitialEvents") != nullptr) options.initial_events = is_set(request, "sendInitialEvents");
  const auto limit = number_of(request, "limit", 0);
  if (!limit) return std::unexpected(limit.error());
  options.limit = static_cast<std::size_t>(*limit);
  const auto timeout = number_of(request, "timeoutSeconds", 0);
  if (!timeout) return std::unexpected(timeout.error());
  options.timeout_s = std::min(*timeout, kTimeoutMax_s);
  if (auto wrong = read_selectors(request, options)) return std::unexpected(*std::move(wrong));
  if (auto wrong = read_revision(request, options)) return std::unexpected(*std::move(wrong));
  if (options.initial_events && !options.watch) {
    return std::unexpected(
        wrong_option("ListOptions", forbidden_value("sendInitialEvents", "sendInitialEvents is forbidden for list")));
  }
  if (auto wrong = read_match(request, options)) return std::unexpected(*std::move(wrong));
  const std::string* const token = request.parameter("continue");
  if (token == nullptr || token->empty() || options.watch) return options;
  if (options.revision && *options.revision != 0) {
    return std::unexpected(bad_request("specifying resource version is not allowed when using continue"));
  }
  if (auto wrong = read_continue(*token, route.prefix(), options)) return std::unexpected(*std::move(wrong));
  return options;
}

std::string continue_token(Revision revision, std::string_view after_key) {
  std::string text = R"({"v":"meta.k8s.io/v1","rv":)" + std::to_string(revision) + R"(,"start":)";
  append_json_text(after_key, text);
  return encoded(text + "}");
}

std::expected<DeleteOptions, ApiError> read_delete_options(const HttpRequest& request, const Value& body) {
  DeleteOptions options;
  if (!body.is_null() && !body.is_map()) return std::unexpected(bad_request("DeleteOptions: the body is no object"));
  const std::string_view kind = body["kind"].text();
  if (!kind.empty() && kind != "DeleteOptions") {
    return std::unexpected(bad_request("the body of a DELETE is DeleteOptions, not " + quote(kind)));
  }
  const auto dry = dry_run_of(request, "DeleteOptions");
  if (!dry) return std::unexpected(dry.error());
  options.dry_run = *dry;
  for (const Value& each : body["dryRun"].items()) {
    if (each.text() != "All") {
      return std::unexpected(wrong_option("DeleteOptions", unsupported_value("dryRun", each, {"All"})));
    }
    options.dry_run = true;
  }
  if (auto wrong = read_grace(request, body, options)) return std::unexpected(*std::move(wrong));
  const std::string* const policy = request.parameter("propagationPolicy");
  std::string_view propagation = body["propagationPolicy"].text(policy == nullptr ? std::string_view() : *policy);
  if (!propagation.empty() && body["orphanDependents"].is_bool()) {
    return std::unexpected(wrong_option(
        "DeleteOptions",
        invalid_value("propagationPolicy", propagation, "orphanDependents says the same: give one of the two")));
  }
  if (propagation.empty() && (body["orphanDependents"].truth() || (request.parameter("orphanDependents") != nullptr &&
                                                                   is_set(request, "orphanDependents")))) {
    propagation = "Orphan";
  }
  if (auto wrong = read_propagation(propagation, options)) return std::unexpected(*std::move(wrong));
  options.uid = std::string(body["preconditions"]["uid"].text());
  options.revision = std::string(body["preconditions"]["resourceVersion"].text());
  return options;
}

}  // namespace berth
