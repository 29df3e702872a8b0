// How the GPUs of a machine are joined that are not all alike to each other: those below one PCIe switch reach each other without
// the CPU, and those with an NVLink bridge across are faster still. Where every GPU has NVLink to every other there is nothing to say.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace berth {

// In order, from the first GPU on: so many below one switch, so many joined by a bridge. 0: not known, or all alike.
// INVARIANT: the larger is a multiple of the smaller, and the GPUs of the machine are one of each.
struct GpuLinks {
  std::int32_t pcie = 0;
  std::int32_t nvlink = 0;

  bool are_all_alike() const { return pcie == 0 && nvlink == 0; }
  // How many are in a group: of the wider ones, and of those in them; 0: there are none.
  std::array<std::int32_t, 2> group_sizes() const { return {std::max(pcie, nvlink), std::min(pcie, nvlink)}; }
  // Whether the machine's GPUs, and those of each of its NUMA zones, are whole groups.
  bool divide(std::int32_t gpus, std::int32_t zones) const {
    const auto [wide, narrow] = group_sizes();
    if (wide == 0) return true;
    if (gpus == 0 || gpus % wide != 0 || (narrow > 0 && wide % narrow != 0)) return false;
    return zones == 1 || (gpus % zones == 0 && gpus / zones % wide == 0);
  }

  friend bool operator==(const GpuLinks&, const GpuLinks&) = default;
};

}  // namespace berth
