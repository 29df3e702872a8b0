#include "base/sorted_blocks.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/property_seeds.h"

namespace berth::sorted_blocks_test {

std::vector<int> walked(const SortedBlocks<int>& blocks) {
  std::vector<int> values;
  for (auto cursor = blocks.begin_cursor(); blocks.at(cursor) != nullptr; blocks.advance(cursor)) {
    values.push_back(*blocks.at(cursor));
  }
  return values;
}

std::vector<int> visited(const SortedBlocks<int>& blocks) {
  std::vector<int> values;
  blocks.for_each([&](int value) { values.push_back(value); });
  return values;
}

void expect_same(const SortedBlocks<int>& blocks, const std::set<int>& set) {
  const std::vector<int> expected(set.begin(), set.end());
  ASSERT_EQ(blocks.size(), set.size());
  ASSERT_EQ(blocks.empty(), set.empty());
  ASSERT_EQ(walked(blocks), expected);
  ASSERT_EQ(visited(blocks), expected);
  if (set.empty()) return;
  ASSERT_EQ(blocks.front(), *set.begin());
}

TEST(SortedBlocks, AreASetWhateverTheOrderOfArrival) {
  struct Case {
    const char* order;
    int (*value)(int i);
  };
  const Case cases[] = {
      {"ascending", [](int i) { return i; }},
      {"descending", [](int i) { return -i; }},
      {"from the middle", [](int i) { return i % 2 == 0 ? i : -i; }},
      {"scattered", [](int i) { return i * 7919 % 10'007; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.order);
    SortedBlocks<int> blocks;
    std::set<int> set;
    for (int i = 0; i < 3000; ++i) {
      blocks.insert(c.value(i));
      set.insert(c.value(i));
    }
    expect_same(blocks, set);
    for (int i = 0; i < 3000; i += 2) {
      blocks.erase(c.value(i));
      set.erase(c.value(i));
    }
    expect_same(blocks, set);
    for (int i = 1; i < 3000; i += 2) {
      blocks.erase(c.value(i));
      set.erase(c.value(i));
    }
    expect_same(blocks, set);
  }
}

TEST(SortedBlocks, ACopyIsItsOwn) {
  SortedBlocks<int> blocks;
  for (int i = 0; i < 600; ++i) blocks.insert(i);
  const SortedBlocks<int> copy = blocks;
  for (int i = 0; i < 600; ++i) blocks.erase(i);
  EXPECT_TRUE(blocks.empty());
  EXPECT_EQ(copy.size(), 600u);
  EXPECT_EQ(walked(copy).back(), 599);
}

TEST(SortedBlocksDeathTest, RefuseWhatIsThereAndWhatIsNot) {
  SortedBlocks<int> blocks;
  blocks.insert(1);
  EXPECT_DEATH(blocks.insert(1), "internal error");
  EXPECT_DEATH(blocks.erase(2), "internal error");
}

TEST(SortedBlocksProperty, AreWhatAStdSetIs) {
  for (const Seed seed : property_seeds(60)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    SortedBlocks<int> blocks;
    std::set<int> set;
    const std::int64_t range = rng.between(10, 3000);
    for (int step = 0; step < 4000; ++step) {
      const int value = static_cast<int>(rng.between(0, range));
      if (set.insert(value).second) {
        blocks.insert(value);
      } else {
        set.erase(value);
        blocks.erase(value);
      }
      if (step % 500 == 0) expect_same(blocks, set);
    }
    expect_same(blocks, set);
    if (HasFailure()) return;
  }
}

}  // namespace berth::sorted_blocks_test
