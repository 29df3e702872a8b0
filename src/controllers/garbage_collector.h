// Carries out what garbage.h decides: objects that follow their owners, and pods that nobody will miss.
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/controller.h"

namespace berth {

std::unique_ptr<Controller> make_garbage_collector(const Means& means, std::uint64_t seed);
std::unique_ptr<Controller> make_pod_collector(const Means& means);

}  // namespace berth
