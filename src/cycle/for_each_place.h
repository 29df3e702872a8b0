// The pods of a start, or of a repair, with what they ask and where they go.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/plan.h"
#include "state/state.h"

namespace berth {

// Calls visit(request, place) for each.
template <class Visit>
void for_each_place(const State& state, const Start& start, Visit visit) {
  const Shape& shape = state.shape(state.workload(start.workload).shape);
  std::size_t at = 0;
  for (const NumberedPodSet& set : shape.ways[start.way]) {
    for (std::int64_t i = 0; i < set.count; ++i, ++at) visit(state.request(set.request), start.pods[at]);
  }
}

template <class Visit>
void for_each_place(const State& state, const Repair& repair, Visit visit) {
  const std::vector<LostMember>& lost = state.find_repairing(repair.workload)->lost;
  for (std::size_t at = 0; at < lost.size(); ++at) visit(state.request(lost[at].request), repair.pods[at]);
}

}  // namespace berth
