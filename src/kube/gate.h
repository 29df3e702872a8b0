// The callbacks of one owner: one at a time, and none after the gate is closed. What lets an owner be destroyed while
// the transport or an alarm is about to call it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace berth {

// close() waits for a callback that runs on another thread; from within a callback it does not, and that callback goes
// on: it must not touch the owner's own members afterwards. Never close while holding a lock that a callback takes.
class Gate {
 public:
  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { close(); }

  void close() {
    const std::lock_guard hold(state_->mutex);
    state_->open = false;
  }
  // PRE: called from within a guarded callback, or holding lock().
  bool is_open() const { return state_->open; }
  // For what the owner does between callbacks.
  std::unique_lock<std::recursive_mutex> lock() const { return std::unique_lock(state_->mutex); }

  // `callback` behind the gate; outlives the gate and does nothing then.
  template <class Callback>
  auto guarded(Callback callback) const {
    return [state = state_, callback = std::move(callback)](auto&&... arguments) mutable {
      const std::lock_guard hold(state->mutex);
      if (state->open) callback(std::forward<decltype(arguments)>(arguments)...);
    };
  }

 private:
  struct State {
    // Recursive: a transport may answer within the very call that asks.
    std::recursive_mutex mutex;
    bool open = true;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace berth
