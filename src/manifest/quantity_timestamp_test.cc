#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/property_seeds.h"
#include "manifest/canonical_quantity.h"
#include "manifest/timestamp.h"

namespace berth::quantity_timestamp_test {

TEST(Quantity, IsWrittenAsKubernetesDoes) {
  struct Case {
    std::string_view text;
    std::string_view canonical;
  };
  const Case cases[] = {
      {"1024Mi", "1Gi"},
      {"0.5", "500m"},
      {"1e3", "1e3"},
      {"1.5Gi", "1536Mi"},
      {"0.1Gi", "107374182400m"},
      {"0", "0"},
      {"0Gi", "0"},
      {"-0", "0"},
      {"1000", "1k"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"+2", "2"},
      {"-2", "-2"},
      {"-1024Ki", "-1Mi"},
      {"100Ki", "100Ki"},
      {"1Ki", "1Ki"},
      {"0.5Ki", "512"},
      {"1000Ki", "1000Ki"},
      {"1e4", "10e3"},
      {"1.5e3", "1500"},
      {"1E", "1E"},
      {"1E3", "1e3"},
      {"5e-3", "5e-3"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1.0000000001", "1000000001n"},
      {"100u", "100u"},
      {"123456789n", "123456789n"},
      {".5", "500m"},
      {"5.", "5"},
      {"007", "7"},
      {"9223372036854775807", "9223372036854775807"},
      {"7Ei", "7Ei"},
      {"1e-900", "1e-9"},
      {"0e900", "0"},
      {"12345678901234.56789Ki", "12641975194864197519360u"},
      {"0.0000000001Ki", "103n"},
      {"1e18", "1e18"},
      {"100000k", "100M"},
  };
  for (const Case& each : cases) {
    const Parsed<Quantity> quantity = Quantity::parse(each.text);
    ASSERT_TRUE(quantity) << each.text << ": " << quantity.error();
    EXPECT_EQ(quantity->to_string(), each.canonical) << each.text;
  }
}

TEST(Quantity, RefusesWhatIsNoAmountOrTooLarge) {
  for (const std::string_view text :
       {"", "-", ".", "1.2.3", "1gb", "1Kib", "1K", "Gi", "1 Gi", "1e", "e3", "--1", "0x10", "9223372036854775808",
        "8Ei", "10E", "1e19", "1e900", "99999999999999999999"}) {
    EXPECT_FALSE(Quantity::parse(text)) << text;
  }
  EXPECT_FALSE(Quantity::parse(std::string(65, '1')));
}

TEST(Quantity, SumsKeepTheFormatOfTheLeftSide) {
  const auto sum = [](std::string_view a, std::string_view b) {
    Quantity quantity = *Quantity::parse(a);
    quantity += *Quantity::parse(b);
    return quantity.to_string();
  };
  EXPECT_EQ(sum("1Gi", "1Gi"), "2Gi");
  EXPECT_EQ(sum("1Ki", "1k"), "2024");
  EXPECT_EQ(sum("500m", "1.5"), "2");
  EXPECT_EQ(sum("0", "1Mi"), "1Mi");
  EXPECT_EQ(sum("1", "-1Gi"), "-1073741823");
  Quantity spare = *Quantity::parse("1Gi");
  spare -= *Quantity::parse("512Mi");
  EXPECT_EQ(spare.to_string(), "512Mi");
  spare -= *Quantity::parse("1Gi");
  EXPECT_TRUE(spare.is_negative());
  EXPECT_LT(spare, Quantity());
  spare += *Quantity::parse("512Mi");
  EXPECT_TRUE(spare.is_zero());
  EXPECT_EQ(*Quantity::parse("1Gi"), *Quantity::parse("1073741824"));
}

TEST(QuantityProperty, TheCanonicalTextIsTheSameAmountAndCanonical) {
  constexpr std::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2"};
  for (const Seed seed : property_seeds(300)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    std::string text = std::to_string(rng.next() >> (34 + rng.below(30)));
    if (rng.below(2) == 0) text += "." + std::to_string(rng.below(100'000));
    text += kSuffixes[rng.below(std::size(kSuffixes))];
    const Parsed<Quantity> quantity = Quantity::parse(text);
    ASSERT_TRUE(quantity) << text;
    const Parsed<Quantity> again = Quantity::parse(quantity->to_string());
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *quantity) << text;
    EXPECT_EQ(again->to_string(), quantity->to_string()) << text;
  }
}

TEST(Timestamp, IsWrittenInUtc) {
  EXPECT_EQ(format_timestamp({0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_timestamp({-1}), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_timestamp({1'795'246'585'123}), "2026-11-21T07:36:25Z");
  EXPECT_EQ(format_micro_timestamp({1'795'246'585'123}), "2026-11-21T07:36:25.123000Z");
  EXPECT_EQ(format_timestamp({std::numeric_limits<std::int64_t>::max()}), "9999-12-31T23:59:59Z");
  EXPECT_EQ(format_timestamp({std::numeric_limits<std::int64_t>::min()}), "0000-01-01T00:00:00Z");
}

TEST(Timestamp, IsReadWithAnyOffset) {
  struct Case {
    std::string_view text;
    std::int64_t ms;
  };
  const Case cases[] = {
      {"2026-11-21T07:36:25Z", 1'795'246'585'000},        {"2026-11-21T07:36:25.123456789Z", 1'795'246'585'123},
      {"2026-11-21T09:36:25.5+02:00", 1'795'246'585'500}, {"2026-11-20T23:36:25-08:00", 1'795'246'585'000},
      {"2024-02-29T00:00:00Z", 1'709'164'800'000},        {"0001-01-01T00:00:00Z", -62'135'596'800'000},
  };
  for (const Case& each : cases) {
    const std::optional<Time> time = parse_timestamp(each.text);
    ASSERT_TRUE(time) << each.text;
    EXPECT_EQ(time->ms, each.ms) << each.text;
  }
  for (const std::string_view text :
       {"", "2026-11-21", "2026-11-21T07:36:25", "2026-11-21 07:36:25Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T07:60:00Z", "2026-11-21T07:36:60Z", "2026-11-21T07:36:25.Z",
        "2026-11-21T07:36:25.1234567890Z", "2026-11-21T07:36:25+2:00", "2026-11-21T07:36:25Zx",
        "-026-11-21T07:36:25Z"}) {
    EXPECT_FALSE(parse_timestamp(text)) << text;
  }
}

TEST(TimestampProperty, WhatIsWrittenIsReadAsTheSame) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    const Time time{Rng(seed).between(-62'167'219'200'000, 253'402'300'799'999)};
    EXPECT_EQ(parse_timestamp(format_micro_timestamp(time)), time);
  }
}

TEST(Age, IsPrintedAsKubectlDoes) {
  struct Case {
    std::int64_t seconds;
    std::string_view text;
  };
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const Case cases[] = {
      {-5, "<invalid>"},
      {-1, "0s"},
      {0, "0s"},
      {119, "119s"},
      {120, "2m"},
      {125, "2m5s"},
      {10 * kMinute, "10m"},
      {179 * kMinute, "179m"},
      {3 * kHour, "3h"},
      {3 * kHour + 20 * kMinute, "3h20m"},
      {8 * kHour, "8h"},
      {47 * kHour, "47h"},
      {2 * kDay, "2d"},
      {5 * kDay + 2 * kHour, "5d2h"},
      {8 * kDay, "8d"},
      {729 * kDay, "729d"},
      {730 * kDay, "2y"},
      {760 * kDay, "2y30d"},
      {8 * 365 * kDay, "8y"},
  };
  for (const Case& each : cases) EXPECT_EQ(format_age(seconds(each.seconds)), each.text);
}

TEST(SystemWallClock, IsAfterThisWasWritten) { EXPECT_GT(system_wall_clock()(), Time{1'700'000'000'000}); }

}  // namespace berth::quantity_timestamp_test
