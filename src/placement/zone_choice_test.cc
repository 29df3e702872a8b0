#include "placement/zone_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/property_seeds.h"
#include "placement/filters.h"
#include "state/random_world.h"

namespace berth::zone_choice_test {

Node two_zones(NumaPolicy policy) {
  return {.name = "",
          .flavor = FlavorId(0),
          .gpus = 8,
          .gpu_memory_mib = 1000,
          .cpu_milli = 128'000,
          .numa_zones = 2,
          .numa_policy = policy};
}

PodRequest gpus(std::int32_t count, std::int64_t cpus = 0) {
  return {.cpu_milli = cpus * 1000, .gpus = count, .gpu_milli = kMilliPerGpu};
}

// GPUs 0 to 3 are in the first zone.
TEST(GpusByZone, AreInTheFullestZoneThatWillDo) {
  struct Taken {
    std::uint64_t gpus = 0;
    std::int64_t cpus = 0;
  };
  struct Case {
    const char* what;
    NumaPolicy policy;
    std::vector<Taken> taken;
    PodRequest request;
    std::optional<std::uint64_t> chosen;  // none: it does not fit
  };
  constexpr NumaPolicy kSingle = NumaPolicy::kSingleNumaNode;
  constexpr NumaPolicy kRestricted = NumaPolicy::kRestricted;
  constexpr NumaPolicy kBestEffort = NumaPolicy::kBestEffort;
  const Case cases[] = {
      {"the first of those that are alike", kSingle, {}, gpus(2), 0b00000011},
      {"where fewer GPUs are free", kSingle, {{0b00010000, 0}}, gpus(2), 0b01100000},
      {"where fewer CPUs are free", kSingle, {{0b00000001, 1}, {0b00010000, 2}}, gpus(2), 0b01100000},
      {"where enough CPUs are free", kSingle, {{0b00010000, 33}}, gpus(1, 32), 0b00000001},
      {"to the last core", kSingle, {{0b00010000, 32}}, gpus(1, 32), 0b00100000},
      {"nowhere, between them", kSingle, {{0b00000111, 0}, {0b01110000, 0}}, gpus(2), std::nullopt},
      {"nowhere, with CPUs in the wrong zone", kSingle, {{0b00000111, 0}, {0b00010000, 60}}, gpus(2, 8), std::nullopt},
      {"nowhere, as no zone has so many", kSingle, {}, gpus(5), std::nullopt},
      {"nowhere, as no zone has so many cores", kSingle, {}, gpus(1, 65), std::nullopt},
      {"in both, as it needs both", kRestricted, {{0b00000001, 0}}, gpus(6), 0b11110110},
      {"in both, for its cores, though its GPUs be in one", kRestricted, {{0b00010000, 0}}, gpus(1, 65), 0b00100000},
      {"nowhere, as one would hold it", kRestricted, {{0b00000111, 0}, {0b01110000, 0}}, gpus(2), std::nullopt},
      {"in both, if that has to be", kBestEffort, {{0b00000111, 0}, {0b01110000, 0}}, gpus(2), 0b10001000},
      {"in one, though its CPUs are in the other",
       kBestEffort,
       {{0b00000111, 0}, {0b00010000, 60}},
       gpus(2, 8),
       0b01100000},
  };
  for (const Case& c : cases) {
    Ledger ledger;
    ledger.add(two_zones(c.policy));
    for (const Taken& taken : c.taken) {
      const GpuSet there = GpuSet::from_bits(taken.gpus);
      ledger.apply({.request = gpus(there.size(), taken.cpus), .node = NodeId(0), .gpus = there});
    }
    const NodeView view(ledger, NodeId(0));
    ASSERT_EQ(fits(view, c.request), c.chosen.has_value()) << c.what;
    if (c.chosen) {
      EXPECT_EQ(gpus_by_zone(view, c.request).bits(), *c.chosen) << c.what;
    }
  }
}

// Of all sets of free GPUs that the policy allows now.
struct BestSets {
  std::size_t fewest_zones = SIZE_MAX;
  std::size_t most_whole_zones = 0;  // that stay, of the sets in one zone
};

TEST(GpusByZoneProperty, AreInAsFewZonesAndLeaveAsManyWholeAsAnySet) {
  int in_several = 0;
  for (const Seed seed : property_seeds(600)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Node node = two_zones(static_cast<NumaPolicy>(rng.between(1, 3)));
    node.numa_zones = one_of(rng, {2, 2, 3, 4});
    Ledger ledger;
    ledger.add(node);
    crowd(ledger, rng, 1, rng.between(0, 8));
    ledger.set_open(NodeId(0), true);
    const std::int32_t count = one_of(rng, {1, 2, 3, 4, 6});
    const PodRequest request = gpus(count, one_of(rng, {0, 1, 8, 20, 40}));
    const NodeView view(ledger, NodeId(0));
    if (!fits(view, request)) continue;
    const auto zones_of = [&](std::uint64_t bits) {
      std::set<int> zones;
      GpuSet::from_bits(bits).for_each([&](int gpu) { zones.insert(gpu * node.numa_zones / node.gpus); });
      return zones.size();
    };
    const auto whole_left = [&](std::uint64_t bits) {
      std::set<int> broken;
      for (int gpu = 0; gpu < node.gpus; ++gpu) {
        const bool free = ledger.gpu_milli(NodeId(0))[static_cast<std::size_t>(gpu)] == kMilliPerGpu;
        if (!free || ((bits >> gpu) & 1) != 0) broken.insert(gpu * node.numa_zones / node.gpus);
      }
      return static_cast<std::size_t>(node.numa_zones) - broken.size();
    };
    BestSets best;
    for (std::uint64_t bits = 0; bits < 256; ++bits) {
      const GpuSet set = GpuSet::from_bits(bits);
      bool free = set.size() == count;
      set.for_each(
          [&](int gpu) { free = free && ledger.gpu_milli(NodeId(0))[static_cast<std::size_t>(gpu)] == kMilliPerGpu; });
      if (!free || !suits_zones(ledger, request, {NodeId(0), set})) continue;
      best.fewest_zones = std::min(best.fewest_zones, zones_of(bits));
      const bool with_cpus = node.numa_policy != NumaPolicy::kBestEffort;
      if (zones_of(bits) == 1 && with_cpus) best.most_whole_zones = std::max(best.most_whole_zones, whole_left(bits));
    }
    const std::uint64_t chosen = gpus_by_zone(view, request).bits();
    ASSERT_TRUE(suits_zones(ledger, request, {NodeId(0), GpuSet::from_bits(chosen)}));
    ASSERT_EQ(zones_of(chosen), best.fewest_zones);
    if (best.fewest_zones == 1) {
      ASSERT_GE(whole_left(chosen), best.most_whole_zones);
    }
    in_several += best.fewest_zones > 1 ? 1 : 0;
  }
  EXPECT_GT(in_several, 20);
}

}  // namespace berth::zone_choice_test
