#include "cli/recording.h"

#include <gtest/gtest.h>

#include <optional>

namespace berth::recording_test {

TEST(FindRecorded, TakesWhatPeopleCallAJob) {
  Recorded recorded;
  recorded.workloads = {"job-1",           "default/w/0c5e",  "default/w/9f1a", "ml/w/77aa",
                        "default/b-66hbj", "default/b-extra", "job-1"};
  struct Case {
    const char* name;
    std::optional<std::size_t> found;
  };
  const Case cases[] = {
      {"job-1", 6},                   // of several of one name the last
      {"default/w/0c5e", 1},          // its whole name
      {"w", 3},                       // in any namespace
      {"default/w", 2},               // in that one
      {"job/w", 3},                   // as kubectl says
      {"b", 5},                       // a pod of a Job: five letters behind its name
      {"default/b", 5},               // the same
      {"c", std::nullopt},            // nobody
      {"default", std::nullopt},      // a namespace is no job
      {"default/b-6", std::nullopt},  // no beginning of a name
  };
  for (const Case& c : cases) {
    const Result<WorkloadId> found = find_recorded(recorded, c.name);
    ASSERT_EQ(found.has_value(), c.found.has_value()) << c.name;
    if (found) {
      EXPECT_EQ(found->index(), *c.found) << c.name;
    }
  }
}

TEST(FindRecorded, NamesWhatIsNear) {
  Recorded recorded;
  recorded.workloads = {"training"};
  const Result<WorkloadId> found = find_recorded(recorded, "trainin");
  ASSERT_FALSE(found.has_value());
  EXPECT_TRUE(found.error().to_string().contains("did you mean training?")) << found.error().to_string();
}

TEST(FindRecorded, NamesWhoThereIsWhereNothingIsNear) {
  Recorded recorded;
  EXPECT_EQ(find_recorded(recorded, "nobody").error().to_string(),
            "nobody: nobody was submitted until then; name a later moment\n");
  recorded.workloads = {"a", "b"};
  EXPECT_EQ(find_recorded(recorded, "nobody").error().to_string(),
            "nobody: nobody of this name was submitted until then; there are: a, b\n");
}

}  // namespace berth::recording_test
