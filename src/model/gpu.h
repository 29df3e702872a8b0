// GPU models: what a device of a kind has. Memory sizes are NVIDIA's published ones, in MiB. The catalogue may know more
// models than a cluster can have flavors (flavor.h): only those that a trace names become flavors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace berth {

// Most GPUs of one node: a set of them is one 64-bit word.
inline constexpr int kGpusPerNodeMax = 64;
// One whole GPU in the unit in which fractions are counted.
inline constexpr int kMilliPerGpu = 1000;
// What is believed of one device's memory: a TiB.
inline constexpr std::int64_t kGpuMemoryMibMax = 1 << 20;

struct GpuModel {
  std::string_view name;        // as NVIDIA's tools print it, with '-' for ' ' ("H100-SXM5-80GB")
  std::string_view short_name;  // as traces and people write it ("H100"); unique, may equal `name`
  std::int64_t memory_mib = 0;
  std::string_view also = {};  // one more spelling of the same device; mostly there is none
};

// Every model that is known, in a fixed order.
std::span<const GpuModel> gpu_catalogue();

// By name, short name or its other spelling, letter for letter, with or without "NVIDIA-" before it, but a blank is as good as
// a '-'; nullptr if unknown.
const GpuModel* find_gpu_model(std::string_view name);

// The known name nearest to a mistyped one, for "did you mean"; empty if nothing is near.
std::string_view nearest_gpu_model(std::string_view name);

}  // namespace berth
