#include "state/trial.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/property_seeds.h"
#include "state/random_world.h"

namespace berth::trial_test {

Ledger one_node() {
  Ledger ledger;
  ledger.add({.name = "", .flavor = FlavorId(0), .gpus = 2, .gpu_memory_mib = 10, .cpu_milli = 10, .memory_bytes = 10});
  return ledger;
}

const Move kMove{
    .request = {.cpu_milli = 1, .gpus = 1, .gpu_milli = 400}, .node = NodeId(0), .gpus = GpuSet::from_bits(1)};

TEST(Trial, LeavesNothingBehindUnlessKept) {
  Ledger ledger = one_node();
  const Ledger before = ledger;
  {
    QuotaLedger quotas;
    Trial trial(ledger, quotas);
    trial.apply(kMove);
    EXPECT_FALSE(ledger.same_as(before));
  }
  EXPECT_TRUE(ledger.same_as(before));
  {
    QuotaLedger quotas;
    Trial trial(ledger, quotas);
    trial.apply(kMove);
    trial.keep();
  }
  EXPECT_EQ(ledger.gpu_milli(NodeId(0))[0], 600);
}

TEST(Trial, WhatWasKeptIsNotTakenBackByLaterRollbacks) {
  Ledger ledger = one_node();
  {
    QuotaLedger quotas;
    Trial trial(ledger, quotas);
    trial.apply(kMove);
    trial.keep();
    trial.apply(kMove);
    trial.rollback_to({});
  }
  EXPECT_EQ(ledger.gpu_milli(NodeId(0))[0], 600);
}

// Two nodes of two GPUs; somebody is on the first GPU of the first.
TEST(Trial, KeepsRoomFromAllUntilItLetsGo) {
  Ledger ledger = one_node();
  ledger.add({.name = "", .flavor = FlavorId(0), .gpus = 2, .gpu_memory_mib = 10, .cpu_milli = 10, .memory_bytes = 10});
  const Move there{
      .request = {.cpu_milli = 1, .gpus = 1, .gpu_milli = 1000}, .node = NodeId(0), .gpus = GpuSet::from_bits(1)};
  ledger.apply(there);
  const Ledger before = ledger;
  const auto free = [&](std::size_t gpu) { return ledger.gpu_milli(NodeId(0))[gpu]; };
  QuotaLedger quotas;
  {
    Trial trial(ledger, quotas);
    trial.keep_from_all({.gpus = {{NodeId(0), GpuSet::from_bits(3)}}, .nodes = {NodeId(1)}});
    EXPECT_EQ(free(1), 0) << "what is free is taken";
    EXPECT_FALSE(ledger.node(NodeId(1)).open);
    const Trial::Mark mark = trial.mark();
    trial.depart(inverse(there), Emptied::kCountsAsScrubbed);
    EXPECT_EQ(free(0), 0) << "what comes free is taken at once";
    trial.rollback_to(mark);
    EXPECT_EQ(free(0), 0) << "whoever was there is there again";
    trial.depart(inverse(there), Emptied::kCountsAsScrubbed);
    trial.let_go();
    EXPECT_EQ(free(0), 1000);
    EXPECT_EQ(free(1), 1000);
    EXPECT_TRUE(ledger.node(NodeId(1)).open);
    trial.keep_from_all({.gpus = {{NodeId(0), GpuSet::from_bits(2)}}, .nodes = {}});
    EXPECT_EQ(free(0), 1000);
  }
  EXPECT_TRUE(ledger.same_as(before));
}

TEST(TrialProperty, RollingBackToAMarkRestoresTheLedgerOfThen) {
  struct Then {
    Trial::Mark mark;
    Ledger ledger;
    std::vector<Move> there;
  };
  int left_behind = 0;
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Ledger ledger;
    for (const Node& node : random_nodes(rng, 2, 1, 6)) add_to_ledger(ledger, node);
    std::vector<Move> there = crowd(ledger, rng, 2, 40);
    const Ledger before = ledger;
    {
      QuotaLedger quotas;
      Trial trial(ledger, quotas);
      std::vector<Then> marks;
      for (int step = 0; step < 60; ++step) {
        const std::uint64_t what = rng.below(8);
        if (what == 0) marks.push_back({trial.mark(), ledger, there});
        if (what == 1 && !marks.empty()) {
          marks.resize(1 + static_cast<std::size_t>(rng.below(marks.size())), marks.front());
          trial.rollback_to(marks.back().mark);
          there = marks.back().there;
          ASSERT_TRUE(ledger.same_as(marks.back().ledger));
        }
        if (what > 5 && !there.empty()) {
          std::swap(there[static_cast<std::size_t>(rng.below(there.size()))], there.back());
          trial.depart(inverse(there.back()), Emptied::kIsToBeScrubbed);
          const NodeId node = there.back().node;
          there.back().gpus.for_each(
              [&](int gpu) { left_behind += ledger.residue(node, static_cast<std::size_t>(gpu)).empty() ? 0 : 1; });
          there.pop_back();
        }
        const NodeId node(static_cast<std::size_t>(rng.below(ledger.nodes())));
        const PodRequest request = somebodys_request(rng, 2);
        const std::optional<PodPlacement> place = some_place(trial.ledger(), node, request, rng);
        if (what < 2 || !place) continue;
        there.push_back(move_of(request, *place));
        trial.apply(there.back());
      }
    }
    ASSERT_TRUE(ledger.same_as(before));
  }
  EXPECT_GT(left_behind, 5);
}

}  // namespace berth::trial_test
