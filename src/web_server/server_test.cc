#include "web_server/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "web_server/raw_client.h"

namespace berth::server_test {

constexpr std::chrono::seconds kPatience{10};

std::string get(std::string_view path) { return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n"; }

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::unique_ptr<WebServer> started(WebServerOptions options, HttpHandler handler) {
  auto server = WebServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().to_string();
  return std::move(*server);
}

void echo(const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
  std::string body = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) body += " " + name + "=" + value;
  body += " " + request.body;
  responder->reply({.status = 200, .content_type = "text/plain", .body = body});
}

// What a handler hands over to the test, by the request's path.
template <class T>
class Handed {
 public:
  void give(const std::string& path, T thing) { promise(path).set_value(std::move(thing)); }
  T take(const std::string& path) {
    auto future = promise(path).get_future();
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready) << path;
    return future.get();
  }

 private:
  std::promise<T>& promise(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return promises_[path];
  }
  std::mutex mutex_;
  std::map<std::string, std::promise<T>> promises_;
};

using Streams = Handed<std::shared_ptr<HttpStream>>;
using Responders = Handed<std::shared_ptr<Responder>>;

HttpHandler streaming_to(Streams& streams) {
  return [&streams](const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
    streams.give(request.path, responder->start_stream(200, "application/json"));
  };
}

HttpHandler handing_to(Responders& responders) {
  return [&responders](const HttpRequest& request, std::shared_ptr<Responder> responder) {
    responders.give(request.path, std::move(responder));
  };
}

std::future<void> closing_of(HttpStream& stream) {
  auto closed = std::make_shared<std::promise<void>>();
  stream.on_closed([closed] { closed->set_value(); });  // a second call would throw
  return closed->get_future();
}

void expect_closed(std::future<void> closed) { EXPECT_EQ(closed.wait_for(kPatience), std::future_status::ready); }

// With connections_max = 1: the one before is gone as soon as another is answered.
bool admits_another(const WebServer& server, std::string_view request) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    RawClient client(server.port());
    if (client.ask(request).status != 0) return true;
  }
  return false;
}

TEST(WebServer, GivesTheHandlerTheWholeRequest) {
  const auto server = started({}, echo);
  const std::pair<std::string, const char*> cases[] = {
      {get("/a%20b?x=1&y=%26"), "GET /a b x=1 y=& "},
      {"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", "POST /p body"},
      {"PATCH /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
       "PATCH /p body"},
  };
  RawClient client(server->port());  // kept alive over all of them
  for (const auto& [request, body] : cases) {
    const RawReply reply = client.ask(request);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, body);
    EXPECT_NE(reply.head.find("\r\nDate: "), std::string::npos);
    EXPECT_NE(reply.head.find("\r\nCache-Control: no-cache, private\r\n"), std::string::npos);
  }
}

TEST(WebServer, SaysWhoAsks) {
  Handed<Peer> peers;
  const auto server = started({}, [&](const HttpRequest& request, const auto&) { peers.give("/", request.peer); });
  RawClient client(server->port());
  EXPECT_EQ(client.ask(get("/")).status, 500);
  const Peer peer = peers.take("/");
  EXPECT_TRUE(peer.address.starts_with("127.0.0.1:")) << peer.address;
  EXPECT_TRUE(peer.loopback);
  EXPECT_FALSE(peer.tls);
}

TEST(WebServer, ClosesWhenTheClientWantsIt) {
  const auto server = started({}, echo);
  for (const char* request : {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    RawClient client(server->port());
    const RawReply reply = client.ask(request);
    EXPECT_EQ(reply.body, "GET / ");
    EXPECT_NE(reply.head.find("Connection: close"), std::string::npos);
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST(WebServer, AnswersPipelinedRequestsInOrderAndOneAtATime) {
  Responders responders;
  const auto server = started({}, handing_to(responders));
  RawClient client(server->port());
  client.send(get("/1") + get("/2") + get("/3"));
  for (const char* path : {"/1", "/2", "/3"}) {
    responders.take(path)->reply({.body = path});
    EXPECT_EQ(client.read_reply().body, path);
  }
}

TEST(WebServer, ReadsNoFurtherAheadThanItMust) {
  Responders responders;
  const auto server = started({}, handing_to(responders));
  RawClient client(server->port());
  std::string many = get("/first");
  std::string expected;
  for (int i = 0; i < 1000; ++i) many += get("/" + std::to_string(i));
  std::thread sender([&] { client.send(many); });
  responders.take("/first")->reply({.body = "first"});
  EXPECT_EQ(client.read_reply().body, "first");
  for (int i = 0; i < 1000; ++i) {
    const std::string path = "/" + std::to_string(i);
    responders.take(path)->reply({.body = path});
    ASSERT_EQ(client.read_reply().body, path);
  }
  sender.join();
}

TEST(WebServer, SendsContinueBeforeTheBody) {
  const auto server = started({}, echo);
  RawClient client(server->port());
  for (int i = 0; i < 2; ++i) {
    client.send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(client.ask("ok").body, "POST /p ok");
  }
}

TEST(WebServer, RefusesAndCloses) {
  const auto server = started({.header_bytes_max = 300, .body_bytes_max = 10, .idle_s = 1, .request_s = 1}, echo);
  const std::tuple<std::string, int, const char*> cases[] = {
      {"what?\r\n\r\n", 400, "Bad request: "},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(400, 'a'), 431, "Request header too large: limit is 300\n"},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n", 413,
       R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
       R"("Request entity too large: limit is 10","reason":"RequestEntityTooLarge","code":413})"},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n" + std::string(11, 'x'), 413, "{"},
  };
  for (const auto& [request, status, body] : cases) {
    RawClient client(server->port());
    const RawReply reply = client.ask(request);
    EXPECT_EQ(reply.status, status) << request;
    EXPECT_TRUE(reply.body.starts_with(body)) << reply.body;
    EXPECT_TRUE(client.closed_by_server());
  }
  // The slow ones wait side by side.
  RawClient idle(server->port());
  RawClient asked(server->port());
  EXPECT_EQ(asked.ask(get("/")).status, 200);
  RawClient slow_head(server->port());
  slow_head.send("GET / HT");
  RawClient slow_body(server->port());
  slow_body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  EXPECT_EQ(slow_head.read_reply().status, 408);
  EXPECT_EQ(slow_body.read_reply().body, "Request timeout: it did not arrive within 1 s\n");
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_TRUE(asked.closed_by_server());
}

// Two that fit one by one, and not together: whose bytes are counted last is refused, and the other goes on.
TEST(WebServer, BoundsWhatAllUnfinishedRequestsHold) {
  const auto server = started({.threads = 1, .all_requests_bytes_max = 1000}, echo);
  RawClient clients[] = {RawClient(server->port()), RawClient(server->port())};
  RawReply replies[2];
  std::promise<void> first_answer;
  std::once_flag answered;
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < 2; ++i) {
    clients[i].send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 800\r\n\r\n" + std::string(799, 'a'));
    readers.emplace_back([&, i] {
      replies[i] = clients[i].read_reply();
      std::call_once(answered, [&] { first_answer.set_value(); });
    });
  }
  first_answer.get_future().wait();
  for (RawClient& client : clients) client.send("a");
  for (std::thread& reader : readers) reader.join();
  if (replies[0].status != 503) std::swap(replies[0], replies[1]);
  EXPECT_EQ(replies[0].status, 503);
  EXPECT_NE(replies[0].head.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(replies[1].body, "POST / " + std::string(800, 'a'));
}

TEST(WebServer, SendsSharedPartsOneAfterTheOther) {
  std::vector<std::shared_ptr<const std::string>> parts;
  std::string whole;
  for (int i = 0; i < 3000; ++i) {
    parts.push_back(shared(std::string(static_cast<std::size_t>(i % 500), static_cast<char>('a' + i % 26))));
    whole += *parts.back();
  }
  const auto server = started({}, [&](const auto&, const auto& responder) { responder->reply({.parts = parts}); });
  RawClient client(server->port());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.ask(get("/")).body, whole);
}

TEST(WebServer, AnswersFromAnyThreadAndOnlyOnce) {
  std::vector<std::thread> threads;
  const auto server = started({}, [&](HttpRequest, std::shared_ptr<Responder> responder) {
    threads.emplace_back([responder = std::move(responder)] {
      responder->reply({.body = "first"});
      responder->reply({.body = "second"});
      EXPECT_FALSE(responder->start_stream(200, "text/plain")->open());
    });
  });
  RawClient client(server->port());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.ask(get("/")).body, "first");
  for (std::thread& thread : threads) thread.join();
}

TEST(WebServer, AnswersADroppedRequestWith500) {
  const auto server = started({}, [](const auto&, const auto&) {});
  RawClient client(server->port());
  const RawReply reply = client.ask(get("/"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_NE(reply.body.find(R"("kind":"Status")"), std::string::npos);
  EXPECT_EQ(client.ask(get("/")).status, 500);  // the connection is kept
}

TEST(WebServer, StreamsChunksAndGoesOnAfterwards) {
  Streams streams;
  const auto server = started({}, streaming_to(streams));
  RawClient client(server->port());
  for (const char* path : {"/1", "/2"}) {
    client.send(get(path));
    const auto stream = streams.take(path);
    EXPECT_NE(client.read_to("\r\n\r\n").find("Transfer-Encoding: chunked"), std::string::npos);
    EXPECT_TRUE(stream->open());
    EXPECT_TRUE(stream->write(shared("")));  // would be the last chunk
    for (const std::string& text : {std::string("first"), std::string(100'000, 'x'), std::string("last")}) {
      EXPECT_TRUE(stream->write(shared(text)));
      EXPECT_EQ(client.read_chunk(), text);
    }
    std::future<void> closed = closing_of(*stream);
    stream->end();
    EXPECT_FALSE(stream->open());
    EXPECT_FALSE(stream->write(shared("too late")));
    EXPECT_EQ(client.read_to("\r\n\r\n"), "0\r\n\r\n");
    expect_closed(std::move(closed));
    expect_closed(closing_of(*stream));  // at once
  }
}

TEST(WebServer, EndsAStreamThatNobodyHolds) {
  const auto server = started(
      {}, [](const auto&, const auto& responder) { responder->start_stream(200, "text/plain")->write(shared("all")); });
  RawClient client(server->port());
  client.send(get("/"));
  client.read_to("\r\n\r\n");
  EXPECT_EQ(client.read_to("0\r\n\r\n"), "3\r\nall\r\n0\r\n\r\n");
}

TEST(WebServer, StreamsWithoutChunksToAnOldClient) {
  Streams streams;
  const auto server = started({}, streaming_to(streams));
  RawClient client(server->port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  const auto stream = streams.take("/");
  stream->write(shared("a"));
  stream->write(shared("b"));
  stream->end();
  EXPECT_EQ(client.read_to("\r\n\r\n").find("Transfer-Encoding"), std::string::npos);
  EXPECT_EQ(client.read_bytes(3), "ab");
  EXPECT_TRUE(client.closed_by_server());
}

TEST(WebServer, NoticesAtOnceThatAStreamsReaderIsGone) {
  Streams streams;
  const auto server = started({}, streaming_to(streams));
  RawClient client(server->port());
  client.send(get("/"));
  const auto stream = streams.take("/");
  std::future<void> closed = closing_of(*stream);
  client.close();
  expect_closed(std::move(closed));
  EXPECT_FALSE(stream->open());
  EXPECT_FALSE(stream->write(shared("x")));
}

TEST(WebServer, NoticesThatAnAskerIsGoneBeforeTheAnswer) {
  Responders responders;
  const auto server = started({.connections_max = 1}, [&](const HttpRequest& request, auto responder) {
    if (request.path == "/slow") return responders.give(request.path, std::move(responder));
    echo(request, responder);
  });
  auto client = std::make_unique<RawClient>(server->port());
  client->send(get("/slow"));
  const auto responder = responders.take("/slow");
  EXPECT_TRUE(RawClient(server->port()).closed_by_server());
  client.reset();
  EXPECT_TRUE(admits_another(*server, get("/")));
  responder->reply({.body = "nobody hears it"});
}

}  // namespace berth::server_test
