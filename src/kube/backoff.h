// How long to wait before trying again: 0.8 s, doubling up to 30 s, each with up to as much again by chance, so that
// many clients of one server that comes back do not all come at once. The first two tries after all was well are
// quicker: most lost connections are a server that restarts or a proxy that forgets.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/rng.h"
#include "base/time.h"

namespace berth {

class Backoff {
 public:
  static constexpr Duration kLongest = seconds(30);

  explicit Backoff(Seed seed) : rng_(seed) {}

  // The wait after one more failure.
  Duration next() {
    std::int64_t least_ms = steady_ms_;
    if (quick_left_ > 0) {
      least_ms = --quick_left_ > 0 ? 100 : 300;
    } else {
      steady_ms_ = std::min(2 * steady_ms_, kLongest.ms);
    }
    return {std::min(least_ms + rng_.between(0, least_ms), kLongest.ms)};
  }
  // All is well.
  void reset() {
    steady_ms_ = kFirstMs;
    quick_left_ = 2;
  }

 private:
  static constexpr std::int64_t kFirstMs = 800;

  Rng rng_;
  std::int64_t steady_ms_ = kFirstMs;
  int quick_left_ = 0;
};

}  // namespace berth
