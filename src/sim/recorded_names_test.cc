#include "sim/recorded_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario_run.h"

namespace berth::recorded_names_test {

// The first runs, the second, elastic, runs with one step and waits for another, the fifth is cancelled, the sixth waits.
State busy() {
  auto end = end_of_scenario("test.txt",
                             "nodes n 3 gpus=8\nqueue q\nsubmit a queue=q gpus=8\n"
                             "submit e queue=q pods=3 min=1 gpus=8\ncycle\ncycle\n"
                             "submit x queue=q gpus=8\nsubmit w queue=q gpus=8\ncancel x\ncycle\n");
  EXPECT_TRUE(end.has_value()) << (end ? "" : end.error().to_string());
  return std::move(end->state);
}

TEST(WhoIsMeant, IsHeWhoIsNotOver) {
  const State state = busy();
  const std::vector<std::string> names = {"default/aa/457f",    "default/el-3-5z47p", "default/el-0-xfh7w",
                                          "default/el-2-xfh7w", "default/aa/457f",    "ml/w/12ab"};
  const std::pair<const char*, std::size_t> cases[] = {
      {"aa", 0},                  // whom another, called the same, was to stand in for
      {"default/aa", 0},          //
      {"default/aa/457f", 0},     // also by his whole name
      {"job/aa", 0},              // as kubectl says
      {"vcjob/aa", 0},            // of Volcano's, as berth explain says
      {"jobset/aa", 0},           // all of it starts together under its name
      {"podgroup/ml/w", 5},       //
      {"lws/w", 5},               //
      {"trainjob/w", 5},          // whatever is served and makes pods
      {"job.batch/w", 5},         // with the group of its kind
      {"pod/el-2-xfh7w", 3},      // as berth jobs calls who belongs to no job
      {"el", 1},                  // a Job whose pods are numbered, by the one that runs beside its steps
      {"default/el", 1},          //
      {"default/el-2-xfh7w", 3},  // one of these by its name
      {"w", 5},                   //
      {"ml/w", 5},                //
  };
  for (const auto& [name, number] : cases) {
    const auto found = who_is_meant(state, names, name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->index(), number) << name;
  }
  for (const char* nobody : {"", "default/w", "job/default", "el-", "elx", "default", "queue/w", "pod/"}) {
    EXPECT_FALSE(who_is_meant(state, {"", "default/el-3-5z47p", "ml/w/12ab"}, nobody)) << nobody;
  }
}

}  // namespace berth::recorded_names_test
