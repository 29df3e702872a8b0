// What pods hold on nodes of a flavor, amount by amount.
#pragma once

#include <cstdint>

#include "model/quota.h"
#include "model/request.h"

namespace berth {

// Calls add(dim, amount) for each, also for those that are 0: of a slice for its part of a GPU, and for itself.
template <class Add>
void for_each_amount(const PodRequest& request, FlavorId flavor, std::int64_t pods, Add add) {
  constexpr std::int64_t kMib = 1 << 20;
  add(Dim(flavor, Resource::kGpu), pods * request.gpu_milli_total());
  add(Dim(flavor, Resource::kCpu), pods * request.cpu_milli);
  add(Dim(flavor, Resource::kMemory), pods * ((request.memory_bytes + kMib - 1) / kMib));
  if (request.is_slice() && !flavor.is_none()) add(Dim::of_slices(flavor, request.slice), pods);
}

}  // namespace berth
