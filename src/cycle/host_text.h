// What is free beside the GPUs of nodes, or with them, and not for whoever asks: kept for GPUs, or in too many NUMA zones.
#pragma once

#include <string>

#include "state/state.h"

namespace berth {

// "no node has 16 CPUs free beside what is kept for work with GPUs, 12 CPUs for each GPU; the most is 4 CPUs"
// PRE: some node is refused for that alone.
std::string why_kept_for_gpus(const State& state, const PodRequest& asked);

// "no node has 4 GPUs and 32 CPUs free in one NUMA zone, as its kubelet wants them; the most in one is 3 GPUs"
// PRE: some node is refused for that alone.
std::string why_not_in_zones(const State& state, const PodRequest& asked);

}  // namespace berth
