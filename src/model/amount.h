// How much of what: amounts of one resource on nodes of one flavor, as quotas give them and as pods hold them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/flavor.h"
#include "model/ids.h"
#include "model/mig_geometry.h"

namespace berth {

enum class Resource : std::uint8_t {
  kGpu,     // in thousandths of a device
  kCpu,     // in thousandths of a core
  kMemory,  // in MiB; what a pod asks is rounded up
  kSlice,   // slices of one profile, by their number; as parts of GPUs they count, too
};

inline constexpr std::string_view kResourceNames[] = {"gpu", "cpu", "memory", "slice"};
inline constexpr std::size_t kResources = std::size(kResourceNames);

constexpr std::string_view name_of(Resource resource) { return kResourceNames[static_cast<std::size_t>(resource)]; }

// One resource of one flavor as an index: what amounts are counted by. Dimension 0 begins the nodes without GPUs, which
// have no flavor; then come the flavors in their order; and behind all that there may be, for each flavor and each shape of
// slice, the profile that its model has of it.
class Dim {
 public:
  constexpr Dim() = default;
  // PRE: no slices.
  constexpr Dim(FlavorId flavor, Resource resource)
      : value_(static_cast<std::uint16_t>((flavor.is_none() ? 0 : flavor.index() + 1) * kOfEach +
                                          static_cast<std::size_t>(resource))) {}
  static constexpr Dim of_slices(FlavorId flavor, std::size_t shape) {
    return at(kFirstOfSlices + flavor.index() * kMigShapesMax + shape);
  }
  static constexpr Dim at(std::size_t index) {
    Dim dim;
    dim.value_ = static_cast<std::uint16_t>(index);
    return dim;
  }
  // How many there are with so many flavors, without slices.
  static constexpr std::size_t count(std::size_t flavors) { return (flavors + 1) * kOfEach; }
  // How many there can be at all.
  static constexpr std::size_t count_max() { return kFirstOfSlices + kFlavorsMax * kMigShapesMax; }

  constexpr std::size_t index() const { return value_; }
  constexpr bool is_of_slices() const { return value_ >= kFirstOfSlices; }
  constexpr Resource resource() const {
    return is_of_slices() ? Resource::kSlice : static_cast<Resource>(value_ % kOfEach);
  }
  // None: nodes without GPUs.
  constexpr FlavorId flavor() const {
    if (is_of_slices()) return FlavorId((value_ - kFirstOfSlices) / kMigShapesMax);
    return value_ < kOfEach ? FlavorId() : FlavorId(value_ / kOfEach - 1);
  }
  // PRE: it is of slices.
  constexpr std::size_t shape() const { return (value_ - kFirstOfSlices) % kMigShapesMax; }

  friend constexpr auto operator<=>(Dim, Dim) = default;

 private:
  static constexpr std::size_t kOfEach = 3;  // resources that nodes of each flavor have
  static constexpr std::size_t kFirstOfSlices = (kFlavorsMax + 1) * kOfEach;

  std::uint16_t value_ = 0;
};

// Nodes without GPUs have none: so this stands for those of all flavors together, where a bound is of their sum.
inline constexpr Dim kGpusOfAllFlavors(FlavorId(), Resource::kGpu);

// INVARIANT: 0 <= amount <= kAmountMax.
struct Amount {
  Dim dim;
  std::int64_t amount = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

// Sums of a fleet's amounts, times a flavor's weight, times a queue's weight stay far inside 128 bits.
inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 44;

// INVARIANT: by dimension, each once.
using AmountList = std::vector<Amount>;

// Those of slices stand last.
inline bool has_slices(const AmountList& amounts) { return !amounts.empty() && amounts.back().dim.is_of_slices(); }
inline std::int64_t amount_of(const AmountList& amounts, Dim dim) {
  for (const Amount& each : amounts) {
    if (each.dim == dim) return each.amount;
  }
  return 0;
}

}  // namespace berth
