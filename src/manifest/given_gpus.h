// The devices that a pod was given, as its annotation berth.dev/gpus says them: "0,3"; of a part of one "0:0.5", which is its
// device, and how much of it; of a slice "0:1g.10gb@4", which is its device, its profile, and the first of its memory slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/node.h"

namespace berth {

// INVARIANT: a slice, or a part, is on one device.
struct GivenGpus {
  GpuSet gpus = {};
  std::string profile = {};  // empty: no slice
  std::uint8_t slice_start = 0;
  std::int32_t milli = 0;  // of a part; 0: all of each, or as much as the pod asks

  // The same, whether the part is said or not.
  bool same_place(const GivenGpus& other) const {
    return gpus == other.gpus && profile == other.profile && slice_start == other.slice_start;
  }
  friend bool operator==(const GivenGpus&, const GivenGpus&) = default;
};

// Nothing for what is neither.
std::optional<GivenGpus> parse_given_gpus(std::string_view text);
std::string format_given_gpus(const GivenGpus& given);

}  // namespace berth
