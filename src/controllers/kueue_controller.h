// Keeps Kueue's Workloads: one for each Job of no JobSet, and each pod that nothing controls, whose pods name a LocalQueue. Their status
// tells how those pods stand; spec.active suspends a Job and lets it go.
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/controller.h"

namespace berth {

std::unique_ptr<Controller> make_kueue_controller(const Means& means, std::uint64_t seed);

}  // namespace berth
