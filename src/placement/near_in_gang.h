// Where pods can be that have to be near others of their own gang, which may not be placed yet.
#pragma once

#include <optional>
#include <vector>

#include "model/ids.h"
#include "state/state.h"

namespace berth {

// In each entry the nodes that are in the same domains of all levels in which such a pod has to be near others; nothing where it has
// to be near nobody.
std::vector<std::vector<NodeId>> places_beside_others(const State& state, const PodRequest& request);

// Where `other` can be for a pod on one of these nodes to be near it, ascending; none: it does not have to be near such as that.
std::optional<std::vector<NodeId>> nodes_beside(const State& state, const PodRequest& request, const PodRequest& other,
                                                const std::vector<NodeId>& nodes);

}  // namespace berth
