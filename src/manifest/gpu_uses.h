// What a Node object says of what is left on its GPUs: who has been there since each was clean, which the scheduler writes, and
// what became of scrubs, which the node's own part writes. Both are annotations, by the index of a GPU:
//
//   berth.dev/gpus-used      {"0":{"by":["a","b"]},"3":{"by":["a"],"scrub":8}}   3 is to be scrubbed, by its 8th scrub
//   berth.dev/gpus-scrubbed  {"3":{"scrub":8},"5":{"scrub":2,"failed":"why"}}    it has been; of 5 the second failed
//
// A GPU that is used is dirty until the scrub that is asked for is answered. Before somebody is given one that is to be
// scrubbed, or has been, the scheduler takes that back ({"by":["c"],"scrub":8,"withdrawn":true}): an answer that comes late
// answers nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/value.h"
#include "model/quantity.h"

namespace berth {

inline constexpr std::string_view kGpusUsedAnnotation = "berth.dev/gpus-used";
inline constexpr std::string_view kGpusScrubbedAnnotation = "berth.dev/gpus-scrubbed";
// "0,3": of simulated nodes, whose scrubs fail.
inline constexpr std::string_view kScrubFailsAnnotation = "berth.dev/scrub-fails";

struct GpuUse {
  std::vector<std::string> tenants;  // ascending
  std::int64_t scrub = 0;            // the last that was asked for; 0: none ever was
  bool withdrawn = false;            // it was taken back

  bool is_asked_for() const { return scrub > 0 && !withdrawn; }

  friend bool operator==(const GpuUse&, const GpuUse&) = default;
};
struct GpuScrub {
  std::int64_t scrub = 0;
  std::string failed;  // why; empty: it did not

  friend bool operator==(const GpuScrub&, const GpuScrub&) = default;
};

// INVARIANT: keys are indexes of GPUs.
using GpuUses = std::map<int, GpuUse>;
using GpuScrubs = std::map<int, GpuScrub>;

enum class GpuState : std::uint8_t { kClean, kDirty, kQuarantined };

struct GpuRecords {
  GpuUses uses;
  GpuScrubs scrubs;
  std::string problem;  // what of them cannot be read, and what to do; empty: nothing

  GpuState state_of(int gpu) const;
  // Why the scrub failed for which it is quarantined.
  std::string why(int gpu) const;

  friend bool operator==(const GpuRecords&, const GpuRecords&) = default;
};

GpuRecords read_gpu_records(const Value& node);
std::string to_text(const GpuUses& uses);
std::string to_text(const GpuScrubs& scrubs);

}  // namespace berth
