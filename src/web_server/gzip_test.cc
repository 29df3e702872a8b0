#include "web_server/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "web_server/raw_client.h"
#include "web_server/server.h"

namespace berth::gzip_test {

std::string inflated(std::string_view gzip) {
  z_stream zlib{};
  EXPECT_EQ(inflateInit2(&zlib, 15 + 16), Z_OK);
  std::string out;
  std::string landing(64 << 10, '\0');
  std::string in(gzip);
  zlib.next_in = reinterpret_cast<Bytef*>(in.data());
  zlib.avail_in = static_cast<uInt>(in.size());
  int said = Z_OK;
  while (said == Z_OK) {
    zlib.next_out = reinterpret_cast<Bytef*>(landing.data());
    zlib.avail_out = static_cast<uInt>(landing.size());
    said = inflate(&zlib, Z_NO_FLUSH);
    out.append(landing, 0, landing.size() - zlib.avail_out);
  }
  EXPECT_EQ(said, Z_STREAM_END);
  EXPECT_EQ(zlib.avail_in, 0U);
  inflateEnd(&zlib);
  return out;
}

TEST(Gzip, IsTakenByWhoNamesIt) {
  const std::pair<const char*, bool> cases[] = {
      {"gzip", true},       {"deflate, gzip;q=1.0, *;q=0.5", true},
      {" gzip ", true},     {"", false},
      {"identity", false},  {"*", false},
      {"gzip;q=0", false},  {"gzip; q=0.000", false},
      {"gzip;q=0.1", true},
  };
  for (const auto& [header, takes] : cases) EXPECT_EQ(accepts_gzip(header), takes) << header;
}

TEST(GzipProperty, ABodyInAnyPartsAndStepsComesOutWhole) {
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<std::shared_ptr<const std::string>> parts;
    std::string whole;
    for (std::int64_t n = rng.between(0, 30); n > 0; --n) {
      std::string part;
      const bool random = rng.between(0, 1) == 1;
      for (std::int64_t bytes = rng.between(0, 20'000); bytes > 0; --bytes) {
        part += static_cast<char>(random ? rng.between(0, 255) : 'a' + bytes % 7);
      }
      whole += part;
      parts.push_back(std::make_shared<const std::string>(std::move(part)));
    }
    const auto body = GzipBody::begin(parts);
    ASSERT_TRUE(body);
    std::string sent;
    const auto step = static_cast<std::size_t>(rng.between(1, 50'000));
    while (!body->done()) {
      const std::string more = body->next(step);
      EXPECT_TRUE(body->done() || !more.empty());
      sent += more;
    }
    EXPECT_EQ(inflated(sent), whole);
  }
}

struct Served {
  std::string request;
  const char* content_type;
  std::size_t bytes;
  bool small;
};

TEST(WebServerGzip, LargeRepliesAreMadeSmallForWhoTakesIt) {
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n";
  const Served cases[] = {
      {get, "application/json", 128 << 10, true},
      {get, "application/yaml", 5 << 20, true},
      {get, "application/json", (128 << 10) - 1, false},
      {get, "text/plain", 1 << 20, false},
      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "application/json", 1 << 20, false},
      {"GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n", "application/json", 1 << 20, false},
  };
  for (const Served& each : cases) {
    const auto server = WebServer::start({}, [&each](const HttpRequest&, const std::shared_ptr<Responder>& responder) {
      responder->reply({.content_type = each.content_type,
                        .parts = {std::make_shared<const std::string>(each.bytes / 2, 'x'),
                                  std::make_shared<const std::string>(each.bytes - each.bytes / 2, 'y')}});
    });
    ASSERT_TRUE(server);
    RawClient client((*server)->port());
    // The connection goes on behind a compressed reply as behind any other.
    const int times = each.request.find("HTTP/1.1") == std::string::npos ? 1 : 2;
    for (int i = 0; i < times; ++i) {
      RawReply reply = client.ask(each.request);
      EXPECT_EQ(reply.head.find("Content-Encoding: gzip\r\n") != std::string::npos, each.small) << reply.head;
      if (each.small) {
        EXPECT_NE(reply.head.find("Vary: Accept-Encoding\r\n"), std::string::npos);
        std::string sent;
        for (std::string chunk = client.read_chunk(); !chunk.empty(); chunk = client.read_chunk()) sent += chunk;
        EXPECT_LT(sent.size(), each.bytes / 50);
        reply.body = inflated(sent);
      }
      EXPECT_EQ(reply.body, std::string(each.bytes / 2, 'x') + std::string(each.bytes - each.bytes / 2, 'y'));
    }
  }
}

TEST(WebServerGzip, StreamsAndRepliesToHeadAreLeftAsTheyAre) {
  const auto server = WebServer::start({}, [](const HttpRequest& request, const std::shared_ptr<Responder>& responder) {
    const std::string large(1 << 20, 'x');
    if (request.path == "/reply") return responder->reply({.body = large});
    const auto stream = responder->start_stream(200, "application/json");
    stream->write(std::make_shared<const std::string>(large));
    stream->end();
  });
  ASSERT_TRUE(server);
  RawClient client((*server)->port());
  const std::string more = " HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n";
  EXPECT_EQ(client.ask("GET /watch" + more).head.find("Content-Encoding"), std::string::npos);
  EXPECT_EQ(client.read_chunk().size(), std::size_t{1} << 20);
  EXPECT_EQ(client.read_chunk(), "");
  for (const char* const path : {"/reply", "/watch", "/reply"}) {
    client.send("HEAD " + std::string(path) + more);
    const std::string head = client.read_to("\r\n\r\n");
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200")) << head;
    EXPECT_EQ(head.find("Content-Length: 1048576") != std::string::npos, path == std::string_view("/reply")) << head;
  }
}

}  // namespace berth::gzip_test
