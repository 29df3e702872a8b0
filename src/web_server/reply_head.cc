#include "web_server/reply_head.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

namespace {

std::string_view reason_phrase(int status) {
  constexpr std::pair<int, std::string_view> kPhrases[] = {
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {413, "Request Entity Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {422, "Unprocessable Entity"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  const auto* const found = std::ranges::find(kPhrases, status, &std::pair<int, std::string_view>::first);
  return found == std::end(kPhrases) ? "Status" : found->second;
}

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool is_ours(std::string_view name) {
  constexpr std::string_view kOurs[] = {"content-length", "transfer-encoding", "connection", "date", "content-type"};
  return std::ranges::any_of(kOurs, [name](std::string_view ours) { return same_name(name, ours); });
}

// A value may come from a user's object; a line break in it would begin a header of the user's choice.
void append_header(std::string& head, std::string_view name, std::string_view value) {
  const auto harmless = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c; };
  std::ranges::transform(name, std::back_inserter(head), harmless);
  head += ": ";
  std::ranges::transform(value, std::back_inserter(head), harmless);
  head += "\r\n";
}

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string http_date(std::int64_t seconds_since_1970) {
  const auto time = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  gmtime_r(&time, &parts);
  // By hand: strftime's names depend on the locale.
  constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto two = [](int n) { return std::string{static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)}; };
  std::string date(kDays.substr(static_cast<std::size_t>(parts.tm_wday) * 3, 3));
  date += ", " + two(parts.tm_mday) + " ";
  date += kMonths.substr(static_cast<std::size_t>(parts.tm_mon) * 3, 3);
  date += " " + std::to_string(parts.tm_year + 1900) + " ";
  date += two(parts.tm_hour) + ":" + two(parts.tm_min) + ":" + two(parts.tm_sec) + " GMT";
  return date;
}

std::string reply_head(const HttpReply& reply, const Framing& framing, std::int64_t now_s) {
  std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " ";
  head += reason_phrase(reply.status);
  head += "\r\n";
  bool cache_control = false;
  for (const auto& [name, value] : reply.headers) {
    if (is_ours(name)) continue;
    cache_control = cache_control || same_name(name, "cache-control");
    append_header(head, name, value);
  }
  if (!cache_control) append_header(head, "Cache-Control", "no-cache, private");
  if (has_body(reply.status)) append_header(head, "Content-Type", reply.content_type);
  append_header(head, "Date", http_date(now_s));
  if (framing.content_length) append_header(head, "Content-Length", std::to_string(*framing.content_length));
  if (framing.chunked) append_header(head, "Transfer-Encoding", "chunked");
  if (!framing.keep_alive) append_header(head, "Connection", "close");
  head += "\r\n";
  return head;
}

HttpReply text_reply(int status, const std::string& text) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = text + "\n"};
}

HttpReply status_reply(int code, std::string_view reason, const std::string& message) {
  std::string body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message;
  body += R"(","reason":")";
  body += reason;
  body += R"(","code":)" + std::to_string(code) + "}";
  return {.status = code, .content_type = "application/json", .body = std::move(body)};
}

}  // namespace berth
