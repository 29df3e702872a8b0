#include "manifest/given_gpus.h"

#include <gtest/gtest.h>

#include <optional>

namespace berth::given_gpus_test {

TEST(GivenGpus, AreWrittenAsTheyAreRead) {
  const GivenGpus whole{.gpus = GpuSet::from_bits(0b1001)};
  const GivenGpus slice{.gpus = GpuSet::from_bits(0b100), .profile = "1g.10gb+me", .slice_start = 6};
  EXPECT_EQ(format_given_gpus(whole), "0,3");
  EXPECT_EQ(parse_given_gpus("0,3"), whole);
  EXPECT_EQ(format_given_gpus(slice), "2:1g.10gb+me@6");
  EXPECT_EQ(parse_given_gpus("2:1g.10gb+me@6"), slice);
  const GivenGpus part{.gpus = GpuSet::from_bits(0b100), .milli = 250};
  EXPECT_EQ(format_given_gpus(part), "2:0.25");
  EXPECT_EQ(parse_given_gpus("2:0.25"), part);
  EXPECT_EQ(parse_given_gpus("2:1"), (GivenGpus{.gpus = part.gpus, .milli = 1000}));
  EXPECT_TRUE(part.same_place({.gpus = part.gpus}));
  EXPECT_FALSE(part.same_place({.gpus = GpuSet::from_bits(1), .milli = 250}));
  EXPECT_EQ(parse_given_gpus(""), GivenGpus());
  EXPECT_EQ(format_given_gpus(GivenGpus()), "");
  for (const char* const text : {"a",
                                 "0,",
                                 ",0",
                                 "0,0",
                                 "64",
                                 "-1",
                                 "0;1",
                                 "0:",
                                 "0:@4",
                                 "0:1g.10gb",
                                 "0:1g.10gb@",
                                 "0:1g.10gb@x",
                                 "0:1g.10gb@256",
                                 "0,1:1g.10gb@4",
                                 "0,1:0.5",
                                 "0:0",
                                 "0:1.5",
                                 "0:-0.5",
                                 "0:500m",
                                 ":0.5",
                                 ":1g.10gb@4",
                                 "64:1g.10gb@4"})
    EXPECT_EQ(parse_given_gpus(text), std::nullopt) << text;
}

}  // namespace berth::given_gpus_test
