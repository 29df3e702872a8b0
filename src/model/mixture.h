// Which flavors the pods of a gang go to that may mix them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/flavor.h"

namespace berth {

// So many pods of a set go to nodes of a flavor.
struct PodsOfFlavor {
  FlavorId flavor;  // none: where no GPUs are
  std::int64_t pods = 0;
};

// By set of a way, in the order of the flavors: all its pods; of a set that leaves no flavor open, nothing.
using Mixture = std::vector<std::vector<PodsOfFlavor>>;

}  // namespace berth
