// What is promised to whom at a moment, as far as the calendar is known.
#pragma once

#include "state/state.h"

namespace berth {

// PRE: the moment is not past.
inline const QuotaTree& tree_at(const State& state, Time then) {
  const OpenWindows now_open = state.open_windows();
  const OpenWindows open = open_at(state.windows(), then);
  if (open == now_open) return state.quotas().tree();
  for (const Turn& turn : first_of_each(turns_after(state.windows(), state.clock()), now_open)) {
    if (turn.open == open) return state.quotas().tree_at(turn.at);
  }
  return state.quotas().tree();
}

}  // namespace berth
