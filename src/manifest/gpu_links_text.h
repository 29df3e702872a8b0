// Which GPUs of a machine are nearer to each other, as people write it.
#pragma once

#include <string>
#include <string_view>

#include "model/gpu_links.h"
#include "model/quantity.h"

namespace berth {

// "pcie=4,nvlink=2" where `is` is '=': in any order, each once, one at least.
Parsed<GpuLinks> parse_gpu_links(std::string_view text, char is);

// What is wrong with them on a machine with so many GPUs, in so many NUMA zones that count, and what to write instead; empty: nothing.
std::string problem_of(const GpuLinks& links, std::int32_t gpus, std::int32_t zones);

}  // namespace berth
