// The devices that a pod was given, as its annotation berth.dev/gpus says them: "0,3", or of a slice "0:1g.10gb@4", which is
// its device, its profile, and the first of its memory slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/node.h"

namespace berth {

// INVARIANT: a slice is on one device.
struct GivenGpus {
  GpuSet gpus = {};
  std::string profile = {};  // empty: no slice
  std::uint8_t slice_start = 0;

  friend bool operator==(const GivenGpus&, const GivenGpus&) = default;
};

// Nothing for what is neither.
std::optional<GivenGpus> parse_given_gpus(std::string_view text);
std::string format_given_gpus(const GivenGpus& given);

}  // namespace berth
