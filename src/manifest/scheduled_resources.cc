#include "manifest/scheduled_resources.h"

#include <algorithm>
#include <iterator>

#include "manifest/labels.h"
#include "manifest/slice_resources.h"
#include "manifest/vgpu_resources.h"

namespace berth {

bool is_scheduled_resource(std::string_view resource) {
  constexpr std::string_view kNamed[] = {"cpu",        "memory",          kBatchCpuResource, kBatchMemoryResource,
                                         kGpuResource, kSharedGpuResource};
  const bool is_named = std::ranges::find(kNamed, resource) != std::end(kNamed);
  return is_named || is_slice_resource(resource) || is_vgpu_resource(resource);
}

std::string not_scheduled_by(std::string_view resource) {
  return "it asks " + std::string(resource) + ", which is not scheduled by yet; leave the request out";
}

}  // namespace berth
