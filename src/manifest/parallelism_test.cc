#include "manifest/parallelism.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::parallelism_test {

TEST(ParseParallelism, ReadsSizesInAnyOrder) {
  struct Case {
    const char* text;
    char is;
    Parallelism parallel;
  };
  const Case cases[] = {
      {"tp=8,pp=4,dp=16", '=', {8, 4, 16}},
      {"dp:16,tp:8", ':', {8, 1, 16}},
      {"pp=3", '=', {1, 3, 1}},
      {"tp=1048576", '=', {1'048'576, 1, 1}},
  };
  for (const Case& c : cases) {
    const auto found = parse_parallelism(c.text, c.is);
    ASSERT_TRUE(found.has_value()) << c.text << ": " << found.error();
    EXPECT_EQ(*found, c.parallel) << c.text;
  }
}

TEST(ParseParallelism, SaysWhatToWriteInstead) {
  for (const char* const text : {"", "8", "tp", "tp=", "tp=0", "tp=-1", "tp=8,", ",tp=8", "tp=8,tp=8", "ep=2", "tp:8",
                                 "tp=8 pp=2", "tp=1048577", "tp=8,,pp=2"}) {
    const auto found = parse_parallelism(text, '=');
    ASSERT_FALSE(found.has_value()) << text;
    EXPECT_EQ(found.error(),
              "'" + std::string(text) +
                  "' are no parallel sizes; write some such as tp=8,pp=4,dp=16, for how many GPUs share a "
                  "tensor, how many stages there are, and how many replicas");
  }
}

TEST(ProblemOfParallelism, IsThatTheyAreOtherGpus) {
  struct Case {
    Parallelism parallel;
    std::int64_t pods, gpus_of_pod;
    const char* problem;
  };
  const Case cases[] = {
      {{8, 4, 16}, 64, 8, ""},
      {{16, 1, 2}, 4, 8, ""},
      {{2, 2, 2}, 1, 8, ""},
      {{8, 4, 16},
       32,
       8,
       "8 x 4 x 16 are 512 GPUs, and its pods have 256 (32 with 8 each); write sizes whose product is that"},
      {{4, 3, 1},
       2,
       6,
       "tensor groups of 4 GPUs are not whole pods of 6, nor such a pod whole groups; write a tp that divides the GPUs "
       "of "
       "a pod, or a multiple of them"},
  };
  for (const Case& c : cases) EXPECT_EQ(problem_of(c.parallel, c.pods, c.gpus_of_pod), c.problem);
}

}  // namespace berth::parallelism_test
