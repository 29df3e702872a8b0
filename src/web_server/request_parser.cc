#include "web_server/request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/wording.h"
#include "web_server/reply_head.h"
#include "web_server/request_target.h"

namespace berth {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view text_of(beast::string_view text) { return {text.data(), text.size()}; }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower;
}

// The shortest end of a chunked body. Beast's parser asserts that it sees this much when it looks at an unfinished last
// chunk again; a client that sends single bytes must not reach that assertion.
constexpr std::size_t kLastChunkBytes = std::string_view("0\r\n\r\n").size();

}  // namespace

// What Beast finds, as our request. Trailers are understood and dropped: nobody signs up for headers after the body.
class RequestParser::Grammar : public http::basic_parser<true> {
 public:
  explicit Grammar(ParserLimits limits) : limits_(limits) {
    header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(limits.header_bytes_max, UINT32_MAX)));
    body_limit(limits.body_bytes_max);
    eager(true);
  }

  std::size_t take(std::string_view bytes) {
    std::size_t used = 0;
    while (state == State::kHead || state == State::kBody) {
      const std::string_view rest = bytes.substr(used);
      if (rest.empty() || (between_chunks() && rest.size() < kLastChunkBytes)) break;
      beast::error_code error;
      used += put(boost::asio::const_buffer(rest.data(), rest.size()), error);
      if (error == http::error::need_more) {
        // The head has Beast's own limit; a chunk's first line and trailers have this one.
        if (bytes.size() - used > limits_.header_bytes_max) refuse(http::error::header_limit);
        break;
      }
      if (error) {
        refuse(error);
      } else {
        state = is_done() ? State::kDone : State::kBody;
      }
    }
    return used;
  }

  State state = State::kHead;
  HttpRequest request;
  HttpReply refusal;
  bool expects_continue = false;
  bool understands_chunks = false;

 private:
  bool between_chunks() const { return state == State::kBody && chunked() && chunk_bytes_left_ == 0; }

  void refuse(beast::error_code error) {
    state = State::kRefused;
    if (!refusal.body.empty()) return;  // our own words say more
    if (error == http::error::header_limit) {
      refusal = text_reply(431, "Request header too large: limit is " + std::to_string(limits_.header_bytes_max));
    } else if (error == http::error::body_limit) {
      refusal = status_reply(413, "RequestEntityTooLarge",
                             "Request entity too large: limit is " + std::to_string(limits_.body_bytes_max));
    } else {
      refusal = text_reply(400, "Bad request: " + error.message());
    }
  }

  void refuse_with(int status, std::string text, beast::error_code& error) {
    refusal = text_reply(status, text);
    error = http::error::bad_value;
  }

  void on_request_impl(http::verb, beast::string_view method, beast::string_view target, int version,
                       beast::error_code& error) override {
    Result<RequestTarget> parsed = parse_request_target(text_of(target));
    if (!parsed) return refuse_with(400, "Bad request: " + parsed.error().to_string(), error);
    request.method = text_of(method);
    request.path = std::move(parsed->path);
    request.query = std::move(parsed->query);
    understands_chunks = version >= 11;
  }

  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     beast::error_code& error) override {
    if (head_done_) return;
    // Beast lets tabs and bytes above 127 through. The former are harmless, the latter must not reach JSON replies.
    if (!std::ranges::all_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
      return refuse_with(400, "Bad request: header " + quote(text_of(name)) + " is not ASCII", error);
    }
    request.headers.emplace_back(lower_case(text_of(name)), text_of(value));
  }

  void on_header_impl(beast::error_code& error) override {
    head_done_ = true;
    const auto hosts = std::ranges::count(request.headers, "host", [](const auto& header) { return header.first; });
    if (hosts > 1 || (hosts == 0 && understands_chunks)) {
      return refuse_with(400, "Bad request: one Host header is needed", error);
    }
    const std::string_view coding = request.header("transfer-encoding");
    if (!coding.empty() && lower_case(coding) != "chunked") {
      return refuse_with(501, "Transfer-Encoding " + quote(coding) + " is not understood; use chunked", error);
    }
    if (!coding.empty() && !understands_chunks) {
      return refuse_with(400, "Bad request: HTTP/1.0 has no Transfer-Encoding; give Content-Length", error);
    }
    const std::string_view expected = request.header("expect");
    if (!expected.empty() && lower_case(expected) != "100-continue") {
      return refuse_with(417, "Expect " + quote(expected) + " is not understood; use 100-continue", error);
    }
    expects_continue = !expected.empty() && understands_chunks;
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}

  std::size_t on_body_impl(beast::string_view bytes, beast::error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  void on_chunk_header_impl(std::uint64_t size, beast::string_view, beast::error_code&) override {
    chunk_bytes_left_ = size;
  }

  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view bytes, beast::error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    chunk_bytes_left_ -= bytes.size();
    return bytes.size();
  }

  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
  void on_finish_impl(beast::error_code&) override {}

  ParserLimits limits_;
  bool head_done_ = false;
  std::uint64_t chunk_bytes_left_ = 0;
};

RequestParser::RequestParser(ParserLimits limits) : grammar_(std::make_unique<Grammar>(limits)) {}
RequestParser::~RequestParser() = default;

std::size_t RequestParser::take(std::string_view bytes) { return grammar_->take(bytes); }
RequestParser::State RequestParser::state() const { return grammar_->state; }
bool RequestParser::expects_continue() const { return grammar_->expects_continue; }
bool RequestParser::keep_alive() const { return grammar_->keep_alive(); }
bool RequestParser::understands_chunks() const { return grammar_->understands_chunks; }
std::size_t RequestParser::body_bytes() const { return grammar_->request.body.size(); }
HttpRequest RequestParser::take_request() { return std::move(grammar_->request); }
HttpReply RequestParser::refusal() const { return grammar_->refusal; }

}  // namespace berth
