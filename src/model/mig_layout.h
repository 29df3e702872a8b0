// How GPUs are cut beforehand: the profiles that somebody names, and the places that they have on a device.
#pragma once

#include <span>
#include <string>

#include "model/gpu_hardware.h"
#include "model/quantity.h"

namespace berth {

// One place for each of the names; large slices begin as high as they can, which is where cutting by demand begins, too.
// Where no device can be cut into all of them: what else would fit.
Parsed<MigPlaceSet> lay_out(const GpuHardware& hardware, std::span<const std::string> profiles);

}  // namespace berth
