#include "sim/churn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/property_seeds.h"
#include "cycle/defragment.h"
#include "cycle/movers.h"
#include "state/fragments.h"
#include "state/invariants.h"

namespace berth::churn_test {

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

// Shown, then half an hour in which jobs end, nodes close and others come; and then asked for, as it was shown.
TEST(ChurnProperty, WhatWasShownIsCarriedOutAsFarAsItHolds) {
  std::int64_t carried_out = 0, left_out = 0;
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    Session session;
    const Time shown =
        churn(session,
              {.nodes = 24, .hours = 6, .allocated_percent = 80, .movable_percent = 70, .uneven = true, .seed = seed});
    const Defragmentation made = plan_that_holds(session.state(), shown, {});
    const DefragmentationAsked asked = asked_for(made, *request_of(session.state(), {}), DefragmentOptions().horizon);
    Rng rng(seed);
    const Time now = shown + seconds(static_cast<std::int64_t>(rng.below(2)) * 1800);
    for (std::int64_t changes = rng.between(0, 6); changes > 0; --changes) {
      const std::uint64_t what = rng.below(3);
      const std::uint64_t which = rng.next();
      if (what == 0) {
        const NodeDrained event{NodeId(which % session.state().nodes())};
        if (!session.state().refusal(event)) session.apply(event);
      } else if (what == 1 && !asked.moves.empty()) {
        const WorkloadCancelled event{asked.moves[which % asked.moves.size()].workload};
        if (!session.state().refusal(event)) session.apply(event);
      } else {
        session.apply(whole_node_gang(1, now));
      }
      session.decide(now, [](const Plan&) {});
    }
    const State before = session.state().fork();
    const std::int64_t fit = pods_that_fit(before, 8);
    session.apply(asked);
    std::vector<Migration> moved;
    int answers = 0;
    session.decide(now, [&](const Plan& plan) {
      answers += plan.defragmented ? 1 : 0;
      if (plan.defragmented) moved = plan.migrations;
    });
    EXPECT_EQ(answers, 1);
    EXPECT_EQ(session.state().defragmentation(), nullptr);
    EXPECT_EQ(violations(session.state()), std::vector<std::string>());
    for (const Migration& each : moved) {
      const auto was_shown = [&](const MoveAsked& move) {
        return move.workload == each.start.workload && move.to == each.start.pods;
      };
      EXPECT_TRUE(std::ranges::any_of(asked.moves, was_shown));
      EXPECT_TRUE(may_be_moved(before, each.start.workload, now));
    }
    const std::int64_t freed = pods_that_fit(session.state(), 8) - fit;
    EXPECT_EQ(freed > 0, !moved.empty());
    EXPECT_TRUE(moved.empty() || lost_gpu_s(moved) < freed * 8 * 4 * 3600);
    carried_out += std::ssize(moved);
    left_out += std::ssize(asked.moves) - std::ssize(moved);
    if (HasFailure()) return;
  }
  EXPECT_GT(carried_out, 0);
  EXPECT_GT(left_out, 0);
}

// At once and with nothing in between it is what was shown, to the bit.
TEST(ChurnProperty, WhatIsShownIsWhatIsCarriedOut) {
  for (const Seed seed : property_seeds(5)) {
    SCOPED_TRACE(name_of(seed));
    Session session;
    const Time now = churn(session, {.nodes = 24, .hours = 6, .uneven = true, .seed = seed});
    const std::uint64_t hash = session.state().hash();
    const Defragmentation made = plan_that_holds(session.state(), now, {.attempts = 200});
    EXPECT_EQ(session.state().hash(), hash);
    session.apply(asked_for(made, *request_of(session.state(), {}), DefragmentOptions().horizon));
    std::vector<Migration> moved;
    session.decide(now, [&](const Plan& plan) {
      if (plan.defragmented) moved = plan.migrations;
    });
    EXPECT_EQ(moved, made.plan.migrations);
    EXPECT_FALSE(moved.empty());
    EXPECT_EQ(pods_that_fit(session.state(), 8), made.pods_after);
    EXPECT_EQ(lost_gpu_s(moved), made.lost_gpu_s);
  }
}

}  // namespace berth::churn_test
