#include "web_server/connection.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "web_server/reply_head.h"
#include "web_server/tls.h"

namespace berth {

namespace net = boost::asio;
using tcp = net::ip::tcp;
using Error = boost::system::error_code;
using Clock = std::chrono::steady_clock;

namespace {

// Read at once: little while nothing is expected (every idle connection holds it), much while a body comes.
constexpr std::size_t kReadBytes = 4 << 10;
constexpr std::size_t kReadBodyBytes = 64 << 10;
// Of the next requests while one is answered; when it is full we stop reading, and the client waits.
constexpr std::size_t kReadAheadMax = 16 << 10;
// As in Kubernetes: below it, compressing costs more than it saves.
constexpr std::size_t kGzipLeastBytes = 128 << 10;
// Compressed in one turn of a connection: some milliseconds.
constexpr std::size_t kGzipStepBytes = 256 << 10;

bool is_worth_gzip(const HttpReply& reply, std::size_t bytes) {
  const bool is_text =
      reply.content_type.starts_with("application/json") || reply.content_type.starts_with("application/yaml");
  return is_text && bytes >= kGzipLeastBytes;
}

// What turns cost, in bytes of a reply. Little for a request: whoever asks for little should not wait for its answer until
// each of many others has had a long turn.
constexpr std::size_t kRequestCost = 2 << 10;
constexpr std::size_t kWriteCost = 1 << 10;

// Who proved his name by a certificate, or else whoever has these credentials.
std::string payer_of(const HttpRequest& request) {
  if (!request.peer.certificate_name.empty()) return request.peer.certificate_name;
  const std::string_view credentials = request.header("authorization");
  return credentials.empty() ? std::string() : "#" + std::to_string(std::hash<std::string_view>()(credentials));
}

std::int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

// ---- a connection: from bytes to the handler -----------------------------------------------------------------------

Connection::Connection(std::shared_ptr<Shared> shared, tcp::socket socket)
    : shared_(std::move(shared)),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      request_bytes_(shared_->request_bytes),
      waiting_bytes_(shared_->bytes_waiting) {}

void Connection::start() {
  if (!describe_peer()) return lost();
  Error ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  socket_.set_option(net::socket_base::keep_alive(true), ignored);
  watch_deadline();
  if (!shared_->tls) return begin();
  tls_.emplace(socket_, *shared_->tls);
  expect_within(shared_->options.request_s);
  tls_->async_handshake(net::ssl::stream_base::server, [self = shared_from_this()](Error error) {
    if (error || self->phase_ == Phase::kClosed) return self->lost();
    describe_certificate(self->tls_->native_handle(), self->peer_);
    self->begin();
  });
}

bool Connection::describe_peer() {
  Error error;
  const tcp::endpoint end = socket_.remote_endpoint(error);
  if (error) return false;
  const net::ip::address address = end.address();
  const std::string text = address.to_string();
  peer_.address = (address.is_v6() ? "[" + text + "]" : text) + ":" + std::to_string(end.port());
  peer_.loopback = address.is_loopback();
  return true;
}

void Connection::begin() {
  phase_ = Phase::kIdle;
  expect_within(shared_->options.idle_s);
  read_more();
}

// One read is always pending, also while a request is answered: that is how a lost client is noticed.
void Connection::read_more() {
  if (reading_ || phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kAnswering && unread_.size() >= kReadAheadMax) return;
  reading_ = true;
  landing_.resize(parser_ && parser_->state() == RequestParser::State::kBody ? kReadBodyBytes : kReadBytes);
  const auto arrived = [self = shared_from_this()](Error error, std::size_t bytes) { self->on_read(error, bytes); };
  if (tls_) {
    tls_->async_read_some(net::buffer(landing_), arrived);
  } else {
    socket_.async_read_some(net::buffer(landing_), arrived);
  }
}

void Connection::on_read(Error error, std::size_t bytes) {
  reading_ = false;
  if (error || phase_ == Phase::kClosed) return lost();
  if (phase_ != Phase::kDraining) {
    unread_.append(landing_.data(), bytes);
    advance();
  }
  read_more();
}

// As far as the bytes reach, and not beyond one request: the next one waits for this one's answer.
void Connection::advance() {
  if (phase_ == Phase::kIdle && !unread_.empty()) {
    phase_ = Phase::kReading;
    expect_within(shared_->options.request_s);
    parser_.emplace(ParserLimits{shared_->options.header_bytes_max, shared_->options.body_bytes_max});
    continued_ = false;
  }
  if (phase_ != Phase::kReading) return;
  unread_.erase(0, parser_->take(unread_));
  switch (parser_->state()) {
    case RequestParser::State::kRefused:
      return refuse(parser_->refusal());
    case RequestParser::State::kDone:
      return dispatch();
    case RequestParser::State::kBody:
      if (parser_->expects_continue() && !continued_) {
        continued_ = true;
        const std::lock_guard lock(mutex_);
        queue_.push("HTTP/1.1 100 Continue\r\n\r\n");
        schedule_flush();
      }
      break;
    case RequestParser::State::kHead:
      break;
  }
  request_bytes_.set(unread_.size() + parser_->body_bytes());
  if (shared_->request_bytes > shared_->options.all_requests_bytes_max) {
    HttpReply busy = text_reply(503, "Too many requests are arriving at once; try again");
    busy.headers.emplace_back("Retry-After", "1");
    refuse(std::move(busy));
  }
}

void Connection::dispatch() {
  request_ = parser_->take_request();
  request_.peer = peer_;
  phase_ = Phase::kAnswering;
  deadline_ = Clock::time_point::max();
  request_bytes_.set(request_.body.size());
  {
    const std::lock_guard lock(mutex_);
    ++exchange_;
    payer_ = payer_of(request_);
    answer_ = Answer::kOwed;
    keep_alive_ = parser_->keep_alive() && parser_->understands_chunks();  // HTTP/1.0 is answered and closed
    chunks_ = parser_->understands_chunks();
    head_only_ = request_.method == "HEAD";
    gzip_ = accepts_gzip(request_.header("accept-encoding"));
    ask_turn(kRequestCost + request_.body.size(), &Connection::handle);
  }
  parser_.reset();
}

void Connection::handle() {
  if (phase_ == Phase::kClosed) return;
  std::uint64_t exchange = 0;
  {
    const std::lock_guard lock(mutex_);
    exchange = exchange_;
  }
  request_bytes_.set(0);
  shared_->handler(std::exchange(request_, {}), make_responder(weak_from_this(), exchange));
}

void Connection::refuse(HttpReply reply) {
  phase_ = Phase::kAnswering;
  request_bytes_.set(0);
  parser_.reset();
  unread_.clear();
  const std::lock_guard lock(mutex_);
  ++exchange_;
  keep_alive_ = false;
  head_only_ = false;
  gzip_ = false;
  push_reply(std::move(reply));
}

// ---- a connection: from answers to bytes ---------------------------------------------------------------------------

void Connection::reply(std::uint64_t exchange, HttpReply reply) {
  {
    const std::lock_guard lock(mutex_);
    if (!alive_ || exchange != exchange_ || answer_ != Answer::kOwed) return;
    push_reply(std::move(reply));
  }
  shared_->shed_readers();
}

void Connection::push_reply(HttpReply reply) {
  if (!has_body(reply.status)) {
    reply.body.clear();
    reply.parts.clear();
  }
  std::size_t bytes = reply.body.size();
  reply_bytes_ = bytes;
  for (const auto& part : reply.parts) {
    bytes += part->size();
    if (part.use_count() == 1) reply_bytes_ += part->size();
  }
  answer_ = Answer::kComplete;
  if (gzip_ && chunks_ && !head_only_ && is_worth_gzip(reply, bytes)) {
    if (!reply.body.empty()) reply.parts.push_back(std::make_shared<const std::string>(std::move(reply.body)));
    reply.body.clear();
    body_ = GzipBody::begin(reply.parts);
  }
  const std::optional<std::size_t> length = has_body(reply.status) && !body_ ? std::optional(bytes) : std::nullopt;
  if (body_) {
    reply.headers.emplace_back("Content-Encoding", "gzip");
    reply.headers.emplace_back("Vary", "Accept-Encoding");
  }
  queue_.push(
      reply_head(reply, {.content_length = length, .chunked = body_ != nullptr, .keep_alive = keep_alive_}, now_s()));
  if (head_only_) {
    reply_bytes_ = 0;
  } else if (!body_) {
    queue_.push(std::move(reply.body));
    for (auto& part : reply.parts) queue_.push(std::move(part));
  }
  expect_reader(bytes);
  account_waiting();
  schedule_flush();
}

// However often its reader takes a byte, a reply is not held for ever.
void Connection::expect_reader(std::size_t bytes) {
  const auto seconds =
      static_cast<std::int64_t>(bytes / std::max<std::size_t>(1, shared_->options.reply_bytes_per_second_min));
  read_by_ = Clock::now() + std::chrono::seconds(shared_->options.request_s + seconds);
}

void Connection::compress_more() {
  while (queue_.empty() && body_) {
    std::string bytes = body_->next(kGzipStepBytes);
    if (!bytes.empty()) queue_.push_chunk(std::make_shared<const std::string>(std::move(bytes)));
    if (!body_->done()) continue;
    queue_.push_last_chunk();
    body_.reset();
  }
}

std::shared_ptr<ClosedSignal> Connection::start_stream(std::uint64_t exchange, HttpReply head) {
  const std::lock_guard lock(mutex_);
  if (!alive_ || exchange != exchange_ || answer_ != Answer::kOwed) return nullptr;
  queue_.push(reply_head(head, {.content_length = {}, .chunked = chunks_, .keep_alive = keep_alive_}, now_s()));
  if (head_only_) {
    answer_ = Answer::kComplete;
    expect_reader(0);
    schedule_flush();
    return nullptr;
  }
  answer_ = Answer::kStreaming;
  stream_ = std::make_shared<ClosedSignal>();
  schedule_flush();
  return stream_;
}

bool Connection::write_chunk(std::uint64_t exchange, std::shared_ptr<const std::string> chunk) {
  BERTH_ASSERT(chunk);
  std::shared_ptr<ClosedSignal> stream;
  {
    const std::lock_guard lock(mutex_);
    if (!alive_ || exchange != exchange_ || answer_ != Answer::kStreaming) return false;
    if (chunk->empty()) return true;
    // What waits already decides, not the chunk: a list of any length may be one chunk to a reader that keeps up.
    if (queue_.cost() > shared_->options.stream_bytes_waiting_max) {
      break_off_locked();
      return false;
    }
    if (chunks_) {
      queue_.push_chunk(std::move(chunk));
    } else {
      queue_.push(std::move(chunk));
    }
    account_waiting();
    schedule_flush();
    stream = stream_;
  }
  shared_->shed_readers();
  return stream->open();
}

void Connection::end_stream(std::uint64_t exchange) {
  const std::lock_guard lock(mutex_);
  if (!alive_ || exchange != exchange_ || answer_ != Answer::kStreaming) return;
  if (chunks_) queue_.push_last_chunk();
  answer_ = Answer::kComplete;
  expect_reader(queue_.cost());
  stream_->mark_closed();
  schedule_flush();
}

void Connection::account_waiting() { waiting_bytes_.set(stream_ ? queue_.cost() : reply_bytes_); }

std::size_t Connection::bytes_waiting() {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_.part();
}

void Connection::break_off() {
  const std::lock_guard lock(mutex_);
  if (alive_) break_off_locked();
}

void Connection::break_off_locked() {
  alive_ = false;
  queue_.drop_waiting();
  body_.reset();
  waiting_bytes_.set(0);
  if (stream_) stream_->mark_closed();
  net::post(socket_.get_executor(), [self = shared_from_this()] { self->lost(); });
}

// Under the mutex, so that nothing is posted to a connection that is lost already: the server waits for what is posted.
void Connection::schedule_flush() {
  if (flush_scheduled_) return;
  flush_scheduled_ = true;
  const std::size_t bytes = body_ ? kGzipStepBytes : std::min(queue_.cost(), kBatchBytesMax);
  ask_turn(kWriteCost + bytes, &Connection::flush);
}

void Connection::ask_turn(std::size_t cost, void (Connection::*act)()) {
  shared_->turns.ask(payer_, cost, [self = shared_from_this(), act] {
    net::dispatch(self->socket_.get_executor(), [self, act] { ((*self).*act)(); });
  });
}

void Connection::flush() {
  if (phase_ == Phase::kClosed) return;
  std::size_t slices = 0;
  bool complete = false;
  Clock::time_point read_by;
  {
    const std::lock_guard lock(mutex_);
    flush_scheduled_ = false;
    if (!alive_ || writing_) return;
    compress_more();
    slices = queue_.gather(slices_, kBatchBytesMax);
    complete = answer_ == Answer::kComplete;
    read_by = read_by_;
  }
  if (slices == 0) {
    if (complete && phase_ == Phase::kAnswering) finish_exchange();
    return;
  }
  // A reply must be read; a stream's reader may pause as long as little waits for it.
  if (complete) {
    expect_within(shared_->options.request_s);
    deadline_ = std::min(deadline_, read_by);
  }
  std::transform(slices_.begin(), slices_.begin() + slices, batch_.begin(),
                 [](std::string_view slice) { return net::const_buffer(slice.data(), slice.size()); });
  const std::span<const net::const_buffer> batch(batch_.data(), slices);
  writing_ = true;
  const auto written = [self = shared_from_this()](Error error, std::size_t bytes) { self->on_written(error, bytes); };
  if (tls_) {
    tls_->async_write_some(batch, written);
  } else {
    socket_.async_write_some(batch, written);
  }
}

void Connection::on_written(Error error, std::size_t bytes) {
  writing_ = false;
  if (error || phase_ == Phase::kClosed) return lost();
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.sent(bytes);
    account_waiting();
    more = alive_ && (!queue_.empty() || body_);
    if (more) schedule_flush();
  }
  if (!more) flush();
}

// The answer is sent whole.
void Connection::finish_exchange() {
  std::shared_ptr<ClosedSignal> stream;
  bool keep_alive = false;
  {
    const std::lock_guard lock(mutex_);
    answer_ = Answer::kNone;
    stream = std::move(stream_);
    reply_bytes_ = 0;
    account_waiting();
    keep_alive = keep_alive_;
  }
  if (stream) stream->tell();
  if (!keep_alive) return drain();
  phase_ = Phase::kIdle;
  expect_within(shared_->options.idle_s);
  advance();
  read_more();
}

// Closing with unread bytes would reset the connection, and the client might never see the answer: it closes first.
void Connection::drain() {
  phase_ = Phase::kDraining;
  unread_.clear();
  expect_within(shared_->options.request_s);
  if (tls_) {
    tls_->async_shutdown([self = shared_from_this()](Error) {});
  } else {
    Error ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  read_more();
}

// ---- a connection: its end -----------------------------------------------------------------------------------------

void Connection::close() {
  net::post(socket_.get_executor(), [self = shared_from_this()] { self->lost(); });
}

void Connection::lost() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  std::shared_ptr<ClosedSignal> stream;
  {
    const std::lock_guard lock(mutex_);
    alive_ = false;
    answer_ = Answer::kNone;
    queue_.drop_waiting();
    body_.reset();
    stream = std::move(stream_);
    waiting_bytes_.set(0);
  }
  request_bytes_.set(0);
  timer_.cancel();
  Error ignored;
  socket_.close(ignored);
  shared_->remove(this);
  if (stream) stream->tell();
}

void Connection::expect_within(int seconds) { deadline_ = Clock::now() + std::chrono::seconds(seconds); }

// The timer looks at the deadline at least as often as the shortest wait lasts, so that a new deadline needs no new
// timer and is still kept exactly.
void Connection::watch_deadline() {
  const auto shortest = std::chrono::seconds(std::min(shared_->options.idle_s, shared_->options.request_s));
  timer_.expires_at(std::min(deadline_, Clock::now() + shortest));
  timer_.async_wait([self = shared_from_this()](Error error) {
    if (error || self->phase_ == Phase::kClosed) return;
    if (Clock::now() >= self->deadline_) {
      if (self->phase_ != Phase::kReading) return self->lost();
      const int seconds = self->shared_->options.request_s;
      self->expect_within(seconds);
      self->refuse(text_reply(408, "Request timeout: it did not arrive within " + std::to_string(seconds) + " s"));
    }
    self->watch_deadline();
  });
}

}  // namespace berth
