// One thread on which functions run one after the other, in the order in which they were posted: callbacks from several
// threads become plain code without locks.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace berth {

class Strand {
 public:
  // `after_each_batch` runs on the strand when everything that had been posted has run: what costs something is done once
  // for many posts.
  explicit Strand(std::function<void()> after_each_batch = nullptr)
      : after_each_batch_(std::move(after_each_batch)), thread_([this] { run(); }) {}
  // What has begun is finished, the rest is dropped. Never from the strand itself.
  ~Strand() { stop(); }
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  // From any thread, also from the strand. After stop() it has no effect.
  void post(std::function<void()> work) {
    const std::lock_guard hold(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(work));
    changed_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard hold(mutex_);
      stopped_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    while (true) {
      std::deque<std::function<void()>> batch;
      {
        std::unique_lock hold(mutex_);
        changed_.wait(hold, [this] { return stopped_ || !waiting_.empty(); });
        if (stopped_) return;
        batch.swap(waiting_);
      }
      for (const auto& work : batch) work();
      if (after_each_batch_) after_each_batch_();
    }
  }

  std::function<void()> after_each_batch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace berth
