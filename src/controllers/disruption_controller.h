// Writes the status of disruption budgets: how many of their pods are healthy, and how many may go. The server counts for
// itself when a pod is to be evicted; this tells people, and `kubectl drain`, beforehand.
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/controller.h"

namespace berth {

std::unique_ptr<Controller> make_disruption_controller(const Means& means, std::uint64_t seed);

}  // namespace berth
