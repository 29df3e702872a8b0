// Whole nodes out of pieces, for nobody's sake: planned and shown first, carried out where somebody says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "cycle/cycle.h"
#include "cycle/engine.h"
#include "model/event.h"
#include "model/plan.h"
#include "model/request.h"

namespace berth {

struct DefragmentOptions {
  std::int32_t gpus = 8;   // room is made for pods of so many
  std::string slice = {};  // or for slices of this profile, of the first flavor that has it and of which a node is cut
  // What comes free is believed to be of use for so long: a node is worth its GPUs for that time, and costs less or stays.
  Duration horizon{4 * 3'600'000};
  std::int64_t moves_max = 1'000'000;
  std::int64_t attempts = 0;  // at a better plan than the first (cycle/repacking.h); more of them never make it worse
};

// Of work that consents to it, proven to run elsewhere at once. Good for the state as it is, like any plan.
struct Defragmentation {
  Plan plan;
  std::int64_t pods_before = 0;  // for so many pods there is room
  std::int64_t pods_after = 0;   // and will be
  std::int64_t pods_ideal = 0;   // more there cannot be, wherever everything went
  std::int64_t lost_gpu_s = 0;
  std::int64_t unlocked_gpu_s = 0;  // of the pods for which there was no room, in that time
};

// What a pod asks for which room is made; none: no node is cut into slices of that profile.
std::optional<PodRequest> request_of(const State& state, const DefragmentOptions& options);

// Nothing where nobody could ask that. PRE: request_of() has an answer. The state is left as it was.
Defragmentation plan_defragmentation(const State& state, Time now, const DefragmentOptions& options);

// The same, of which only such moves are left as the next cycle that decides nothing else carries out; with room counted by GPUs, or
// slices, alone. PRE: request_of() has an answer; the state has come to rest.
Defragmentation plan_that_holds(const State& state, Time now, const DefragmentOptions& options);

// These moves, to be carried out. `request`: of the pods for which they make room.
DefragmentationAsked asked_for(const Defragmentation& made, const PodRequest& request, Duration horizon);

// The phase that carries such moves out (DefragmentationAsked), last of those who decide: who waits, has to go or is repaired comes
// first. Each is proven again: who may not be moved any more, or has no room where he was to go, stays, and the others go if that
// is still worth it. Who minds where he is with others is placed as ever. Nobody goes where something is promised or reserved, nor
// where others' floors would be less whole.
void defragment(OneCycle& cycle);

}  // namespace berth
