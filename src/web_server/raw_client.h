// A client of one socket that says exactly what it is told, for tests and benchmarks of the server. Every wait ends after
// ten seconds: as if the server had closed.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace berth {

struct RawReply {
  int status = 0;  // 0: none came
  std::string head;
  std::string body;
  bool whole = false;
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (receive_bytes > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  virtual ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  // False: the other end does not take it any more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::ptrdiff_t sent = send_some(bytes);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Up to and with `end`; all that came if it does not come.
  std::string read_to(std::string_view end) {
    std::size_t found = received_.find(end);
    while (found == std::string::npos && receive()) found = received_.find(end);
    return take(found == std::string::npos ? received_.size() : found + end.size());
  }

  std::string read_bytes(std::size_t bytes) {
    while (received_.size() < bytes && receive()) {
    }
    return take(std::min(bytes, received_.size()));
  }

  // One chunk of a stream; empty for the last one, and when none came.
  std::string read_chunk() {
    const std::size_t bytes = std::strtoull(read_to("\r\n").c_str(), nullptr, 16);
    std::string chunk = read_bytes(bytes);
    read_to("\r\n");
    return chunk;
  }

  RawReply read_reply() {
    RawReply reply;
    reply.head = read_to("\r\n\r\n");
    if (reply.head.starts_with("HTTP/1.1 ")) reply.status = std::atoi(reply.head.c_str() + 9);
    const std::size_t length = reply.head.find("Content-Length: ");
    if (length != std::string::npos) {
      const std::size_t bytes = std::strtoull(reply.head.c_str() + length + 16, nullptr, 10);
      reply.body = read_bytes(bytes);
      reply.whole = reply.body.size() == bytes;
    }
    return reply;
  }

  RawReply ask(std::string_view request) {
    send(request);
    return read_reply();
  }

  // Whether nothing more comes because the other end has closed.
  bool closed_by_server() {
    while (receive()) {
    }
    return over_;
  }

 protected:
  virtual std::ptrdiff_t send_some(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // 0 or less: nothing came; 0: the other end has closed.
  virtual std::ptrdiff_t receive_some(char* bytes, std::size_t bytes_max) {
    const std::ptrdiff_t received = ::recv(socket_, bytes, bytes_max, 0);
    return received < 0 && errno == ECONNRESET ? 0 : received;
  }

  int socket_;

 private:
  bool receive() {
    char bytes[16 << 10];
    const std::ptrdiff_t received = receive_some(bytes, sizeof bytes);
    if (received > 0) received_.append(bytes, static_cast<std::size_t>(received));
    over_ = received == 0;
    return received > 0;
  }

  std::string take(std::size_t bytes) {
    std::string taken = received_.substr(0, bytes);
    received_.erase(0, bytes);
    return taken;
  }

  std::string received_;
  bool over_ = false;
};

}  // namespace berth
