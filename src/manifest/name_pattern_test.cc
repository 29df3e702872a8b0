#include "manifest/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::name_pattern_test {

TEST(NamePattern, MatchesWhatGoMatches) {
  struct Case {
    const char* pattern;
    const char* yes;
    const char* no;
  };
  const Case cases[] = {
      {"node", "my-node-1", "nod"},
      {"^node-[0-9]+$", "node-12", "node-12a"},
      {"^node-[0-9]+$", "node-0", "a-node-0"},
      {"^node-\\d{2,3}$", "node-123", "node-1"},
      {"^node-\\d{2,3}$", "node-12", "node-1234"},
      {"^(rack|row)-(1|2)$", "row-2", "row-3"},
      {"^rack|row$", "rack-1", "arow1"},
      {"a.c", "xabcx", "ac"},
      {"^a.*z$", "az", "za"},
      {"^a?b$", "b", "aab"},
      {"^(?:ab)*$", "abab", "aba"},
      {"^(a|b)+?$", "abba", "abc"},
      {"^[^a-c]$", "d", "b"},
      {"^[a-]$", "-", "b"},
      {"^[]a]$", "]", "b"},
      {"^[\\d-]+$", "1-2", "a"},
      {"^x\\.y$", "x.y", "xzy"},
      {"^a{0}b$", "b", "ab"},
      {"^a{2,}$", "aaaa", "a"},
      {"^\\w+\\W\\w+$", "a-b", "ab"},
      {"^(a|)b$", "b", "cb"},
      {"^$", "", "a"},
      {"()", "", nullptr},
      {"(?i)^NODE", "node-1", "a-node"},
      {"\\bnode\\b", "my-node-1", "nodes"},
      {"^[[:alpha:]]+$", "node", "node-1"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.pattern);
    const auto pattern = NamePattern::parse(each.pattern);
    ASSERT_TRUE(pattern) << pattern.error();
    EXPECT_TRUE(pattern->matches(each.yes));
    if (each.no == nullptr) continue;
    EXPECT_FALSE(pattern->matches(each.no));
  }
}

TEST(NamePattern, RefusesWhatIsNoneOrWouldBeLarge) {
  struct Case {
    std::string pattern;
    const char* why;
  };
  const Case cases[] = {
      {"", "it is empty; write a regular expression, such as ^node-[0-9]+$"},
      {"(a", "it is no regular expression as Go has them: missing ): (a"},
      {"[z-a]", "it is no regular expression as Go has them: invalid character class range: z-a"},
      {"*a", "it is no regular expression as Go has them: no argument for repetition operator: *"},
      {"a{1001}", "it is no regular expression as Go has them: invalid repetition size: {1001}"},
      {"((a{100}){100}){100}", "it is no regular expression as Go has them: "},
      {"(?=a)", "it is no regular expression as Go has them: invalid perl operator: (?="},
      {"a\\", "it is no regular expression as Go has them: trailing \\"},
      {"\xff", "it is no regular expression as Go has them: invalid UTF-8"},
      {std::string(513, 'a'), "it has more than 512 characters; select by labels, or by several members"},
      {std::string(250, '(') + "a{1000}" + std::string(250, ')') + "*", nullptr},
  };
  for (const Case& each : cases) {
    const auto pattern = NamePattern::parse(each.pattern);
    EXPECT_EQ(pattern.has_value(), each.why == nullptr) << each.pattern;
    const std::string said = pattern ? "" : pattern.error();
    EXPECT_TRUE(said.starts_with(each.why == nullptr ? "" : each.why)) << said;
  }
}

// What brings others to their knees.
TEST(NamePattern, TakesNoLongerForWhoMeansHarm) {
  const auto pattern = NamePattern::parse("^((a+)+)+$|(a|a|a)*b|(a*)*c");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->matches(std::string(253, 'a') + "!"));
  EXPECT_TRUE(pattern->matches(std::string(253, 'a')));
}

}  // namespace berth::name_pattern_test
