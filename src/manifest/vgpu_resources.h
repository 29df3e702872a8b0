// vGPUs as Kubernetes' objects name them: by a resource for each profile, as the device plugins for KubeVirt do, which take the
// name that NVIDIA's tools print, with '_' for each blank: "nvidia.com/NVIDIA_A100X-10C", "nvidia.com/GRID_T4-4C".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/quantity.h"
#include "model/vgpu_profiles.h"

namespace berth {

bool is_vgpu_resource(std::string_view resource);

// "RTX-6000-Ada-48C" -> "nvidia.com/NVIDIA_RTX_6000_Ada-48C". Older drivers call what they have GRID, which is as good where it is asked.
std::string vgpu_resource(std::string_view profile);

// The profile that it names; else what to write instead. PRE: it is such a resource.
Parsed<VgpuProfile> vgpu_named(std::string_view resource);

// Why one pod cannot ask all of this, and what to write instead; empty: it can. By resource, each more than 0.
std::string why_not_one_vgpu(const std::map<std::string, std::int64_t>& vgpus);

}  // namespace berth
