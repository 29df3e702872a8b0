// Virtual or real, time is milliseconds in an integer; the core is told the time and never asks for it.
#pragma once

#include <compare>
#include <cstdint>

namespace berth {

// A length of time in milliseconds.
struct Duration {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return {a.ms + b.ms}; }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ms - b.ms}; }
};

// A moment: milliseconds since the run's own zero (in scenarios 00:00 of the first day).
struct Time {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time t, Duration d) { return {t.ms + d.ms}; }
  friend constexpr Duration operator-(Time a, Time b) { return {a.ms - b.ms}; }
};

// What the door believes: 10,000 years, far from where sums of times could overflow.
inline constexpr Time kTimeMax{std::int64_t{10'000} * 366 * 86'400'000};

inline constexpr std::int64_t kMinuteMs = 60'000, kHourMs = 60 * kMinuteMs, kDayMs = 24 * kHourMs;

constexpr Duration seconds(std::int64_t s) { return {s * 1000}; }

}  // namespace berth
