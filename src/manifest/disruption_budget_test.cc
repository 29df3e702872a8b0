#include "manifest/disruption_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "manifest/timestamp.h"
#include "manifest/yaml.h"

namespace berth::disruption_budget_test {

Value yaml(const std::string& text) { return parse_yaml(text).value().at(0); }

Value pod(const std::string& phase, bool ready, const std::string& owner_uid = "", const std::string& more = "") {
  const std::string owner =
      owner_uid.empty() ? "" : ", ownerReferences: [{kind: Job, controller: true, uid: " + owner_uid + "}]";
  return yaml("{metadata: {name: p" + owner + more + "}, status: {phase: " + phase +
              ", conditions: [{type: Ready, status: '" + (ready ? "True" : "False") + "'}]}}");
}

TEST(DisruptionBudget, CountsAsItsSpecSays) {
  struct Case {
    const char* spec;
    int ready;
    int unready;
    std::int64_t expected, desired, allowed;
  };
  const Case cases[] = {
      {"{minAvailable: 2}", 3, 0, 3, 2, 1},        {"{minAvailable: 2}", 1, 1, 2, 2, 0},
      {"{minAvailable: 50%}", 3, 0, 3, 2, 1},      {"{minAvailable: 100%}", 3, 0, 3, 3, 0},
      {"{minAvailable: 0%}", 3, 0, 3, 0, 3},       {"{maxUnavailable: 1}", 3, 0, 3, 2, 1},
      {"{maxUnavailable: 1}", 2, 1, 3, 2, 0},      {"{maxUnavailable: 34%}", 3, 0, 3, 1, 2},
      {"{maxUnavailable: 10}", 2, 0, 2, 0, 2},     {"{maxUnavailable: 0}", 2, 0, 2, 2, 0},
      {"{minAvailable: 1}", 0, 0, 0, 1, 0},        {"{maxUnavailable: 100%}", 0, 2, 2, 0, 0},
      {"{minAvailable: nonsense}", 1, 0, 1, 0, 1},
  };
  for (const Case& each : cases) {
    BudgetTally tally([](const Value&) { return std::nullopt; });
    for (int i = 0; i < each.ready; ++i) tally.add(pod("Running", true));
    for (int i = 0; i < each.unready; ++i) tally.add(pod("Running", false));
    tally.add(pod("Succeeded", false));
    const BudgetCount count = tally.count(yaml(each.spec));
    EXPECT_EQ(count.expected, each.expected) << each.spec;
    EXPECT_EQ(count.healthy, each.ready) << each.spec;
    EXPECT_EQ(count.desired, each.desired) << each.spec;
    EXPECT_EQ(count.allowed(), each.allowed) << each.spec;
  }
}

TEST(DisruptionBudget, AShareIsOneOfWhatTheOwnerWants) {
  BudgetTally tally([](const Value& owner) -> std::optional<std::int64_t> {
    return owner["uid"].text() == "known" ? std::optional<std::int64_t>(10) : std::nullopt;
  });
  for (int i = 0; i < 4; ++i) tally.add(pod("Running", true, "known"));
  tally.add(pod("Running", true, "gone"));
  tally.add(pod("Running", true));
  EXPECT_EQ(tally.count(yaml("{minAvailable: 50%}")).expected, 12);
  EXPECT_EQ(tally.count(yaml("{minAvailable: 50%}")).desired, 6);
  EXPECT_EQ(tally.count(yaml("{minAvailable: 5}")).expected, 6);
  EXPECT_EQ(pods_wanted_by(yaml("{kind: Job, spec: {parallelism: 3, replicas: 4}}")), 3);
  EXPECT_EQ(pods_wanted_by(yaml("{kind: ReplicaSet, spec: {replicas: 4}}")), 4);
  EXPECT_EQ(pods_wanted_by(yaml("{kind: Node}")), std::nullopt);
}

TEST(DisruptionBudget, APodThatIsAskedToGoIsNotHealthy) {
  EXPECT_TRUE(is_healthy_pod(pod("Running", true)));
  EXPECT_FALSE(is_healthy_pod(pod("Pending", true)));
  EXPECT_FALSE(is_healthy_pod(pod("Running", false)));
  EXPECT_FALSE(is_healthy_pod(pod("Running", true, "", ", deletionTimestamp: '2026-11-21T07:00:00Z'")));
}

TEST(DisruptionBudget, TheStatusKeepsTheTimeOfWhatHasNotChanged) {
  Value budget = yaml("{metadata: {generation: 2}, status: {disruptedPods: {}}}");
  const Time noon = *parse_timestamp("2026-11-21T12:00:00Z");
  budget.set("status", budget_status(budget, {.expected = 3, .healthy = 3, .desired = 2}, noon));
  EXPECT_EQ(budget["status"],
            yaml("{disruptedPods: {}, observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 3, "
                 "desiredHealthy: 2, expectedPods: 3, conditions: [{type: DisruptionAllowed, status: "
                 "'True', observedGeneration: 2, lastTransitionTime: '2026-11-21T12:00:00Z', "
                 "reason: SufficientPods, message: ''}]}"));
  EXPECT_EQ(budget_status(budget, {.expected = 3, .healthy = 3, .desired = 2}, noon + seconds(60)), budget["status"]);
  const Value later = budget_status(budget, {.expected = 3, .healthy = 2, .desired = 2}, noon + seconds(60));
  EXPECT_EQ(later["conditions"].items().size(), 1U);
  EXPECT_EQ(later["conditions"].items()[0]["reason"].text(), "InsufficientPods");
  EXPECT_EQ(later["conditions"].items()[0]["lastTransitionTime"].text(), "2026-11-21T12:01:00Z");
}

}  // namespace berth::disruption_budget_test
