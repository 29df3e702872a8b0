// JobSets into Jobs (job_set_plan.h); the controller of Jobs makes those into pods.
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/controller.h"

namespace berth {

std::unique_ptr<Controller> make_job_set_controller(const Means& means, std::uint64_t seed);

}  // namespace berth
