#include "manifest/overcommit_text.h"

#include <gtest/gtest.h>

#include <optional>

namespace berth::overcommit_text_test {

TEST(ParseOvercommit, TakesAFactorForEachResource) {
  struct Case {
    const char* text;
    std::optional<Overcommit> expected;
  };
  const Case cases[] = {
      {"cpu=1.5", Overcommit{1500, 1000}},
      {"memory=1.25,cpu=2", Overcommit{2000, 1250}},
      {"cpu=1,memory=10", Overcommit{1000, 10'000}},
      {"cpu=1500m", Overcommit{1500, 1000}},
      {"", {}},
      {"cpu", {}},
      {"cpu=", {}},
      {"cpu=0.9", {}},
      {"cpu=10.001", {}},
      {"cpu=2,cpu=2", {}},
      {"cpu=2,", {}},
      {"gpu=2", {}},
      {"cpu=two", {}},
  };
  for (const Case& c : cases) {
    const auto parsed = parse_overcommit(c.text, '=');
    EXPECT_EQ(parsed ? std::optional(*parsed) : std::nullopt, c.expected) << c.text;
    if (parsed) continue;
    EXPECT_NE(parsed.error().find("such as cpu=1.5,memory=1.2"), std::string::npos) << c.text;
  }
}

TEST(Overcommit, WhatIsExtraIsRoundedDownAndOfTheLargestNodeStaysInBounds) {
  EXPECT_EQ((Overcommit{1500, 1000}.extra({16'000, 64})), (HostAmounts{8'000, 0}));
  EXPECT_EQ((Overcommit{1001, 1001}.extra({7'999, 1'999})), (HostAmounts{7, 1}));
  const HostAmounts largest{kNodeCpuMilliMax, kNodeMemoryBytesMax};
  EXPECT_EQ((Overcommit{10'000, 10'000}.extra(largest)), (HostAmounts{9 * kNodeCpuMilliMax, 9 * kNodeMemoryBytesMax}));
}

}  // namespace berth::overcommit_text_test
