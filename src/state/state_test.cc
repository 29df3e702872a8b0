#include "state/state.h"

#include <gtest/gtest.h>

#include "state/invariants.h"
#include "state/random_world.h"

namespace berth::state_test {

const PodRequest kOneGpu{.gpus = 1, .gpu_milli = 1000};

Node gpu_node(std::int32_t gpus, std::string name = "") {
  return {.name = std::move(name),
          .flavor = FlavorId(0),
          .gpus = gpus,
          .gpu_memory_mib = 0,
          .cpu_milli = 64'000,
          .memory_bytes = 64};
}

WorkloadShape gang(const PodRequest& request, std::int64_t pods) { return {{{{request, pods}}}}; }

GpuSet gpu(int index) {
  GpuSet gpus;
  gpus.add(index);
  return gpus;
}

void start(State& state, WorkloadId workload, std::vector<PodPlacement> pods, std::vector<Blocked> blocked = {}) {
  Plan plan;
  plan.now = Time{7};
  plan.revision = state.revision();
  if (!pods.empty()) plan.starts.push_back({workload, 0, std::move(pods)});
  plan.blocked = std::move(blocked);
  state.adopt(plan);
}

std::int64_t missing(const State& state, std::size_t shape) { return state.lines()[0]->find(ShapeId(shape))->missing; }

TEST(State, AQueueWithoutAnOrderSharesTheLineOfTheNextOneAboveThatHasOne) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 0, {Order::kFifo});
  state.apply(QueueAdded{{"a/b", QueueId(0), {}}});
  state.apply(QueueAdded{{"a/b/c", QueueId(1), {}}});
  state.apply(QueueAdded{{"a/b/d", QueueId(1), Order::kSjf}});
  EXPECT_EQ(state.line_of(QueueId(2)), QueueId(0));
  EXPECT_EQ(state.line_of(QueueId(3)), QueueId(3));
  state.apply(submission(QueueId(2), single_pod({})));
  EXPECT_EQ(state.lines()[0]->size(), 1u);
  EXPECT_FALSE(state.lines()[2].has_value());
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(State, APodFoundRunningHoldsItsDevicesUntilItEnds) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 2}}});
  state.apply(NodeDrained{NodeId(0)});
  const PodRequest one_gpu{.gpus = 1, .gpu_milli = kMilliPerGpu};
  state.apply(WorkloadFound{submission(QueueId(0), single_pod(one_gpu)), {{NodeId(0), gpu(1)}}, Time{}});
  EXPECT_EQ(state.workload(WorkloadId(0)).phase, Phase::kRunning);
  EXPECT_EQ(state.ledger().gpu_milli(NodeId(0))[0], kMilliPerGpu);
  EXPECT_EQ(state.ledger().gpu_milli(NodeId(0))[1], 0);
  EXPECT_EQ(state.pending(), 0u);
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(WorkloadEnded{WorkloadId(0)});
  EXPECT_EQ(state.ledger().gpu_milli(NodeId(0))[1], kMilliPerGpu);
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

// Told to stop where it was, it holds all that it has elsewhere, whoever of it stops first.
TEST(State, APodOfWhoMigratesMayEndBeforeTheOthers) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 8}}});
  const PodRequest one_gpu{.gpus = 1, .gpu_milli = kMilliPerGpu};
  WorkloadShape shape{{{{one_gpu, 2}}}};
  shape.terms.movable = true;
  const WorkloadId gang(0);
  state.apply(WorkloadFound{submission(QueueId(0), shape), {{NodeId(0), gpu(0)}, {NodeId(0), gpu(1)}}, Time{7}});
  Plan plan{.now = Time{10}, .revision = state.revision()};
  plan.migrations.push_back(
      {.start = {.workload = gang, .way = 0, .pods = {{NodeId(0), gpu(4)}, {NodeId(0), gpu(5)}}, .waits = true},
       .claimant = {},
       .stop_by = Time{40}});
  state.adopt(plan);
  ASSERT_EQ(state.workload(gang).phase, Phase::kMigrating);
  EXPECT_TRUE(state.is_occupied({NodeId(0), 0}));
  EXPECT_EQ(state.refusal(PodEnded{gang, 0}), std::nullopt);
  EXPECT_TRUE(state.refusal(PodEnded{gang, 2}).has_value());
  state.apply(PodEnded{gang, 0});
  EXPECT_FALSE(state.is_occupied({NodeId(0), 0}));
  EXPECT_TRUE(state.is_occupied({NodeId(0), 1}));
  EXPECT_EQ(state.workload(gang).gpu_milli, 2000);
  EXPECT_EQ(violations(state), std::vector<std::string>());
  EXPECT_TRUE(state.refusal(PodEnded{gang, 0}).has_value()) << "the last stops as all do";
  state.apply(WorkloadStopped{gang});
  EXPECT_EQ(state.workload(gang).phase, Phase::kStarting);
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(State, APodOfAFoundGangMayEndAloneAndTheRestIsToldToLeave) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 4}}});
  const PodRequest one_gpu{.gpus = 1, .gpu_milli = kMilliPerGpu};
  const auto used = [&] { return state.quotas().used(QueueId(0))[Dim(FlavorId(0), Resource::kGpu).index()]; };
  const auto free = [&](int gpu) { return state.ledger().gpu_milli(NodeId(0))[static_cast<std::size_t>(gpu)]; };
  const WorkloadId gang(0);
  state.apply(WorkloadFound{submission(QueueId(0), {{{{one_gpu, 3}}}}),
                            {{NodeId(0), gpu(0)}, {NodeId(0), gpu(1)}, {NodeId(0), gpu(2)}},
                            Time{7}});
  EXPECT_EQ(state.workload(gang).started, Time{7});
  EXPECT_EQ(used(), 3000);
  state.apply(PodEnded{gang, 1});
  EXPECT_EQ(used(), 2000);
  EXPECT_EQ(free(1), kMilliPerGpu);
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(LeavingFound{gang, Time{90}});
  EXPECT_EQ(state.workload(gang).phase, Phase::kStopping);
  EXPECT_EQ(state.workload(gang).stop_by, Time{90});
  EXPECT_EQ(used(), 0);
  EXPECT_EQ(free(2), kMilliPerGpu) << "its room is no longer its own";
  state.apply(PodEnded{gang, 0});
  int left = 0;
  for_each_pod(state, gang, [&](const Pod& pod) { left += pod.gpus == gpu(2) ? 1 : 100; });
  EXPECT_EQ(left, 1);
  EXPECT_TRUE(state.refusal(PodEnded{gang, 0}).has_value());
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(WorkloadCancelled{gang});
  EXPECT_TRUE(state.stopping().empty());
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(State, TheKeyOfAWaitingWorkloadFollowsTheOrderOfItsLine) {
  struct Case {
    Order order;
    Duration declared;
    PendingKey key;
  };
  constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
  const Case cases[] = {
      {Order::kFifo, Duration{5}, {0, 77, 0, 0, WorkloadId(0)}},
      {Order::kFifoSkip, Duration{5}, {0, 77, 0, 0, WorkloadId(0)}},
      {Order::kSjf, Duration{5}, {0, 5, 3000, 9, WorkloadId(0)}},
      {Order::kSjf, kRunNotDeclared, {0, kUnknown, 3000, 9, WorkloadId(0)}},
  };
  for (const Case& c : cases) {
    State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {c.order});
    WorkloadSubmitted submitted = submission(QueueId(0), gang(kOneGpu, 3), c.declared);
    submitted.rank = 9;
    submitted.at = Time{77};
    state.apply(submitted);
    EXPECT_EQ(state.key_of(WorkloadId(0)), c.key) << name_of(c.order);
  }
}

TEST(State, AWorkloadGoesThroughItsPhases) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(2)}});
  const Ledger idle = state.ledger();
  for (int i = 0; i < 3; ++i) state.apply(submission(QueueId(0), gang(kOneGpu, 2)));
  EXPECT_EQ(state.pending(), 3u);

  start(state, WorkloadId(0), {{NodeId(0), gpu(0)}, {NodeId(0), gpu(1)}});
  EXPECT_EQ(state.workload(WorkloadId(0)).phase, Phase::kRunning);
  EXPECT_EQ(state.workload(WorkloadId(0)).started, Time{7});
  EXPECT_EQ(state.running(), 1u);
  EXPECT_EQ(state.pending(), 2u);
  EXPECT_EQ(state.ledger().node(NodeId(0)).whole_gpus, 0);
  int pods = 0;
  for_each_pod(state, WorkloadId(0), [&](const Pod& pod) { EXPECT_EQ(pod.gpus, gpu(pods++)); });
  EXPECT_EQ(pods, 2);

  state.apply(WorkloadEnded{WorkloadId(0)});
  EXPECT_EQ(state.workload(WorkloadId(0)).phase, Phase::kEnded);
  EXPECT_TRUE(state.ledger().same_as(idle));

  start(state, WorkloadId(1), {{NodeId(0), gpu(1)}, {NodeId(0), gpu(0)}});
  state.apply(WorkloadCancelled{WorkloadId(1)});
  state.apply(WorkloadCancelled{WorkloadId(2)});
  EXPECT_EQ(state.workload(WorkloadId(1)).phase, Phase::kCancelled);
  EXPECT_EQ(state.running() + state.pending(), 0u);
  EXPECT_TRUE(state.ledger().same_as(idle));
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(State, AFailedNodeTakesWholeGangsDownAndTheyWaitInTheirOldPlace) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(2), gpu_node(2)}});
  state.apply(submission(QueueId(0), gang(kOneGpu, 2)));
  state.apply(submission(QueueId(0), gang(kOneGpu, 1)));
  state.apply(submission(QueueId(0), gang(kOneGpu, 1)));
  start(state, WorkloadId(0), {{NodeId(0), gpu(0)}, {NodeId(1), gpu(0)}});
  start(state, WorkloadId(1), {{NodeId(1), gpu(1)}});
  state.apply(NodeFailed{NodeId(0)});
  EXPECT_EQ(state.workload(WorkloadId(0)).phase, Phase::kPending);
  EXPECT_EQ(state.workload(WorkloadId(0)).evicted_by, EvictionRule::kNode);
  EXPECT_EQ(state.workload(WorkloadId(1)).phase, Phase::kRunning);
  EXPECT_EQ(state.ledger().node(NodeId(1)).whole_gpus, 1) << "what the gang held elsewhere is free again";
  EXPECT_FALSE(state.ledger().node(NodeId(0)).open);
  EXPECT_EQ(state.lines()[0]->heads().front().key.workload, WorkloadId(0));
  state.apply(NodeRestored{NodeId(0)});
  EXPECT_TRUE(state.ledger().node(NodeId(0)).open);
  start(state, WorkloadId(0), {{NodeId(0), gpu(0)}, {NodeId(0), gpu(1)}});
  EXPECT_EQ(state.workload(WorkloadId(0)).attempts, 2u);
  EXPECT_EQ(state.workload(WorkloadId(0)).evicted_by, EvictionRule::kNone);
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(State, ADrainedNodeLetsRunWhatRuns) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(2)}});
  state.apply(submission(QueueId(0), gang(kOneGpu, 1)));
  start(state, WorkloadId(0), {{NodeId(0), gpu(0)}});
  state.apply(NodeDrained{NodeId(0)});
  EXPECT_EQ(state.running(), 1u);
  EXPECT_FALSE(state.ledger().node(NodeId(0)).open);
  state.apply(WorkloadEnded{WorkloadId(0)});
  EXPECT_EQ(state.ledger().node(NodeId(0)).whole_gpus, 2);
  EXPECT_FALSE(state.ledger().node(NodeId(0)).open);
}

TEST(State, WhoWaitsForOthersToLeaveADrainedNodeWaitsAnew) {
  for (const bool other_node : {false, true}) {
    State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
    state.apply(NodesAdded{{gpu_node(2)}});
    state.apply(NodesAdded{{gpu_node(2)}});
    for (const std::int64_t pods : {1, 2, 1}) state.apply(submission(QueueId(0), gang(kOneGpu, pods)));
    const std::vector<PodPlacement> both = {{NodeId(0), gpu(0)}, {NodeId(1), gpu(0)}};
    const std::vector<PodPlacement> second = {{NodeId(1), gpu(1)}};
    start(state, WorkloadId(0), {{NodeId(0), gpu(1)}});
    const Plan plan{.now = Time{5},
                    .revision = state.revision(),
                    .starts = {{.workload = WorkloadId(1), .pods = both, .waits = true},
                               {.workload = WorkloadId(2), .pods = second, .waits = true}}};
    state.adopt(plan);
    state.apply(NodeDrained{NodeId(other_node ? 1u : 0u)});
    EXPECT_EQ(state.workload(WorkloadId(0)).phase, Phase::kRunning);
    EXPECT_EQ(state.workload(WorkloadId(1)).phase, Phase::kPending) << "one of its pods is enough";
    EXPECT_EQ(state.workload(WorkloadId(1)).evicted_by, EvictionRule::kNone) << "it had not begun";
    EXPECT_EQ(state.workload(WorkloadId(2)).phase, other_node ? Phase::kPending : Phase::kStarting);
    EXPECT_EQ(state.ledger().node(NodeId(1)).whole_gpus, other_node ? 2 : 1);
    EXPECT_EQ(violations(state), std::vector<std::string>());
  }
}

// A gang that lacks room for two pods is not tried again before that much may have come free.
TEST(State, ABlockedShapeIsWokenByEnoughRoomForItsOwnPods) {
  struct Case {
    const char* what;
    Event event;
    std::int64_t missing;  // of 3
  };
  const PodRequest small{.gpus = 1, .gpu_milli = 500};
  const Case cases[] = {
      {"one whole GPU comes free", WorkloadEnded{WorkloadId(0)}, 2},
      {"half a GPU is no room", WorkloadEnded{WorkloadId(1)}, 3},
      {"two GPUs are restored", NodeRestored{NodeId(2)}, 1},
      {"a node comes", NodesAdded{{gpu_node(8)}}, 0},
      {"a node without GPUs comes", NodesAdded{{{}}}, 3},
      {"somebody else goes", WorkloadCancelled{WorkloadId(2)}, 3},
  };
  for (const Case& c : cases) {
    State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
    for (int i = 0; i < 3; ++i) state.apply(NodesAdded{{gpu_node(2)}});
    state.apply(submission(QueueId(0), single_pod(kOneGpu)));
    state.apply(submission(QueueId(0), single_pod(small)));
    state.apply(submission(QueueId(0), single_pod(kOneGpu)));
    state.apply(submission(QueueId(0), single_pod(small)));
    state.apply(submission(QueueId(0), gang(kOneGpu, 4)));
    start(state, WorkloadId(0), {{NodeId(0), gpu(0)}});
    start(state, WorkloadId(1), {{NodeId(0), gpu(1)}});
    start(state, WorkloadId(3), {{NodeId(0), gpu(1)}});
    state.apply(NodeDrained{NodeId(2)});
    const ShapeId gangs = state.workload(WorkloadId(4)).shape;
    start(state, {}, {}, {{QueueId(0), gangs, 3}});
    state.apply(c.event);
    EXPECT_EQ(missing(state, gangs.index()), c.missing) << c.what;
  }
}

TEST(State, OnlyNewNodesWakeTheImpossible) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(2)}});
  state.apply(submission(QueueId(0), single_pod({.gpus = 8, .gpu_milli = 1000})));
  start(state, {}, {}, {{QueueId(0), ShapeId(0), kMissingForever}});
  state.apply(NodeDrained{NodeId(0)});
  state.apply(NodeRestored{NodeId(0)});
  EXPECT_EQ(missing(state, 0), kMissingForever);
  state.apply(NodesAdded{{{}}});
  EXPECT_EQ(missing(state, 0), 0);
}

// Both pods ask what one node had all along, each by itself; what was missing is room for both at once.
TEST(State, AGangOfTwoPodSetsIsWokenByRoomThatOnlyBothTogetherNeed) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{
      {{.name = "", .flavor = FlavorId(0), .gpus = 3, .gpu_memory_mib = 0, .cpu_milli = 9000, .memory_bytes = 0}}});
  state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  const PodRequest wide{.cpu_milli = 4500, .gpus = 2, .gpu_milli = 1000};
  const PodRequest hungry{.cpu_milli = 4500, .gpus = 1, .gpu_milli = 1000};
  start(state, WorkloadId(0), {{NodeId(0), gpu(2)}});
  state.apply(submission(QueueId(0), {{{{wide, 1}, {hungry, 1}}}}));
  start(state, {}, {}, {{QueueId(0), ShapeId(1), 1}});
  state.apply(WorkloadEnded{WorkloadId(0)});
  EXPECT_EQ(missing(state, 1), 0);
}

// The line of queue 0 is shared by queue 1 below it.
TEST(State, WhoseQueueIsHeldStandsInNoLine) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(QueueAdded{{"queue/child", QueueId(0), {}}});
  state.apply(NodesAdded{{gpu_node(2)}});
  state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  state.apply(submission(QueueId(1), single_pod(kOneGpu)));
  const auto in_line = [&] { return state.lines()[0]->size(); };
  Queue child = state.queues()[1];
  child.held = true;
  state.apply(QueueChanged{QueueId(1), child});
  EXPECT_EQ(in_line(), 1u);
  EXPECT_EQ(state.pending(), 2u);
  EXPECT_TRUE(state.is_kept_aside(WorkloadId(1)));
  EXPECT_FALSE(state.is_kept_aside(WorkloadId(0)));
  // What is found running does so, held or not; it waits aside when it has lost its node.
  state.apply(WorkloadFound{submission(QueueId(1), single_pod(kOneGpu)), {{NodeId(0), gpu(0)}}, Time{}});
  EXPECT_EQ(state.workload(WorkloadId(2)).phase, Phase::kRunning);
  state.apply(NodeFailed{NodeId(0)});
  EXPECT_TRUE(state.is_kept_aside(WorkloadId(2)));
  state.apply(WorkloadCancelled{WorkloadId(1)});
  EXPECT_EQ(state.pending(), 2u);
  EXPECT_EQ(violations(state), std::vector<std::string>());
  child.held = false;
  state.apply(QueueChanged{QueueId(1), child});
  EXPECT_EQ(in_line(), 2u);
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

// Its controller makes another for the one that lost its room.
TEST(State, WhoComesInThePlaceOfOneThatGaveItsRoomBackCoolsDown) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  Queue queue = state.queues()[0];
  queue.quota.cooldown = Duration{50};
  state.apply(QueueChanged{QueueId(0), queue});
  state.apply(TimePassed{Time{100}});
  for (int i = 0; i < 2; ++i) state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  const auto cools = [&](std::size_t id) { return state.shape(state.workload(WorkloadId(id)).shape).cools; };
  state.apply(RoomGivenBack{WorkloadId(1), Time{80}});
  EXPECT_FALSE(cools(0));
  EXPECT_TRUE(cools(1));
  EXPECT_EQ(state.next_wake(), Time{130});
  EXPECT_EQ(violations(state), std::vector<std::string>());
  state.apply(TimePassed{Time{130}});
  EXPECT_FALSE(cools(1));
  state.apply(RoomGivenBack{WorkloadId(0), Time{80}});
  EXPECT_FALSE(cools(0)) << "it is over already";
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

// Time may pass over the end of some hours, the begin of the next, and what was promised before both.
TEST(State, WhoIsPromisedAStartIsLookedAtAgainWhenTheHoursEndInWhichHeIsByThen) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(1)}});
  const auto from_to = [](std::int64_t from, std::int64_t to) { return Interval{Time{from}, Time{to}}; };
  Window hours;
  hours.open = {from_to(10, 20), from_to(20, 30), from_to(40, 50)};
  hours.known_until = Time{60};
  state.apply(WindowChanged{0, hours});
  state.apply(TimePassed{Time{10}});
  WorkloadShape runs = single_pod(kOneGpu);
  runs.terms.run_limit = Duration{5};
  state.apply(WorkloadFound{submission(QueueId(0), runs), {{NodeId(0), gpu(0)}}, Time{10}});
  WorkloadShape keeps_hours = single_pod(kOneGpu);
  keeps_hours.terms.hours = 0;
  state.apply(submission(QueueId(0), keeps_hours));
  const Start start{.workload = WorkloadId(1), .pods = {{NodeId(0), gpu(0)}}};
  state.adopt({.now = Time{10}, .revision = state.revision(), .shadows = std::vector{Shadow{Time{15}, start}}});
  for (const std::int64_t at : {22, 29, 35, 40}) {
    state.apply(TimePassed{Time{at}});
    EXPECT_EQ(state.is_kept_aside(WorkloadId(1)), at == 35) << at;
    EXPECT_EQ(violations(state), std::vector<std::string>()) << at;
  }
}

TEST(State, WhoCameToAClosedQueueIsLetInByItsRelease) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo, Order::kFifo});
  state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  const auto set_closed = [&](bool closed) {
    Queue queue = state.queues()[0];
    queue.closed = closed;
    state.apply(QueueChanged{QueueId(0), queue});
    EXPECT_EQ(violations(state), std::vector<std::string>());
  };
  const auto aside = [&] {
    std::vector<bool> found;
    state.workloads().for_each([&](WorkloadId id, const Workload&) { found.push_back(state.is_kept_aside(id)); });
    return found;
  };
  set_closed(true);
  state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  state.apply(submission(QueueId(1), single_pod(kOneGpu)));
  EXPECT_EQ(aside(), (std::vector<bool>{false, true, false}));
  state.apply(WorkloadMoved{WorkloadId(0), QueueId(0)});  // where it is already
  state.apply(WorkloadMoved{WorkloadId(2), QueueId(0)});
  EXPECT_EQ(aside(), (std::vector<bool>{false, true, true}));
  set_closed(false);
  set_closed(true);
  EXPECT_EQ(aside(), (std::vector<bool>{false, false, false}));
}

TEST(State, AnotherPriorityIsTriedAnewAndCountsForCoverage) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(1)}});
  state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  state.apply(submission(QueueId(0), single_pod(kOneGpu)));
  start(state, WorkloadId(0), {{NodeId(0), gpu(0)}}, {{QueueId(0), ShapeId(0), 1}});
  state.apply(WorkloadPrioritized{WorkloadId(1), 5});
  EXPECT_FALSE(state.lines()[0]->find(state.workload(WorkloadId(1)).shape)->blocked());
  state.apply(WorkloadPrioritized{WorkloadId(0), 7});
  EXPECT_EQ(state.quotas().unit(state.workload(WorkloadId(0)).unit).priority, 7);
  EXPECT_EQ(violations(state), std::vector<std::string>());
}

TEST(State, ATieNeverGoesByName) {
  const auto order = [](std::vector<Node> nodes, Seed seed = Seed{42}) {
    State state = new_state(seed, PlacementPolicy::kFgd, 1, {});
    state.apply(NodesAdded{std::move(nodes)});
    std::vector<std::string> names;
    for (std::size_t i = 0; i < state.nodes(); ++i) names.push_back(state.node(NodeId(i)).name);
    return names;
  };
  std::vector<Node> nodes;
  for (int i = 0; i < 20; ++i) nodes.push_back(gpu_node(1, std::to_string(i)));
  const auto drawn = order(nodes);
  EXPECT_NE(drawn, order(nodes, Seed{43})) << "the seed decides, not the place in the file";
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].name = std::to_string(19 - i);
  const auto renamed = order(nodes);
  for (std::size_t i = 0; i < drawn.size(); ++i) EXPECT_EQ(std::stoi(drawn[i]) + std::stoi(renamed[i]), 19);
}

TEST(State, AForkGoesItsOwnWay) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  state.apply(NodesAdded{{gpu_node(2)}});
  const std::uint64_t before = state.hash();
  State fork = state.fork();
  EXPECT_EQ(fork.hash(), before);
  fork.apply(NodesAdded{{gpu_node(2)}});
  fork.apply(submission(QueueId(0), single_pod(kOneGpu)));
  EXPECT_EQ(state.hash(), before);
  EXPECT_EQ(state.nodes(), 1u);
  EXPECT_EQ(state.pending(), 0u);
  EXPECT_NE(fork.hash(), before);
}

TEST(StateDeathTest, AdoptsNoPlanOfAnotherRevision) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 1, {Order::kFifo});
  EXPECT_DEATH(state.adopt(Plan()), "internal error");
}

// Nodes are shared with forks until one of them changes.
TEST(State, WhatANodeSaysOfItselfChangesInNoFork) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 1, .labels = {{"rack", "r1"}}}}});
  const PodSet set{kOneGpu, 1, {.select = {{"rack", LabelOperator::kIn, {"r1"}}}}, {Togetherness::kRequired, "rack"}};
  state.apply(submission(QueueId(0), {{{set}}}));
  const State fork = state.fork();
  const std::uint64_t hash = state.hash();
  state.apply(NodeRelabelled{NodeId(0), {{"rack", "r2"}}, {{"team", "a", TaintEffect::kNoExecute}}});
  EXPECT_EQ(violations(state), std::vector<std::string>());
  EXPECT_EQ(violations(fork), std::vector<std::string>());
  EXPECT_EQ(fork.node(NodeId(0)).labels, (Labels{{"rack", "r1"}}));
  EXPECT_TRUE(fork.node(NodeId(0)).taints.empty());
  EXPECT_EQ(fork.hash(), hash);
  EXPECT_NE(state.hash(), hash);
  EXPECT_EQ(state.node(NodeId(0)).labels, (Labels{{"rack", "r2"}}));
}

}  // namespace berth::state_test
