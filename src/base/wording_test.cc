#include "base/wording.h"

#include <gtest/gtest.h>

#include <array>

namespace berth::wording_test {

TEST(Quote, IsOneSafeLine) {
  using namespace std::string_view_literals;
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("1.5x"), "'1.5x'");
  EXPECT_EQ(quote("gr\xc3\xb6\xc3\x9f"
                  "er"),
            "'gr\xc3\xb6\xc3\x9f"
            "er'");
  EXPECT_EQ(quote("a\0b\n\x1b[31m"sv), "'a\\x00b\\x0a\\x1b[31m'");
  EXPECT_EQ(quote("\xff\xc2\x9b"), "'\\xff\\xc2\\x9b'");
  EXPECT_EQ(quote(std::string(1000, 'x')), "'" + std::string(48, 'x') + "...'");
}

TEST(HasControlCharacters, KnowsThoseOfTerminals) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"\0"sv, "a\tb"sv, "\x7f"sv, "x\xc2\x80"sv, "\xc2\x9f"sv})
    EXPECT_TRUE(has_control_characters(text)) << quote(text);
  for (const std::string_view text : {""sv, "a b"sv, "\xc2\xa0"sv, "\xc3\x9f"sv, "\xe2\x80\x93"sv, "\xff"sv})
    EXPECT_FALSE(has_control_characters(text)) << quote(text);
}

TEST(Utf8Character, KnowsWellFormedOnes) {
  struct Case {
    std::string_view text;
    std::size_t length;
  };
  const Case cases[] = {
      {"", 0},
      {"a", 1},
      {"\xc3\xa4", 2},
      {"\xe2\x82\xac", 3},
      {"\xf0\x9f\x98\x80", 4},
      {"\xc3", 0},
      {"\x80", 0},
      {"\xc0\x80", 0},
      {"\xe0\x80\x80", 0},
      {"\xed\xa0\x80", 0},
      {"\xf4\x90\x80\x80", 0},
      {"\xff", 0},
      {"\xf0\x80\x80\x80", 0},
      {"\xe2\x82", 0},
  };
  for (const Case& c : cases) EXPECT_EQ(utf8_character(c.text), c.length) << quote(c.text);
}

TEST(NearestWord, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 4> kKnown = {"gpus", "gpu_models", "memory", "H100"};
  EXPECT_EQ(nearest_word("gpsu", kKnown), "gpus");
  EXPECT_EQ(nearest_word("gxpsu", kKnown), "");
  EXPECT_EQ(nearest_word("gpu", kKnown), "gpus");
  EXPECT_EQ(nearest_word("H10O", kKnown), "H100");
  EXPECT_EQ(nearest_word("h100", kKnown), "H100");
  EXPECT_EQ(nearest_word("Memroy", kKnown), "memory");
  EXPECT_EQ(nearest_word("gpu_model", kKnown), "gpu_models");
  EXPECT_EQ(nearest_word("zebra", kKnown), "");
  EXPECT_EQ(nearest_word("", kKnown), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'g'), kKnown), "");
}

}  // namespace berth::wording_test
