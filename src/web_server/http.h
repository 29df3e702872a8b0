// HTTP/1.1 as handlers see it. Sockets, TLS, limits and slow clients are the server's business (server.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

// Who is at the other end, as far as the connection proves it.
struct Peer {
  std::string address;  // "127.0.0.1:51234"
  bool loopback = false;
  bool tls = false;
  // Of a client certificate that the server's CA signed; empty without one.
  std::string certificate_name;                 // CN
  std::vector<std::string> certificate_groups;  // O
};

struct HttpRequest {
  std::string method;                                        // "GET"
  std::string path;                                          // percent-decoded, without the query: "/api/v1/pods"
  std::vector<std::pair<std::string, std::string>> query;    // decoded, in order
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  Peer peer;

  std::string_view header(std::string_view lower_case_name) const;  // "" if there is none
  const std::string* parameter(std::string_view name) const;        // the first of that name
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
  // Instead of `body`: parts that are shared with others and are sent one after the other (a list's objects).
  std::vector<std::shared_ptr<const std::string>> parts = {};
};

// A chunked reply that goes on: a watch, a log. Any thread may call any of it; after the end nothing has any effect.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // Sent as one chunk, in order. False: the other end is gone or reads too slowly (its bound of waiting bytes was
  // passed and the connection is being closed).
  virtual bool write(std::shared_ptr<const std::string> chunk) = 0;
  virtual void end() = 0;
  // Runs once when the connection is lost or the stream has ended; at once if it is so already.
  virtual void on_closed(std::function<void()> closed) = 0;
  virtual bool open() const = 0;
};

// The one answer to one request; any thread, now or later. Dropped without an answer, it is a 500.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void reply(HttpReply reply) = 0;
  virtual std::shared_ptr<HttpStream> start_stream(int status, std::string content_type,
                                                   std::vector<std::pair<std::string, std::string>> headers = {}) = 0;
};

using HttpHandler = std::function<void(HttpRequest, std::shared_ptr<Responder>)>;

}  // namespace berth
