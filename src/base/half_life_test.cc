#include "base/half_life.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace berth::half_life_test {

constexpr std::int64_t kDay = 86'400'000;

TEST(KeptAfter, HalvesWithEachHalfLife) {
  struct Case {
    const char* what;
    std::int64_t passed, half_life, kept;
  };
  const Case cases[] = {
      {"nothing passed", 0, kDay, kWhole},
      {"one", kDay, kDay, kWhole / 2},
      {"three", 3 * kDay, kDay, kWhole / 8},
      {"as many as can be told", 62, 1, 1},
      {"more", 63, 1, 0},
      {"very many", INT64_MAX, 1, 0},
      {"as good as nothing passed", 1, INT64_MAX, kWhole},
  };
  for (const Case& c : cases) EXPECT_EQ(kept_after(c.passed, c.half_life), c.kept) << c.what;
}

TEST(KeptAfter, IsThePowerOfTwoAndFalls) {
  std::int64_t before = kWhole;
  for (std::int64_t passed = 0; passed < 4 * kDay; passed += 123'457) {
    const std::int64_t kept = kept_after(passed, kDay);
    const double exact = std::exp2(-static_cast<double>(passed) / static_cast<double>(kDay));
    ASSERT_NEAR(static_cast<double>(kept) / static_cast<double>(kWhole), exact, 1e-9);
    ASSERT_LE(kept, before);
    before = kept;
  }
}

}  // namespace berth::half_life_test
