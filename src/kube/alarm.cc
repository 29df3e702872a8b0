#include "kube/alarm.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace berth {
namespace {

using Clock = std::chrono::steady_clock;
using Key = std::pair<Clock::time_point, std::uint64_t>;  // due, order of asking

// What thread and handles share; handles may outlive the alarm.
struct Runs {
  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  std::uint64_t asked = 0;
  std::map<Key, std::function<void()>> waiting;
};

class Waiting : public Alarm::Handle {
 public:
  Waiting(std::shared_ptr<Runs> runs, Key key) : runs_(std::move(runs)), key_(key) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() override {
    std::function<void()> dropped;  // destroyed after the lock is gone: it may own other handles
    const std::lock_guard hold(runs_->mutex);
    if (const auto found = runs_->waiting.find(key_); found != runs_->waiting.end()) {
      dropped = std::move(found->second);
      runs_->waiting.erase(found);
    }
  }

 private:
  std::shared_ptr<Runs> runs_;
  Key key_;
};

class ThreadAlarm : public Alarm {
 public:
  ThreadAlarm() : thread_([this] { serve(); }) {}
  ThreadAlarm(const ThreadAlarm&) = delete;
  ThreadAlarm& operator=(const ThreadAlarm&) = delete;
  ~ThreadAlarm() override {
    {
      const std::lock_guard hold(runs_->mutex);
      runs_->stopping = true;
    }
    runs_->changed.notify_all();
    thread_.join();
    std::map<Key, std::function<void()>> dropped;
    const std::lock_guard hold(runs_->mutex);
    dropped.swap(runs_->waiting);
  }

  std::unique_ptr<Handle> after(Duration delay, std::function<void()> run) override {
    const auto wait = std::chrono::milliseconds(std::clamp<std::int64_t>(delay.ms, 0, kDelayMax.ms));
    const std::lock_guard hold(runs_->mutex);
    const Key key{Clock::now() + wait, runs_->asked++};
    runs_->waiting.emplace(key, std::move(run));
    if (runs_->waiting.begin()->first == key) runs_->changed.notify_all();
    return std::make_unique<Waiting>(runs_, key);
  }

  Time now() const override {
    return {std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count()};
  }

 private:
  // A century: far from where the clock's arithmetic overflows.
  static constexpr Duration kDelayMax{std::int64_t{100} * 366 * 86'400'000};

  void serve() {
    std::unique_lock hold(runs_->mutex);
    while (!runs_->stopping) {
      if (runs_->waiting.empty()) {
        runs_->changed.wait(hold);
        continue;
      }
      const Clock::time_point due = runs_->waiting.begin()->first.first;
      if (due > Clock::now()) {
        runs_->changed.wait_until(hold, due);
        continue;
      }
      std::function<void()> run = std::move(runs_->waiting.begin()->second);
      runs_->waiting.erase(runs_->waiting.begin());
      hold.unlock();
      run();
      run = nullptr;  // what it owned may cancel others, which takes the lock
      hold.lock();
    }
  }

  std::shared_ptr<Runs> runs_ = std::make_shared<Runs>();
  std::thread thread_;  // last: it uses the others
};

}  // namespace

std::unique_ptr<Alarm> Alarm::start() { return std::make_unique<ThreadAlarm>(); }

}  // namespace berth
