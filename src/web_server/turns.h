// Turns of the server's threads. Whatever takes a moment (to handle a request, to encrypt and send some of a reply) asks
// for a turn in the name of whoever pays for it, and payers get theirs in a fair order: the thousandth reply of one waits
// behind the first of another. Includes Boost.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

#include "base/fair_queue.h"

namespace berth {

// INVARIANT: as long as something waits, a turn is posted to the context, and never more turns than there are threads:
// so a request that arrives meets no more than that before it is read.
class Turns {
 public:
  Turns(boost::asio::io_context& io, int threads) : io_(io), posted_max_(threads) {}

  // Any thread. `turn` runs on one of the context's, soon.
  void ask(std::string_view payer, std::uint64_t cost, std::function<void()> turn);

 private:
  void run_next();

  boost::asio::io_context& io_;
  const int posted_max_;
  std::mutex mutex_;
  FairQueue<std::function<void()>> waiting_;
  int posted_ = 0;
};

}  // namespace berth
