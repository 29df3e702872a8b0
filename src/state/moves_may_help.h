// Whether work might fit if others were moved: what is asked of many, before anybody searches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "state/state.h"

namespace berth {

// Cheap, and wrong on one side only: somebody who runs consents to being moved, and the free GPUs of the flavors that this way
// may use add up to what it asks. Best effort moves nobody, nor does what asks no GPU.
inline bool moves_may_help(const State& state, const Shape& shape, std::size_t way) {
  if (state.movable() == 0 || shape.terms.best_effort) return false;
  std::int64_t asked = 0;
  FlavorSet flavors;
  for (const NumberedPodSet& set : shape.ways[way]) {
    const PodRequest& request = state.request(set.request);
    if (request.gpus == 0) continue;
    asked += set.count * request.gpu_milli_total();
    flavors = flavors.united_with(request.flavors);
  }
  std::int64_t free = 0;
  for (std::size_t flavor = 0; flavor < state.flavors().size(); ++flavor) {
    if (flavors.contains(FlavorId(flavor))) free += state.ledger().totals(FlavorId(flavor)).gpu_milli;
  }
  return asked > 0 && free >= asked;
}

}  // namespace berth
