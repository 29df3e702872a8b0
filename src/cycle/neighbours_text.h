// Why the pods around keep work from starting, and what is said of that.
#pragma once

#include <optional>
#include <string>

#include "model/reason.h"
#include "state/state.h"

namespace berth {

// It may matter to some of its pods who is around.
bool looks_around(const State& state, const Shape& shape);

// kPorts, kAffinity or kSpread: the first of these without which it would have room now; nothing if it has room, or if there is
// none for it whoever is around.
std::optional<ReasonCode> kept_away_by_neighbours(const State& state, const Shape& shape);

// "room for 1 of 3 pods; the pods around keep the others from 2 nodes with room: 1 has pods from which it is to be apart, ...",
// about the first of its ways.
std::string neighbours_text(const State& state, const Shape& shape);

// "3 pods, no two of which may be on one node since they ask the same host port; even if nothing else ran there are 2 nodes for them";
// nothing if it is not its own pods that keep each other away for good.
std::optional<std::string> apart_text(const State& state, const Shape& shape);

}  // namespace berth
