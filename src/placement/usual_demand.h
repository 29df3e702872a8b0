// What is usually asked for, as the policies measure by it.
#pragma once

#include <cstdint>
#include <span>

#include "placement/balance.h"
#include "placement/fragmentation.h"

namespace berth {

struct UsualDemand {
  UsualDemand(std::span<const TypicalPod> pods, std::span<const std::int64_t> gpus_of_flavor)
      : fragmentation(pods, gpus_of_flavor.size()), balance(pods, gpus_of_flavor) {}

  Fragmentation fragmentation;
  Balance balance;
};

}  // namespace berth
