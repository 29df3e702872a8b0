// What the Workload of a group of pods that start together is called.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// `owner_uid`: of the Job whose pods they are; empty: they have none.
std::string workload_name_of(std::string_view group, std::string_view owner_uid);

}  // namespace berth
