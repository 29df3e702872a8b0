// How much of what: amounts of one resource on nodes of one flavor, as quotas give them and as pods hold them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/ids.h"

namespace berth {

enum class Resource : std::uint8_t {
  kGpu,     // in thousandths of a device
  kCpu,     // in thousandths of a core
  kMemory,  // in MiB; what a pod asks is rounded up
};

inline constexpr std::string_view kResourceNames[] = {"gpu", "cpu", "memory"};
inline constexpr std::size_t kResources = std::size(kResourceNames);

constexpr std::string_view name_of(Resource resource) { return kResourceNames[static_cast<std::size_t>(resource)]; }

// One resource of one flavor as an index: what amounts are counted by. Dimension 0 begins the nodes without GPUs, which
// have no flavor; then come the flavors in their order.
class Dim {
 public:
  constexpr Dim() = default;
  constexpr Dim(FlavorId flavor, Resource resource)
      : value_(static_cast<std::uint16_t>((flavor.is_none() ? 0 : flavor.index() + 1) * kResources +
                                          static_cast<std::size_t>(resource))) {}
  static constexpr Dim at(std::size_t index) {
    Dim dim;
    dim.value_ = static_cast<std::uint16_t>(index);
    return dim;
  }
  // How many there are with so many flavors.
  static constexpr std::size_t count(std::size_t flavors) { return (flavors + 1) * kResources; }

  constexpr std::size_t index() const { return value_; }
  constexpr Resource resource() const { return static_cast<Resource>(value_ % kResources); }
  // None: nodes without GPUs.
  constexpr FlavorId flavor() const { return value_ < kResources ? FlavorId() : FlavorId(value_ / kResources - 1); }

  friend constexpr auto operator<=>(Dim, Dim) = default;

 private:
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

}  // namespace berth
