// In which mixtures of flavors a gang is looked for that leaves them open.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "fairness/gates.h"
#include "model/mixture.h"
#include "state/state.h"
#include "state/trial.h"

namespace berth {

// One that quotas allow and for which there is room in each flavor, both as things are in the trial: inside floors, if there is one, and
// of each flavor in their order as much as may be. Of one set without words about others it is found if there is any; of several, each is
// looked at as if the others had no pods. Nothing: there is none, or quotas tell no flavor from another.
// PRE: the trial is on the state's own ledgers.
std::optional<Mixture> mixture_with_room(const State& state, const Trial& trial, QueueId queue, const Shape& shape,
                                         std::size_t way);

// Whether `look` likes one of them: any (nullptr), that in which quotas have it, and the one where there is room; each is reckoned only when
// those before were looked at, from what the trial has then. PRE: `look` leaves the trial as it was, unless it likes what it sees.
template <class Look>
bool likes_a_mixture(const State& state, const Trial& trial, QueueId queue, const Shape& shape, std::size_t way,
                     Look look) {
  if (look(static_cast<const Mixture*>(nullptr))) return true;
  const Mixture as_quotas_have_it = mixture_of(state, queue, shape, way);
  if (std::ranges::all_of(as_quotas_have_it, &std::vector<PodsOfFlavor>::empty)) return false;
  if (look(&as_quotas_have_it)) return true;
  const std::optional<Mixture> with_room = mixture_with_room(state, trial, queue, shape, way);
  return with_room && look(&*with_room);
}

}  // namespace berth
