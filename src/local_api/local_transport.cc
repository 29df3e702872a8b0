#include "local_api/local_transport.h"

#include <atomic>
#include <charconv>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {
namespace {

std::string percent_decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return out;
}

HttpRequest request_of(ApiCall call) {
  HttpRequest request;
  request.method = std::move(call.method);
  std::string_view path = call.path;
  const std::size_t mark = path.find('?');
  std::string_view query = mark == std::string_view::npos ? std::string_view() : path.substr(mark + 1);
  request.path = percent_decoded(path.substr(0, mark), false);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (!pair.empty()) {
      request.query.emplace_back(
          percent_decoded(pair.substr(0, equals), true),
          equals == std::string_view::npos ? std::string() : percent_decoded(pair.substr(equals + 1), true));
    }
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
  }
  request.headers = {{"accept", std::move(call.accept)}, {"user-agent", "berth-local"}};
  if (!call.body.empty()) request.headers.emplace_back("content-type", std::move(call.content_type));
  request.body = std::move(call.body);
  request.peer = {.address = "local", .loopback = true, .tls = false, .certificate_name = {}, .certificate_groups = {}};
  return request;
}

ApiAnswer answer_of(HttpReply reply) {
  ApiAnswer answer{.status = reply.status, .body = std::move(reply.body), .retry_after_s = 0};
  for (const auto& part : reply.parts) answer.body += *part;
  for (const auto& [name, value] : reply.headers) {
    if (name == "Warning") answer.warnings.push_back(warning_in(value));
    if (name == "Retry-After") std::from_chars(value.data(), value.data() + value.size(), answer.retry_after_s);
  }
  return answer;
}

// Both ends of one call: what the server answers by, and where the caller's words are kept. After detach() none of them
// begins to run. INVARIANT: on_end runs once at most, and no line after it.
class LocalCall final : public Responder, public HttpStream, public std::enable_shared_from_this<LocalCall> {
 public:
  using OnLine = std::function<void(std::string_view)>;
  using OnEnd = std::function<void(ApiAnswer)>;
  // Without `on_line` a streamed reply is collected.
  LocalCall(OnLine on_line, OnEnd on_end) : on_line_(std::move(on_line)), on_end_(std::move(on_end)) {}
  ~LocalCall() override {
    if (on_end_ && !detached_) on_end_({.status = 500, .body = "the server gave no answer", .retry_after_s = 0});
  }

  void reply(HttpReply reply) override { finish(answer_of(std::move(reply))); }

  std::shared_ptr<HttpStream> start_stream(int status, std::string,
                                           std::vector<std::pair<std::string, std::string>>) override {
    status_ = status;
    return shared_from_this();
  }

  bool write(std::shared_ptr<const std::string> chunk) override {
    if (!open()) return false;
    if (!on_line_) {
      collected_ += *chunk;
      return true;
    }
    std::string_view text = *chunk;
    while (!text.empty() && open()) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) {
        collected_ += text;
        break;
      }
      if (collected_.empty()) {
        on_line_(text.substr(0, end));
      } else {
        collected_ += text.substr(0, end);
        on_line_(std::exchange(collected_, {}));
      }
      text.remove_prefix(end + 1);
    }
    return open();
  }

  void end() override {
    finish({.status = status_, .body = on_line_ ? std::string() : std::move(collected_), .retry_after_s = 0});
  }

  void on_closed(std::function<void()> closed) override {
    {
      const std::lock_guard lock(mutex_);
      if (!ended_ && !detached_) {
        closed_ = std::move(closed);
        return;
      }
    }
    closed();
  }

  bool open() const override { return !ended_ && !detached_; }

  // The caller is not interested any more.
  void detach() {
    std::function<void()> closed;
    {
      const std::lock_guard lock(mutex_);
      detached_ = true;
      closed = std::move(closed_);
      closed_ = nullptr;
    }
    if (closed) closed();
  }

 private:
  void finish(ApiAnswer answer) {
    std::function<void()> closed;
    OnEnd on_end;
    {
      const std::lock_guard lock(mutex_);
      if (ended_.exchange(true)) return;
      closed = std::move(closed_);
      closed_ = nullptr;
      if (!detached_) on_end = std::move(on_end_);
      on_end_ = nullptr;
    }
    if (closed) closed();
    if (on_end) on_end(std::move(answer));
  }

  const OnLine on_line_;
  OnEnd on_end_;
  int status_ = 200;
  std::string collected_;  // of the one thread that writes
  mutable std::mutex mutex_;
  std::atomic<bool> ended_ = false, detached_ = false;
  std::function<void()> closed_;
};

class LocalStream final : public ApiStream {
 public:
  explicit LocalStream(std::shared_ptr<LocalCall> call) : call_(std::move(call)) {}
  ~LocalStream() override { call_->detach(); }

 private:
  const std::shared_ptr<LocalCall> call_;
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(ApiServer& server, User user) : server_(server), user_(std::move(user)) {}

  void send(ApiCall call, std::function<void(ApiAnswer)> done) override {
    server_.handle_as(user_, request_of(std::move(call)), std::make_shared<LocalCall>(nullptr, std::move(done)));
  }

  std::unique_ptr<ApiStream> stream(ApiCall call, std::function<void(std::string_view)> on_line,
                                    std::function<void(ApiAnswer)> on_end) override {
    auto local = std::make_shared<LocalCall>(std::move(on_line), std::move(on_end));
    auto stream = std::make_unique<LocalStream>(local);
    server_.handle_as(user_, request_of(std::move(call)), std::move(local));
    return stream;
  }

 private:
  ApiServer& server_;
  const User user_;
};

}  // namespace

std::unique_ptr<Transport> connect_locally(ApiServer& server, User user) {
  return std::make_unique<LocalTransport>(server, std::move(user));
}

}  // namespace berth
