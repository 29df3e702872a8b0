// What GPUs that are cut have free for one more slice: enough on one of them but in pieces, enough only on all together, or
// too little; of those that were cut beforehand, the slices of its kind. Costs a look at every node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "state/state.h"

namespace berth {

// Of GPUs on open nodes whose engines are free for the slice.
struct SlicesFree {
  std::int64_t places = 0;          // for so many such slices
  std::int64_t gpus_in_pieces = 0;  // that have as much free as one asks, and no place for it
  std::int64_t memory_slices = 0;
  std::int64_t compute_slices = 0;
  std::int64_t fixed = 0;           // such slices that were cut beforehand,
  std::int64_t fixed_free = 0;      // and those of them that nobody has
  std::int64_t gpus_that_rest = 0;  // they would be cut anew for it, had they not been a short while ago;
  Time rested_at = kForever;        // the first of them is by then
  std::int64_t gpus_held = 0;       // they would, if nobody were on any GPU of their nodes
};

// PRE: the request is of a slice.
SlicesFree slices_free(const State& state, const PodRequest& slice);

// Whether there are too few places for the slices of a set, and as much is free in pieces as one of them asks.
bool fails_by_geometry(const State& state, const std::vector<NumberedPodSet>& way);

// When the first GPU may be cut anew again that would be cut for a workload that waits if those had gone whom it may take (13); none:
// there is none that rests.
std::optional<Time> rested_for_who_takes(const State& state, WorkloadId id);

// Whether as many memory and compute slices are free as those slices of a way ask for which none is there that was cut beforehand;
// true without slices.
bool slices_are_free_in_sum(const State& state, const std::vector<NumberedPodSet>& way);

// Whether some GPU that each set accepts can be cut into its slice, or was; true without slices.
bool can_be_cut(const State& state, const std::vector<NumberedPodSet>& way);

// "3g.40gb, 1g.10gb": into what GPUs that it accepts were cut beforehand, as the first of its flavors calls it; empty: none was.
std::string fixed_profiles(const State& state, const PodRequest& slice);

// "1g.10gb", as the first of its flavors calls it.
std::string name_of_slice(const State& state, const PodRequest& slice);

}  // namespace berth
