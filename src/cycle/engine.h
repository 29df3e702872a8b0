// The state and what makes deciding on it fast. What a cycle decides depends on the state alone.
#pragma once

#include "fairness/quiet_lines.h"
#include "placement/score_index.h"
#include "state/state.h"

namespace berth {

struct Engine {
  State state;
  ScoreIndex index = ScoreIndex();
  QuietLines quiet = {};
};

}  // namespace berth
