#include "cli/typed_changes.h"

#include <gtest/gtest.h>

namespace berth::typed_changes_test {

TEST(TypedChanges, AreComplainedAboutWhereTheyWereTyped) {
  TypedChanges changes;
  changes.add_typed("hold queue q");
  changes.add_typed("drain node n9");
  changes.add_file("two.txt", "# c\n\n\nbogus\nhold queue r");
  EXPECT_EQ(changes.text(), "hold queue q\ndrain node n9\n# c\n\n\nbogus\nhold queue r\n");
  Complaints found;
  found.add({"x", 2, 12}, "no such node");
  found.add({"x", 6, 1}, "is no change");
  found.add({"x"}, "all of it");
  EXPECT_EQ(changes.where_typed(found).to_string(),
            "--change:2:12: no such node\ntwo.txt:4:1: is no change\nx: all of it\n");
  EXPECT_EQ(
      changes.where_typed("change:2:12: no such node\nchange:6:1: is no change\nchange:7: makes no sense\nlater\n"),
      "--change:2:12: no such node\ntwo.txt:4:1: is no change\ntwo.txt:5: makes no sense\nlater\n");
  for (int i = 0; i < 150; ++i) found.add({"x", 6, 1}, "again");
  EXPECT_TRUE(changes.where_typed(found).to_string().ends_with("and 53 more\n"))
      << changes.where_typed(found).to_string();
}

}  // namespace berth::typed_changes_test
