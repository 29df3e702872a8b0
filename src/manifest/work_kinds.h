// What kinds of objects are called that are work, or make it: pods, their groups, and all that makes pods.
#pragma once

#include <string_view>

namespace berth {

// "job", "jobs", "vcjob", "po", "lws": without its group.
bool names_work_kind(std::string_view word);

}  // namespace berth
