// Ways to an API server that lose answers, or end. For tests.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kube/transport.h"

namespace berth {

// Loses every second answer to what changes something; the server has done it all the same.
class LossyTransport : public Transport {
 public:
  explicit LossyTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    const bool lost = call.method != "GET" && ++changes_ % 2 == 0;
    inner_->send(std::move(call), [lost, done = std::move(done)](ApiAnswer answer) {
      done(lost ? ApiAnswer{.status = 0, .body = "the connection was lost", .retry_after_s = 0} : std::move(answer));
    });
  }
  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    return inner_->stream(std::move(call), std::move(on_line), std::move(on_end));
  }

 private:
  const std::unique_ptr<Transport> inner_;
  std::atomic<int> changes_ = 0;
};

// The controllers' last so many writes; then nothing goes through any more. Events are not counted.
class CutTransport : public Transport {
 public:
  CutTransport(Transport& inner, int writes) : inner_(inner), left_(writes) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    const bool writes = call.method != "GET" && call.path.find("/events") == std::string::npos;
    if (left_ <= 0 || (writes && --left_ < 0)) {
      return done(ApiAnswer{.status = 0, .body = "cut off", .retry_after_s = 0});
    }
    inner_.send(std::move(call), std::move(done));
  }
  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    return inner_.stream(std::move(call), std::move(on_line), std::move(on_end));
  }
  bool is_cut() const { return left_ <= 0; }

 private:
  Transport& inner_;
  std::atomic<int> left_;
};

}  // namespace berth
