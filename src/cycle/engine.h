// The state and what makes deciding on it fast. What a cycle decides depends on the state alone.
#pragma once

#include <cstdint>

#include "fairness/quiet_lines.h"
#include "placement/score_index.h"
#include "state/state.h"

namespace berth {

struct Engine {
  State state;
  ScoreIndex index = ScoreIndex();
  QuietLines quiet = {};
  std::uint64_t shadows_stand_at = 0;  // the news at which each of the state's shadows was found to stand as it is
};

}  // namespace berth
