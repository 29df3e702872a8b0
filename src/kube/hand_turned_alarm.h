// An alarm whose time passes only when a test says so; runs happen on the thread that turns it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kube/alarm.h"

namespace berth {

class HandTurnedAlarm : public Alarm {
 public:
  std::unique_ptr<Handle> after(Duration delay, std::function<void()> run) override {
    const std::lock_guard hold(runs_->mutex);
    const Key key{runs_->now.ms + std::max<std::int64_t>(0, delay.ms), runs_->asked++};
    runs_->waiting.emplace(key, std::move(run));
    return std::make_unique<Waiting>(runs_, key);
  }
  Time now() const override {
    const std::lock_guard hold(runs_->mutex);
    return runs_->now;
  }

  // Lets time pass and runs what falls due, also what such runs ask for; each sees the time it asked for.
  void advance(Duration by) {
    const Time until = now() + by;
    while (std::function<void()> run = take_due(until)) run();
    const std::lock_guard hold(runs_->mutex);
    runs_->now = std::max(runs_->now, until);
  }
  // How long until the next run; none when nothing waits.
  std::optional<Duration> until_next() const {
    const std::lock_guard hold(runs_->mutex);
    if (runs_->waiting.empty()) return std::nullopt;
    return Duration{runs_->waiting.begin()->first.first - runs_->now.ms};
  }
  std::size_t waiting() const {
    const std::lock_guard hold(runs_->mutex);
    return runs_->waiting.size();
  }

 private:
  using Key = std::pair<std::int64_t, std::uint64_t>;  // due, order of asking
  struct Runs {
    std::mutex mutex;
    Time now{1'000'000};
    std::uint64_t asked = 0;
    std::map<Key, std::function<void()>> waiting;
  };
  class Waiting : public Handle {
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

  std::function<void()> take_due(Time until) {
    const std::lock_guard hold(runs_->mutex);
    if (runs_->waiting.empty() || runs_->waiting.begin()->first.first > until.ms) return nullptr;
    auto due = runs_->waiting.extract(runs_->waiting.begin());
    runs_->now = std::max(runs_->now, Time{due.key().first});
    return std::move(due.mapped());
  }

  std::shared_ptr<Runs> runs_ = std::make_shared<Runs>();
};

}  // namespace berth
