// One request and its answer, as handlers hold it: any thread, and longer than the connection lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "web_server/http.h"

namespace berth {

// Tells a stream's owner, once, that it is over.
class ClosedSignal {
 public:
  bool open() const { return open_; }
  void mark_closed() { open_ = false; }
  void on_closed(std::function<void()> closed);
  void tell();

 private:
  std::atomic<bool> open_ = true;
  std::mutex mutex_;
  bool told_ = false;
  std::vector<std::function<void()>> waiting_;
};

// Where answers go. `exchange` is the number of the request that is answered; an answer to another request than the one
// that waits for it, or after the end, has no effect.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void reply(std::uint64_t exchange, HttpReply reply) = 0;
  // Null if it has no effect.
  virtual std::shared_ptr<ClosedSignal> start_stream(std::uint64_t exchange, HttpReply head) = 0;
  virtual bool write_chunk(std::uint64_t exchange, std::shared_ptr<const std::string> chunk) = 0;
  virtual void end_stream(std::uint64_t exchange) = 0;
};

// Answers 500 when it is dropped without an answer; ends the stream when the stream is dropped.
std::shared_ptr<Responder> make_responder(std::weak_ptr<AnswerSink> sink, std::uint64_t exchange);

}  // namespace berth
