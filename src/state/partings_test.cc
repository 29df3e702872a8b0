// Which pairs have to part, and by when (docs/semantics.md, rule 29).
#include "state/partings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "state/invariants.h"
#include "state/random_world.h"
#include "state/state.h"

namespace berth::partings_test {

constexpr Time kSoon{10};
constexpr Time kLater{20};

TEST(Partings, EachOfTwoKnowsTheOtherAndTheFirstTimeStays) {
  Partings partings;
  partings.add(WorkloadId(1), WorkloadId(2), kLater);
  partings.add(WorkloadId(2), WorkloadId(1), kSoon);
  partings.add(WorkloadId(1), WorkloadId(3), kForever);
  EXPECT_EQ(partings.by(WorkloadId(1), WorkloadId(2)), kLater);
  EXPECT_EQ(partings.by(WorkloadId(2), WorkloadId(1)), kLater);
  EXPECT_EQ(partings.by(WorkloadId(1), WorkloadId(3)), kForever);
  EXPECT_EQ(partings.all().size(), 2U);
}

TEST(Partings, TheNextTimeIsTheFirstThatIsNotOver) {
  Partings partings;
  EXPECT_EQ(partings.next_after(Time{0}), kForever);
  partings.add(WorkloadId(1), WorkloadId(2), kLater);
  partings.add(WorkloadId(1), WorkloadId(3), kSoon);
  EXPECT_EQ(partings.next_after(Time{9}), kSoon);
  EXPECT_EQ(partings.next_after(kSoon), kLater);
  EXPECT_EQ(partings.next_after(kLater), kForever);
}

TEST(Partings, WhoLeavesIsForgottenByAllAndACopyKnowsHimStill) {
  Partings partings;
  partings.add(WorkloadId(1), WorkloadId(2), kSoon);
  partings.add(WorkloadId(1), WorkloadId(3), kSoon);
  partings.add(WorkloadId(2), WorkloadId(3), kLater);
  const Partings before = partings;
  partings.remove(WorkloadId(1));
  EXPECT_EQ(partings.by(WorkloadId(2), WorkloadId(1)), kForever);
  EXPECT_EQ(partings.by(WorkloadId(2), WorkloadId(3)), kLater);
  partings.remove(WorkloadId(3), WorkloadId(2));
  EXPECT_TRUE(partings.none());
  EXPECT_EQ(before.all().size(), 3U);
}

Apart whole_gpus_by(const std::string& level) {
  Apart apart;
  apart[static_cast<std::size_t>(Sharing::kExclusive)] = level;
  return apart;
}

// Tenants 0, 1 and 2, and three nodes of four GPUs, the first two in rack r1, the last in r2.
class PartingWorld : public testing::Test {
 protected:
  PartingWorld() {
    state_ = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo, Order::kFifo, Order::kFifo});
    state_.apply(TrustChanged{{}, Time{}, true});
    // The order of nodes is drawn when they come.
    for (const char* const rack : {"r1", "r1", "r2"}) {
      Node node{.name = "node", .flavor = FlavorId(0), .gpus = 4, .cpu_milli = 64'000};
      node.labels = {{"rack", rack}};
      state_.apply(NodesAdded{{node}});
    }
  }

  // Each place is a node and one of its GPUs.
  WorkloadId find(std::size_t tenant, const std::vector<std::pair<std::size_t, int>>& places, std::int32_t milli = 1000,
                  bool elastic = false) {
    const WorkloadId id = state_.workloads().next_id();
    WorkloadShape shape{{{{{.gpus = 1, .gpu_milli = milli}, std::ssize(places)}}}};
    shape.terms.movable = !elastic;
    std::vector<PodPlacement> pods;
    for (const auto& [node, gpu] : places) pods.push_back({NodeId(node), GpuSet::from_bits(std::uint64_t{1} << gpu)});
    state_.apply(WorkloadFound{submission(QueueId(tenant), shape), pods, Time{}});
    return id;
  }

  static Circle circle(std::size_t a, std::size_t b) { return {.queues = {QueueId(a), QueueId(b)}}; }
  void trust(std::vector<Circle> circles, Time by, const std::string& level = "") {
    if (!level.empty()) circles.push_back({.queues = {}, .apart = whole_gpus_by(level)});
    state_.apply(TrustChanged{std::move(circles), by, true});
    EXPECT_EQ(violations(state_), std::vector<std::string>());
  }
  void relabel(std::size_t node, const std::string& rack) {
    state_.apply(NodeRelabelled{NodeId(node), {{"rack", rack}}, {}, false});
    EXPECT_EQ(violations(state_), std::vector<std::string>());
  }
  Time by(WorkloadId a, WorkloadId b) const { return state_.partings().by(a, b); }

  State state_;
};

TEST_F(PartingWorld, WhomOthersPutAmongStrangersIsLeftAloneWhileAnotherThereHasToPart) {
  trust({circle(0, 2), circle(1, 2)}, Time{});
  const WorkloadId a = find(0, {{0, 0}}, 300);
  const WorkloadId b = find(1, {{0, 0}}, 300);
  const WorkloadId c = find(2, {{0, 0}}, 300);
  EXPECT_TRUE(state_.partings().none());
  trust({circle(1, 2)}, kSoon);
  EXPECT_EQ(by(a, b), kForever);
  EXPECT_EQ(by(a, c), kSoon);
  trust({}, kLater);
  EXPECT_EQ(by(a, b), kForever);
  EXPECT_EQ(by(a, c), kSoon);
  EXPECT_EQ(by(c, b), kLater);
}

TEST_F(PartingWorld, FriendsAgainInTimeAndStrangersOnceMoreHaveTheNewTime) {
  trust({circle(0, 1)}, Time{});
  const WorkloadId a = find(0, {{0, 0}}, 500);
  const WorkloadId b = find(1, {{0, 0}}, 500);
  trust({}, kSoon);
  trust({circle(0, 1)}, kSoon);
  EXPECT_TRUE(state_.partings().none());
  trust({}, kLater);
  EXPECT_EQ(by(a, b), kLater);
}

TEST_F(PartingWorld, ASecondReasonMovesNoTimeButGivesOneToWhomLabelsBroughtNear) {
  trust({}, Time{}, "rack");
  const WorkloadId a = find(0, {{0, 0}});
  const WorkloadId far = find(1, {{2, 0}});
  relabel(2, "r1");
  EXPECT_TRUE(state_.partings().none());
  const WorkloadId b = find(1, {{1, 0}});
  EXPECT_TRUE(state_.partings().none()) << "found so";
  // Nearer, and then as far as before: another change made strangers of those of one rack.
  trust({}, kSoon, "node");
  EXPECT_TRUE(state_.partings().none()) << "on different nodes";
  trust({}, kLater, "rack");
  EXPECT_EQ(by(a, far), kLater);
  EXPECT_EQ(by(a, b), kLater);
  // The level has another number now, and the same name.
  std::vector<Circle> more{{.queues = {QueueId(2)}, .apart = whole_gpus_by("zone")}};
  trust(more, kSoon, "rack");
  EXPECT_EQ(by(a, far), kLater);
}

TEST_F(PartingWorld, ALevelThatGetsAnotherNumberIsNoNewReason) {
  trust({}, Time{}, "rack");
  const WorkloadId a = find(0, {{0, 0}});
  const WorkloadId b = find(1, {{1, 0}});
  trust({{.queues = {QueueId(2)}, .apart = whole_gpus_by("zone")}}, kSoon, "rack");
  EXPECT_EQ(by(a, b), kForever);
  trust({}, kSoon, "zone");
  trust({}, kSoon, "rack");
  EXPECT_EQ(by(a, b), kSoon);
}

TEST_F(PartingWorld, ANodeThatLeavesTheRackEndsTheMatterForGood) {
  const WorkloadId a = find(0, {{0, 0}});
  const WorkloadId b = find(1, {{1, 0}});
  const WorkloadId c = find(2, {{1, 1}});
  trust({}, kSoon, "rack");
  relabel(2, "r1");
  EXPECT_EQ(by(a, b), kSoon);
  relabel(1, "r3");
  EXPECT_EQ(by(a, b), kForever);
  EXPECT_EQ(by(b, c), kSoon);
  relabel(1, "r1");
  EXPECT_EQ(by(a, b), kForever);
  trust({}, kLater, "rack");
  EXPECT_EQ(by(a, b), kForever);
  EXPECT_EQ(by(b, c), kSoon);
}

TEST_F(PartingWorld, AGangHasToPartAsLongAsOneOfItsPodsIsNear) {
  const WorkloadId gang = find(0, {{0, 0}, {1, 0}, {2, 0}});
  const WorkloadId a = find(1, {{0, 1}});
  const WorkloadId b = find(1, {{0, 2}, {1, 2}});
  trust({}, kSoon, "node");
  state_.apply(PodEnded{gang, 0});
  EXPECT_EQ(by(gang, a), kForever);
  EXPECT_EQ(by(gang, b), kSoon);
  EXPECT_EQ(violations(state_), std::vector<std::string>());
  state_.apply(WorkloadEnded{b});
  EXPECT_TRUE(state_.partings().none());
}

TEST_F(PartingWorld, WhoMovesOrIsToldToStopHasPartedFromAll) {
  const WorkloadId a = find(0, {{0, 0}});
  const WorkloadId b = find(1, {{0, 1}});
  const WorkloadId c = find(2, {{0, 2}});
  trust({}, kSoon, "node");
  Plan plan{.now = Time{5}, .revision = state_.revision()};
  plan.migrations.push_back(
      {.start = {.workload = a, .way = 0, .pods = {{NodeId(2), GpuSet::from_bits(1)}}, .waits = true},
       .claimant = {},
       .stop_by = kLater});
  state_.adopt(plan);
  EXPECT_EQ(by(a, b), kForever);
  EXPECT_EQ(by(b, c), kSoon);
  EXPECT_EQ(violations(state_), std::vector<std::string>());
  state_.apply(LeavingFound{c, kLater});
  EXPECT_TRUE(state_.partings().none());
  EXPECT_EQ(violations(state_), std::vector<std::string>());
}

// The strangers of its step are its own where it stands in for one that was lost.
TEST_F(PartingWorld, WhomAStepsPlaceSavesHasToPartFromWhoIsThere) {
  const WorkloadId minimum = find(0, {{0, 0}}, 1000, true);
  WorkloadSubmitted more = submission(QueueId(0), single_pod({.gpus = 1, .gpu_milli = 1000}));
  more.step_of = minimum;
  ASSERT_EQ(state_.refusal(more), std::nullopt);
  const WorkloadId step = state_.workloads().next_id();
  state_.apply(more);
  Plan plan{.now = Time{5}, .revision = state_.revision()};
  plan.starts.push_back({step, 0, {{NodeId(2), GpuSet::from_bits(1)}}});
  state_.adopt(plan);
  const WorkloadId stranger = find(1, {{2, 1}});
  const WorkloadId left = find(1, {{0, 1}, {1, 1}});
  trust({}, kSoon, "node");
  ASSERT_EQ(by(step, stranger), kSoon);
  state_.apply(NodeFailed{NodeId(0)});
  ASSERT_EQ(state_.workload(minimum).phase, Phase::kRunning);
  EXPECT_EQ(by(minimum, stranger), kSoon);
  EXPECT_EQ(by(minimum, left), kForever);
  EXPECT_EQ(violations(state_), std::vector<std::string>());
}

TEST_F(PartingWorld, AForkPartsByItself) {
  const WorkloadId a = find(0, {{0, 0}});
  const WorkloadId b = find(1, {{0, 1}});
  trust({}, kSoon, "node");
  State fork = state_.fork();
  fork.apply(WorkloadEnded{a});
  EXPECT_TRUE(fork.partings().none());
  EXPECT_EQ(by(a, b), kSoon);
}

}  // namespace berth::partings_test
