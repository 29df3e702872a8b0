// For tests of what works on a thread of its own, and tells the scheduler's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace berth {

// What is posted to the scheduler's thread is run by the test.
class Posted {
 public:
  std::function<void(std::function<void()>)> poster() {
    return [this](std::function<void()> work) {
      const std::lock_guard hold(mutex_);
      waiting_.push_back(std::move(work));
      changed_.notify_one();
    };
  }
  bool run_next() {
    std::unique_lock hold(mutex_);
    if (!changed_.wait_for(hold, std::chrono::seconds(60), [this] { return !waiting_.empty(); })) return false;
    const auto work = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    hold.unlock();
    work();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace berth
