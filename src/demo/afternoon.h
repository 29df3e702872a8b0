// A made-up afternoon of four teams on a fleet: generated jobs (sim/generate.h), few enough and short enough to be played
// on a live control plane at many times the speed. The same spec makes the same afternoon.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/rng.h"
#include "base/time.h"
#include "sim/trace.h"

namespace berth {

struct AfternoonSpec {
  std::int64_t nodes = 1000;
  Seed seed{7};
  Duration length = seconds(300);  // as it passes on the clock
  std::int64_t speed = 60;         // times as fast as life
  friend bool operator==(const AfternoonSpec&, const AfternoonSpec&) = default;
};

inline constexpr std::int64_t kAfternoonSpeedMax = 3600;
inline constexpr Duration kAfternoonMin = seconds(60), kAfternoonMax = seconds(10 * 3600);  // of its own time
inline constexpr Time kAfternoonBegins{13 * 3'600'000};                                     // one o'clock

// Names of namespaces and of queues.
inline constexpr std::array<std::string_view, 4> kTeams = {"research", "models", "product", "data"};

// Times are the afternoon's, from kAfternoonBegins on; jobs stand in the order of submission. Those of the first moment
// are what has been running since the morning; the others arrive within the first half of the afternoon, and none runs
// longer than half of it, so that all is over when it ends or soon after. They ask for a little more than there is.
// PRE: nodes as generate_fleet takes them; length times speed from kAfternoonMin to kAfternoonMax.
Trace make_afternoon(const AfternoonSpec& spec);

}  // namespace berth
