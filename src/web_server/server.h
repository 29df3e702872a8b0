// An HTTP/1.1 server (Boost.Beast) with TLS (OpenSSL), bounded in every direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "web_server/http.h"

namespace berth {

struct WebServerOptions {
  std::string address = "127.0.0.1";  // or "::1", "0.0.0.0"
  std::uint16_t port = 0;             // 0 = any free one
  // PEM texts. Without a certificate it speaks plain HTTP, on loopback only: start() refuses anything else.
  std::string certificate = {}, private_key = {};
  std::string client_ca = {};  // client certificates signed by it are believed; others are refused
  int threads = 2;
  std::size_t connections_max = 20'000;  // further ones are accepted and closed at once
  std::size_t header_bytes_max = 64 << 10;
  std::size_t body_bytes_max = 3 << 20;            // beyond it: 413, as Kubernetes words it
  std::size_t all_requests_bytes_max = 512 << 20;  // of requests that have not arrived whole; beyond it: 503
  std::size_t stream_bytes_waiting_max = 8 << 20;  // of one slow reader; the chunk that passes it is taken
  // Of all readers, of streams and of replies, that is held for them alone; beyond it, the one with most is closed.
  std::size_t all_bytes_waiting_max = 1024U << 20;
  // How fast a reply must be read, over its whole length and beside request_s: held memory is not a slow reader's.
  std::size_t reply_bytes_per_second_min = 64 << 10;
  int idle_s = 120;  // of a connection between requests
  // For the TLS handshake; for a whole request, head and body; for some progress of a reply's reader.
  int request_s = 30;
};

class WebServer {
 public:
  // Listens; `handler` is called on the server's threads and must not block. One request of a connection at a time; a
  // client that closes its end, or its sending half, while a request is answered is gone.
  static Result<std::unique_ptr<WebServer>> start(WebServerOptions options, HttpHandler handler);
  // Stops: closes every connection, joins the threads. Answers that come later have no effect. PRE: not on one of them.
  virtual ~WebServer() = default;
  virtual std::uint16_t port() const = 0;
};

}  // namespace berth
