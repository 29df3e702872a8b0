// Empties namespaces that go away, and then lets them go.
#pragma once

#include <cstdint>
#include <memory>

#include "controllers/controller.h"

namespace berth {

std::unique_ptr<Controller> make_namespace_controller(const Means& means, std::uint64_t seed);

}  // namespace berth
