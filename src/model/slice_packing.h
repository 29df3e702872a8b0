// Whether so many slices of each profile can be had of some GPUs at once. No weight says it (docs/semantics.md, rule 27): eight H100s
// hold 56 1g.10gb or 16 3g.40gb, and what they hold of both is a matter of places.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/mig_geometry.h"

namespace berth {

// By shape.
using SliceCounts = std::array<std::int64_t, kMigShapesMax>;

// So many devices of one family that are alike: slices that stay there, and those that they were cut into beforehand, if they were.
struct AlikeDevices {
  MigPlaceSet layout;
  MigPlaceSet fixed = {};
  std::int64_t count = 0;
};

struct SlicePacking {
  SliceCounts left_out{};
  bool is_proven = true;  // nothing else leaves out none
};

// Of the slices that are wanted those for which there is no place: the largest are given theirs first, in each of a few ways, and the
// one that leaves out fewest counts. Where that is some, on 64 devices and fewer it is tried whether all can be packed in any other
// way, in a bounded number of steps. The tests compare it with trying everything.
SlicePacking pack(const MigGeometry& geometry, const std::vector<AlikeDevices>& devices, const SliceCounts& wanted);

// All of them together.
std::int64_t sum_of(const SliceCounts& counts);

}  // namespace berth
