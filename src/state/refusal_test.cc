#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/gpu_hardware.h"
#include "state/invariants.h"
#include "state/random_world.h"
#include "state/state.h"

namespace berth::refusal_test {

// Two flavors, a queue with an order, one node; workload 0 pending, 1 cancelled.
State known() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  state.apply(NodesAdded{
      {{.name = "", .flavor = FlavorId(0), .gpus = 1, .gpu_memory_mib = 0, .cpu_milli = 1, .memory_bytes = 1}}});
  state.apply(submission(QueueId(0), single_pod({})));
  state.apply(submission(QueueId(0), single_pod({})));
  state.apply(WorkloadCancelled{WorkloadId(1)});
  return state;
}

const PodRequest kGpu{.gpus = 1, .gpu_milli = 1000};

Event submit(const PodRequest& request, std::int64_t count = 1) {
  return submission(QueueId(0), {{{{request, count}}}});
}
Event add_node(const Node& node) { return NodesAdded{{node}}; }
Event choose(const TypicalPod& pod) { return TypicalPodsChosen{{pod}}; }

struct Case {
  const char* what;
  Event event;
  const char* refusal;  // empty: none
};

void expect(const State& state, const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(state.refusal(c.event).value_or(""), c.refusal) << c.what;
}

TEST(Refusal, ARunBeginsWithItsConfigurationAndHasOne) {
  expect(State(), {
                      {"the configuration", RunConfigured{Seed{1}, PlacementPolicy::kSpread}, ""},
                      {"an unknown policy", RunConfigured{Seed{1}, static_cast<PlacementPolicy>(99)}, "unknown policy"},
                      {"another event", FlavorAdded{}, "a run begins with its configuration"},
                  });
  expect(known(), {{"a second one", RunConfigured{}, "a run is configured once"}});
}

TEST(Refusal, OfFlavorsAndQueues) {
  const char* const flavor = "at most 64 flavors, each with a sensible memory and a weight of 1 to 1,000";
  expect(known(), {
                      {"a flavor", FlavorAdded{{"a", "b", 1 << 20}}, ""},
                      {"its memory", FlavorAdded{{"a", "b", (1 << 20) + 1}}, flavor},
                      {"negative memory", FlavorAdded{{"a", "b", -1}}, flavor},
                      {"a top queue", QueueAdded{{"q", QueueId(), Order::kSjf}}, ""},
                      {"a child without order", QueueAdded{{"q/r", QueueId(0), {}}}, ""},
                      {"a top queue without", QueueAdded{{"q", QueueId(), {}}}, "a queue at the top needs an order"},
                      {"its own parent", QueueAdded{{"q", QueueId(1), Order::kSjf}}, "a queue's parent is not known"},
                  });
  State full = new_state(Seed{1}, PlacementPolicy::kFgd, kFlavorsMax, {});
  expect(full, {{"one more", FlavorAdded{}, flavor}});
}

TEST(Refusal, OfNodes) {
  const Node good{.name = "",
                  .flavor = FlavorId(1),
                  .gpus = 64,
                  .gpu_memory_mib = 1 << 20,
                  .cpu_milli = kNodeCpuMilliMax,
                  .memory_bytes = kNodeMemoryBytesMax,
                  .pods_max = 0};
  const auto but = [&](const std::function<void(Node&)>& change) {
    Node node = good;
    change(node);
    return add_node(node);
  };
  const char* const flavor = "a node with GPUs has a flavor, others none";
  const char* const memory = "a node has at most a PiB of memory";
  expect(
      known(),
      {
          {"the largest", add_node(good), ""},
          {"nothing", NodesAdded{}, ""},
          {"too many GPUs", but([](Node& node) { node.gpus = 65; }), "a node has 0 to 64 GPUs"},
          {"negative GPUs", but([](Node& node) { node.gpus = -1; }), "a node has 0 to 64 GPUs"},
          {"GPUs of no flavor", but([](Node& node) { node.flavor = FlavorId(); }), flavor},
          {"a flavor of no GPUs", but([](Node& node) { node.gpus = 0; }), flavor},
          {"unknown flavor", but([](Node& node) { node.flavor = FlavorId(2); }),
           "a node names a flavor that there is not"},
          {"GPU memory", but([](Node& node) { ++node.gpu_memory_mib; }), "a GPU's memory is out of bounds"},
          {"cores", but([](Node& node) { ++node.cpu_milli; }), "a node has at most 50,000 cores"},
          {"negative cores", but([](Node& node) { node.cpu_milli = -1; }), "a node has at most 50,000 cores"},
          {"memory", but([](Node& node) { ++node.memory_bytes; }), memory},
          {"negative memory", but([](Node& node) { node.memory_bytes = -1; }), memory},
          {"pods", but([](Node& node) { node.pods_max = -1; }), "a node's pods cannot be negative"},
          {"the fleet's memory", NodesAdded{std::vector<Node>(4097, good)}, "the fleet has more than 4 EiB of memory"},
      });
  expect(known(), {
                      {"fail", NodeFailed{NodeId(0)}, ""},
                      {"drain", NodeDrained{NodeId(0)}, ""},
                      {"restore", NodeRestored{NodeId(0)}, ""},
                      {"fail none", NodeFailed{NodeId(1)}, "there is no such node"},
                      {"drain none", NodeDrained{NodeId()}, "there is no such node"},
                      {"restore none", NodeRestored{NodeId(1)}, "there is no such node"},
                  });
}

TEST(Refusal, OfTooManyNodes) {
  State state = new_state(Seed{1}, PlacementPolicy::kFgd, 0, {});
  state.apply(NodesAdded{std::vector<Node>(2)});
  std::vector<Node> nodes(static_cast<std::size_t>(kNodesMax) - 1);
  const Event event = NodesAdded{std::move(nodes)};
  EXPECT_EQ(state.refusal(event).value_or(""), "more than 16,777,216 nodes");
}

TEST(Refusal, OfTypicalPods) {
  const char* const request = "a typical pod's request is out of bounds";
  const char* const weight = "a typical pod's weight is out of bounds";
  expect(known(), {
                      {"none", TypicalPodsChosen{}, ""},
                      {"one", choose({1, 1, 500, FlavorSet::all(), kTypicalWeightMax}), ""},
                      {"a fraction of two", choose({1, 2, 500, FlavorSet::all(), 1}), request},
                      {"no weight", choose({1, 1, 500, FlavorSet::all(), 0}), weight},
                      {"too much weight", choose({1, 1, 500, FlavorSet::all(), kTypicalWeightMax + 1}), weight},
                      {"too much in sum", TypicalPodsChosen{{{1, 1, 500, FlavorSet::all(), kTypicalWeightMax}, {}}},
                       "the typical pods' weights add up to more than 1,000,000,000"},
                      {"too many", TypicalPodsChosen{std::vector<TypicalPod>(kTypicalPodsMax + 1)},
                       "more than 4,096 typical pods"},
                  });
}

TEST(Refusal, OfPodRequests) {
  const char* const bounds = "a pod's request is out of bounds";
  const auto gpu_but = [](const std::function<void(PodRequest&)>& change) {
    PodRequest request = kGpu;
    change(request);
    return submit(request);
  };
  expect(known(),
         {
             {"nothing", submit({}), ""},
             {"a GPU", submit(kGpu), ""},
             {"the most of all",
              submit({kNodeCpuMilliMax, kNodeMemoryBytesMax, 64, 1000, 1 << 20, FlavorSet::first(2)}), ""},
             {"negative processor", submit({.cpu_milli = -1}), bounds},
             {"too much processor", submit({.cpu_milli = kNodeCpuMilliMax + 1}), bounds},
             {"too much memory", submit({.memory_bytes = kNodeMemoryBytesMax + 1}), bounds},
             {"65 GPUs", gpu_but([](PodRequest& request) { request.gpus = 65; }), bounds},
             {"-1 GPUs", gpu_but([](PodRequest& request) { request.gpus = -1; }), bounds},
             {"thousandths of none", submit({.gpu_milli = 1}), bounds},
             {"memory of none", submit({.gpu_memory_mib = 1}), bounds},
             {"a type of none", submit({.flavors = FlavorSet::first(1)}), bounds},
             {"none of one", gpu_but([](PodRequest& request) { request.gpu_milli = 0; }), bounds},
             {"more than one of one", gpu_but([](PodRequest& request) { request.gpu_milli = 1001; }), bounds},
             {"a slice of no flavor", gpu_but([](PodRequest& request) {
                request.sharing = Sharing::kMig;
                request.slice = 0;
                request.flavors = FlavorSet();
              }),
              bounds},
             {"a vGPU of no flavor", gpu_but([](PodRequest& request) {
                request.sharing = Sharing::kVgpu;
                request.gpu_milli = 500;
              }),
              bounds},
             {"a vGPU with memory of its own", gpu_but([](PodRequest& request) {
                request.sharing = Sharing::kVgpu;
                request.gpu_milli = 500;
                request.flavors = FlavorSet::first(1);
                request.gpu_memory_mib = 1;
              }),
              bounds},
             {"an unknown flavor", gpu_but([](PodRequest& request) { request.flavors = FlavorSet::first(3); }), bounds},
             {"GPU memory", gpu_but([](PodRequest& request) { request.gpu_memory_mib = (1 << 20) + 1; }), bounds},
         });
}

TEST(Refusal, OfBudgets) {
  const auto queue = [](std::int64_t budget) {
    Queue made{.name = "q", .parent = QueueId(), .order = Order::kFifo};
    made.quota.budget_gpu_us = budget;
    return Event(QueueAdded{made});
  };
  const char* const bounds = "a budget is 0 to 1,000,000,000 GPU-hours";
  expect(known(), {
                      {"nothing", queue(0), ""},
                      {"the most", queue(kGpuTimeMax), ""},
                      {"too much", queue(kGpuTimeMax + 1), bounds},
                      {"less than nothing", queue(-1), bounds},
                      {"a grant without a budget", GrantAdded{QueueId(0), 1, Time{9}},
                       "a grant goes beside a budget, and there is none"},
                      {"a grant to nobody", GrantAdded{QueueId(1), 1, Time{9}}, "there is no such queue"},
                  });
  State state = known();
  state.apply(queue(5));
  expect(state, {
                    {"a grant", GrantAdded{QueueId(1), 1, Time{9}}, ""},
                    {"of nothing", GrantAdded{QueueId(1), 0, Time{9}}, "a grant is up to 1,000,000,000 GPU-hours"},
                    {"without an end", GrantAdded{QueueId(1), 1, kTimeMax + Duration{1}}, "a time is out of bounds"},
                });
  const char* const no_pot = "GPU time is used of a budget or a grant, and there is none";
  expect(state, {
                    {"used before", GpuTimeUsed{QueueId(1), 0, kGpuTimeMax}, ""},
                    {"known already", GpuTimeUsed{QueueId(1), 0, -kGpuTimeMax}, ""},
                    {"more than there is", GpuTimeUsed{QueueId(1), 0, kGpuTimeMax + 1}, "GPU time is out of bounds"},
                    {"of no grant", GpuTimeUsed{QueueId(1), 1, 1}, no_pot},
                    {"of no budget", GpuTimeUsed{QueueId(0), 0, 1}, no_pot},
                    {"of nobody's", GpuTimeUsed{QueueId(2), 0, 1}, "there is no such queue"},
                });
  state.apply(TimePassed{Time{100}});
  const char* const past = "what was used is past";
  expect(state, {
                    {"all until now", GpuTimeCounted{QueueId(1), Time{100}}, ""},
                    {"and later", GpuTimeCounted{QueueId(1), Time{101}}, past},
                    {"where nothing is counted", GpuTimeCounted{QueueId(0), Time{100}},
                     "nothing is counted where there is no budget"},
                    {"one missed", GpuTimeMissed{QueueId(0), 1000, Time{0}, Time{100}}, ""},
                    {"that runs on", GpuTimeMissed{QueueId(0), 1000, Time{0}, Time{101}}, past},
                    {"backwards", GpuTimeMissed{QueueId(0), 1000, Time{9}, Time{8}}, past},
                    {"less than nothing", GpuTimeMissed{QueueId(0), -1, Time{0}, Time{9}}, "GPUs are out of bounds"},
                });
}

TEST(Refusal, OfWhatWasHeldOfAFloor) {
  State state = known();
  state.apply(TimePassed{Time{100}});
  const Dim gpus(FlavorId(0), Resource::kGpu), cpus(FlavorId(0), Resource::kCpu), nothing(FlavorId(9), Resource::kGpu);
  const char* const order = "of what was held the later is the smaller";
  const auto found = [](std::vector<FloorUse> held) { return Event(FloorUseFound{QueueId(0), {}, std::move(held)}); };
  expect(state,
         {
             {"less and less", found({{gpus, 8, Time{5}}, {gpus, 3, Time{9}}}), ""},
             {"each by itself", found({{gpus, 3, Time{9}}, {cpus, 9, Time{1}}}), ""},
             {"more and more", found({{gpus, 3, Time{5}}, {gpus, 8, Time{9}}}), order},
             {"nothing", found({{gpus, 0, Time{5}}}), "what was held is out of bounds"},
             {"to come", found({{gpus, 1, Time{101}}}), "what was held is past"},
             {"of what there is not", found({{nothing, 1, Time{5}}}), "a floor names a flavor that there is not"},
             {"of such a floor", FloorUseFound{QueueId(0), {{nothing, 5}}, {}},
              "a quota names a flavor that there is not"},
             {"by nobody", FloorUseFound{QueueId(1), {}, {}}, "there is no such queue"},
         });
}

TEST(Refusal, OfSlices) {
  State state = known();
  state.apply(FlavorAdded{{.name = "h100", .model = "H100"}});
  state.apply(FlavorAdded{{.name = "l4", .model = "L4"}});
  state.apply(TimePassed{Time{100}});
  const FlavorId h100(state.flavors().size() - 2), l4(state.flavors().size() - 1);
  const Dim slices = Dim::of_slices(h100, 4), none = Dim::of_slices(h100, kMigShapesMax - 1);
  const Dim of_none = Dim::of_slices(l4, 4), unknown = Dim::of_slices(FlavorId(9), 4);
  const auto queue = [](Quota quota) {
    return Event(QueueAdded{{.name = "queue", .parent = QueueId(), .order = Order::kFifo, .quota = std::move(quota)}});
  };
  const char* const cut = "a quota names slices that GPUs of the flavor cannot be cut into";
  expect(state, {
                    {"a floor", queue({.guarantee = {{slices, 4}}, .limit = {{slices, 8}}}), ""},
                    {"of no shape", queue({.guarantee = {{none, 4}}}), cut},
                    {"of GPUs that cannot be cut", queue({.limit = {{of_none, 4}}}), cut},
                    {"of no flavor", queue({.limit = {{unknown, 4}}}), "a quota names a flavor that there is not"},
                    {"kept", queue({.guarantee = {{slices, 4}}, .lending_limit = {{slices, 0}}}),
                     "a queue keeps no slices to itself; its floor by their profile is lent whole"},
                    {"held, and nobody counts them", FloorUseFound{QueueId(0), {}, {{slices, 1, Time{5}}}},
                     "a floor names a flavor that there is not"},
                    {"in a floor, and nobody counts them", FloorUseFound{QueueId(0), {{slices, 1}}, {}},
                     "a floor names slices of a profile that no queue names"},
                    {"in the past", PastUseFound{QueueId(0), Time{100}, {{slices, 5}}},
                     "what was used is of GPUs, CPUs and memory"},
                });
  state.apply(queue({.guarantee = {{slices, 4}}}));
  expect(state, {
                    {"held", FloorUseFound{QueueId(0), {{slices, 4}}, {{slices, 1, Time{5}}}}, ""},
                    {"of a flavor before them",
                     FloorUseFound{QueueId(0), {}, {{Dim(FlavorId(9), Resource::kGpu), 1, Time{5}}}},
                     "a floor names a flavor that there is not"},
                });
}

TEST(Refusal, OfRoomThatWasGivenBack) {
  State state = known();
  state.apply(TimePassed{Time{100}});
  state.apply(submission(QueueId(0), single_pod({})));
  expect(state, {
                    {"before", RoomGivenBack{WorkloadId(0), Time{100}}, ""},
                    {"to come", RoomGivenBack{WorkloadId(0), Time{101}}, "what was taken is past"},
                });
}

TEST(Refusal, OfAPastThatIsFound) {
  State state = known();
  state.apply(TimePassed{Time{100}});
  const Dim gpus(FlavorId(0), Resource::kGpu), nothing(FlavorId(9), Resource::kGpu);
  expect(state, {
                    {"a past", PastUseFound{QueueId(0), Time{100}, {{gpus, 5}}}, ""},
                    {"to come", PastUseFound{QueueId(0), Time{101}, {}}, "what was used is past"},
                    {"as it stood", PastUseKept{QueueId(0), Time{9}, Time{100}, {{gpus, 5}}, {{gpus, 6}}}, ""},
                    {"backwards", PastUseKept{QueueId(0), Time{9}, Time{8}, {}, {}}, "what was used is past"},
                    {"of nobody", PastUseFound{QueueId(1), Time{100}, {}}, "there is no such queue"},
                    {"of what there is not", PastUseFound{QueueId(0), Time{100}, {{nothing, 5}}},
                     "a quota names a flavor that there is not"},
                });
}

TEST(Refusal, OfWindows) {
  const auto window = [](const std::function<void(Window&)>& change, std::uint32_t number = 0) {
    Window made{.queue = QueueId(0), .known_until = {}};
    made.open = {{Time{0}, Time{5}}, {Time{5}, Time{9}}};
    change(made);
    return Event(WindowChanged{number, made});
  };
  const auto opens = [&](std::vector<Interval> open) { return window([&](Window& w) { w.open = std::move(open); }); };
  const char* const closes = "a window closes after it has opened";
  expect(known(),
         {
             {"a window", window([](Window&) {}), ""},
             {"a gap in the numbers", window([](Window&) {}, 1), "the windows have no gap in their numbers"},
             {"no such queue", window([](Window& w) { w.queue = QueueId(1); }), "there is no such queue"},
             {"an unknown flavor", window([](Window& w) { w.limit = {{Dim(FlavorId(2), Resource::kGpu), 1}}; }),
              "a quota names a flavor that there is not"},
             {"no weight", window([](Window& w) { w.weight_milli = 0; }), "a queue's weight is 0.001 to 1,000"},
             {"never open", opens({}), ""},
             {"for no time", opens({{Time{5}, Time{5}}}), closes},
             {"too late", opens({{Time{5}, kTimeMax + Duration{1}}}), closes},
             {"twice at once", opens({{Time{0}, Time{5}}, {Time{4}, Time{9}}}),
              "a window has closed before it opens again"},
             {"too often", opens(std::vector<Interval>(10'001)), "a window opens at most 10,000 times"},
             {"known too far", window([](Window& w) { w.known_until = Time{2 * kTimeMax.ms + 1}; }),
              "a time is out of bounds"},
             {"the time", TimePassed{Time{0}}, ""},
             {"before all time", TimePassed{Time{-1}}, "a time is out of bounds"},
             {"after all time", CalendarTurned{kTimeMax + Duration{1}}, "a time is out of bounds"},
         });
  State later = known();
  later.apply(TimePassed{Time{10}});
  expect(later, {{"a turn in the past", CalendarTurned{Time{9}}, "time does not go backwards"}});
}

TEST(Refusal, OfTooManyHours) {
  // Eight windows that count in twos make 256 different hours, and a ninth makes more.
  State state = known();
  const auto counter = [](std::uint32_t number) {
    Window window{.queue = QueueId(0), .known_until = {}};
    const std::int64_t length = std::int64_t{1} << number;
    for (std::int64_t at = length; at < 1024; at += 2 * length) window.open.push_back({Time{at}, Time{at + length}});
    window.known_until = Time{1024};
    return Event(WindowChanged{number, window});
  };
  for (std::uint32_t number = 0; number < 8; ++number) {
    ASSERT_EQ(state.refusal(counter(number)).value_or(""), "") << number;
    state.apply(counter(number));
  }
  EXPECT_EQ(state.refusal(counter(8)).value_or(""),
            "the windows make more than 256 different hours; let more of them open and close together");
}

TEST(Refusal, OfRunLimits) {
  const auto limited = [](std::int64_t ms) {
    WorkloadSubmitted job = submission(QueueId(0), single_pod({}));
    job.shape.terms.run_limit = Duration{ms};
    return Event(job);
  };
  const char* const bounds = "a run limit is out of bounds";
  expect(known(), {
                      {"the shortest", limited(1), ""},
                      {"the longest", limited(kTimeMax.ms), ""},
                      {"nothing", limited(0), bounds},
                      {"too long", limited(kTimeMax.ms + 1), bounds},
                  });
  const auto running = [](std::optional<Duration> limit) {
    State state = known();
    WorkloadFound found{submission(QueueId(0), single_pod({})), {{NodeId(0), GpuSet()}}, Time{}};
    found.workload.shape.terms.run_limit = limit;
    state.apply(found);
    return state;
  };
  const Event end = WorkloadOverran{WorkloadId(2)};
  EXPECT_EQ(running(seconds(1)).refusal(end).value_or(""), "");
  EXPECT_EQ(running({}).refusal(end).value_or(""), "a workload without a run limit cannot run over it");
  EXPECT_EQ(known().refusal(end).value_or(""), "there is no such workload in that phase");
}

TEST(Refusal, OfFailurePolicies) {
  const auto with = [](auto change) {
    WorkloadSubmitted job = submission(QueueId(0), single_pod({}));
    job.on_failure = FailurePolicy{.sets = {{}}};
    change(*job.on_failure);
    return Event(job);
  };
  const char* const of_sets = "of each pod set it is known what follows, of exit codes from 1 to 255 in order";
  WorkloadSubmitted step = submission(QueueId(0), single_pod({}));
  step.on_failure = FailurePolicy{.sets = {{}}};
  step.step_of = WorkloadId(2);
  State state = known();
  state.apply(submission(QueueId(0), single_pod({})));
  expect(state,
         {
             {"nothing", with([](FailurePolicy&) {}), ""},
             {"codes in order", with([](FailurePolicy& p) { p.sets[0].on_exit = {{1, {}}, {255, {}}}; }), ""},
             {"of no set", with([](FailurePolicy& p) { p.sets.clear(); }), of_sets},
             {"of two sets", with([](FailurePolicy& p) { p.sets.emplace_back(); }), of_sets},
             {"no failure", with([](FailurePolicy& p) { p.sets[0].on_exit = {{0, {}}}; }), of_sets},
             {"no exit code", with([](FailurePolicy& p) { p.sets[0].on_exit = {{256, {}}}; }), of_sets},
             {"twice", with([](FailurePolicy& p) { p.sets[0].on_exit = {{3, {}}, {3, {}}}; }), of_sets},
             {"what nobody does", with([](FailurePolicy& p) { p.sets[0].on_evict = static_cast<MemberAction>(4); }),
              of_sets},
             {"too often", with([](FailurePolicy& p) { p.retries = kRetriesMax + 1; }),
              "a workload is tried again 1,000 times at most"},
             {"before", with([](FailurePolicy& p) { p.retry_after = Duration{-1}; }), "a time is out of bounds"},
             {"never ready at once", with([](FailurePolicy& p) { p.never_ready = Duration{0}; }),
              "a time is out of bounds"},
             {"a step's alone", step, "what follows when a step fails is of a workload of which that is known"},
             {"it waits", WorkloadReady{WorkloadId(2)}, "there is no such workload in that phase"},
             {"it waits, and is not ready", NeverReady{WorkloadId(2)}, "there is no such workload in that phase"},
         });
}

TEST(Refusal, OfLimitsThatAreExtended) {
  const auto running = [](OverRun over_run, std::optional<Duration> limit) {
    State state = known();
    Queue queue = state.queues()[0];
    queue.quota.over_run = over_run;
    queue.quota.extend = seconds(60);
    state.apply(QueueChanged{QueueId(0), queue});
    WorkloadFound found{submission(QueueId(0), single_pod({})), {{NodeId(0), GpuSet()}}, Time{}};
    found.workload.shape.terms.run_limit = limit;
    state.apply(found);
    return state;
  };
  const auto refusal = [](State state, Time now, Duration by) {
    state.apply(TimePassed{now});
    return state.refusal(LimitExtended{WorkloadId(2), by}).value_or("");
  };
  const State extends = running(OverRun::kExtend, seconds(10));
  const Time end{10'000};
  EXPECT_EQ(refusal(extends.fork(), end, seconds(60)), "");
  EXPECT_EQ(refusal(extends.fork(), Time{9'999}, seconds(60)), "a limit is extended when it is reached");
  const char* const not_by_that = "its queue does not extend its limit by that";
  EXPECT_EQ(refusal(extends.fork(), end, seconds(61)), not_by_that);
  EXPECT_EQ(refusal(extends.fork(), end, Duration{0}), not_by_that);
  EXPECT_EQ(refusal(running(OverRun::kStop, seconds(10)), end, seconds(1)), not_by_that);
  EXPECT_EQ(refusal(running(OverRun::kExtend, {}), end, seconds(1)), "what has no run limit does not run beyond it");
  State once = extends.fork();
  once.apply(TimePassed{end});
  once.apply(LimitExtended{WorkloadId(2), seconds(5)});
  EXPECT_EQ(refusal(once.fork(), Time{15'000}, seconds(5)), not_by_that) << "as often as it may";
}

TEST(Refusal, OfGangsThatAreFoundLackingSome) {
  const PodPlacement there{NodeId(0), GpuSet::from_bits(1)}, nowhere{NodeId(0), {}};
  const auto found = [](std::vector<std::uint32_t> lost, std::vector<PodPlacement> pods, Time until = Time{1}) {
    WorkloadFound event{submission(QueueId(0), {{{{kGpu, 2}}}}), std::move(pods), Time{}};
    event.lost = std::move(lost);
    event.repair_until = until;
    return Event(std::move(event));
  };
  const char* const in_order = "of a found workload each pod is lost once, in order";
  expect(known(), {
                      {"one of two", found({1}, {there, nowhere}), ""},
                      {"the first", found({0}, {nowhere, there}), ""},
                      {"all of them", found({0, 1}, {nowhere, nowhere}), "of a found workload some pods are there"},
                      {"one twice", found({1, 1}, {there, nowhere}), in_order},
                      {"a third", found({2}, {there, nowhere}), in_order},
                      {"one who has GPUs", found({1}, {there, there}), "who is lost has no GPUs"},
                      {"on no node", found({1}, {there, {NodeId(9), {}}}), "there is no such node"},
                      {"too few places", found({0}, {nowhere}), "of a found workload some pods are there"},
                      {"before now", found({1}, {there, nowhere}, Time{-1}), "a repair ends later"},
                      {"nobody, for a while", found({}, {there, nowhere}), "who lacks nobody is not repaired"},
                  });
}

PodRequest with_memory(std::int32_t milli, std::int64_t memory_mib) {
  return {.gpus = 1, .gpu_milli = milli, .gpu_memory_mib = memory_mib};
}

TEST(Refusal, OfNeighbours) {
  const auto with = [](Neighbours neighbours, Topology topology = {}) {
    return Event(submission(QueueId(0), {{{{{}, 1, {}, std::move(topology), std::move(neighbours)}}}}));
  };
  const PodTerm term{{{"x"}, {{"app", LabelOperator::kIn, {"a"}}}}, "rack"};
  const PodTerm of_nodes{{{"x"}, {{"app", LabelOperator::kGt, {"1"}}}}, "rack"};
  const char* const form = "a term on pods names a level, namespaces in order, and labels by In or Exists";
  const Topology together{.together = Togetherness::kRequired, .level = "rack"};
  expect(known(),
         {
             {"a term", with({.near = {term}}), ""},
             {"no level", with({.near = {{{{"x"}, {}}, ""}}}), form},
             {"namespaces out of order", with({.apart = {{{{"y", "x"}, {}}, "rack"}}}), form},
             {"an operator of nodes", with({.preferred = {{of_nodes, 1}}}), form},
             {"a spread by nodes", with({.spreads = {{.term = of_nodes}}}), form},
             {"as many as there may be", with({.near = std::vector(64, term)}), ""},
             {"too many", with({.near = std::vector(65, term)}),
              "a pod has at most 64 terms on the pods around it, and ports, of each kind"},
             {"no weight", with({.preferred = {{term, 0}}}), "a preferred term on pods weighs 1 to 100, or -100 to -1"},
             {"the least", with({.preferred = {{term, -100}}}), ""},
             {"no skew", with({.spreads = {{.term = term, .skew_max = 0}}}),
              "a spread constraint has a skew and domains of 1 to 1,000,000"},
             {"no domains", with({.spreads = {{.term = term, .domains_min = 0}}}),
              "a spread constraint has a skew and domains of 1 to 1,000,000"},
             {"the last port", with({.ports = {{.port = 65'535}}}), ""},
             {"no port", with({.ports = {{.port = 0}}}), "a port of a node is 1 to 65535"},
             {"nobody's labels", with({.labels = {{"a", "b"}}}), "a pod with labels has a namespace"},
             {"labels out of order", with({.name_space = "x", .labels = {{"b", ""}, {"a", ""}}}),
              "a pod's labels go by their keys, each once"},
             {"labels and a topology", with({.name_space = "x", .labels = {{"a", "b"}}}, together), ""},
             {"a term and a topology", with({.near = {term}}, together),
              "a pod set that is placed by a topology asks nothing of the pods around it"},
         });
}

TEST(Refusal, OfParallelSizes) {
  const auto with = [](Parallelism parallel, std::int64_t pods, PodRequest request = {.gpus = 2, .gpu_milli = 1000},
                       Topology topology = {}, Neighbours neighbours = {}) {
    return Event(
        submission(QueueId(0), {{{{request, pods, {}, std::move(topology), std::move(neighbours), parallel}}}}));
  };
  const char* const bounds = "parallel sizes are 1 to 1,048,576 each";
  const char* const whole = "parallel sizes are of whole GPUs";
  const char* const alone =
      "a pod set with parallel sizes has no slices, is not spread and asks nothing of the pods around";
  const PodRequest two{.gpus = 2, .gpu_milli = 1000};
  expect(known(),
         {
             {"the same GPUs", with({2, 3, 2}, 6), ""},
             {"in one rack", with({4, 1, 1}, 2, two, {.together = Togetherness::kRequired, .level = "rack"}), ""},
             {"a size of none", with({2, 3, 0}, 3), bounds},
             {"a negative one", with({2, -1, -3}, 3), bounds},
             {"the largest and one", with({(1 << 20) + 1, 1, 1}, 3), bounds},
             {"other GPUs", with({2, 3, 2}, 5), "the product of the parallel sizes is the number of the set's GPUs"},
             {"torn pods", with({3, 2, 1}, 3), "a tensor group is whole pods, or a pod whole tensor groups"},
             {"no GPUs", with({1, 1, 1}, 1, {}), whole},
             {"a part of one", with({1, 1, 1}, 1, {.gpus = 1, .gpu_milli = 500}), whole},
             {"a slice of pods", with({2, 1, 2}, 2, two, {.slice_pods = 2, .slice_level = "node"}), alone},
             {"spread", with({2, 1, 2}, 2, two, {.spread = Spreading::kEven, .spread_level = "node"}), alone},
             {"among others", with({2, 1, 2}, 2, two, {}, {.name_space = "x", .ports = {{.port = 80}}}), alone},
         });
}

TEST(Refusal, OfWorkloads) {
  const char* const phase = "there is no such workload in that phase";
  WorkloadSubmitted late = submission(QueueId(0), single_pod({}));
  late.at = kTimeMax + Duration{1};
  WorkloadSubmitted early = late;
  early.at = Time{-1};
  expect(known(),
         {
             {"an unknown queue", submission(QueueId(1), single_pod({})), "there is no such queue"},
             {"too late", late, "a time is out of bounds"},
             {"too early", early, "a time is out of bounds"},
             {"too long", submission(QueueId(0), single_pod({}), Duration{kTimeMax.ms + 1}), "a time is out of bounds"},
             {"run not declared", submission(QueueId(0), single_pod({}), kRunNotDeclared), ""},
             {"no way", submission(QueueId(0), {}), "a workload needs at least one way to run"},
             {"no pod set", submission(QueueId(0), {{{}}}), "a workload has 1 to 1,000,000 pods"},
             {"no pod", submit({}, 0), "a pod set has 1 to 1,000,000 pods"},
             {"the most pods", submit({}, 1'000'000), ""},
             {"too many pods", submit({}, 1'000'001), "a pod set has 1 to 1,000,000 pods"},
             {"too many in sum", submission(QueueId(0), {{{{{}, 1'000'000}, {{}, 1}}}}),
              "a workload has 1 to 1,000,000 pods"},
             {"ways that differ in flavors",
              submission(QueueId(0), {{{{{.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::first(1)}, 1}},
                                       {{{.gpus = 1, .gpu_milli = 1, .flavors = FlavorSet::first(2)}, 1}}}}),
              ""},
             {"ways that differ in count", submission(QueueId(0), {{{{kGpu, 1}}, {{kGpu, 2}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"ways in which so much memory is another part",
              submission(QueueId(0), {{{{with_memory(500, 1), 1}}, {{with_memory(250, 1), 1}}}}), ""},
             {"ways that differ in memory",
              submission(QueueId(0), {{{{with_memory(500, 1), 1}}, {{with_memory(500, 2), 1}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"ways that differ in a part without memory",
              submission(QueueId(0), {{{{with_memory(500, 0), 1}}, {{with_memory(250, 0), 1}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"ways that differ in pod sets", submission(QueueId(0), {{{{kGpu, 1}}, {{kGpu, 1}, {kGpu, 1}}}}),
              "the ways of a workload may differ in their flavors only"},
             {"end one that waits", WorkloadEnded{WorkloadId(0)}, phase},
             {"cancel one that waits", WorkloadCancelled{WorkloadId(0)}, ""},
             {"cancel again", WorkloadCancelled{WorkloadId(1)}, phase},
             {"cancel nobody", WorkloadCancelled{WorkloadId(2)}, phase},
             {"end nobody", WorkloadEnded{WorkloadId()}, phase},
         });
}

TEST(Refusal, OfQueuesThatChange) {
  State state = known();
  state.apply(QueueAdded{{"queue/child", QueueId(0), {}}});
  const auto top = [](const std::function<void(Queue&)>& change) {
    Queue queue{.name = "queue", .parent = {}, .order = Order::kFifo};
    change(queue);
    return QueueChanged{QueueId(0), queue};
  };
  const char* const stays = "a queue keeps its name and its parent";
  const char* const line = "whether a queue has a line of its own does not change";
  expect(state, {
                    {"nothing", top([](Queue&) {}), ""},
                    {"its order", top([](Queue& queue) { queue.order = Order::kSjf; }), ""},
                    {"its amounts",
                     top([](Queue& queue) { queue.quota.limit = {{Dim(FlavorId(0), Resource::kGpu), 1}}; }), ""},
                    {"amounts out of bounds",
                     top([](Queue& queue) { queue.quota.limit = {{Dim(FlavorId(0), Resource::kGpu), -1}}; }),
                     "a quota's amount is out of bounds"},
                    {"held and closed", top([](Queue& queue) { queue.held = queue.closed = true; }), ""},
                    {"its name", top([](Queue& queue) { queue.name = "other"; }), stays},
                    {"its parent", top([](Queue& queue) { queue.parent = QueueId(1); }), stays},
                    {"no order", top([](Queue& queue) { queue.order.reset(); }), line},
                    {"a first order", QueueChanged{QueueId(1), {"queue/child", QueueId(0), Order::kFifo}}, line},
                    {"nobody", QueueChanged{QueueId(2), {"queue", {}, Order::kFifo}}, "there is no such queue"},
                });
}

TEST(Refusal, OfWorkloadsThatChange) {
  const char* const phase = "there is no such workload in that phase";
  State state = known();
  state.apply(WorkloadFound{submission(QueueId(0), single_pod(kGpu)), {{NodeId(0), GpuSet::from_bits(1)}}, Time{}});
  expect(state, {
                    {"a waiting one", WorkloadPrioritized{WorkloadId(0), kPriorityMax}, ""},
                    {"a running one", WorkloadPrioritized{WorkloadId(2), -kPriorityMax}, ""},
                    {"one that is over", WorkloadPrioritized{WorkloadId(1), 0}, phase},
                    {"nobody", WorkloadPrioritized{WorkloadId(3), 0}, phase},
                    {"too high", WorkloadPrioritized{WorkloadId(0), kPriorityMax + 1}, "a priority is out of bounds"},
                    {"move a waiting one", WorkloadMoved{WorkloadId(0), QueueId(0)}, ""},
                    {"move a running one", WorkloadMoved{WorkloadId(2), QueueId(0)}, phase},
                    {"to nowhere", WorkloadMoved{WorkloadId(0), QueueId(1)}, "there is no such queue"},
                });
}

// One that waits with a step, one that is over, and one with two pod sets that are not alike.
TEST(Refusal, OfSteps) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo, Order::kFifo});
  const PodSet pod{{.gpus = 1, .gpu_milli = kMilliPerGpu}, 1};
  const auto step_of = [&](std::size_t of, WorkloadShape shape) {
    WorkloadSubmitted step = submission(QueueId(0), std::move(shape));
    step.step_of = WorkloadId(of);
    return step;
  };
  const WorkloadShape one{{{pod}}, {}};
  state.apply(submission(QueueId(0), one));
  state.apply(step_of(0, one));
  state.apply(submission(QueueId(0), one));
  state.apply(WorkloadCancelled{WorkloadId(2)});
  PodSet larger = pod;
  larger.request.gpus = 2;
  state.apply(submission(QueueId(0), {{{larger, pod}}, {}}));
  WorkloadSubmitted elsewhere = step_of(0, one);
  elsewhere.queue = QueueId(1);
  WorkloadSubmitted later = step_of(0, one);
  later.not_before = Time{1000};
  PodSet two = pod;
  two.count = 2;
  const char* const alone = "a step is no workload by itself";
  const char* const size = "a step is one pod more of one of its workload's pod sets";
  const char* const whose = "a step is of a workload that has not ended";
  expect(state, {
                    {"one more", step_of(0, one), ""},
                    {"of nobody", step_of(9, one), whose},
                    {"of one that is over", step_of(2, one), whose},
                    {"of a step", step_of(1, one), whose},
                    {"of one of two pod sets", step_of(3, one), ""},
                    {"of another kind than its pods", step_of(0, {{{larger}}, {}}), size},
                    {"of both pod sets", step_of(3, {{{larger, pod}}, {}}), size},
                    {"of two pods", step_of(0, {{{two}}, {}}), size},
                    {"in other ways", step_of(0, {{{pod}, {pod}}, {}}), size},
                    {"in another queue", elsewhere, "a step is in its workload's queue"},
                    {"later", later, "a step waits for its workload alone"},
                    {"that runs", WorkloadFound{step_of(0, one), {{NodeId(0), {}}}, Time{}},
                     "what runs already is no step of another"},
                    {"cancelled", WorkloadCancelled{WorkloadId(1)}, alone},
                    {"prioritized", WorkloadPrioritized{WorkloadId(1), 1}, alone},
                    {"moved", WorkloadMoved{WorkloadId(1), QueueId(1)}, alone},
                    {"moved with its workload", WorkloadMoved{WorkloadId(0), QueueId(1)}, ""},
                });
}

// One cut A100 of the first flavor; the second is of another family.
State cut() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  state.apply(add_node({.name = "", .flavor = FlavorId(0), .gpus = 1, .pods_max = 9, .sharing = Sharing::kMig}));
  return state;
}

PodRequest slice_called(std::string_view name, std::size_t flavor = 0) {
  const NamedSlice slice = *find_slice(random_world_flavor(FlavorId(flavor)), name);
  return {.gpus = 1,
          .gpu_milli = slice.gpu_milli,
          .flavors = FlavorSet::of(FlavorId(flavor)),
          .sharing = Sharing::kMig,
          .slice = slice.shape};
}

TEST(Refusal, OfNodesThatAreCutAndOfSlices) {
  const char* const mode = "a node that is cut into slices has GPUs of a model that can be";
  const char* const no_such = "a GPU cannot be cut into that slice";
  const char* const shape = "a pod's request is out of bounds";
  State state = cut();
  state.apply(FlavorAdded{{.name = "l4", .model = "L4"}});
  const auto with = [](PodRequest request, auto change) {
    change(request);
    return submit(request);
  };
  const PodRequest half = slice_called("3g.40gb");
  const auto fixed = [](MigPlaceSet slices, Sharing sharing = Sharing::kMig) {
    return add_node({.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = sharing, .fixed_slices = slices});
  };
  const MigPlaceSet smallest = MigPlaceSet::of(0), all = MigPlaceSet::of(kMigOfA100.places().size() - 1);
  expect(state, {
                    {"a node that was cut beforehand", fixed(smallest), ""},
                    {"into what cannot be together", fixed(smallest.united_with(all)),
                     "a node's GPUs cannot be cut into these slices together"},
                    {"into what there is not", fixed(MigPlaceSet::of(31)),
                     "a node's GPUs cannot be cut into these slices together"},
                    {"whole GPUs that were cut", fixed(smallest, Sharing::kExclusive),
                     "a node with slices has GPUs that are cut"},
                    {"a node of another family",
                     add_node({.name = "", .flavor = FlavorId(1), .gpus = 4, .sharing = Sharing::kMig}), ""},
                    {"a model without slices",
                     add_node({.name = "", .flavor = FlavorId(2), .gpus = 4, .sharing = Sharing::kMig}), mode},
                    {"no GPU to cut", add_node({.name = "", .flavor = FlavorId(), .gpus = 0, .sharing = Sharing::kMig}),
                     "a node that shares GPUs has some"},
                    {"a slice", submit(half), ""},
                    {"of a flavor that has fewer shapes",
                     with(half, [](PodRequest& r) { r.flavors = FlavorSet::of(FlavorId(1)), r.slice = 9; }), no_such},
                    {"of one that is not cut",
                     with(half, [](PodRequest& r) { r.flavors = FlavorSet::of(FlavorId(2)); }), no_such},
                    {"of one that is and one that is not",
                     with(half, [](PodRequest& r) { r.flavors.add(FlavorId(2)); }), no_such},
                    {"two in one pod", with(half, [](PodRequest& r) { r.gpus = 2, r.gpu_milli = 1000; }), shape},
                    {"of more processors than it has", with(half, [](PodRequest& r) { r.gpu_milli = 1000; }),
                     "a slice is another part of the GPU's processors"},
                    {"of fewer processors than it has", with(half, [](PodRequest& r) { r.gpu_milli = 100; }),
                     "a slice is another part of the GPU's processors"},
                    {"with memory of its own", with(half, [](PodRequest& r) { r.gpu_memory_mib = 1; }), shape},
                });
}

TEST(Refusal, OfNodesOfSeveralModes) {
  const auto node = [](Sharing own, SharingSet others, std::size_t flavor = 0) {
    return add_node({.name = "", .flavor = FlavorId(flavor), .gpus = 1, .sharing = own, .other_modes = others});
  };
  const SharingSet mig = SharingSet::of(Sharing::kMig);
  SharingSet both = mig;
  both.add(Sharing::kMps);
  Node fixed{.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = Sharing::kMig};
  fixed.other_modes = SharingSet::of(Sharing::kMps);
  fixed.fixed_slices = MigPlaceSet::of(0);
  State state = cut();
  state.apply(FlavorAdded{{.name = "l4", .model = "L4"}});
  expect(state,
         {
             {"whole or cut", node(Sharing::kExclusive, mig), ""},
             {"whole, cut or shared", node(Sharing::kExclusive, both), ""},
             {"the same twice", node(Sharing::kMig, mig), "the modes of a node are several different ones"},
             {"one that there is not", node(Sharing::kExclusive, SharingSet::from_bits(0x20)),
              "the modes of a node are several different ones"},
             {"in turns by itself", node(Sharing::kTimeslice, mig), "a time-sliced node is nothing else besides"},
             {"in turns instead", node(Sharing::kExclusive, SharingSet::of(Sharing::kTimeslice)),
              "a time-sliced node is nothing else besides"},
             {"cut beforehand", add_node(fixed), "a node that was cut beforehand is nothing else besides"},
             {"of a model that cannot be cut", node(Sharing::kExclusive, mig, 2),
              "a node that is cut into slices has GPUs of a model that can be"},
         });
}

TEST(Refusal, OfFoundPodsThatMakeTwoThingsOfANode) {
  State state = cut();
  state.apply(add_node(
      {.name = "", .flavor = FlavorId(0), .gpus = 2, .pods_max = 9, .other_modes = SharingSet::of(Sharing::kMig)}));
  const NodeId node(state.nodes() - 1);
  const PodRequest slice = slice_called("1g.10gb");
  const PodRequest gpu{.gpus = 1, .gpu_milli = 1000};
  const auto found = [&](const PodRequest& first, const PodRequest& second) {
    WorkloadFound event;
    event.workload.name = "found";
    event.workload.queue = QueueId(0);
    event.workload.shape.ways = {{{first, 1}, {second, 1}}};
    event.pods = {{node, GpuSet::from_bits(1)}, {node, GpuSet::from_bits(2)}};
    return Event(std::move(event));
  };
  const char* const otherwise = "its node's GPUs are shared in another way";
  expect(state, {{"two of one mode", found(slice, slice), ""},
                 {"a slice beside a GPU", found(slice, gpu), otherwise},
                 {"a GPU beside a slice", found(gpu, slice), otherwise}});
  state.apply(found(gpu, gpu));
  expect(state, {{"a slice where somebody has a GPU", found(slice, slice), otherwise}});
}

TEST(Refusal, OfVgpus) {
  State state = known();
  state.apply(FlavorAdded{{.name = "gb200", .model = "GB200"}});
  const auto node = [](std::size_t flavor) {
    return add_node({.name = "", .flavor = FlavorId(flavor), .gpus = 1, .pods_max = 9, .sharing = Sharing::kVgpu});
  };
  const auto vgpu = [](std::int32_t milli) {
    return PodRequest{.gpus = 1, .gpu_milli = milli, .flavors = FlavorSet::first(1), .sharing = Sharing::kVgpu};
  };
  expect(state, {{"a node of a model that has some", node(0), ""},
                 {"a node of a model that has none", node(2), "a node with vGPUs has GPUs of a model that has some"},
                 {"half a GPU", submit(vgpu(500)), ""},
                 {"a third, of a model that has none", submit(vgpu(333)), "a GPU has no vGPUs of that size"}});
  state.apply(node(0));
  const NodeId there(state.nodes() - 1);
  const auto found = [&](const PodRequest& first, const PodRequest& second) {
    WorkloadFound event;
    event.workload.name = "found";
    event.workload.queue = QueueId(0);
    event.workload.shape.ways = {{{first, 1}, {second, 1}}};
    event.pods = {{there, GpuSet::from_bits(1)}, {there, GpuSet::from_bits(1)}};
    return Event(std::move(event));
  };
  const char* const otherwise = "its GPU has vGPUs of another profile";
  expect(state, {{"two of one profile", found(vgpu(250), vgpu(250)), ""},
                 {"a larger one beside it", found(vgpu(250), vgpu(500)), otherwise},
                 {"a smaller one beside it", found(vgpu(250), vgpu(200)), otherwise}});
  state.apply(found(vgpu(250), vgpu(250)));
  expect(state, {{"two more", found(vgpu(250), vgpu(250)), ""}, {"others", found(vgpu(200), vgpu(200)), otherwise}});
}

TEST(Refusal, OfScrubsWhereNodesTurn) {
  const char* const why =
      "GPUs that may be cut or not are not scrubbed between; let their nodes be of one mode, or let a scrub take no "
      "time";
  const Event turning = add_node({.name = "",
                                  .flavor = FlavorId(0),
                                  .gpus = 1,
                                  .sharing = Sharing::kMig,
                                  .other_modes = SharingSet::of(Sharing::kExclusive)});
  State state = cut();
  expect(state, {{"a scrub", ScrubChosen{seconds(60)}, ""}, {"such a node", turning, ""}});
  State turns = state.fork();
  turns.apply(turning);
  expect(turns, {{"a scrub that takes time", ScrubChosen{seconds(60)}, why}, {"none", ScrubChosen{seconds(0)}, ""}});
  state.apply(ScrubChosen{seconds(60)});
  expect(state, {{"such a node", turning, why}});
}

TEST(Refusal, OfScrubsWhereSlicesStay) {
  const char* const why =
      "slices that were cut beforehand are not scrubbed; let them be cut as pods ask, or let a scrub take no time";
  const Event fixed = add_node(
      {.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = Sharing::kMig, .fixed_slices = MigPlaceSet::of(0)});
  State state = cut();
  expect(state, {{"a scrub", ScrubChosen{seconds(60)}, ""}, {"slices", fixed, ""}});
  State scrubbed = cut();
  scrubbed.apply(ScrubChosen{seconds(60)});
  expect(scrubbed, {{"slices where something is scrubbed", fixed, why}});
  state.apply(fixed);
  expect(state, {{"a scrub where slices stay", ScrubChosen{seconds(60)}, why},
                 {"one that takes no time", ScrubChosen{Duration{0}}, ""}});
}

// A slice is found where it is, if it is there.
TEST(Refusal, OfSlicesThatNobodyCut) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  const PodRequest half = slice_called("3g.40gb"), seventh = slice_called("1g.10gb");
  const auto place = [](const PodRequest& slice, std::size_t start) {
    return MigPlaceSet::of(*kMigOfA100.find_place(slice.slice, start));
  };
  state.apply(add_node({.name = "",
                        .flavor = FlavorId(0),
                        .gpus = 1,
                        .pods_max = 9,
                        .sharing = Sharing::kMig,
                        .fixed_slices = place(half, 4).united_with(place(seventh, 3))}));
  const auto found = [](const PodRequest& slice, std::uint8_t start) {
    GpuSet first;
    first.add(0);
    return WorkloadFound{
        .workload = submission(QueueId(0), single_pod(slice)), .pods = {{NodeId(0), first, start}}, .started = Time{}};
  };
  const char* const taken = "its GPUs are not free on that node";
  expect(state, {{"one that there is", found(half, 4), ""},
                 {"one that could be cut", found(half, 0), taken},
                 {"a small one that could be cut", found(seventh, 2), taken},
                 {"a small one that there is", found(seventh, 3), ""}});
  state.apply(found(seventh, 3));
  expect(state, {{"one that is taken", found(seventh, 3), taken}, {"the other", found(half, 4), ""}});
}

TEST(Refusal, OfNodesThatKeepSomethingForTheirGpusOrHaveZones) {
  const char* const kept = "a node keeps no more for its GPUs than it has";
  const char* const extra = "a node promises at most 10 times what it has";
  const char* const zones = "a node has 1 to 8 NUMA zones";
  const char* const policy = "a node with a NUMA policy has GPUs that are not shared";
  const auto with = [](auto change) {
    Node node{.name = "", .flavor = FlavorId(0), .gpus = 4, .cpu_milli = 40'003, .memory_bytes = 400};
    change(node);
    return add_node(node);
  };
  const auto without_gpus = [](auto change) {
    Node node{.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 40'000};
    change(node);
    return add_node(node);
  };
  const State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  expect(state, {
                    {"all of it", with([](Node& n) { n.kept_per_gpu = {10'000, 100}; }), ""},
                    {"more CPUs", with([](Node& n) { n.kept_per_gpu = {10'001, 0}; }), kept},
                    {"more memory", with([](Node& n) { n.kept_per_gpu = {0, 101}; }), kept},
                    {"less than nothing", with([](Node& n) { n.kept_per_gpu = {-1, 0}; }), kept},
                    {"for no GPU", without_gpus([](Node& n) { n.kept_per_gpu = {1, 0}; }),
                     "a node that keeps something for its GPUs has some"},
                    {"all that may be promised", with([](Node& n) { n.extra = {9 * n.cpu_milli, 0}; }), ""},
                    {"more CPUs than that", with([](Node& n) { n.extra = {9 * n.cpu_milli + 1, 0}; }), extra},
                    {"more memory", with([](Node& n) { n.extra = {0, 9 * n.memory_bytes + 1}; }), extra},
                    {"less than it has", with([](Node& n) { n.extra = {0, -1}; }), extra},
                    {"the most zones", with([](Node& n) { n.numa_zones = kNumaZonesMax; }), ""},
                    {"one more", with([](Node& n) { n.numa_zones = kNumaZonesMax + 1; }), zones},
                    {"none", with([](Node& n) { n.numa_zones = 0; }), zones},
                    {"a policy", with([](Node& n) { n.numa_policy = NumaPolicy::kRestricted; }), ""},
                    {"of shared GPUs", with([](Node& n) {
                       n.numa_policy = NumaPolicy::kBestEffort;
                       n.sharing = Sharing::kMps;
                     }),
                     policy},
                    {"without GPUs", without_gpus([](Node& n) { n.numa_policy = NumaPolicy::kRestricted; }), policy},
                });
}

// A node of each flavor: the first has MPS, the second is time-sliced.
State shared() {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo, Order::kFifo});
  state.apply(add_node({.name = "", .flavor = FlavorId(0), .gpus = 2, .pods_max = 99, .sharing = Sharing::kMps}));
  state.apply(add_node(
      {.name = "", .flavor = FlavorId(1), .gpus = 1, .pods_max = 99, .sharing = Sharing::kTimeslice, .replicas = 2}));
  return state;
}

constexpr PodRequest kShare{.gpus = 1, .gpu_milli = 250, .sharing = Sharing::kMps};
constexpr PodRequest kReplica{.gpus = 1, .gpu_milli = 1000, .sharing = Sharing::kTimeslice};

TEST(Refusal, OfNodesThatShareAndOfSharesAndReplicas) {
  const char* const replicas = "a time-sliced GPU counts as 2 to 32 replicas, any other as one";
  const char* const request = "a pod's request is out of bounds";
  const char* const terms = "replicas are for best effort that is not critical";
  const auto node = [](Sharing sharing, std::int32_t count) {
    return add_node({.name = "", .flavor = FlavorId(0), .gpus = 1, .sharing = sharing, .replicas = count});
  };
  const auto with = [](PodRequest asked, auto change) {
    change(asked);
    return submit(asked);
  };
  const auto on_terms = [](const PodRequest& asked, const Terms& of) {
    WorkloadShape shape = single_pod(asked);
    shape.terms = of;
    return submission(QueueId(0), shape);
  };
  WorkloadShape either{{{{kReplica, 1}}, {{kGpu, 1}}}, {.best_effort = true}};
  WorkloadShape neither = either;
  neither.ways[1][0].request.gpu_milli = 500;
  PodRequest all_of_it = kShare;
  all_of_it.gpu_milli = kMilliPerGpu;
  const WorkloadShape share_first{{{{all_of_it, 1}}, {{kGpu, 1}}}, {.best_effort = true}};
  const WorkloadShape gpu_first{{{{kGpu, 1}}, {{all_of_it, 1}}}, {.best_effort = true}};
  const char* const ways = "the ways of a workload may differ in their flavors only";
  expect(shared(), {
                       {"two replicas", node(Sharing::kTimeslice, 2), ""},
                       {"the most", node(Sharing::kTimeslice, kReplicasMax), ""},
                       {"one more", node(Sharing::kTimeslice, kReplicasMax + 1), replicas},
                       {"one that is none", node(Sharing::kTimeslice, 1), replicas},
                       {"elsewhere", node(Sharing::kMps, 2), replicas},
                       {"a share", submit(kShare), ""},
                       {"the least", with(kShare, [](PodRequest& r) { r.gpu_milli = kMpsMilliMin; }), ""},
                       {"less", with(kShare, [](PodRequest& r) { r.gpu_milli = kMpsMilliMin - 1; }), request},
                       {"with memory", with(kShare, [](PodRequest& r) { r.gpu_memory_mib = 9; }), ""},
                       {"of two", with(kShare, [](PodRequest& r) { r.gpus = 2, r.gpu_milli = 1000; }), request},
                       {"whose is ours to say", with(kShare, [](PodRequest& r) { r.sharer = SharerId(0); }), request},
                       {"a slice of a share", with(kShare, [](PodRequest& r) { r.slice = 0; }), request},
                       {"a replica that counts", submit(kReplica), terms},
                       {"one that does not", on_terms(kReplica, {.best_effort = true}), ""},
                       {"a critical one", on_terms(kReplica, {.best_effort = true, .latency_critical = true}), terms},
                       {"with memory of its own", with(kReplica, [](PodRequest& r) { r.gpu_memory_mib = 9; }), request},
                       {"a part of one", with(kReplica, [](PodRequest& r) { r.gpu_milli = 500; }), request},
                       {"a replica or a GPU", submission(QueueId(0), either), ""},
                       {"a replica or a part of a GPU", submission(QueueId(0), neither), ways},
                       {"a share of all of a GPU, or a GPU", submission(QueueId(0), share_first), ways},
                       {"a GPU, or a share of all of it", submission(QueueId(0), gpu_first), ways},
                   });
}

TEST(Refusal, OfWorkThatAsksWhatNodesPromiseMoreThanOnce) {
  const State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  const auto asks = [](const PodRequest& request, const Terms& terms) {
    return submission(QueueId(0), WorkloadShape{{{{request, 1}}}, terms});
  };
  const Terms best_effort{.best_effort = true};
  expect(state, {{"best effort", asks({.cpu_milli = 1, .in_extra = true}, best_effort), ""},
                 {"memory alone", asks({.memory_bytes = 1, .in_extra = true}, best_effort), ""},
                 {"neither", asks({.in_extra = true}, best_effort), "a pod's request is out of bounds"},
                 {"work that counts", asks({.cpu_milli = 1, .in_extra = true}, {}),
                  "only best effort has what nodes promise beyond what they have"}});
}

// Best effort that is found holds what is extra first, whoever is found before it.
TEST(Refusal, OfBestEffortFoundBeyondWhatIsPromised) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(add_node({.name = "", .flavor = {}, .gpus = 0, .gpu_memory_mib = 0, .cpu_milli = 100, .extra = {50, 0}}));
  const auto found = [](std::int64_t cpu_milli, bool in_extra, std::size_t pods = 1) {
    const PodRequest request{.cpu_milli = cpu_milli, .in_extra = in_extra};
    const WorkloadShape shape{{{{request, static_cast<std::int64_t>(pods)}}}, {.best_effort = in_extra}};
    return WorkloadFound{.workload = submission(QueueId(0), shape),
                         .pods = std::vector<PodPlacement>(pods, {NodeId(0), {}}),
                         .started = Time{}};
  };
  const char* const too_little = "its node has too little free CPU";
  expect(state, {{"all that is promised", found(75, true, 2), ""},
                 {"more", found(76, true, 2), too_little},
                 {"all that there is", found(50, false, 2), ""},
                 {"what counts, of the extra", found(51, false, 2), too_little}});
  state.apply(found(60, false));
  expect(state, {{"what is left", found(90, true), ""}, {"more than that", found(91, true), too_little}});
  state.apply(found(90, true));
  expect(state, {{"one of those who count, where all is promised", found(1, false), too_little}});
}

TEST(Refusal, OfSharesAndReplicasFoundRunning) {
  const auto found = [](const PodRequest& request, std::size_t node, const char* user, std::size_t queue = 0,
                        std::int64_t count = 1) {
    WorkloadFound fact{submission(QueueId(queue), {{{{request, count}}}, {.best_effort = true}}), {}, Time{}};
    fact.workload.user = user;
    fact.pods.assign(static_cast<std::size_t>(count), {NodeId(node), GpuSet::from_bits(1)});
    return fact;
  };
  const char* const taken = "its GPUs are not free on that node";
  const char* const others = "a server of MPS serves another user on its GPU";
  State state = shared();
  expect(state,
         {
             {"four shares", found(kShare, 0, "ann", 0, 4), ""},
             {"five", found(kShare, 0, "ann", 0, 5), taken},
             {"two replicas", found(kReplica, 1, "ann", 0, 2), ""},
             {"three", found(kReplica, 1, "ann", 0, 3), taken},
             {"a replica where there is none", found(kReplica, 0, "ann"), "its node's GPUs are shared in another way"},
         });
  state.apply(found(kShare, 0, "ann"));
  state.apply(found(kReplica, 1, "ann"));
  expect(state, {
                    {"her own", found(kShare, 0, "ann"), ""},
                    {"somebody who was never there", found(kShare, 0, "bob"), others},
                    {"of her name in another tenant, as it is there", found(kShare, 0, "ann", 1), ""},
                    {"a replica beside hers", found(kReplica, 1, "bob"), ""},
                });
  EXPECT_TRUE(violations(state).empty());
}

// Three tenants, of whom the first has a queue with work below it and one without.
TEST(Refusal, OfReservations) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 2, {Order::kFifo});
  Queue bounded{.name = "bounded", .parent = {}, .order = Order::kFifo};
  bounded.quota.limit = {{Dim(FlavorId(0), Resource::kGpu), 2000}};
  state.apply(QueueAdded{bounded});
  state.apply(NodesAdded{{{.name = "a", .flavor = FlavorId(0), .gpus = 4},
                          {.name = "b", .flavor = FlavorId(0), .gpus = 4, .sharing = Sharing::kMps}}});
  const Reservation good{.name = "r",
                         .queue = QueueId(0),
                         .flavor = FlavorId(0),
                         .gpus = 4,
                         .nodes = {},
                         .from = Time{10'000},
                         .lasts = Duration{1000}};
  const auto with = [&](auto change) {
    Reservation made = good;
    made.name = "other";
    change(made);
    return Event(ReservationAdded{made});
  };
  const auto close = [&](std::vector<NodeId> nodes) {
    Reservation made{good};
    made.name = "m";
    made.queue = {};
    made.flavor = {};
    made.gpus = 0;
    made.nodes = std::move(nodes);
    made.from = Time{10'000};
    made.lasts = Duration{1000};
    return Event(ReservationAdded{made});
  };
  const auto found = [&](auto change) {
    ReservationAdded made{.reservation = good, .found = true, .had = {}};
    made.reservation.name = "other";
    change(made);
    return Event(made);
  };
  expect(state, {{"one", ReservationAdded{good}, ""}});
  ReservationAdded had{.reservation = good, .found = true, .had = {{NodeId(1), GpuSet::from_bits(1)}}};
  state.apply(had);
  state.apply(TimePassed{Time{5000}});
  const char* const past = "a reservation begins in the past; let it begin later";
  const char* const one_by_one = "the times of a reservation are one after the other, and each lasts for some time";
  const char* const of_gpus = "there are 4 GPUs of flavor that are not shared; reserve no more";
  expect(
      state,
      {
          {"another", with([](Reservation&) {}), ""},
          {"its name", with([](Reservation& r) { r.name = "r"; }),
           "there is a reservation r already; take another name, or cancel that one"},
          {"no name", with([](Reservation& r) { r.name = ""; }), "a reservation has a name"},
          {"now", with([](Reservation& r) { r.from = Time{5000}; }), ""},
          {"the past", with([](Reservation& r) { r.from = Time{4999}; }), past},
          {"no time", with([](Reservation& r) { r.lasts = Duration{0}; }),
           "a reservation lasts no time; write for how long"},
          {"a year and more", with([](Reservation& r) { r.lasts = kReservationLastsMax + Duration{1}; }),
           "a reservation lasts at most 366 days"},
          {"every day", with([](Reservation& r) { r.lasts = r.every = kReservationDay; }), ""},
          {"longer than a day, every day", with([](Reservation& r) {
             r.every = kReservationDay;
             r.lasts = kReservationDay + Duration{1};
           }),
           "what comes every day lasts at most 24 hours"},
          {"on days",
           with([](Reservation& r) { r.later = {{Time{11'000}, Time{12'000}}, {Time{12'000}, Time{13'000}}}; }), ""},
          {"on days, and every day", with([](Reservation& r) {
             r.every = kReservationDay;
             r.later = {{Time{11'000}, Time{12'000}}};
           }),
           "what comes every day has no other times besides"},
          {"again before it is over", with([](Reservation& r) { r.later = {{Time{10'999}, Time{12'000}}}; }),
           one_by_one},
          {"again for no time", with([](Reservation& r) { r.later = {{Time{11'000}, Time{11'000}}}; }), one_by_one},
          {"again, and again before",
           with([](Reservation& r) { r.later = {{Time{13'000}, Time{14'000}}, {Time{11'000}, Time{12'000}}}; }),
           one_by_one},
          {"again for too long",
           with([](Reservation& r) { r.later = {{Time{11'000}, Time{11'001} + kReservationLastsMax}}; }),
           "a reservation lasts at most 366 days"},
          {"later times", ReservationTimesTold{ReservationId(0), {{Time{11'000}, Time{12'000}}}}, ""},
          {"later times of none", ReservationTimesTold{ReservationId(1), {}}, "there is no such reservation"},
          {"later times that are not", ReservationTimesTold{ReservationId(0), {{Time{10'999}, Time{12'000}}}},
           one_by_one},
          {"every hour", with([](Reservation& r) { r.every = Duration{3'600'000}; }),
           "a reservation comes once or every day"},
          {"an unknown queue", with([](Reservation& r) { r.queue = QueueId(2); }), "there is no such queue"},
          {"an unknown flavor", with([](Reservation& r) { r.flavor = FlavorId(2); }), "there is no such flavor"},
          {"nothing", with([](Reservation& r) { r.gpus = 0; }), "nothing is reserved; write how many GPUs"},
          {"more than there are", with([](Reservation& r) { r.gpus = 5; }), of_gpus},
          {"nodes of a queue", with([](Reservation& r) { r.nodes = {NodeId(0)}; }),
           "a queue reserves GPUs, and not nodes"},
          {"as many as it may hold", with([](Reservation& r) {
             r.queue = QueueId(1);
             r.gpus = 2;
           }),
           ""},
          {"more than it may hold", with([](Reservation& r) { r.queue = QueueId(1); }),
           "queue bounded may hold 2 of these GPUs at most when it begins; reserve no more, or raise its limit"},
          {"maintenance", close({NodeId(0), NodeId(1)}), ""},
          {"of nothing", close({}), "maintenance is of some nodes; name them"},
          {"of one node twice", close({NodeId(1), NodeId(1)}), "maintenance names each node once"},
          {"of a node that there is not", close({NodeId(2)}), "there is no such node"},
          {"found, begun", found([](ReservationAdded& e) { e.reservation.from = Time{4500}; }), ""},
          {"found, over", found([](ReservationAdded& e) { e.reservation.from = Time{4000}; }),
           "a reservation is over already; let it begin later"},
          {"found, of more than there are", found([](ReservationAdded& e) { e.reservation.gpus = 5; }), ""},
          {"found, of far too many", found([](ReservationAdded& e) { e.reservation.gpus = 1'000'001; }),
           "a reservation is of 1,000,000 GPUs at most"},
          {"what it had", found([](ReservationAdded& e) { e.had = {{NodeId(0), GpuSet::from_bits(3)}}; }), ""},
          {"had, and new", found([](ReservationAdded& e) {
             e.found = false;
             e.had = {{NodeId(0), GpuSet::from_bits(3)}};
           }),
           "what is reserved anew has no places yet"},
          {"had nothing of a node", found([](ReservationAdded& e) { e.had = {{NodeId(0), GpuSet()}}; }),
           "there are no such GPUs"},
          {"had a fifth of four", found([](ReservationAdded& e) { e.had = {{NodeId(0), GpuSet::from_bits(16)}}; }),
           "there are no such GPUs"},
          {"had some of another node", found([](ReservationAdded& e) { e.had = {{NodeId(2), GpuSet::from_bits(1)}}; }),
           "there are no such GPUs"},
          {"a node twice", found([](ReservationAdded& e) {
             e.had = {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(0), GpuSet::from_bits(2)}};
           }),
           "places are named node by node"},
          {"had more than is reserved", found([](ReservationAdded& e) {
             e.had = {{NodeId(0), GpuSet::from_bits(7)}};
             e.reservation.gpus = 2;
           }),
           "a reservation has more than was reserved"},
          {"had what another has", found([](ReservationAdded& e) { e.had = {{NodeId(1), GpuSet::from_bits(1)}}; }),
           "a GPU is another reservation's at the same time"},
          {"had it at another time", found([](ReservationAdded& e) {
             e.had = {{NodeId(1), GpuSet::from_bits(1)}};
             e.reservation.from = Time{20'000};
           }),
           ""},
          {"its end", ReservationRemoved{ReservationId(0)}, ""},
          {"the end of another", ReservationRemoved{ReservationId(1)}, "there is no such reservation"},
      });
}

TEST(Refusal, OfWhoBacksOffFromTheStartAndOfPartsWithoutALevel) {
  const State state = known();
  const auto job = [](auto change) {
    WorkloadSubmitted made = submission(QueueId(0), single_pod({.gpus = 1, .gpu_milli = kMilliPerGpu}));
    made.backs_off = BackOff{.until = Time{5000}, .why = EvictionRule::kNode, .times = 3};
    change(made);
    return Event(made);
  };
  const char* const of_others = "nobody backs off from the start but for lost nodes, and pods that were never ready";
  expect(
      state,
      {{"for lost nodes", job([](WorkloadSubmitted&) {}), ""},
       {"never ready", job([](WorkloadSubmitted& w) { w.backs_off->why = EvictionRule::kNeverReady; }), ""},
       {"for a claim", job([](WorkloadSubmitted& w) { w.backs_off->why = EvictionRule::kReclaim; }), of_others},
       {"never", job([](WorkloadSubmitted& w) { w.backs_off->times = 0; }), "who backs off was stopped once at least"},
       {"for ever", job([](WorkloadSubmitted& w) { w.backs_off->until = kForever; }), "a time is out of bounds"},
       {"a part", job([](WorkloadSubmitted& w) {
          w.shape.ways.front().front().exclusive_level = "rack";
          w.shape.ways.front().front().exclusive_part = "a";
        }),
        ""},
       {"a part of nothing", job([](WorkloadSubmitted& w) { w.shape.ways.front().front().exclusive_part = "a"; }),
        "a part of a workload has domains for itself only where a level is named"}});
}

TEST(Refusal, OfMovesThatAreAskedFor) {
  const State state = known();
  const auto nodes = static_cast<std::int64_t>(state.nodes());
  const auto asked = [&](auto change) {
    DefragmentationAsked event{
        .moves = {{WorkloadId(0), {{NodeId(0), GpuSet::from_bits(1)}}}}, .gpus = 8, .horizon = seconds(3600)};
    change(event);
    return event;
  };
  ASSERT_GT(state.workloads().next_id(), WorkloadId(0));
  expect(state,
         {
             {"as it is", asked([](DefragmentationAsked&) {}), ""},
             {"nobody", asked([](DefragmentationAsked& e) { e.moves.clear(); }), ""},
             {"for pods of no GPU", asked([](DefragmentationAsked& e) { e.gpus = 0; }),
              "room is made for pods of 1 to so many GPUs as a node may have"},
             {"for pods of more than a node may have", asked([](DefragmentationAsked& e) { e.gpus = 65; }),
              "room is made for pods of 1 to so many GPUs as a node may have"},
             {"a slice of no flavor", asked([](DefragmentationAsked& e) { e.gpus = 1, e.slice = 0; }),
              "a slice is one, of a shape that GPUs of its flavor can be cut into"},
             {"a flavor and no slice", asked([](DefragmentationAsked& e) { e.flavor = FlavorId(0); }),
              "a slice is one, of a shape that GPUs of its flavor can be cut into"},
             {"of use for no time", asked([](DefragmentationAsked& e) { e.horizon = Duration{0}; }),
              "a time is out of bounds"},
             {"somebody who is not there", asked([](DefragmentationAsked& e) { e.moves[0].workload = WorkloadId(99); }),
              "there is no such workload"},
             {"nobody in particular", asked([](DefragmentationAsked& e) { e.moves[0].workload = WorkloadId(); }),
              "there is no such workload"},
             {"somebody twice", asked([](DefragmentationAsked& e) { e.moves.push_back(e.moves[0]); }),
              "nobody is moved twice at a time"},
             {"to no node",
              asked([&](DefragmentationAsked& e) { e.moves[0].to[0].node = NodeId(static_cast<std::size_t>(nodes)); }),
              "there is no such node"},
             {"to GPUs that there are not",
              asked([](DefragmentationAsked& e) { e.moves[0].to[0].gpus = GpuSet::from_bits(std::uint64_t{1} << 63); }),
              "its node has no such GPU"},
         });
}

TEST(Refusal, OfCirclesOfTrust) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo, Order::kFifo, Order::kFifo});
  for (int child = 0; child < 2; ++child) state.apply(QueueAdded{{"queue/child", QueueId(0), Order::kFifo}});
  const QueueId busy(3), idle(4);
  WorkloadSubmitted fact = submission(busy, {{{{PodRequest{.gpus = 1, .gpu_milli = 500}, 1}}}});
  state.apply(fact);
  const auto circles = [](const std::vector<std::vector<QueueId>>& list, Time part_by = Time{5}) {
    TrustChanged made{{}, part_by};
    for (const std::vector<QueueId>& queues : list) made.circles.push_back({.queues = queues});
    return made;
  };
  const char* const once = "a circle names each of its queues once";
  expect(state, {
                    {"none", circles({}), ""},
                    {"two that overlap", circles({{QueueId(0), QueueId(1)}, {QueueId(1), QueueId(2)}}), ""},
                    {"a queue below the top, without work", circles({{QueueId(1), idle}}), ""},
                    {"one with work", circles({{QueueId(1), busy}}),
                     "queue queue/child has work already that is its tenant's above it; name it in a circle before"},
                    {"nobody in it", circles({{}}), once},
                    {"one twice", circles({{QueueId(1), QueueId(1)}}), once},
                    {"in disorder", circles({{QueueId(1), QueueId(0)}}), once},
                    {"an unknown queue", circles({{QueueId(0), QueueId(5)}}), "there is no such queue"},
                    {"as many as there may be", circles(std::vector<std::vector<QueueId>>(64, {QueueId(0)})), ""},
                    {"one more", circles(std::vector<std::vector<QueueId>>(65, {QueueId(0)})),
                     "more than 64 circles of trust; put those together that trust each other"},
                    {"for ever", circles({}, kForever), ""},
                    {"in the year 20,000", circles({}, Time{kTimeMax.ms + 1}), "a time is out of bounds"},
                    {"how long a scrub takes, too late", ScrubChosen{Duration{1}},
                     "how long a scrub takes is said before the first workload comes"},
                });
  state.apply(WorkloadCancelled{WorkloadId(0)});
  expect(state, {{"its work has gone", circles({{QueueId(1), busy}}), ""}});
}

TEST(Refusal, OfStrangersThatAreKeptAway) {
  const auto apart = [](std::vector<std::string> levels, bool beyond_devices = true) {
    TrustChanged made{{}, Time{5}, beyond_devices};
    for (std::string& level : levels) made.circles.push_back({.queues = {}, .apart = {std::move(level)}});
    return made;
  };
  std::vector<std::string> labels;
  for (int i = 0; i < 31; ++i) labels.push_back("label" + std::to_string(i));
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  expect(state, {{"from nodes", apart({"node"}), ""},
                 {"from domains of 31 labels, and nodes", apart(labels), ""},
                 {"nobody from anything", apart({""}), "a circle names each of its queues once"},
                 {"where that is not known", apart({"node"}, false), "whose work is on which GPUs is not known here"}});
  labels.emplace_back("rack");
  expect(state,
         {{"from domains of 32 labels", apart(labels), "strangers are kept out of the domains of at most 31 labels"}});
  State late = state.fork();
  late.apply(submission(QueueId(0), {{{{PodRequest{.gpus = 1, .gpu_milli = 1000}, 1}}}}));
  expect(late, {{"when somebody is there", apart({"node"}),
                 "whose work is on which GPUs is to be known before anybody is there"}});
  state.apply(TrustChanged{{}, Time{}, true});
  state.apply(submission(QueueId(0), {{{{PodRequest{.gpus = 1, .gpu_milli = 1000}, 1}}}}));
  expect(state, {{"when it was known before", apart({"node"}, false), ""}});
}

TEST(Refusal, OfImages) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  state.apply(NodesAdded{{{.name = "n", .flavor = {}, .cpu_milli = 1}}});
  const auto images = [](std::vector<NodeImage> list) { return NodeImagesChanged{NodeId(0), std::move(list)}; };
  const char* const why = "a node has at most 10,000 images, each name once, of a TiB at most";
  expect(state, {{"two", images({{"a", 1}, {"b", 0}}), ""},
                 {"one twice", images({{"a", 1}, {"a", 1}}), why},
                 {"of less than nothing", images({{"a", -1}}), why},
                 {"of more than a TiB", images({{"a", kImageBytesMax + 1}}), why},
                 {"of a node that comes", NodesAdded{{{.name = "m", .flavor = {}, .images = {{"a", -1}}}}}, why},
                 {"of no node", NodeImagesChanged{NodeId(1), {}}, "there is no such node"}});
}

TEST(Refusal, OfNewCuts) {
  const auto node = [](Duration recut, MigPlaceSet slices) {
    return add_node({.name = "",
                     .flavor = FlavorId(0),
                     .gpus = 2,
                     .sharing = Sharing::kMig,
                     .fixed_slices = slices,
                     .recut = recut});
  };
  const MigPlaceSet whole = MigPlaceSet::of(kMigOfA100.places().size() - 1);
  State state = cut();
  const char* const why = "only slices that were cut beforehand are cut anew, in an hour at most";
  expect(state, {{"of slices that are there", node(seconds(60), whole), ""},
                 {"of none", node(seconds(60), {}), why},
                 {"in less than no time", node(Duration{-1}, whole), why},
                 {"in an hour", node(kRecutMax, whole), ""},
                 {"in more", node(kRecutMax + Duration{1}, whole), why}});
  state.apply(node(seconds(60), whole));
  expect(state, {{"nobody has asked for one", SlicesRecut{NodeId(1), 0}, "the GPU is not being cut anew"},
                 {"of no GPU", SlicesRecut{NodeId(1), 2}, "its node has no such GPU"},
                 {"of no node", SlicesRecut{NodeId(2), 0}, "there is no such node"}});
  const PodRequest request = slice_called("1g.10gb");
  const auto place = *kMigOfA100.find_place(request.slice, 6);
  state.apply(submission(QueueId(0), single_pod(request)));
  const WorkloadId id(0);
  Plan plan{.now = Time{}, .revision = state.revision()};
  plan.starts.push_back({.workload = id, .pods = {{NodeId(1), GpuSet::from_bits(1), 6}}, .waits = true});
  plan.repartitions.push_back({.node = NodeId(1),
                               .gpu = 0,
                               .before = whole,
                               .after = MigPlaceSet::of(place),
                               .claimant = id,
                               .takes = seconds(60)});
  state.adopt(plan);
  EXPECT_TRUE(violations(state).empty());
  const WorkloadFound found{.workload = submission(QueueId(0), single_pod(request)),
                            .pods = {{NodeId(1), GpuSet::from_bits(1), 5}},
                            .started = Time{}};
  expect(state, {{"it is being cut", SlicesRecut{NodeId(1), 0}, ""},
                 {"on a slice that is not there", found, "its GPUs are not free on that node"}});
  state.apply(NodeDrained{NodeId(1)});
  expect(state, {{"a closed node", SlicesRecut{NodeId(1), 0},
                  "its node is closed, or somebody is still on a slice that goes"}});
  state.apply(NodeRestored{NodeId(1)});
  state.apply(SlicesRecut{NodeId(1), 0});
  expect(state, {{"it is done", SlicesRecut{NodeId(1), 0}, "the GPU is not being cut anew"}});
  EXPECT_EQ(state.next_wake(), Time{600'000});
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfNodesThatAreCutAtOnce) {
  const MigPlaceSet whole = MigPlaceSet::of(kMigOfA100.places().size() - 1);
  const PodRequest request = slice_called("1g.10gb");
  const MigPlaceSet seventh = MigPlaceSet::of(*kMigOfA100.find_place(request.slice, 6));
  const auto node = [&](Duration recut, std::vector<MigPlaceSet> layouts) {
    return add_node({.name = "",
                     .flavor = FlavorId(0),
                     .gpus = 2,
                     .sharing = Sharing::kMig,
                     .fixed_slices = whole,
                     .recut = recut,
                     .layouts = std::move(layouts)});
  };
  State state = cut();
  const char* const why = "only slices that are cut anew have layouts, 16 at most, each of some slices";
  expect(state, {{"one", node(seconds(60), {seventh}), ""},
                 {"16", node(seconds(60), std::vector<MigPlaceSet>(16, seventh)), ""},
                 {"17", node(seconds(60), std::vector<MigPlaceSet>(17, seventh)), why},
                 {"of nothing", node(seconds(60), {MigPlaceSet()}), why},
                 {"of slices that stay", node(Duration{0}, {seventh}), why},
                 {"of slices that are not there together", node(seconds(60), {seventh.united_with(whole)}),
                  "a node's GPUs cannot be cut into these slices together"}});
  state.apply(node(seconds(60), {seventh}));
  const NodeId id(1);
  expect(state,
         {{"as it is", CutFound{id, whole, false, Time{}}, ""},
          {"being cut", CutFound{id, seventh, true, Time{}}, ""},
          {"of a node that is not", CutFound{NodeId(0), seventh, false, Time{}},
           "only of nodes whose GPUs are cut at once it is told how they are cut"},
          {"of no node", CutFound{NodeId(2), seventh, false, Time{}}, "there is no such node"},
          {"into nothing", CutFound{id, {}, false, Time{}}, "a node's GPUs cannot be cut into these slices together"},
          {"until before", CutFound{id, whole, false, Time{-1}}, "a time is out of bounds"}});
  state.apply(CutFound{id, seventh, true, Time{}});
  EXPECT_EQ(state.to_recut().size(), 2u);
  state.apply(CutFound{id, seventh, false, Time{5'000}});
  EXPECT_EQ(state.next_wake(), Time{5'000});
  EXPECT_TRUE(state.being_cut().empty());
  EXPECT_TRUE(violations(state).empty());
  const WorkloadFound found{.workload = submission(QueueId(0), single_pod(request)),
                            .pods = {{id, GpuSet::from_bits(1), 6}},
                            .started = Time{}};
  state.apply(found);
  expect(state, {{"somebody has one that is not there", CutFound{id, whole, false, Time{}},
                  "somebody has a slice that is not among these"},
                 {"somebody is there", CutFound{id, seventh, true, Time{}}, "somebody is there"},
                 {"into what it is", CutFound{id, seventh, false, Time{}}, ""}});
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfScrubs) {
  State state = new_state(Seed{1}, PlacementPolicy::kBestFit, 1, {Order::kFifo});
  expect(state, {{"how long they take", ScrubChosen{Duration{1}}, ""},
                 {"less than no time", ScrubChosen{Duration{-1}}, "a time is out of bounds"}});
  state.apply(ScrubChosen{Duration{1000}});
  state.apply(NodesAdded{{{.name = "n", .flavor = FlavorId(0), .gpus = 2}}});
  WorkloadFound found{submission(QueueId(0), {{{{PodRequest{.gpus = 1, .gpu_milli = 1000}, 1}}}}), {}, Time{}};
  found.pods = {{NodeId(0), GpuSet::from_bits(1)}};
  state.apply(found);
  expect(state, {
                    {"one that is in use", DeviceScrubbed{NodeId(0), 0}, "somebody is on the device"},
                    {"one that is free", DeviceScrubbed{NodeId(0), 1}, ""},
                    {"one that is not there", DeviceScrubbed{NodeId(0), 2}, "its node has no such GPU"},
                    {"no number", DeviceScrubbed{NodeId(0), -1}, "its node has no such GPU"},
                    {"of no node", DeviceScrubbed{NodeId(1), 0}, "there is no such node"},
                });
  state.apply(WorkloadEnded{WorkloadId(0)});
  EXPECT_EQ(state.to_scrub(), std::vector<Device>({{NodeId(0), 0}}));
  EXPECT_EQ(state.quotas().capacity()[Dim(FlavorId(0), Resource::kGpu).index()], 2000);
  state.apply(DeviceScrubbed{NodeId(0), 0, true});
  EXPECT_EQ(state.to_scrub(), std::vector<Device>());
  EXPECT_EQ(state.quotas().capacity()[Dim(FlavorId(0), Resource::kGpu).index()], 1000);
  expect(state, {{"again", DeviceScrubbed{NodeId(0), 0}, "the device is quarantined"}});
  EXPECT_TRUE(violations(state).empty());
  state.apply(NodeRestored{NodeId(0)});
  EXPECT_EQ(state.quotas().capacity()[Dim(FlavorId(0), Resource::kGpu).index()], 2000);
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfSlicesFoundRunning) {
  const auto found = [](const PodRequest& request, std::initializer_list<std::uint8_t> starts) {
    WorkloadFound fact{submission(QueueId(0), {{{{request, std::ssize(starts)}}}}), {}, Time{}};
    for (const std::uint8_t start : starts) fact.pods.push_back({NodeId(0), GpuSet::from_bits(1), start});
    return fact;
  };
  const char* const taken = "its GPUs are not free on that node";
  const PodRequest half = slice_called("3g.40gb"), seventh = slice_called("1g.10gb");
  State state = cut();
  expect(state, {
                    {"two halves", found(half, {0, 4}), ""},
                    {"at a start that there is not", found(half, {2}), taken},
                    {"twice in one place", found(half, {4, 4}), taken},
                    {"a whole GPU", found({.gpus = 1, .gpu_milli = 1000, .flavors = FlavorSet::of(FlavorId(0))}, {0}),
                     "its node's GPUs are shared in another way"},
                });
  state.apply(found(half, {4}));
  expect(state, {{"beside another", found(seventh, {3, 2}), ""},
                 {"in its way", found(seventh, {6}), taken},
                 {"one of two in its way", found(seventh, {2, 6}), taken}});
  EXPECT_TRUE(violations(state).empty());
}

TEST(Refusal, OfPodsFoundRunning) {
  const auto found = [](const PodRequest& request, NodeId node, std::uint64_t gpus, std::int64_t count = 1) {
    return WorkloadFound{submission(QueueId(0), {{{{request, count}}}}), {{node, GpuSet::from_bits(gpus)}}, Time{}};
  };
  const PodRequest gpu = kGpu;
  expect(
      known(),
      {
          {"a GPU", found(gpu, NodeId(0), 1), ""},
          {"a part of one", found({.gpus = 1, .gpu_milli = 300}, NodeId(0), 1), ""},
          {"no GPU", found({.cpu_milli = 1, .memory_bytes = 1}, NodeId(0), 0), ""},
          {"two pods in one place", found(gpu, NodeId(0), 1, 2), "a found workload has a place for each of its pods"},
          {"two pods on one device",
           WorkloadFound{submission(QueueId(0), {{{{gpu, 2}}}}),
                         {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(0), GpuSet::from_bits(1)}},
                         Time{}},
           "its GPUs are not free on that node"},
          {"two halves of one device",
           WorkloadFound{submission(QueueId(0), {{{{{.gpus = 1, .gpu_milli = 500}, 2}}}}),
                         {{NodeId(0), GpuSet::from_bits(1)}, {NodeId(0), GpuSet::from_bits(1)}},
                         Time{}},
           ""},
          {"two pods that ask too much CPU together",
           WorkloadFound{
               submission(QueueId(0), {{{{{.cpu_milli = 1}, 2}}}}), {{NodeId(0), {}}, {NodeId(0), {}}}, Time{}},
           "its node has too little free CPU"},
          {"in two ways",
           WorkloadFound{
               submission(QueueId(0), {{{{gpu, 1}}, {{gpu, 1}}}}), {{NodeId(0), GpuSet::from_bits(1)}}, Time{}},
           "a found workload runs in one way"},
          {"before all time",
           WorkloadFound{submission(QueueId(0), {{{{gpu, 1}}}}), {{NodeId(0), GpuSet::from_bits(1)}}, Time{-1}},
           "a time is out of bounds"},
          {"nowhere", found(gpu, NodeId(1), 1), "there is no such node"},
          {"no device named", found(gpu, NodeId(0), 0), "a found pod names as many GPUs as it asks"},
          {"a device too many", found({}, NodeId(0), 1), "a found pod names as many GPUs as it asks"},
          {"a device that there is not", found(gpu, NodeId(0), 2), "its GPUs are not free on that node"},
          {"another type", found({.gpus = 1, .gpu_milli = 1000, .flavors = FlavorSet::of(FlavorId(1))}, NodeId(0), 1),
           "its node's GPUs are of another type"},
          {"too much CPU", found({.cpu_milli = 2}, NodeId(0), 0), "its node has too little free CPU"},
          {"too much memory", found({.memory_bytes = 2}, NodeId(0), 0), "its node has too little free memory"},
      });
  State held = known();
  held.apply(found(gpu, NodeId(0), 1));
  const WorkloadId only(held.workloads().next_id().index() - 1);
  expect(held, {{"a device that is held", found(gpu, NodeId(0), 1), "its GPUs are not free on that node"},
                {"the last pod ends alone", PodEnded{only, 0}, "a workload has no such pod beside another"},
                {"a pod of nobody", PodEnded{WorkloadId(99), 0}, "there is no such workload in that phase"},
                {"it leaves", LeavingFound{only, Time{5}}, ""},
                {"it leaves before all time", LeavingFound{only, Time{-1}}, "a time is out of bounds"},
                {"nobody leaves", LeavingFound{WorkloadId(99), Time{5}}, "there is no such workload in that phase"}});
}

TEST(Refusal, OfWhatStartsLaterOrAfterOthers) {
  State state = known();
  const auto job = [](Time not_before, std::vector<Dependency> after) {
    WorkloadSubmitted made = submission(QueueId(0), single_pod({}));
    made.not_before = not_before;
    made.after = std::move(after);
    return made;
  };
  const std::vector<Dependency> many(1'001, {WorkloadId(0), DependsOn::kEnd});
  const WorkloadFound found{job(Time{5}, {}), {{NodeId(0), GpuSet()}}, Time{}};
  const WorkloadFound follower{job({}, {{WorkloadId(0), DependsOn::kEnd}}), {{NodeId(0), GpuSet()}}, Time{}};
  expect(state, {
                    {"later", job(Time{5}, {}), ""},
                    {"before all", job(Time{-1}, {}), "a time is out of bounds"},
                    {"after one that waits", job({}, {{WorkloadId(0), DependsOn::kDone}}), ""},
                    {"after one that is over", job({}, {{WorkloadId(1), DependsOn::kDone}}), ""},
                    {"after itself", job({}, {{WorkloadId(2), DependsOn::kEnd}}),
                     "a workload starts after others that are there"},
                    {"after nobody", job({}, {{WorkloadId(), DependsOn::kEnd}}),
                     "a workload starts after others that are there"},
                    {"after what is not", job({}, {{WorkloadId(0), static_cast<DependsOn>(3)}}),
                     "a workload waits for what there is not"},
                    {"after too many", job({}, many), "a workload starts after 1,000 others at most"},
                    {"found running too early", found, "a found workload waits for nothing"},
                    {"found running before others", follower, "a found workload waits for nothing"},
                });
  WorkloadSubmitted turn = job({}, {});
  turn.series = SeriesId(0);
  turn.at_most = 0;
  WorkloadSubmitted waits = job({}, {});
  const auto at_most = [&](Duration length, AfterWait then, std::int32_t raise) {
    waits.max_wait = MaxWait{length, then, raise};
    return waits;
  };
  WorkloadSubmitted insists = at_most(Duration{5}, AfterWait::kBestEffort, 0);
  insists.shape.terms.guaranteed_only = true;
  WorkloadSubmitted by_night = job({}, {});
  by_night.shape.terms.hours = 0;
  expect(state, {{"a turn for nobody", turn, "of a series one has a turn at least"},
                 {"no wait", at_most(Duration{0}, AfterWait::kCancel, 0), "a time is out of bounds"},
                 {"a wait and then", at_most(Duration{5}, AfterWait::kRaise, 7), ""},
                 {"raised by nothing", at_most(Duration{5}, AfterWait::kRaise, 0),
                  "who waits too long is raised by 1 to 1,000,000,000, or not"},
                 {"raised and cancelled", at_most(Duration{5}, AfterWait::kCancel, 7),
                  "who waits too long is raised by 1 to 1,000,000,000, or not"},
                 {"what nobody knows", at_most(Duration{5}, static_cast<AfterWait>(3), 0),
                  "nobody knows what is to be done after a wait"},
                 {"it insists", insists, "who insists on a floor does not go on as best effort"},
                 {"hours that are none", by_night, "there are no such hours"},
                 {"nobody waited so long", MaxWaitPassed{WorkloadId(0)}, "that workload may wait for longer"}});
  // A page of workloads that have all ended is let go.
  for (int i = 2; i < 1024; ++i) state.apply(job({}, {}));
  for (std::size_t i = 0; i < 1024; ++i) {
    if (i != 1) state.apply(WorkloadCancelled{WorkloadId(i)});
  }
  expect(state, {
                    {"after one that is forgotten", job({}, {{WorkloadId(0), DependsOn::kEnd}}), ""},
                    {"if that is done", job({}, {{WorkloadId(0), DependsOn::kDone}}),
                     "what it is to start after ended so long ago that nobody knows how"},
                });
}

}  // namespace berth::refusal_test
