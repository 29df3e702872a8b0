#include "manifest/work_kinds.h"

#include <gtest/gtest.h>

#include "manifest/gang_owner.h"

namespace berth::work_kinds_test {

TEST(WorkKinds, AreCalledAsKubectlCallsThem) {
  for (const char* const word : {"pod",
                                 "pods",
                                 "po",
                                 "job",
                                 "jobs",
                                 "vcjob",
                                 "vcjobs",
                                 "vj",
                                 "jobset",
                                 "jobsets",
                                 "podgroup",
                                 "podgroups",
                                 "pg",
                                 "workload",
                                 "workloads",
                                 "bwl",
                                 "wl",
                                 "lws",
                                 "leaderworkerset",
                                 "pytorchjob",
                                 "mpijobs",
                                 "raycluster",
                                 "rayjobs",
                                 "trainjob"}) {
    EXPECT_TRUE(names_work_kind(word)) << word;
  }
  for (const char* const word : {"", "queue", "q", "default", "node", "namespace", "jo", "Job"}) {
    EXPECT_FALSE(names_work_kind(word)) << word;
  }
}

TEST(WorkKinds, AreAllWhoseOperatorsMakePods) {
  for (const GangOwnerKind& each : gang_owner_kinds()) {
    EXPECT_TRUE(names_work_kind(each.qualified.substr(0, each.qualified.find('.')))) << each.qualified;
  }
}

}  // namespace berth::work_kinds_test
