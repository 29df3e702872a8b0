// The first lines of a reply, and the replies that the server gives by itself. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "web_server/http.h"

namespace berth {

// How the other end finds the end of the body: by its length, by the last chunk, or (neither) by the connection's end.
struct Framing {
  std::optional<std::size_t> content_length;
  bool chunked = false;
  bool keep_alive = true;
};

// Whether a reply of this status may have a body at all.
bool has_body(int status);

// Up to and with the empty line. `reply`'s body is not looked at. Headers that the framing decides (Content-Length,
// Transfer-Encoding, Connection, Date) are ours; others of `reply` are sent without their control characters.
std::string reply_head(const HttpReply& reply, const Framing& framing, std::int64_t now_s);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::int64_t seconds_since_1970);

HttpReply text_reply(int status, const std::string& text);
// A failure as Kubernetes' clients understand it. PRE: neither text needs escapes in JSON.
HttpReply status_reply(int code, std::string_view reason, const std::string& message);

}  // namespace berth
