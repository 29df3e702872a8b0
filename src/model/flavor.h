// Kinds of GPU that one may ask for, and sets of them.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "model/ids.h"

namespace berth {

// Most flavors of one cluster: a set of them is one 64-bit word.
inline constexpr std::size_t kFlavorsMax = 64;

inline constexpr std::int64_t kFlavorWeightMax = 1000;

// A kind of the same resource, such as H100 beside A100.
struct Flavor {
  std::string name;
  std::string model;            // of the GPU catalogue
  std::int64_t memory_mib = 0;  // of one GPU; 0 = not known
  std::int64_t weight = 1;      // in shares (rule 10); 1..kFlavorWeightMax

  friend bool operator==(const Flavor&, const Flavor&) = default;
};

class FlavorSet {
 public:
  constexpr FlavorSet() = default;
  static constexpr FlavorSet all() { return FlavorSet(~std::uint64_t{0}); }
  static constexpr FlavorSet of(FlavorId flavor) { return FlavorSet(bit(flavor)); }
  static constexpr FlavorSet first(std::size_t count) {
    return FlavorSet(count >= kFlavorsMax ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  }
  static constexpr FlavorSet from_bits(std::uint64_t bits) { return FlavorSet(bits); }

  constexpr void add(FlavorId flavor) { bits_ |= bit(flavor); }
  constexpr bool contains(FlavorId flavor) const { return (bits_ & bit(flavor)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool contains_all(FlavorSet other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr bool meets(FlavorSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr FlavorSet united_with(FlavorSet other) const { return FlavorSet(bits_ | other.bits_); }
  constexpr FlavorSet kept_to_first() const { return FlavorSet(bits_ & (~bits_ + 1)); }
  constexpr std::uint64_t bits() const { return bits_; }

  friend constexpr bool operator==(FlavorSet, FlavorSet) = default;

 private:
  explicit constexpr FlavorSet(std::uint64_t bits) : bits_(bits) {}
  static constexpr std::uint64_t bit(FlavorId flavor) {
    BERTH_ASSERT(flavor.index() < kFlavorsMax);
    return std::uint64_t{1} << flavor.index();
  }

  std::uint64_t bits_ = 0;
};

}  // namespace berth
