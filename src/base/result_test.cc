#include "base/result.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::result_test {

TEST(Complaint, SaysWhereAsFarAsThatIsKnown) {
  struct Case {
    Place place;
    const char* text;
  };
  const Case cases[] = {
      {{"jobs.csv", 3, 17}, "jobs.csv:3:17: wrong"},
      {{"jobs.csv", 3, 0}, "jobs.csv:3: wrong"},
      {{"jobs.csv", 0, 0}, "jobs.csv: wrong"},
      {{}, "wrong"},
  };
  for (const Case& c : cases) EXPECT_EQ((Complaint{c.place, "wrong"}.to_string()), c.text);
}

TEST(Complaints, KeepTheFirstHundredAndCountAll) {
  struct Case {
    int added;
    std::size_t kept;
    const char* last_line;
  };
  const Case cases[] = {
      {1, 1, "0\n"},
      {100, 100, "99\n"},
      {101, 100, "... and 1 more\n"},
      {250, 100, "... and 150 more\n"},
  };
  for (const Case& c : cases) {
    Complaints complaints;
    for (int i = 0; i < c.added; ++i) complaints.add({}, std::to_string(i));
    EXPECT_FALSE(complaints.empty());
    EXPECT_EQ(complaints.count(), static_cast<std::size_t>(c.added));
    EXPECT_EQ(complaints.kept().size(), c.kept);
    EXPECT_EQ(complaints.kept().front().text, "0");
    EXPECT_TRUE(complaints.to_string().ends_with(c.last_line)) << complaints.to_string();
  }
  EXPECT_TRUE(Complaints().empty());
  EXPECT_EQ(Complaints().to_string(), "");
}

TEST(Complaints, OfTwoInputsCountTogether) {
  Complaints first;
  for (int i = 0; i < 60; ++i) first.add({"a"}, "x");
  Complaints second;
  for (int i = 0; i < 160; ++i) second.add({"b"}, "y");
  first.add_all(second);
  EXPECT_EQ(first.count(), 220u);
  EXPECT_EQ(first.kept().size(), 100u);
  EXPECT_EQ(first.kept()[59].place.file, "a");
  EXPECT_EQ(first.kept()[60].place.file, "b");
  EXPECT_TRUE(first.to_string().ends_with("... and 120 more\n"));
}

TEST(Result, IsAValueOrComplaints) {
  const auto half = [](int number) -> Result<int> {
    if (number % 2 != 0) return Complaints("odd");
    return number / 2;
  };
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_FALSE(half(3).has_value());
  EXPECT_EQ(half(3).error().to_string(), "odd\n");
}

}  // namespace berth::result_test
