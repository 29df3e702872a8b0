#include "manifest/scheduled_resources.h"

#include <algorithm>
#include <iterator>

#include "base/wording.h"
#include "manifest/labels.h"
#include "manifest/slice_resources.h"
#include "manifest/vgpu_resources.h"

namespace berth {

namespace {

constexpr std::string_view kScheduledByName[] = {
    "cpu", "memory", kBatchCpuResource, kBatchMemoryResource, kGpuResource, kSharedGpuResource};

}  // namespace

bool is_scheduled_resource(std::string_view resource) {
  const bool is_named = std::ranges::find(kScheduledByName, resource) != std::end(kScheduledByName);
  return is_named || is_slice_resource(resource) || is_vgpu_resource(resource);
}

std::string not_scheduled_by(std::string_view resource) {
  const std::string_view near = nearest_word(resource, kScheduledByName);
  return "it asks " + std::string(resource) + ", which is not scheduled by yet; " +
         (near.empty() ? "leave the request out"
                       : "did you mean " + std::string(near) + "? If not, leave the request out");
}

}  // namespace berth
