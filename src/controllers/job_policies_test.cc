#include "controllers/job_policies.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "base/rng.h"
#include "controllers/job_world.h"
#include "manifest/json.h"

namespace berth::job_policies_test {

constexpr const char* kRules =
    "podFailurePolicy: {rules: ["
    "{action: FailJob, onExitCodes: {containerName: c, operator: In, values: [42, 43]}}, "
    "{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: 'True'}]}, "
    "{action: Count, onExitCodes: {operator: In, values: [7]}}, "
    "{action: FailIndex, onExitCodes: {operator: NotIn, values: [1, 2]}}]}";

Value yaml(const std::string& text) { return parse_yaml(text)->front(); }

TEST(FailurePolicy, TheFirstRuleThatFitsDecides) {
  const Value job = yaml(std::string("{spec: {") + kRules + "}}");
  const auto ended = [](const std::string& container, int code) {
    return "containerStatuses: [{name: " + container + ", state: {terminated: {exitCode: " + std::to_string(code) +
           "}}}]";
  };
  const std::string disrupted = "conditions: [{type: DisruptionTarget, status: 'True'}]";
  const struct {
    const char* what;
    std::string status;
    FailureAction action;
  } cases[] = {
      {"listed", ended("c", 42), FailureAction::kFailJob},
      {"listed, but of another container", ended("side", 42), FailureAction::kFailIndex},
      {"disrupted", disrupted, FailureAction::kIgnore},
      {"listed and disrupted", disrupted + ", " + ended("c", 43), FailureAction::kFailJob},
      {"not disrupted after all", "conditions: [{type: DisruptionTarget, status: 'False'}]", FailureAction::kCount},
      {"counted by a rule", ended("c", 7), FailureAction::kCount},
      {"not among others", ended("c", 9), FailureAction::kFailIndex},
      {"by no rule", ended("c", 1), FailureAction::kCount},
      {"no failure of a container", ended("c", 0), FailureAction::kCount},
      {"of an init container", "initContainerStatuses: [{name: i, state: {terminated: {exitCode: 3}}}]",
       FailureAction::kFailIndex},
  };
  for (const auto& each : cases) {
    const Value pod = yaml("{metadata: {namespace: default, name: p}, status: {" + each.status + "}}");
    EXPECT_EQ(judge_failure(job, pod).action, each.action) << each.what;
  }
  EXPECT_EQ(judge_failure(job, yaml("{metadata: {namespace: default, name: p}, status: {" + ended("c", 42) + "}}")).why,
            "Container c for pod default/p failed with exit code 42 matching FailJob rule at index 0");
  const Value by_condition =
      yaml("{spec: {podFailurePolicy: {rules: [{action: FailJob, onPodConditions: [{type: Bad}]}]}}}");
  EXPECT_EQ(judge_failure(by_condition, yaml("{metadata: {namespace: default, name: p}, status: {conditions: "
                                             "[{type: Bad, status: 'True'}]}}"))
                .why,
            "Pod default/p has condition Bad matching FailJob rule at index 0");
}

TEST(SuccessPolicy, IsMetByIndexesByACountOrByBoth) {
  const struct {
    const char* rules;
    const char* done;
    const char* met;
  } cases[] = {
      {"[{succeededIndexes: '0,2-3'}]", "0-2", ""},
      {"[{succeededIndexes: '0,2-3'}]", "0-3", "Matched rules at index 0"},
      {"[{succeededCount: 2}]", "7", ""},
      {"[{succeededCount: 2}]", "3,7", "Matched rules at index 0"},
      {"[{succeededIndexes: '0-3', succeededCount: 2}]", "0,5-9", ""},
      {"[{succeededIndexes: '0-3', succeededCount: 2}]", "0,3,9", "Matched rules at index 0"},
      {"[{succeededIndexes: '9'}, {succeededCount: 1}]", "4", "Matched rules at index 1"},
      {"[]", "0-9", ""},
  };
  for (const auto& each : cases) {
    const Value job = yaml(std::string("{spec: {successPolicy: {rules: ") + each.rules + "}}}");
    EXPECT_EQ(met_success_rule(job, NumberSet::parse(each.done)).value_or(""), each.met) << each.rules << each.done;
  }
}

TEST(JobPlan, AFailureThatFailsTheJobEndsAllOfIt) {
  JobWorld world(std::string("{parallelism: 3, completions: 3, podReplacementPolicy: Failed, ") + kRules + "}");
  world.settle();
  world.set_all("Running");
  const std::string bad = world.active()[0];
  world.set_phase(bad, "Failed", 42);
  world.settle();
  EXPECT_EQ(world.condition("FailureTarget"), "True PodFailurePolicy");
  EXPECT_EQ(world.condition("Failed"), "True PodFailurePolicy");
  EXPECT_NE(to_json(world.job["status"]).find("Container c for pod default/" + bad + " failed with exit code 42"),
            std::string::npos);
  EXPECT_EQ(world.count("failed"), 3);
  EXPECT_TRUE(world.active().empty());
}

// The one pod of the world ends, and why is said in its conditions.
std::string end_disrupted(JobWorld& world, const char* reason) {
  Value condition = Value::map_of({{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", reason}});
  Value conditions = Value::list();
  conditions.push_back(std::move(condition));
  const std::string name = world.active().at(0);
  world.pods.at(name).at("status").set("conditions", std::move(conditions));
  world.set_phase(name, "Failed", 137);
  return name;
}

TEST(JobPlan, AFailureThatIsIgnoredIsReplacedAndNotCounted) {
  JobWorld world(std::string("{parallelism: 1, completions: 1, backoffLimit: 0, podReplacementPolicy: Failed, ") +
                 kRules + "}");
  for (int i = 0; i < 3; ++i) {
    world.settle();
    ASSERT_EQ(world.active().size(), 1u);
    const std::string name = end_disrupted(world, "EvictionByEvictionAPI");
    world.settle();
    EXPECT_EQ(world.count("failed"), 0);
    EXPECT_FALSE(is_tracked(world.pods.at(name)));
    world.now = world.now + seconds(400);
  }
  world.settle();
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
}

// It was to make room, and is made anew at once: no failure, and no pause after one.
TEST(JobPlan, WhoWasEvictedByTheSchedulerHasNotFailed) {
  JobWorld world("{parallelism: 1, completions: 1, backoffLimit: 0, podReplacementPolicy: Failed}");
  for (int i = 0; i < 3; ++i) {
    world.settle();
    ASSERT_EQ(world.active().size(), 1u) << i;
    const std::string name = end_disrupted(world, "PreemptionByScheduler");
    world.settle();
    EXPECT_EQ(world.count("failed"), 0);
    EXPECT_FALSE(is_tracked(world.pods.at(name)));
  }
}

TEST(JobPlan, EnoughIsWhatTheSuccessPolicySays) {
  JobWorld world(
      "{completionMode: Indexed, parallelism: 4, completions: 4, successPolicy: {rules: [{succeededIndexes: '0'}]}}");
  world.settle();
  world.set_all("Running");
  world.set_phase(world.pod_of_index(2), "Succeeded");
  world.settle();
  EXPECT_EQ(world.active().size(), 3u);
  world.set_phase(world.pod_of_index(0), "Succeeded");
  world.settle();
  EXPECT_EQ(world.condition("SuccessCriteriaMet"), "True SuccessPolicy");
  EXPECT_EQ(world.condition("Complete"), "True SuccessPolicy");
  EXPECT_TRUE(world.active().empty());
  EXPECT_EQ(world.count("succeeded"), 2);
  EXPECT_EQ(world.count("failed"), 0) << "those that were not needed did not fail";
  EXPECT_EQ(world.job["status"]["completedIndexes"].text(), "0,2");
}

// Fails the pod of an index once it is there.
void fail_index(JobWorld& world, std::int64_t index, int code = 1) {
  world.now = world.now + seconds(400);
  world.settle();
  const std::string name = world.pod_of_index(index);
  ASSERT_NE(name, "") << index;
  world.set_phase(name, "Failed", code);
  world.settle();
}

TEST(JobPlan, EachIndexHasItsOwnLimitAndItsOwnPause) {
  JobWorld world(
      "{completionMode: Indexed, parallelism: 2, completions: 2, backoffLimit: 2147483647, "
      "backoffLimitPerIndex: 1}");
  world.settle();
  const std::string first = world.pod_of_index(0);
  EXPECT_EQ(retries_in(world.pods.at(first)).failed, 0);
  world.set_phase(first, "Failed", 1);
  world.settle();
  EXPECT_EQ(world.plan().look_again, world.now + seconds(10));
  EXPECT_TRUE(is_tracked(world.pods.at(first))) << "it tells how often its index was tried";
  world.remove(first);
  world.settle();
  EXPECT_TRUE(world.pods.contains(first)) << "even when somebody deletes it";
  world.set_phase(world.pod_of_index(1), "Succeeded");
  world.now = world.now + seconds(10);
  world.settle();
  EXPECT_FALSE(world.pods.contains(first)) << "now its replacement does";
  EXPECT_EQ(retries_in(world.pods.at(world.pod_of_index(0))).failed, 1);
  EXPECT_EQ(world.count("failed"), 1);
  world.set_phase(world.pod_of_index(0), "Failed", 1);
  world.settle();
  EXPECT_EQ(world.job["status"]["failedIndexes"].text(), "0");
  EXPECT_EQ(world.job["status"]["completedIndexes"].text(), "1");
  EXPECT_EQ(world.condition("Failed"), "True FailedIndexes");
  EXPECT_EQ(world.count("failed"), 2);
}

TEST(JobPlan, GivesUpWhenTooManyIndexesHaveFailed) {
  JobWorld world(std::string("{completionMode: Indexed, parallelism: 5, completions: 5, backoffLimit: 2147483647, "
                             "backoffLimitPerIndex: 3, maxFailedIndexes: 1, podReplacementPolicy: Failed, ") +
                 kRules + "}");
  fail_index(world, 3, 9);  // FailIndex: at once
  EXPECT_EQ(world.job["status"]["failedIndexes"].text(), "3");
  EXPECT_EQ(world.condition("FailureTarget"), "");
  EXPECT_EQ(world.active().size(), 4u);
  for (int i = 0; i < 3; ++i) fail_index(world, 1, 7);
  EXPECT_EQ(world.condition("FailureTarget"), "");
  fail_index(world, 1, 7);
  EXPECT_EQ(world.condition("Failed"), "True MaxFailedIndexesExceeded");
  EXPECT_EQ(world.job["status"]["failedIndexes"].text(), "1,3");
}

TEST(JobPlan, AnElasticJobGrowsAndShrinks) {
  JobWorld world("{completionMode: Indexed, parallelism: 3, completions: 3}");
  const auto resize = [&](int size) {
    world.job.at("spec").set("parallelism", size);
    world.job.at("spec").set("completions", size);
    world.settle();
  };
  world.settle();
  world.set_phase(world.pod_of_index(2), "Succeeded");
  resize(5);
  EXPECT_EQ(world.active().size(), 4u);
  EXPECT_EQ(world.job["status"]["completedIndexes"].text(), "2");
  resize(2);
  EXPECT_EQ(world.active().size(), 2u);
  EXPECT_EQ(world.count("succeeded"), 0) << "that index is not wanted any more";
  world.set_all("Succeeded");
  world.settle();
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
  EXPECT_EQ(world.count("failed"), 0);
}

TEST(JobPlan, TakesUpOnlySoManyEndsAtATime) {
  JobWorld world("{parallelism: 1200, completions: 1200}");
  for (int i = 0; i < 3; ++i) world.step();
  world.set_all("Succeeded");
  world.step();
  EXPECT_EQ(world.job["status"]["uncountedTerminatedPods"]["succeeded"].items().size(), 500u);
  EXPECT_EQ(world.condition("Complete"), "");
  world.settle();
  EXPECT_EQ(world.created, 1200) << "those not yet taken up are not made anew";
  EXPECT_EQ(world.count("succeeded"), 1200);
  EXPECT_EQ(world.condition("Complete"), "True CompletionsReached");
}

// With every sort of failure, cut off anywhere: no index fails before it was tried often enough, or later.
TEST(JobPlanProperty, EachIndexIsTriedAsOftenAsItMay) {
  for (const Seed seed : property_seeds(60)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    const std::int64_t limit = rng.between(0, 3);
    JobWorld world(
        "{completionMode: Indexed, parallelism: 3, completions: 4, backoffLimit: 2147483647, "
        "backoffLimitPerIndex: " +
        std::to_string(limit) + "}");
    std::vector<std::int64_t> failures(4);
    std::int64_t all = 0;
    for (int i = 0; i < 300 && world.condition("Failed").empty() && world.condition("Complete").empty(); ++i) {
      world.now = world.now + seconds(rng.between(0, 400));
      world.step(rng.below(3));
      if (!world.condition("FailureTarget").empty()) continue;
      const std::vector<std::string> active = world.active();
      if (active.empty() || rng.below(3) > 0) continue;
      const std::string name = active[rng.below(active.size())];
      const auto index = static_cast<std::size_t>(completion_index(world.pods.at(name)).value_or(0));
      world.set_phase(name, rng.below(4) == 0 ? "Succeeded" : "Failed", 1);
      if (world.pods.at(name)["status"]["phase"].text() != "Failed") continue;
      ++all;
      ASSERT_LE(++failures[index], limit + 1) << index;
      if (rng.below(3) == 0) world.remove(name);
    }
    for (int i = 0; i < 50; ++i) world.step();
    const NumberSet failed = NumberSet::parse(world.job["status"]["failedIndexes"].text());
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(failed.contains(i), failures[static_cast<std::size_t>(i)] == limit + 1) << i;
    }
    if (world.condition("FailureTarget").empty()) {
      EXPECT_EQ(world.count("failed"), all);
    }
  }
}

}  // namespace berth::job_policies_test
