// Which of a node's free GPUs a pod of several has where some are nearer to each other than others (model/gpu_links.h).
#pragma once

#include "model/gpu_links.h"
#include "model/node.h"

namespace berth {

// So many of the free ones: in one of the wider groups, if that can be, else in as few as it goes, and the same inside it. Of groups in
// which they are as near the one with the fewest free, so that whole groups stay free; of equals the first, and of GPUs the first.
// PRE: 0 <= count <= free.size().
GpuSet nearest_gpus(GpuSet free, int count, const GpuLinks& links);

// In how many groups more they are, of both kinds, than so many GPUs are on an idle machine.
int groups_too_many(GpuSet gpus, const GpuLinks& links);

}  // namespace berth
