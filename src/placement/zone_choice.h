// Which of a node's free GPUs a pod has where a kubelet minds their NUMA zones.
#pragma once

#include "model/node.h"
#include "placement/node_view.h"

namespace berth {

// In one zone, if that can be: where CPUs for it are free, too, if there is such a zone; else, where the policy lets it in all the same,
// in as few as it goes. Each time the fullest that will do, so that whole zones stay free; of zones that have as much free the first,
// and in a zone the nearest GPUs, then the first. PRE: the request is of whole GPUs, the kubelet has a policy, and the node fits.
GpuSet gpus_by_zone(const NodeView& node, const PodRequest& request);

}  // namespace berth
