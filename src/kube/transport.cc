#include "kube/transport.h"

#include <algorithm>
#include <cstdint>
#include <future>
#include <optional>

#include "base/assert.h"
#include "base/wording.h"
#include "manifest/json.h"
#include "manifest/kinds.h"
#include "manifest/value.h"

namespace berth {
namespace {

// A Status object is small; what is larger is something else and not worth parsing.
constexpr std::size_t kStatusMax = 1 << 20;

std::optional<Value> status_in(std::string_view body) {
  if (body.empty() || body.size() > kStatusMax || body.front() != '{') return std::nullopt;
  Result<Value> parsed = parse_json(body);
  if (!parsed || (*parsed)["kind"].text() != "Status") return std::nullopt;
  return std::move(*parsed);
}

std::string_view usual_name(int status) {
  switch (status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "NotFound";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 429:
      return "TooManyRequests";
    case 500:
      return "InternalError";
    case 503:
      return "ServiceUnavailable";
    case 504:
      return "Timeout";
    default:
      return "";
  }
}

// What somebody else wrote, without what could break a line or a terminal, and not longer than an event's note.
std::string one_line(std::string_view text) {
  constexpr std::size_t kBytesMax = 1000;
  std::string line(text.substr(0, kBytesMax));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  if (text.size() > kBytesMax) line += "...";
  return line;
}

const KindInfo& kind_of(std::string_view qualified) {
  const std::vector<KindInfo>& kinds = served_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const KindInfo& kind) { return kind.qualified() == qualified; });
  BERTH_ASSERT(found != kinds.end());
  return *found;
}

}  // namespace

ApiAnswer send_and_wait(Transport& transport, ApiCall call) {
  // Shared: the transport's thread may still be inside set_value() when the waiting one goes on.
  const auto answered = std::make_shared<std::promise<ApiAnswer>>();
  std::future<ApiAnswer> answer = answered->get_future();
  transport.send(std::move(call), [answered](ApiAnswer got) { answered->set_value(std::move(got)); });
  return answer.get();
}

std::string percent_encoded(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out;
}

std::string api_path(std::string_view qualified, std::string_view name_space, std::string_view name,
                     std::string_view subresource) {
  const KindInfo& kind = kind_of(qualified);
  std::string path = kind.group.empty() ? "/api/" : "/apis/" + kind.group + "/";
  path += kind.version;
  if (kind.namespaced && !name_space.empty()) path += "/namespaces/" + percent_encoded(name_space);
  path += "/" + kind.plural;
  if (!name.empty()) path += "/" + percent_encoded(name);
  if (!subresource.empty()) path += "/" + percent_encoded(subresource);
  return path;
}

std::string text_of_failure(const ApiAnswer& answer) {
  if (answer.status == 0) return answer.body.empty() ? "no answer came" : one_line(answer.body);
  const std::optional<Value> status = status_in(answer.body);
  std::string text = std::to_string(answer.status);
  const std::string_view reason = status ? (*status)["reason"].text() : std::string_view();
  const std::string_view name = reason.empty() ? usual_name(answer.status) : reason;
  if (!name.empty()) text += " " + one_line(name);
  const std::string_view message = status ? (*status)["message"].text() : std::string_view(answer.body);
  if (!message.empty()) text += ": " + one_line(message);
  return text;
}

std::string warning_in(std::string_view header) {
  const std::size_t begin = header.find('"');
  if (begin == std::string_view::npos) return "";
  std::string text;
  for (std::size_t i = begin + 1; i < header.size() && header[i] != '"'; ++i) {
    if (header[i] == '\\' && i + 1 < header.size()) ++i;
    text += header[i];
  }
  return text;
}

int retry_after_s_in(std::string_view body) {
  const std::optional<Value> status = status_in(body);
  if (!status) return 0;
  return static_cast<int>(std::clamp<std::int64_t>((*status)["details"]["retryAfterSeconds"].integer(), 0, 3600));
}

}  // namespace berth
