#include "model/quantity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/wording.h"

namespace berth::quantity_test {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// A whole number as decimal digits, least first: slow, and nothing in common with what is tested.
class BigNumber {
 public:
  explicit BigNumber(std::string_view digits) {
    for (const char c : digits) digits_.insert(digits_.begin(), c - '0');
  }
  void times_two() {
    int carry = 0;
    for (int& digit : digits_) {
      carry += 2 * digit;
      digit = carry % 10;
      carry /= 10;
    }
    if (carry > 0) digits_.push_back(carry);
  }
  void times_ten() { digits_.insert(digits_.begin(), 0); }
  // Over ten, rounded up.
  void drop_digits(std::size_t count) {
    bool rest = false;
    for (; count > 0 && !digits_.empty(); --count) {
      rest = rest || digits_.front() != 0;
      digits_.erase(digits_.begin());
    }
    if (rest) add_one();
  }
  std::optional<std::int64_t> value() const {
    std::string text;
    for (const int digit : digits_) text.insert(text.begin(), static_cast<char>('0' + digit));
    text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
    const std::string largest = std::to_string(kMax);
    if (text.size() > largest.size() || (text.size() == largest.size() && text > largest)) return std::nullopt;
    return text.empty() ? 0 : std::stoll(text);
  }

 private:
  void add_one() {
    for (int& digit : digits_) {
      if (++digit < 10) return;
      digit = 0;
    }
    digits_.push_back(1);
  }

  std::vector<int> digits_;
};

// `whole`.`fraction` x 10^decimal x 2^binary, rounded up.
std::optional<std::int64_t> oracle(const std::string& whole, const std::string& fraction, int decimal, int binary) {
  BigNumber number(whole + fraction);
  for (int i = 0; i < binary; ++i) number.times_two();
  for (int i = 0; i < decimal; ++i) number.times_ten();
  number.drop_digits(fraction.size() + static_cast<std::size_t>(std::max(0, -decimal)));
  return number.value();
}

TEST(ParseMilli, ReadsWhatKubernetesReads) {
  struct Case {
    std::string_view text;
    std::int64_t milli;
  };
  const Case cases[] = {
      {"0", 0},
      {"2", 2000},
      {"1.5", 1500},
      {"1.", 1000},
      {".5", 500},
      {"+1", 1000},
      {"-0", 0},
      {"-0.0", 0},
      {"007", 7000},
      {"100m", 100},
      {"1k", 1'000'000},
      {"1e3", 1'000'000},
      {"1E3", 1'000'000},
      {"1E+3", 1'000'000},
      {"5e-3", 5},
      {"1e-1", 100},
      {"1M", 1'000'000'000},
      {"2G", 2'000'000'000'000},
      {"1T", 1'000'000'000'000'000},
      {"9P", 9'000'000'000'000'000'000},
      {"1Ki", 1'024'000},
      {"1.5Gi", 1'610'612'736'000},
      {"0E", 0},
      {"0e999999999999", 0},
      {"0Ei", 0},
      {"1e0", 1000},
      {"1e00000000000000003", 1'000'000},
      {"9223372036854775807m", kMax},
      {"9223372036854775.807", kMax},
      {"0.00000000000000000000000000000000000000", 0},
  };
  for (const Case& c : cases) {
    const auto milli = parse_milli(c.text);
    ASSERT_TRUE(milli.has_value()) << c.text << ": " << milli.error();
    EXPECT_EQ(*milli, c.milli) << c.text;
  }
}

TEST(ParseMilli, RoundsAwayFromZero) {
  for (const std::string_view text :
       {"0.0001", "1u", "1n", "999u", "0.001", "1e-9", "1e-999999999999", "0.000000000000000001Ki"}) {
    EXPECT_EQ(parse_milli(text).value(), 1) << text;
  }
  EXPECT_EQ(parse_milli("1.0001").value(), 1001);
  EXPECT_EQ(parse_milli("1000u").value(), 1);
  EXPECT_EQ(parse_milli("1001u").value(), 2);
}

TEST(ParseBytes, ReadsAndRoundsUp) {
  struct Case {
    std::string_view text;
    std::int64_t bytes;
  };
  const Case cases[] = {
      {"1.5Gi", 1'610'612'736},
      {"500m", 1},
      {"1500m", 2},
      {"0.1Ki", 103},
      {"1E", 1'000'000'000'000'000'000},
      {"7Ei", 8'070'450'532'247'928'832},
      {"7.999999999999999999Ei", 9'223'372'036'854'775'807},
      {"10P", 10'000'000'000'000'000},
      {"9223372036854775807", kMax},
      {"1e18", 1'000'000'000'000'000'000},
      {"1E1", 10},
      {"1n", 1},
      {"123456789.5", 123'456'790},
  };
  for (const Case& c : cases) {
    const auto bytes = parse_bytes(c.text);
    ASSERT_TRUE(bytes.has_value()) << c.text << ": " << bytes.error();
    EXPECT_EQ(*bytes, c.bytes) << c.text;
  }
}

// Texts that made other schedulers loop, or read 0 or 10.
TEST(ParseQuantity, RefusesWhatDoesNotFitAndSaysTheLargest) {
  for (const std::string_view text :
       {"2E6024865272343", "1e4294967297", "1e999999999999", "1e19", "8Ei", "10E", "9223372036854775808",
        "99999999999999999999Ei", "9223372036854775807.0001", "1e18446744073709551617"}) {
    EXPECT_EQ(parse_bytes(text).error(), quote(text) + " is too large; the largest is 9223372036854775807");
  }
  for (const std::string_view text :
       {"10P", "1E", "9.3P", "9223372036854775808m", "1e4294967297", "9223372036854775.8071"}) {
    EXPECT_EQ(parse_milli(text).error(), quote(text) + " is too large; the largest is 9223372036854775807m");
  }
}

TEST(ParseQuantity, RefusesWhatIsNoneAndSaysWhatToWrite) {
  for (const std::string_view text : {"",      " ",   "x",   "1.5x", "1 Gi", " 1",  "1 ",   "1e+",  "1e1.5", "1ee3",
                                      "1.2.3", ".",   "+",   "-",    "--1",  "+-1", "1Kim", "1mm",  "0x10",  "1_000",
                                      "1,5",   "inf", "nan", "e3",   "Ki",   "m",   "1i",   "1e3m", "1Ki3"}) {
    EXPECT_EQ(parse_milli(text).error(), quote(text) + " is not a quantity; write 1500m, 1.5 or 2");
    EXPECT_EQ(parse_bytes(text).error(), quote(text) + " is not a quantity; write 512Mi, 1.5Gi or 1000000");
  }
  EXPECT_EQ(parse_bytes("64GB").error(), "'64GB' is not a quantity; write 64G or 64Gi");
  EXPECT_EQ(parse_bytes("1K").error(), "'1K' is not a quantity; write 1k or 1Ki");
  EXPECT_EQ(parse_milli("1e").error(), "'1e' is not a quantity; write 1500m, 1.5 or 2");
  EXPECT_EQ(parse_bytes("2.5gib").error(), "'2.5gib' is not a quantity; write 2.5G or 2.5Gi");
  EXPECT_EQ(parse_milli("-1").error(), "'-1' is negative; write 0 or more");
  EXPECT_EQ(parse_milli("-1n").error(), "'-1n' is negative; write 0 or more");
  EXPECT_EQ(parse_milli(std::string_view("1\0", 2)).error(), "'1\\x00' is not a quantity; write 1500m, 1.5 or 2");
}

TEST(ParseQuantity, AnswersAMegabyteOfDigitsAtOnce) {
  const std::string digits(1 << 20, '9');
  for (const auto& answer : {parse_milli(digits), parse_bytes(digits), parse_milli("1e" + digits)}) {
    EXPECT_NE(answer.error().find("is too long for a quantity; write at most 64 characters"), std::string::npos);
    EXPECT_LT(answer.error().size(), 200U);
  }
  EXPECT_FALSE(parse_integer(digits, 0, 5).has_value());
  EXPECT_FALSE(parse_duration_ms(digits + "s").has_value());
  // At the bound itself everything still counts.
  EXPECT_EQ(parse_milli("0." + std::string(61, '0') + "1").value(), 1);
  EXPECT_EQ(parse_milli(std::string(63, '0') + "1").value(), 1000);
}

TEST(ParseQuantity, AgreesWithSlowBigNumbers) {
  struct Suffix {
    std::string_view text;
    int decimal;
    int binary;
  };
  const Suffix suffixes[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0}, {"k", 3, 0},   {"M", 6, 0},
                             {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0}, {"Ki", 0, 10}, {"Mi", 0, 20},
                             {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60}};
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(Seed{seed});
    const auto digits = [&rng](std::int64_t most) {
      std::string text;
      for (std::int64_t left = rng.between(0, most); left > 0; --left) {
        text += rng.below(3) == 0 ? '0' : rng.below(3) == 0 ? '9' : static_cast<char>('0' + rng.between(0, 9));
      }
      return text;
    };
    std::string whole = digits(rng.below(2) == 0 ? 4 : 22);
    const std::string fraction = digits(22);
    if (whole.empty() && fraction.empty()) whole = "0";
    std::string text = whole + (fraction.empty() && rng.below(2) == 0 ? "" : "." + fraction);
    int decimal = 0;
    int binary = 0;
    if (rng.below(3) == 0) {
      decimal = static_cast<int>(rng.between(-30, 30));
      text += std::string(rng.below(2) == 0 ? "e" : "E") + (decimal >= 0 && rng.below(2) == 0 ? "+" : "") +
              std::to_string(decimal);
    } else {
      const Suffix& suffix = suffixes[rng.below(std::size(suffixes))];
      text += suffix.text;
      decimal = suffix.decimal;
      binary = suffix.binary;
    }
    const auto check = [&](const Parsed<std::int64_t>& parsed, const std::optional<std::int64_t>& expected) {
      ASSERT_EQ(parsed.has_value(), expected.has_value()) << text << " seed " << seed;
      if (expected) {
        ASSERT_EQ(*parsed, *expected) << text << " seed " << seed;
      } else {
        ASSERT_NE(parsed.error().find("too large"), std::string::npos) << text << " seed " << seed;
      }
    };
    check(parse_milli(text), oracle(whole, fraction, decimal + 3, binary));
    check(parse_bytes(text), oracle(whole, fraction, decimal, binary));
  }
}

std::int64_t any_amount(Rng& rng) {
  const std::int64_t amount = static_cast<std::int64_t>(rng.next() >> (1 + rng.below(63)));
  const std::int64_t units[] = {1, 1, 1000, 1024, 1'000'000, 1 << 20, 1 << 30};
  const std::int64_t unit = units[rng.below(std::size(units))];
  return amount / unit * unit;
}

TEST(FormatQuantity, ParsesBackToTheSame) {
  for (std::uint64_t seed = 1; seed <= 50'000; ++seed) {
    Rng rng(Seed{seed});
    const std::int64_t amount = any_amount(rng);
    ASSERT_EQ(parse_milli(format_milli(amount)).value(), amount) << "seed " << seed;
    ASSERT_EQ(parse_bytes(format_bytes(amount)).value(), amount) << "seed " << seed;
  }
}

TEST(ParseQuantity, IsMonotone) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(Seed{seed});
    // Smaller number or smaller suffix: never a larger amount.
    const std::int64_t low = rng.between(0, 1'000'000);
    const std::int64_t high = rng.between(low, 1'000'000);
    const std::string_view rising[] = {"n", "u", "m", "", "k", "Ki", "M", "Mi", "G", "Gi", "T", "Ti"};
    const std::size_t small = rng.below(std::size(rising));
    const std::size_t large = small + rng.below(std::size(rising) - small);
    const std::string fraction = "." + std::to_string(rng.between(0, 999));
    const std::string less = std::to_string(low) + fraction + std::string(rising[small]);
    const std::string more = std::to_string(high) + fraction + std::string(rising[large]);
    const auto less_bytes = parse_bytes(less);
    const auto more_bytes = parse_bytes(more);
    ASSERT_TRUE(less_bytes && more_bytes) << less << " " << more << " seed " << seed;
    ASSERT_LE(*less_bytes, *more_bytes) << less << " " << more << " seed " << seed;
  }
}

TEST(FormatQuantity, WritesTheShortest) {
  struct Case {
    std::int64_t amount;
    std::string_view milli;
    std::string_view bytes;
  };
  const Case cases[] = {
      {0, "0", "0"},
      {1, "1m", "1"},
      {1500, "1500m", "1500"},
      {2000, "2", "2k"},
      {1024, "1024m", "1Ki"},
      {1'610'612'736, "1610612736m", "1536Mi"},
      {12'000'000, "12k", "12M"},
      {kMax, "9223372036854775807m", "9223372036854775807"},
      {-1500, "-1500m", "-1500"},
      {kMin, "-9223372036854775808m", "-8Ei"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(format_milli(c.amount), c.milli);
    EXPECT_EQ(format_bytes(c.amount), c.bytes);
  }
}

TEST(ParseInteger, ReadsPlainDecimalsInARange) {
  EXPECT_EQ(parse_integer("0", 0, 9).value(), 0);
  EXPECT_EQ(parse_integer("-5", -5, 9).value(), -5);
  EXPECT_EQ(parse_integer("0007", 0, 9).value(), 7);
  EXPECT_EQ(parse_integer("9223372036854775807", kMin, kMax).value(), kMax);
  EXPECT_EQ(parse_integer("-9223372036854775808", kMin, kMax).value(), kMin);
  for (const std::string_view text : {"", "-", "+1", " 1", "1 ", "1.5", "1e3", "0x1", "--1", "1k"}) {
    EXPECT_EQ(parse_integer(text, 1, 1000).error(),
              quote(text) + " is not a whole number; write a whole number from 1 to 1000");
  }
  for (const std::string_view text :
       {"0", "1001", "-1", "18446744073709551617", "99999999999999999999999999999999999999999999"}) {
    EXPECT_EQ(parse_integer(text, 1, 1000).error(),
              quote(text) + " is out of range; write a whole number from 1 to 1000");
  }
  EXPECT_FALSE(parse_integer("9223372036854775808", kMin, kMax).has_value());
  EXPECT_FALSE(parse_integer("-9223372036854775809", kMin, kMax).has_value());
}

TEST(ParseDuration, ReadsLengthsWithUnits) {
  struct Case {
    std::string_view text;
    std::int64_t ms;
  };
  const Case cases[] = {
      {"2h", 7'200'000},
      {"45m", 2'700'000},
      {"30s", 30'000},
      {"1d", 86'400'000},
      {"250ms", 250},
      {"1h30m", 5'400'000},
      {"0s", 0},
      {"1d2h3m4s5ms", 93'784'005},
      {"90m", 5'400'000},
      {"1m1ms", 60'001},
      {"9223372036854775807ms", kMax},
  };
  for (const Case& c : cases) {
    const auto ms = parse_duration_ms(c.text);
    ASSERT_TRUE(ms.has_value()) << c.text << ": " << ms.error();
    EXPECT_EQ(*ms, c.ms) << c.text;
  }
}

TEST(FormatDuration, IsWhatPeopleWouldWrite) {
  for (const char* const text : {"0s", "1ms", "999ms", "1s", "1m30s", "45m", "12h", "1d", "1d12h", "400d1h1m1s1ms"}) {
    EXPECT_EQ(format_duration_ms(*parse_duration_ms(text)), text);
  }
}

TEST(ParseDuration, RefusesTheRest) {
  for (const std::string_view text : {"", "h", "1.5h", "30m1h", "1h1h", "2 h", "1x", "1hm", "5S", "+1s", "1h30"}) {
    EXPECT_EQ(parse_duration_ms(text).error(),
              quote(text) + " is not a length of time; write 2h, 45m, 1h30m, 30s or 250ms");
  }
  EXPECT_EQ(parse_duration_ms("30").error(), "'30' has no unit; write 30s for seconds, or ms, m, h, d");
  EXPECT_EQ(parse_duration_ms("-5s").error(), "'-5s' is negative; write 0s or more");
  for (const std::string_view text : {"9223372036854775808ms", "9223372036854775807s", "106751991168d",
                                      "99999999999999999999999999999d", "106751991167d9223372036854775807ms"}) {
    EXPECT_EQ(parse_duration_ms(text).error(), quote(text) + " is too long; the longest is 9223372036854775807ms");
  }
}

}  // namespace berth::quantity_test
