// Makes Jobs into pods, and what becomes of the pods into the Jobs' status: Kubernetes' (job_plan.h) and Volcano's
// (volcano_job_plan.h).
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/controller.h"

namespace berth {

std::unique_ptr<Controller> make_job_controller(const Means& means, std::uint64_t seed);
std::unique_ptr<Controller> make_volcano_job_controller(const Means& means, std::uint64_t seed);

}  // namespace berth
