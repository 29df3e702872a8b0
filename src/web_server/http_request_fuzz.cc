// Any bytes, cut anywhere, are a request within the limits, a refusal, or not whole yet; cutting changes nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/wording.h"
#include "web_server/request_parser.h"
#include "web_server/request_target.h"

namespace {

using berth::RequestParser;

constexpr berth::ParserLimits kLimits{.header_bytes_max = 512, .body_bytes_max = 256};

struct Outcome {
  RequestParser::State state;
  std::string method, path, body;
  std::size_t headers = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

bool unfinished(const RequestParser& parser) {
  return parser.state() == RequestParser::State::kHead || parser.state() == RequestParser::State::kBody;
}

Outcome parsed(std::string_view bytes, std::size_t step) {
  RequestParser parser(kLimits);
  std::string unread;
  while (!bytes.empty() && unfinished(parser)) {
    unread += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    unread.erase(0, parser.take(unread));
    BERTH_ASSERT(!unfinished(parser) || unread.size() <= kLimits.header_bytes_max + step);
    BERTH_ASSERT(parser.body_bytes() <= kLimits.body_bytes_max);
  }
  if (parser.state() == RequestParser::State::kRefused) BERTH_ASSERT(parser.refusal().status >= 400);
  if (parser.state() != RequestParser::State::kDone) return {parser.state(), {}, {}, {}, 0};
  const berth::HttpRequest request = parser.take_request();
  BERTH_ASSERT(request.path.starts_with('/') && !berth::has_control_characters(request.path));
  return {RequestParser::State::kDone, request.method, request.path, request.body, request.headers.size()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto target = berth::parse_request_target(text);
  BERTH_ASSERT(target || target.error().to_string().size() < 1024);
  const Outcome whole = parsed(text, std::max<std::size_t>(size, 1));
  for (const std::size_t step : {1U, 3U, 17U}) {
    const Outcome cut = parsed(text, step);
    // Bytes that come one by one may be refused sooner, and whole ones may be refused for what follows; never the reverse
    // of an understood request.
    BERTH_ASSERT(whole.state != RequestParser::State::kDone || cut == whole);
    BERTH_ASSERT(cut.state != RequestParser::State::kDone || cut == whole);
  }
  return 0;
}
