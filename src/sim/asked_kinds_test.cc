#include "sim/asked_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "model/gpu.h"

namespace berth::asked_kinds_test {

PodRequest request(std::int64_t cpu_milli, std::int32_t gpus, std::int32_t gpu_milli) {
  return {.cpu_milli = cpu_milli, .gpus = gpus, .gpu_milli = gpu_milli};
}

TEST(AskedKinds, WithoutGpusFlavorsMakeNoDifference) {
  EXPECT_EQ(kind_of(request(8, 0, 0), FlavorSet()), kind_of(request(8, 0, 0), FlavorSet::first(2)));
  EXPECT_NE(kind_of(request(8, 1, 500), FlavorSet::first(1)), kind_of(request(8, 1, 500), FlavorSet::first(2)));
}

TEST(AskedKinds, WeighAsOftenAsTheyAreAskedToAQuarter) {
  struct Case {
    std::int64_t pods, most, weight;  // 0: left out
  };
  const Case cases[] = {
      {1, 1, 4096},    {100, 100, 4096}, {99, 100, 4096}, {94, 100, 4096}, {93, 100, 3584},
      {82, 100, 3584}, {81, 100, 3072},  {75, 100, 3072}, {50, 100, 2048}, {48, 100, 2048},
      {46, 100, 1792}, {1, 3, 1280},     {1, 17, 256},    {7, 100, 256},
  };
  for (const Case& each : cases) {
    AskedKinds kinds;
    kinds.add({.cpu_milli = 8}, each.most);
    kinds.add({.cpu_milli = 1, .gpus = 1, .gpu_milli = 500}, each.pods);
    std::int64_t weight = 0;
    for (const TypicalPod& pod : kinds.typical_pods()) {
      if (pod.gpus == 1) weight = pod.weight;
    }
    EXPECT_EQ(weight, each.weight) << each.pods << " of " << each.most;
  }
}

TEST(AskedKinds, AreThoseOfNinetyFiveInAHundred) {
  struct Case {
    const char* name;
    std::vector<std::int64_t> pods;
    std::size_t kinds;
  };
  const Case cases[] = {
      {"none", {}, 0},
      {"one", {7}, 1},
      {"the last is 5 %", {76, 19, 5}, 2},
      {"the last is 6 %", {75, 19, 6}, 3},
      {"all that are asked equally often", {90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 11},
      {"what is asked once in 4,097 times", {4097, 1}, 1},
  };
  for (const Case& each : cases) {
    AskedKinds kinds;
    for (std::size_t i = 0; i < each.pods.size(); ++i) {
      kinds.add({.cpu_milli = static_cast<std::int64_t>(i)}, each.pods[i]);
    }
    EXPECT_EQ(kinds.typical_pods().size(), each.kinds) << each.name;
  }
}

TEST(AskedKinds, AreNoMoreThanTheBound) {
  AskedKinds kinds;
  EXPECT_TRUE(kinds.typical_pods().empty());
  for (std::int64_t i = 0; i < 1000; ++i) kinds.add({.cpu_milli = i}, i < 500 ? 1 : 4);
  ASSERT_EQ(kinds.typical_pods().size(), AskedKinds::kKindsMax);
  EXPECT_EQ(kinds.typical_pods().front().cpu_milli, 500);
  kinds.clear();
  EXPECT_TRUE(kinds.typical_pods().empty());
}

TEST(AskedKinds, SeveralComeAndGoAtOnce) {
  AskedKinds kinds;
  kinds.add({.cpu_milli = 1}, 8);
  kinds.add({.cpu_milli = 2}, 8);
  kinds.remove({.cpu_milli = 2}, 4);
  ASSERT_EQ(kinds.typical_pods().size(), 2u);
  EXPECT_EQ(kinds.typical_pods().back().weight, 2048);
  kinds.remove({.cpu_milli = 2}, 4);
  EXPECT_EQ(kinds.typical_pods().size(), 1u);
}

// Whoever has gone leaves no trace, in whatever order they came.
TEST(AskedKinds, PropertyWhatIsLearnedIsOfThoseWhoAreThere) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rng rng(Seed{seed}, 1);
    AskedKinds lived;
    std::vector<AskedKind> there;
    for (int step = 0; step < 300; ++step) {
      if (!there.empty() && rng.below(3) == 0) {
        const auto at = static_cast<std::ptrdiff_t>(rng.below(there.size()));
        lived.remove(there[static_cast<std::size_t>(at)]);
        there.erase(there.begin() + at);
      } else {
        const auto cpu_milli = static_cast<std::int64_t>(rng.below(9));
        const auto gpus = static_cast<std::int32_t>(rng.below(2));
        there.push_back(kind_of(request(cpu_milli * cpu_milli, gpus, gpus * kMilliPerGpu), FlavorSet::first(2)));
        lived.add(there.back());
      }
      if (rng.below(5) == 0) lived.typical_pods();
    }
    AskedKinds fresh;
    for (auto each = there.rbegin(); each != there.rend(); ++each) fresh.add(*each);
    EXPECT_EQ(lived.typical_pods(), fresh.typical_pods()) << "seed " << seed;
  }
}

}  // namespace berth::asked_kinds_test
