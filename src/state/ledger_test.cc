#include "state/ledger.h"

#include <gtest/gtest.h>

#include <map>

#include "base/property_seeds.h"
#include "state/random_world.h"
#include "state/room.h"

namespace berth::ledger_test {

Node gpu_node(int gpus) {
  return {.name = "",
          .flavor = FlavorId(0),
          .gpus = gpus,
          .gpu_memory_mib = 1000,
          .cpu_milli = 10'000,
          .memory_bytes = 100};
}

TEST(Ledger, ANewNodeIsAllFree) {
  Ledger ledger;
  EXPECT_EQ(ledger.add(gpu_node(4)), NodeId(0));
  EXPECT_EQ(
      ledger.add(
          {.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 5, .memory_bytes = 6, .pods_max = 7}),
      NodeId(1));
  const NodeFree& node = ledger.node(NodeId(0));
  EXPECT_EQ(node.whole_gpus, 4);
  EXPECT_EQ(node.gpu_milli, 4000);
  EXPECT_EQ(node.largest_gpu_milli, 1000);
  EXPECT_EQ(node.pods, kPodsUnbounded);
  EXPECT_EQ(ledger.gpu_memory_mib(NodeId(0)).size(), 4u);
  EXPECT_EQ(ledger.node(NodeId(1)).pods, 7);
  EXPECT_TRUE(ledger.gpu_milli(NodeId(1)).empty());
  EXPECT_EQ(ledger.totals(FlavorId(0)), (FreeTotals{10'000, 100, 4000, 4}));
  EXPECT_EQ(ledger.totals_without_gpus(), (FreeTotals{5, 6, 0, 0}));
}

Move part_of_first_gpu(std::size_t sharer, std::int32_t milli) {
  const PodRequest request{.gpus = 1, .gpu_milli = milli, .sharer = SharerId(sharer)};
  return {.request = request, .node = NodeId(0), .gpus = GpuSet::from_bits(1)};
}

TEST(Ledger, KnowsWhoHasAPartOfAGpu) {
  Ledger ledger;
  ledger.add(gpu_node(2));
  introduce_sharers(ledger);
  const Ledger before = ledger;
  using There = std::vector<Occupant>;
  const auto there = [&] { return ledger.occupants(NodeId(0), 0); };
  ledger.apply(part_of_first_gpu(1, 250));
  ledger.apply(part_of_first_gpu(1, 250));
  EXPECT_EQ(there(), There({{SharerId(1), 2}}));
  EXPECT_EQ(ledger.occupants(NodeId(0), 1), There());
  ledger.apply(part_of_first_gpu(2, 250));
  ledger.apply(part_of_first_gpu(0, 250));
  EXPECT_EQ(there(), There({{SharerId(0), 1}, {SharerId(1), 2}, {SharerId(2), 1}}));
  EXPECT_FALSE(ledger.is_at_peace({NodeId(0), 0}));
  EXPECT_EQ(ledger.shared_devices(), std::vector<Device>({{NodeId(0), 0}}));
  ledger.apply(inverse(part_of_first_gpu(0, 250)));
  EXPECT_EQ(there(), There({{SharerId(1), 2}, {SharerId(2), 1}}));
  EXPECT_TRUE(ledger.is_at_peace({NodeId(0), 0}));
  for (const std::size_t sharer : {1u, 2u, 1u}) ledger.apply(inverse(part_of_first_gpu(sharer, 250)));
  EXPECT_EQ(there(), There());
  EXPECT_TRUE(ledger.same_as(before));
}

// The two at the ends do not trust each other; the one between them trusts both.
TEST(Ledger, WhatSomebodyLeavesGoesWithTheLastWhoIsThere) {
  Ledger ledger;
  ledger.add(gpu_node(1));
  introduce_sharers(ledger);
  const auto may_join = [&](std::size_t sharer) {
    return ledger.may_join(NodeId(0), 0, part_of_first_gpu(sharer, 100).request);
  };
  ledger.apply(part_of_first_gpu(0, 250));
  EXPECT_FALSE(may_join(2));
  ledger.apply(part_of_first_gpu(1, 250));
  EXPECT_FALSE(may_join(2));
  EXPECT_TRUE(ledger.depart(inverse(part_of_first_gpu(0, 250)), Emptied::kIsToBeScrubbed).size() == 1);
  EXPECT_EQ(ledger.residue(NodeId(0), 0), std::vector<QueueId>({QueueId(0)}));
  EXPECT_FALSE(may_join(2)) << "what the first left is still there";
  EXPECT_TRUE(may_join(0));
  EXPECT_TRUE(may_join(1));
  const std::vector<Residue> before = ledger.depart(inverse(part_of_first_gpu(1, 250)), Emptied::kIsToBeScrubbed);
  EXPECT_TRUE(may_join(2));
  EXPECT_EQ(ledger.residue(NodeId(0), 0), std::vector<QueueId>());
  ASSERT_EQ(before.size(), 1u);
  ledger.restore(before[0]);
  EXPECT_FALSE(may_join(2));
}

// Who keeps scores of nodes hears of what is scrubbed, and of what is dirty again, though nobody comes or goes.
TEST(Ledger, WhatIsCleanAndWhatIsNotIsNews) {
  Ledger ledger;
  Node bare;
  for (const Node& each : {bare, gpu_node(1), bare, gpu_node(1), bare}) ledger.add(each);
  introduce_sharers(ledger);
  ledger.set_scrubs(true);
  ledger.add_residue({NodeId(3), 0}, QueueId(0));
  const auto changed_by = [&](auto change) {
    const std::uint64_t since = ledger.next_change();
    change();
    std::vector<NodeId> nodes;
    ledger.for_each_changed_since(since, [&](NodeId node) { nodes.push_back(node); });
    return nodes;
  };
  Residue before;
  EXPECT_EQ(changed_by([&] { before = ledger.scrub({NodeId(3), 0}); }), std::vector<NodeId>{NodeId(3)});
  EXPECT_EQ(changed_by([&] { ledger.restore(before); }), std::vector<NodeId>{NodeId(3)});
  EXPECT_EQ(ledger.residue(NodeId(3), 0), std::vector<QueueId>{QueueId(0)});
  EXPECT_EQ(changed_by([&] { ledger.clean({NodeId(3), 0}); }), std::vector<NodeId>{NodeId(3)});
}

TEST(Ledger, WhoHadRoomAndNeverCameLeavesNothing) {
  for (const bool scrubs : {false, true}) {
    Ledger ledger;
    ledger.add(gpu_node(1));
    introduce_sharers(ledger);
    ledger.set_scrubs(scrubs);
    for (const std::size_t sharer : {0u, 0u, 1u}) ledger.apply(part_of_first_gpu(sharer, 250));
    const auto residue = [&] { return ledger.residue(NodeId(0), 0); };
    const std::vector<QueueId> of_first = {QueueId(0)};
    ledger.add_residue({NodeId(0), 0}, QueueId(0));
    ledger.add_residue({NodeId(0), 0}, QueueId(0));
    EXPECT_EQ(residue(), of_first);
    ledger.withdraw(inverse(part_of_first_gpu(0, 250)));
    ledger.withdraw(inverse(part_of_first_gpu(0, 250)));
    EXPECT_EQ(residue(), of_first) << "somebody has room there";
    ledger.withdraw(inverse(part_of_first_gpu(1, 250)));
    EXPECT_EQ(residue(), scrubs ? of_first : std::vector<QueueId>());
  }
}

TEST(Ledger, AReplicaTakesWhatItsNodeSays) {
  Node node = gpu_node(1);
  node.sharing = Sharing::kTimeslice;
  node.replicas = 3;
  Ledger ledger;
  ledger.add(node);
  const PodRequest replica{.gpus = 1, .gpu_milli = 1000, .sharing = Sharing::kTimeslice};
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(room_for(ledger, NodeId(0), replica), 4 - i);
    ledger.apply({.request = replica, .node = NodeId(0), .gpus = GpuSet::from_bits(1)});
    EXPECT_EQ(ledger.gpu_milli(NodeId(0))[0], 1000 - i * 333);
    EXPECT_EQ(ledger.gpu_memory_mib(NodeId(0))[0], 1000);
  }
  EXPECT_EQ(room_for(ledger, NodeId(0), replica), 0);
}

TEST(Ledger, ANodeIsWhatTheFirstAsksUntilTheLastHasLeft) {
  Node node = gpu_node(2);
  node.other_modes = SharingSet::of(Sharing::kMps);
  Ledger ledger;
  ledger.add(node);
  const PodRequest gpu{.gpus = 1, .gpu_milli = 1000};
  const PodRequest share{.gpus = 1, .gpu_milli = 250, .sharing = Sharing::kMps};
  const auto rooms = [&] { return std::pair(room_for(ledger, NodeId(0), gpu), room_for(ledger, NodeId(0), share)); };
  const auto on = [](const PodRequest& request, std::uint64_t gpus) {
    return Move{.request = request, .node = NodeId(0), .gpus = GpuSet::from_bits(gpus)};
  };
  EXPECT_EQ(rooms(), std::pair(2L, 8L));
  ledger.apply(on(share, 1));
  EXPECT_EQ(rooms(), std::pair(0L, 7L));
  ledger.apply(on(share, 2));
  ledger.apply(inverse(on(share, 1)));
  EXPECT_EQ(rooms(), std::pair(0L, 7L)) << "one is there still";
  ledger.apply(inverse(on(share, 2)));
  EXPECT_EQ(rooms(), std::pair(2L, 8L));
  ledger.apply(on(gpu, 1));
  EXPECT_EQ(rooms(), std::pair(1L, 0L));
  ledger.apply({.request = {.cpu_milli = 1}, .node = NodeId(0), .gpus = {}});
  ledger.apply(inverse(on(gpu, 1)));
  EXPECT_EQ(rooms(), std::pair(2L, 8L)) << "who has no GPU decides nothing";
}

TEST(Ledger, AMoveTakesWhatIsAskedAndTheInverseGivesItBack) {
  struct Case {
    const char* what;
    PodRequest request;
    std::uint64_t gpus;
    NodeFree left;
    std::size_t kind;
  };
  const auto left = [](std::int64_t cpu, std::int64_t memory, int gpu_milli, int whole, int largest) {
    NodeFree free;
    free.cpu_milli = cpu;
    free.memory_bytes = memory;
    free.gpu_memory_mib = 1000;
    free.pods = kPodsUnbounded - 1;
    free.gpu_milli = gpu_milli;
    free.whole_gpus = static_cast<std::int16_t>(whole);
    free.largest_gpu_milli = static_cast<std::int16_t>(largest);
    free.gpus = 2;
    return free;
  };
  const Case cases[] = {
      {"no GPU", {.cpu_milli = 1000, .memory_bytes = 10}, 0, left(9000, 90, 2000, 2, 1000), 0},
      {"a fraction", {.gpus = 1, .gpu_milli = 300}, 2, left(10'000, 100, 1700, 1, 1000), 0},
      {"one GPU", {.cpu_milli = 1, .gpus = 1, .gpu_milli = 1000}, 1, left(9999, 100, 1000, 1, 1000), 1},
      {"all GPUs", {.gpus = 2, .gpu_milli = 1000}, 3, left(10'000, 100, 0, 0, 0), 2},
  };
  for (const Case& c : cases) {
    Ledger ledger;
    ledger.add(gpu_node(2));
    const Ledger before = ledger;
    const Move move{.request = c.request, .node = NodeId(0), .gpus = GpuSet::from_bits(c.gpus)};
    ledger.apply(move);
    EXPECT_EQ(ledger.node(NodeId(0)), c.left) << c.what;
    EXPECT_EQ(ledger.kinds(NodeId(0))[c.kind], c.request.gpus > 0 ? 1 : 0) << c.what;
    EXPECT_EQ(ledger.totals(FlavorId(0)),
              (FreeTotals{c.left.cpu_milli, c.left.memory_bytes, c.left.gpu_milli, c.left.whole_gpus}))
        << c.what;
    ledger.apply(inverse(move));
    EXPECT_TRUE(ledger.same_as(before)) << c.what;
  }
}

TEST(Ledger, AFractionTakesItsShareOfTheMemoryUnlessItNamesAnAmount) {
  struct Case {
    std::int64_t asked_mib;
    std::int32_t milli;
    std::int64_t device_mib;
    std::int64_t taken_mib;
  };
  const Case cases[] = {
      {0, 500, 1000, 500},   {0, 333, 1000, 333},   {0, 1, 999, 0}, {700, 100, 1000, 700},
      {0, 1000, 1000, 1000}, {5, 1000, 1000, 1000}, {0, 500, 0, 0},
  };
  for (const Case& c : cases) {
    const PodRequest request{.gpus = 1, .gpu_milli = c.milli, .gpu_memory_mib = c.asked_mib};
    EXPECT_EQ(gpu_memory_taken(request, c.device_mib), c.taken_mib) << c.asked_mib << " " << c.milli;
  }
}

TEST(Ledger, AClosedNodeCountsInNoTotal) {
  Ledger ledger;
  ledger.add(gpu_node(2));
  ledger.add(gpu_node(2));
  const Ledger before = ledger;
  ledger.set_open(NodeId(0), false);
  EXPECT_EQ(ledger.totals(FlavorId(0)), (FreeTotals{10'000, 100, 2000, 2}));
  const Move move{.request = {.gpus = 1, .gpu_milli = 1000}, .node = NodeId(0), .gpus = GpuSet::from_bits(1)};
  ledger.apply(move);
  EXPECT_EQ(ledger.totals(FlavorId(0)), (FreeTotals{10'000, 100, 2000, 2}));
  ledger.set_open(NodeId(0), true);
  EXPECT_EQ(ledger.totals(FlavorId(0)), (FreeTotals{20'000, 200, 3000, 3}));
  ledger.apply(inverse(move));
  EXPECT_TRUE(ledger.same_as(before));
}

TEST(LedgerDeathTest, NeverGivesOutWhatItHasNot) {
  Node node = gpu_node(2);
  node.pods_max = 9;
  const auto move = [](PodRequest request, std::uint64_t gpus) {
    return Move{.request = request, .node = NodeId(0), .gpus = GpuSet::from_bits(gpus)};
  };
  const Move moves[] = {
      move({.cpu_milli = 10'001}, 0),          move({.memory_bytes = 101}, 0),
      move({.gpus = 1, .gpu_milli = 1000}, 0), move({.gpus = 1, .gpu_milli = 1000}, 3),
      move({.gpus = 1, .gpu_milli = 1000}, 4), inverse(move({.gpus = 1, .gpu_milli = 1}, 1)),
  };
  for (const Move& wrong : moves) {
    Ledger ledger;
    ledger.add(node);
    EXPECT_DEATH(ledger.apply(wrong), "internal error");
  }
  Ledger ledger;
  ledger.add(node);
  ledger.apply(move({.gpus = 1, .gpu_milli = 600}, 1));
  EXPECT_DEATH(ledger.apply(move({.gpus = 1, .gpu_milli = 600}, 1)), "internal error");
  EXPECT_DEATH(ledger.apply(move({.gpus = 1, .gpu_milli = 1, .gpu_memory_mib = 401}, 1)), "internal error");
}

TEST(Ledger, BestEffortHasWhatIsExtraFirstAndOfTheNodesOwnWhatIsBeyond) {
  const Node node{.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 100, .extra = {50, 0}};
  struct Case {
    const char* what;
    std::int64_t counts, best_effort;
    std::int64_t free, extra;
  };
  const Case cases[] = {
      {"nothing", 0, 0, 100, 50},
      {"within the extra", 0, 30, 100, 20},
      {"all of it", 60, 50, 40, 0},
      {"and more", 60, 70, 20, -20},
      {"all that was promised", 60, 90, 0, -40},
      {"that and all that there is", 100, 50, 0, 0},
  };
  for (const Case& c : cases) {
    for (const bool first : {false, true}) {
      Ledger ledger;
      ledger.add(node);
      for (const bool in_extra : {first, !first}) {
        const PodRequest request{.cpu_milli = in_extra ? c.best_effort : c.counts, .in_extra = in_extra};
        ledger.apply({.request = request, .node = NodeId(0), .gpus = {}});
      }
      EXPECT_EQ(ledger.node(NodeId(0)).cpu_milli, c.free) << c.what;
      EXPECT_EQ(ledger.extra(NodeId(0)).all.cpu_milli, c.extra) << c.what;
      EXPECT_EQ(ledger.rest(NodeId(0)).cpu_milli, c.free) << c.what;
    }
  }
}

TEST(LedgerProperty, WhateverWasTakenGivingItBackRestoresItBitForBit) {
  for (const Seed seed : property_seeds(200)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Ledger ledger;
    for (const Node& node : random_nodes(rng, 3, 1, 10)) add_to_ledger(ledger, node);
    crowd(ledger, rng, 3, 20);
    const Ledger before = ledger;
    Hasher hash_before;
    before.add_to(hash_before);
    std::vector<bool> open;
    for (std::size_t i = 0; i < ledger.nodes(); ++i) open.push_back(ledger.node(NodeId(i)).open);
    std::vector<Move> moves = crowd(ledger, rng, 3, 60);
    rng.shuffle(std::span(moves));
    for (const Move& move : moves) ledger.apply(inverse(move));
    for (std::size_t i = 0; i < open.size(); ++i) ledger.set_open(NodeId(i), open[i]);
    ASSERT_TRUE(ledger.same_as(before));
    Hasher hash_after;
    ledger.add_to(hash_after);
    ASSERT_EQ(hash_after.digest(), hash_before.digest());
  }
}

// A reader who follows the list of changes and looks again where it says so knows every node.
TEST(LedgerProperty, TheListOfChangesNamesEveryNodeThatChanged) {
  for (const Seed seed : property_seeds(20)) {
    SCOPED_TRACE(name_of(seed));
    Rng rng(seed);
    Ledger ledger;
    std::vector<NodeFree> known;
    std::uint64_t read_to = 0;
    std::vector<Move> moves;
    for (int round = 0; round < 60; ++round) {
      if (rng.below(4) == 0 || ledger.nodes() == 0) add_to_ledger(ledger, random_node(rng, 3));
      for (std::int64_t i = rng.between(0, 100); i > 0; --i) {
        for (const Move& move : crowd(ledger, rng, 3, 2)) moves.push_back(move);
        if (moves.empty()) continue;
        std::swap(moves[static_cast<std::size_t>(rng.below(moves.size()))], moves.back());
        ledger.apply(inverse(moves.back()));
        moves.pop_back();
      }
      for (std::int64_t i = rng.between(100, 300); i > 0; --i) {
        const NodeId node(static_cast<std::size_t>(rng.below(ledger.nodes())));
        ledger.set_open(node, !ledger.node(node).open);
      }
      std::map<NodeId, int> named;
      known.resize(ledger.nodes());
      // Now and then nobody reads for a while, over some cuts of the list.
      if (round % 20 > 12) continue;
      ledger.for_each_changed_since(read_to, [&](NodeId node) {
        ++named[node];
        known[node.index()] = ledger.node(node);
      });
      read_to = ledger.next_change();
      for (const auto& [node, times] : named) ASSERT_EQ(times, 1) << "a node is named once";
      for (std::size_t i = 0; i < ledger.nodes(); ++i) ASSERT_EQ(known[i], ledger.node(NodeId(i)));
    }
    ASSERT_GT(ledger.next_change(), 2 * 4096u) << "the list was never cut";
  }
}

}  // namespace berth::ledger_test
