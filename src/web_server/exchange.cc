#include "web_server/exchange.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "web_server/reply_head.h"

namespace berth {

namespace {

class Stream : public HttpStream {
 public:
  Stream(std::weak_ptr<AnswerSink> sink, std::uint64_t exchange, std::shared_ptr<ClosedSignal> signal)
      : sink_(std::move(sink)), exchange_(exchange), signal_(std::move(signal)) {}
  // Nobody could end it any more.
  ~Stream() override { end(); }

  bool write(std::shared_ptr<const std::string> chunk) override {
    const auto sink = sink_.lock();
    return sink && sink->write_chunk(exchange_, std::move(chunk));
  }
  void end() override {
    if (const auto sink = sink_.lock()) sink->end_stream(exchange_);
  }
  void on_closed(std::function<void()> closed) override { signal_->on_closed(std::move(closed)); }
  bool open() const override { return signal_->open(); }

 private:
  const std::weak_ptr<AnswerSink> sink_;
  const std::uint64_t exchange_;
  const std::shared_ptr<ClosedSignal> signal_;
};

class OneAnswer : public Responder {
 public:
  OneAnswer(std::weak_ptr<AnswerSink> sink, std::uint64_t exchange) : sink_(std::move(sink)), exchange_(exchange) {}
  ~OneAnswer() override { reply(status_reply(500, "InternalError", "the request was dropped without an answer")); }

  void reply(HttpReply reply) override {
    if (const auto sink = sink_.lock()) sink->reply(exchange_, std::move(reply));
  }

  std::shared_ptr<HttpStream> start_stream(int status, std::string content_type,
                                           std::vector<std::pair<std::string, std::string>> headers) override {
    std::shared_ptr<ClosedSignal> signal;
    if (const auto sink = sink_.lock()) {
      signal = sink->start_stream(
          exchange_, {.status = status, .content_type = std::move(content_type), .headers = std::move(headers)});
    }
    if (signal) return std::make_shared<Stream>(sink_, exchange_, std::move(signal));
    auto closed = std::make_shared<ClosedSignal>();
    closed->tell();
    return std::make_shared<Stream>(std::weak_ptr<AnswerSink>(), exchange_, std::move(closed));
  }

 private:
  const std::weak_ptr<AnswerSink> sink_;
  const std::uint64_t exchange_;
};

}  // namespace

void ClosedSignal::on_closed(std::function<void()> closed) {
  {
    const std::lock_guard lock(mutex_);
    if (!told_) {
      waiting_.push_back(std::move(closed));
      return;
    }
  }
  closed();
}

void ClosedSignal::tell() {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    told_ = true;
    waiting.swap(waiting_);
  }
  for (const auto& closed : waiting) closed();
}

std::shared_ptr<Responder> make_responder(std::weak_ptr<AnswerSink> sink, std::uint64_t exchange) {
  return std::make_shared<OneAnswer>(std::move(sink), exchange);
}

}  // namespace berth
