// How GPUs are cut beforehand: the profiles that somebody names, and the places that they have on a device.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {

// One place for each of the names; large slices begin as high as they can, which is where cutting by demand begins, too.
// Where no device can be cut into all of them: what else would fit.
Parsed<MigPlaceSet> lay_out(const GpuHardware& hardware, std::span<const std::string> profiles);

// One of the layouts into which all GPUs of a node may be cut at once: `all-1g.10gb` is as many of that profile as fit, `3g.40gb:1g.10gb`
// these. As NVIDIA's mig-parted calls the first kind in the file that its operator brings.
Parsed<MigPlaceSet> parse_layout(const GpuHardware& hardware, std::string_view text);

// "3g.40gb:3g.40gb", the largest first: a layout as it is read.
std::string layout_text(const GpuHardware& hardware, MigPlaceSet layout);

}  // namespace berth
