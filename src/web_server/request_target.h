// What stands between the method and the version of a request line: path and query, percent-decoded. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth {

// INVARIANT: everything in it is UTF-8 without U+0000; the path begins with '/' and has no control characters, so both
// may be quoted in replies and logs.
struct RequestTarget {
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;  // in order; "a" alone is {"a", ""}
};

// "/api/v1/pods?limit=500" or "http://host/api/v1/pods". "%2F" in the path is refused: decoded it could not be told
// from a separator any more.
Result<RequestTarget> parse_request_target(std::string_view target);

// "a%20b" -> "a b". With Plus::kIsSpace also "a+b" -> "a b", as forms and Go's url.Values write it.
enum class Plus { kIsPlus, kIsSpace };
Result<std::string> percent_decode(std::string_view text, Plus plus);

}  // namespace berth
