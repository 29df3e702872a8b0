#include "kube/curl_transport.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace berth::curl_transport_test {

// One connection as the server's side sees it: bytes.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}

  // Head and body of the next request; empty when the client has gone.
  std::string read_request() {
    while (true) {
      const std::size_t head = read_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t length_at = read_.find("Content-Length: ");
        const std::size_t body = length_at < head ? std::stoul(read_.substr(length_at + 16)) : 0;
        if (read_.size() >= head + 4 + body) {
          std::string request = read_.substr(0, head + 4 + body);
          read_.erase(0, request.size());
          return request;
        }
      }
      char part[4096];
      const ssize_t got = ::recv(socket_, part, sizeof part, 0);
      if (got <= 0) return "";
      read_.append(part, static_cast<std::size_t>(got));
    }
  }
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void answer(int status, const std::string& body, const std::string& headers = "") {
    write("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
          headers + "\r\n" + body);
  }
  void begin_stream() { write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
  bool chunk(const std::string& text) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return write(size + text + "\r\n");
  }
  void wait_for_client_to_go() { read_request(); }

 private:
  int socket_;
  std::string read_;
};

// A server of raw sockets: a thread per connection, each request answered by `serve`, which says whether more may come.
class RawServer {
 public:
  using Serve = std::function<bool(Connection&, const std::string& request)>;

  explicit RawServer(Serve serve) : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 64), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { accept_all(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    {
      const std::lock_guard hold(mutex_);
      for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
  }
  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  void accept_all() {
    while (true) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) return;
      const std::lock_guard hold(mutex_);
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] {
        Connection connection(socket);
        while (true) {
          const std::string request = connection.read_request();
          if (request.empty() || !serve_(connection, request)) break;
        }
        ::shutdown(socket, SHUT_RDWR);
      });
    }
  }

  Serve serve_;
  int listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::list<int> sockets_;
  std::list<std::thread> threads_;
  std::thread accepting_;
};

std::unique_ptr<Transport> connect(const RawServer& server, CurlOptions options = {}, ServerAccess access = {}) {
  access.server = server.address();
  Result<std::unique_ptr<Transport>> transport = connect_by_curl(std::move(access), std::move(options));
  EXPECT_TRUE(transport) << transport.error().to_string();
  return std::move(*transport);
}

// What a stream brought, for a test that waits for it.
class Received {
 public:
  auto on_line() {
    return [this](std::string_view line) { note("line " + std::string(line)); };
  }
  auto on_end() {
    return [this](const ApiAnswer& answer) { note("end " + std::to_string(answer.status)); };
  }
  void note(std::string what) {
    const std::lock_guard hold(mutex_);
    notes_.push_back(std::move(what));
    changed_.notify_all();
  }
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return notes_.size() >= count; });
    return notes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> notes_;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(CurlTransport, SendsTheCallAndBringsTheAnswer) {
  const RawServer server([](Connection& connection, const std::string& request) {
    connection.answer(201, request);
    return true;
  });
  ServerAccess access;
  access.token = "secret";
  access.impersonate = "boss";
  access.impersonate_groups = {"g1", "g2"};
  const auto transport = connect(server, {.user_agent = "berth/test"}, access);
  const ApiAnswer posted = send_and_wait(*transport, {.method = "POST", .path = "/a?b=c%20d", .body = "{\"x\":1}"});
  EXPECT_EQ(posted.status, 201);
  for (const char* part :
       {"POST /a?b=c%20d HTTP/1.1\r\n", "\r\nAuthorization: Bearer secret\r\n", "\r\nImpersonate-User: boss\r\n",
        "\r\nImpersonate-Group: g1\r\n", "\r\nImpersonate-Group: g2\r\n", "\r\nUser-Agent: berth/test\r\n",
        "\r\nContent-Type: application/json\r\n", "\r\nAccept: application/json\r\n", "\r\n\r\n{\"x\":1}"}) {
    EXPECT_TRUE(has(posted.body, part)) << part << "\n" << posted.body;
  }
  for (const char* method : {"GET", "DELETE", "PUT", "PATCH", "POST"}) {
    const std::string request = send_and_wait(*transport, {.method = method, .path = "/x"}).body;
    EXPECT_EQ(request.rfind(method + std::string(" /x HTTP/1.1"), 0), 0U) << request;
    EXPECT_FALSE(has(request, "Content-Type")) << request;
  }
}

TEST(CurlTransport, ReadsRetryAfterFromHeaderOrStatus) {
  const RawServer server([](Connection& connection, const std::string& request) {
    if (has(request, "/header")) {
      connection.answer(429, "", "Retry-After: 7\r\n");
    } else {
      connection.answer(504, R"({"kind":"Status","details":{"retryAfterSeconds":3}})");
    }
    return true;
  });
  const auto transport = connect(server);
  EXPECT_EQ(send_and_wait(*transport, {.path = "/header"}).retry_after_s, 7);
  EXPECT_EQ(send_and_wait(*transport, {.path = "/status"}).retry_after_s, 3);
}

TEST(CurlTransport, ReadsWhatTheServerWarnsOf) {
  const RawServer server([](Connection& connection, const std::string& request) {
    const bool warns = has(request, "/warned");
    connection.answer(201, "{}",
                      warns ? "Warning: 299 - \"it says \\\"no\\\"\"\r\nWarning: 299 - \"and more\"\r\n" : "");
    return true;
  });
  const auto transport = connect(server);
  EXPECT_EQ(send_and_wait(*transport, {.path = "/warned"}).warnings,
            (std::vector<std::string>{"it says \"no\"", "and more"}));
  EXPECT_TRUE(send_and_wait(*transport, {.path = "/x"}).warnings.empty()) << "on the connection of the one before";
}

TEST(CurlTransport, NoMoreCallsAreInFlightThanAllowed) {
  // Each call waits for a second one beside it, so both places are used; a third would be seen.
  std::mutex mutex;
  std::condition_variable changed;
  int active = 0, unpaired = 0, pairs = 0, most = 0;
  const RawServer server([&](Connection& connection, const std::string&) {
    {
      std::unique_lock hold(mutex);
      most = std::max(most, ++active);
      const int pair = pairs;
      if (++unpaired == 2) {
        unpaired = 0;
        ++pairs;
        changed.notify_all();
      }
      changed.wait(hold, [&] { return pairs > pair; });
      --active;
    }
    connection.answer(200, "ok");
    return true;
  });
  Received answers;
  const auto transport = connect(server, {.connections_max = 2});
  for (int i = 0; i < 20; ++i) {
    transport->send({.path = "/"}, [&](const ApiAnswer& answer) { answers.note(answer.body); });
  }
  EXPECT_EQ(answers.wait_for(20), std::vector<std::string>(20, "ok"));
  EXPECT_EQ(most, 2);
}

TEST(CurlTransport, StreamsBringLinesHoweverTheyComeAndCallsGoOnBeside) {
  Received received;
  const RawServer server([](Connection& connection, const std::string& request) {
    if (has(request, "GET /call")) {
      connection.answer(200, "answer");
      return true;
    }
    connection.begin_stream();
    for (const char* part : {"one\ntw", "o\n", "\nthr", "e", "e\nfour"}) connection.chunk(part);
    connection.chunk("");
    return true;
  });
  const auto transport = connect(server, {.connections_max = 1});
  const auto stream = transport->stream({.path = "/watch"}, received.on_line(), received.on_end());
  EXPECT_EQ(received.wait_for(5),
            (std::vector<std::string>{"line one", "line two", "line three", "line four", "end 200"}));
  EXPECT_EQ(send_and_wait(*transport, {.path = "/call"}).body, "answer");
}

TEST(CurlTransport, AnOpenStreamKeepsNoCallFromBeingMade) {
  Received received;
  const RawServer server([](Connection& connection, const std::string& request) {
    if (has(request, "GET /call")) {
      connection.answer(200, "answer");
      return true;
    }
    connection.begin_stream();
    connection.chunk("begun\n");
    connection.wait_for_client_to_go();
    return false;
  });
  const auto transport = connect(server, {.connections_max = 1});
  std::vector<std::unique_ptr<ApiStream>> streams;
  for (int i = 0; i < 5; ++i)
    streams.push_back(transport->stream({.path = "/"}, received.on_line(), received.on_end()));
  received.wait_for(5);
  EXPECT_EQ(send_and_wait(*transport, {.path = "/call"}).body, "answer");
  streams.clear();  // the server's threads end only when the connections do
}

TEST(CurlTransport, AStreamThatIsLostOrRefusedSaysSo) {
  const RawServer server([](Connection& connection, const std::string& request) {
    if (has(request, "/gone")) {
      connection.answer(410, "{}");
      return true;
    }
    connection.begin_stream();
    connection.chunk("whole\nhal");
    return false;
  });
  const auto transport = connect(server);
  Received lost, refused;
  const auto first = transport->stream({.path = "/"}, lost.on_line(), lost.on_end());
  EXPECT_EQ(lost.wait_for(2), (std::vector<std::string>{"line whole", "end 0"}));
  const auto second = transport->stream({.path = "/gone"}, refused.on_line(), refused.on_end());
  EXPECT_EQ(refused.wait_for(1), std::vector<std::string>{"end 410"});
}

TEST(CurlTransport, ADestroyedStreamTellsNothingMore) {
  const RawServer server([](Connection& connection, const std::string& request) {
    if (has(request, "GET /call")) {
      connection.answer(200, "");
      return true;
    }
    connection.begin_stream();
    while (connection.chunk("x\nx\nx\nx\n")) {
    }
    return false;
  });
  const auto transport = connect(server);
  Received received;
  std::mutex mutex;
  std::unique_ptr<ApiStream> stream;
  int lines = 0;
  {
    const std::lock_guard hold(mutex);
    stream = transport->stream(
        {.path = "/"},
        [&](std::string_view) {
          const std::lock_guard inside(mutex);
          if (++lines == 3) {
            stream.reset();  // from its own callback
            received.note("destroyed");
          }
        },
        [&](const ApiAnswer&) { ++lines; });
  }
  received.wait_for(1);
  send_and_wait(*transport, {.path = "/call"});  // by now the transport's thread has long gone on
  EXPECT_EQ(lines, 3);

  Received other;
  auto from_outside = transport->stream({.path = "/"}, other.on_line(), other.on_end());
  other.wait_for(1);
  from_outside.reset();
  send_and_wait(*transport, {.path = "/call"});
  const std::size_t told = other.wait_for(1).size();
  send_and_wait(*transport, {.path = "/call"});
  EXPECT_EQ(other.wait_for(1).size(), told);
}

TEST(CurlTransport, ItsEndAnswersWhatIsStillAsked) {
  Received answers, arrived;
  const RawServer server([&](Connection& connection, const std::string&) {
    arrived.note("asked");
    connection.wait_for_client_to_go();
    return false;
  });
  auto transport = connect(server, {.connections_max = 1});
  const auto note = [&](const ApiAnswer& answer) { answers.note(answer.status == 0 ? answer.body : "answered"); };
  transport->send({.path = "/"}, note);
  transport->send({.path = "/waits"}, note);
  arrived.wait_for(1);
  transport.reset();
  for (const std::string& answer : answers.wait_for(2)) EXPECT_TRUE(has(answer, "given up by this program")) << answer;
}

TEST(CurlTransport, AServerThatIsNotThereIsNamed) {
  std::string address;
  {
    const RawServer server([](Connection&, const std::string&) { return false; });
    address = server.address();
  }
  ServerAccess access;
  access.server = address;
  const auto transport = connect_by_curl(access);
  ASSERT_TRUE(transport);
  const ApiAnswer answer = send_and_wait(**transport, {.path = "/"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_TRUE(has(answer.body, "cannot connect to " + address)) << answer.body;
  EXPECT_TRUE(has(answer.body, "does the API server run there?")) << answer.body;
}

TEST(CurlTransport, ReadsATokenAgainWhenItsFileHasChanged) {
  const RawServer server([](Connection& connection, const std::string& request) {
    connection.answer(200, request);
    return true;
  });
  const auto file = std::filesystem::temp_directory_path() / ("berth-token-" + std::to_string(::getpid()));
  ServerAccess access;
  access.token_file = file.string();
  const auto transport = connect(server, {}, access);
  std::filesystem::remove(file);
  const ApiAnswer without = send_and_wait(*transport, {.path = "/"});
  EXPECT_EQ(without.status, 0);
  EXPECT_TRUE(has(without.body, file.string() + ": cannot be read")) << without.body;
  std::ofstream(file) << "first\n";
  EXPECT_TRUE(has(send_and_wait(*transport, {.path = "/"}).body, "Bearer first\r\n"));
  std::ofstream(file) << "the second\n";
  EXPECT_TRUE(has(send_and_wait(*transport, {.path = "/"}).body, "Bearer first\r\n"))
      << "what is no token is not taken";
  std::ofstream(file) << "second\n";
  EXPECT_TRUE(has(send_and_wait(*transport, {.path = "/"}).body, "Bearer second\r\n"));
  std::filesystem::remove(file);
  EXPECT_TRUE(has(send_and_wait(*transport, {.path = "/"}).body, "Bearer second\r\n"));
}

TEST(CurlTransport, RefusesAnAccessThatCannotWork) {
  const struct {
    std::function<void(ServerAccess&)> change;
    const char* complaint;
  } cases[] = {
      {[](ServerAccess& a) { a.server = "10.0.0.1:6443"; }, "is no address; write one like"},
      {[](ServerAccess& a) { a.server = "ftp://10.0.0.1"; }, "is no address"},
      {[](ServerAccess& a) { a.server = "https://u:p@10.0.0.1"; }, "is no address"},
      {[](ServerAccess& a) { a.ca = "nothing"; }, "the certificate authority of 'https://10.0.0.1' is no PEM text"},
      {[](ServerAccess& a) { a.client_key = "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----"; }, "go together"},
      {[](ServerAccess& a) { a.token = "a\r\nX: y"; }, "the token has control characters"},
      {[](ServerAccess& a) { a.impersonate_groups = {"g"}; }, "groups to act as need a user"},
      {[](ServerAccess& a) { a.tls_server_name = "a b/"; }, "is no name of a server"},
  };
  for (const auto& c : cases) {
    ServerAccess access;
    access.server = "https://10.0.0.1";
    c.change(access);
    const auto transport = connect_by_curl(access);
    ASSERT_FALSE(transport) << c.complaint;
    EXPECT_TRUE(has(transport.error().to_string(), c.complaint)) << transport.error().to_string();
  }
}

}  // namespace berth::curl_transport_test
