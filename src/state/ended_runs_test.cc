#include "state/ended_runs.h"

#include <gtest/gtest.h>

#include <optional>

namespace berth::ended_runs_test {

constexpr RunKind kKind{QueueId(1), UserId(2), 4000};

TEST(EndedRuns, ForetellTheShortestLengthThatIsLongEnough) {
  EndedRuns runs;
  for (std::int64_t i = 20; i > 1; --i) runs.add(kKind, Duration{i * 100});
  EXPECT_EQ(runs.foretell(kKind, 50), std::nullopt) << "nineteen are too few";
  runs.add(kKind, Duration{100});
  struct Case {
    std::int32_t percent;
    std::int64_t length_ms;
  };
  for (const auto& [percent, length_ms] :
       {Case{50, 1000}, Case{51, 1100}, Case{55, 1100}, Case{90, 1800}, Case{99, 2000}}) {
    EXPECT_EQ(runs.foretell(kKind, percent), Duration{length_ms}) << percent;
  }
}

TEST(EndedRuns, OfThoseThatRanLongerHalfHadEndedBy) {
  EndedRuns runs;
  for (int i = 1; i < 20; ++i) runs.add(kKind, Duration{100 * i});
  EXPECT_EQ(runs.half_of_those_beyond(kKind, Duration{0}), std::nullopt) << "nineteen are too few";
  runs.add(kKind, Duration{2000});
  struct Case {
    std::int64_t ran_ms;
    std::optional<Duration> half;
  };
  for (const auto& [ran_ms, half] :
       {Case{0, Duration{1000}}, Case{1000, Duration{1500}}, Case{999, Duration{1500}}, Case{1899, Duration{1900}},
        Case{1999, Duration{2000}}, Case{2000, std::nullopt}}) {
    EXPECT_EQ(runs.half_of_those_beyond(kKind, Duration{ran_ms}), half) << ran_ms;
  }
}

TEST(EndedRuns, AreOfOneKindWithinAFactorOfTwo) {
  EndedRuns runs;
  for (int i = 0; i < 20; ++i) runs.add(kKind, Duration{100});
  EXPECT_TRUE(runs.foretell({QueueId(1), UserId(2), 2048}, 90));
  EXPECT_FALSE(runs.foretell({QueueId(1), UserId(2), 4096}, 90));
  EXPECT_FALSE(runs.foretell({QueueId(1), UserId(3), 4000}, 90));
  EXPECT_FALSE(runs.foretell({QueueId(0), UserId(2), 4000}, 90));
}

TEST(EndedRuns, TheOldestAreForgotten) {
  EndedRuns runs;
  for (std::size_t i = 0; i < EndedRuns::kRememberedMax; ++i) runs.add(kKind, Duration{5000});
  for (std::size_t i = 0; i < EndedRuns::kRememberedMax; ++i) runs.add(kKind, Duration{10});
  EXPECT_EQ(runs.foretell(kKind, 99), Duration{10});
}

}  // namespace berth::ended_runs_test
