// How the GPUs of those who start together share one model, as people write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/quantity.h"
#include "model/topology.h"

namespace berth {

// "tp=8,pp=4,dp=16" where `is` is '=': in any order, each once; what is left out is 1.
Parsed<Parallelism> parse_parallelism(std::string_view text, char is);

// What is wrong with sizes for so many pods with so many GPUs each, and what to write instead; empty: nothing.
std::string problem_of(const Parallelism& parallel, std::int64_t pods, std::int64_t gpus_of_pod);

}  // namespace berth
