#include "web_server/request_target.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"

namespace berth {

namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

Complaints complain(std::string text) { return Complaints({"request target"}, std::move(text)); }

Result<std::string> decode_path(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    const std::string_view escape = text.substr(at, 3);
    if (escape == "%2F" || escape == "%2f") {
      return complain("the path " + quote(text) + " has an escaped slash; no object's name has one");
    }
  }
  Result<std::string> path = percent_decode(text, Plus::kIsPlus);
  if (path && has_control_characters(*path)) {
    return complain("the path " + quote(*path) + " has control characters; leave them out");
  }
  return path;
}

// "http://host:80/path?query" -> "/path?query".
std::string_view without_origin(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t path = target.find_first_of("/?", scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kIsSpace) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const auto high = i + 1 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
      if (!high || !low) {
        return complain(quote(text.substr(i, 3)) +
                        " is no escape of two hexadecimal digits; write %25 for a percent sign");
      }
      decoded += static_cast<char>(*high * 16 + *low);
      i += 2;
    }
  }
  if (decoded.find('\0') != std::string::npos) return complain(quote(text) + " has a zero byte; leave it out");
  if (!is_utf8(decoded)) return complain(quote(text) + " is not UTF-8 when decoded; encode it as UTF-8");
  return decoded;
}

Result<RequestTarget> parse_request_target(std::string_view target) {
  target = without_origin(target);
  if (target.find('#') != std::string_view::npos) {
    return complain(quote(target) + " has a '#'; a fragment is not sent to a server");
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  if (!target.starts_with('/')) return complain(quote(target) + " is no path; begin it with '/'");
  Result<std::string> path = decode_path(target.substr(0, question));
  if (!path) return path.error();

  RequestTarget parsed{.path = std::move(*path), .query = {}};
  std::string_view rest = target.substr(question);
  while (!rest.empty()) {
    rest.remove_prefix(1);  // '?' or '&'
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(pair.size());
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    Result<std::string> name = percent_decode(pair.substr(0, equals), Plus::kIsSpace);
    if (!name) return name.error();
    Result<std::string> value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), Plus::kIsSpace);
    if (!value) return value.error();
    parsed.query.emplace_back(std::move(*name), std::move(*value));
  }
  return parsed;
}

}  // namespace berth
