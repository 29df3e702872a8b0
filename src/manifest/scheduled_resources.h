// Which of the resources that containers request are scheduled by: amounts that a node has and a queue counts.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// "cpu", "memory", what nodes promise of them more than once, and NVIDIA's GPUs, replicas, slices and vGPUs.
bool is_scheduled_resource(std::string_view resource);

// Of one that is not: what becomes of who requests it, and what to write instead.
std::string not_scheduled_by(std::string_view resource);

}  // namespace berth
