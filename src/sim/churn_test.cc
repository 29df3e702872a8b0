#include "sim/churn.h"

#include <gtest/gtest.h>

#include "base/property_seeds.h"
#include "cycle/defragment.h"
#include "state/fragments.h"
#include "state/invariants.h"

namespace berth {
namespace {

// A small one of what docs/results.md shows.
TEST(ChurnProperty, APlanMakesAFleetInPiecesWhole) {
  for (const Seed seed : property_seeds(3)) {
    SCOPED_TRACE(name_of(seed));
    Session session;
    const Time now = churn(session, {.nodes = 60, .hours = 9, .seed = seed});
    const State before = session.state().fork();
    EXPECT_LT(pods_that_fit(before, 8), 3);
    const Defragmentation made = plan_defragmentation(before, now, {});
    EXPECT_EQ(made.pods_ideal, 9) << "72 GPUs are free";
    EXPECT_GE(10 * (made.pods_after - made.pods_before), 9 * (made.pods_ideal - made.pods_before));
    EXPECT_LT(made.lost_gpu_s, made.unlocked_gpu_s);
    State after = before.fork();
    after.adopt(made.plan);
    EXPECT_EQ(violations(after), std::vector<std::string>());
    EXPECT_EQ(pods_that_fit(after, 8), made.pods_after);
    const WorkloadId gang = session.state().workloads().next_id();
    session.apply(whole_node_gang(8, now));
    session.decide(now, [](const Plan&) {});
    EXPECT_EQ(session.state().workload(gang).phase, Phase::kRunning);
    if (HasFailure()) return;
  }
}

// Of jobs that do not go into each other; half of them may be moved.
TEST(ChurnProperty, AnUnevenFleetIsMadeWholeByEffort) {
  std::int64_t first = 0, better = 0;
  for (const Seed seed : property_seeds(3)) {
    SCOPED_TRACE(name_of(seed));
    Session session;
    const Time now =
        churn(session,
              {.nodes = 200, .hours = 9, .allocated_percent = 85, .movable_percent = 50, .uneven = true, .seed = seed});
    DefragmentOptions options{.horizon = {100 * 3'600'000}};
    const Defragmentation by_the_first = plan_defragmentation(session.state(), now, options);
    options.attempts = 4000;
    const Defragmentation made = plan_defragmentation(session.state(), now, options);
    first += by_the_first.pods_after;
    better += made.pods_after;
    EXPECT_GE(made.pods_after, by_the_first.pods_after);
    EXPECT_LE(made.pods_after, made.pods_ideal);
    State after = session.state().fork();
    after.adopt(made.plan);
    EXPECT_EQ(violations(after), std::vector<std::string>());
    EXPECT_EQ(pods_that_fit(after, 8), made.pods_after);
  }
  EXPECT_GT(better, first);
}

TEST(ChurnProperty, NobodyIsMovedWhoDoesNotConsent) {
  for (const Seed seed : property_seeds(2)) {
    SCOPED_TRACE(name_of(seed));
    Session session;
    const Time now = churn(session, {.nodes = 40, .hours = 9, .movable_percent = 0, .seed = seed});
    const Defragmentation made = plan_defragmentation(session.state(), now, {});
    EXPECT_TRUE(made.plan.migrations.empty());
    EXPECT_EQ(made.pods_after, made.pods_before);
  }
}

}  // namespace
}  // namespace berth
