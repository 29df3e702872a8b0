// Slow readers, many connections, the end of the server, and what it refuses to start with.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "web_server/raw_client.h"
#include "web_server/server.h"

namespace berth::server_limits_test {

constexpr std::chrono::seconds kPatience{10};
constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

std::unique_ptr<WebServer> started(WebServerOptions options, HttpHandler handler) {
  auto server = WebServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << server.error().to_string();
  return std::move(*server);
}

void say_ok(const HttpRequest&, const std::shared_ptr<Responder>& responder) { responder->reply({.body = "ok"}); }

// The streams that a server began, in order, and their ends.
struct Streams {
  std::shared_ptr<HttpStream> next() {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(begun.wait_for(lock, kPatience, [this] { return taken < streams.size(); }));
    return streams.at(taken++);
  }

  HttpHandler handler() {
    return [this](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
      auto stream = responder->start_stream(200, "application/json");
      const std::lock_guard lock(mutex);
      streams.push_back(std::move(stream));
      begun.notify_all();
    };
  }

  std::mutex mutex;
  std::condition_variable begun;
  std::vector<std::shared_ptr<HttpStream>> streams;
  std::size_t taken = 0;
};

std::future<void> closing_of(HttpStream& stream) {
  auto closed = std::make_shared<std::promise<void>>();
  stream.on_closed([closed] { closed->set_value(); });
  return closed->get_future();
}

bool over(std::future<void>& closed) { return closed.wait_for(kPatience) == std::future_status::ready; }

TEST(WebServerLimits, ASlowReaderIsClosedAtItsBound) {
  constexpr std::size_t kBound = 1 << 20;
  Streams streams;
  const auto server = started({.stream_bytes_waiting_max = kBound}, streams.handler());
  RawClient client(server->port(), 4096);
  client.send(kGet);
  const auto stream = streams.next();
  auto closed = closing_of(*stream);
  const auto chunk = std::make_shared<const std::string>(64 << 10, 'x');
  // Ends because the kernel's buffers do.
  while (stream->write(chunk)) {
    EXPECT_LE(static_cast<std::size_t>(chunk.use_count()), kBound / chunk->size() + 2);
  }
  EXPECT_TRUE(over(closed));
  EXPECT_FALSE(stream->open());
}

TEST(WebServerLimits, OneChunkMayBeLargerThanTheBound) {
  Streams streams;
  const auto server = started({.stream_bytes_waiting_max = 1000}, streams.handler());
  RawClient client(server->port());
  client.send(kGet);
  client.read_to("\r\n\r\n");
  const std::string large(1 << 20, 'x');
  const auto stream = streams.next();
  EXPECT_TRUE(stream->write(std::make_shared<const std::string>(large)));
  EXPECT_EQ(client.read_chunk(), large);
}

TEST(WebServerLimits, OfAllStreamsTheOneWithMostWaitingGoesFirst) {
  Streams streams;
  const auto server =
      started({.stream_bytes_waiting_max = std::size_t{1} << 40, .all_bytes_waiting_max = 4 << 20}, streams.handler());
  RawClient slow(server->port(), 4096);
  slow.send(kGet);
  const auto slow_stream = streams.next();
  RawClient quick(server->port());
  quick.send(kGet);
  const auto quick_stream = streams.next();
  quick.read_to("\r\n\r\n");
  auto closed = closing_of(*slow_stream);
  const auto chunk = std::make_shared<const std::string>(64 << 10, 'x');
  while (slow_stream->write(chunk)) {
    ASSERT_TRUE(quick_stream->write(chunk));
    ASSERT_EQ(quick.read_chunk(), *chunk);
  }
  EXPECT_TRUE(over(closed));
  EXPECT_TRUE(quick_stream->write(chunk));
  EXPECT_EQ(quick.read_chunk(), *chunk);
}

TEST(WebServerLimits, AReplyThatNobodyReadsIsGivenUp) {
  const auto server = started({.connections_max = 1, .request_s = 1},
                              [](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
                                responder->reply({.body = std::string(64 << 20, 'x')});
                              });
  RawClient client(server->port(), 4096);
  client.send(kGet);
  // There is room for another only when the first is gone.
  const auto end = std::chrono::steady_clock::now() + kPatience;
  bool admitted = false;
  while (!admitted && std::chrono::steady_clock::now() < end) {
    RawClient next(server->port());
    admitted = next.send(kGet) && !next.read_to("\r\n\r\n").empty();
  }
  EXPECT_TRUE(admitted);
  EXPECT_FALSE(client.read_reply().whole);
}

TEST(WebServerLimits, AReplyThatIsReadTooSlowlyIsGivenUpThoughItsReaderReads) {
  const auto server = started({.reply_bytes_per_second_min = 1 << 30, .request_s = 1},
                              [](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
                                responder->reply({.body = std::string(64 << 20, 'x')});
                              });
  RawClient client(server->port(), 4096);
  client.send(kGet);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t bytes = 0;
  while (std::chrono::steady_clock::now() - begin < kPatience) {
    const std::size_t some = client.read_bytes(4096).size();
    if (some == 0) break;
    bytes += some;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_LT(bytes, std::size_t{64} << 20);
}

TEST(WebServerLimits, RepliesCountAmongWhatWaitsForReaders) {
  Streams streams;
  const auto kept = std::make_shared<const std::string>(16 << 20, 'x');
  const auto server = started({.all_bytes_waiting_max = 24 << 20},
                              [&](const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
                                if (request.path == "/shared") return responder->reply({.parts = {kept}});
                                responder->reply({.body = std::string(16 << 20, 'x')});
                              });
  // What others hold too costs nothing.
  RawClient first(server->port()), second(server->port());
  first.send("GET /shared HTTP/1.1\r\nHost: x\r\n\r\n");
  second.send("GET /shared HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(first.read_reply().whole);
  EXPECT_TRUE(second.read_reply().whole);
  RawClient third(server->port(), 4096), fourth(server->port());
  third.send(kGet);
  third.read_to("\r\n\r\n");
  fourth.send(kGet);
  const bool fourth_whole = fourth.read_reply().whole;
  EXPECT_NE(fourth_whole, third.read_bytes(16 << 20).size() == 16 << 20);
}

TEST(WebServerLimits, FurtherConnectionsAreClosedAtOnce) {
  const auto server = started({.connections_max = 2}, say_ok);
  RawClient first(server->port());
  RawClient second(server->port());
  EXPECT_EQ(first.ask(kGet).body, "ok");
  EXPECT_EQ(second.ask(kGet).body, "ok");
  RawClient third(server->port());
  EXPECT_TRUE(third.closed_by_server());
  EXPECT_EQ(first.ask(kGet).body, "ok");
}

TEST(WebServerLimits, ServesManyConnectionsAtOnce) {
  const auto server = started({}, say_ok);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<RawClient>(server->port()));
  for (int round = 0; round < 5; ++round) {
    for (const auto& client : clients) ASSERT_TRUE(client->send(kGet));
    for (const auto& client : clients) ASSERT_EQ(client->read_reply().body, "ok");
  }
}

// Writers that do not know of each other, and readers that leave in the middle.
TEST(WebServerLimits, StreamsAreWrittenByManyThreadsWhileReadersComeAndGo) {
  Streams streams;
  const auto server = started({}, streams.handler());
  const auto chunk = std::make_shared<const std::string>("event\n");
  std::vector<std::unique_ptr<RawClient>> clients;
  std::vector<std::thread> writers;
  for (int i = 0; i < 24; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->port()));
    clients.back()->send(kGet);
    writers.emplace_back([stream = streams.next(), &chunk] {
      for (int n = 0; n < 500 && stream->write(chunk); ++n) {
      }
      stream->end();
    });
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i]->read_to("\r\n\r\n");
    EXPECT_EQ(clients[i]->read_chunk(), *chunk);
    if (i % 2 == 0) clients[i]->close();
  }
  for (std::thread& writer : writers) writer.join();
  for (std::size_t i = 1; i < clients.size(); i += 2) {
    for (int n = 1; n < 500; ++n) ASSERT_EQ(clients[i]->read_chunk(), *chunk);
    EXPECT_EQ(clients[i]->read_chunk(), "");
  }
}

TEST(WebServerLimits, StoppingEndsEverythingAndNothingDangles) {
  std::promise<std::shared_ptr<Responder>> handed;
  std::shared_ptr<HttpStream> stream;
  Streams streams;
  auto server =
      started({}, [&, streaming = streams.handler()](HttpRequest request, std::shared_ptr<Responder> responder) {
        if (request.path == "/") return streaming(std::move(request), std::move(responder));
        handed.set_value(std::move(responder));
      });
  RawClient idle(server->port());
  RawClient watching(server->port());
  watching.send(kGet);
  stream = streams.next();
  RawClient waiting(server->port());
  waiting.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
  auto responder = handed.get_future().get();
  auto closed = closing_of(*stream);
  std::promise<void> first_written;
  std::thread writer([&] {
    for (bool first = true; stream->write(std::make_shared<const std::string>("event")); first = false) {
      if (first) first_written.set_value();
    }
  });
  first_written.get_future().wait();
  std::thread reader([&] { watching.closed_by_server(); });
  server.reset();
  writer.join();
  reader.join();
  EXPECT_EQ(closed.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_FALSE(stream->open());
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_TRUE(waiting.closed_by_server());
  responder->reply({.body = "late"});
  EXPECT_FALSE(responder->start_stream(200, "text/plain")->write(std::make_shared<const std::string>("late")));
  stream->end();
  bool told = false;
  stream->on_closed([&told] { told = true; });
  EXPECT_TRUE(told);
}

TEST(WebServerLimits, SaysWhyItDoesNotStart) {
  const auto taken = started({}, say_ok);
  const std::pair<WebServerOptions, const char*> cases[] = {
      {{.address = "localhost"}, "address: 'localhost' is no IP address; give one such as 127.0.0.1"},
      {{.address = "0.0.0.0"}, "give certificate and private_key, or listen on 127.0.0.1"},
      {{.address = "::"}, "give certificate and private_key, or listen on 127.0.0.1"},
      {{.address = "192.0.2.1", .certificate = "x"}, "certificate: is no certificate in PEM; give the text from"},
      {{.client_ca = "x"}, "client_ca: needs TLS; give certificate and private_key too"},
      {{.threads = 0}, "threads: give 1 to 256"},
      {{.idle_s = 0}, "give 1 s or more"},
      {{.port = taken->port()},
       "cannot listen: Address already in use; give an address of this machine and a free port"},
  };
  for (const auto& [options, expected] : cases) {
    const auto server = WebServer::start(options, say_ok);
    ASSERT_FALSE(server) << expected;
    EXPECT_NE(server.error().to_string().find(expected), std::string::npos) << server.error().to_string();
  }
}

}  // namespace berth::server_limits_test
