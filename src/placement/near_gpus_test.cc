#include "placement/near_gpus.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "base/rng.h"

namespace berth::near_gpus_test {

TEST(NearGpus, AreInOneGroupAndLeaveWholeOnes) {
  constexpr GpuLinks kBoth{.pcie = 4, .nvlink = 2};
  const struct {
    const char* what;
    std::uint64_t free;
    int count;
    GpuLinks links;
    std::uint64_t expected;
  } cases[] = {
      {"all alike: the first", 0b1110'0110, 2, {}, 0b0000'0110},
      {"a pair behind a single one", 0b0000'1101, 2, {.nvlink = 2}, 0b0000'1100},
      {"one of a pair that is broken already", 0b0000'1011, 1, {.nvlink = 2}, 0b0000'1000},
      {"no pair is left", 0b0101'0101, 2, kBoth, 0b0000'0101},
      {"below one switch", 0b1110'1000, 3, kBoth, 0b1110'0000},
      {"where a pair is free, though the other switch has fewer free", 0b0111'0101, 2, kBoth, 0b0011'0000},
      {"the switch with fewer free", 0b1111'0011, 2, kBoth, 0b0000'0011},
      {"more than a switch: one whole, and of the other a pair", 0b1111'1110, 6, kBoth, 0b1111'1100},
      {"none", 0b1111'1111, 0, kBoth, 0},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(nearest_gpus(GpuSet::from_bits(each.free), each.count, each.links).bits(), each.expected) << each.what;
  }
}

TEST(NearGpus, GroupsTooManyAreThoseThatAnIdleMachineWouldSpare) {
  constexpr GpuLinks kBoth{.pcie = 4, .nvlink = 2};
  EXPECT_EQ(groups_too_many(GpuSet::from_bits(0b0000'0011), kBoth), 0);
  EXPECT_EQ(groups_too_many(GpuSet::from_bits(0b0000'0110), kBoth), 1);
  EXPECT_EQ(groups_too_many(GpuSet::from_bits(0b0001'1000), kBoth), 2);
  EXPECT_EQ(groups_too_many(GpuSet::from_bits(0b0111'0111), kBoth), 1) << "six are two switches and three pairs";
  EXPECT_EQ(groups_too_many(GpuSet::from_bits(0b0101'0101), GpuLinks()), 0);
}

// Of all sets of so many: the fewest of the wider groups; and where one of these is enough, the fewest of the narrower in it.
TEST(NearGpusProperty, NoOtherSetIsNearer) {
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    constexpr GpuLinks kLinks[] = {{.pcie = 4, .nvlink = 2}, {.pcie = 2, .nvlink = 4}, {.nvlink = 2}, {.pcie = 5}, {}};
    const GpuLinks links = kLinks[rng.below(std::size(kLinks))];
    const GpuSet free = GpuSet::from_bits(rng.below(1 << 10));
    const int count = static_cast<int>(rng.between(0, free.size()));
    const GpuSet found = nearest_gpus(free, count, links);
    EXPECT_EQ(found.size(), count);
    EXPECT_EQ(found.bits() & ~free.bits(), 0u);
    const auto [wide, narrow] = links.group_sizes();
    const auto cost = [&](GpuSet gpus) {
      const int wider = groups_too_many(gpus, {.pcie = wide});
      return std::tuple(wider, count <= wide && wider == 0 ? groups_too_many(gpus, links) : 0);
    };
    for (std::uint64_t bits = 0; bits < 1 << 10; ++bits) {
      if (std::popcount(bits) != count || (bits & ~free.bits()) != 0) continue;
      EXPECT_LE(cost(found), cost(GpuSet::from_bits(bits))) << found.bits() << " and " << bits;
    }
  }
}

}  // namespace berth::near_gpus_test
