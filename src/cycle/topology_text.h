// What is said of a workload whose pods are to be close together, or far apart, and have no domains with room for them.
#pragma once

#include <optional>
#include <string>

#include "model/reason.h"
#include "state/room.h"
#include "state/state.h"

namespace berth {

// Whether each of its pod sets, by itself, has room now as near together as it asks, in one of its ways; or would, if it mattered less who
// is on a GPU already, and has been.
bool fits_together_now(const State& state, const Shape& shape, Occupants occupants = Occupants::kMatter);

// Whether there would be room now if its pods might be anywhere: each pod set by itself, in one of its ways.
bool fits_apart(const State& state, const Shape& shape);

// kSpread if the first of its sets that waits for domains is to be spread, wherever, else kTopology; nothing if each has domains by
// itself; `idle`: if nothing ran.
std::optional<ReasonCode> reason_of_lack(const State& state, const Shape& shape, bool idle);

// "no rack has room for 16 pods (3 are there: 9 fit in r2, 4 in r1, none in r3)", about the first of its sets that waits for a
// domain, in the way in which most of it fits; `idle`: if nothing ran.
std::string topology_text(const State& state, const Shape& shape, bool idle);

}  // namespace berth
