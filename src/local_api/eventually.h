// For tests against servers of the same process: waiting for what other threads bring about. For tests only.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace berth {

// True as soon as it holds; false when a minute has passed.
inline bool eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace berth
