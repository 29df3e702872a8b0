// vGPUs: parts of a GPU that a hypervisor hands out to virtual machines. Each has memory of its own, in a few fixed sizes
// (profiles); on the processors all of one GPU take turns by the hypervisor's clock. A GPU has vGPUs of one profile at a time:
// that of the first who comes, and it may have another when all have left (NVIDIA calls it equal-size mode; the other one, of
// several sizes, asks newer drivers, and is not used here).
//
// What is here are the time-sliced profiles of the C-series, for computing, by the tables "Virtual GPU Types for Supported GPUs"
// of NVIDIA's documentation of AI Enterprise 6 (https://docs.nvidia.com/ai-enterprise/release-6/latest/appendix/vgpu.html).
// Models that are not in these tables have none. Two numbers there are slips, and are here as their own sizes say, and the same
// GPU in other tables: six vGPUs of 16 GB on 80 GB (five), and 6,144 MB of a V100DX-4C (4,096).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/flavor.h"
#include "model/gpu.h"

namespace berth {

// INVARIANT: on_each > 0; gpu_milli() tells the profiles of a model apart, and exactly on_each of them fit a GPU.
struct VgpuProfile {
  std::string name;  // as NVIDIA's tools print it, without the brand before it, and with '-' for ' ' ("A100X-10C")
  std::int32_t on_each = 0;     // so many of them a GPU has
  std::int64_t memory_mib = 0;  // its frame buffer as the name says; the driver takes a part of that for itself

  // Its part of a GPU in thousandths, rounded down.
  std::int32_t gpu_milli() const { return kMilliPerGpu / on_each; }
  friend bool operator==(const VgpuProfile&, const VgpuProfile&) = default;
};

// Of GPUs of the flavor, the largest first; none where they have no vGPUs, or where it is not known.
std::vector<VgpuProfile> vgpu_profiles(const Flavor& flavor);

// That which has the name; a blank or a '_' in it is as good as a '-'.
std::optional<VgpuProfile> find_vgpu(const Flavor& flavor, std::string_view name);
// That which is so much of a GPU.
std::optional<VgpuProfile> find_vgpu(const Flavor& flavor, std::int32_t gpu_milli);
// The smallest that has so much memory; nothing if not even the largest has.
std::optional<VgpuProfile> smallest_vgpu(const Flavor& flavor, std::int64_t memory_mib);

// Of any model: each name is of one.
std::optional<VgpuProfile> find_vgpu(std::string_view name);
std::vector<std::string> all_vgpu_names();

}  // namespace berth
