#include "web_server/request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "web_server/reply_head.h"
#include "web_server/request_target.h"
#include "web_server/wire_queue.h"

namespace berth::request_parser_test {

std::string shown(const RequestTarget& target) {
  std::string text = target.path;
  for (const auto& [name, value] : target.query) text += " [" + name + "=" + value + "]";
  return text;
}

TEST(RequestTarget, IsDecodedOnce) {
  const std::pair<const char*, const char*> cases[] = {
      {"/", "/"},
      {"/api/v1/pods", "/api/v1/pods"},
      {"/api/v1/pods?", "/api/v1/pods"},
      {"/a%20b/%C3%A9?x=%26&y", "/a b/\xC3\xA9 [x=&] [y=]"},
      {"/p+q?labelSelector=a+in+%28b%2Cc%29&limit=500", "/p+q [labelSelector=a in (b,c)] [limit=500]"},
      {"/?a=1&&a=2&=3", "/ [a=1] [a=2] [=3]"},
      {"/?a=b=c", "/ [a=b=c]"},
      {"/%2541", "/%41"},
      {"http://host:80/x?y=z", "/x [y=z]"},
      {"https://host", "/"},
  };
  for (const auto& [given, expected] : cases) {
    const auto target = parse_request_target(given);
    ASSERT_TRUE(target) << given << ": " << target.error().to_string();
    EXPECT_EQ(shown(*target), expected);
  }
}

TEST(RequestTarget, SaysWhatIsWrong) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"", "begin it with '/'"},
      {"*", "begin it with '/'"},
      {"host:443", "begin it with '/'"},
      {"http://host?a", "begin it with '/'"},
      {"/%", "write %25"},
      {"/%4", "write %25"},
      {"/?a=%zz", "write %25"},
      {"/a%2Fb", "escaped slash"},
      {"/a%2fb", "escaped slash"},
      {"/a%00", "zero byte"},
      {"/?a=%00", "zero byte"},
      {"/a%0Ab", "control characters"},
      {"/%ff", "not UTF-8"},
      {"/?%ff", "not UTF-8"},
      {"/a#b", "fragment"},
  };
  for (const auto& [given, expected] : cases) {
    const auto target = parse_request_target(given);
    ASSERT_FALSE(target) << given;
    EXPECT_NE(target.error().to_string().find(expected), std::string::npos) << target.error().to_string();
  }
}

struct Outcome {
  RequestParser::State state;
  std::string text;  // "METHOD path|headers|body|what is left" or "STATUS body"
};

// Given in pieces of `step` bytes, as a socket might bring them.
Outcome parsed(std::string_view bytes, std::size_t step, ParserLimits limits) {
  RequestParser parser(limits);
  std::string unread;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    unread += bytes.substr(at, step);
    if (parser.state() == RequestParser::State::kHead || parser.state() == RequestParser::State::kBody) {
      unread.erase(0, parser.take(unread));
    }
  }
  Outcome outcome{parser.state(), {}};
  if (parser.state() == RequestParser::State::kDone) {
    const HttpRequest request = parser.take_request();
    outcome.text = request.method + " " + request.path + "|";
    for (const auto& [name, value] : request.headers) outcome.text += name + "=" + value + ";";
    outcome.text += "|" + request.body + "|" + unread;
  } else if (parser.state() == RequestParser::State::kRefused) {
    const HttpReply refusal = parser.refusal();
    outcome.text = std::to_string(refusal.status) + " " + refusal.body;
  }
  return outcome;
}

TEST(RequestParser, UnderstandsARequestHoweverItsBytesAreCut) {
  const std::pair<std::string_view, const char*> cases[] = {
      {"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a|host=x;||"},
      {"GET /a HTTP/1.0\r\n\r\n", "GET /a|||"},
      {"POST /b HTTP/1.1\r\nHOST: x\r\nContent-Length: 3\r\n\r\nabcGET /",
       "POST /b|host=x;content-length=3;|abc|GET /"},
      {"PUT /c HTTP/1.1\r\nhost:x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1;e=1\r\nd\r\n0\r\n\r\nnext",
       "PUT /c|host=x;transfer-encoding=chunked;|abcd|next"},
      {"PUT /d HTTP/1.1\r\nhost:x\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
       "PUT /d|host=x;transfer-encoding=Chunked;||"},
      {"PUT /e HTTP/1.1\r\nhost:x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\nAuthorization: me\r\n\r\n",
       "PUT /e|host=x;transfer-encoding=chunked;|z|"},
  };
  for (const auto& [given, expected] : cases) {
    for (std::size_t step = 1; step <= given.size(); ++step) {
      const Outcome outcome = parsed(given, step, {1000, 1000});
      EXPECT_EQ(outcome.state, RequestParser::State::kDone) << given << " in steps of " << step;
      EXPECT_EQ(outcome.text, expected) << "in steps of " << step;
    }
  }
}

TEST(RequestParser, RefusesWithTheRightStatus) {
  const std::string long_header(200, 'h');
  const std::pair<std::string, const char*> cases[] = {
      {"nonsense\r\n\r\n", "400 Bad request: "},
      {"PRI * HTTP/2.0\r\n\r\n", "400 Bad request: "},
      {"GET /a HTTP/1.1\r\n\r\n", "400 Bad request: one Host header"},
      {"GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400 Bad request: one Host header"},
      {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400 Bad request: request target: '%zz' is no escape"},
      {"GET /a HTTP/1.1\r\nHost: x\r\nA\x01: b\r\n\r\n", "400 Bad request: "},
      {"GET /a HTTP/1.1\r\nHost: x\r\nA: \xff\r\n\r\n", "400 Bad request: header 'A' is not ASCII"},
      {"GET /a HTTP/1.1\nHost: x\n\n\r\n\r\n", "400 Bad request: "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400 Bad request: "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "400 Bad request: "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "400 Bad request: "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501 "},
      {"POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "400 Bad request: HTTP/1.0"},
      {"POST /a HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\n\r\n", "417 "},
      {"GET /a HTTP/1.1\r\nHost: x\r\nA: " + long_header + "\r\n\r\n", "431 Request header too large: limit is 150"},
      {"GET /" + long_header, "431 "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n",
       R"(413 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)"
       R"("Request entity too large: limit is 10","reason":"RequestEntityTooLarge","code":413})"},
      {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n5\r\n", "413 "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n\r\n", "400 "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long_header, "431 "},
      {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nt: " + long_header, "431 "},
  };
  for (const auto& [given, expected] : cases) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, given.size()}) {
      const Outcome outcome = parsed(given, step, {150, 10});
      EXPECT_EQ(outcome.state, RequestParser::State::kRefused) << given << " in steps of " << step;
      EXPECT_TRUE(outcome.text.starts_with(expected)) << given << ": " << outcome.text;
    }
  }
}

TEST(HttpRequest, FindsHeadersAndParameters) {
  HttpRequest request;
  request.headers = {{"accept", "a"}, {"accept", "b"}};
  request.query = {{"watch", "1"}, {"watch", "2"}};
  EXPECT_EQ(request.header("accept"), "a");
  EXPECT_EQ(request.header("host"), "");
  EXPECT_EQ(*request.parameter("watch"), "1");
  EXPECT_EQ(request.parameter("limit"), nullptr);
}

TEST(ReplyHead, HasNoLineThatAHandlerDidNotMean) {
  HttpReply reply = text_reply(404, "no");
  reply.headers = {{"Warning", "299 - \"a\r\nSet-Cookie: x\""}, {"content-length", "7"}};
  EXPECT_EQ(
      reply_head(reply, {.content_length = 3, .chunked = false, .keep_alive = true}, 784'111'777),
      "HTTP/1.1 404 Not Found\r\nWarning: 299 - \"a  Set-Cookie: x\"\r\nCache-Control: no-cache, private\r\n"
      "Content-Type: text/plain; charset=utf-8\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 3\r\n\r\n");
  reply.headers = {{"cache-control", "max-age=1"}};
  reply.status = 204;
  EXPECT_EQ(reply_head(reply, {.content_length = {}, .chunked = true, .keep_alive = false}, 0),
            "HTTP/1.1 204 No Content\r\ncache-control: max-age=1\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

// Whatever is pushed comes out once and in order, however little is gathered at a time and sent of it.
TEST(WireQueue, PropertyIsAQueueOfBytes) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    WireQueue queue;
    std::string expected;
    std::string sent;
    std::array<std::string_view, 5> slices;
    for (int turn = 0; turn < 60; ++turn) {
      const std::string text(rng.below(12), static_cast<char>('a' + turn % 26));
      const std::uint64_t kind = rng.below(4);
      if (kind == 0) {
        queue.push(text);
        expected += text;
      } else if (kind == 1) {
        queue.push(std::make_shared<const std::string>(text));
        expected += text;
      } else if (kind == 2 && !text.empty()) {
        queue.push_chunk(std::make_shared<const std::string>(text));
        expected += std::string(1, "0123456789abcdef"[text.size()]) + "\r\n" + text + "\r\n";
      }
      const std::size_t bytes_max = rng.below(20);
      const std::size_t used = queue.gather(std::span(slices).first(rng.below(6)), bytes_max);
      std::string batch;
      for (std::size_t i = 0; i < used; ++i) batch += slices[i];
      ASSERT_LE(batch.size(), bytes_max);
      const std::size_t taken = rng.below(batch.size() + 1);
      sent += batch.substr(0, taken);
      queue.sent(taken);
      ASSERT_EQ(sent, expected.substr(0, sent.size()));
      ASSERT_EQ(queue.empty(), sent.size() == expected.size());
      ASSERT_EQ(queue.cost() == 0, queue.empty());
    }
  }
}

TEST(WireQueue, KeepsWhatIsInFlightWhenTheRestIsDropped) {
  WireQueue queue;
  auto first = std::make_shared<const std::string>("first");
  auto second = std::make_shared<const std::string>("second");
  queue.push_chunk(first);
  queue.push_chunk(second);
  std::array<std::string_view, 2> slices;
  EXPECT_EQ(queue.gather(slices, 100), 2U);
  queue.drop_waiting();
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_EQ(slices[1], "first");
  queue.sent(3);
  queue.drop_waiting();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.cost(), 0U);
}

}  // namespace berth::request_parser_test
