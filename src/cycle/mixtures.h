// In which mixtures of flavors a gang is looked for that leaves them open.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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

// First in any (nothing), then in the one in which quotas have it, then where there is room.
std::vector<std::optional<Mixture>> mixtures_to_look_in(const State& state, const Trial& trial, QueueId queue,
                                                        const Shape& shape, std::size_t way);

inline const Mixture* or_any(const std::optional<Mixture>& mixture) { return mixture ? &*mixture : nullptr; }

}  // namespace berth
