// What two pods are to each other by what either asks of the pods around, before the one of them is there.
#pragma once

#include <vector>

#include "model/ids.h"
#include "state/neighbourhood.h"

namespace berth {

// Whether the pod asks to be near such as the other, or that they are spread evenly: where it may be then depends on where they all are.
// That one of the two keeps the other away is told by Neighbourhood::excludes().
bool depends_on(const Neighbourhood& around, NeighboursId pod, NeighboursId other);

// Where the other would keep the pod from its node, or be kept away by it. Nodes may be among them twice.
std::vector<NodeId> nodes_kept(const Neighbourhood& around, NeighboursId pod, NodeId node, NeighboursId other);

// Whether somebody is there who keeps such a pod away from the node.
bool is_kept_away(const Neighbourhood& around, NeighboursId pod, NodeId node);

}  // namespace berth
