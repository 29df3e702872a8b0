#include "controllers/job_set_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "controllers/job_set_world.h"

namespace berth::job_set_plan_test {

const std::string kDriver = part_text("driver", 1, 1);
const std::string kWorkers = part_text("workers", 2, 4);
const std::string kBoth = kDriver + "," + kWorkers;
constexpr const char* kTwoRestarts = ", failurePolicy: {maxRestarts: 2, restartStrategy: Recreate}";
constexpr const char* kInOrder = ", startupPolicy: {startupPolicyOrder: InOrder}";

using News = std::vector<std::string>;

TEST(JobSetPlan, MakesAllJobsAndEndsWhenTheyAreComplete) {
  JobSetWorld world(kBoth);
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0 train-workers-0 train-workers-1");
  EXPECT_FALSE(world.plan().status) << "nothing is written twice";
  world.make_ready("train-workers-1");
  world.settle();
  EXPECT_EQ(world.count_of("workers"), "1 ready, 0 succeeded, 0 failed, 1 active, 0 suspended");
  world.succeed("train-driver-0");
  world.succeed("train-workers-1");
  world.settle();
  EXPECT_EQ(world.condition("Completed"), "");
  world.succeed("train-workers-0");
  world.settle();
  EXPECT_EQ(world.condition("Completed"), "True AllJobsCompleted");
  EXPECT_EQ(world.set["status"]["terminalState"].text(), "Completed");
  EXPECT_EQ(world.count_of("workers"), "0 ready, 2 succeeded, 0 failed, 0 active, 0 suspended");
  EXPECT_EQ(world.names(), "train-driver-0 train-workers-0 train-workers-1") << "they stay for who reads their logs";
  EXPECT_EQ(world.news, News{"AllJobsCompleted"});
}

TEST(JobSetPlan, MakesNoMoreThanItMay) {
  const JobSetWorld world(part_text("w", 7, 1));
  EXPECT_EQ(world.plan(3).creations.size(), 3u);
  EXPECT_TRUE(world.plan(0).creations.empty());
}

TEST(JobSetPlan, IsCompleteWhenTheSuccessPolicySaysSo) {
  struct Case {
    const char* what;
    const char* policy;
    std::vector<std::string> succeeded;
    bool complete;
  };
  const Case cases[] = {
      {"all, and one is missing", "{operator: All}", {"train-driver-0", "train-workers-0"}, false},
      {"all of those meant", "{operator: All, targetReplicatedJobs: [driver]}", {"train-driver-0"}, true},
      {"others do not help", "{operator: All, targetReplicatedJobs: [driver]}", {"train-workers-0"}, false},
      {"any", "{operator: Any}", {"train-workers-1"}, true},
      {"any of those meant", "{operator: Any, targetReplicatedJobs: [workers]}", {"train-workers-0"}, true},
      {"another", "{operator: Any, targetReplicatedJobs: [workers]}", {"train-driver-0"}, false},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    JobSetWorld world(kBoth, std::string(", successPolicy: ") + each.policy);
    world.settle();
    for (const std::string& name : each.succeeded) world.succeed(name);
    world.settle();
    EXPECT_EQ(world.condition("Completed"), each.complete ? "True AllJobsCompleted" : "");
    if (!each.complete) continue;
    EXPECT_EQ(world.jobs.size(), each.succeeded.size()) << "what still ran is ended";
  }
}

TEST(JobSetPlan, EndsWhatRunsOnlyWhenItsEndIsStored) {
  JobSetWorld world(kBoth, ", successPolicy: {operator: Any}");
  world.settle();
  world.succeed("train-driver-0");
  EXPECT_TRUE(world.plan().deletions.empty());
  world.step();
  EXPECT_EQ(world.plan().deletions.size(), 2u);
}

TEST(JobSetPlan, AFailedJobFailsASetWithoutAPolicy) {
  JobSetWorld world(kBoth);
  world.settle();
  world.fail("train-workers-1");
  world.succeed("train-driver-0");
  world.settle();
  EXPECT_EQ(world.condition("Failed"), "True FailedJobs");
  EXPECT_EQ(world.set["status"]["terminalState"].text(), "Failed");
  EXPECT_EQ(world.names(), "train-driver-0 train-workers-1") << "the one that ran is ended";
  EXPECT_EQ(world.restarts(), 0);
}

TEST(JobSetPlan, AFailedJobRestartsTheWholeSetAsOftenAsItMay) {
  JobSetWorld world(kBoth, kTwoRestarts);
  world.settle();
  for (int attempt = 1; attempt <= 2; ++attempt) {
    world.succeed("train-driver-0");
    world.fail("train-workers-0");
    world.settle();
    EXPECT_EQ(world.restarts(), attempt);
    EXPECT_EQ(world.jobs.size(), 3u);
    EXPECT_EQ(world.created, 3 * (attempt + 1));
    for (const auto& [name, job] : world.jobs) EXPECT_EQ(attempt_of(job), attempt) << name;
  }
  EXPECT_EQ(world.set["status"]["restartsCountTowardsMax"].integer(), 2);
  world.fail("train-driver-0");
  world.settle();
  EXPECT_EQ(world.condition("Failed"), "True ReachedMaxRestarts");
  EXPECT_EQ(world.news,
            (News{"RestartJobSetFailurePolicyAction", "RestartJobSetFailurePolicyAction", "ReachedMaxRestarts"}));
}

TEST(JobSetPlan, ANewJobComesWhenTheOldOneIsGoneOrAllOfThemAre) {
  for (const bool blocking : {false, true}) {
    SCOPED_TRACE(blocking);
    JobSetWorld world(kBoth,
                      blocking ? ", failurePolicy: {maxRestarts: 2, restartStrategy: BlockingRecreate}" : kTwoRestarts);
    world.deletes_slowly = true;
    world.settle();
    world.fail("train-driver-0");
    world.settle();
    EXPECT_EQ(world.names(), "train-driver-0(going) train-workers-0(going) train-workers-1(going)");
    world.let_go("train-workers-0");
    world.settle();
    EXPECT_EQ(world.jobs.contains("train-workers-0"), !blocking);
    world.let_go("train-driver-0");
    world.let_go("train-workers-1");
    world.settle();
    EXPECT_EQ(world.names(), "train-driver-0 train-workers-0 train-workers-1");
    EXPECT_EQ(world.restarts(), 1);
  }
}

TEST(JobSetPlan, TheFirstRuleThatAppliesDecides) {
  const std::string by_reason = "{name: r, action: FailJobSet, onJobFailureReasons: [PodFailurePolicy]}";
  const std::string by_part = "{name: p, action: RestartJobSetAndIgnoreMaxRestarts, targetReplicatedJobs: [driver]}";
  const std::string by_message = "{name: m, action: FailJobSet, onJobFailureMessagePatterns: ['exit code (1|2)$', no]}";
  struct Case {
    const char* what;
    std::string rules;
    const char* job;
    const char* reason;
    const char* message;
    std::string failed;  // the condition
    std::int64_t restarts, counted;
  };
  const Case cases[] = {
      {"none applies", by_reason, "train-driver-0", "BackoffLimitExceeded", "", "", 1, 1},
      {"by its reason", by_reason, "train-driver-0", "PodFailurePolicy", "", "True FailJobSetFailurePolicyAction", 0,
       0},
      {"by whose it is", by_part, "train-driver-0", "PodFailurePolicy", "", "", 1, 0},
      {"another's", by_part, "train-workers-1", "PodFailurePolicy", "", "", 1, 1},
      {"the first of two", by_part + "," + by_reason, "train-driver-0", "PodFailurePolicy", "", "", 1, 0},
      {"the second of two", by_part + "," + by_reason, "train-workers-0", "PodFailurePolicy", "",
       "True FailJobSetFailurePolicyAction", 0, 0},
      {"by its message", by_message, "train-driver-0", "X", "ended with exit code 2",
       "True FailJobSetFailurePolicyAction", 0, 0},
      {"another message", by_message, "train-driver-0", "X", "ended with exit code 20", "", 1, 1},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    JobSetWorld world(kBoth, ", failurePolicy: {maxRestarts: 1, rules: [" + each.rules + "]}");
    world.settle();
    world.fail(each.job, each.reason, each.message);
    world.settle();
    EXPECT_EQ(world.condition("Failed"), each.failed);
    EXPECT_EQ(world.restarts(), each.restarts);
    EXPECT_EQ(world.set["status"]["restartsCountTowardsMax"].integer(), each.counted);
  }
}

TEST(JobSetPlan, WhoFailedFirstIsNamed) {
  JobSetWorld world(kBoth);
  world.settle();
  world.fail("train-workers-1");
  world.now = world.now + seconds(1);
  world.fail("train-driver-0");
  world.settle();
  EXPECT_NE(to_json(world.set["status"]).find("first failed job: train-workers-1"), std::string::npos);
}

TEST(JobSetPlan, RestartsThatDoNotCountEndNever) {
  JobSetWorld world(kDriver, ", failurePolicy: {rules: [{name: r, action: RestartJobSetAndIgnoreMaxRestarts}]}");
  world.settle();
  for (int i = 1; i <= 5; ++i) {
    world.fail("train-driver-0");
    world.settle();
    EXPECT_EQ(world.restarts(), i);
  }
}

TEST(JobSetPlan, StartsOneSortAfterTheOtherIfItIsToldTo) {
  JobSetWorld world(kBoth, kInOrder);
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0");
  EXPECT_EQ(world.condition("StartupPolicyInProgress"), "True StartupPolicyInProgress");
  world.make_ready("train-driver-0");
  world.settle();
  EXPECT_EQ(world.jobs.size(), 3u);
  EXPECT_EQ(world.condition("StartupPolicyCompleted"), "");
  world.make_ready("train-workers-0");
  world.succeed("train-workers-1");
  world.settle();
  EXPECT_EQ(world.condition("StartupPolicyCompleted"), "True StartupPolicyCompleted");
  EXPECT_EQ(world.condition("StartupPolicyInProgress"), "False StartupPolicyInProgress");
}

TEST(JobSetPlan, APartStartsWhenWhatItDependsOnHasComeSoFar) {
  struct Case {
    const char* status;
    bool after_ready;
  };
  for (const auto& [status, after_ready] : {Case{"Ready", true}, Case{"Complete", false}}) {
    SCOPED_TRACE(status);
    const std::string waits = std::string(", dependsOn: [{name: workers, status: ") + status + "}]";
    JobSetWorld world(kBoth + "," + part_text("check", 1, 1, waits));
    world.settle();
    EXPECT_EQ(world.jobs.size(), 3u);
    world.make_ready("train-workers-0");
    world.settle();
    EXPECT_EQ(world.jobs.size(), 3u) << "both of them";
    world.make_ready("train-workers-1");
    world.settle();
    EXPECT_EQ(world.jobs.contains("train-check-0"), after_ready);
    world.succeed("train-workers-0");
    world.succeed("train-workers-1");
    world.settle();
    EXPECT_TRUE(world.jobs.contains("train-check-0"));
  }
}

TEST(JobSetPlan, SuspendsItsJobsAndLetsThemGo) {
  JobSetWorld world(kBoth);
  world.settle();
  world.set.at("spec").set("suspend", true);
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0(suspended) train-workers-0(suspended) train-workers-1(suspended)");
  EXPECT_EQ(world.condition("Suspended"), "True SuspendedJobs");
  EXPECT_EQ(world.count_of("workers"), "0 ready, 0 succeeded, 0 failed, 0 active, 2 suspended");
  world.set.at("spec").set("suspend", false);
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0 train-workers-0 train-workers-1");
  EXPECT_EQ(world.condition("Suspended"), "False ResumeJobs");
  EXPECT_EQ(world.news, (News{"SuspendedJobs", "ResumeJobs"}));
  EXPECT_EQ(world.created, 3);
}

TEST(JobSetPlan, WhatIsSuspendedFromTheBeginningIsMadeWhole) {
  JobSetWorld world(kBoth, std::string(", suspend: true") + kInOrder);
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0(suspended) train-workers-0(suspended) train-workers-1(suspended)");
  world.set.at("spec").erase("suspend");
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0 train-workers-0(suspended) train-workers-1(suspended)") << "in its order";
  world.make_ready("train-driver-0");
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0 train-workers-0 train-workers-1");
}

TEST(JobSetPlan, WhatIsSaidOfItsPodsWhileItIsSuspendedHolds) {
  JobSetWorld world(kDriver, ", suspend: true");
  world.settle();
  Value& job = world.jobs.at("train-driver-0");
  job.at("status").set("startTime", "2027-01-15T08:00:00Z");
  Value& pods = world.set.at("spec").at("replicatedJobs").edit_items()[0].at("template").at("spec").at("template");
  pods.at("metadata").at("labels").set("tier", "gold");
  pods.at("spec").at("nodeSelector").set("rack", "r1");
  world.set.at("spec").set("suspend", false);
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0(suspended)") << "its last pods are not let go of";
  job.at("status").erase("startTime");
  world.settle();
  EXPECT_EQ(world.names(), "train-driver-0");
  const Value& made = job["spec"]["template"];
  EXPECT_EQ(made["metadata"]["labels"]["tier"].text(), "gold");
  EXPECT_EQ(made["metadata"]["labels"]["controller-uid"].text(), "j-1") << "what is the Job's own stays";
  EXPECT_EQ(made["spec"]["nodeSelector"]["rack"].text(), "r1");
  EXPECT_FALSE(made["spec"]["containers"].is_empty());
}

TEST(JobSetPlan, ItsJobsFollowTheQueueThatItNames) {
  JobSetWorld world(kBoth);
  world.settle();
  EXPECT_TRUE(world.plan().changes.empty());
  world.set.at("metadata").at("labels").set(kQueueLabel, "other");
  const JobSetPlan plan = world.plan();
  ASSERT_EQ(plan.changes.size(), 3u);
  EXPECT_EQ(to_json(plan.changes[0].change), R"({"metadata":{"labels":{"berth.dev/queue":"other"}}})");
  for (auto& [name, job] : world.jobs) job.at("spec").set("suspend", true);
  for (const JobSetPlan::Change& each : world.plan().changes) {
    EXPECT_EQ(to_json(each.change), R"({"spec":{"suspend":false},"metadata":{"labels":{"berth.dev/queue":"other"}}})");
  }
}

TEST(JobSetPlan, IsDeletedItsTimeAfterItsEnd) {
  JobSetWorld world(kDriver, ", ttlSecondsAfterFinished: 60");
  world.settle();
  world.succeed("train-driver-0");
  world.settle();
  EXPECT_FALSE(world.plan().delete_set);
  EXPECT_EQ(world.plan().look_again, std::optional(kSetBegin + seconds(60)));
  world.now = world.now + seconds(60);
  EXPECT_TRUE(world.plan().delete_set);
}

TEST(JobSetPlan, IsLeftAloneIfItIsAnothersOrGoes) {
  EXPECT_TRUE(JobSetWorld(kBoth, ", managedBy: example.com/mine").plan().creations.empty());
  EXPECT_EQ(JobSetWorld(kBoth, ", managedBy: jobset.sigs.k8s.io/jobset-controller").plan().creations.size(), 3u);
  JobSetWorld world(kBoth);
  world.set.at("metadata").set("deletionTimestamp", "2027-01-15T08:00:00Z");
  EXPECT_FALSE(world.step());
}

TEST(JobSetPlan, AJobThatSomebodyDeletedIsMadeAnew) {
  JobSetWorld world(kBoth);
  world.settle();
  world.jobs.at("train-workers-0").at("metadata").set("deletionTimestamp", "2027-01-15T08:00:00Z");
  EXPECT_TRUE(world.plan().creations.empty()) << "its name is taken still";
  world.let_go("train-workers-0");
  world.settle();
  EXPECT_EQ(world.jobs.size(), 3u);
}

// Cut off after any number of writes of any plan, it comes to the same end: restarted as often as Jobs failed, with each Job
// there once.
TEST(JobSetPlanProperty, WhereverItIsCutOffItComesToTheSameEnd) {
  for (const Seed seed : property_seeds(40)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng{seed};
    JobSetWorld world(kBoth, rng.between(0, 1) == 0 ? kTwoRestarts
                                                    : ", failurePolicy: {maxRestarts: 2, restartStrategy: "
                                                      "BlockingRecreate}");
    world.deletes_slowly = true;
    std::int64_t failures = 0;
    for (int i = 0; i < 400 && world.condition("Completed").empty(); ++i) {
      world.step(static_cast<std::size_t>(rng.between(0, 3)));
      std::vector<std::string> names;
      for (const auto& [name, job] : world.jobs) names.push_back(name);
      if (names.empty()) continue;
      const std::string& name =
          names[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(names.size()) - 1))];
      const Value& job = world.jobs.at(name);
      if (is_being_deleted(job)) {
        world.let_go(name);
      } else if (job["status"]["conditions"].is_empty() && attempt_of(job) == world.restarts()) {
        const bool fails = failures == world.restarts() && failures < 2 && rng.between(0, 3) == 0;
        failures += fails ? 1 : 0;
        fails ? world.fail(name) : world.succeed(name);
      }
    }
    EXPECT_EQ(world.condition("Completed"), "True AllJobsCompleted");
    EXPECT_EQ(world.restarts(), failures);
    EXPECT_LE(world.created, 3 * (failures + 1));
    for (const auto& [name, job] : world.jobs) EXPECT_EQ(attempt_of(job), failures) << name;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace berth::job_set_plan_test
