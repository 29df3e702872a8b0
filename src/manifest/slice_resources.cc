#include "manifest/slice_resources.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "base/wording.h"
#include "manifest/labels.h"
#include "model/gpu_hardware.h"

namespace berth {

bool is_slice_resource(std::string_view resource) { return resource.starts_with(kSliceResourcePrefix); }

std::string slice_resource(std::string_view profile) {
  std::string resource = std::string(kSliceResourcePrefix) + std::string(profile);
  std::ranges::replace(resource, '+', '.');
  return resource;
}

namespace {

// By what follows the prefix in their resources. Made once, for every pod is asked.
const std::map<std::string, std::string_view, std::less<>>& known_profiles() {
  static const auto kKnown = [] {
    std::map<std::string, std::string_view, std::less<>> known;
    for (const GpuHardware& hardware : gpu_hardware()) {
      for (const MigProfile& profile : hardware.mig_profiles) {
        known.emplace(slice_resource(profile.name).substr(kSliceResourcePrefix.size()), profile.name);
      }
    }
    return known;
  }();
  return kKnown;
}

}  // namespace

Parsed<std::string> profile_of(std::string_view resource) {
  const std::string_view asked = resource.substr(kSliceResourcePrefix.size());
  const auto found = known_profiles().find(asked);
  if (found != known_profiles().end()) return std::string(found->second);
  std::vector<std::string_view> names;
  for (const auto& [name, profile] : known_profiles()) names.push_back(name);
  const std::string nearest(nearest_word(asked, names));
  return std::unexpected("no GPU model that is known can be cut into it" +
                         (nearest.empty() ? "; write a profile as in " + slice_resource("1g.10gb")
                                          : "; did you mean " + slice_resource(nearest) + "?"));
}

std::string why_not_in_one_pod(const std::map<std::string, std::int64_t>& slices, std::int64_t whole_gpus) {
  if (slices.empty()) return "";
  const auto& [resource, count] = *slices.begin();
  if (whole_gpus > 0) {
    return "a pod asks whole GPUs or one slice, and it asks " + std::string(kGpuResource) + " and " + resource +
           "; ask them by two pods";
  }
  if (slices.size() > 1) {
    return "a pod asks one slice, and it asks " + resource + " and " + std::next(slices.begin())->first +
           "; ask them by several pods";
  }
  if (count == 1) return "";
  return "a pod asks one slice, and it asks " + std::to_string(count) + " of " + resource + "; ask 1 each by " +
         std::to_string(count) + " pods, as of a Job with parallelism: " + std::to_string(count);
}

}  // namespace berth
