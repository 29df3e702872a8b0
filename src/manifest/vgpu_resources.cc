#include "manifest/vgpu_resources.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/wording.h"

namespace berth {
namespace {

constexpr std::string_view kPrefix = "nvidia.com/NVIDIA_";
constexpr std::string_view kOlderPrefix = "nvidia.com/GRID_";

std::string_view name_in(std::string_view resource) {
  resource.remove_prefix(resource.starts_with(kPrefix) ? kPrefix.size() : kOlderPrefix.size());
  return resource;
}

// "A100-1-10C", "A100-1-10CME": on a slice, of which the first number says how many there are.
bool is_on_a_slice(std::string_view name) {
  const std::size_t last = name.rfind('-');
  if (last == std::string_view::npos || last < 2) return false;
  return name[last - 2] == '-' && name[last - 1] >= '1' && name[last - 1] <= '7';
}

}  // namespace

bool is_vgpu_resource(std::string_view resource) {
  return resource.starts_with(kPrefix) || resource.starts_with(kOlderPrefix);
}

std::string vgpu_resource(std::string_view profile) {
  std::string name(profile);
  std::replace(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(std::min(name.rfind('-'), name.size())), '-',
               '_');
  return std::string(kPrefix) + name;
}

Parsed<VgpuProfile> vgpu_named(std::string_view resource) {
  const std::string_view name = name_in(resource);
  if (auto profile = find_vgpu(name)) return *std::move(profile);
  if (is_on_a_slice(name)) {
    return std::unexpected(
        "vGPUs on slices of a GPU are not handed out; ask the slice, as in nvidia.com/mig-1g.10gb, or " +
        std::string("a vGPU of a GPU that is not cut, as in ") + vgpu_resource("A100X-10C"));
  }
  std::vector<std::string> known = all_vgpu_names();
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string nearest(nearest_word(name, names));
  return std::unexpected("no GPU model that is known has such vGPUs of the C-series, for computing" +
                         (nearest.empty() ? "; write one as in " + vgpu_resource("A100X-10C")
                                          : "; did you mean " + vgpu_resource(nearest) + "?"));
}

std::string why_not_one_vgpu(const std::map<std::string, std::int64_t>& vgpus) {
  if (vgpus.empty()) return "";
  const auto& [resource, count] = *vgpus.begin();
  if (vgpus.size() > 1) {
    return "a pod asks one vGPU, and it asks " + resource + " and " + std::next(vgpus.begin())->first +
           "; ask them by several pods";
  }
  if (count == 1) return "";
  return "a pod asks one vGPU, and it asks " + std::to_string(count) + " of " + resource + "; ask 1 each by " +
         std::to_string(count) + " pods, as of a Job with parallelism: " + std::to_string(count);
}

}  // namespace berth
