#include "model/mig_geometry.h"

#include <cstdint>

namespace berth {

namespace {

// Memory slices, a bit for each: every one from the first to the last, in steps.
constexpr std::uint32_t starts(int last, int step) {
  std::uint32_t bits = 0;
  for (int start = 0; start <= last; start += step) bits |= std::uint32_t{1} << start;
  return bits;
}

// What `nvidia-smi mig -lgipp` prints. The eighth memory slice belongs to no slice of one compute slice.
constexpr SliceShape kShapesOfA100[] = {
    {19, 1, 1, starts(6, 1)}, {20, 1, 1, starts(6, 1), MediaEngines::kExtended},
    {15, 1, 2, starts(6, 2)}, {14, 2, 2, starts(4, 2)},
    {9, 3, 4, starts(4, 4)},  {5, 4, 4, starts(0, 1)},
    {0, 7, 8, starts(0, 1)},
};

constexpr SliceShape kShapesOfA30[] = {
    {14, 1, 1, starts(3, 1)}, {21, 1, 1, starts(3, 1), MediaEngines::kExtended},
    {5, 2, 2, starts(2, 2)},  {6, 2, 2, starts(2, 2), MediaEngines::kExtended},
    {0, 4, 4, starts(0, 1)},
};

constexpr SliceShape kShapesOfRtxPro6000[] = {
    {14, 1, 3, starts(9, 3)},
    {21, 1, 3, starts(9, 3), MediaEngines::kExtended},
    {47, 1, 3, starts(9, 3), MediaEngines::kOwn, true},
    {65, 1, 3, starts(9, 3), MediaEngines::kAll},
    {67, 1, 3, starts(9, 3), MediaEngines::kNone},
    {5, 2, 6, starts(6, 6)},
    {35, 2, 6, starts(6, 6), MediaEngines::kOwn, true},
    {64, 2, 6, starts(6, 6), MediaEngines::kAll},
    {66, 2, 6, starts(6, 6), MediaEngines::kNone},
    {0, 4, 12, starts(0, 1)},
    {32, 4, 12, starts(0, 1), MediaEngines::kOwn, true},
};

}  // namespace

constinit const MigGeometry kMigOfA100(7, 8, kShapesOfA100);
constinit const MigGeometry kMigOfA30(4, 4, kShapesOfA30);
constinit const MigGeometry kMigOfRtxPro6000(4, 12, kShapesOfRtxPro6000);

}  // namespace berth
