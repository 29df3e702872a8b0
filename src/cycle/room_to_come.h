// Room that somebody has already who begins when others have left the rest of it (rule 19).
#pragma once

#include <optional>

#include "state/state.h"

namespace berth {

// The same state as if whole GPUs, and parts of them, that are kept so and on which nobody is were free; nothing: there are none.
std::optional<State> without_room_to_come(const State& state);

}  // namespace berth
