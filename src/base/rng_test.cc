#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include "base/property_seeds.h"

namespace berth::rng_test {

TEST(Rng, IsSplitMix64) {
  // From the authors' own splitmix64.c.
  Rng zero(Seed{0});
  for (const std::uint64_t expected : {0xe220a8397b1dcdafULL, 0x6e789e6aa1b965f4ULL, 0x06c45d188009454fULL}) {
    EXPECT_EQ(zero.next(), expected);
  }
  Rng other(Seed{1234567});
  for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                       4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(other.next(), expected);
  }
}

TEST(Rng, StreamsOfOneSeedDiffer) {
  std::map<std::uint64_t, std::uint64_t> stream_of;
  for (std::uint64_t stream = 0; stream < 1000; ++stream) {
    EXPECT_TRUE(stream_of.emplace(Rng(Seed{42}, stream).next(), stream).second) << stream;
  }
}

TEST(Rng, CopiesContinueFromWhereTheOriginalStood) {
  Rng original(Seed{7});
  original.next();
  Rng copy = original;
  EXPECT_EQ(copy.next(), original.next());
}

TEST(Rng, DrawsBelowTheBound) {
  const std::uint64_t bounds[] = {1, 2, 3, 7, 1000, std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()};
  Rng rng(Seed{1});
  for (const std::uint64_t bound : bounds) {
    for (int i = 0; i < 1000; ++i) EXPECT_LT(rng.below(bound), bound);
  }
}

TEST(Rng, DrawsWithoutBias) {
  // Scaling alone would send two of every four numbers to the multiples of three.
  const std::uint64_t bound = std::uint64_t{3} << 62;
  Rng rng(Seed{1});
  int multiples = 0;
  for (int i = 0; i < 30'000; ++i) multiples += rng.below(bound) % 3 == 0 ? 1 : 0;
  EXPECT_NEAR(multiples, 10'000, 400);
}

TEST(Rng, DrawsBothEnds) {
  const std::pair<std::int64_t, std::int64_t> ranges[] = {{0, 0}, {-2, 2}, {5, 6}, {-1, 0}};
  Rng rng(Seed{3});
  for (const auto& [low, high] : ranges) {
    std::map<std::int64_t, int> drawn;
    for (int i = 0; i < 200; ++i) ++drawn[rng.between(low, high)];
    EXPECT_EQ(drawn.begin()->first, low);
    EXPECT_EQ(drawn.rbegin()->first, high);
    EXPECT_EQ(static_cast<std::int64_t>(drawn.size()), high - low + 1);
  }
}

TEST(Rng, ShufflesEveryOrderEquallyOften) {
  std::map<std::array<int, 3>, int> seen;
  Rng rng(Seed{5});
  for (int i = 0; i < 12'000; ++i) {
    std::array<int, 3> items = {0, 1, 2};
    rng.shuffle(std::span<int>(items));
    ++seen[items];
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 2000, 200);
}

TEST(RngProperty, AShuffleIsAPermutation) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::vector<std::size_t> items(static_cast<std::size_t>(rng.below(100)));
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
    std::vector<std::size_t> shuffled = items;
    rng.shuffle(std::span(shuffled));
    std::sort(shuffled.begin(), shuffled.end());
    ASSERT_EQ(shuffled, items);
  }
}

}  // namespace berth::rng_test
