#include "controllers/job_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "controllers/controller.h"
#include "controllers/job_pods.h"
#include "controllers/job_world.h"
#include "controllers/number_set.h"
#include "manifest/json.h"
#include "manifest/labels.h"
#include "manifest/pod_group.h"
#include "manifest/timestamp.h"

namespace berth::job_plan_test {

TEST(JobPods, HaveNamesByTheirNumbersAndCarryWhatTheJobSays) {
  const JobWorld world("{parallelism: 4, completions: 4}", "{berth.dev/run-for: 30s, berth.dev/user: ann, other: x}");
  std::set<std::string> names;
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{1}, std::int64_t{77'777}, kPodsOfJobMax - 1}) {
    const Value pod = pod_of_job(world.job, number, std::nullopt, gang_size(world.job));
    names.insert(std::string(pod["metadata"]["name"].text()));
  }
  EXPECT_EQ(names.size(), 4u);
  const Value pod = pod_of_job(world.job, 0, std::nullopt, gang_size(world.job));
  const Value& metadata = pod["metadata"];
  EXPECT_EQ(metadata["generateName"].text(), "train-");
  EXPECT_EQ(pod_of_job(world.job, 0, 3, 0)["metadata"]["generateName"].text(), "train-3-");
  EXPECT_EQ(metadata["labels"][kQueueLabel].text(), "team");
  EXPECT_EQ(metadata["labels"]["job-name"].text(), "train");
  EXPECT_EQ(metadata["labels"][kGroupLabel].text(), "train");
  EXPECT_EQ(metadata["annotations"][kGroupSizeAnnotation].text(), "4");
  EXPECT_EQ(metadata["annotations"][kRunForAnnotation].text(), "30s");
  EXPECT_EQ(metadata["annotations"][kUserAnnotation].text(), "ann");
  EXPECT_TRUE(metadata["annotations"]["other"].is_null());
  const Value& owner = metadata["ownerReferences"].items().at(0);
  EXPECT_TRUE(owner["controller"].truth() && owner["blockOwnerDeletion"].truth());
  EXPECT_EQ(owner["uid"].text(), "u-1");
  EXPECT_TRUE(is_tracked(pod));
  EXPECT_EQ(to_json(release_of(pod)), R"({"metadata":{"finalizers":null}})");
}

// Partial admission: so many of them say it of themselves, and the scheduler takes the others after them.
TEST(JobPods, CarryWhereTheJobSaysThatTheyMayBe) {
  const JobWorld world("{parallelism: 2}", "{berth.dev/topology: 'required:rack', berth.dev/movable: 'true'}");
  const Value annotations = pod_of_job(world.job, 0, std::nullopt, 2)["metadata"]["annotations"];
  EXPECT_EQ(annotations[kTopologyAnnotation].text(), "required:rack");
  EXPECT_EQ(annotations[kMovableAnnotation].text(), "true");
}

TEST(JobPods, OfWhichLessWillDoSayHowManyBeginTogether) {
  const JobWorld world("{parallelism: 4, completions: 4}", "{kueue.x-k8s.io/job-min-parallelism: '2'}");
  struct Case {
    std::int64_t gone;
    std::int64_t together;
  };
  for (const auto& [gone, together] : {Case{0, 2}, Case{2, 2}, Case{3, 1}}) {
    EXPECT_EQ(group_size(world.job, gone), together) << gone;
  }
  const Value pod = pod_of_job(world.job, 0, std::nullopt, group_size(world.job, 0));
  EXPECT_EQ(pod["metadata"]["annotations"][kKueueMinParallelismAnnotation].text(), "2");
  EXPECT_EQ(group_size_in(pod), 2);
  EXPECT_TRUE(pod["metadata"]["labels"][kGroupLabel].is_null()) << "all of that group would start together";
  const auto named = pod_group_named_by(pod);
  ASSERT_TRUE(named);
  EXPECT_EQ(*named, (PodGroupName{.qualified = kPartialJobs, .name = "train", .size = 2}));
  const JobWorld one("{parallelism: 4}", "{kueue.x-k8s.io/job-min-parallelism: '2', berth.dev/gang: 'false'}");
  EXPECT_FALSE(pod_group_named_by(pod_of_job(one.job, 0, std::nullopt, group_size(one.job, 0))));
}

TEST(JobPods, CarryWhatKueueAndVolcanoReadOnTheJob) {
  JobWorld world("{parallelism: 1}", "{scheduling.volcano.sh/queue-name: batch}");
  Value& labels = world.job.at("metadata").at("labels");
  labels.set(kKueueQueueLabel, "main");
  labels.set(kKueuePriorityLabel, "urgent");
  labels.set(kKueueMaxRunLabel, "60");
  const Value metadata = pod_of_job(world.job, 0, std::nullopt, 0)["metadata"];
  EXPECT_EQ(metadata["labels"][kKueueQueueLabel].text(), "main");
  EXPECT_EQ(metadata["labels"][kKueuePriorityLabel].text(), "urgent");
  EXPECT_EQ(metadata["labels"][kKueueMaxRunLabel].text(), "60");
  EXPECT_EQ(metadata["annotations"][kVolcanoQueueAnnotation].text(), "batch");
}

TEST(JobPods, AreGangsUnlessTheJobSaysOtherwise) {
  const struct {
    const char* what;
    const char* spec;
    const char* annotations;
    std::int64_t size;
  } cases[] = {
      {"all at once", "{parallelism: 8, completions: 8}", "{}", 8},
      {"fewer wanted than may run", "{parallelism: 8, completions: 3}", "{}", 3},
      {"in waves", "{parallelism: 2, completions: 6}", "{}", 2},
      {"a work queue", "{parallelism: 3}", "{}", 3},
      {"one after the other", "{parallelism: 1, completions: 6}", "{}", 0},
      {"one only", "{parallelism: 4, completions: 1}", "{}", 0},
      {"each on its own", "{parallelism: 8, completions: 8}", "{berth.dev/gang: 'false'}", 0},
  };
  for (const auto& each : cases) {
    const JobWorld world(each.spec, each.annotations);
    EXPECT_EQ(gang_size(world.job), each.size) << each.what;
    const Value pod = pod_of_job(world.job, 0, std::nullopt, gang_size(world.job));
    EXPECT_EQ(pod["metadata"]["labels"][kGroupLabel].is_null(), each.size == 0) << each.what;
  }
}

TEST(JobPlan, ItsStatusIsReplacedByAMergePatch) {
  const Value job =
      parse_yaml("{status: {active: 1, uncountedTerminatedPods: {failed: [a], succeeded: [b]}}}")->front();
  const Value status = parse_yaml("{failed: 1, uncountedTerminatedPods: {succeeded: [c]}}")->front();
  EXPECT_EQ(to_json(status_change(job, status)),
            R"({"status":{"failed":1,"uncountedTerminatedPods":{"succeeded":["c"],"failed":null},"active":null}})");
}

TEST(JobPlan, RunsInWavesUntilEnoughHaveSucceeded) {
  JobWorld world("{parallelism: 2, completions: 3, backoffLimit: 6}");
  world.settle();
  EXPECT_EQ(world.pods.size(), 2u);
  EXPECT_EQ(world.count("active"), 2);
  EXPECT_EQ(world.job["status"]["startTime"].text(), format_timestamp(kJobBegin));
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.count("succeeded"), 2);
  EXPECT_EQ(world.active().size(), 1u);
  world.set_all("Succeeded");
  world.now = world.now + seconds(5);
  world.settle();
  EXPECT_EQ(world.count("succeeded"), 3);
  EXPECT_EQ(world.condition("SuccessCriteriaMet"), "True CompletionsReached");
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
  EXPECT_EQ(world.job["status"]["completionTime"].text(), format_timestamp(world.now));
  EXPECT_EQ(world.news, (std::vector<std::string>{"Completed"}));
  EXPECT_EQ(world.job["status"]["uncountedTerminatedPods"], Value::map());
}

TEST(JobPlan, GivesEachIndexAPod) {
  JobWorld world("{completionMode: Indexed, parallelism: 2, completions: 4, backoffLimit: 6}");
  world.settle();
  const Value& first = world.pods.begin()->second;
  EXPECT_TRUE(first["metadata"]["name"].text().starts_with("train-0-"));
  EXPECT_EQ(first["metadata"]["labels"][kCompletionIndex].text(), "0");
  EXPECT_EQ(first["spec"]["hostname"].text(), "train-0");
  const Value& variable = first["spec"]["containers"].items()[0]["env"].items()[0];
  EXPECT_EQ(variable["name"].text(), "JOB_COMPLETION_INDEX");
  EXPECT_EQ(variable["value"].text(), "0");
  world.set_phase(world.active()[1], "Failed");
  world.set_phase(world.active()[0], "Succeeded");
  world.now = world.now + seconds(11);
  world.settle();
  std::set<std::int64_t> active;
  for (const std::string& name : world.active()) active.insert(*completion_index(world.pods.at(name)));
  EXPECT_EQ(active, (std::set<std::int64_t>{1, 2})) << "the failed index again, and the next";
  EXPECT_EQ(world.job["status"]["completedIndexes"].text(), "0");
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.job["status"]["completedIndexes"].text(), "0-2");
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.job["status"]["completedIndexes"].text(), "0-3");
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
  EXPECT_EQ(world.count("failed"), 1);
}

TEST(JobPlan, AWorkQueueIsDoneWhenOnePodSaysSoAndAllHaveEnded) {
  JobWorld world("{parallelism: 3, backoffLimit: 6}");
  world.settle();
  EXPECT_EQ(world.active().size(), 3u);
  world.set_phase(world.active()[0], "Succeeded");
  world.settle();
  EXPECT_EQ(world.created, 3);
  EXPECT_EQ(world.condition("Complete"), "");
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
}

TEST(JobPlan, WaitsLongerAfterEachFailureAndGivesUpAtTheLimit) {
  JobWorld world("{parallelism: 1, completions: 1, backoffLimit: 2}");
  for (const int pause_s : {10, 20}) {
    world.settle();
    ASSERT_EQ(world.active().size(), 1u);
    world.set_all("Failed");
    world.settle();
    EXPECT_TRUE(world.active().empty());
    EXPECT_EQ(world.plan().look_again, world.now + seconds(pause_s));
    world.now = world.now + seconds(pause_s);
  }
  world.settle();
  world.set_all("Failed");
  world.settle();
  EXPECT_EQ(world.condition("FailureTarget"), "True BackoffLimitExceeded");
  EXPECT_EQ(world.condition("Failed"), "True BackoffLimitExceeded");
  EXPECT_EQ(world.count("failed"), 3);
  EXPECT_EQ(world.news, (std::vector<std::string>{"BackoffLimitExceeded"}));
}

TEST(JobPlan, EndsWhatStillRunsBeforeItHasFailed) {
  JobWorld world("{parallelism: 3, completions: 3, backoffLimit: 0}");
  world.settle();
  world.set_all("Running");
  world.set_phase(world.active()[0], "Failed");
  world.deletes_slowly = true;
  world.step();
  EXPECT_EQ(world.condition("FailureTarget"), "True BackoffLimitExceeded");
  EXPECT_EQ(world.condition("Failed"), "");
  EXPECT_EQ(world.active().size(), 2u) << "not before it is stored that they count as failed";
  EXPECT_EQ(world.job["status"]["uncountedTerminatedPods"]["failed"].items().size(), 3u);
  world.settle();
  EXPECT_TRUE(world.active().empty());
  EXPECT_EQ(world.condition("Failed"), "") << "they have not ended yet";
  EXPECT_EQ(world.count("terminating"), 2);
  for (const std::string& name : world.ending()) world.remove(name);
  world.settle();
  EXPECT_EQ(world.condition("Failed"), "True BackoffLimitExceeded");
  EXPECT_EQ(world.count("failed"), 3);
}

TEST(JobPlan, CountsTheRestartsOfPodsThatAreStartedAgain) {
  for (const auto& [limit, restarts, fails] : {std::tuple{0, 1, true}, {0, 0, false}, {3, 2, false}, {3, 3, true}}) {
    JobWorld world("{parallelism: 1, completions: 1, template: {spec: {restartPolicy: OnFailure}}, backoffLimit: " +
                   std::to_string(limit) + "}");
    world.settle();
    Value status = Value::list();
    status.push_back(Value::map_of({{"restartCount", restarts}}));
    world.pods.begin()->second.at("status").set("phase", "Running");
    world.pods.begin()->second.at("status").set("containerStatuses", status);
    world.settle();
    EXPECT_EQ(world.condition("Failed"), fails ? "True BackoffLimitExceeded" : "") << limit << " " << restarts;
  }
}

TEST(JobPlan, StopsAtItsDeadlineAndIsDeletedSomeTimeAfterItsEnd) {
  JobWorld world("{parallelism: 1, completions: 1, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 100}");
  world.settle();
  EXPECT_EQ(world.plan().look_again, kJobBegin + seconds(60));
  world.now = kJobBegin + seconds(60);
  world.settle();
  EXPECT_EQ(world.condition("Failed"), "True DeadlineExceeded");
  EXPECT_EQ(world.plan().look_again, world.now + seconds(100));
  EXPECT_FALSE(world.plan().delete_job);
  world.now = world.now + seconds(100);
  EXPECT_TRUE(world.plan().delete_job);
}

TEST(JobPlan, SuspendedItHasNoPodsAndNothingOfItCountsAsFailed) {
  JobWorld world("{parallelism: 2, completions: 2, backoffLimit: 0}");
  world.settle();
  world.set_all("Running");
  world.job.at("spec").set("suspend", true);
  world.settle();
  EXPECT_TRUE(world.active().empty());
  EXPECT_EQ(world.condition("Suspended"), "True JobSuspended");
  EXPECT_TRUE(world.job["status"]["startTime"].is_null());
  EXPECT_EQ(world.count("failed"), 0);
  world.job.at("spec").set("suspend", false);
  world.now = world.now + seconds(50);
  world.settle();
  EXPECT_EQ(world.active().size(), 2u);
  EXPECT_EQ(world.condition("Suspended"), "False JobResumed");
  EXPECT_EQ(world.job["status"]["startTime"].text(), format_timestamp(world.now));
  EXPECT_EQ(world.news, (std::vector<std::string>{"Suspended", "Resumed"}));
}

TEST(JobPlan, ADeletedPodThatRanHasFailedAndOneThatDidNotIsMadeAnew) {
  for (const bool ran : {false, true}) {
    JobWorld world("{parallelism: 1, completions: 1, backoffLimit: 6}");
    world.settle();
    if (ran) world.set_all("Running");
    world.remove(world.active()[0]);
    world.now = world.now + seconds(10);
    world.settle();
    EXPECT_EQ(world.count("failed"), ran ? 1 : 0);
    EXPECT_EQ(world.active().size(), 1u);
  }
}

TEST(JobPlan, ReplacesPodsThatEndAtOnceOrWhenTheyHave) {
  for (const bool when_failed : {false, true}) {
    JobWorld world(std::string("{parallelism: 1, completions: 1, backoffLimit: 6, podReplacementPolicy: ") +
                   (when_failed ? "Failed}" : "TerminatingOrFailed}"));
    world.settle();
    world.set_all("Running");
    world.remove(world.active()[0], true);
    world.now = world.now + seconds(15);
    world.settle();
    EXPECT_EQ(world.active().size(), when_failed ? 0u : 1u);
    EXPECT_EQ(world.count("failed"), when_failed ? 0 : 1);
    EXPECT_EQ(world.count("terminating"), 1);
  }
}

TEST(JobPlan, WhoWaitsFollowsTheQueueThatTheJobNames) {
  JobWorld world("{parallelism: 2, completions: 2, template: {metadata: {labels: {kueue.x-k8s.io/queue-name: own}}}}");
  world.settle();
  EXPECT_TRUE(world.plan().changes.empty());
  Value& metadata = world.job.at("metadata");
  metadata.at("labels").erase(kQueueLabel);
  metadata.at("labels").set(kKueueQueueLabel, "other");
  metadata.at("annotations").set(kVolcanoQueueAnnotation, "third");
  const JobPlan plan = world.plan();
  ASSERT_EQ(plan.changes.size(), 2u);
  EXPECT_EQ(
      to_json(plan.changes[0].change),
      R"({"metadata":{"labels":{"berth.dev/queue":null},"annotations":{"scheduling.volcano.sh/queue-name":"third"}}})")
      << "the template's own word stays";
  EXPECT_TRUE(plan.deletions.empty() && plan.renewals.empty());
}

TEST(JobPlan, WhoComesAfterOneThatHasANodeIsInItsQueue) {
  JobWorld world("{parallelism: 2, completions: 2}");
  world.settle();
  const std::string runs = world.active()[0], waits = world.active()[1];
  world.set_phase(runs, "Running");
  world.job.at("metadata").at("labels").set(kQueueLabel, "other");
  EXPECT_TRUE(world.plan().changes.empty()) << "one gang, one queue";
  world.pods.erase(waits);
  world.settle();
  ASSERT_EQ(world.active().size(), 2u);
  for (const std::string& name : world.active()) {
    EXPECT_EQ(world.pods.at(name)["metadata"]["labels"][kQueueLabel].text(), "team");
  }
}

// Its pods name the size of their gang, which does not change: with the rest of the gang done and gone, or no more wanted,
// who has not started would wait for ever.
TEST(JobPlan, WhoWaitsForAGangThatHasBecomeSmallerIsMadeAnew) {
  {
    JobWorld world("{parallelism: 2, completions: 2, backoffLimit: 6}");
    world.settle();
    const std::string done = world.active()[0], waits = world.active()[1];
    world.set_phase(done, "Succeeded");
    world.settle();
    EXPECT_EQ(world.active(), std::vector<std::string>{waits}) << "the one that is done is counted while it is there";
    world.pods.erase(done);
    world.settle();
    ASSERT_EQ(world.active().size(), 1u);
    EXPECT_NE(world.active()[0], waits);
    EXPECT_EQ(group_size_in(world.pods.at(world.active()[0])), 1);
    EXPECT_EQ(world.count("failed"), 0);
  }
  JobWorld world("{parallelism: 4, completions: 8, backoffLimit: 6}");
  world.settle();
  const std::string runs = world.active()[0];
  world.set_phase(runs, "Running");
  world.job.at("spec").set("parallelism", 2);
  world.settle();
  ASSERT_EQ(world.active().size(), 2u);
  for (const std::string& name : world.active()) EXPECT_EQ(group_size_in(world.pods.at(name)), name == runs ? 4 : 2);
}

// Of a JobSet: what starts together is written on its template.
const char* const kOfWiderGroup =
    "{parallelism: 2, completions: 2, backoffLimit: 6, template: {metadata: {labels: {berth.dev/pod-group: wide}, "
    "annotations: {berth.dev/pod-group-size: '5', berth.dev/pod-group-uid: u-9}}}}";

TEST(JobPlan, PodsOfAWiderGroupStayInIt) {
  JobWorld world(kOfWiderGroup);
  world.settle();
  ASSERT_EQ(world.active().size(), 2U);
  for (const std::string& name : world.active()) {
    const Value& metadata = world.pods.at(name)["metadata"];
    EXPECT_EQ(metadata["labels"][kGroupLabel].text(), "wide");
    EXPECT_EQ(metadata["annotations"][kGroupUidAnnotation].text(), "u-9");
    EXPECT_EQ(group_size_in(world.pods.at(name)), 5);
  }
  JobWorld alone(kOfWiderGroup, "{berth.dev/gang: 'false'}");
  alone.job.at("spec").set("parallelism", 1);
  alone.settle();
  EXPECT_EQ(group_size_in(alone.pods.at(alone.active().at(0))), 5) << "the template's word";
}

TEST(JobPlan, PodsOfAWiderGroupDoNotWaitForThoseThatAreGone) {
  JobWorld world(kOfWiderGroup);
  world.settle();
  const std::string done = world.active()[0], waits = world.active()[1];
  world.set_phase(done, "Succeeded");
  world.settle();
  EXPECT_EQ(world.active(), std::vector<std::string>{waits}) << "who has succeeded counts";
  EXPECT_EQ(world.plan().group_missing, 0);
  world.pods.erase(done);
  EXPECT_EQ(world.plan().group_missing, 1) << "for the other Jobs";
  world.settle();
  EXPECT_EQ(group_size_in(world.pods.at(world.active().at(0))), 4);
  world.missing_elsewhere = 2;
  world.settle();
  ASSERT_EQ(world.active().size(), 1U);
  EXPECT_EQ(group_size_in(world.pods.at(world.active()[0])), 2);
  world.missing_elsewhere = 9;
  world.settle();
  EXPECT_EQ(group_size_in(world.pods.at(world.active().at(0))), 1);
  const std::string last = world.active()[0];
  world.set_phase(last, "Succeeded");
  world.settle();
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
  EXPECT_EQ(world.plan().group_missing, 1);
  world.pods.erase(last);
  EXPECT_EQ(world.plan().group_missing, 2) << "also when it is over";
  EXPECT_EQ(world.count("failed"), 0);
}

TEST(JobPlan, WhoRunsInAWiderGroupIsNotMadeAnew) {
  JobWorld world(kOfWiderGroup);
  world.settle();
  const std::vector<std::string> both = world.active();
  world.set_phase(both[0], "Running");
  world.missing_elsewhere = 3;
  world.settle();
  EXPECT_EQ(group_size_in(world.pods.at(both[0])), 5);
  EXPECT_FALSE(world.pods.contains(both[1]));
}

TEST(JobPlan, LeavesAloneWhatOthersManage) {
  JobWorld others("{parallelism: 1, completions: 1, managedBy: example.com/other}");
  EXPECT_FALSE(others.step());
  JobWorld ours("{parallelism: 1, completions: 1, managedBy: kubernetes.io/job-controller}");
  EXPECT_TRUE(ours.step());
}

TEST(JobPlan, CreatesNoMoreThanItMayAndPassesOverNamesOfOthers) {
  JobWorld world("{parallelism: 5, completions: 5}");
  EXPECT_EQ(world.plan(2).creations.size(), 2u);
  EXPECT_TRUE(world.plan(2).waits_to_create);
  const JobPlan blocked = world.plan(0);
  EXPECT_TRUE(blocked.creations.empty());
  EXPECT_TRUE(blocked.status) << "what is to be told does not wait";
  const std::string first(world.plan(1).creations[0]["metadata"]["name"].text());
  world.pods.emplace(first, Value::map_of({{"metadata", Value::map_of({{"name", "stranger"}})}}));
  EXPECT_NE(world.plan(1).creations[0]["metadata"]["name"].text(), first);
}

// One thing that happens to a Job: a pod gets on, is deleted, the Job is suspended or resized.
void happen(JobWorld& world, Rng& rng, std::set<std::string>& done) {
  world.now = world.now + seconds(rng.between(0, 40));
  const std::vector<std::string> names = world.active();
  const std::string some = names.empty() ? "" : names[rng.below(names.size())];
  switch (rng.below(12)) {
    case 0:
    case 1:
    case 2:
      if (!some.empty()) world.set_phase(some, "Running");
      break;
    case 3:
    case 4:
      if (some.empty()) break;
      if (is_tracked(world.pods.at(some))) done.insert(world.key_of_work(some));
      world.set_phase(some, "Succeeded");
      break;
    case 5:
      if (!some.empty()) world.set_phase(some, "Failed");
      break;
    case 6:
      if (!some.empty()) world.remove(some, rng.below(2) == 0);
      break;
    case 7: {  // what is over, or long told to end, is cleaned away
      std::vector<std::string> all = world.ending();
      for (const auto& [name, pod] : world.pods) {
        if (has_ended(pod)) all.push_back(name);
      }
      if (!all.empty()) world.remove(all[rng.below(all.size())]);
      break;
    }
    case 8:
      world.settle();
      break;
    case 9:
      world.job.at("spec").set("suspend", rng.below(3) == 0);
      break;
    case 10:
      world.job.at("spec").set("parallelism", rng.between(0, 5));
      break;
    default:
      world.deletes_slowly = rng.below(2) == 0;
      break;
  }
}

// Whatever happens, and wherever its controller is cut off: what has succeeded counts, once.
TEST(JobPlanProperty, CountsEachPodOnceWhereverItIsCutOff) {
  for (const Seed seed : property_seeds(150)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t completions = rng.between(1, 8);
    JobWorld world("{parallelism: 3, backoffLimit: 1000, completions: " + std::to_string(completions) +
                   (rng.below(2) == 0 ? ", completionMode: Indexed" : "") +
                   (rng.below(2) == 0 ? ", podReplacementPolicy: Failed}" : "}"));
    std::set<std::string> done;
    std::int64_t failed = 0;
    for (int i = 0; i < 150 && world.condition("SuccessCriteriaMet").empty(); ++i) {
      happen(world, rng, done);
      world.step(rng.below(4));
      const std::vector<std::string> active = world.active();
      ASSERT_LE(std::ranges::count_if(active, [&](const auto& name) { return is_tracked(world.pods.at(name)); }), 5);
      ASSERT_LE(world.count("succeeded"), static_cast<std::int64_t>(done.size())) << "nothing counts twice";
      ASSERT_GE(world.count("failed"), failed) << "what was counted stays counted";
      ASSERT_LE(world.count("succeeded") + world.count("failed"), world.created);
      failed = world.count("failed");
    }
    world.job.at("spec").set("suspend", false);
    world.job.at("spec").set("parallelism", 3);
    for (int i = 0; i < 100 && world.condition("Complete").empty(); ++i) {
      world.now = world.now + seconds(400);
      world.settle();
      ASSERT_LE(world.active().size(), 3u);
      ASSERT_TRUE(!world.ending().empty() || world.gang_can_start());
      for (const std::string& name : world.active()) {
        done.insert(world.key_of_work(name));
        world.set_phase(name, "Succeeded");
      }
      for (const std::string& name : world.ending()) world.remove(name);
    }
    EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
    EXPECT_EQ(world.count("succeeded"), static_cast<std::int64_t>(done.size())) << "nothing is lost";
    EXPECT_GE(world.count("succeeded"), completions);
    world.settle();
    EXPECT_TRUE(world.active().empty());
    for (const auto& [name, pod] : world.pods) EXPECT_FALSE(is_tracked(pod)) << name;
  }
}

}  // namespace berth::job_plan_test
