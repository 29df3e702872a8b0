// A transport without a server, for tests: records what is asked, answers by a function, and lets the test push a
// stream's lines and end it. One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/transport.h"

namespace berth {

class ScriptedTransport : public Transport {
 public:
  class Stream {
   public:
    Stream(ApiCall call, std::function<void(std::string_view)> on_line, std::function<void(ApiAnswer)> on_end)
        : call_(std::move(call)), on_line_(std::move(on_line)), on_end_(std::move(on_end)) {}

    const ApiCall& call() const { return call_; }
    bool is_open() const { return open_; }
    // Nothing happens once the other side has let go.
    void push(std::string_view line) {
      if (open_) on_line_(line);
    }
    void end(ApiAnswer with = {.status = 200}) {
      if (std::exchange(open_, false)) on_end_(std::move(with));
    }
    void let_go() { open_ = false; }

   private:
    ApiCall call_;
    std::function<void(std::string_view)> on_line_;
    std::function<void(ApiAnswer)> on_end_;
    bool open_ = true;
  };

  // Answers a call, within send(). None: the call is held until answer_held(). Without it all calls are held.
  std::function<std::optional<ApiAnswer>(const ApiCall&)> answer;
  // Sees a stream within stream(), when it has been recorded; may push and end it there.
  std::function<void(Stream&)> opened;

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    calls.push_back(call);
    std::optional<ApiAnswer> now = answer ? answer(call) : std::nullopt;
    if (now) {
      done(std::move(*now));
    } else {
      held_.emplace_back(std::move(call), std::move(done));
    }
  }
  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view line)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    auto begun = std::make_shared<Stream>(std::move(call), std::move(on_line), std::move(on_end));
    streams.push_back(begun);
    auto handle = std::make_unique<Handle>(begun);
    if (opened) opened(*begun);
    return handle;
  }

  std::size_t held() const { return held_.size(); }
  const ApiCall& next_held() const { return held_.front().first; }
  // Answers the one that has waited longest. PRE: held() > 0.
  void answer_held(ApiAnswer with) {
    auto [call, done] = std::move(held_.front());
    held_.pop_front();
    done(std::move(with));
  }
  // The latest stream that is still open, or nullptr.
  Stream* open_stream() const {
    for (auto stream = streams.rbegin(); stream != streams.rend(); ++stream) {
      if ((*stream)->is_open()) return stream->get();
    }
    return nullptr;
  }

  std::vector<ApiCall> calls;  // of send(), in order
  std::vector<std::shared_ptr<Stream>> streams;

 private:
  class Handle : public ApiStream {
   public:
    explicit Handle(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() override { stream_->let_go(); }

   private:
    std::shared_ptr<Stream> stream_;
  };

  std::deque<std::pair<ApiCall, std::function<void(ApiAnswer)>>> held_;
};

}  // namespace berth
