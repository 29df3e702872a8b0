// Reads of many objects: they take milliseconds each, so they run on threads of their own, users in turn, and the threads
// that serve everybody go on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fair_queue.h"

namespace berth {

class LongReads {
 public:
  // As many objects as may be read on the spot.
  static constexpr std::size_t kObjectsAtOnceMax = 100;

  explicit LongReads(int threads);
  // Drops what has not begun.
  ~LongReads();
  LongReads(const LongReads&) = delete;
  LongReads& operator=(const LongReads&) = delete;

  void run(std::string_view user, std::function<void()> read);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable filled_;
  FairQueue<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth
