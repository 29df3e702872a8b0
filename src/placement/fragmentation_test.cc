#include "placement/fragmentation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::fragmentation_test {

// The definition, word by word: free thousandths that a pod of each kind cannot use, times the kind's weight.
std::int64_t unusable_by_definition(const std::vector<TypicalPod>& pods, FlavorId flavor, std::int64_t cpu_free_milli,
                                    const std::vector<std::int16_t>& gpus) {
  std::int64_t sum = 0;
  for (const TypicalPod& pod : pods) {
    std::int64_t all = 0;
    std::int64_t on_too_small = 0;
    int large_enough = 0;
    for (const std::int16_t free : gpus) {
      all += free;
      on_too_small += free < pod.gpu_milli ? free : 0;
      large_enough += free >= pod.gpu_milli ? 1 : 0;
    }
    const bool fits =
        pod.gpus > 0 && pod.flavors.contains(flavor) && pod.cpu_milli <= cpu_free_milli && large_enough >= pod.gpus;
    sum += pod.weight * (fits ? on_too_small : all);
  }
  return sum;
}

std::vector<std::int16_t> random_gpus(Rng& rng) {
  std::vector<std::int16_t> gpus(static_cast<std::size_t>(rng.between(1, 10)));
  for (std::int16_t& free : gpus) {
    free = static_cast<std::int16_t>(one_of<std::int64_t>(rng, {0, 1000, 1000, 500, 250, 1, rng.between(0, 1000)}));
  }
  return gpus;
}

TEST(FragmentationProperty, IsWhatTheDefinitionSays) {
  for (const Seed seed : property_seeds(500)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto pods = random_typical_pods(rng, 3);
    const Fragmentation fragmentation(pods, 3);
    for (int i = 0; i < 50; ++i) {
      const auto gpus = random_gpus(rng);
      const FlavorId flavor(static_cast<std::size_t>(rng.below(3)));
      const std::int64_t cpu = one_of<std::int64_t>(rng, {0, 499, 500, 1000, 3999, 4000, 64'000});
      ASSERT_EQ(fragmentation.unusable(flavor, cpu, gpus), unusable_by_definition(pods, flavor, cpu, gpus));
    }
  }
}

TEST(FragmentationScore, NoChangeIsExactlyTheMiddleWhateverTheAmount) {
  const std::vector<TypicalPod> pods = {{1000, 1, 500, FlavorSet::all(), 3}, {0, 1, 1000, FlavorSet::all(), 7}};
  const Fragmentation fragmentation(pods, 1);
  for (std::int64_t amount = 0; amount < 80'000; amount += 77) EXPECT_EQ(fragmentation.score(amount, amount), 50);
}

TEST(FragmentationScore, OneThousandthLessOrMoreIsNoLongerTheMiddleFromAbove) {
  const Fragmentation fragmentation(std::vector<TypicalPod>{{0, 1, 1000, FlavorSet::all(), 1}}, 1);
  EXPECT_EQ(fragmentation.score(1000, 999), 50);
  EXPECT_EQ(fragmentation.score(1000, 1001), 49);
  EXPECT_EQ(fragmentation.score(1'000'000, 0), 99);
  EXPECT_EQ(fragmentation.score(0, 1'000'000), 0);
}

TEST(FragmentationScoreProperty, IsTheSigmoidRoundedDown) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const auto pods = random_typical_pods(rng, 2);
    const Fragmentation fragmentation(pods, 2);
    int last = -1;
    const std::int64_t span = 8000 * fragmentation.weight();
    const std::int64_t step = 1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(span / 500)));
    for (std::int64_t fall = -span; fall <= span; fall += step) {
      const int score = fall > 0 ? fragmentation.score(fall, 0) : fragmentation.score(0, -fall);
      ASSERT_GE(score, last) << "a larger fall never scores less";
      last = score;
      const long double x =
          static_cast<long double>(fall) / (1000.0L * static_cast<long double>(fragmentation.weight()));
      const long double exact = 100 / (1 + std::exp(-x));
      if (std::abs(exact - std::round(exact)) < 1e-6L) continue;  // at a threshold
      ASSERT_EQ(score, static_cast<int>(std::floor(exact))) << "fall " << fall << " weight " << fragmentation.weight();
    }
  }
}

}  // namespace berth::fragmentation_test
