// A part of one GPU as pods ask it: by KAI's annotations (gpu-fraction, gpu-memory), by Berth's own (berth.dev/gpu-milli), or
// as a replica of a GPU that is time-sliced (nvidia.com/gpu.shared), or as a vGPU (manifest/vgpu_resources.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "model/node.h"

namespace berth {

// INVARIANT: of a replica neither amount is known before it has a place; of any other part one of them is.
struct GpuPart {
  std::int32_t milli = 0;                 // thousandths; 0: as many as its memory is
  std::int64_t memory_mib = 0;            // 0: its part of it
  Sharing sharing = Sharing::kExclusive;  // kExclusive: by agreement with the others there
  std::string vgpu = {};                  // its profile, if it is one

  bool is_none() const { return milli == 0 && memory_mib == 0 && sharing == Sharing::kExclusive; }
  bool is_replica() const { return sharing == Sharing::kTimeslice; }
  // How much of a GPU with so much memory, or so many replicas, it is; none: it has less, or nobody knows.
  std::optional<std::int32_t> milli_of(std::int64_t device_mib, std::int32_t replicas) const;

  friend bool operator==(const GpuPart&, const GpuPart&) = default;
};

// What a pod's containers ask together beside it.
struct GpuResources {
  std::int64_t whole = 0, shared = 0;  // nvidia.com/gpu, nvidia.com/gpu.shared
  bool slices = false;
  std::map<std::string, std::int64_t> vgpus = {};  // by resource, each more than 0
};

// Why the pod cannot ask that, and what to write instead.
struct GpuPartProblem {
  std::string_view annotation;  // empty: it is in its containers
  std::string why;

  std::string to_string() const;
};

struct ReadGpuPart {
  GpuPart part = {};
  std::vector<GpuPartProblem> problems = {};
};
ReadGpuPart read_gpu_part(const Value& annotations, const GpuResources& asked);

// "0.25" -> 250; none for what is no part of one GPU, from 0.001 to 1.
std::optional<std::int32_t> parse_part(std::string_view text);

}  // namespace berth
