// The server's clients, each with its socket. Internal to the server: includes Boost.
#pragma once

// ThreadSanitizer does not understand fences (g++ refuses them then). Asio's are for memory that its users share without
// its queues or locks of their own; nothing here does.
#if defined(__SANITIZE_THREAD__)
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "web_server/exchange.h"
#include "web_server/gzip.h"
#include "web_server/http.h"
#include "web_server/request_parser.h"
#include "web_server/server.h"
#include "web_server/turns.h"
#include "web_server/wire_queue.h"

namespace berth {

class Connection;

// What the connections of one server share. It lives as long as the last of them: a late answer from another thread may
// hold one for a moment after the server is gone.
struct Shared {
  Shared(WebServerOptions given, HttpHandler handles)
      : options(std::move(given)), handler(std::move(handles)), turns(io, options.threads) {}

  // False: there are too many, or the server stops.
  bool add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection);
  std::vector<std::shared_ptr<Connection>> stop();
  // Closes connections while too much waits for their readers, those with most first: that frees most and hits fewest.
  void shed_readers();

  const WebServerOptions options;
  const HttpHandler handler;
  boost::asio::io_context io;
  Turns turns;
  std::optional<boost::asio::ssl::context> tls;
  std::atomic<std::size_t> bytes_waiting = 0;
  std::atomic<std::size_t> request_bytes = 0;

 private:
  std::mutex mutex_;
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> connections_;
  bool stopping_ = false;
};

// One sum that many connections add to: each tells its own part.
class PartOfSum {
 public:
  explicit PartOfSum(std::atomic<std::size_t>& sum) : sum_(sum) {}
  ~PartOfSum() { set(0); }
  PartOfSum(const PartOfSum&) = delete;
  PartOfSum& operator=(const PartOfSum&) = delete;

  void set(std::size_t part) {
    if (part == part_) return;
    sum_ += part - part_;  // modulo 2^64, so that less is a sum too
    part_ = part;
  }
  std::size_t part() const { return part_; }

 private:
  std::atomic<std::size_t>& sum_;
  std::size_t part_ = 0;
};

// One client. Its socket, its phase and what was read belong to its strand; what is to be sent and to which request
// belongs to its mutex, because answers come from any thread.
class Connection : public AnswerSink, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Shared> shared, boost::asio::ip::tcp::socket socket);

  void start();
  void close();  // any thread

  void reply(std::uint64_t exchange, HttpReply reply) override;
  std::shared_ptr<ClosedSignal> start_stream(std::uint64_t exchange, HttpReply head) override;
  bool write_chunk(std::uint64_t exchange, std::shared_ptr<const std::string> chunk) override;
  void end_stream(std::uint64_t exchange) override;

  // Any thread. What waits for this reader and is held for nobody else.
  std::size_t bytes_waiting();
  void break_off();

 private:
  // One turn of a connection that sends much: then others of the same thread have theirs.
  static constexpr std::size_t kBatchBytesMax = 64 << 10;
  static constexpr std::size_t kBatchSlicesMax = 64;

  enum class Phase { kHandshake, kIdle, kReading, kAnswering, kDraining, kClosed };
  enum class Answer { kNone, kOwed, kStreaming, kComplete };

  void begin();
  bool describe_peer();
  void read_more();
  void on_read(boost::system::error_code error, std::size_t bytes);
  void advance();
  void dispatch();
  void handle();
  void refuse(HttpReply reply);
  void flush();
  void on_written(boost::system::error_code error, std::size_t bytes);
  void finish_exchange();
  void drain();
  void lost();
  void expect_within(int seconds);
  void watch_deadline();

  // PRE: mutex_ is held.
  void push_reply(HttpReply reply);
  void schedule_flush();
  // `act` runs on the strand, when it is this payer's turn.
  void ask_turn(std::size_t cost, void (Connection::*act)());
  void account_waiting();
  void expect_reader(std::size_t bytes);
  void compress_more();
  void break_off_locked();

  const std::shared_ptr<Shared> shared_;
  boost::asio::ip::tcp::socket socket_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  boost::asio::steady_timer timer_;

  // Of the strand.
  Phase phase_ = Phase::kHandshake;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  Peer peer_;
  std::optional<RequestParser> parser_;
  HttpRequest request_;     // waits for its turn
  bool continued_ = false;  // "100 Continue" was sent for this request
  std::string unread_;      // arrived, not yet understood
  std::vector<char> landing_;
  bool reading_ = false;
  bool writing_ = false;
  std::array<std::string_view, kBatchSlicesMax> slices_;
  std::array<boost::asio::const_buffer, kBatchSlicesMax> batch_;
  PartOfSum request_bytes_;

  // Of the mutex.
  std::mutex mutex_;
  bool alive_ = true;
  WireQueue queue_;
  std::uint64_t exchange_ = 0;
  std::string payer_;  // of the turns that this exchange takes
  Answer answer_ = Answer::kNone;
  bool keep_alive_ = true;
  bool chunks_ = true;
  bool head_only_ = false;                         // of a HEAD request
  bool gzip_ = false;                              // the client takes it
  std::unique_ptr<GzipBody> body_;                 // what is still to be compressed, behind all that is queued
  std::size_t reply_bytes_ = 0;                    // of a reply: held for its reader alone
  std::chrono::steady_clock::time_point read_by_;  // when the reader must have had it all
  bool flush_scheduled_ = false;
  std::shared_ptr<ClosedSignal> stream_;
  PartOfSum waiting_bytes_;
};

}  // namespace berth
