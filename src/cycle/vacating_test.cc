#include "cycle/vacating.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "state/random_world.h"

namespace berth::vacating_test {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

struct Pods {
  std::size_t node = 0;
  std::uint64_t gpus = 0;  // as bits: these devices
  std::int64_t cpu = 0;
  std::int64_t memory_gi = 0;
  bool best_effort = false;
};

// Two nodes of 8 GPUs, 10 CPUs, 100 GiB and 4 pods each.
class World {
 public:
  explicit World(const HostAmounts& extra = {}) {
    state_.apply(QueueAdded{{.name = "q", .parent = QueueId(), .order = Order::kFifo}});
    for (int i = 0; i < 2; ++i) {
      const Node node{.name = "n",
                      .flavor = FlavorId(0),
                      .gpus = 8,
                      .cpu_milli = 10'000,
                      .memory_bytes = 100 * kGi,
                      .pods_max = 4,
                      .extra = extra};
      state_.apply(NodesAdded{{node}});
    }
  }

  const State& state() const { return state_; }

  WorkloadId run(const Pods& pods) {
    const WorkloadId id = state_.workloads().next_id();
    state_.apply(WorkloadFound{asking(pods), {place(pods)}, Time{}});
    return id;
  }
  WorkloadId stop(const Pods& pods) {
    const WorkloadId id = run(pods);
    state_.apply(LeavingFound{id, Time{60'000}});
    return id;
  }
  // It is given room, which it waits for or not.
  WorkloadId start(const Pods& pods, bool waits) {
    const Start decision = submitted(pods, waits);
    state_.adopt({.now = Time{0}, .revision = state_.revision(), .starts = {decision}});
    return decision.workload;
  }
  // As a cycle does who takes its room from it.
  void take_out(WorkloadId id) {
    for_each_pod(state_, id, [&](const Pod& pod) {
      state_.ledger_for_trial().apply(move_of(state_.request(pod.request), pod.place(), Move::Direction::kGive));
    });
  }
  // As a cycle gives it: the room is taken, and the state does not know yet.
  Start decide(const Pods& pods) {
    const Start decision = submitted(pods, true);
    const NumberedPodSet& set = state_.shape(state_.workload(decision.workload).shape).ways[0][0];
    state_.ledger_for_trial().apply({state_.request(set.request), NodeId(pods.node), GpuSet::from_bits(pods.gpus)});
    return decision;
  }

 private:
  static WorkloadSubmitted asking(const Pods& pods) {
    const auto gpus = static_cast<std::int32_t>(GpuSet::from_bits(pods.gpus).size());
    WorkloadShape shape = single_pod({.cpu_milli = pods.cpu * 1000,
                                      .memory_bytes = pods.memory_gi * kGi,
                                      .gpus = gpus,
                                      .gpu_milli = gpus > 0 ? kMilliPerGpu : 0,
                                      .flavors = FlavorSet::all()});
    shape.terms.best_effort = pods.best_effort;
    if (pods.best_effort) offer_extra(shape);
    return submission(QueueId(0), shape);
  }
  static PodPlacement place(const Pods& pods) { return {NodeId(pods.node), GpuSet::from_bits(pods.gpus)}; }
  Start submitted(const Pods& pods, bool waits) {
    const WorkloadId id = state_.workloads().next_id();
    state_.apply(asking(pods));
    return {.workload = id, .pods = {place(pods)}, .waits = waits};
  }

  State state_ = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {});
};

// Those who leave, those who have been given room before and wait, those who run; and whether one more has to wait.
TEST(Vacating, HoldsUpWhoeverHasRoomThatOthersHaveYetToLeave) {
  struct Case {
    const char* what;
    std::vector<Pods> runs;
    std::vector<Pods> leaves;
    std::vector<Pods> comes;
    Pods one;
    bool held_up;
  };
  const Case cases[] = {
      {"nobody leaves", {{0, 0x0f, 9, 90}}, {}, {}, {0, 0xf0, 1, 10}, false},
      {"they are on its devices", {}, {{0, 0xff, 1, 1}}, {}, {0, 0x0f, 1, 1}, true},
      {"on one of them", {}, {{0, 0x18, 1, 1}}, {}, {0, 0x0f, 1, 1}, true},
      {"on other devices", {}, {{0, 0xf0, 1, 1}}, {}, {0, 0x0f, 1, 1}, false},
      {"on another node", {}, {{1, 0xff, 9, 90}}, {}, {0, 0xff, 9, 90}, false},
      {"CPUs: enough for both", {}, {{0, 0xf0, 5, 1}}, {}, {0, 0x0f, 5, 1}, false},
      {"CPUs: not enough for both", {}, {{0, 0xf0, 6, 1}}, {}, {0, 0x0f, 5, 1}, true},
      {"memory: enough for both", {}, {{0, 0xf0, 1, 40}}, {}, {0, 0x0f, 1, 60}, false},
      {"memory: not enough for both", {}, {{0, 0xf0, 1, 41}}, {}, {0, 0x0f, 1, 60}, true},
      {"with those who run it is too much", {{0, 0, 4, 1}}, {{0, 0xf0, 3, 1}}, {}, {0, 0x0f, 4, 1}, true},
      {"pods: enough for all", {{0}, {0}}, {{0, 0xf0}}, {}, {0, 0x0f}, false},
      {"pods: one too many", {{0}, {0}}, {{0, 0xf0}, {0, 0}}, {}, {0, 0x0f}, true},
      {"two who leave count together", {}, {{0, 0x30, 3, 1}, {0, 0xc0, 3, 1}}, {}, {0, 0x0f, 5, 1}, true},
      {"who is not there yet needs nothing", {}, {{0, 0xf0, 5, 1}}, {{0, 0xf0, 5, 1}}, {0, 0x0f, 5, 1}, false},
      {"and does not make room", {}, {{0, 0xf0, 6, 1}}, {{0, 0xf0, 5, 1}}, {0, 0x0f, 5, 1}, true},
      {"who comes elsewhere does not count", {}, {{0, 0xf0, 6, 1}}, {{1, 0xf0, 6, 1}}, {0, 0x0f, 5, 1}, true},
  };
  for (const Case& c : cases) {
    for (const bool decided_now : {false, true}) {
      World world;
      for (const Pods& each : c.runs) world.run(each);
      for (const Pods& each : c.leaves) world.stop(each);
      for (const Pods& each : c.comes) world.start(each, true);
      if (decided_now) {
        const Start start = world.decide(c.one);
        EXPECT_EQ(Vacating(world.state()).holds_up(world.state(), start), c.held_up) << c.what << ", decided now";
      } else {
        const WorkloadId id = world.start(c.one, true);
        EXPECT_EQ(Vacating(world.state()).holds_up(world.state(), id), c.held_up) << c.what;
      }
    }
  }
}

// CPUs and memory are promised one and a half times.
TEST(Vacating, OfWhatIsPromisedMoreThanOnceMemoryAloneIsWaitedForByWhoCounts) {
  constexpr bool kBestEffort = true;
  struct Case {
    const char* what;
    std::vector<Pods> runs, leaves, comes;
    Pods one;
    bool held_up;
  };
  const Case cases[] = {
      {"CPUs, for who counts", {}, {{0, 0, 10, 1, kBestEffort}, {0, 0, 5, 1, kBestEffort}}, {}, {0, 0, 10, 1}, false},
      {"for best effort: enough for both", {}, {{0, 0, 10, 1, kBestEffort}}, {}, {0, 0, 5, 1, kBestEffort}, false},
      {"for best effort: too few", {}, {{0, 0, 10, 1, kBestEffort}}, {}, {0, 0, 6, 1, kBestEffort}, true},
      {"that another who counts leaves", {}, {{0, 0, 6, 1}}, {}, {0, 0, 5, 1}, true},
      {"enough for both, whatever best effort has",
       {{0, 0, 10, 1, kBestEffort}},
       {{0, 0, 5, 1}},
       {},
       {0, 0, 5, 1},
       false},
      {"too few for both, whatever best effort leaves",
       {},
       {{0, 0, 6, 1}, {0, 0, 5, 1, kBestEffort}},
       {},
       {0, 0, 5, 1},
       true},
      {"who of best effort is yet to come has none",
       {},
       {{0, 0, 5, 1}},
       {{0, 0, 10, 1, kBestEffort}},
       {0, 0, 5, 1},
       false},
      {"memory: enough for both", {}, {{0, 0, 1, 100, kBestEffort}}, {}, {0, 0, 1, 50}, false},
      {"memory: too little for both", {}, {{0, 0, 1, 100, kBestEffort}}, {}, {0, 0, 1, 51}, true},
  };
  for (const Case& c : cases) {
    World world({5'000, 50 * kGi});
    for (const Pods& each : c.runs) world.run(each);
    for (const Pods& each : c.leaves) world.stop(each);
    for (const Pods& each : c.comes) world.start(each, true);
    const WorkloadId id = world.start(c.one, true);
    EXPECT_EQ(Vacating(world.state()).holds_up(world.state(), id), c.held_up) << c.what;
  }
}

TEST(Vacating, LearnsWhoIsToldToStopInThisCycle) {
  World world;
  const WorkloadId leaves = world.run({0, 0xf0, 6, 1});
  Vacating vacating(world.state());
  const Start start = world.decide({0, 0x0f, 4, 1});
  EXPECT_FALSE(vacating.holds_up(world.state(), start));
  vacating.leaves(world.state(), leaves, false);
  world.take_out(leaves);
  const Start other = world.decide({0, 0, 4, 1});
  EXPECT_TRUE(vacating.holds_up(world.state(), other));
}

// Of two who were given what one leaves, one may begin beside him; the other then has to wait for him.
TEST(Vacating, WhoBeginsIsThereFromThenOn) {
  World world;
  world.stop({0, 0xc0, 2, 1});
  const WorkloadId first = world.start({0, 0x03, 5, 1}, true);
  const WorkloadId second = world.start({0, 0x0c, 5, 1}, true);
  Vacating vacating(world.state());
  EXPECT_FALSE(vacating.holds_up(world.state(), first));
  EXPECT_FALSE(vacating.holds_up(world.state(), second));
  vacating.begins(first);
  EXPECT_TRUE(vacating.holds_up(world.state(), second));
}

TEST(Vacating, WhoIsGivenRoomInThisCycleIsNotThereYet) {
  for (const bool waits : {false, true}) {
    World world;
    world.stop({0, 0xc0, 2, 1});
    Vacating vacating(world.state());
    const Start first = world.decide({0, 0x03, 5, 1});
    if (waits) vacating.waits(world.state(), first);
    const Start second = world.decide({0, 0x0c, 5, 1});
    EXPECT_EQ(vacating.holds_up(world.state(), second), !waits);
  }
}

}  // namespace berth::vacating_test
