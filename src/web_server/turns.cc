#include "web_server/connection.h"  // before Boost: it configures Asio

#include <boost/asio/post.hpp>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "web_server/turns.h"

namespace berth {

void Turns::ask(std::string_view payer, std::uint64_t cost, std::function<void()> turn) {
  const std::lock_guard lock(mutex_);
  waiting_.push(payer, cost, std::move(turn));
  if (posted_ == posted_max_) return;
  ++posted_;
  boost::asio::post(io_, [this] { run_next(); });
}

void Turns::run_next() {
  std::optional<std::function<void()>> turn;
  {
    const std::lock_guard lock(mutex_);
    turn = waiting_.pop();
    if (!turn) {
      --posted_;
      return;
    }
  }
  (*turn)();
  turn.reset();  // what it holds may be the last of a connection
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) {
    --posted_;
  } else {
    boost::asio::post(io_, [this] { run_next(); });
  }
}

}  // namespace berth
