// Places on spares, for those for whom they are: who stands in for what a gang has lost (docs/semantics.md, rule 23).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "model/plan.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// The spares among these places, each once.
inline std::vector<NodeId> spares_among(const Trial& trial, const std::vector<PodPlacement>& places) {
  std::vector<NodeId> spares;
  for (const PodPlacement& place : places) {
    if (trial.ledger().node(place.node).spare) spares.push_back(place.node);
  }
  std::ranges::sort(spares);
  const auto again = std::ranges::unique(spares);
  spares.erase(again.begin(), again.end());
  return spares;
}

// What `place()`, an optional, finds when spares are lent; of those that it would take at first each is left out in turn, and stays out
// where it can do without. None of its moves stay in the trial, and no spare is lent any more. `places_of(found)`: its pods' places.
template <class Place, class PlacesOf>
auto find_on_fewest_spares(const State& state, Trial& trial, Place place, PlacesOf places_of) -> decltype(place()) {
  std::vector<NodeId> lent = state.spares();
  if (lent.empty()) return {};
  const Trial::Mark mark = trial.mark();
  trial.lend_spares(lent);
  auto found = place();
  trial.rollback_to(mark);
  if (found) lent = spares_among(trial, places_of(*found));
  for (std::size_t at = lent.size(); found && at-- > 0 && lent.size() > 1;) {
    std::vector<NodeId> fewer = lent;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
    trial.lend_spares(fewer);
    if (auto instead = place()) {
      found = std::move(instead);
      lent = std::move(fewer);
    }
    trial.rollback_to(mark);
  }
  trial.lend_spares({});
  return found;
}

}  // namespace berth
