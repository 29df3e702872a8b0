// Whose turn it is, in words.
#pragma once

#include <string>

#include "fairness/who_is_next.h"
#include "model/ids.h"
#include "state/state.h"

namespace berth {

// Of a queue with somebody who waits at it or below it: where it stands at each level on its way up, who goes before it and
// why. "2nd of 3 at the top: after product (inside its floor, of which it uses 1/4); its share would be 1/8". Empty where
// nobody else waits.
std::string turn_text(const State& state, const WhoIsNext& who, QueueId queue);

}  // namespace berth
