// Which pod of a set is which: whoever numbers them finds those near each other that have numbers near each other.
#pragma once

#include "model/plan.h"
#include "state/state.h"

namespace berth {

// The same places, those of each pod set along the tree of the network: the pods of a slice, and the slices of one domain of the level
// that the set asks for, stay beside each other. Who declares how his GPUs share a model has been laid out already.
Start along_the_tree(const State& state, Start start);

}  // namespace berth
