// GPUs whose slices were cut beforehand and may be cut anew: into what, once it is decided who is to have which slice.
#pragma once

#include <cstdint>
#include <span>

#include "cycle/cycle.h"
#include "model/mig_geometry.h"

namespace berth {

// What a GPU is cut into from then on. Those that are taken are among them, and so is of these, as far as there is room: what is promised to
// others, in its order; what is there already, the largest first; more of the shapes that were asked for, and then of any that have
// the usual engines, the largest first. PRE: `taken` is a layout.
struct NextCut {
  MigPlaceSet taken;
  std::span<const std::size_t> promised = {};  // places
  MigPlaceSet before;
  std::span<const std::size_t> asked = {};  // shapes
};
MigPlaceSet next_cut(const MigGeometry& mig, const NextCut& cut);

// How long it takes until the last slice of a start is there for which a GPU has to be cut anew; none: none has to be.
Duration longest_cut(const State& state, const Start& start);

// How long those take at the longest who are in a place, or are to have it, until their slice is there: it has to be cut, or is being
// cut; all of a node whose GPUs are cut at once, while that is done for somebody.
Duration cut_at(const State& state, std::uint8_t slice, const PodPlacement& place);
// Of all pods of a start; and of all that somebody lacks who has room and has not begun.
Duration cut_before(const State& state, const Start& start);
Duration cut_before(const State& state, WorkloadId starting);
// The longest of any node.
Duration longest_recut(const State& state);

// When somebody to whom room is promised begins at the latest: from the moment of his shadow on it is his, and is cut for him.
Time begins_by(const State& state, const Start& start, Time then);
inline Time begins_by(const State& state, const Shadow& shadow) { return begins_by(state, shadow.start, shadow.at); }

// Whether it would find all of its slices there, once those have ended whose run limits end them before that, beside those who wait for
// that in this cycle already; then it is one of them. What may end otherwise nobody knows. PRE: its places are not in the trial, which
// is left as it was.
bool comes_free_before_a_cut(OneCycle& cycle, std::size_t way, const Start& start);

// A phase of the cycle: each GPU is cut anew on which somebody has room by this plan for whom the slice is not there; with it all others
// of a node whose GPUs are cut at once.
void cut_anew(OneCycle& cycle);

// Who begins by this plan on a node whose GPUs are cut at once holds it as it is, until the plan is made.
void hold_cuts(OneCycle& cycle, const Start& start);
void hold_cuts(OneCycle& cycle, const Repair& repair);
void let_go_of_cuts(Engine& engine);

}  // namespace berth
