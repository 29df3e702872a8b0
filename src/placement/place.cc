#include "placement/place.h"

#include <algorithm>
#include <limits>

#include "placement/in_domains.h"

namespace berth {

std::variant<Start, Unfit> place_in_way(const State& state, Trial& trial, ScoreIndex& index, WorkloadId workload,
                                        std::size_t way, Rng& rng, OpenFlavors open) {
  const Shape& shape = state.shape(state.workload(workload).shape);
  const Trial::Mark mark = trial.mark();
  Start start{.workload = workload, .way = static_cast<std::uint32_t>(way), .pods = {}};
  start.pods.reserve(static_cast<std::size_t>(shape.pods));
  for (NumberedPodSet set : shape.ways[way]) {
    if (open == OpenFlavors::kFirst) set.request = set.in_first_flavor;
    if (set.asks_for_domains()) {
      auto places = place_in_domains(state, trial, index, set, rng);
      if (const std::int64_t* const missing = std::get_if<std::int64_t>(&places)) {
        trial.rollback_to(mark);
        return Unfit{shape.ways[way].size() == 1 ? *missing : 1};
      }
      for (const PodPlacement& place : std::get<0>(places)) start.pods.push_back(place);
      continue;
    }
    for (std::int64_t placed = 0; placed < set.count; ++placed) {
      const std::optional<PodPlacement> place = index.best(state, set.request, rng);
      if (!place) {
        trial.rollback_to(mark);
        // With one pod set, as many pods were placed as there was room for, whatever their places. With several, a set
        // may have been crowded out by another, so nothing more is known than that something is missing.
        return Unfit{shape.ways[way].size() == 1 ? set.count - placed : 1};
      }
      trial.apply(move_of(state.request(set.request), *place));
      start.pods.push_back(*place);
    }
  }
  return start;
}

std::variant<Start, Unfit> place_workload(const State& state, Trial& trial, ScoreIndex& index, WorkloadId workload,
                                          Rng rng) {
  const Shape& shape = state.shape(state.workload(workload).shape);
  Unfit unfit{std::numeric_limits<std::int64_t>::max()};
  for (std::size_t way = 0; way < shape.ways.size(); ++way) {
    auto outcome = place_in_way(state, trial, index, workload, way, rng);
    if (std::holds_alternative<Start>(outcome)) return outcome;
    unfit.missing = std::min(unfit.missing, std::get<Unfit>(outcome).missing);
  }
  return unfit;
}

}  // namespace berth
