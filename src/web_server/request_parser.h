// Bytes into one request (Boost.Beast's grammar), within limits. No sockets: whoever has bytes gives them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "web_server/http.h"

namespace berth {

struct ParserLimits {
  std::size_t header_bytes_max = 0;
  std::size_t body_bytes_max = 0;
};

class RequestParser {
 public:
  enum class State { kHead, kBody, kDone, kRefused };

  explicit RequestParser(ParserLimits limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // How many of the bytes were used. Those that were not must be given again, with more behind them; what belongs to the
  // next request is never used. PRE: state is kHead or kBody.
  std::size_t take(std::string_view bytes);

  State state() const;
  // kBody: the client waits for "100 Continue" before it sends the body.
  bool expects_continue() const;
  // kDone: whether the connection may carry another request, and whether chunked replies are understood (HTTP/1.1).
  bool keep_alive() const;
  bool understands_chunks() const;
  std::size_t body_bytes() const;  // so far
  // kDone, once: everything but the peer.
  HttpRequest take_request();
  // kRefused: what to answer before closing.
  HttpReply refusal() const;

 private:
  class Grammar;
  std::unique_ptr<Grammar> grammar_;
};

}  // namespace berth
