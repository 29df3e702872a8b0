#include "apiserver/long_reads.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace berth {
namespace {

constexpr int kNicer = 10;

}  // namespace

LongReads::LongReads(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

LongReads::~LongReads() {
  FairQueue<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    std::swap(dropped, waiting_);
  }
  filled_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void LongReads::run(std::string_view user, std::function<void()> read) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push(user, 1, std::move(read));
  }
  filled_.notify_one();
}

void LongReads::serve() {
  // To Linux a thread's own niceness. Where there are fewer cores than threads, whoever serves everybody goes first; if it
  // is refused, it goes without.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), getpriority(PRIO_PROCESS, 0) + kNicer));
  while (true) {
    std::function<void()> read;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      read = *waiting_.pop();
    }
    read();
  }
}

}  // namespace berth
